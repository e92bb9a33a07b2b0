//! The list of a server made into tools: names, schemas and descriptions within bounds.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::call;
use super::config::ServerConfig;
use super::link::Link;
use super::status::{Hints, LeftOut, ToolStatus};
use crate::policy::Policy;
use crate::schema::Schema;
use crate::tool::{AnyTool, tool};
use crate::toolset::ToolMap;

/// How long a name may be with its server's: the least that the models' APIs take.
const MAX_NAME_BYTES: usize = 64;

/// A tool of a server.
pub(super) struct RemoteTool {
    /// Its name here.
    pub(super) name: String,
    /// Its name at the server.
    pub(super) remote_name: String,
    /// Its name here without the server's, by which the operator speaks of it.
    local_name: String,
    description: String,
    input: Value,
    checked: Schema,
    pub(super) output: Option<Schema>,
    hints: Hints,
    policy: Policy,
    /// Operator and server say that a second call does no harm.
    pub(super) is_idempotent: bool,
}

/// What a server offers, and what it would offer.
pub(super) struct Catalog {
    pub(super) tools: Vec<Arc<RemoteTool>>,
    pub(super) left_out: Vec<LeftOut>,
}

impl Catalog {
    /// Takes from a server's list what can be used.
    pub(super) fn new(config: &ServerConfig, listed: Vec<Value>) -> Self {
        let mut tools: BTreeMap<String, Arc<RemoteTool>> = BTreeMap::new();
        let mut left_out = Vec::new();
        for listed in listed {
            let name = listed.get("name").and_then(Value::as_str);
            let said = shorten(name.unwrap_or_default(), MAX_NAME_BYTES);
            let taken = RemoteTool::new(config, &listed).and_then(|tool| {
                if let Some(other) = tools.get(&tool.name) {
                    return Err(format!("it would have the name of {}", other.remote_name));
                }
                match tools.len() < config.limits.max_tools {
                    true => Ok(tool),
                    false => Err(format!("there are more than {}", config.limits.max_tools)),
                }
            });
            match taken {
                Ok(tool) => {
                    tools.insert(tool.name.clone(), Arc::new(tool));
                }
                Err(why) => {
                    if left_out.len() < config.limits.max_tools {
                        left_out.push(LeftOut { name: said, why });
                    }
                }
            }
        }
        let tools = tools.into_values().collect();
        Self { tools, left_out }
    }

    /// The tools, as they are called over a link.
    pub(super) fn map(&self, link: &Arc<Link>) -> ToolMap {
        let tools = self.tools.iter();
        tools
            .map(|tool| (tool.name.clone(), Arc::new(tool.any(link))))
            .collect()
    }

    pub(super) fn statuses(&self) -> Vec<ToolStatus> {
        let tools = self.tools.iter();
        tools.map(|tool| tool.status()).collect()
    }
}

impl RemoteTool {
    /// A tool of a list, or why it can't be used.
    fn new(config: &ServerConfig, listed: &Value) -> Result<Self, String> {
        let text = |key: &str| listed.get(key).and_then(Value::as_str);
        let remote_name = text("name").ok_or("it has no name")?;
        let local_name = local_name(remote_name);
        let name = format!("{}.{local_name}", config.name);
        if local_name.is_empty() || name.len() > MAX_NAME_BYTES {
            return Err(format!(
                "its name with the server's has not 1 to {MAX_NAME_BYTES} characters"
            ));
        }
        let policy = config.policies.of(&local_name);
        if policy == Policy::Deny {
            return Err("its policy is deny".to_owned());
        }
        let limits = &config.limits;
        let input = schema(listed, "inputSchema", limits.max_schema_bytes)?;
        let mut input = input.ok_or("it has no input schema")?;
        // A schema that does not say so means it all the same: arguments are an object.
        input.entry("type").or_insert_with(|| "object".into());
        if input["type"] != "object" {
            return Err("its input is not an object".to_owned());
        }
        let input = Value::Object(input);
        let checked = Schema::of_input(&input);
        if let Some(error) = checked.error() {
            let error = shorten(error, 200);
            return Err(format!("its input schema can't be used: {error}"));
        }
        let output = schema(listed, "outputSchema", limits.max_schema_bytes)?;
        let output = output.map(|output| Schema::of_output(Value::Object(output)));
        if let Some(error) = output.as_ref().and_then(Schema::error) {
            let error = shorten(error, 200);
            return Err(format!("its output schema can't be used: {error}"));
        }
        let hints = hints(listed.get("annotations"));
        let is_marked = config
            .idempotent
            .iter()
            .any(|pattern| pattern.matches(&local_name));
        let description = text("description").or(text("title")).unwrap_or(remote_name);
        let mut description = shorten(description, limits.max_description_bytes);
        if let Some(sentence) = hints.sentence() {
            description = format!("{description} {sentence}");
        }
        Ok(Self {
            name,
            remote_name: remote_name.to_owned(),
            local_name,
            description,
            input,
            checked,
            output,
            hints,
            policy,
            is_idempotent: is_marked && hints.is_repeatable(),
        })
    }

    fn status(&self) -> ToolStatus {
        let is_renamed = self.remote_name != self.local_name;
        ToolStatus {
            name: self.name.clone(),
            renamed_from: is_renamed.then(|| self.remote_name.clone()),
            description: self.description.clone(),
            policy: self.policy.clone(),
            hints: self.hints,
            is_idempotent: self.is_idempotent,
        }
    }

    fn any(self: &Arc<Self>, link: &Arc<Link>) -> AnyTool {
        let (remote, link, ruled) = (self.clone(), link.clone(), self.clone());
        let claim = self.hints.sentence();
        let timeout = link.config.approval_timeout;
        let tool = tool(
            &self.name,
            &self.description,
            move |context, input: Value| call::run(link.clone(), remote.clone(), context, input),
        );
        let tool = tool
            .input_schema(self.input.clone())
            .timeout(timeout)
            .policy(move |input, _| ruled.policy.verdict(&ruled.name, input, claim.as_deref()));
        match self.is_idempotent {
            true => tool.idempotent().into(),
            false => tool.into(),
        }
    }

    /// What is wrong with an input, by what the server says now. It may have been approved before.
    pub(super) fn check_input(&self, input: &Value) -> Result<(), String> {
        self.checked.check_input(input)
    }
}

/// A name with what models and pages can't take replaced.
fn local_name(remote: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    // More is too long in any case.
    let chars = remote.chars().take(MAX_NAME_BYTES + 1);
    chars.map(|c| if is_plain(c) { c } else { '_' }).collect()
}

fn schema(listed: &Value, key: &str, max: usize) -> Result<Option<Map<String, Value>>, String> {
    let schema = match listed.get(key) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(schema)) => schema,
        Some(_) => return Err(format!("its {key} is not an object")),
    };
    let size = serde_json::to_vec(schema).map_or(usize::MAX, |json| json.len());
    match size > max {
        true => Err(format!("its {key} is larger than {max} bytes")),
        false => Ok(Some(schema.clone())),
    }
}

fn hints(annotations: Option<&Value>) -> Hints {
    let hint = |key: &str| annotations?.get(key)?.as_bool();
    Hints {
        read_only: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        idempotent: hint("idempotentHint"),
    }
}

/// A text within a size, and a mark where it was cut.
pub(super) fn shorten(text: &str, max: usize) -> String {
    match text.len() <= max {
        true => text.to_owned(),
        false => {
            let end = text.char_indices().map(|(at, _)| at);
            let end = end.take_while(|at| *at <= max).last().unwrap_or(0);
            format!("{}…", &text[..end])
        }
    }
}
