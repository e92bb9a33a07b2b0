//! A window: one client's view of a turn, from its opening until the turn parks or ends.

use std::sync::Arc;

use wire::chunk::Start;
use wire::frame::ShownApproval;
use wire::{Chunk, Message, Profile};

use super::history::History;
use super::line::Line;

/// Turns a stretch of a transcript into the chunks that one client is sent.
#[derive(Debug, Clone)]
pub struct Window {
    profile: Profile,
    message_id: String,
    /// Where in the transcript it reads next.
    position: usize,
    has_started: bool,
    /// Whether it has sent anything beyond its start.
    has_sent: bool,
    is_closed: bool,
    history: History,
}

impl Window {
    /// A window on what a client lacks that has seen the transcript up to a position.
    pub fn continuing(
        profile: Profile,
        message_id: &str,
        transcript: &[Line],
        position: usize,
    ) -> Self {
        Self {
            profile,
            message_id: message_id.to_owned(),
            position,
            has_started: false,
            has_sent: false,
            is_closed: false,
            history: History::of(transcript, position),
        }
    }

    /// Adds what a client has answered that sends back its message, and so shows its answers: no client
    /// accepts an error behind a no, nor a denial behind a yes.
    pub fn add_client_state(&mut self, message: &Message) {
        self.history.add_client_state(message);
    }

    /// A window on the whole message, for a client that has seen nothing of it, or that will forget
    /// what it has seen.
    pub fn replaying(profile: Profile, message_id: &str, transcript: &[Line]) -> Self {
        Self::continuing(profile, message_id, transcript, 0)
    }

    /// A window on what a client lacks that was sent the lines before a position in a window like this.
    pub(super) fn resuming(
        profile: Profile,
        message_id: &str,
        transcript: &[Line],
        position: usize,
    ) -> Self {
        Self {
            has_started: true,
            has_sent: true,
            ..Self::continuing(profile, message_id, transcript, position)
        }
    }

    /// Adds which questions a client shows of those that were asked before its position.
    pub(super) fn add_shown_approvals(&mut self, transcript: &[Line], shown: &[ShownApproval]) {
        let seen = transcript.get(..self.position).unwrap_or_default();
        self.history.add_shown_approvals(seen, shown);
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether the client is sent nothing more.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Reads on in the transcript as it now is: the chunks that the client is to be sent.
    pub fn read(&mut self, transcript: &[Line]) -> Vec<Arc<Chunk>> {
        self.read_with(transcript, |_, _| ())
    }

    /// The same, with word of each line that was read and of how many chunks there are behind it.
    #[inline]
    pub(super) fn read_with(
        &mut self,
        transcript: &[Line],
        mut note: impl FnMut(&Line, usize),
    ) -> Vec<Arc<Chunk>> {
        let left = transcript.len().saturating_sub(self.position);
        if left == 0 && self.has_started {
            return Vec::new();
        }
        // The start comes first, once.
        let mut chunks = Vec::with_capacity(left + usize::from(!self.has_started));
        if !self.has_started {
            self.has_started = true;
            let start = Chunk::from(Start {
                message_id: Some(self.message_id.clone()),
                message_metadata: None,
            });
            chunks.push(Arc::new(start));
        }
        while let Some(line) = transcript.get(self.position)
            && !self.is_closed
        {
            self.position += 1;
            let is_last = self.position == transcript.len();
            let chunk = match line {
                // Nearly all lines, and no client is sent other words.
                Line::Text(delta) | Line::Reasoning(delta) => Some(delta.chunk().clone()),
                Line::Call(line) => self.history.render(line, self.profile),
                Line::Close(closing) => {
                    // A park that the turn has left again is not for this window.
                    if is_last || closing.is_final() {
                        self.is_closed = true;
                        if closing.is_final() && !self.has_sent {
                            // A client that had no reason to send must not be left with one: after an
                            // empty step, there are no calls for it to look at.
                            chunks.extend([Chunk::StartStep, Chunk::FinishStep].map(Arc::new));
                        }
                        let closing = closing.chunks().into_iter();
                        let closing = closing.filter_map(|chunk| self.profile.narrow(chunk));
                        chunks.extend(closing.map(Arc::new));
                    }
                    note(line, chunks.len());
                    continue;
                }
                line => self.profile.narrow_shared(&line.chunk()),
            };
            self.has_sent |= chunk.is_some();
            chunks.extend(chunk);
            note(line, chunks.len());
        }
        chunks
    }
}

#[cfg(test)]
mod tests {
    use super::super::closing::Closing;
    use super::super::specimen;
    use super::*;

    #[test]
    fn client_that_has_it_all_is_given_no_reason_to_send_again() {
        let mut transcript = vec![Line::StepBegun];
        transcript.extend(specimen::text("Hello."));
        transcript.extend([Line::StepEnded, Line::Close(Closing::Stopped)]);
        let mut window = Window::continuing(Profile::Shared, "m", &transcript, 5);
        let sent = window.read(&transcript);
        let names: Vec<_> = sent.iter().map(|chunk| chunk.type_name()).collect();
        assert_eq!(names, ["start", "start-step", "finish-step", "finish"]);
        assert!(window.is_closed());
    }

    #[test]
    fn failure_comes_with_what_a_program_needs_to_try_again() {
        let failed = Closing::failed_until("rate_limited", "Too many requests.", Some(1_500));
        let transcript = [Line::StepBegun, Line::StepEnded, Line::Close(failed)];
        let mut window = Window::replaying(Profile::Shared, "m", &transcript);
        let sent: Vec<_> = window.read(&transcript);
        let last: Vec<_> = sent[3..].iter().map(|chunk| chunk.to_json()).collect();
        assert_eq!(
            last,
            [
                r#"{"type":"data-error","data":{"code":"rate_limited","message":"Too many requests.","retryAfterMs":1500},"transient":true}"#,
                r#"{"type":"error","errorText":"rate_limited: Too many requests."}"#,
            ]
        );
    }
}
