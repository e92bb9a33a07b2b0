//! Live sessions that can be resumed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::live::Conversation;

/// How long a handle holds.
const VALID: Duration = Duration::from_secs(2 * 60 * 60);

/// The conversation of each handle, as it was when the handle was given.
#[derive(Debug, Default)]
pub(crate) struct Handles(Mutex<HashMap<String, (Instant, Conversation)>>);

impl Handles {
    /// Stores a conversation under a handle.
    pub(crate) fn keep(&self, handle: String, conversation: Conversation) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, (at, _)| at.elapsed() < VALID);
        kept.insert(handle, (Instant::now(), conversation));
    }

    /// The conversation under a handle, if it is known and not too old.
    pub(crate) fn find(&self, handle: &str) -> Option<Conversation> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, conversation) = kept.get(handle)?;
        (at.elapsed() < VALID).then(|| conversation.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_handle_holds_for_two_hours() {
        let handles = Handles::default();
        handles.keep("h".to_owned(), Conversation::default());
        tokio::time::advance(VALID - Duration::from_secs(1)).await;
        assert!(handles.find("h").is_some());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(handles.find("h").is_none());
        assert!(handles.find("other").is_none());
    }
}
