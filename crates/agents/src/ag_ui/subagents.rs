//! Subagents: who of them says something.

use std::collections::HashMap;

use serde_json::{Value, json};
use turn::agent::{AgentEvent, HistoryItem, Part, StepRequest};
use turn::metadata::{OURS, PATH};
use wire::ag_ui::Common;

use super::kept_text;
use super::words::Speaker;
use crate::upstream::RunEvent;

/// The invocations of subagents that are known.
#[derive(Default)]
pub(super) struct Subagents {
    /// Those of this run: their names, and the invocations that began them.
    started: HashMap<String, (String, Option<String>)>,
    /// The paths of those that the journal knows. A run that goes on with answers does not tell of them
    /// again.
    known: HashMap<String, Vec<String>>,
}

impl Subagents {
    pub(super) fn new(request: &StepRequest) -> Self {
        let steps = request.history.iter().filter_map(|past| match past {
            HistoryItem::Step { parts, .. } => Some(parts),
            _ => None,
        });
        let known = steps.flatten().filter_map(|part| {
            let metadata = match part {
                Part::Text {
                    provider_metadata, ..
                }
                | Part::Reasoning {
                    provider_metadata, ..
                } => provider_metadata.as_ref(),
                Part::Call { call, .. } => call.provider_metadata.as_ref(),
                _ => None,
            };
            let invocation = kept_text(metadata, "subagentRunId")?;
            Some((invocation, path_in(metadata?)?))
        });
        Self {
            started: HashMap::new(),
            known: known.collect(),
        }
    }

    /// A subagent begins.
    pub(super) fn start(
        &mut self,
        name: String,
        parent: Option<String>,
        common: Common,
    ) -> RunEvent {
        let said = signal(json!({"name": name, "state": "started"}));
        if let Some(id) = common.subagent_run_id {
            self.started.insert(id, (name, parent));
        }
        said
    }

    /// A subagent is over.
    pub(super) fn end(&self, state: &str, common: &Common) -> RunEvent {
        let path = self.path(common.subagent_run_id.as_deref());
        signal(json!({"name": path.last(), "state": state}))
    }

    /// The names of the subagents down to an invocation.
    pub(super) fn path(&self, invocation: Option<&str>) -> Vec<String> {
        let (mut path, mut next) = (Vec::new(), invocation);
        while let Some(id) = next {
            let Some((name, parent)) = self.started.get(id) else {
                let above = self.known.get(id).into_iter().flatten();
                path.extend(above.rev().cloned());
                break;
            };
            path.push(name.clone());
            // An agent that names itself as its parent would have no end of them.
            next = parent.as_deref().filter(|_| path.len() < 64);
        }
        path.reverse();
        path
    }

    /// Who says something.
    pub(super) fn speaker(&self, common: &Common) -> Speaker {
        Speaker {
            invocation: common.subagent_run_id.clone(),
            path: self.path(common.subagent_run_id.as_deref()),
        }
    }
}

fn path_in(metadata: &Value) -> Option<Vec<String>> {
    let path = metadata.get(OURS)?.get(PATH)?.as_array()?;
    let names = path.iter().filter_map(Value::as_str);
    Some(names.map(str::to_owned).collect())
}

fn signal(data: Value) -> RunEvent {
    let name = "agui-subagent".to_owned();
    RunEvent::Output(AgentEvent::Signal { name, data })
}
