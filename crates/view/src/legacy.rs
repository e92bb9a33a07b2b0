//! The legacy bridge's order and texts: a turn as its pages expect it on their socket.
//!
//! There, one stream lasts for the whole turn. Only a question has a step around it, by which the
//! page knows that it may answer; a refusal is an error; and a page's call is shown with its input
//! before anybody has approved it.

use std::collections::HashMap;

use serde_json::Value;
use turn::CallId;
use wire::answer::{Answer, Gate};
use wire::chunk::{BlockDelta, BlockStart, ReasoningEnd, Start, TextEnd, ToolOutputError};
use wire::{Chunk, Profile};

use crate::ai_sdk::{
    Block, BlockLine, BlockUpdate, CallLine, CallUpdate, Closing, Delta, Line, Settlement, chunks,
};

/// One page's view of a turn, in the legacy bridge's order.
#[derive(Debug, Clone)]
pub struct LegacyWindow {
    message_id: String,
    position: usize,
    has_started: bool,
    is_closed: bool,
    /// Whether what was read last asks a person something.
    asks: bool,
    /// The starts of calls whose input is not there yet.
    begun: HashMap<CallId, Chunk>,
    /// The calls whose input was sent, and with which.
    announced: HashMap<CallId, Value>,
    /// The bridge's name for the text or reasoning that is open.
    block: String,
    texts: usize,
    /// How many texts there were of what the user said aloud.
    user_texts: usize,
    reasonings: usize,
}

impl LegacyWindow {
    /// A view from a position of the transcript on.
    pub fn new(message_id: &str, position: usize) -> Self {
        Self {
            message_id: message_id.to_owned(),
            position,
            has_started: false,
            is_closed: false,
            asks: false,
            begun: HashMap::new(),
            announced: HashMap::new(),
            block: String::new(),
            texts: 0,
            user_texts: 0,
            reasonings: 0,
        }
    }

    /// Whether the turn is over.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Whether what was read last asks a person something. The page closes its stream there, and opens
    /// another when it sends something.
    pub fn asks(&self) -> bool {
        self.asks
    }

    /// Reads on in the transcript as it now is: the chunks that the page is to be sent.
    pub fn read(&mut self, transcript: &[Line]) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        self.asks = false;
        if !self.has_started {
            self.has_started = true;
            // What came before the position is not sent, and yet known.
            for line in &transcript[..self.position.min(transcript.len())] {
                self.render(line);
            }
            chunks.push(Chunk::from(Start {
                message_id: Some(self.message_id.clone()),
                message_metadata: None,
            }));
        }
        while let Some(line) = transcript.get(self.position)
            && !self.is_closed
        {
            self.position += 1;
            chunks.extend(self.render(line));
            let call = line.as_call();
            self.asks |= call.is_some_and(|call| matches!(call.update, CallUpdate::Asked(_)));
            if let Line::Close(closing) = line
                && closing.is_final()
            {
                self.is_closed = true;
                chunks.extend(Profile::Shared.narrow(closing.journal_chunk()));
            }
        }
        chunks
    }

    fn render(&mut self, line: &Line) -> Vec<Chunk> {
        match line {
            Line::StepBegun | Line::StepEnded | Line::Close(_) => Vec::new(),
            Line::Block(line) => vec![self.render_block(line)],
            Line::Text(delta) => vec![Chunk::TextDelta(self.delta(delta))],
            Line::Reasoning(delta) => vec![Chunk::ReasoningDelta(self.delta(delta))],
            Line::Part(line) => narrow(&line.chunk).into_iter().collect(),
            Line::Call(line) => self.render_call(line),
        }
    }

    fn render_call(&mut self, line: &CallLine) -> Vec<Chunk> {
        let call = &line.call.id;
        match &line.update {
            CallUpdate::Asked(_) => {
                let request = narrow(&line.chunk);
                let step = [Some(Chunk::StartStep), request, Some(Chunk::FinishStep)];
                step.into_iter().flatten().collect()
            }
            CallUpdate::Begun => {
                // Sent with its input: a client shows a call twice if a step begins between the two.
                self.begun.insert(call.clone(), Chunk::clone(&line.chunk));
                Vec::new()
            }
            CallUpdate::InputShown => {
                self.announced.insert(call.clone(), line.call.input.clone());
                let start = self.begun.remove(call);
                let available = chunks::input_available(&line.call);
                start.into_iter().chain([available]).collect()
            }
            CallUpdate::Announced => {
                // Again only with another input, which is the approver's.
                let input = line.call.input.clone();
                let shown = self.announced.insert(call.clone(), input);
                let is_new = shown.is_none_or(|shown| shown != line.call.input);
                let start = self.begun.remove(call);
                let available = is_new.then(|| Chunk::clone(&line.chunk));
                start.into_iter().chain(available).collect()
            }
            CallUpdate::Settled(Settlement::Invalid, _) => {
                let start = self.begun.remove(call);
                start.into_iter().chain(narrow(&line.chunk)).collect()
            }
            CallUpdate::Settled(Settlement::Denied, _) => {
                let error_text = match line.call.tool.as_str() {
                    "process_payment" => "User denied the payment".to_owned(),
                    "get_location" => "User denied location access".to_owned(),
                    tool => format!("User denied {tool}"),
                };
                vec![Chunk::from(ToolOutputError {
                    tool_call_id: call.to_string(),
                    error_text,
                    ..ToolOutputError::default()
                })]
            }
            CallUpdate::Settled(Settlement::Output | Settlement::Error, _)
            | CallUpdate::Answered { .. }
            | CallUpdate::Progressed(_) => narrow(&line.chunk).into_iter().collect(),
        }
    }

    fn render_block(&mut self, line: &BlockLine) -> Chunk {
        let BlockUpdate::Begun { is_user_speech } = line.update else {
            let id = self.block.clone();
            return match line.block {
                Block::Text => Chunk::from(TextEnd {
                    id,
                    ..TextEnd::default()
                }),
                Block::Reasoning => Chunk::ReasoningEnd(ReasoningEnd {
                    id,
                    ..ReasoningEnd::default()
                }),
            };
        };
        self.block = match line.block {
            Block::Text => {
                let (texts, whose) = match is_user_speech {
                    true => (&mut self.user_texts, "input"),
                    false => (&mut self.texts, "output"),
                };
                *texts += 1;
                let name = format!("{}_{whose}_text", self.message_id);
                match *texts {
                    1 => name,
                    n => format!("{name}_{n}"),
                }
            }
            Block::Reasoning => {
                let name = self.reasonings.to_string();
                self.reasonings += 1;
                name
            }
        };
        let start = BlockStart {
            id: self.block.clone(),
            provider_metadata: None,
        };
        match line.block {
            Block::Text => Chunk::TextStart(start),
            Block::Reasoning => Chunk::ReasoningStart(start),
        }
    }

    fn delta(&self, delta: &Delta) -> BlockDelta {
        BlockDelta {
            id: self.block.as_str().into(),
            delta: delta.as_str().into(),
            provider_metadata: None,
        }
    }
}

fn narrow(chunk: &Chunk) -> Option<Chunk> {
    Profile::Shared.narrow(chunk.clone())
}

/// Where a page goes on that sends no history. It has seen what led to the questions that it answers,
/// up to the park at which they were asked; a page that answers nothing has seen nothing.
pub fn legacy_client_position(transcript: &[Line], answers: &[Answer]) -> usize {
    let asked = |answer: &Answer| {
        let asks = |line: &Line| {
            let Some(line) = line.as_call() else {
                return false;
            };
            let (call, update) = (line.call.id.as_str(), &line.update);
            match answer {
                Answer::Approval { gate, .. } => match (gate, update) {
                    (Gate::Approval(id), CallUpdate::Asked(gate)) => gate.as_str() == id,
                    (Gate::Call(id), CallUpdate::Asked(_)) => call == id,
                    _ => false,
                },
                Answer::Payload { gate, .. } => {
                    matches!(update, CallUpdate::Asked(asked) if asked.as_str() == gate)
                }
                Answer::Output { tool_call_id, .. } => {
                    let is_asked = matches!(update, CallUpdate::Asked(_) | CallUpdate::Announced);
                    is_asked && call == tool_call_id
                }
            }
        };
        transcript.iter().rposition(asks)
    };
    let is_park = |line: &Line| matches!(line, Line::Close(Closing::Parked(_)));
    let park_of = |asked: usize| {
        let park = transcript[asked..].iter().position(is_park);
        park.map(|park| asked + park + 1)
    };
    let parks = answers.iter().filter_map(asked).filter_map(park_of);
    parks.min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use turn::call::Outcome;

    use super::*;
    use crate::ai_sdk::specimen::{asked, begun, input_shown, settled};

    fn output(call: &str) -> Line {
        let output = json!({});
        settled(call, &Outcome::Output { output })
    }

    fn approval(gate: Gate) -> Answer {
        Answer::Approval {
            gate,
            approved: true,
            reason: None,
            input: None,
            digest: None,
        }
    }

    fn park() -> Line {
        Line::Close(Closing::Parked(Arc::default()))
    }

    #[test]
    fn call_is_sent_with_its_input_and_not_across_the_question_of_another() {
        let transcript = [
            begun("a"),
            begun("b"),
            input_shown("a"),
            asked("a"),
            input_shown("b"),
            asked("b"),
        ];
        let mut window = LegacyWindow::new("m", 0);
        let sent = window.read(&transcript);
        let sent: Vec<_> = sent.iter().map(Chunk::type_name).collect();
        let call = [
            "tool-input-start",
            "tool-input-available",
            "start-step",
            "tool-approval-request",
            "finish-step",
        ];
        assert_eq!(sent, [&["start"][..], &call, &call].concat());
    }

    #[test]
    fn window_says_that_it_asks_only_where_it_does() {
        let mut transcript = vec![begun("a"), input_shown("a")];
        let mut window = LegacyWindow::new("m", 0);
        window.read(&transcript);
        assert!(!window.asks());
        transcript.push(asked("a"));
        window.read(&transcript);
        assert!(window.asks());
        transcript.push(output("a"));
        window.read(&transcript);
        assert!(!window.asks());
        // What was asked before the position is not asked again.
        let mut later = LegacyWindow::new("m", transcript.len());
        later.read(&transcript);
        assert!(!later.asks());
    }

    #[test]
    fn page_has_seen_what_led_to_the_questions_that_it_answers() {
        let transcript = [
            asked("a"),
            asked("b"),
            park(),
            output("a"),
            park(),
            asked("c"),
            park(),
        ];
        let gate = |call: &str| approval(Gate::Approval(format!("gate of {call}")));
        assert_eq!(legacy_client_position(&transcript, &[gate("c")]), 7);
        assert_eq!(legacy_client_position(&transcript, &[gate("b")]), 3);
        assert_eq!(
            legacy_client_position(&transcript, &[gate("c"), gate("a")]),
            3
        );
        assert_eq!(
            legacy_client_position(&transcript, &[approval(Gate::Call("b".into()))]),
            3
        );
        let given = Answer::Output {
            tool_call_id: "b".into(),
            tool_name: None,
            output: Ok(json!({})),
            digest: None,
        };
        assert_eq!(legacy_client_position(&transcript, &[given]), 3);
        // A message that is sent again answers nothing, and is sent all of it.
        assert_eq!(legacy_client_position(&transcript, &[]), 0);
        assert_eq!(legacy_client_position(&transcript, &[gate("nobody")]), 0);
    }
}
