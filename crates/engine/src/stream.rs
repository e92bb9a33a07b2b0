//! A window as it is read.

use std::sync::Arc;

use tokio::sync::watch;
use turn::Window;
use wire::{Chunk, Message, Profile};

use crate::log::Log;

/// A window on a turn: chunks as they come, until it closes. Dropping it leaves the turn alone.
#[derive(Debug)]
pub struct WindowStream {
    log: Arc<Log>,
    window: Window,
    bell: watch::Receiver<usize>,
}

impl WindowStream {
    /// On what a client lacks that has seen the transcript up to a position.
    pub(crate) fn continuing(log: Arc<Log>, profile: Profile, position: usize) -> Self {
        let window = Window::continuing(profile, log.message_id(), position);
        Self::new(log, window)
    }

    /// On the whole message.
    pub(crate) fn replaying(log: Arc<Log>, profile: Profile) -> Self {
        let window = Window::replaying(profile, log.message_id(), &log.items());
        Self::new(log, window)
    }

    /// For a client that shows what it believes: see [`Window::believing`].
    pub(crate) fn believing(mut self, message: &Message) -> Self {
        self.window = self.window.believing(message);
        self
    }

    fn new(log: Arc<Log>, window: Window) -> Self {
        let bell = log.listen();
        Self { log, window, bell }
    }

    /// The chunks that have come since, or nothing once the window is closed.
    pub async fn next(&mut self) -> Option<Vec<Chunk>> {
        loop {
            if self.window.is_closed() {
                return None;
            }
            self.bell.borrow_and_update();
            let chunks = self.window.read(&self.log.items());
            if !chunks.is_empty() {
                return Some(chunks);
            }
            // The log itself holds the bell, so it rings or stays silent, and never breaks.
            let _ = self.bell.changed().await;
        }
    }
}
