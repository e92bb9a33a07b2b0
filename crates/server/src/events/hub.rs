//! Follows all chats for those who have streams open: one task, and one lookup for many changes.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use axum::body::Bytes;
use engine::{Engine, EngineError};
use futures_util::FutureExt;
use store::{ChangeFeed, ChatChange};
use tokio::sync::{Semaphore, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use turn::{ChatId, GateId, Principal};

use super::event::{Change, event};
use super::log::{ChangeLog, KNOWN_APPROVALS, Waiting};
use crate::random_id::random_id;
use crate::shares::Shares;

/// How long changes are gathered before they are looked up: a turn changes its chat several times in a
/// moment.
const GATHER: Duration = Duration::from_millis(50);

/// How many chats are looked up at once. If more have changed, streams are reset.
const BATCH: usize = 500;

/// How long the changes of a principal are kept who has no stream open.
const LINGER: Duration = Duration::from_secs(60);

/// How long to wait after a store could not be read, or streams were reset: clients then read their
/// whole lists.
const AGAIN: Duration = Duration::from_secs(1);

/// How many ids of approvals are read at once.
const PAGE: usize = 500;

/// For how many principals approvals are read at once.
const READS: usize = 4;

/// The changes that streams of events are fed with. Cloning it is cheap, and gives the same hub.
#[derive(Clone)]
pub struct EventHub {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Engine,
    /// Tells the events of this server from those of another, or of the one before it.
    instance: Arc<str>,
    state: Mutex<State>,
    /// Lets one stream of a principal read which approvals wait: the others wait for what it has read.
    baselines: Shares,
    reads: Semaphore,
}

#[derive(Default)]
struct State {
    logs: HashMap<Principal, ChangeLog>,
    /// The task that fills the logs, while there are any.
    task: Option<AbortHandle>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        if let Some(task) = &state.unwrap_or_else(PoisonError::into_inner).task {
            task.abort();
        }
    }
}

impl Shared {
    /// A panic elsewhere leaves the logs whole: every change to them is one step.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads which approvals wait for a principal, unless another stream has done so meanwhile.
    async fn read_baseline(&self, principal: &Principal) -> Result<(), EngineError> {
        // Neither semaphore is ever closed.
        let _turn = self.baselines.of(principal).acquire_owned().await.ok();
        let has_baseline = |state: &State| {
            let log = state.logs.get(principal);
            log.is_none_or(|log| log.has_baseline)
        };
        if has_baseline(&self.lock()) {
            return Ok(());
        }
        let waiting = self.waiting(principal).await?;
        if let Some(log) = self.lock().logs.get_mut(principal) {
            log.set_baseline(waiting);
        }
        Ok(())
    }

    /// The approvals that wait for a principal, as far as a log knows them.
    async fn waiting(&self, principal: &Principal) -> Result<Waiting, EngineError> {
        let _read = self.reads.acquire().await.ok();
        let (mut waiting, mut after) = (Waiting::default(), None);
        loop {
            let page = self.engine.approval_ids(principal, after, PAGE).await?;
            waiting.ids.extend(page.ids);
            after = page.next;
            waiting.is_partial = after.is_some();
            if after.is_none() || waiting.ids.len() >= KNOWN_APPROVALS {
                return Ok(waiting);
            }
        }
    }
}

impl EventHub {
    /// A hub for the chats of an engine.
    pub fn new(engine: Engine) -> Self {
        Self {
            shared: Arc::new(Shared {
                engine,
                instance: random_id("").into(),
                state: Mutex::default(),
                baselines: Shares::new(1),
                reads: Semaphore::new(READS),
            }),
        }
    }

    /// The changes of a principal: those after the event that the client got last, if this server
    /// still has them; otherwise a reset, and those from now on.
    pub(super) async fn subscribe(
        &self,
        principal: &Principal,
        last: Option<&str>,
    ) -> Result<Subscription, EngineError> {
        let last = last.and_then(|last| last.strip_prefix(&*self.shared.instance));
        let last: Option<u64> = last.and_then(|last| last.strip_prefix('.')?.parse().ok());
        let (subscription, has_baseline) = self.open(principal, last);
        if !has_baseline {
            self.shared.read_baseline(principal).await?;
        }
        Ok(subscription)
    }

    fn open(&self, principal: &Principal, last: Option<u64>) -> (Subscription, bool) {
        let mut state = self.shared.lock();
        if state.task.is_none() {
            // Before anything is read, so that no change is missed.
            let changes = self.shared.engine.chat_changes();
            let task = tokio::spawn(follow(Arc::downgrade(&self.shared), changes));
            state.task = Some(task.abort_handle());
        }
        let log = state.logs.entry(principal.clone());
        let log = log.or_insert_with(|| ChangeLog::new(Arc::clone(&self.shared.instance)));
        log.readers += 1;
        let after = last.and_then(|last| last.checked_add(1));
        let subscription = Subscription {
            shared: Arc::clone(&self.shared),
            principal: principal.clone(),
            // A number that is not there is a reset.
            number: after.unwrap_or(0),
            next: log.listen(),
        };
        (subscription, log.has_baseline)
    }
}

/// The changes of a principal, for one stream.
pub(super) struct Subscription {
    shared: Arc<Shared>,
    principal: Principal,
    /// The change that it reads next.
    number: u64,
    next: watch::Receiver<u64>,
}

impl Subscription {
    /// The next events, once there are any; nothing when the store was closed.
    pub(super) async fn next(&mut self) -> Option<Vec<Bytes>> {
        loop {
            self.next.mark_unchanged();
            let events = self.read();
            if !events.is_empty() {
                return Some(events);
            }
            self.next.changed().await.ok()?;
        }
    }

    fn read(&mut self) -> Vec<Bytes> {
        let state = self.shared.lock();
        let Some(log) = state.logs.get(&self.principal) else {
            return Vec::new();
        };
        let changes = log.since(self.number);
        self.number = log.next();
        changes.unwrap_or_else(|| {
            let id = log.id(self.number.saturating_sub(1));
            vec![event(&id, &Change::Reset)]
        })
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(log) = self.shared.lock().logs.get_mut(&self.principal) {
            log.readers = log.readers.saturating_sub(1);
            log.unread_since = Instant::now();
        }
    }
}

/// What has changed since it was looked up last.
enum Changed {
    Chats(HashSet<ChatId>),
    Any,
}

impl Changed {
    fn add(&mut self, change: ChatChange) {
        match (&mut *self, change) {
            (Self::Chats(chats), ChatChange::Chat(chat)) if chats.len() < BATCH => {
                chats.insert(chat);
            }
            _ => *self = Self::Any,
        }
    }
}

/// Fills the logs until there are none, or the store is closed.
async fn follow(hub: Weak<Shared>, mut changes: ChangeFeed) {
    loop {
        let first = tokio::time::timeout(LINGER, changes.next()).await;
        let mut changed = Changed::Chats(HashSet::new());
        let is_open = match first {
            Ok(Some(change)) => {
                changed.add(change);
                tokio::time::sleep(GATHER).await;
                drain(&mut changes, &mut changed)
            }
            Ok(None) => false,
            Err(_) => true,
        };
        let Some(shared) = hub.upgrade() else { return };
        if let Err(error) = apply(&shared, changed).await {
            tracing::warn!(%error, "reading changes of chats failed");
            reset(&shared);
            tokio::time::sleep(AGAIN).await;
        }
        let mut state = shared.lock();
        state
            .logs
            .retain(|_, log| log.readers > 0 || log.unread_since.elapsed() < LINGER);
        if !is_open {
            // Streams end: nothing will change any more.
            state.logs.clear();
        }
        if state.logs.is_empty() {
            state.task = None;
            return;
        }
    }
}

/// Takes what has come meanwhile, and returns whether more can come.
fn drain(changes: &mut ChangeFeed, changed: &mut Changed) -> bool {
    loop {
        match changes.next().now_or_never() {
            Some(Some(change)) => changed.add(change),
            Some(None) => return false,
            None => return true,
        }
    }
}

fn reset(shared: &Shared) {
    for log in shared.lock().logs.values_mut() {
        log.push(&Change::Reset);
    }
}

/// Looks up what changed, and logs it for those who have streams.
async fn apply(shared: &Shared, changed: Changed) -> Result<(), EngineError> {
    let chats: Vec<ChatId> = match changed {
        Changed::Chats(chats) if chats.is_empty() => return Ok(()),
        Changed::Chats(chats) => chats.into_iter().collect(),
        Changed::Any => {
            renew(shared).await?;
            tokio::time::sleep(AGAIN).await;
            return Ok(());
        }
    };
    let engine = &shared.engine;
    let listed = engine.listed_chats(&chats).await?;
    let listed: Vec<_> = {
        let state = shared.lock();
        let is_read = |owner: &Principal| state.logs.contains_key(owner);
        listed
            .into_iter()
            .filter(|chat| is_read(&chat.owner))
            .collect()
    };
    let ids: Vec<_> = listed.iter().map(|chat| chat.id.clone()).collect();
    let waiting = match ids.is_empty() {
        true => Vec::new(),
        false => engine.open_approvals(&ids).await?,
    };
    let mut approvals: HashMap<ChatId, BTreeSet<GateId>> = HashMap::new();
    for (chat, gate) in waiting {
        approvals.entry(chat).or_default().insert(gate);
    }
    let gone = engine.deleted_chats(&chats).await?;
    let mut state = shared.lock();
    for chat in listed {
        if let Some(log) = state.logs.get_mut(&chat.owner) {
            let waiting = approvals.remove(&chat.id).unwrap_or_default();
            log.set_approvals(&chat.id, waiting);
            log.push(&Change::Chat(Box::new(chat)));
        }
    }
    for (chat, owner) in gone {
        if let Some(log) = state.logs.get_mut(&owner) {
            log.set_approvals(&chat, BTreeSet::new());
            log.push(&Change::ChatDeleted(chat));
        }
    }
    Ok(())
}

/// Resets all streams, and reads which approvals wait.
async fn renew(shared: &Shared) -> Result<(), EngineError> {
    let principals: Vec<_> = shared.lock().logs.keys().cloned().collect();
    for principal in principals {
        let waiting = shared.waiting(&principal).await?;
        if let Some(log) = shared.lock().logs.get_mut(&principal) {
            log.forget_approvals();
            log.set_baseline(waiting);
            log.push(&Change::Reset);
        }
    }
    Ok(())
}
