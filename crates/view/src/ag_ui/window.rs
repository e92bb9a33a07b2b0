//! A window as a run: from its opening until the turn parks or ends.

use std::sync::Arc;

use wire::Chunk;
use wire::ag_ui::{Common, Event, Message};

use super::history::messages_of;
use super::renderer::Renderer;
use super::run::carry;
use crate::ai_sdk::Line;

/// Turns a stretch of a transcript into the events that one client is sent. Where the run begins, and
/// whose it is, is for [`Run`](super::Run) to say.
#[derive(Debug, Clone)]
pub struct AgUiWindow {
    message_id: String,
    renderer: Renderer,
    /// Where in the transcript it reads next.
    position: usize,
    /// The messages before the turn's own, for a client that is to be sent all of them first.
    history: Option<Vec<Message>>,
    has_started: bool,
    is_closed: bool,
}

impl AgUiWindow {
    /// A window on a whole turn, for a client that has all that came before it.
    pub fn new(message_id: &str) -> Self {
        Self {
            message_id: message_id.to_owned(),
            renderer: Renderer::new(message_id),
            position: 0,
            history: None,
            has_started: false,
            is_closed: false,
        }
    }

    /// The same for a client that may lack something: it is first sent all messages, these and what the
    /// turn has said.
    #[must_use]
    pub fn with_history(mut self, history: Vec<Message>) -> Self {
        self.history = Some(history);
        self
    }

    /// Whether the client is sent nothing more.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// The same as [`AgUiWindow::read`], each event as a chunk that [`Run`](super::Run) reads.
    pub fn read_chunks(&mut self, transcript: &[Line]) -> Vec<Arc<Chunk>> {
        let events = self.read(transcript);
        let chunks = events.iter().map(carry);
        chunks.map(Arc::new).collect()
    }

    /// Reads on in the transcript as it now is: the events that the client is to be sent.
    pub fn read(&mut self, transcript: &[Line]) -> Vec<Event> {
        let mut events = Vec::new();
        if !std::mem::replace(&mut self.has_started, true)
            && let Some(mut messages) = self.history.take()
        {
            self.position = beginning(transcript);
            let said = &transcript[..self.position];
            messages.extend(messages_of(&self.message_id, said));
            for line in said {
                self.renderer.render(line);
            }
            self.renderer.begin_run();
            events.push(Event::MessagesSnapshot {
                messages,
                common: Common::default(),
            });
        }
        while let Some(line) = transcript.get(self.position)
            && !self.is_closed
        {
            self.position += 1;
            events.extend(self.renderer.render(line));
            if let Line::Close(closing) = line
                // A park that the turn has left again is not for this window.
                && (closing.is_final() || self.position == transcript.len())
            {
                self.is_closed = true;
                events.extend(self.renderer.end(closing));
            }
        }
        events
    }
}

/// Where a run begins that follows a transcript: at its end, but before the text that is being written, and
/// before what closes windows.
fn beginning(transcript: &[Line]) -> usize {
    if let Some(Line::Close(_)) = transcript.last() {
        return transcript.len() - 1;
    }
    let last = transcript
        .iter()
        .rposition(|line| matches!(line, Line::Block(_)));
    match last {
        Some(place) if matches!(&transcript[place], Line::Block(line) if line.is_start()) => place,
        _ => transcript.len(),
    }
}
