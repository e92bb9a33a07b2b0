//! A window whose chunks have sequences, so that a client which loses it can say where it was.

use std::sync::Arc;

use wire::{Chunk, Message, Profile};

use super::closing::Closing;
use super::line::Line;
use super::resume_point::{CatchUp, CaughtUp, ResumePoint};
use super::window::Window;

/// The code of the failure that a client gets which has to forget what it has, and can't.
const ANSWER_CHANGED: &str = "answer_changed";

/// A window whose chunks have sequences: see [`ResumePoint`].
#[derive(Debug, Clone)]
pub struct NumberedWindow {
    window: Window,
    profile: Profile,
    message_id: String,
    /// The sequence of what was sent last.
    sequence: u64,
    /// Those of the chunks that were read last.
    sequences: Vec<u64>,
    /// As long as it is not known where the client is.
    catch_up: Option<Box<CatchUp>>,
}

impl NumberedWindow {
    /// On what a client lacks that has seen the transcript up to a position.
    pub fn continuing(
        profile: Profile,
        message_id: &str,
        transcript: &[Line],
        position: usize,
    ) -> Self {
        let window = Window::continuing(profile, message_id, transcript, position);
        let seen = transcript.iter().take(window.position());
        Self {
            window,
            profile,
            message_id: message_id.to_owned(),
            sequence: seen.map(Line::extent).sum(),
            sequences: Vec::new(),
            catch_up: None,
        }
    }

    /// On what a client lacks that was in another such window. It is first seen whether the transcript
    /// says what the client has. Where it does not, the client gets a `reset-step` with its last step again
    /// behind it, or where its release has no such chunk the failure `answer_changed`.
    pub fn resuming(profile: Profile, point: ResumePoint) -> Self {
        Self {
            window: Window::replaying(profile, &point.message_id, &[]),
            profile,
            message_id: point.message_id.clone(),
            sequence: point.last_sequence,
            sequences: Vec::new(),
            catch_up: Some(Box::new(CatchUp::new(point, profile))),
        }
    }

    /// See [`Window::add_client_state`].
    pub fn add_client_state(&mut self, message: &Message) {
        self.window.add_client_state(message);
    }

    /// Whether the client is sent nothing more.
    pub fn is_closed(&self) -> bool {
        self.window.is_closed()
    }

    /// The sequence of what was sent last.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The sequences of the chunks that were read last.
    pub fn sequences(&self) -> &[u64] {
        &self.sequences
    }

    /// Reads on in the transcript as it now is: the chunks that the client is to be sent.
    pub fn read(&mut self, transcript: &[Line]) -> Vec<Arc<Chunk>> {
        self.sequences.clear();
        let Some(catch_up) = &mut self.catch_up else {
            return self.read_lines(transcript);
        };
        let Some(found) = catch_up.read(transcript) else {
            return Vec::new();
        };
        let approvals = catch_up.approvals().to_vec();
        self.catch_up = None;
        let mut chunks = match found {
            CaughtUp::At { index, bytes } => self.go_on(transcript, index, bytes),
            CaughtUp::Changed { step: Some(step) } if self.profile == Profile::V7 => {
                self.begin_step_again(transcript, step)
            }
            CaughtUp::Changed { .. } => self.fail(),
        };
        self.window.add_shown_approvals(transcript, &approvals);
        self.sequences.resize(chunks.len(), self.sequence);
        let numbered = std::mem::take(&mut self.sequences);
        chunks.extend(self.read_lines(transcript));
        self.sequences.splice(..0, numbered);
        chunks
    }

    fn read_lines(&mut self, transcript: &[Line]) -> Vec<Arc<Chunk>> {
        let Self {
            window,
            sequence,
            sequences,
            ..
        } = self;
        let chunks = window.read_with(transcript, |line, count| {
            // A client is no further before it has the last chunk of a line.
            let has_sent = count > sequences.len();
            sequences.resize(count - usize::from(has_sent), *sequence);
            *sequence += line.extent();
            if has_sent {
                sequences.push(*sequence);
            }
        });
        sequences.resize(chunks.len(), *sequence);
        chunks
    }

    /// The client is inside of a line, or before it.
    fn go_on(&mut self, transcript: &[Line], index: usize, bytes: usize) -> Vec<Arc<Chunk>> {
        let mut chunks = Vec::new();
        let mut position = index;
        if bytes > 0
            && let Some(line @ (Line::Text(delta) | Line::Reasoning(delta))) = transcript.get(index)
        {
            chunks.push(delta.rest(bytes));
            self.sequence += line.extent() - bytes as u64;
            position += 1;
        } else {
            // Which of these the client has is not known; the last of each call is right.
            let open = transcript[index..].iter().map_while(progress);
            let open: Vec<_> = open.collect();
            for (place, line) in open.iter().enumerate() {
                let is_last = !open[place + 1..]
                    .iter()
                    .any(|later| later.call.id == line.call.id);
                if is_last {
                    chunks.extend(self.profile.narrow_shared(&line.chunk));
                }
            }
            position += open.len();
        }
        self.window = self.window_at(transcript, position);
        chunks
    }

    /// The client forgets its last step.
    fn begin_step_again(
        &mut self,
        transcript: &[Line],
        (index, sequence): (usize, u64),
    ) -> Vec<Arc<Chunk>> {
        self.window = self.window_at(transcript, index);
        self.sequence = sequence;
        vec![Arc::new(Chunk::ResetStep)]
    }

    fn fail(&mut self) -> Vec<Arc<Chunk>> {
        self.window = self.window_at(&[], 0);
        self.window.close();
        let message = "The answer was begun again: resume the stream from its start.";
        let chunks = Closing::failed(ANSWER_CHANGED, message).chunks();
        chunks.into_iter().map(Arc::new).collect()
    }

    fn window_at(&self, transcript: &[Line], position: usize) -> Window {
        Window::resuming(self.profile, &self.message_id, transcript, position)
    }
}

/// What a line says of a call that is not final.
fn progress(line: &Line) -> Option<&super::line::CallLine> {
    line.as_call().filter(|line| line.is_progress())
}

#[cfg(test)]
mod tests {
    use super::super::line::{Block, BlockLine, Delta};
    use super::super::step_hash::StepHash;
    use super::*;

    fn words(deltas: &[&str]) -> Vec<Line> {
        let mut lines = vec![
            Line::StepBegun,
            Line::Block(Arc::new(BlockLine::begun(Block::Text, 1, None))),
        ];
        let deltas = deltas.iter();
        lines.extend(deltas.map(|delta| Line::Text(Delta::text(1, (*delta).to_owned()))));
        lines
    }

    fn ended(mut lines: Vec<Line>) -> Vec<Line> {
        let end = Line::Block(Arc::new(BlockLine::ended(Block::Text, 1)));
        lines.extend([end, Line::StepEnded, Line::Close(Closing::Stopped)]);
        lines
    }

    /// A client that has read this text in its first step.
    fn client(text: &str) -> ResumePoint {
        let mut hash = StepHash::default();
        hash.add_text("text-start");
        hash.add_text(text);
        ResumePoint {
            message_id: "m".to_owned(),
            last_sequence: 2 + text.len() as u64,
            step_sequence: 1,
            step_hash: hash.value().into(),
            approvals: Vec::new(),
        }
    }

    fn read(window: &mut NumberedWindow, lines: &[Line]) -> Vec<String> {
        let chunks = window.read(lines);
        let numbered = chunks.iter().zip(window.sequences().to_vec());
        let shown = numbered.map(|(chunk, sequence)| match &**chunk {
            Chunk::TextDelta(delta) => format!("{sequence} {:?}", &*delta.delta),
            Chunk::Error(error) => format!("{sequence} {}", error.error_text),
            chunk => format!("{sequence} {}", chunk.type_name()),
        });
        shown.collect()
    }

    #[test]
    fn words_go_on_where_the_client_is_however_they_are_cut() {
        for deltas in [&["He", "llo you"][..], &["Hello you"], &["Hello", " you"]] {
            let lines = ended(words(deltas));
            let mut window = NumberedWindow::resuming(Profile::Shared, client("Hello"));
            let rest = ["11 \" you\"", "12 text-end", "13 finish-step", "14 finish"];
            assert_eq!(read(&mut window, &lines), rest);
            assert!(window.is_closed());
        }
    }

    #[test]
    fn client_that_is_ahead_waits_until_the_same_was_said_again() {
        let mut window = NumberedWindow::resuming(Profile::Shared, client("Hello"));
        assert!(read(&mut window, &[]).is_empty());
        assert!(read(&mut window, &words(&["He"])).is_empty());
        assert!(read(&mut window, &words(&["He", "llo"])).is_empty());
        let lines = words(&["He", "llo", " you"]);
        assert_eq!(read(&mut window, &lines), ["11 \" you\""]);
    }

    #[test]
    fn step_that_was_begun_again_is_reset_or_refused() {
        let other = [&["Good day"][..], &["Hell"], &["Hel", "p!"], &[]];
        for deltas in other {
            let lines = ended(words(deltas));
            let mut window = NumberedWindow::resuming(Profile::V7, client("Hello"));
            let sent = read(&mut window, &lines);
            assert_eq!(sent[..2], ["1 reset-step", "2 text-start"]);
            assert!(sent.last().unwrap().ends_with("finish"));
            let mut window = NumberedWindow::resuming(Profile::Shared, client("Hello"));
            let sent = read(&mut window, &lines);
            assert_eq!(sent[0], "7 data-error");
            assert!(sent[1].starts_with("7 answer_changed: "), "{sent:?}");
            assert!(sent.len() == 2 && window.is_closed());
        }
    }

    #[test]
    fn place_inside_of_a_character_is_no_place() {
        let lines = ended(words(&["Hell😀"]));
        let mut window = NumberedWindow::resuming(Profile::V7, client("Hello"));
        assert_eq!(read(&mut window, &lines)[0], "1 reset-step");
    }

    #[test]
    fn client_without_a_step_that_can_be_reset_is_refused() {
        let point = ResumePoint {
            step_sequence: 0,
            ..client("Hello")
        };
        let lines = ended(words(&["Hello"]));
        let mut window = NumberedWindow::resuming(Profile::V7, point);
        assert_eq!(read(&mut window, &lines).len(), 2);
        assert!(window.is_closed());
    }

    #[test]
    fn steps_before_the_last_one_are_not_compared_and_a_step_beyond_is_no_part_of_it() {
        let mut lines = ended(words(&["Hello"]));
        lines.pop();
        lines.extend(words(&["you"]));
        // The client has more of its first step than there is.
        let mut window = NumberedWindow::resuming(Profile::V7, client("Hello, all of you"));
        assert_eq!(read(&mut window, &lines)[0], "1 reset-step");
        let mut hash = StepHash::default();
        hash.add_text("text-start");
        let second = ResumePoint {
            last_sequence: 11,
            step_sequence: 10,
            step_hash: hash.value().into(),
            ..client("")
        };
        let mut window = NumberedWindow::resuming(Profile::Shared, second);
        assert_eq!(read(&mut window, &lines), ["14 \"you\""]);
    }
}
