//! Whether something was sent to the task of a chat, which is also woken by every delta of its agent.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Wake, Waker};

/// Wakes the task of a chat for what is sent to it, and notes that. At a delta its queues are not even
/// looked at.
pub(super) struct MailWaker {
    has_mail: AtomicBool,
    task: Waker,
}

impl MailWaker {
    /// For the task that calls this. There may be something already.
    pub(super) async fn of_task() -> (Arc<Self>, Waker) {
        let task = poll_fn(|context| Poll::Ready(context.waker().clone())).await;
        let mail = Arc::new(Self {
            has_mail: AtomicBool::new(true),
            task,
        });
        let waker = Waker::from(mail.clone());
        (mail, waker)
    }

    /// Whether the queues are to be looked at.
    pub(super) fn take(&self) -> bool {
        self.has_mail.load(Ordering::Relaxed) && self.has_mail.swap(false, Ordering::AcqRel)
    }

    /// They are to be looked at again, since there may be more.
    pub(super) fn note(&self) {
        self.has_mail.store(true, Ordering::Release);
    }
}

impl Wake for MailWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.note();
        self.task.wake_by_ref();
    }
}
