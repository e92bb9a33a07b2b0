//! A journal that fails on request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use store::{Appended, Journal, Layer, NewEntry, Reply, StoreError};
use turn::ChatId;

/// A journal of which a number of appends fail, or in which all to one chat conflict, and nothing else.
pub(crate) struct Faulty {
    /// The chat to which nobody can append.
    pub(crate) contested: Option<ChatId>,
    pub(crate) inner: Arc<dyn Journal>,
    pub(crate) failures: AtomicUsize,
}

impl Faulty {
    pub(crate) fn over(inner: Arc<dyn Journal>) -> Arc<Self> {
        let failures = AtomicUsize::new(0);
        Arc::new(Self {
            contested: None,
            inner,
            failures,
        })
    }

    /// One in which somebody else is always first, in this chat.
    pub(crate) fn contesting(inner: Arc<dyn Journal>, chat: &ChatId) -> Arc<Self> {
        let failures = AtomicUsize::new(0);
        Arc::new(Self {
            contested: Some(chat.clone()),
            inner,
            failures,
        })
    }

    pub(crate) fn fail_once(&self) {
        self.failures.store(1, Ordering::SeqCst);
    }
}

impl Layer for Faulty {
    fn inner(&self) -> &dyn Journal {
        &*self.inner
    }

    fn append<'a>(&'a self, chat: &'a ChatId, seq: u64, entry: NewEntry) -> Reply<'a, Appended> {
        if self.contested.as_ref() == Some(chat) {
            let conflict = Appended::Conflict { seq: seq + 1 };
            return Box::pin(std::future::ready(Ok(conflict)));
        }
        let failures = &self.failures;
        let one_less = |left: usize| left.checked_sub(1);
        if failures
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
            .is_ok()
        {
            return Box::pin(std::future::ready(Err(StoreError::Full)));
        }
        self.inner.append(chat, seq, entry)
    }
}
