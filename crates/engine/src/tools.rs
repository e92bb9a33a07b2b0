//! All tools that an agent may call.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use turn::Principal;
use turn::agent::ToolDeclaration;
use turn::call::Place;
use turn::live::{Ruling, Verdict};

use crate::schema;
use crate::tool::AnyTool;

/// All tools that an agent may call, by name.
#[derive(Debug, Clone, Default)]
pub struct Tools(Arc<BTreeMap<String, AnyTool>>);

impl Tools {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more; a tool of the same name is replaced.
    #[must_use]
    pub fn with(mut self, tool: impl Into<AnyTool>) -> Self {
        let tool = tool.into();
        Arc::make_mut(&mut self.0).insert(tool.name.clone(), tool);
        self
    }

    /// The tools as a model is told of them.
    pub fn declarations(&self) -> Vec<ToolDeclaration> {
        let tools = self.0.values().map(|tool| ToolDeclaration {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
            behavior: tool.behavior,
        });
        tools.collect()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&AnyTool> {
        self.0.get(name)
    }

    /// What the tools and their policies say of a call.
    pub(crate) fn rule(&self, name: &str, input: &Value, principal: &Principal) -> Ruling {
        match self.get(name) {
            Some(tool) => Ruling {
                place: tool.place,
                verdict: tool.judge(input, principal),
                timeout: tool.timeout,
            },
            None => Ruling {
                place: Place::Server,
                verdict: Verdict::Invalid {
                    error: format!("There is no tool {name}."),
                },
                timeout: None,
            },
        }
    }

    /// What is wrong with what a tool asks a page to run. A page may know tools that are not declared
    /// here.
    pub(crate) fn check_page_call(&self, name: &str, input: &Value) -> Result<(), String> {
        match self.get(name).filter(|tool| tool.place == Place::Client) {
            Some(tool) => tool.check_input(input),
            None => schema::check_undeclared_input(input),
        }
    }

    /// What is wrong with what a page gives as the output of a tool.
    pub(crate) fn check_output(&self, name: &str, output: &Value) -> Result<(), String> {
        let tool = self.get(name).filter(|tool| tool.place == Place::Client);
        tool.map_or(Ok(()), |tool| tool.check_output(output))
    }

    /// Whether an input is one that a tool takes, and what is wrong with it if not.
    pub(crate) fn check(
        &self,
        name: &str,
        input: &Value,
        principal: &Principal,
    ) -> Result<(), String> {
        match self.rule(name, input, principal).verdict {
            Verdict::Invalid { error } => Err(error),
            Verdict::Deny { reason } => Err(reason),
            Verdict::Allow | Verdict::Ask { .. } => Ok(()),
        }
    }
}
