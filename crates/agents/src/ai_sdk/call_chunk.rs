//! The chunks of calls.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use turn::agent::Asking;
use turn::call::Outcome;

use super::KEPT;
use super::reading::text;
use super::tool_part::FIELDS;
use crate::question::about_call;
use crate::upstream::{CallState, ProposedCall, RunEvent};

/// What the chunks of a stream have said of calls.
#[derive(Default)]
pub(super) struct CallChunks {
    known: HashMap<String, KnownCall>,
}

#[derive(Default)]
struct KnownCall {
    tool: String,
    input: Value,
    /// Fields to be sent back.
    fields: Map<String, Value>,
    is_proposed: bool,
}

/// The fields of a request for an approval, and their names in the approval of a call.
const APPROVAL_FIELDS: [(&str, &str); 5] = [
    ("approvalId", "id"),
    ("approvalDescriptor", "descriptor"),
    ("inputSchemaInput", "inputSchemaInput"),
    ("reason", "requestReason"),
    ("signature", "signature"),
];

impl CallChunks {
    /// Reads a chunk; whether it is one of a known type.
    pub(super) fn take(&mut self, kind: &str, chunk: &Value, said: &mut Vec<RunEvent>) -> bool {
        let id = text(chunk, "toolCallId").unwrap_or_default();
        match kind {
            "tool-input-start" => {
                self.note(id, chunk);
            }
            // The whole input follows. A response is of what was decided without asking anybody.
            "tool-input-delta" | "tool-approval-response" => {}
            "tool-input-available" => said.extend(self.propose(id, chunk, CallState::Open)),
            "tool-input-error" => {
                let outcome = failed(chunk);
                said.extend(self.propose(id, chunk, CallState::Settled(outcome)));
            }
            "tool-approval-request" => {
                if chunk.get("isAutomatic") != Some(&Value::Bool(true)) {
                    said.push(self.ask(id, chunk));
                }
            }
            "tool-output-available" => {
                let output = chunk.get("output").cloned().unwrap_or_default();
                said.push(match chunk.get("preliminary") {
                    Some(Value::Bool(true)) => RunEvent::Progress {
                        id: id.to_owned(),
                        output,
                    },
                    _ => result(id, Outcome::Output { output }),
                });
            }
            "tool-output-error" => said.push(result(id, failed(chunk))),
            "tool-output-denied" => said.push(result(id, Outcome::Denied { reason: None })),
            _ => return false,
        }
        true
    }

    /// Notes what a chunk says of a call.
    fn note(&mut self, id: &str, chunk: &Value) -> &mut KnownCall {
        let call = self.known.entry(id.to_owned()).or_default();
        if let Some(tool) = text(chunk, "toolName") {
            call.tool = tool.to_owned();
        }
        let fields = FIELDS.iter().map(|(chunk, _)| *chunk).chain(["dynamic"]);
        let fields = fields.filter_map(|field| Some((field.to_owned(), chunk.get(field)?.clone())));
        call.fields.extend(fields);
        call
    }

    fn propose(&mut self, id: &str, chunk: &Value, state: CallState) -> Option<RunEvent> {
        let call = self.note(id, chunk);
        if std::mem::replace(&mut call.is_proposed, true) {
            return None;
        }
        call.input = chunk.get("input").cloned().unwrap_or_default();
        let is_executed = call.fields.get("providerExecuted") == Some(&Value::Bool(true));
        Some(RunEvent::Call(ProposedCall {
            id: id.to_owned(),
            tool: call.tool.clone(),
            input: call.input.clone(),
            metadata: json!({ KEPT: call.fields }),
            is_agents: is_executed,
            shown: None,
            state,
        }))
    }

    fn ask(&mut self, id: &str, chunk: &Value) -> RunEvent {
        let fields = APPROVAL_FIELDS.iter().filter_map(|(chunk_name, name)| {
            Some(((*name).to_owned(), chunk.get(*chunk_name)?.clone()))
        });
        let approval = Value::Object(fields.collect());
        let call = self.known.entry(id.to_owned()).or_default();
        let question = match text(chunk, "reason").filter(|reason| !reason.is_empty()) {
            Some(reason) => reason.to_owned(),
            None if call.tool.is_empty() => "Run this call?".to_owned(),
            None => about_call(&call.tool, Some(&call.input)),
        };
        call.fields.insert("approval".to_owned(), approval.clone());
        RunEvent::Ask {
            id: id.to_owned(),
            asking: Asking {
                question,
                token: Some(approval),
                ..Asking::default()
            },
            metadata: json!({ KEPT: call.fields }),
        }
    }
}

fn result(id: &str, outcome: Outcome) -> RunEvent {
    let id = id.to_owned();
    RunEvent::Result { id, outcome }
}

fn failed(chunk: &Value) -> Outcome {
    let error = text(chunk, "errorText").unwrap_or("It failed.").to_owned();
    Outcome::Error { error }
}
