//! What spans need to know of a journal's events.

use serde_json::{Value, json};
use turn::agent::Part;
use turn::call::{Call, Outcome, Place};
use turn::event::{Cause, End, Finish};
use turn::gate::{Decision, GateKind};
use turn::{CallId, Event, GateId, TraceContext, TurnId, Usage};

/// Whether what was said goes into spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Contents {
    /// No: neither messages nor inputs nor outputs.
    #[default]
    Withheld,
    /// Yes.
    Exported,
}

/// How many bytes of one content are exported.
const CONTENT_BYTES: usize = 16 * 1024;

/// Something that happened to a turn.
#[derive(Debug)]
pub(super) enum Fact {
    Opened {
        turn: TurnId,
        trace: Option<TraceContext>,
        input: Option<String>,
    },
    Step {
        finish: &'static str,
        usage: Option<Usage>,
        model: Option<String>,
        calls: Vec<MadeCall>,
        output: Option<String>,
    },
    Nested(MadeCall),
    GateOpened {
        gate: GateId,
        call: CallId,
        kind: AskedOf,
    },
    GateClosed {
        gate: GateId,
        decision: &'static str,
    },
    Started(CallId),
    Settled {
        call: CallId,
        outcome: &'static str,
        error: Option<&'static str>,
        output: Option<String>,
    },
    Claimed,
    Ended {
        end: &'static str,
        code: Option<String>,
    },
}

/// A call, as its span needs it.
#[derive(Debug)]
pub(super) struct MadeCall {
    pub(super) id: CallId,
    pub(super) tool: String,
    pub(super) place: Place,
    pub(super) parent: Option<CallId>,
    pub(super) input: Option<String>,
}

/// Whom a gate asks, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskedOf {
    /// A person, before the call runs.
    Person,
    /// A person, while it runs.
    PersonWithin,
    /// A person, for data.
    PersonForData,
    /// A page.
    Page,
}

impl Contents {
    fn of(self, content: impl FnOnce() -> Value) -> Option<String> {
        if self == Self::Withheld {
            return None;
        }
        let mut text = content().to_string();
        let mut cut = text.len().min(CONTENT_BYTES);
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        text.truncate(cut);
        Some(text)
    }

    fn call(self, call: &Call) -> MadeCall {
        MadeCall {
            id: call.id.clone(),
            tool: call.tool.clone(),
            place: call.place,
            parent: call.parent.clone(),
            input: self.of(|| call.input.clone()),
        }
    }

    /// What spans need to know of an entry.
    pub(super) fn facts(self, events: &[Event]) -> Vec<Fact> {
        events.iter().filter_map(|event| self.fact(event)).collect()
    }

    fn fact(self, event: &Event) -> Option<Fact> {
        Some(match event {
            Event::TurnOpened {
                turn, cause, trace, ..
            } => Fact::Opened {
                turn: turn.clone(),
                trace: trace.clone(),
                input: match cause {
                    Cause::Message { message } => self.of(|| json!([message])),
                    Cause::Result { .. } => None,
                },
            },
            Event::StepEnded {
                parts,
                finish,
                metadata,
                ..
            } => {
                let model =
                    |metadata: &Value| Some(metadata.get("modelVersion")?.as_str()?.to_owned());
                Fact::Step {
                    finish: finish_name(*finish),
                    usage: metadata.as_ref().and_then(Usage::of),
                    model: metadata.as_ref().and_then(model),
                    calls: event.calls().map(|call| self.call(call)).collect(),
                    output: self.of(|| said(parts)),
                }
            }
            Event::CallNested { call, .. } => Fact::Nested(self.call(call)),
            Event::GateOpened { gate, .. } => Fact::GateOpened {
                gate: gate.id.clone(),
                call: gate.call.clone(),
                kind: match gate.kind {
                    GateKind::Approval { .. } => AskedOf::Person,
                    GateKind::ToolApproval { .. } => AskedOf::PersonWithin,
                    GateKind::Question { .. } => AskedOf::PersonForData,
                    GateKind::ClientCall => AskedOf::Page,
                },
            },
            Event::GateClosed { gate, decision, .. } => Fact::GateClosed {
                gate: gate.clone(),
                decision: match decision {
                    Decision::Approved { .. } => "approved",
                    Decision::Denied { .. } => "denied",
                    Decision::Output { .. } => "output",
                    Decision::Failed { .. } => "failed",
                    Decision::TimedOut => "timed_out",
                    Decision::Superseded => "superseded",
                    Decision::Cancelled => "cancelled",
                },
            },
            Event::CallStarted { call, .. } => Fact::Started(call.clone()),
            Event::CallSettled { call, outcome, .. } => {
                let (name, error) = match outcome {
                    Outcome::Output { .. } => ("output", None),
                    Outcome::Error { .. } => ("error", Some("tool_error")),
                    Outcome::Invalid { .. } => ("invalid", Some("invalid_input")),
                    Outcome::Denied { .. } => ("denied", None),
                    Outcome::Unknown { .. } => ("unknown", Some("unknown_outcome")),
                    Outcome::Pending { .. } => ("pending", None),
                };
                Fact::Settled {
                    call: call.clone(),
                    outcome: name,
                    error,
                    output: self.of(|| json!(outcome)),
                }
            }
            Event::TurnClaimed { .. } => Fact::Claimed,
            Event::TurnEnded { end, .. } => {
                let (end, code) = match end {
                    End::Finished => ("finished", None),
                    End::Stopped => ("stopped", None),
                    End::Failed { code, .. } => ("failed", Some(code.clone())),
                };
                Fact::Ended { end, code }
            }
            Event::ChatOpened { .. }
            | Event::CallRecorded { .. }
            | Event::SessionNoted { .. }
            | Event::MessageQueued { .. }
            | Event::MessageInjected { .. }
            | Event::MessageWithdrawn { .. }
            | Event::BranchSelected { .. } => return None,
        })
    }
}

/// What the model said, without what only its provider reads.
fn said(parts: &[Part]) -> Value {
    let parts = parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(json!({"type": "text", "content": text})),
        Part::Reasoning { text, .. } => Some(json!({"type": "reasoning", "content": text})),
        Part::Call { call, .. } => Some(json!({"type": "tool_call", "id": call.id,
            "name": call.tool, "arguments": call.input})),
        _ => None,
    });
    json!([{"role": "assistant", "parts": parts.collect::<Vec<_>>()}])
}

fn finish_name(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::ContentFilter => "content_filter",
        Finish::Error => "error",
        Finish::Cut => "cut",
        Finish::Other => "other",
    }
}
