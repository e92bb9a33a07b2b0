//! A window as it is read.

use std::pin::pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use view::{AgUiWindow, LegacyWindow, Window};
use wire::{Chunk, Message, Profile, ag_ui};

use crate::log::Log;

/// The dialect of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// The AI SDK's order, for some releases of it: the window closes when the turn parks.
    Sdk(Profile),
    /// The legacy bridge's order: the window lasts for the whole turn. Servers of older versions forward
    /// it under its first name.
    #[serde(rename = "seeds")]
    Legacy,
    /// AG-UI: the window is a run, and closes when the turn parks.
    AgUi,
}

/// A window on a turn: chunks as they come, until it closes. Dropping it leaves the turn alone.
#[derive(Debug)]
pub struct WindowStream(Source);

/// Where a window is read.
#[derive(Debug)]
enum Source {
    /// In this process.
    Here(Box<Reader>),
    /// In another, which sends what it reads.
    There {
        message_id: String,
        chunks: mpsc::Receiver<Vec<Arc<Chunk>>>,
    },
}

impl WindowStream {
    /// A window that is read in another process, which sends what it reads.
    pub fn elsewhere(message_id: String, chunks: mpsc::Receiver<Vec<Arc<Chunk>>>) -> Self {
        Self(Source::There { message_id, chunks })
    }

    /// The id of the assistant message that the turn streams.
    pub fn message_id(&self) -> &str {
        match &self.0 {
            Source::Here(reader) => reader.log.message_id(),
            Source::There { message_id, .. } => message_id,
        }
    }

    /// The chunks that have come since, or nothing once the window is closed. All windows of a turn
    /// share them.
    pub async fn next(&mut self) -> Option<Vec<Arc<Chunk>>> {
        match &mut self.0 {
            Source::Here(reader) => reader.next().await,
            Source::There { chunks, .. } => chunks.recv().await,
        }
    }

    /// On what a client lacks that has seen the transcript up to a position.
    pub(crate) fn continuing(log: Arc<Log>, dialect: Dialect, position: usize) -> Self {
        let view = match dialect {
            Dialect::Sdk(profile) => {
                let items = log.items();
                View::Sdk(Window::continuing(
                    profile,
                    log.message_id(),
                    &items,
                    position,
                ))
            }
            Dialect::AgUi => View::AgUi(AgUiWindow::new(log.message_id())),
            Dialect::Legacy => View::Legacy(LegacyWindow::new(log.message_id(), position)),
        };
        Self(Source::Here(Box::new(Reader {
            signalled: log.signalled(),
            has_begun: false,
            log,
            view,
        })))
    }

    /// On the whole message.
    pub(crate) fn replaying(log: Arc<Log>, dialect: Dialect) -> Self {
        Self::continuing(log, dialect, 0)
    }

    /// For a client of AG-UI that is first sent all messages: see [`AgUiWindow::with_history`].
    pub(crate) fn with_history(mut self, history: Vec<ag_ui::Message>) -> Self {
        if let Source::Here(reader) = &mut self.0
            && let View::AgUi(window) = &mut reader.view
        {
            *window = AgUiWindow::new(reader.log.message_id()).with_history(history);
        }
        self
    }

    /// For a client with answers of its own: see [`Window::add_client_state`].
    pub(crate) fn with_client_state(mut self, message: &Message) -> Self {
        if let Source::Here(reader) = &mut self.0
            && let View::Sdk(window) = &mut reader.view
        {
            window.add_client_state(message);
        }
        self
    }
}

#[derive(Debug)]
struct Reader {
    log: Arc<Log>,
    view: View,
    /// How many signals were read, or came before the window opened.
    signalled: usize,
    has_begun: bool,
}

#[derive(Debug)]
enum View {
    Sdk(Window),
    Legacy(LegacyWindow),
    AgUi(AgUiWindow),
}

impl Reader {
    async fn next(&mut self) -> Option<Vec<Arc<Chunk>>> {
        let log = self.log.clone();
        loop {
            let read = self.read();
            if read.as_ref().is_none_or(|read| !read.is_empty()) {
                return read;
            }
            let mut changed = pin!(log.changed());
            changed.as_mut().enable();
            // What came just before is not waited for.
            let read = self.read();
            if read.as_ref().is_none_or(|read| !read.is_empty()) {
                return read;
            }
            changed.await;
        }
    }

    /// What has come since; nothing at all once the window is closed.
    fn read(&mut self) -> Option<Vec<Arc<Chunk>>> {
        let is_closed = match &self.view {
            View::Sdk(window) => window.is_closed(),
            View::Legacy(window) => window.is_closed(),
            View::AgUi(window) => window.is_closed(),
        };
        if is_closed {
            return None;
        }
        // A window opens with its start, and closes behind what was signalled.
        let mut chunks = Vec::new();
        if self.has_begun {
            chunks = self.log.signals_after(&mut self.signalled);
        }
        let read = match &mut self.view {
            View::Sdk(window) => window.read(&self.log.items()),
            View::Legacy(window) => {
                let read = window.read(&self.log.items()).into_iter();
                read.map(Arc::new).collect()
            }
            View::AgUi(window) => window.read_chunks(&self.log.items()),
        };
        match chunks.is_empty() {
            true => chunks = read,
            false => chunks.extend(read),
        }
        self.has_begun = true;
        Some(chunks)
    }
}
