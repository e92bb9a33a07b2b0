//! What a model gets, as people read it.

use std::fmt::Write;

use tools::Tools;
use tools::policy::Policy;

use super::agent::FileAgent;

impl FileAgent {
    /// Its model, its instruction, and its tools with their schemas and policies. Servers are listed by
    /// a connection to them.
    pub(crate) fn description(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = writeln!(text, "agent {}", self.name);
        let _ = writeln!(text, "  model {}", self.model);
        match &self.instruction {
            Some(instruction) => {
                let _ = writeln!(text, "  instruction");
                for line in instruction.lines() {
                    let _ = writeln!(text, "    {line}");
                }
            }
            None => {
                let _ = writeln!(text, "  no instruction");
            }
        }
        for built in &self.tools {
            text.push_str(&tool(
                built.tool.name(),
                &policy(&built.policy),
                &built.place,
                built.tool.description(),
                built.tool.input_schema(),
            ));
        }
        for used in &self.agents {
            text.push_str(&tool(
                &used.agent.name,
                "allow; its own tools ask",
                "agent of this file",
                &used.description,
                used.tool_of(&self.name, Tools::new()).input_schema(),
            ));
        }
        if let Some(rules) = &self.page_rules {
            for known in rules.known() {
                text.push_str(&tool(
                    known.name(),
                    "as in [client]",
                    "if the page declares it",
                    known.description(),
                    known.input_schema(),
                ));
            }
            for name in rules.names() {
                let said = policy(&rules.policies().of(name.as_str()));
                let _ = writeln!(text, "  tools {name} ({said}; declared by the page)");
            }
        }
        text
    }
}

/// One tool, as people read it.
pub(crate) fn tool(
    name: &str,
    policy: &str,
    place: &str,
    description: &str,
    schema: &serde_json::Value,
) -> String {
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("  tool {name} ({policy}; {place})\n    {description}\n    {schema}\n")
}

/// What a policy says, in words.
pub(crate) fn policy(policy: &Policy) -> String {
    match policy {
        Policy::Allow => "allow".to_owned(),
        Policy::Ask => "ask".to_owned(),
        Policy::AskWith(question) => format!("ask: {}", question.template()),
        Policy::Deny => "deny".to_owned(),
        _ => "ask".to_owned(),
    }
}
