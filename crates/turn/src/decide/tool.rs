//! Decisions about what a call does while it runs, and what it asks in the middle of its work.

use serde_json::{Value, json};

use super::gate::gate;
use crate::call::{Call, InnerCall, Outcome, Place, UnknownReason};
use crate::chat::Chat;
use crate::event::Event;
use crate::gate::{ASK_USER, Gate, GateKind};
use crate::id::CallId;
use crate::input::{Input, Output};
use crate::item::Item;
use crate::metadata::{OURS, PATH};
use crate::time::At;
use crate::turn::Turn;

impl Chat {
    /// A tool does something.
    pub(super) fn tool_input(&mut self, output: &mut Output, input: Input, now: At) {
        match input {
            Input::ToolAsks {
                call,
                question,
                timeout,
            } => {
                let kind = GateKind::ToolApproval { question };
                let expires = timeout.map(|timeout| now + timeout);
                if let Some(turn) = self.at_work(&call) {
                    let state = turn.call_state(&call);
                    let gate = Gate {
                        input: state.and_then(|state| state.edited_input.clone()),
                        ..gate(turn, call, kind, expires)
                    };
                    self.open_gate(output, gate);
                }
            }
            Input::ToolCalls {
                call,
                tool,
                input,
                timeout,
            } => {
                let expires = self.client_deadline(timeout, now);
                if let Some(turn) = self.at_work(&call) {
                    let nested = nested(turn, call, tool, input);
                    let gate = gate(turn, nested.id.clone(), GateKind::ClientCall, expires);
                    self.open_nested(output, nested, gate);
                }
            }
            Input::ToolQuestion {
                call,
                question,
                schema,
                path,
                timeout,
            } => {
                let expires = timeout.map(|timeout| now + timeout);
                if let Some(turn) = self.at_work(&call) {
                    let mut nested = question_call(turn, call, &question, &schema);
                    if !path.is_empty() {
                        nested.provider_metadata = Some(json!({OURS: {PATH: path}}));
                    }
                    let kind = GateKind::Question { question, schema };
                    let gate = gate(turn, nested.id.clone(), kind, expires);
                    self.open_nested(output, nested, gate);
                }
            }
            Input::InnerAsks {
                call,
                inner,
                question,
                timeout,
            } => {
                let expires = timeout.map(|timeout| now + timeout);
                if let Some(turn) = self.at_work(&call) {
                    let nested = inner_call(turn, call, *inner);
                    let kind = GateKind::ToolApproval { question };
                    let gate = gate(turn, nested.id.clone(), kind, expires);
                    self.open_nested(output, nested, gate);
                }
            }
            Input::InnerSettles { call, key, outcome } => {
                let turn = self.at_work(&call);
                if let Some(inner) = turn.and_then(|turn| turn.inner_call(&call, &key)) {
                    self.settle_call(output, inner, outcome);
                }
            }
            Input::ToolRecords { call, name, value } => {
                if let Some(turn) = self.at_work(&call) {
                    let turn = turn.id().clone();
                    let event = Event::CallRecorded {
                        turn,
                        call,
                        name,
                        value,
                    };
                    self.decide(output, [event]);
                }
            }
            Input::ToolProgress {
                call,
                output: shown,
            } => {
                if self.at_work(&call).is_some()
                    && let Some(turn) = self.current_mut()
                {
                    turn.push_item(Item::CallProgressed {
                        call,
                        output: shown,
                    });
                }
            }
            Input::ToolDone { call, outcome } if self.at_work(&call).is_some() => {
                self.cancel_questions(output, &call);
                self.settle_inner_calls(output, &call);
                self.settle_call(output, call, outcome);
                self.advance(output);
            }
            _ => {}
        }
    }

    /// Whether a call of the current turn is under way and may still do something.
    pub fn is_at_work(&self, call: &CallId) -> bool {
        self.at_work(call).is_some()
    }

    /// The current turn, if a call of it is under way and may still do something.
    fn at_work(&self, call: &CallId) -> Option<&Turn> {
        let turn = self.current()?;
        let state = turn.call_state(call)?;
        (state.is_under_way() && turn.end().is_none()).then_some(turn)
    }

    /// Makes a call of a page's inside of another, and asks for its output.
    pub(super) fn open_nested(&mut self, output: &mut Output, call: Call, gate: Gate) {
        let Some(turn) = self.current() else { return };
        let turn = turn.id().clone();
        self.decide(output, [Event::CallNested { turn, call }]);
        self.open_gate(output, gate);
    }

    /// Settles what an agent inside of a call was let do, and said nothing of since.
    fn settle_inner_calls(&mut self, output: &mut Output, call: &CallId) {
        let Some(turn) = self.current() else { return };
        let left: Vec<CallId> = turn.open_inner_calls(call).cloned().collect();
        for inner in left {
            let reason = UnknownReason::NoResult;
            self.settle_call(output, inner, Outcome::Unknown { reason });
        }
    }
}

/// The turn's next call, which a tool asks a page to run in the middle of another.
fn nested(turn: &Turn, parent: CallId, tool: String, input: Value) -> Call {
    Call {
        id: CallId::of(turn.id(), turn.calls.len()),
        provider_id: None,
        tool,
        input,
        place: Place::Client,
        parent: Some(parent),
        provider_metadata: None,
    }
}

/// The turn's next call, which an agent makes in the middle of another.
fn inner_call(turn: &Turn, parent: CallId, inner: InnerCall) -> Call {
    Call {
        provider_id: Some(inner.key),
        place: Place::Server,
        provider_metadata: Some(json!({OURS: {PATH: inner.path}})),
        ..nested(turn, parent, inner.tool, inner.input)
    }
}

/// The turn's next call, by which pages are shown what a call asks for.
pub(super) fn question_call(turn: &Turn, parent: CallId, question: &str, schema: &Value) -> Call {
    let input = json!({"question": question, "schema": schema});
    let path = turn.call(&parent).map(Call::path).unwrap_or_default();
    // Who asks is shown with the question.
    let path = (!path.is_empty()).then(|| json!({OURS: {PATH: path}}));
    Call {
        provider_metadata: path,
        ..nested(turn, parent, ASK_USER.to_owned(), input)
    }
}
