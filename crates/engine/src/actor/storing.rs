//! What a driver asks of the store, and which gates are open by it.

use store::StoreError;
use turn::Event;

use super::Actor;
use crate::driver::{Operation, Stored};
use crate::origin::{self, Origin};

impl Actor {
    /// Carries an operation out, and returns what the driver waits for.
    pub(super) async fn ask_store(&mut self, operation: Operation) -> Result<Stored, StoreError> {
        if let Operation::Append { entry, .. } = &operation {
            self.note_gates(&entry.events);
        }
        let shared = &self.engine.shared;
        let journal = &shared.journal;
        let id = std::slice::from_ref(&self.id);
        Ok(match operation {
            Operation::Lease => Stored::Lease(journal.lease(&self.id).await?),
            Operation::Read => Stored::Entries(journal.read(&self.id, 0).await?),
            Operation::Append { expected, entry } => {
                let append = journal.append(&self.id, expected, entry);
                // Who observes the journal learns which request it is for.
                let origin = Origin {
                    request_id: self.request_id.clone(),
                    trace: self.driver.trace(),
                    turn_trace: self.driver.turn_trace(),
                };
                Stored::Appended(origin::scope(origin, append).await?)
            }
            Operation::Compare { seq } => {
                let seen = [(self.id.clone(), seq)];
                Stored::Outdated(!journal.outdated(&seen).await?.is_empty())
            }
            Operation::Delete => {
                journal
                    .delete_for_good(&self.id, shared.clock.now())
                    .await?;
                Stored::Done
            }
            Operation::Hold { epoch } => {
                let Some(replica) = &shared.replica else {
                    return Ok(Stored::Held(true));
                };
                let chats = [(self.id.clone(), epoch)];
                let refused = journal.hold(&replica.holder, &chats, replica.lease).await?;
                Stored::Held(refused.is_empty())
            }
            Operation::GiveBack { epoch } => {
                self.engine.give_back(&[(self.id.clone(), epoch)]).await?;
                Stored::Done
            }
            Operation::Release => {
                if let Some(replica) = &shared.replica {
                    journal.release(&replica.holder.owner, id).await?;
                }
                Stored::Done
            }
        })
    }

    /// Notes which gates are opened and closed by what is about to be stored. Should it not be stored,
    /// the chat is evicted, and read again.
    fn note_gates(&mut self, events: &[Event]) {
        let shared = &self.engine.shared;
        for event in events {
            match event {
                Event::GateOpened { gate, .. } if gate.is_question() => {
                    self.gates.insert(gate.id.clone());
                    shared.approvals.add(&gate.id, &self.id);
                }
                Event::GateClosed { gate, .. } => {
                    self.gates.remove(gate);
                    shared.approvals.remove(gate);
                    shared.deadlines.cancel(gate);
                }
                _ => {}
            }
        }
    }

    /// Nothing of the chat is at hand any more.
    pub(super) fn forget_gates(&mut self) {
        for gate in self.gates.drain() {
            self.engine.shared.approvals.remove(&gate);
        }
    }
}
