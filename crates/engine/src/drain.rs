//! How a server leaves: it takes nothing new, lets the tools that are at work come to their end, and
//! gives its chats back as soon as nothing of them is at work. Windows close with their chats, and
//! their clients come back, to another server or to the next process.

use std::sync::atomic::Ordering;
use std::time::Duration;

use store::StoreError;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use turn::ChatId;

use crate::actor::Message;
use crate::driver::Input;
use crate::engine::Engine;
use crate::error::EngineError;

impl Engine {
    /// Whether this server is about to end.
    pub(crate) fn is_leaving(&self) -> bool {
        self.shared.is_leaving.load(Ordering::SeqCst)
    }

    /// Leaves, and waits for tools that are at work, for so long at most. One that is not done by then
    /// is as unknown as after a crash. Says whether all were done.
    pub async fn drain(&self, grace: Duration) -> Result<bool, EngineError> {
        let mut held = self.shared.leased.epochs();
        self.shared.is_leaving.store(true, Ordering::SeqCst);
        let chats = self.senders();
        let mut leaving = JoinSet::new();
        for chat in chats.clone() {
            leaving.spawn(async move {
                let (done, is_done) = oneshot::channel();
                // A task that has retired has nothing to wait for.
                if chat.send(Box::new(Message::Leave { done })).await.is_ok() {
                    let _ = is_done.await;
                }
            });
        }
        let all = async { while leaving.join_next().await.is_some() {} };
        let is_done = tokio::time::timeout(grace, all).await.is_ok();
        for chat in chats {
            // One that is busy or gone needs no word.
            let _ = chat.try_send(Box::new(Message::Input(Input::Lost)));
        }
        held.extend(self.shared.leased.epochs());
        self.give_back(&held).await?;
        Ok(is_done)
    }

    /// Ends the leases of chats, so that others take them up at once. Leases that are over say that
    /// somebody left; none at all would say that nobody came.
    pub(crate) async fn give_back(&self, chats: &[(ChatId, u64)]) -> Result<(), StoreError> {
        if let Some(replica) = &self.shared.replica
            && !chats.is_empty()
        {
            let journal = &self.shared.journal;
            let is_over = Duration::ZERO;
            journal.hold(&replica.holder, chats, is_over).await?;
        }
        Ok(())
    }
}
