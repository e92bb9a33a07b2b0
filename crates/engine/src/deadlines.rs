//! When the time of gates is up: all deadlines of a server, and one task that waits for the next.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use turn::{At, ChatId, GateId};

use crate::actor::Message;
use crate::driver::Input;
use crate::engine::Engine;

/// The deadlines of the gates that are open here.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    set: Mutex<Set>,
    /// Something earlier was set, or the clock was.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Set {
    due: BTreeMap<(At, GateId), ChatId>,
    gates: HashMap<GateId, At>,
    /// Whether a task waits for them.
    is_watched: bool,
}

impl Deadlines {
    /// Sets the deadline of a gate, and says whether no task waits yet.
    fn set(&self, chat: &ChatId, gate: GateId, at: At) -> bool {
        self.cancel(&gate);
        let mut set = self.lock();
        set.gates.insert(gate.clone(), at);
        set.due.insert((at, gate), chat.clone());
        !std::mem::replace(&mut set.is_watched, true)
    }

    /// Whether the deadline of a gate is set here, and has not come.
    pub(crate) fn holds(&self, gate: &GateId) -> bool {
        self.lock().gates.contains_key(gate)
    }

    /// Cancels the deadline of a gate that is closed, or not ours any more.
    pub(crate) fn cancel(&self, gate: &GateId) {
        let mut set = self.lock();
        if let Some(at) = set.gates.remove(gate) {
            set.due.remove(&(at, gate.clone()));
        }
    }

    /// The deadlines that have come.
    fn take(&self, now: At) -> Vec<(GateId, ChatId)> {
        let mut set = self.lock();
        let mut come = Vec::new();
        while let Some(first) = set.due.first_entry().filter(|first| first.key().0 <= now) {
            let ((_, gate), chat) = first.remove_entry();
            set.gates.remove(&gate);
            come.push((gate, chat));
        }
        come
    }

    /// It is another time than was assumed.
    pub(crate) fn clock_was_set(&self) {
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Set> {
        // Nothing that holds the lock can panic half-way through a change.
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Closes a gate when its time is up, unless it is cancelled before.
    pub(crate) fn set_deadline(&self, chat: &ChatId, gate: GateId, at: At) {
        let deadlines = &self.shared.deadlines;
        if deadlines.set(chat, gate, at) {
            tokio::spawn(self.clone().watch_deadlines());
        }
        deadlines.changed.notify_one();
    }

    async fn watch_deadlines(self) {
        let deadlines = &self.shared.deadlines;
        loop {
            let next = {
                let mut set = deadlines.lock();
                let next = set.due.first_key_value().map(|((at, _), _)| *at);
                set.is_watched = next.is_some();
                next
            };
            let Some(next) = next else { return };
            tokio::select! {
                () = tokio::time::sleep_until(self.shared.clock.instant(next)) => {}
                () = deadlines.changed.notified() => {}
            }
            for (gate, chat) in deadlines.take(self.now()) {
                // The chat's task may have retired meanwhile: this wakes it.
                let timed_out = Message::Input(Input::TimedOut { gate: gate.clone() });
                if let Err(error) = self.deliver(&chat, timed_out).await {
                    tracing::error!(%chat, %gate, %error, "gate timeout not delivered");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadline_of_an_answered_gate_never_comes() {
        let deadlines = Deadlines::default();
        let (chat, gate) = (ChatId::from("c"), GateId::from("g"));
        deadlines.set(&chat, gate.clone(), At(5));
        assert!(deadlines.holds(&gate));
        deadlines.cancel(&gate);
        assert!(!deadlines.holds(&gate));
        assert_eq!(deadlines.take(At(10)), []);
    }

    #[test]
    fn deadline_that_has_come_is_not_held_any_more() {
        let deadlines = Deadlines::default();
        let (chat, gate) = (ChatId::from("c"), GateId::from("g"));
        deadlines.set(&chat, gate.clone(), At(5));
        assert_eq!(deadlines.take(At(4)), []);
        assert_eq!(deadlines.take(At(5)), [(gate.clone(), chat)]);
        // Should it not reach the chat, it is found in the store.
        assert!(!deadlines.holds(&gate));
    }
}
