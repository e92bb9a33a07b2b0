//! How a chat stands, as far as a store has to know: whether its last turn has ended, and whether
//! somebody has to do something for it to go on.
//!
//! A store keeps it beside the chat and takes each entry into it, so that a turn which waits for
//! people can be told from one whose server died without reading a journal. It agrees with
//! [`turn::Status`] after every entry that `turn` decides; a test says so.

use serde::{Deserialize, Serialize};
use turn::agent::Part;
use turn::{CallId, Event, GateId, TurnId};

/// How a chat stands. Holds what is open in its last turn, and nothing of what is settled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The last turn, until it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<TurnId>,
    /// Its calls that are not settled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<OpenCall>,
    /// Its gates that are not closed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    gates: Vec<OpenGate>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct OpenCall {
    id: CallId,
    /// The call inside of which a tool asked for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<CallId>,
    /// Whether it is of the last step, so that the model waits for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_of_last_step: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_started: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct OpenGate {
    id: GateId,
    /// The call that it holds.
    call: CallId,
    /// The call that waits for that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<CallId>,
}

impl OpenGate {
    fn holds(&self, call: &CallId) -> bool {
        self.call == *call || self.parent.as_ref() == Some(call)
    }
}

impl Standing {
    /// The last turn, if it has not ended.
    pub fn turn(&self) -> Option<&TurnId> {
        self.turn.as_ref()
    }

    /// Whether the turn goes on only if somebody does something: runs a tool, or asks the model.
    /// Not so when it has ended, and not so when all that it waits for are open gates.
    pub fn is_running(&self) -> bool {
        self.turn.is_some() && !self.is_held()
    }

    /// Whether open gates are all that the turn waits for.
    fn is_held(&self) -> bool {
        let is_model_due = !self.calls.iter().any(|call| call.is_of_last_step);
        let mut calls = self.calls.iter();
        let is_at_work = calls
            .any(|call| call.is_started && !self.gates.iter().any(|gate| gate.holds(&call.id)));
        !is_model_due && !is_at_work && !self.gates.is_empty()
    }

    /// Takes in what an entry says.
    pub fn apply(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::TurnOpened { turn, .. } => {
                    *self = Self {
                        turn: Some(turn.clone()),
                        ..Self::default()
                    };
                }
                // What is said of a turn before the last is old news.
                event if event.turn() != self.turn.as_ref() => {}
                event => self.apply_to_turn(event),
            }
        }
    }

    fn apply_to_turn(&mut self, event: &Event) {
        match event {
            Event::StepEnded { parts, .. } => {
                for call in &mut self.calls {
                    call.is_of_last_step = false;
                }
                self.calls
                    .extend(parts.iter().filter_map(|part| match part {
                        Part::Call { call, .. } => Some(OpenCall {
                            id: call.id.clone(),
                            parent: None,
                            is_of_last_step: true,
                            is_started: false,
                        }),
                        _ => None,
                    }));
            }
            Event::CallNested { call, .. } => self.calls.push(OpenCall {
                id: call.id.clone(),
                parent: call.parent.clone(),
                is_of_last_step: false,
                is_started: false,
            }),
            Event::GateOpened { gate, .. } => {
                // A gate that holds no call holds nothing up.
                let call = self.calls.iter().find(|call| call.id == gate.call);
                self.gates.extend(call.map(|call| OpenGate {
                    id: gate.id.clone(),
                    call: gate.call.clone(),
                    parent: call.parent.clone(),
                }));
            }
            Event::GateClosed { gate, .. } => self.gates.retain(|open| open.id != *gate),
            Event::CallStarted { call, .. } => {
                for open in self.calls.iter_mut().filter(|open| open.id == *call) {
                    open.is_started = true;
                }
            }
            Event::CallSettled { call, .. } => self.calls.retain(|open| open.id != *call),
            Event::TurnEnded { .. } => *self = Self::default(),
            Event::CallRecorded { .. }
            | Event::TurnClaimed { .. }
            | Event::SessionNoted { .. }
            | Event::ChatOpened { .. }
            | Event::TurnOpened { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use turn::agent::AgentEvent;
    use turn::call::{Outcome, Place};
    use turn::event::Finish;
    use turn::gate::Decision;
    use turn::input::Ids;
    use turn::live::{Ruling, Verdict};
    use turn::{At, Chat, Entry, Input, Status};

    use super::*;

    /// Something that happens to a chat; numbers choose among the calls and gates that there are.
    #[derive(Debug, Clone)]
    enum Happening {
        Message,
        Step(Vec<(bool, u8)>),
        Fails,
        Answer(usize, u8),
        TimesOut(usize),
        Asks(usize),
        CallsPage(usize),
        Records(usize),
        Done(usize, bool),
        Stop,
        Crash(bool),
    }

    fn happening() -> impl Strategy<Value = Happening> {
        prop_oneof![
            1 => Just(Happening::Message),
            4 => prop::collection::vec((any::<bool>(), 0..4_u8), 0..3).prop_map(Happening::Step),
            1 => Just(Happening::Fails),
            6 => (0..4_usize, 0..4_u8).prop_map(|(n, how)| Happening::Answer(n, how)),
            1 => (0..4_usize).prop_map(Happening::TimesOut),
            3 => (0..4_usize).prop_map(Happening::Asks),
            3 => (0..4_usize).prop_map(Happening::CallsPage),
            1 => (0..4_usize).prop_map(Happening::Records),
            4 => (0..4_usize, any::<bool>()).prop_map(|(n, pending)| Happening::Done(n, pending)),
            1 => Just(Happening::Stop),
            2 => any::<bool>().prop_map(Happening::Crash),
        ]
    }

    fn inputs(chat: &Chat, happening: Happening, n: usize) -> Vec<Input> {
        let turn = chat.current();
        let call = |n: usize| {
            let calls: Vec<_> = turn.into_iter().flat_map(|turn| turn.calls()).collect();
            let chosen = n.checked_rem(calls.len()).map(|n| calls[n].id.clone());
            chosen.unwrap_or_else(|| "none".into())
        };
        let gate = |n: usize| {
            let gates: Vec<_> = turn
                .into_iter()
                .flat_map(|turn| turn.open_gates())
                .collect();
            let chosen = n.checked_rem(gates.len()).map(|n| gates[n].id.clone());
            chosen.unwrap_or_else(|| "none".into())
        };
        let agent = |event, ruling| Input::Agent { event, ruling };
        match happening {
            Happening::Message => {
                let message = json!({"id": format!("u{n}"), "role": "user", "parts": []});
                vec![Input::Message {
                    message: serde_json::from_value(message).unwrap(),
                    principal: "ann".into(),
                    after: turn.map(|turn| turn.id().clone()),
                    ids: Ids {
                        turn: format!("t{n}").into(),
                        message: format!("m{n}"),
                    },
                }]
            }
            Happening::Step(calls) => {
                let made = calls.into_iter().map(|(is_client, verdict)| {
                    let event = AgentEvent::Call {
                        provider_id: None,
                        tool: "pay".into(),
                        input: json!({}),
                        provider_metadata: None,
                    };
                    let words = "Why?".to_owned();
                    let ruling = Ruling {
                        place: if is_client {
                            Place::Client
                        } else {
                            Place::Server
                        },
                        verdict: match verdict {
                            0 => Verdict::Allow,
                            1 => Verdict::Deny { reason: words },
                            2 => Verdict::Invalid { error: words },
                            _ => Verdict::Ask { question: words },
                        },
                        timeout: None,
                    };
                    agent(event, Some(ruling))
                });
                let end = agent(AgentEvent::Ended(Finish::Stop), None);
                made.chain([end]).collect()
            }
            Happening::Fails => vec![Input::AgentCut],
            Happening::Answer(n, how) => {
                let decision = match how {
                    0 => Decision::Denied { reason: None },
                    1 => Decision::Output { output: json!(1) },
                    2 => Decision::Failed { error: "no".into() },
                    _ => Decision::Approved {
                        reason: None,
                        input: None,
                    },
                };
                vec![Input::Answer {
                    gate: gate(n),
                    decision,
                }]
            }
            Happening::TimesOut(n) => vec![Input::TimedOut { gate: gate(n) }],
            Happening::Asks(n) => vec![Input::ToolAsks {
                call: call(n),
                question: "Sure?".into(),
                timeout: None,
            }],
            Happening::CallsPage(n) => vec![Input::ToolCalls {
                call: call(n),
                tool: "locate".into(),
                input: json!({}),
                timeout: None,
            }],
            Happening::Records(n) => vec![Input::ToolRecords {
                call: call(n),
                name: "step".into(),
                value: json!(1),
            }],
            Happening::Done(n, is_pending) => {
                let output = json!(1);
                let outcome = match is_pending {
                    true => Outcome::Pending { output },
                    false => Outcome::Output { output },
                };
                vec![Input::ToolDone {
                    call: call(n),
                    outcome,
                }]
            }
            Happening::Stop => vec![Input::Stop],
            Happening::Crash(idempotent) => {
                let calls = turn.into_iter().flat_map(|turn| turn.calls());
                let idempotent = calls.filter(|_| idempotent).map(|call| call.id.clone());
                vec![Input::Recover {
                    idempotent: idempotent.collect(),
                    by: None,
                }]
            }
        }
    }

    proptest! {
        /// Whatever happens to a chat, a store knows of it what its turn knows.
        #[test]
        fn it_agrees_with_the_turn(happenings in prop::collection::vec(happening(), 1..40)) {
            let mut chat = Chat::default();
            let mut standing = Standing::default();
            for (n, happening) in [Happening::Message].into_iter().chain(happenings).enumerate() {
                for input in inputs(&chat, happening.clone(), n) {
                    let events = chat.handle(input, At(1)).append;
                    standing.apply(&events);
                    let entry = Entry { seq: n as u64, at: At(1), actor: "ann".into(), events };
                    // As a store keeps it between two appends.
                    let kept = serde_json::to_string(&standing).unwrap();
                    prop_assert_eq!(&serde_json::from_str::<Standing>(&kept).unwrap(), &standing);
                    let (is_open, is_running) = match chat.status() {
                        Some(Status::Running) => (true, true),
                        Some(Status::Parked) => (true, false),
                        _ => (false, false),
                    };
                    let turn = chat.current().filter(|_| is_open).map(|turn| turn.id());
                    prop_assert_eq!(standing.turn(), turn, "after {:?}", entry);
                    prop_assert_eq!(standing.is_running(), is_running, "after {:?}", entry);
                }
            }
        }
    }
}
