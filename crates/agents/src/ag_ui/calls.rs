//! The events of calls.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use turn::agent::{HistoryItem, Part, StepRequest};
use turn::call::Outcome;
use turn::metadata::{OURS, PATH};
use wire::ag_ui::{Content, ToolCall};

use super::KEPT;
use crate::upstream::{CallState, ProposedCall, RunEvent};

/// What the events of a run have said of calls.
#[derive(Default)]
pub(super) struct Calls {
    /// The calls that the journal has: an agent that continues may tell of them again.
    past: HashSet<String>,
    /// The tools that the agent was offered.
    offered: HashSet<String>,
    /// The calls whose arguments come in.
    partial: HashMap<String, PartialCall>,
    /// The calls of this step that nothing is known of yet, in their order.
    pub(super) open: Vec<OpenCall>,
    /// The calls of this step that have a result. ADK gives one to a call that it then asks about.
    pub(super) settled: Vec<OpenCall>,
    /// The call that comes in chunks, without an end.
    chunked: Option<String>,
}

#[derive(Default)]
struct PartialCall {
    tool: String,
    arguments: String,
    fields: Map<String, Value>,
    path: Vec<String>,
}

/// A call that nothing is known of yet.
#[derive(Debug, Clone)]
pub(super) struct OpenCall {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) input: Value,
    /// What is kept of it.
    pub(super) metadata: Value,
    /// Whether the agent was offered the tool.
    pub(super) is_offered: bool,
}

impl Calls {
    pub(super) fn new(request: &StepRequest) -> Self {
        let steps = request.history.iter().filter_map(|past| match past {
            HistoryItem::Step { parts, .. } => Some(parts),
            _ => None,
        });
        let past = steps.flatten().filter_map(|part| match part {
            Part::Call { call, .. } => call.provider_id.clone(),
            _ => None,
        });
        let offered = request.tools.iter().map(|tool| tool.name.clone());
        Self {
            past: past.collect(),
            offered: offered.collect(),
            ..Self::default()
        }
    }

    /// Whether the journal has a call already.
    pub(super) fn is_past(&self, id: &str) -> bool {
        self.past.contains(id)
    }

    /// A call begins. `path` are the subagents that make it.
    pub(super) fn begin(
        &mut self,
        id: &str,
        tool: &str,
        parent: Option<String>,
        subagent: Option<String>,
        path: Vec<String>,
    ) {
        let fields = [("parentMessageId", parent), ("subagentRunId", subagent)];
        let fields = fields
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
        let call = PartialCall {
            tool: tool.to_owned(),
            arguments: String::new(),
            fields: fields.collect(),
            path,
        };
        self.partial.insert(id.to_owned(), call);
    }

    /// More of a call's arguments.
    pub(super) fn grow(&mut self, id: &str, delta: &str) {
        if let Some(call) = self.partial.get_mut(id) {
            call.arguments.push_str(delta);
        }
    }

    /// Something that only the agent understands; whether it is of a call whose arguments come in.
    pub(super) fn encrypt(&mut self, id: &str, value: &str) -> bool {
        let call = self.partial.get_mut(id);
        call.map(|call| {
            call.fields
                .insert("encryptedValue".to_owned(), json!(value))
        })
        .is_some()
    }

    /// A call's arguments are complete.
    pub(super) fn end(&mut self, id: &str) -> Option<RunEvent> {
        let call = self.partial.remove(id)?;
        let input = input(&call.arguments);
        let is_offered = self.offered.contains(&call.tool);
        let mut metadata = json!({ KEPT: call.fields });
        if !call.path.is_empty() {
            metadata[OURS] = json!({ PATH: call.path });
        }
        self.past.insert(id.to_owned());
        self.open.push(OpenCall {
            id: id.to_owned(),
            tool: call.tool.clone(),
            input: input.clone(),
            metadata: metadata.clone(),
            is_offered,
        });
        Some(RunEvent::Call(ProposedCall {
            id: id.to_owned(),
            tool: call.tool,
            input,
            metadata,
            is_agents: false,
            shown: None,
            state: CallState::Open,
        }))
    }

    /// Goes on with a call that comes in chunks: the one of an id, or the one before. Whether it is new,
    /// and the call that ends with it.
    pub(super) fn chunk(&mut self, id: Option<&str>) -> (Option<String>, bool, Option<RunEvent>) {
        let is_same = id.is_none() || self.chunked.as_deref() == id;
        if is_same {
            return (self.chunked.clone(), false, None);
        }
        let ended = self.end_chunked();
        self.chunked = id.map(str::to_owned);
        (self.chunked.clone(), true, ended)
    }

    /// Ends the call that comes in chunks.
    pub(super) fn end_chunked(&mut self) -> Option<RunEvent> {
        let id = self.chunked.take()?;
        self.end(&id)
    }

    /// Whether something is known of every call.
    pub(super) fn are_settled(&self) -> bool {
        self.open.is_empty() && self.partial.is_empty()
    }

    /// What came of a call.
    pub(super) fn settle(&mut self, id: &str, content: Content) -> RunEvent {
        let is_same = |call: &mut OpenCall| call.id == id;
        self.settled.extend(self.open.extract_if(.., is_same));
        RunEvent::Result {
            id: id.to_owned(),
            outcome: Outcome::Output {
                output: output(content),
            },
        }
    }

    /// A call as the agent has it in its conversation: some leave the arguments out before.
    pub(super) fn correct(&mut self, known: &ToolCall) -> Option<RunEvent> {
        let call = self.open.iter_mut().find(|call| call.id == known.id)?;
        let input = input(&known.function.arguments);
        if call.input == input {
            return None;
        }
        call.input = input.clone();
        let id = known.id.clone();
        Some(RunEvent::Input { id, input })
    }
}

/// Arguments as an input. Text that is no JSON is kept as it is.
fn input(arguments: &str) -> Value {
    if arguments.trim().is_empty() {
        return Value::Object(Map::new());
    }
    serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments))
}

/// A result as an output: JSON, where the text is an object or a list.
fn output(content: Content) -> Value {
    let text = match content {
        Content::Text(text) => text,
        Content::Parts(parts) => return json!(parts),
    };
    match serde_json::from_str::<Value>(&text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => value,
        _ => Value::String(text),
    }
}
