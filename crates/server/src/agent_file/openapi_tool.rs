//! `[openapi.NAME]`: tools from an OpenAPI document.

use tools::AnyTool;
use tools::http::{HttpTool, Limits, Redirects, Repeat, Secret};
use tools::openapi::{Document, Settings};

use super::agent::{Builder, BuiltTool};
use super::source::nearest;
use super::spec::OpenApiSpec;
use super::{Entry, http_tool, policy};

/// The operations that an agent may call.
pub(super) fn build(
    builder: &mut Builder<'_>,
    name: &str,
    entry: &Entry<OpenApiSpec>,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Vec<BuiltTool> {
    read(builder, name, entry, is_wanted).unwrap_or_default()
}

fn read(
    builder: &mut Builder<'_>,
    name: &str,
    entry: &Entry<OpenApiSpec>,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Option<Vec<BuiltTool>> {
    let spec = &entry.spec;
    let text = document_text(builder, entry)?;
    let document = builder.note_at(entry.source, &spec.document.span, Document::parse(&text))?;
    let mut settings = Settings {
        server: spec.server.as_ref().map(|server| server.value.clone()),
        ..Settings::default()
    };
    for (scheme, reference) in &spec.security {
        let secret = builder.secret(entry.source, &reference.span, &reference.value)?;
        settings
            .security
            .insert(scheme.value.clone(), Secret::new(&secret));
    }
    let source = builder.file.source(entry.source);
    let mut problems = Vec::new();
    let policies = policy::several(source, &spec.allow, &spec.ask, &spec.deny, &mut problems);
    let known: Vec<&str> = spec.operations.iter().map(|one| one.as_str()).collect();
    for unused in policies.unused(&known) {
        let written = spec.allow.iter().chain(spec.ask.keys()).chain(&spec.deny);
        let span = written.clone().find(|one| one.as_str() == unused.as_str());
        let span = span.map_or(&entry.span, |one| &one.span);
        problems.push(source.problem(span, format!("there is no operation `{unused}`")));
    }
    builder.problems.extend(problems);
    let mut tools = Vec::new();
    for id in &spec.operations {
        let tool_name = format!("{name}.{}", id.value);
        if !is_wanted(&tool_name) {
            continue;
        }
        let operation = match document.operation(id, &settings) {
            Ok(operation) => operation,
            Err(error) => {
                let ids = document.operation_ids();
                let meant = nearest(id, ids.iter().copied().filter(|one| *one != id.as_str()));
                let meant = meant.filter(|_| !ids.contains(&id.as_str()));
                let meant = meant.map(|meant| format!("; did you mean `{meant}`?"));
                let message = format!("{}: {error}{}", id.value, meant.unwrap_or_default());
                builder.problem(entry.source, &id.span, message);
                continue;
            }
        };
        let request =
            http_tool::with_headers(builder, entry.source, operation.request, &spec.headers)?;
        let repeat = match (&spec.idempotency_header, request.is_safe()) {
            (_, true) => Repeat::Safe,
            (Some(header), false) => Repeat::Keyed(header.value.clone()),
            (None, false) => Repeat::Never,
        };
        let mut limits = Limits::default();
        if let Some(timeout) = &spec.timeout {
            limits.timeout = builder.seconds(entry.source, timeout)?;
        }
        let place = format!("{} {}", operation.method, request.origin());
        let names_host = spec.server.as_ref().unwrap_or(&spec.document);
        let host = builder.written(entry.source, &names_host.span, request.clone());
        builder.hosts.push(host);
        let tool = HttpTool {
            name: tool_name.clone(),
            description: operation.description,
            input: operation.input,
            request,
            repeat,
            lookup: None,
            on_takeover: None,
            limits,
            redirects: Redirects::None,
        };
        let made = tool.into_tool(&builder.network);
        let Some(tool) = builder.note_at(entry.source, &id.span, made) else {
            continue;
        };
        let policy = policies.of(id);
        let rule = policy.clone();
        let tool: AnyTool = tool
            .policy(move |input, _| rule.verdict(&tool_name, input, None))
            .into();
        tools.extend(builder.finish(entry, &id.span, tool, policy, place));
    }
    Some(tools)
}

/// The document, from the file beside or from where it is published.
fn document_text(builder: &mut Builder<'_>, entry: &Entry<OpenApiSpec>) -> Option<String> {
    let document = &entry.spec.document;
    if let Some(path) = document.strip_prefix('@') {
        return builder.read(entry.source, &document.span, path);
    }
    let fetched = tools::http::fetch::text_blocking(&builder.network, document);
    builder.note_at(entry.source, &document.span, fetched)
}
