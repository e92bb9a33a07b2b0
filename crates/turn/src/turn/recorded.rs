//! What a tool that runs again finds of its earlier run.

use serde_json::Value;

use super::Turn;
use crate::gate::{Decision, GateKind};
use crate::id::{CallId, GateId};

/// What a tool that runs again finds of its earlier run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recorded {
    /// Results by name.
    pub records: Vec<(String, Value)>,
    /// Gates that the tool opened.
    pub gates: Vec<RecordedGate>,
}

/// A gate that a tool opened in an earlier run.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedGate {
    /// The gate.
    pub id: GateId,
    /// What was asked: an answer belongs to a question, not to its number.
    pub asked: Option<AskedOf>,
    /// What was decided.
    pub decision: Option<Decision>,
}

/// What a tool asks in the middle of its work, and of whom.
#[derive(Debug, Clone, PartialEq)]
pub enum AskedOf {
    /// Of a person.
    Person {
        /// The question.
        question: String,
    },
    /// Of a person, about a call that an agent makes inside.
    Inner {
        /// Which of the calls inside.
        key: String,
        /// The question.
        question: String,
    },
    /// Of a person, for data.
    Data {
        /// The question.
        question: String,
        /// What an answer has to be.
        schema: Value,
    },
    /// Of a page.
    Page {
        /// The tool that it is to run.
        tool: String,
        /// The tool's input.
        input: Value,
    },
}

impl Turn {
    /// What a tool that runs again finds of its earlier run: the results that it recorded, and what
    /// was decided at the gates that it opened, in their order.
    pub fn recorded(&self, id: &CallId) -> Recorded {
        let records = self.call_state(id).map(|state| state.records.clone());
        let asked = self.gates.iter().filter(|state| match state.gate.kind {
            GateKind::Approval { .. } => false,
            GateKind::ToolApproval { .. } => {
                let call = self.call(&state.gate.call);
                let is_inside = call.is_some_and(|call| call.parent.as_ref() == Some(id));
                state.gate.call == *id || is_inside
            }
            // The agent asked, and not a tool of its.
            GateKind::Question { .. } if state.gate.token.is_some() => false,
            GateKind::ClientCall | GateKind::Question { .. } => {
                let call = self.call(&state.gate.call);
                call.is_some_and(|call| call.parent.as_ref() == Some(id))
            }
        });
        let gates = asked.map(|state| RecordedGate {
            id: state.gate.id.clone(),
            asked: match &state.gate.kind {
                GateKind::ClientCall => self.call(&state.gate.call).map(|call| AskedOf::Page {
                    tool: call.tool.clone(),
                    input: call.input.clone(),
                }),
                GateKind::Question { question, schema } => Some(AskedOf::Data {
                    question: question.clone(),
                    schema: schema.clone(),
                }),
                GateKind::Approval { question } | GateKind::ToolApproval { question } => {
                    let question = question.clone();
                    let call = self.call(&state.gate.call);
                    let inside = call.filter(|call| call.parent.is_some());
                    Some(match inside.and_then(|call| call.provider_id.clone()) {
                        Some(key) => AskedOf::Inner { key, question },
                        None => AskedOf::Person { question },
                    })
                }
            },
            decision: state.decision.clone(),
        });
        Recorded {
            records: records.unwrap_or_default(),
            gates: gates.collect(),
        }
    }
}
