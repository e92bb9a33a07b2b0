//! `[client.NAME]`: a tool that the page runs.

use serde_json::Value;
use tools::{AnyTool, client_tool};

use super::agent::{Builder, BuiltTool};
use super::spec::ClientSpec;
use super::{Entry, policy};

/// The tool.
pub(super) fn build(
    builder: &mut Builder<'_>,
    name: &str,
    entry: &Entry<ClientSpec>,
) -> Option<BuiltTool> {
    let spec = &entry.spec;
    let input = builder.schema(entry.source, &spec.input);
    let output = spec
        .output
        .as_ref()
        .map(|output| builder.schema(entry.source, output));
    let input = input?;
    let source = builder.file.source(entry.source);
    let said = (spec.allow, spec.ask.as_ref(), spec.deny);
    let policy = builder.note(policy::single(source, said, &entry.span, &input))?;
    let mut tool = client_tool::<Value>(name, &spec.description).input_schema(input);
    match output {
        Some(Some(output)) => tool = tool.output_schema(output),
        Some(None) => return None,
        None => {}
    }
    let (rule, named) = (policy.clone(), name.to_owned());
    let tool: AnyTool = tool
        .policy(move |input, _| rule.verdict(&named, input, None))
        .into();
    builder.finish(
        entry,
        &spec.input.span,
        tool,
        policy,
        "run by the page".to_owned(),
    )
}
