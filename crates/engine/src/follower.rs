//! A chat whose owner can't be reached, read from the journal alone: what a page shows of it, and a
//! window that follows the entries as they come.
//!
//! Deltas are not in the journal before their step has ended, so such a window shows whole steps. It
//! is good for as long as there is nothing better: once the owner is reached, or another server has
//! taken the turn up, clients are asked to come back.

use std::sync::Arc;
use std::time::Duration;

use store::Tail;
use tokio::sync::mpsc;
use turn::{Status, TurnId};
use view::ShownChat;
use wire::Chunk;

use crate::command::{Command, CommandKind, Reply, Resuming, View};
use crate::driver::Numbering;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::log::Log;
use crate::replica::Attempt;
use crate::stream::{Batch, Dialect, WindowStream, handed_over};

impl Engine {
    /// What can be done of a command with the journal alone, if anything can.
    pub(crate) async fn read_along(&self, command: &Command) -> Result<Option<Reply>, EngineError> {
        let resume = match command.kind {
            CommandKind::Resume {
                dialect,
                after,
                ref resuming,
            } => Some((dialect, after, resuming)),
            CommandKind::View => None,
            _ => return Ok(None),
        };
        let entries = self.shared.journal.read(&command.chat, 0).await?;
        let chat = ShownChat::replay(&entries);
        let is_owner = chat.owner() == Some(&command.principal);
        let Some((dialect, after, resuming)) = resume else {
            let view = View::of(&chat).filter(|_| is_owner);
            return Ok(Some(Reply::View(view.ok_or(EngineError::UnknownChat)?)));
        };
        let is_open = matches!(chat.status(), Some(Status::Running | Status::Parked));
        // A turn may have ended behind the client's back: its window closes where it ends.
        let is_behind = after.is_some_and(|after| chat.has_news_after(after));
        let is_known = matches!(resuming, Resuming::From(_));
        let window = match (is_open || is_behind || is_known) && is_owner {
            true => self.follow(command.clone(), chat, dialect, resuming),
            false => None,
        };
        Ok(Some(Reply::Window(window)))
    }

    fn follow(
        &self,
        command: Command,
        chat: ShownChat,
        dialect: Dialect,
        resuming: &Resuming,
    ) -> Option<WindowStream> {
        let shown = match resuming {
            Resuming::From(point) => {
                let turn = chat.turn_of_message(&point.message_id)?;
                chat.transcript(turn.id())?
            }
            Resuming::Whole | Resuming::Numbered => chat.current_transcript()?,
        };
        let numbering = match resuming {
            Resuming::Whole => Numbering::None,
            Resuming::Numbered => Numbering::Opened,
            Resuming::From(point) => Numbering::From(point.clone()),
        };
        let message_id = shown.message_id().to_owned();
        let log = Arc::new(Log::new(&message_id, shown.lines()));
        let mut window = WindowStream::continuing(log.clone(), dialect, 0, &numbering);
        if dialect == Dialect::AgUi {
            window = window.with_history(chat.ag_ui_history(shown.turn()));
        }
        let (sender, chunks) = mpsc::channel(16);
        let turn = shown.turn().clone();
        let follower = Follower {
            turn: turn.clone(),
            tail: self.shared.journal.tail(&command.chat, chat.seq()),
            window,
            has_sent: false,
            chat,
            log,
            sender,
        };
        tokio::spawn(follower.run(reach(self.clone(), command)));
        Some(WindowStream::elsewhere(message_id, chunks).of_turn(Some(turn)))
    }

    /// The window that the owner of a chat opens, if it is there.
    async fn window_of_owner(&self, command: &Command) -> Option<WindowStream> {
        match self.attempt(command).await {
            Ok(Attempt::Done(Reply::Window(window))) => window,
            _ => None,
        }
    }
}

/// Waits for the owner of a chat to be there, and gives its window.
async fn reach(engine: Engine, command: Command) -> WindowStream {
    let lease = engine.shared.replica.as_ref().map(|replica| replica.lease);
    let pause = lease.unwrap_or(Duration::from_secs(10)) / 4;
    loop {
        tokio::time::sleep(pause).await;
        // Where the turn is over there is no window; the entries that say so are on their way.
        if let Some(window) = engine.window_of_owner(&command).await {
            return window;
        }
    }
}

struct Follower {
    turn: TurnId,
    chat: ShownChat,
    log: Arc<Log>,
    tail: Tail,
    window: WindowStream,
    /// Whether the client was sent anything but the window's start.
    has_sent: bool,
    sender: mpsc::Sender<Batch>,
}

impl Follower {
    async fn run(mut self, owner: impl Future<Output = WindowStream>) {
        let mut owner = std::pin::pin!(owner);
        loop {
            tokio::select! {
                batch = self.window.next_batch() => {
                    let Some(batch) = batch else { return };
                    self.has_sent |= batch.chunks.iter().any(|chunk| !is_start(chunk));
                    if self.sender.send(batch).await.is_err() {
                        return;
                    }
                }
                entry = self.tail.next() => {
                    let Ok(Some(entry)) = entry else {
                        return self.close().await;
                    };
                    self.chat.append(&entry);
                    if let Some(shown) = self.chat.transcript(&self.turn) {
                        self.log.follow(shown.lines());
                    }
                }
                window = &mut owner => {
                    return match self.has_sent {
                        // Where a step was cut short, nobody can say what of it was sent.
                        true => self.close().await,
                        false => self.pass_on(window).await,
                    };
                }
                () = self.sender.closed() => return,
            }
        }
    }

    /// Tells the client to come back.
    async fn close(self) {
        // A client that has left needs nothing.
        let _ = self.sender.send(handed_over()).await;
    }

    /// Tells what the owner tells, to a client that knows that the window is open.
    async fn pass_on(self, mut window: WindowStream) {
        loop {
            let batch = tokio::select! {
                batch = window.next_batch() => batch,
                () = self.sender.closed() => return,
            };
            let Some(mut batch) = batch else { return };
            // It is the first of all, if it is there.
            if batch.chunks.first().is_some_and(|chunk| is_start(chunk)) {
                batch.chunks.remove(0);
                batch.sequences.drain(..batch.sequences.len().min(1));
            }
            if !batch.chunks.is_empty() && self.sender.send(batch).await.is_err() {
                return;
            }
        }
    }
}

fn is_start(chunk: &Chunk) -> bool {
    matches!(chunk, Chunk::Start(_))
}
