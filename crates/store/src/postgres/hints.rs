//! How tails learn of other servers' appends: a notification, which is a hint, and a query now and
//! then for all that is followed, as a fallback.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_postgres::Notification;
use turn::ChatId;

use super::address::Address;
use super::flush::{ALL, CHANNEL};
use super::outage::Backoff;
use super::read::{all, column, text};
use super::session::Session;
use crate::change_notifier::ChangeNotifier;
use crate::error::StoreError;

/// How often the followed journals are checked. One query, for all of them.
const LOOK: Duration = Duration::from_secs(1);

/// How many notifications may wait.
const QUEUED: usize = 1024;

/// A task that listens. Dropping it ends it.
pub(super) struct Hints {
    task: JoinHandle<()>,
}

impl Hints {
    /// Starts to listen. What the connection with this number does is known here already.
    pub(super) fn start(
        address: Address,
        notifier: Arc<ChangeNotifier>,
        own: Arc<AtomicI32>,
    ) -> Self {
        let listening = Listening {
            address,
            notifier,
            own,
            seen: HashMap::new(),
        };
        let task = tokio::spawn(listening.run());
        Self { task }
    }
}

impl Drop for Hints {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Listening {
    address: Address,
    notifier: Arc<ChangeNotifier>,
    own: Arc<AtomicI32>,
    /// Where the followed journals were when they were last checked.
    seen: HashMap<ChatId, (i64, i64)>,
}

impl Listening {
    async fn run(mut self) {
        let mut backoff = Backoff::default();
        loop {
            // It returns when the connection is lost, or could not be made.
            if let Ok(()) = self.listen().await {
                backoff = Backoff::default();
            }
            backoff.wait().await;
        }
    }

    /// Listens until the connection is lost; an error means that there was none.
    async fn listen(&mut self) -> Result<(), StoreError> {
        // What finds no room is lost, and found by the next look.
        let (sender, mut hints) = mpsc::channel(QUEUED);
        let notifier = Arc::clone(&self.notifier);
        let notify = move |notification| {
            if sender.try_send(notification).is_err() {
                notifier.feed_all();
            }
        };
        let session = self.address.connect_listening(notify).await?;
        let listen = format!("LISTEN {CHANNEL}");
        let listening = session.client().batch_execute(&listen);
        session
            .until(self.address.url.time_limit, listening)
            .await??;
        // What was said before is lost, so everybody checks for themselves.
        self.notifier.notify_all();
        let mut checks = tokio::time::interval(LOOK);
        checks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                hint = hints.recv() => match hint {
                    Some(hint) if self.take_hint(&hint) => {}
                    Some(_) => if self.check_followed(&session).await.is_err() { return Ok(()) },
                    None => return Ok(()),
                },
                _ = checks.tick() => if self.check_followed(&session).await.is_err() { return Ok(()) },
            }
        }
    }

    /// Rings for the journals that a notification names, and returns whether it names any.
    fn take_hint(&self, hint: &Notification) -> bool {
        if hint.process_id() == self.own.load(Ordering::Relaxed) {
            return true;
        }
        match serde_json::from_str::<Vec<ChatId>>(hint.payload()) {
            Ok(chats) => {
                chats.iter().for_each(|chat| self.notifier.notify(chat));
                true
            }
            // Too many for a notification, which then is `*`.
            Err(_) if hint.payload() == ALL => {
                self.notifier.feed_all();
                false
            }
            // A notification of another program.
            Err(_) => true,
        }
    }

    /// Notifies listeners of the journals that have grown. Also detects that the server has gone
    /// unnoticed.
    async fn check_followed(&mut self, session: &Session) -> Result<(), StoreError> {
        let followed = self.notifier.chats();
        let time_limit = self.address.url.time_limit;
        let found = session
            .until(time_limit, find(session, &followed))
            .await??;
        for chat in &followed {
            // Also one that is gone, or was not followed before.
            if found.get(chat) != self.seen.get(chat) {
                self.notifier.notify(chat);
            }
        }
        self.seen = found;
        Ok(())
    }
}

async fn find(
    session: &Session,
    chats: &[ChatId],
) -> Result<HashMap<ChatId, (i64, i64)>, StoreError> {
    let ids: Vec<_> = chats.iter().map(ChatId::as_str).collect();
    let ids: Vec<_> = ids.into_iter().filter(|id| !id.contains('\0')).collect();
    let sql = "SELECT id, position, seq FROM chat WHERE id = ANY ($1)";
    let found = all(session, sql, &[&ids], |row| {
        let place = (column(row, 1)?, column(row, 2)?);
        Ok((ChatId::from(text(row, 0)?), place))
    })
    .await?;
    Ok(found.into_iter().collect())
}
