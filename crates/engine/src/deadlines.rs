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

    /// It is another time than was believed.
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
        deadlines.cancel(&gate);
        let mut set = deadlines.lock();
        set.gates.insert(gate.clone(), at);
        set.due.insert((at, gate), chat.clone());
        if !std::mem::replace(&mut set.is_watched, true) {
            tokio::spawn(self.clone().watch_deadlines());
        }
        drop(set);
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
