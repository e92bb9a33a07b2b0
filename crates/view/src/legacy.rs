//! The legacy bridge's order and texts: a turn as its pages expect it on their socket.
//!
//! There, one stream lasts for the whole turn. Only a question has a step around it, by which the
//! page knows that it may answer; a refusal is an error; and a page's call is shown with its input
//! before anybody has approved it.

use std::collections::{HashMap, HashSet};

use turn::live::{OURS, TRANSCRIPT};
use wire::answer::{Answer, Gate};
use wire::chunk::{
    BlockDelta, BlockStart, ReasoningEnd, Start, TextEnd, ToolInputAvailable, ToolOutputError,
};
use wire::{Chunk, Profile};

use crate::ai_sdk::{Closing, Line};

/// One page's view of a turn, in the legacy bridge's order.
#[derive(Debug, Clone)]
pub struct LegacyWindow {
    message_id: String,
    position: usize,
    has_started: bool,
    is_closed: bool,
    tools: HashMap<String, String>,
    /// The starts of calls whose input is not there yet.
    begun: HashMap<String, Chunk>,
    announced: HashSet<String>,
    /// The bridge's names for the blocks of text and reasoning.
    blocks: HashMap<String, String>,
    texts: usize,
    /// How many transcripts of what the user said there were.
    heard: usize,
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
            tools: HashMap::new(),
            begun: HashMap::new(),
            announced: HashSet::new(),
            blocks: HashMap::new(),
            texts: 0,
            heard: 0,
            reasonings: 0,
        }
    }

    /// Whether the turn is over.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Reads on in the transcript as it now is: the chunks that the page is to be sent.
    pub fn read(&mut self, transcript: &[Line]) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        if !self.has_started {
            self.has_started = true;
            // What came before the position is not told, and yet known.
            for item in &transcript[..self.position.min(transcript.len())] {
                if let Line::Chunk(chunk) = item {
                    self.tell(chunk);
                }
            }
            chunks.push(Chunk::from(Start {
                message_id: Some(self.message_id.clone()),
                message_metadata: None,
            }));
        }
        while let Some(item) = transcript.get(self.position)
            && !self.is_closed
        {
            self.position += 1;
            match item {
                Line::Chunk(chunk) => chunks.extend(self.tell(chunk)),
                Line::Close(Closing::Parked) => {}
                Line::Close(closing) => {
                    self.is_closed = true;
                    chunks.extend(Profile::Shared.narrow(closing.chunk()));
                }
            }
        }
        chunks
    }

    fn tell(&mut self, chunk: &Chunk) -> Vec<Chunk> {
        match chunk {
            Chunk::StartStep | Chunk::FinishStep => Vec::new(),
            Chunk::ToolApprovalRequest(_) => {
                let request = Profile::Shared.narrow(chunk.clone());
                let step = [Some(Chunk::StartStep), request, Some(Chunk::FinishStep)];
                step.into_iter().flatten().collect()
            }
            Chunk::ToolInputStart(start) => {
                let (call, tool) = (&start.tool_call_id, &start.tool_name);
                self.tools.insert(call.clone(), tool.clone());
                // Told with its input: a client shows a call twice if a step begins between the two.
                self.begun.insert(call.clone(), chunk.clone());
                Vec::new()
            }
            Chunk::ToolInputDelta(delta) => {
                let call = delta.tool_call_id.clone();
                let tool_name = self.tools.get(&call).cloned().unwrap_or_default();
                let input = serde_json::from_str(&delta.input_text_delta).unwrap_or_default();
                self.announced.insert(call.clone());
                let start = self.begun.remove(&call);
                let available = Chunk::from(ToolInputAvailable {
                    tool_call_id: call,
                    tool_name,
                    input,
                    ..ToolInputAvailable::default()
                });
                start.into_iter().chain([available]).collect()
            }
            Chunk::ToolInputAvailable(available) => {
                let is_first = self.announced.insert(available.tool_call_id.clone());
                let start = self.begun.remove(&available.tool_call_id);
                let available = is_first.then(|| chunk.clone());
                start.into_iter().chain(available).collect()
            }
            Chunk::ToolInputError(error) => {
                let start = self.begun.remove(&error.tool_call_id);
                let error = Profile::Shared.narrow(chunk.clone());
                start.into_iter().chain(error).collect()
            }
            Chunk::ToolOutputDenied(denied) => {
                let tool = self.tools.get(&denied.tool_call_id).map(String::as_str);
                let error_text = match tool {
                    Some("process_payment") => "User denied the payment".to_owned(),
                    Some("get_location") => "User denied location access".to_owned(),
                    tool => format!("User denied {}", tool.unwrap_or("the call")),
                };
                vec![Chunk::from(ToolOutputError {
                    tool_call_id: denied.tool_call_id.clone(),
                    error_text,
                    ..ToolOutputError::default()
                })]
            }
            Chunk::TextStart(start) => {
                let ours = start.provider_metadata.as_ref();
                let ours = ours.and_then(|all| all.provider(OURS)?.get(TRANSCRIPT)?.as_str());
                let is_heard = ours == Some("input");
                let texts = match is_heard {
                    true => &mut self.heard,
                    false => &mut self.texts,
                };
                *texts += 1;
                let whose = if is_heard { "input" } else { "output" };
                let mut name = format!("{}_{whose}_text", self.message_id);
                if *texts > 1 {
                    name = format!("{name}_{texts}");
                }
                self.blocks.insert(start.id.clone(), name.clone());
                vec![Chunk::TextStart(block(name))]
            }
            Chunk::ReasoningStart(start) => {
                let name = self.reasonings.to_string();
                self.reasonings += 1;
                self.blocks.insert(start.id.clone(), name.clone());
                vec![Chunk::ReasoningStart(block(name))]
            }
            Chunk::TextDelta(delta) => vec![Chunk::TextDelta(self.more(delta))],
            Chunk::ReasoningDelta(delta) => vec![Chunk::ReasoningDelta(self.more(delta))],
            Chunk::TextEnd(end) => vec![Chunk::from(TextEnd {
                id: self.name(&end.id),
                ..TextEnd::default()
            })],
            Chunk::ReasoningEnd(end) => vec![Chunk::ReasoningEnd(ReasoningEnd {
                id: self.name(&end.id),
                ..ReasoningEnd::default()
            })],
            _ => Profile::Shared.narrow(chunk.clone()).into_iter().collect(),
        }
    }

    fn name(&self, id: &str) -> String {
        self.blocks
            .get(id)
            .cloned()
            .unwrap_or_else(|| id.to_owned())
    }

    fn more(&self, delta: &BlockDelta) -> BlockDelta {
        BlockDelta {
            id: self.name(&delta.id.to_str()).into(),
            delta: delta.delta.clone(),
            provider_metadata: None,
        }
    }
}

fn block(id: String) -> BlockStart {
    BlockStart {
        id,
        provider_metadata: None,
    }
}

/// Where a page goes on that sends no history. It has seen what led to the questions that it answers,
/// up to the park at which they were asked; a page that answers nothing has seen nothing.
pub fn seen(transcript: &[Line], answers: &[Answer]) -> usize {
    let asked = |answer: &Answer| {
        let asks = |item: &Line| match item {
            Line::Chunk(chunk) => match (&**chunk, answer) {
                (Chunk::ToolApprovalRequest(request), Answer::Approval { gate, .. }) => {
                    match gate {
                        Gate::Approval(id) => request.approval_id == *id,
                        Gate::Call(call) => request.tool_call_id == *call,
                    }
                }
                (Chunk::ToolApprovalRequest(request), Answer::Output { tool_call_id, .. }) => {
                    request.tool_call_id == *tool_call_id
                }
                (Chunk::ToolInputAvailable(call), Answer::Output { tool_call_id, .. }) => {
                    call.tool_call_id == *tool_call_id
                }
                _ => false,
            },
            Line::Close(_) => false,
        };
        transcript.iter().rposition(asks)
    };
    let is_park = |item: &Line| matches!(item, Line::Close(Closing::Parked));
    let park_of = |asked: usize| {
        let park = transcript[asked..].iter().position(is_park);
        park.map(|park| asked + park + 1)
    };
    let parks = answers.iter().filter_map(asked).filter_map(park_of);
    parks.min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn chunk(value: serde_json::Value) -> Line {
        Line::Chunk(
            Chunk::from_slice(value.to_string().as_bytes())
                .unwrap()
                .into(),
        )
    }

    fn called(call: &str) -> Line {
        chunk(json!({"type": "tool-input-start", "toolCallId": call, "toolName": "get_location"}))
    }

    fn input(call: &str) -> Line {
        chunk(json!({"type": "tool-input-delta", "toolCallId": call, "inputTextDelta": "{}"}))
    }

    fn request(call: &str) -> Line {
        let approval = format!("gate of {call}");
        chunk(json!({"type": "tool-approval-request", "toolCallId": call, "approvalId": approval}))
    }

    fn output(call: &str) -> Line {
        chunk(json!({"type": "tool-output-available", "toolCallId": call, "output": {}}))
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

    const PARK: Line = Line::Close(Closing::Parked);

    #[test]
    fn call_is_told_with_its_input_and_not_across_the_question_of_another() {
        let transcript = [
            called("a"),
            called("b"),
            input("a"),
            request("a"),
            input("b"),
            request("b"),
        ];
        let mut window = LegacyWindow::new("m", 0);
        let told = window.read(&transcript);
        let told: Vec<_> = told.iter().map(Chunk::type_name).collect();
        let call = [
            "tool-input-start",
            "tool-input-available",
            "start-step",
            "tool-approval-request",
            "finish-step",
        ];
        assert_eq!(told, [&["start"][..], &call, &call].concat());
    }

    #[test]
    fn page_has_seen_what_led_to_the_questions_that_it_answers() {
        let transcript = [
            request("a"),
            request("b"),
            PARK,
            output("a"),
            PARK,
            request("c"),
            PARK,
        ];
        let gate = |call: &str| approval(Gate::Approval(format!("gate of {call}")));
        assert_eq!(seen(&transcript, &[gate("c")]), 7);
        assert_eq!(seen(&transcript, &[gate("b")]), 3);
        assert_eq!(seen(&transcript, &[gate("c"), gate("a")]), 3);
        assert_eq!(seen(&transcript, &[approval(Gate::Call("b".into()))]), 3);
        let given = Answer::Output {
            tool_call_id: "b".into(),
            tool_name: None,
            output: Ok(json!({})),
        };
        assert_eq!(seen(&transcript, &[given]), 3);
        // A message that is sent again answers nothing, and is told all of it.
        assert_eq!(seen(&transcript, &[]), 0);
        assert_eq!(seen(&transcript, &[gate("nobody")]), 0);
    }
}
