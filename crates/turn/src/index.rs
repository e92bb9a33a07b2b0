//! What a store keeps beside the entries, so that it need not read them: what an entry changes in its
//! indexes, and the chat's status after it. One answer for all stores, so that they can't drift apart,
//! and so that an index can be thrown away and made again from the journal.
//!
//! Where the journal says a thing twice (a gate closed by two answers, a chat opened again), the
//! first time counts. That is for the stores to hold, and for the conformance suite to see.

use crate::agent::Part;
use crate::call::Call;
use crate::chat::Chat;
use crate::event::{Cause, End, Event};
use crate::gate::{Decision, Gate};
use crate::id::{GateId, Principal, TurnId};
use crate::message::Message;
use crate::turn::Status;

/// A turn that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTurn {
    /// The turn.
    pub id: TurnId,
    /// Whether it goes on only if somebody does something: runs a tool, or asks the model. If not, it
    /// waits at gates.
    pub is_running: bool,
}

impl Chat {
    /// The current turn, if it has not ended.
    pub fn open_turn(&self) -> Option<OpenTurn> {
        let turn = self.current()?;
        let is_running = match turn.status() {
            Status::Running => true,
            Status::Parked => false,
            Status::Finished | Status::Failed | Status::Stopped => return None,
        };
        let id = turn.id().clone();
        Some(OpenTurn { id, is_running })
    }
}

/// One change. The entry's chat, actor and time belong to it too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change<'a> {
    /// The chat belongs to somebody.
    ChatOpened {
        /// Whose it is.
        owner: &'a Principal,
    },
    /// The chat has a new turn.
    TurnOpened {
        /// The user message that it answers, if it answers one: [`crate::title::of_message`] is the
        /// chat's title, if it has none.
        message: Option<&'a Message>,
    },
    /// The current turn is over.
    TurnEnded {
        /// How: finished, failed or stopped.
        status: Status,
    },
    /// The call is in this chat.
    CallMade {
        /// The call.
        call: &'a Call,
    },
    /// The gate waits.
    GateOpened {
        /// The turn.
        turn: &'a TurnId,
        /// The gate.
        gate: &'a Gate,
    },
    /// The gate waits no more. The entry's actor and time say by whom and when.
    GateClosed {
        /// The gate.
        gate: &'a GateId,
        /// What was decided.
        decision: &'a Decision,
    },
}

/// What an entry of these events changes, in their order.
pub fn changes(events: &[Event]) -> impl Iterator<Item = Change<'_>> {
    events.iter().flat_map(|event| {
        let parts = match event {
            Event::StepEnded { parts, .. } => parts.as_slice(),
            _ => &[],
        };
        let calls = parts.iter().filter_map(|part| match part {
            Part::Call { call, .. } => Some(Change::CallMade { call }),
            _ => None,
        });
        calls.chain(change_of(event))
    })
}

fn change_of(event: &Event) -> Option<Change<'_>> {
    match event {
        Event::ChatOpened { owner } => Some(Change::ChatOpened { owner }),
        Event::CallNested { call, .. } => Some(Change::CallMade { call }),
        Event::GateOpened { turn, gate } => Some(Change::GateOpened { turn, gate }),
        Event::GateClosed { gate, decision, .. } => Some(Change::GateClosed { gate, decision }),
        Event::TurnOpened { cause, .. } => Some(Change::TurnOpened {
            message: match cause {
                Cause::Message { message } => Some(message),
                Cause::Result { .. } => None,
            },
        }),
        Event::TurnEnded { end, .. } => Some(Change::TurnEnded {
            status: match end {
                End::Finished => Status::Finished,
                End::Failed { .. } => Status::Failed,
                End::Stopped => Status::Stopped,
            },
        }),
        // Its calls are changes of their own.
        Event::StepEnded { .. }
        // What becomes of calls is in the open turn.
        | Event::CallStarted { .. }
        | Event::CallRecorded { .. }
        | Event::CallSettled { .. }
        | Event::TurnClaimed { .. }
        | Event::SessionNoted { .. }
        // A message counts once it opens a turn.
        | Event::MessageQueued { .. }
        | Event::MessageInjected { .. }
        | Event::MessageWithdrawn { .. }
        | Event::BranchSelected { .. } => None,
    }
}

/// Whose chat the first entry of a journal opens, if it does.
pub fn owner(events: &[Event]) -> Option<&Principal> {
    match events.first()? {
        Event::ChatOpened { owner } => Some(owner),
        _ => None,
    }
}

/// The turn that an entry is of, for people who read the table: that of the first event that has one.
pub fn turn(events: &[Event]) -> Option<&TurnId> {
    events.iter().find_map(Event::turn)
}

/// What an entry says, for people who read the table: the names of its events, as the journal has
/// them, with commas between.
pub fn kind(events: &[Event]) -> String {
    let names: Vec<_> = events.iter().map(name).collect();
    names.join(",")
}

fn name(event: &Event) -> &'static str {
    match event {
        Event::ChatOpened { .. } => "chat-opened",
        Event::TurnOpened { .. } => "turn-opened",
        Event::MessageQueued { .. } => "message-queued",
        Event::MessageInjected { .. } => "message-injected",
        Event::MessageWithdrawn { .. } => "message-withdrawn",
        Event::BranchSelected { .. } => "branch-selected",
        Event::StepEnded { .. } => "step-ended",
        Event::CallNested { .. } => "call-nested",
        Event::GateOpened { .. } => "gate-opened",
        Event::GateClosed { .. } => "gate-closed",
        Event::CallStarted { .. } => "call-started",
        Event::CallRecorded { .. } => "call-recorded",
        Event::CallSettled { .. } => "call-settled",
        Event::TurnClaimed { .. } => "turn-claimed",
        Event::SessionNoted { .. } => "session-noted",
        Event::TurnEnded { .. } => "turn-ended",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn events() -> Vec<Event> {
        let call = |id: &str| json!({"id": id, "tool": "pay", "input": {}, "place": "server"});
        let mut part = call("c1");
        part["part"] = "call".into();
        let events = json!([
            {"event": "chat-opened", "owner": "ann"},
            {"event": "turn-opened", "turn": "t1", "messageId": "m1", "cause": {
                "cause": "message",
                "message": {"id": "u1", "role": "user", "parts": []},
            }},
            {"event": "step-ended", "turn": "t1", "finish": "stop", "parts": [
                {"part": "text", "text": "hello"},
                part,
            ]},
            {"event": "call-nested", "turn": "t1", "call": call("c2")},
            {"event": "gate-opened", "turn": "t1", "gate": {
                "id": "g1", "call": "c1", "kind": {"kind": "client-call"},
            }},
            {"event": "gate-closed", "turn": "t1", "gate": "g1", "decision": "timed-out"},
            {"event": "call-started", "turn": "t1", "call": "c1"},
            {"event": "call-recorded", "turn": "t1", "call": "c1", "name": "n", "value": null},
            {"event": "call-settled", "turn": "t1", "call": "c1", "outcome": "unknown"},
            {"event": "message-queued", "turn": "t1", "placement": "queue", "opens": "t2",
                "messageId": "m2", "message": {"id": "u2", "role": "user", "parts": []}},
            {"event": "message-injected", "turn": "t1", "message": "u2"},
            {"event": "message-withdrawn", "turn": "t1", "message": "u2"},
            {"event": "branch-selected", "turn": "t1"},
            {"event": "turn-ended", "turn": "t1", "end": "finished"},
        ]);
        serde_json::from_value(events).unwrap()
    }

    #[test]
    fn a_name_is_the_one_in_the_journal() {
        for event in events() {
            let stored: Value = serde_json::to_value(&event).unwrap();
            assert_eq!(stored["event"], name(&event));
        }
    }

    #[test]
    fn every_change_comes_in_the_order_of_the_events() {
        let events = events();
        let changes: Vec<_> = changes(&events).collect();
        assert_eq!(changes.len(), 7);
        assert_eq!(
            changes[0],
            Change::ChatOpened {
                owner: &"ann".into()
            }
        );
        let calls = changes.iter().filter_map(|change| match change {
            Change::CallMade { call } => Some(call.id.as_str()),
            _ => None,
        });
        assert_eq!(calls.collect::<Vec<_>>(), ["c1", "c2"]);
        assert!(matches!(
            changes[1],
            Change::TurnOpened { message: Some(_) }
        ));
        assert!(matches!(changes[4], Change::GateOpened { gate, .. } if gate.id == "g1".into()));
        assert_eq!(
            changes[5],
            Change::GateClosed {
                gate: &"g1".into(),
                decision: &Decision::TimedOut
            }
        );
        let status = Status::Finished;
        assert_eq!(changes[6], Change::TurnEnded { status });
    }

    #[test]
    fn an_entry_is_of_the_first_turn_that_it_names() {
        let events = events();
        assert_eq!(turn(&events), Some(&"t1".into()));
        assert_eq!(turn(&events[..1]), None);
        assert_eq!(kind(&events[..2]), "chat-opened,turn-opened");
        assert_eq!(kind(&[]), "");
        assert_eq!(owner(&events), Some(&"ann".into()));
        assert_eq!(owner(&events[1..]), None);
    }
}
