//! A window: one client's view of a turn, from its opening until the turn parks or ends.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use turn::reason::denial;
use wire::chunk::{Start, ToolInputDelta, ToolOutputDenied, ToolOutputError};
use wire::{Chunk, Message, Profile, ToolState};

use super::transcript::{Closing, Line};

/// Turns a stretch of a transcript into the chunks that one client is sent.
#[derive(Debug, Clone)]
pub struct Window {
    profile: Profile,
    message_id: String,
    /// Where in the transcript it reads next.
    position: usize,
    has_started: bool,
    /// Whether it has told anything beyond that it is open.
    has_told: bool,
    is_closed: bool,
    history: History,
}

/// What was over when a window opened on a client that has seen none of it, and that must be told
/// of it as of history: a question that was answered is not to be asked, and a call that has run is
/// not to be run.
#[derive(Debug, Clone, Default)]
struct History {
    /// Calls that were settled.
    settled: HashSet<String>,
    /// Those of them that were refused.
    denied: HashSet<String>,
    /// Questions that were answered: how, and why.
    answered: HashMap<String, (bool, Option<String>)>,
    /// The question that each call was held by last.
    asked: HashMap<String, String>,
    /// Settled calls whose input the client has been told.
    told: HashSet<String>,
    /// What the client itself believes to have been answered about calls that are not settled for it.
    client_answers: HashMap<String, bool>,
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
            has_told: false,
            is_closed: false,
            history: History::of(transcript, position),
        }
    }

    /// The same for a client that sends back its message, and so shows what it believes: no client
    /// accepts an error behind a no, nor a refusal behind a yes.
    #[must_use]
    pub fn with_client_state(mut self, message: &Message) -> Self {
        let calls = message.parts.iter().filter_map(wire::Part::as_tool);
        let is_open =
            |part: &&wire::ToolPart| !part.is_settled() || part.state == ToolState::OutputDenied;
        let client_answers = calls.filter(is_open).filter_map(|part| {
            let approved = part.approval.as_ref()?.approved?;
            Some((part.tool_call_id.clone(), approved))
        });
        self.history.client_answers.extend(client_answers);
        self
    }

    /// A window on the whole message, for a client that has seen nothing of it, or that will forget
    /// what it has seen.
    pub fn replaying(profile: Profile, message_id: &str, transcript: &[Line]) -> Self {
        Self::continuing(profile, message_id, transcript, 0)
    }

    /// Whether the client is sent nothing more.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Reads on in the transcript as it now is: the chunks that the client is to be sent.
    pub fn read(&mut self, transcript: &[Line]) -> Vec<Arc<Chunk>> {
        let left = transcript.len().saturating_sub(self.position);
        // The start, and what may close the window.
        let mut chunks = Vec::with_capacity(left + 4);
        if !self.has_started {
            self.has_started = true;
            let start = Chunk::from(Start {
                message_id: Some(self.message_id.clone()),
                message_metadata: None,
            });
            chunks.push(Arc::new(start));
        }
        while let Some(item) = transcript.get(self.position)
            && !self.is_closed
        {
            self.position += 1;
            let is_last = self.position == transcript.len();
            match item {
                Line::Chunk(chunk) => {
                    let told = self.history.tell(chunk, self.profile);
                    self.has_told |= told.is_some();
                    chunks.extend(told);
                }
                // A park that the turn has left again is not for this window.
                Line::Close(closing) if is_last || closing.is_final() => {
                    self.is_closed = true;
                    if closing.is_final() && !self.has_told {
                        // A client that had no reason to send must not be left with one: after an
                        // empty step, there are no calls for it to look at.
                        chunks.extend([Chunk::StartStep, Chunk::FinishStep].map(Arc::new));
                    }
                    let closing = self.profile.narrow(closing.chunk());
                    chunks.extend(closing.map(Arc::new));
                }
                Line::Close(_) => {}
            }
        }
        chunks
    }
}

impl History {
    /// What is over in a transcript that a client has seen up to a position.
    fn of(transcript: &[Line], position: usize) -> Self {
        let mut history = Self::default();
        let chunks = transcript.iter().enumerate().filter_map(as_chunk);
        for (index, chunk) in chunks {
            match chunk {
                Chunk::ToolInputStart(start) if index < position => {
                    history.told.insert(start.tool_call_id.clone());
                }
                Chunk::ToolApprovalRequest(request) => {
                    let (call, question) = (&request.tool_call_id, &request.approval_id);
                    history.asked.insert(call.clone(), question.clone());
                }
                Chunk::ToolApprovalResponse(response) => {
                    let answer = (response.approved, response.reason.clone());
                    history
                        .answered
                        .insert(response.approval_id.clone(), answer);
                }
                chunk => {
                    if let Chunk::ToolOutputDenied(denied) = chunk {
                        history.denied.insert(denied.tool_call_id.clone());
                    }
                    history.settled.extend(settles(chunk).map(str::to_owned));
                }
            }
        }
        history
    }

    /// The chunk as it is told to the client, if it is.
    fn tell(&mut self, chunk: &Arc<Chunk>, profile: Profile) -> Option<Arc<Chunk>> {
        let narrow = || profile.narrow_shared(chunk);
        match &**chunk {
            Chunk::ToolApprovalRequest(request) => {
                let (call, question) = (&request.tool_call_id, &request.approval_id);
                self.asked.insert(call.clone(), question.clone());
                let is_settled = self.settled.contains(&request.tool_call_id);
                match self.answered.get(&request.approval_id) {
                    None if is_settled => None,
                    None => narrow(),
                    // Only a refusal can't be shown without its question, and only 7 shows it with one.
                    Some((false, _)) if profile == Profile::V7 && self.denied.contains(call) => {
                        narrow()
                    }
                    Some(_) => None,
                }
            }
            Chunk::ToolApprovalResponse(response) => match self.answered.get(&response.approval_id)
            {
                // What was not asked is not answered; but a client that believes otherwise is set right.
                Some((true, _)) if !self.is_disbelieved(&response.approval_id) => None,
                Some((false, _)) if !self.is_denied(&response.approval_id) => None,
                Some(_) => narrow(),
                // It came while the client watched.
                None => {
                    let answer = (response.approved, response.reason.clone());
                    self.answered.insert(response.approval_id.clone(), answer);
                    narrow()
                }
            },
            // One that was approved may have run: that is said, whatever the client has answered.
            Chunk::ToolOutputError(error)
                if self.believes(&error.tool_call_id, false)
                    && !self.is_approved(&error.tool_call_id) =>
            {
                let tool_call_id = error.tool_call_id.clone();
                let denied = Chunk::ToolOutputDenied(ToolOutputDenied { tool_call_id });
                Some(Arc::new(denied))
            }
            // Announced, a page would run it again: it is told as if it were still being written.
            Chunk::ToolInputAvailable(available)
                if self.settled.contains(&available.tool_call_id) =>
            {
                let tool_call_id = available.tool_call_id.clone();
                self.told.insert(tool_call_id.clone()).then(|| {
                    Arc::new(Chunk::from(ToolInputDelta {
                        tool_call_id,
                        input_text_delta: available.input.to_string(),
                    }))
                })
            }
            Chunk::ToolInputDelta(delta) if self.settled.contains(&delta.tool_call_id) => {
                let is_first = self.told.insert(delta.tool_call_id.clone());
                is_first.then(|| chunk.clone())
            }
            // A refusal is only to be seen behind a no: one that the client has said itself, or has
            // been told of. An error is accepted without a question, and behind a yes.
            Chunk::ToolOutputDenied(denied) => {
                let call = &denied.tool_call_id;
                if profile == Profile::V7 || self.believes(call, false) {
                    return narrow();
                }
                let question = self.asked.get(call);
                let answer = question.and_then(|question| self.answered.get(question));
                let reason = answer.and_then(|(_, reason)| reason.as_deref());
                Some(Arc::new(Chunk::from(ToolOutputError {
                    tool_call_id: call.clone(),
                    error_text: denial(reason),
                    ..ToolOutputError::default()
                })))
            }
            _ => narrow(),
        }
    }

    /// Whether a question is the one that a refused call was last held by.
    fn is_denied(&self, question: &str) -> bool {
        let mut asked = self.asked.iter();
        asked.any(|(call, last)| last == question && self.denied.contains(call))
    }

    /// Whether the client has said no to a question that was answered with a yes.
    fn is_disbelieved(&self, question: &str) -> bool {
        let mut asked = self.asked.iter();
        asked.any(|(call, last)| last == question && self.believes(call, false))
    }

    /// Whether the question that a call was last held by was answered with a yes.
    fn is_approved(&self, call: &str) -> bool {
        let answer = self
            .asked
            .get(call)
            .and_then(|asked| self.answered.get(asked));
        answer.is_some_and(|(approved, _)| *approved)
    }

    fn believes(&self, call: &str, approved: bool) -> bool {
        self.client_answers.get(call) == Some(&approved)
    }
}

/// How far a client has come that sends back its message: the position after the last park that it
/// has seen.
pub fn seen(transcript: &[Line], message: &Message) -> usize {
    let chunks = || transcript.iter().enumerate().filter_map(as_chunk);
    let part = |call: &str| {
        let mut calls = message.parts.iter().filter_map(wire::Part::as_tool);
        calls.find(|part| part.tool_call_id == call)
    };
    // The last question that the client has of a call, as a place in the transcript.
    let question = |call: &str| {
        let asked = part(call)?.approval.as_ref()?;
        chunks().find_map(|(index, chunk)| match chunk {
            Chunk::ToolApprovalRequest(request)
                if request.approval_id == asked.id && request.tool_call_id == call =>
            {
                Some(index)
            }
            _ => None,
        })
    };
    // Whoever has a call was told, or spared, all that was said before it.
    let begun = chunks().filter_map(|(index, chunk)| match chunk {
        Chunk::ToolInputStart(start) => part(&start.tool_call_id).map(|_| index),
        _ => None,
    });
    let begun = begun.max().unwrap_or(0);
    // What follows the last park that the client has seen, and the first thing that it has not.
    let (mut seen, mut end) = (0, transcript.len());
    for (index, item) in transcript.iter().enumerate() {
        let chunk = match item {
            Line::Chunk(chunk) => &**chunk,
            Line::Close(Closing::Parked) => {
                seen = index + 1;
                continue;
            }
            Line::Close(_) => {
                end = index;
                break;
            }
        };
        let is_settled = |call: &str| part(call).is_some_and(wire::ToolPart::is_settled);
        let is_seen = match chunk {
            Chunk::ToolInputStart(start) => part(&start.tool_call_id).is_some(),
            Chunk::ToolApprovalRequest(request) => {
                let call = &request.tool_call_id;
                is_settled(call)
                    || question(call).is_some_and(|last| index <= last)
                    || part(call).is_some_and(|part| part.state == ToolState::InputAvailable)
                        && is_announced_after(transcript, call, index)
            }
            // A call that was asked about and is then announced was held until its approval.
            Chunk::ToolInputAvailable(available) => {
                let call = &available.tool_call_id;
                let is_asked = part(call).is_some_and(|part| {
                    matches!(
                        part.state,
                        ToolState::ApprovalRequested | ToolState::ApprovalResponded
                    )
                });
                !(is_asked && question(call).is_some_and(|asked| asked < index))
            }
            _ => settles(chunk).is_none_or(is_settled),
        };
        if !is_seen && index >= begun {
            end = index;
            break;
        }
    }
    // Of steps that the client has not begun it has seen nothing.
    let begun = message.parts.iter().filter(|part| is_step_start(part));
    let begun = begun.count();
    let chunks = transcript.iter().enumerate().filter_map(as_chunk);
    let starts = chunks.filter(|(_, chunk)| **chunk == Chunk::StartStep);
    let starts: Vec<usize> = starts.map(|(index, _)| index).collect();
    let end = starts.get(begun).map_or(end, |next| end.min(*next));
    // What was decided since its last step, or the last park, is told, whatever it has answered itself.
    let last = begun.checked_sub(1).and_then(|last| starts.get(last));
    let since = last.map_or(seen, |last| seen.max(*last)).min(end);
    let decided = transcript[since..end]
        .iter()
        .position(|line| decides(line) && !shows_denial(message, line));
    let end = decided.map_or(end, |decided| since + decided);
    match end >= seen && has_all_before(transcript, message, end) {
        true => end,
        false => steps_seen(transcript, message, seen),
    }
}

/// Whether a call is announced behind a place, and not before it: who has it as announced has seen
/// what was asked there.
fn is_announced_after(transcript: &[Line], call: &str, place: usize) -> bool {
    let mut announced = transcript.iter().enumerate().filter_map(as_chunk);
    let first = announced.find_map(|(index, chunk)| match chunk {
        Chunk::ToolInputAvailable(available) if available.tool_call_id == call => Some(index),
        _ => None,
    });
    first.is_some_and(|first| first > place)
}

/// Whether a client that lacks what stands at a place has all that was said before it: its connection
/// was lost while calls of the last step ran.
fn has_all_before(transcript: &[Line], message: &Message, place: usize) -> bool {
    let is_start = |item: &Line| matches!(item, Line::Chunk(chunk) if **chunk == Chunk::StartStep);
    let Some(start) = transcript[..place].iter().rposition(is_start) else {
        return false;
    };
    let end = transcript[place..].iter().position(is_start);
    let step = &transcript[start..end.map_or(transcript.len(), |end| place + end)];
    let steps = transcript[..place].iter().filter(|item| is_start(item));
    let begun = message.parts.iter().rposition(is_step_start);
    let begun_steps = message.parts.iter().filter(|part| is_step_start(part));
    if begun_steps.count() != steps.count() {
        return false;
    }
    let own = &message.parts[begun.unwrap_or(0)..];
    let has_call = |call: &str| {
        let mut calls = own.iter().filter_map(wire::Part::as_tool);
        calls.any(|part| part.tool_call_id == call && part.state != ToolState::InputStreaming)
    };
    let mut text = String::new();
    for (_, chunk) in step.iter().enumerate().filter_map(as_chunk) {
        match chunk {
            Chunk::ToolInputStart(start) if !has_call(&start.tool_call_id) => return false,
            Chunk::TextDelta(delta) => text.push_str(&delta.delta),
            _ => {}
        }
    }
    own.iter().map(text_of).collect::<String>() == text
}

fn is_step_start(part: &wire::Part) -> bool {
    matches!(part, wire::Part::StepStart(_))
}

fn text_of(part: &wire::Part) -> &str {
    match part {
        wire::Part::Text(text) => &text.text,
        _ => "",
    }
}

/// How far a client has come that has begun steps beyond the last park: it lost its connection in
/// the middle of a window, or has it all and sends again.
fn steps_seen(transcript: &[Line], message: &Message, park: usize) -> usize {
    let starts = |items: &[Line]| {
        let is_start =
            |item: &Line| matches!(item, Line::Chunk(chunk) if **chunk == Chunk::StartStep);
        let starts = items.iter().enumerate().filter(|(_, item)| is_start(item));
        starts.map(|(index, _)| index).collect::<Vec<_>>()
    };
    let begun = message
        .parts
        .iter()
        .filter(|part| is_step_start(part))
        .count();
    let steps = starts(transcript);
    if begun <= starts(&transcript[..park]).len() || begun > steps.len() {
        return park;
    }
    let (start, end) = (steps[begun - 1], steps.get(begun).copied());
    let end = end.unwrap_or_else(|| {
        let is_close = |item: &Line| matches!(item, Line::Close(closing) if closing.is_final());
        transcript
            .iter()
            .position(is_close)
            .unwrap_or(transcript.len())
    });
    let mut told = String::new();
    for (_, chunk) in transcript[start..end]
        .iter()
        .enumerate()
        .filter_map(as_chunk)
    {
        match chunk {
            Chunk::TextDelta(delta) => told.push_str(&delta.delta),
            // What became of calls is for the parks to say.
            Chunk::ToolInputStart(_) => return park.max(start),
            _ => {}
        }
    }
    let last = message.parts.iter().rposition(is_step_start).unwrap_or(0);
    let has = message.parts[last..].iter().map(text_of);
    if has.collect::<String>() == told {
        end
    } else {
        start
    }
}

fn as_chunk((index, item): (usize, &Line)) -> Option<(usize, &Chunk)> {
    match item {
        Line::Chunk(chunk) => Some((index, chunk)),
        Line::Close(_) => None,
    }
}

/// Whether a line says that a call was denied which the client shows as denied.
fn shows_denial(message: &Message, line: &Line) -> bool {
    let Line::Chunk(chunk) = line else {
        return false;
    };
    let calls = message.parts.iter().filter_map(wire::Part::as_tool);
    let mut denied = calls.filter(|part| part.state == ToolState::OutputDenied);
    match &**chunk {
        Chunk::ToolOutputDenied(chunk) => {
            denied.any(|part| part.tool_call_id == chunk.tool_call_id)
        }
        Chunk::ToolApprovalResponse(response) => denied.any(|part| {
            let asked = part.approval.as_ref();
            asked.is_some_and(|asked| asked.id == response.approval_id)
        }),
        _ => false,
    }
}

/// Whether a line says what became of a question or of a call.
fn decides(line: &Line) -> bool {
    match line {
        Line::Chunk(chunk) => {
            settles(chunk).is_some() || matches!(**chunk, Chunk::ToolApprovalResponse(_))
        }
        Line::Close(_) => false,
    }
}

/// The call that a chunk settles.
fn settles(chunk: &Chunk) -> Option<&str> {
    match chunk {
        Chunk::ToolOutputAvailable(output) if output.preliminary != Some(true) => {
            Some(&output.tool_call_id)
        }
        Chunk::ToolOutputError(error) => Some(&error.tool_call_id),
        Chunk::ToolOutputDenied(denied) => Some(&denied.tool_call_id),
        Chunk::ToolInputError(error) => Some(&error.tool_call_id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn transcript() -> Vec<Line> {
        let chunk = |value| Line::Chunk(Chunk::decode(value).unwrap().into());
        vec![
            chunk(json!({"type": "start-step"})),
            chunk(json!({"type": "text-start", "id": "1"})),
            chunk(json!({"type": "text-delta", "id": "1", "delta": "Hello."})),
            chunk(json!({"type": "text-end", "id": "1"})),
            chunk(json!({"type": "finish-step"})),
            Line::Close(Closing::Stopped),
        ]
    }

    fn seen_of(text: Option<&str>) -> usize {
        let mut parts = Vec::new();
        if let Some(text) = text {
            parts = vec![
                json!({"type": "step-start"}),
                json!({"type": "text", "text": text}),
            ];
        }
        let message = json!({"id": "m", "role": "assistant", "parts": parts});
        seen(&transcript(), &Message::decode(message).unwrap())
    }

    #[test]
    fn step_that_was_cut_off_is_told_again_and_a_whole_one_is_not() {
        assert_eq!(seen_of(None), 0);
        assert_eq!(seen_of(Some("Hel")), 0);
        assert_eq!(seen_of(Some("Hello.")), 5);
    }

    #[test]
    fn client_that_was_spared_an_answered_question_has_seen_what_came_after_it() {
        let chunk = |value| Line::Chunk(Chunk::decode(value).unwrap().into());
        let start = |id: &str| {
            chunk(json!({"type": "tool-input-start", "toolCallId": id, "toolName": "t"}))
        };
        let asked = json!({"type": "tool-approval-request", "approvalId": "g", "toolCallId": "a"});
        let parked = || Line::Close(Closing::Parked);
        let transcript = [start("a"), chunk(asked), parked(), start("b"), parked()];
        let part = |id: &str, state: &str| json!({"type": "tool-t", "toolCallId": id, "state": state, "input": {}, "output": 1});
        let seen_with = |parts| {
            let message = json!({"id": "m", "role": "assistant", "parts": parts});
            seen(&transcript, &Message::decode(message).unwrap())
        };
        let a = || part("a", "input-available");
        assert_eq!(seen_with(vec![a()]), 0);
        assert_eq!(seen_with(vec![a(), part("b", "output-available")]), 5);
    }

    #[test]
    fn client_that_answers_while_a_call_runs_is_not_told_its_step_again() {
        let chunk = |value| Line::Chunk(Chunk::decode(value).unwrap().into());
        let start = |id: &str| {
            chunk(json!({"type": "tool-input-start", "toolCallId": id, "toolName": "t"}))
        };
        let asked = json!({"type": "tool-approval-request", "approvalId": "g", "toolCallId": "b"});
        let failed =
            json!({"type": "tool-output-error", "toolCallId": "a", "errorText": "unknown"});
        let begun = [
            chunk(json!({"type": "start-step"})),
            chunk(json!({"type": "text-start", "id": "1"})),
            chunk(json!({"type": "text-delta", "id": "1", "delta": "Well."})),
            start("a"),
            start("b"),
            chunk(asked),
        ];
        let part = |id: &str, state: &str| json!({"type": "tool-t", "toolCallId": id, "state": state, "input": {}});
        let mut answered = part("b", "approval-responded");
        answered["approval"] = json!({"id": "g", "approved": false});
        let message = json!({"id": "m", "role": "assistant", "parts": [
            {"type": "step-start"}, {"type": "text", "text": "Well."}, part("a", "input-available"), answered,
        ]});
        let message = Message::decode(message).unwrap();
        assert_eq!(seen(&begun, &message), begun.len());
        // Its server died, and the next one says so.
        let mut later = begun.to_vec();
        later.push(chunk(failed));
        assert_eq!(seen(&later, &message), begun.len());
        // A step that the client has not begun is told whole.
        later.truncate(begun.len());
        later.extend([chunk(json!({"type": "start-step"})), start("c")]);
        assert_eq!(seen(&later, &message), begun.len());
    }

    #[test]
    fn client_that_has_it_all_is_given_no_reason_to_send_again() {
        let mut window = Window::continuing(Profile::Shared, "m", &transcript(), 5);
        let told = window.read(&transcript());
        let names: Vec<_> = told.iter().map(|chunk| chunk.type_name()).collect();
        assert_eq!(names, ["start", "start-step", "finish-step", "finish"]);
        assert!(window.is_closed());
    }
}
