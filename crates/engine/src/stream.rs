//! A window as it is read.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use turn::TurnId;
use view::{AgUiWindow, LegacyWindow, NumberedWindow, Window};
use wire::{Chunk, Message, Profile, ag_ui};

use crate::driver::{Numbering, handover_notice};
use crate::log::{Log, LogReader};
use crate::replica::OwnerWatch;

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
pub struct WindowStream {
    source: Source,
    turn: Option<TurnId>,
}

/// Chunks that were read at once.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The chunks.
    pub chunks: Vec<Arc<Chunk>>,
    /// The sequence of each, in a window that has them.
    pub sequences: Vec<u64>,
    /// Whether they ask a person something, in a window of the legacy bridge.
    pub asks: bool,
}

impl From<Vec<Arc<Chunk>>> for Batch {
    fn from(chunks: Vec<Arc<Chunk>>) -> Self {
        Self {
            chunks,
            ..Self::default()
        }
    }
}

/// What tells a client to come back.
pub(crate) fn handed_over() -> Batch {
    let notice = handover_notice().chunks();
    let notice: Vec<_> = notice.into_iter().map(Arc::new).collect();
    notice.into()
}

/// Where a window is read.
#[derive(Debug)]
enum Source {
    /// In this process.
    Here(Box<Reader>),
    /// In another, which sends what it reads.
    There {
        message_id: String,
        batches: mpsc::Receiver<Batch>,
        /// The last batch, without its chunks.
        last: Batch,
        /// The server that sends them, which is not waited for once it has lost the chat.
        owner: Option<Box<OwnerWatch>>,
    },
}

impl WindowStream {
    /// A window that is read in another process, which sends what it reads. An empty batch is a sign of
    /// life, where there is nothing to read.
    pub fn elsewhere(message_id: String, batches: mpsc::Receiver<Batch>) -> Self {
        let last = Batch::default();
        Self::of(Source::There {
            message_id,
            batches,
            last,
            owner: None,
        })
    }

    /// The same for one that closes when its owner is silent and has lost the chat.
    pub(crate) fn watched(mut self, watch: OwnerWatch) -> Self {
        if let Source::There { owner, .. } = &mut self.source {
            *owner = Some(Box::new(watch));
        }
        self
    }

    fn of(source: Source) -> Self {
        Self { source, turn: None }
    }

    /// The same with the turn that it is a window on.
    #[must_use]
    pub fn of_turn(self, turn: Option<TurnId>) -> Self {
        Self { turn, ..self }
    }

    /// The turn that it is a window on, if that is known: a server of an older version does not say it.
    pub fn turn(&self) -> Option<&TurnId> {
        self.turn.as_ref()
    }

    /// The id of the assistant message that the turn streams.
    pub fn message_id(&self) -> &str {
        match &self.source {
            Source::Here(reader) => reader.lines.log().message_id(),
            Source::There { message_id, .. } => message_id,
        }
    }

    /// The chunks that have come since, or nothing once the window is closed. All windows of a turn
    /// share them.
    pub async fn next(&mut self) -> Option<Vec<Arc<Chunk>>> {
        match &mut self.source {
            Source::Here(reader) => poll_fn(|context| reader.poll_next(context)).await,
            Source::There {
                batches,
                last,
                owner,
                ..
            } => {
                *last = loop {
                    let batch = match owner {
                        None => batches.recv().await?,
                        Some(watch) => tokio::select! {
                            biased;
                            batch = batches.recv() => {
                                watch.is_alive();
                                batch?
                            }
                            () = watch.lost() => {
                                // What it may still send is not for this window.
                                batches.close();
                                while batches.try_recv().is_ok() {}
                                handed_over()
                            }
                        },
                    };
                    if !batch.chunks.is_empty() {
                        break batch;
                    }
                };
                Some(std::mem::take(&mut last.chunks))
            }
        }
    }

    /// The sequences of the chunks that came last, one for each, in a window that has them.
    pub fn sequences(&self) -> &[u64] {
        match &self.source {
            Source::Here(reader) => &reader.sequences,
            Source::There { last, .. } => &last.sequences,
        }
    }

    /// Whether the chunks that came last ask a person something, in a window of the legacy bridge.
    pub fn asks(&self) -> bool {
        match &self.source {
            Source::Here(reader) => matches!(&reader.view, View::Legacy(window) if window.asks()),
            Source::There { last, .. } => last.asks,
        }
    }

    /// The chunks that have come since with their sequences, or nothing once the window is closed.
    pub async fn next_batch(&mut self) -> Option<Batch> {
        let chunks = self.next().await?;
        Some(Batch {
            chunks,
            sequences: self.sequences().to_vec(),
            asks: self.asks(),
        })
    }

    /// On what a client lacks that has seen the transcript up to a position; with sequences, in dialects
    /// that have them.
    pub(crate) fn continuing(
        log: Arc<Log>,
        dialect: Dialect,
        position: usize,
        numbering: &Numbering,
    ) -> Self {
        let reader = Reader::new(log, dialect, position, numbering);
        Self::of(Source::Here(Box::new(reader)))
    }

    /// For a client of AG-UI that is first sent all messages: see [`AgUiWindow::with_history`].
    pub(crate) fn with_history(mut self, history: Vec<ag_ui::Message>) -> Self {
        if let Source::Here(reader) = &mut self.source
            && let View::AgUi(window) = &mut reader.view
        {
            *window = AgUiWindow::new(reader.lines.log().message_id()).with_history(history);
        }
        self
    }

    /// For a client with answers of its own: see [`Window::add_client_state`].
    pub(crate) fn with_client_state(mut self, message: &Message) -> Self {
        if let Source::Here(reader) = &mut self.source {
            match &mut reader.view {
                View::Sdk(window) => window.add_client_state(message),
                View::Numbered(window) => window.add_client_state(message),
                View::Legacy(_) | View::AgUi(_) => {}
            }
        }
        self
    }
}

#[derive(Debug)]
struct Reader {
    lines: LogReader,
    dialect: Dialect,
    view: View,
    /// How many signals were read, or came before the window opened.
    signalled: usize,
    has_begun: bool,
    /// Those of the chunks that were read last.
    sequences: Vec<u64>,
}

#[derive(Debug)]
enum View {
    Sdk(Window),
    Numbered(NumberedWindow),
    Legacy(LegacyWindow),
    AgUi(AgUiWindow),
}

impl View {
    fn is_closed(&self) -> bool {
        match self {
            Self::Sdk(window) => window.is_closed(),
            Self::Numbered(window) => window.is_closed(),
            Self::Legacy(window) => window.is_closed(),
            Self::AgUi(window) => window.is_closed(),
        }
    }
}

impl Reader {
    fn new(log: Arc<Log>, dialect: Dialect, position: usize, numbering: &Numbering) -> Self {
        let signalled = log.signalled();
        let lines = LogReader::new(log);
        let id = lines.log().message_id();
        let view = lines.read(|items| match (dialect, numbering) {
            (Dialect::Sdk(profile), Numbering::None) => {
                View::Sdk(Window::continuing(profile, id, items, position))
            }
            (Dialect::Sdk(profile), Numbering::Opened) => {
                View::Numbered(NumberedWindow::continuing(profile, id, items, position))
            }
            (Dialect::Sdk(profile), Numbering::From(point)) => {
                View::Numbered(NumberedWindow::resuming(profile, (**point).clone()))
            }
            (Dialect::AgUi, _) => View::AgUi(AgUiWindow::new(id)),
            (Dialect::Legacy, _) => View::Legacy(LegacyWindow::new(id, position)),
        });
        Self {
            signalled,
            has_begun: false,
            sequences: Vec::new(),
            lines,
            dialect,
            view,
        }
    }

    /// What has come since; nothing at all once the window is closed.
    fn poll_next(&mut self, context: &Context<'_>) -> Poll<Option<Vec<Arc<Chunk>>>> {
        if self.lines.log().is_waiting() {
            ready!(self.poll_opened(context));
        }
        if self.view.is_closed() {
            return Poll::Ready(None);
        }
        let Self {
            lines,
            view,
            signalled,
            has_begun,
            sequences,
            ..
        } = self;
        lines.poll(context, |log, items| {
            // A window opens with its start, and closes behind what was signalled.
            let mut chunks = match *has_begun {
                true => log.signals_after(signalled),
                false => Vec::new(),
            };
            *has_begun = true;
            let read = match view {
                View::Sdk(window) => window.read(items),
                View::Numbered(window) => {
                    sequences.clear();
                    // A signal does not advance a client's position.
                    sequences.resize(chunks.len(), window.sequence());
                    let read = window.read(items);
                    sequences.extend_from_slice(window.sequences());
                    read
                }
                View::Legacy(window) => window.read(items).into_iter().map(Arc::new).collect(),
                View::AgUi(window) => window.read_chunks(items),
            };
            match chunks.is_empty() {
                true => chunks = read,
                false => chunks.extend(read),
            }
            match chunks.is_empty() {
                true if view.is_closed() => Poll::Ready(None),
                true => Poll::Pending,
                false => Poll::Ready(Some(chunks)),
            }
        })
    }

    /// Ready once the turn is open, or once it is clear that another turn has the message.
    fn poll_opened(&mut self, context: &Context<'_>) -> Poll<()> {
        let opened = self.lines.poll(context, |log, _| {
            let by = log.replaced_by().cloned();
            match by.is_some() || !log.is_waiting() {
                true => Poll::Ready(by),
                false => Poll::Pending,
            }
        });
        if let Some(by) = ready!(opened) {
            // Nothing was read yet: the whole message is.
            let numbering = match &self.view {
                View::Numbered(_) => Numbering::Opened,
                _ => Numbering::None,
            };
            *self = Self::new(by, self.dialect, 0, &numbering);
        }
        Poll::Ready(())
    }
}
