//! What an entry of the journal counts as, once it is stored.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use engine::origin;
use store::NewEntry;
use turn::call::Outcome;
use turn::event::{End, Finish};
use turn::gate::{Decision, Gate, GateKind};
use turn::{At, ChatId, Event, GateId, TraceContext, TurnId, Usage};

use super::Metrics;
use crate::request_context::trace_id;

/// Of how many open gates it is remembered when they were asked. Others are looked up.
const REMEMBERED: usize = 10_000;

/// How a turn may fail, by codes of our own. Others, which come from elsewhere, count as one.
pub(super) const FAILURES: &[&str] = &[
    "agent_bad_request",
    "agent_blocked",
    "agent_busy",
    "agent_cut_off",
    "agent_empty_response",
    "agent_failed",
    "agent_invalid_response",
    "agent_not_found",
    "agent_question_unsupported",
    "agent_session_lost",
    "agent_timed_out",
    "agent_unauthorized",
    "agent_unavailable",
    "handed_over",
    "other",
    "rate_limited",
    "store_unavailable",
    "too_many_steps",
];

/// Why steps end.
pub(super) const FINISHES: &[&str] = &["stop", "length", "content_filter", "error", "cut", "other"];

/// What becomes of calls.
pub(super) const OUTCOMES: &[&str] =
    &["output", "error", "invalid", "denied", "unknown", "pending"];

/// What holds calls.
pub(super) const KINDS: &[&str] = &["approval", "question", "client_call"];

/// What is decided at gates.
pub(super) const DECISIONS: &[&str] = &[
    "approved",
    "denied",
    "output",
    "failed",
    "timed_out",
    "superseded",
    "cancelled",
];

/// What an entry counts as.
pub(super) struct ObservedEntry {
    at: At,
    chat: ChatId,
    turn: Option<TurnId>,
    /// The turn's trace, if the entry opens it.
    trace: Option<TraceContext>,
    seen: Vec<Seen>,
}

enum Seen {
    TurnOpened,
    TurnEnded {
        outcome: &'static str,
        code: &'static str,
    },
    Step {
        finish: &'static str,
        usage: Usage,
    },
    Call(&'static str),
    GateOpened {
        gate: GateId,
        kind: &'static str,
    },
    GateClosed {
        gate: GateId,
        decision: &'static str,
    },
    Claimed,
}

impl ObservedEntry {
    /// What an entry will count as.
    pub(super) fn of(chat: &ChatId, entry: &NewEntry) -> Self {
        Self {
            at: entry.at,
            chat: chat.clone(),
            turn: entry.events.iter().find_map(Event::turn).cloned(),
            trace: entry.events.iter().find_map(|event| match event {
                Event::TurnOpened { trace, .. } => trace.clone(),
                _ => None,
            }),
            seen: entry.events.iter().filter_map(seen).collect(),
        }
    }

    /// Counts it: it is stored. Gives the closed gates of which it is not known when they were asked,
    /// with what was decided.
    pub(super) fn count(self, metrics: &Metrics, asked: &AskedAt) -> Vec<(GateId, &'static str)> {
        let all = &*metrics.0;
        let mut unknown = Vec::new();
        let chat = self.chat.as_str();
        let turn = self.turn.as_ref().map(TurnId::as_str);
        // Where this is awaited: the engine scopes that.
        let origin = origin::current();
        let request_id = origin.request_id.as_deref();
        let trace = self.trace.as_ref().or(origin.turn_trace.as_ref());
        let trace_id = trace.map(trace_id);
        let trace_id = trace_id.as_deref();
        macro_rules! line {
            ($level:ident, $($fields:tt)*) => {
                tracing::$level!(target: "turn", request_id, chat, turn, trace_id, $($fields)*)
            };
        }
        for seen in self.seen {
            match seen {
                Seen::TurnOpened => {
                    all.turns_opened.inc();
                    line!(debug, "turn opened");
                }
                Seen::TurnEnded { outcome, code } => {
                    let labels = [("outcome", outcome), ("code", code)];
                    all.turns_ended.get_or_create(&labels).inc();
                    if outcome == "failed" {
                        line!(info, code, "turn failed");
                    }
                }
                Seen::Step { finish, usage } => {
                    all.steps.get_or_create(&[("finish", finish)]).inc();
                    for (direction, count) in [("input", usage.input), ("output", usage.output)] {
                        let labels = [("direction", direction)];
                        all.tokens.get_or_create(&labels).inc_by(count);
                    }
                    if let Some((prices, costs)) = &all.cost {
                        let (input, output) = prices.cost(&usage);
                        for (direction, cost) in [("input", input), ("output", output)] {
                            costs
                                .get_or_create(&[("direction", direction)])
                                .inc_by(cost);
                        }
                    }
                }
                Seen::Call(outcome) => {
                    all.calls.get_or_create(&[("outcome", outcome)]).inc();
                }
                Seen::GateOpened { gate, kind } => {
                    all.gates_opened.get_or_create(&[("kind", kind)]).inc();
                    line!(debug, %gate, kind, "gate opened");
                    asked.remember(gate, self.at);
                }
                Seen::GateClosed { gate, decision } => {
                    let labels = [("decision", decision)];
                    all.gates_closed.get_or_create(&labels).inc();
                    line!(debug, %gate, decision, "gate closed");
                    match asked.take(&gate) {
                        Some(asked) => metrics.answered(decision, asked, self.at),
                        None => unknown.push((gate, decision)),
                    }
                }
                Seen::Claimed => {
                    all.takeovers.inc();
                    line!(info, "turn taken up");
                }
            }
        }
        unknown
    }
}

impl Metrics {
    /// A gate that was opened at one moment was closed at another.
    pub(super) fn answered(&self, decision: &'static str, asked: At, closed: At) {
        let delay = Duration::from_millis(closed.0.saturating_sub(asked.0));
        let labels = [("decision", decision)];
        let histogram = self.0.answer_delay.get_or_create(&labels);
        histogram.observe(delay.as_secs_f64());
    }
}

fn seen(event: &Event) -> Option<Seen> {
    Some(match event {
        Event::TurnOpened { .. } => Seen::TurnOpened,
        Event::TurnEnded { end, .. } => {
            let (outcome, code) = match end {
                End::Finished => ("finished", ""),
                End::Stopped => ("stopped", ""),
                End::Failed { code, .. } => ("failed", failure(code)),
            };
            Seen::TurnEnded { outcome, code }
        }
        Event::StepEnded {
            finish, metadata, ..
        } => Seen::Step {
            finish: finish_name(*finish),
            usage: metadata.as_ref().and_then(Usage::of).unwrap_or_default(),
        },
        Event::CallSettled { outcome, .. } => Seen::Call(match outcome {
            Outcome::Output { .. } => "output",
            Outcome::Error { .. } => "error",
            Outcome::Invalid { .. } => "invalid",
            Outcome::Denied { .. } => "denied",
            Outcome::Unknown { .. } => "unknown",
            Outcome::Pending { .. } => "pending",
        }),
        Event::GateOpened { gate, .. } => Seen::GateOpened {
            gate: gate.id.clone(),
            kind: kind(gate),
        },
        Event::GateClosed { gate, decision, .. } => Seen::GateClosed {
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
        Event::TurnClaimed { .. } => Seen::Claimed,
        Event::ChatOpened { .. }
        | Event::CallNested { .. }
        | Event::CallStarted { .. }
        | Event::CallRecorded { .. }
        | Event::SessionNoted { .. }
        | Event::MessageQueued { .. }
        | Event::MessageInjected { .. }
        | Event::MessageWithdrawn { .. }
        | Event::BranchSelected { .. } => return None,
    })
}

fn kind(gate: &Gate) -> &'static str {
    match gate.kind {
        GateKind::Approval { .. } | GateKind::ToolApproval { .. } => "approval",
        GateKind::Question { .. } => "question",
        GateKind::ClientCall => "client_call",
    }
}

fn failure(code: &str) -> &'static str {
    let known = FAILURES.iter().find(|known| **known == code);
    known.copied().unwrap_or("other")
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

/// When gates were asked that were opened here.
#[derive(Default)]
pub(super) struct AskedAt(Mutex<HashMap<GateId, At>>);

impl AskedAt {
    fn remember(&self, gate: GateId, at: At) {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.len() < REMEMBERED {
            asked.insert(gate, at);
        }
    }

    fn take(&self, gate: &GateId) -> Option<At> {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        asked.remove(gate)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(events: serde_json::Value) -> NewEntry {
        NewEntry {
            at: At(5_000),
            epoch: 0,
            actor: turn::Principal::from("ann").into(),
            events: serde_json::from_value(events).unwrap(),
            open: None,
        }
    }

    #[test]
    fn thoughts_are_output_however_the_model_counts_them() {
        let metrics = Metrics::new();
        let step = |usage: serde_json::Value| {
            let event = json!({"event": "step-ended", "turn": "t", "parts": [], "finish": "stop",
                "metadata": {"usage": usage}});
            let observed = ObservedEntry::of(&ChatId::from("c"), &entry(json!([event])));
            observed.count(&metrics, &AskedAt::default());
        };
        let gemini = json!({"promptTokens": 10, "completionTokens": 4, "reasoningTokens": 6,
            "toolUsePromptTokens": 2, "totalTokens": 22});
        let openai = json!({"promptTokens": 10, "completionTokens": 10, "reasoningTokens": 6,
            "totalTokens": 20});
        let neither = json!({"promptTokens": 1, "completionTokens": 3});
        for usage in [gemini, openai, neither] {
            step(usage);
        }
        let tokens = |direction| {
            metrics
                .0
                .tokens
                .get_or_create(&[("direction", direction)])
                .get()
        };
        assert_eq!((tokens("input"), tokens("output")), (23, 23));
    }

    /// What a turn may fail with is what the reference lists; `other` is for all codes of others.
    #[test]
    fn every_failure_of_the_reference_is_a_label() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors.md");
        let reference = std::fs::read_to_string(path).unwrap();
        let (_, listed) = reference.split_once("## In a stream").unwrap();
        let (listed, _) = listed.split_once("\n## ").unwrap();
        let rows = listed.lines().filter_map(|line| line.strip_prefix("| `"));
        let mut codes: Vec<_> = rows.filter_map(|row| row.split('`').next()).collect();
        codes.push("other");
        codes.sort_unstable();
        assert_eq!(codes, FAILURES);
    }

    #[test]
    fn code_that_is_not_ours_is_no_label() {
        assert_eq!(failure("rate_limited"), "rate_limited");
        assert_eq!(failure("chat-4711"), "other");
    }

    #[test]
    fn gate_of_another_server_is_looked_up() {
        let (metrics, asked) = (Metrics::new(), AskedAt::default());
        let count = |events| {
            let observed = ObservedEntry::of(&ChatId::from("c"), &entry(events));
            observed.count(&metrics, &asked)
        };
        let gate = json!({"id": "g", "call": "x", "kind": {"kind": "client-call"}});
        let opened = json!([{"event": "gate-opened", "turn": "t", "gate": gate}]);
        assert!(count(opened).is_empty());
        let closed = |gate: &str| json!([{"event": "gate-closed", "turn": "t", "gate": gate, "decision": "timed-out"}]);
        assert!(count(closed("g")).is_empty());
        assert_eq!(count(closed("h")), [(GateId::from("h"), "timed_out")]);
    }
}
