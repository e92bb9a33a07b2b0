//! The lines of a transcript: what clients are shown, typed, with the chunk that shows it.
//!
//! A chunk is rendered once, in the newest client's words, and shared by all who read it. Windows decide
//! by the types here, and send the chunk or another; nobody reads a chunk to learn what happened.

use std::sync::Arc;

use serde_json::Value;
use turn::agent::Part;
use turn::call::{Call, Outcome};
use turn::gate::{Decision, Gate};
use turn::metadata::{OURS, TRANSCRIPT};
use turn::{GateId, Message};
use wire::Chunk;
use wire::prototype::without_refused_keys;

use super::chunks;
use super::closing::Closing;

/// One line of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// A step begins.
    StepBegun,
    /// A step is over.
    StepEnded,
    /// A text or a reasoning begins or ends.
    Block(Arc<BlockLine>),
    /// More of the text that is open.
    Text(Delta),
    /// More of the reasoning that is open.
    Reasoning(Delta),
    /// A file, a source, data or a user's message.
    Part(Arc<PartLine>),
    /// Something about a call.
    Call(Arc<CallLine>),
    /// Nothing more can happen without a client, or at all: windows close here.
    Close(Closing),
}

impl Line {
    /// The chunk that shows it, in the newest client's words.
    pub fn chunk(&self) -> Arc<Chunk> {
        match self {
            Self::StepBegun => Arc::new(Chunk::StartStep),
            Self::StepEnded => Arc::new(Chunk::FinishStep),
            Self::Block(line) => line.chunk.clone(),
            Self::Text(delta) | Self::Reasoning(delta) => delta.chunk().clone(),
            Self::Part(line) => line.chunk.clone(),
            Self::Call(line) => line.chunk.clone(),
            Self::Close(closing) => Arc::new(closing.chunk()),
        }
    }

    /// What it says about a call, if it does.
    pub(crate) fn as_call(&self) -> Option<&CallLine> {
        match self {
            Self::Call(line) => Some(line),
            _ => None,
        }
    }
}

/// More of a text or a reasoning. Nearly all lines are this, so it is no larger than its chunk's address.
#[derive(Debug, Clone, PartialEq)]
pub struct Delta(Arc<Chunk>);

impl Delta {
    #[inline]
    pub(super) fn text(block: u32, words: String) -> Self {
        Self(Arc::new(Chunk::TextDelta(chunks::delta(block, words))))
    }

    #[inline]
    pub(super) fn reasoning(block: u32, words: String) -> Self {
        Self(Arc::new(Chunk::ReasoningDelta(chunks::delta(block, words))))
    }

    #[inline]
    pub(crate) fn chunk(&self) -> &Arc<Chunk> {
        &self.0
    }

    /// The words themselves.
    pub(crate) fn as_str(&self) -> &str {
        match &*self.0 {
            Chunk::TextDelta(delta) | Chunk::ReasoningDelta(delta) => &delta.delta,
            _ => "",
        }
    }

    /// The chunk of what follows this many bytes.
    pub(super) fn rest(&self, bytes: usize) -> Arc<Chunk> {
        let mut rest = self.clone();
        rest.replace(self.as_str().get(bytes..).unwrap_or_default().to_owned());
        rest.0
    }

    /// Replaces the words. A window that has read them keeps them as they were.
    pub(super) fn replace(&mut self, words: String) {
        if let Chunk::TextDelta(delta) | Chunk::ReasoningDelta(delta) = Arc::make_mut(&mut self.0) {
            delta.delta = words.into();
        }
    }
}

/// The start or the end of a text or a reasoning.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockLine {
    pub(crate) block: Block,
    pub(crate) update: BlockUpdate,
    pub(crate) chunk: Arc<Chunk>,
}

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    Text,
    Reasoning,
}

/// What happens to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockUpdate {
    Begun {
        /// Whether it writes down what the user said aloud.
        is_user_speech: bool,
    },
    Ended,
}

impl BlockLine {
    /// Whether the block begins here.
    pub(crate) fn is_start(&self) -> bool {
        self.update != BlockUpdate::Ended
    }

    pub(super) fn begun(block: Block, number: u32, provider_metadata: Option<&Value>) -> Self {
        let ours = provider_metadata.and_then(|all| all.get(OURS));
        let transcript = ours.and_then(|ours| ours.get(TRANSCRIPT)?.as_str());
        let start = chunks::block_start(number, provider_metadata);
        let chunk = match block {
            Block::Text => Chunk::TextStart(start),
            Block::Reasoning => Chunk::ReasoningStart(start),
        };
        Self {
            block,
            update: BlockUpdate::Begun {
                is_user_speech: transcript == Some("input"),
            },
            chunk: Arc::new(chunk),
        }
    }

    pub(super) fn ended(block: Block, number: u32) -> Self {
        let chunk = match block {
            Block::Text => chunks::text_end(number),
            Block::Reasoning => chunks::reasoning_end(number),
        };
        Self {
            block,
            update: BlockUpdate::Ended,
            chunk: Arc::new(chunk),
        }
    }
}

/// Something that is shown whole.
#[derive(Debug, Clone, PartialEq)]
pub struct PartLine {
    pub(crate) part: ShownPart,
    pub(crate) chunk: Arc<Chunk>,
}

/// What is shown whole.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ShownPart {
    File,
    Source,
    Data {
        name: String,
        data: Value,
    },
    /// A user's message that was given to the agent in the middle of the turn.
    Message(Box<Message>),
}

impl PartLine {
    /// What the agent gave, if it is shown whole. `block` numbers the message's texts, reasonings and
    /// sources.
    pub(super) fn of_agent(part: Part, block: &mut u32) -> Option<Self> {
        let chunk = chunks::part(&part, block)?.into();
        let part = match part {
            Part::File { .. } => ShownPart::File,
            Part::Source { .. } | Part::Opaque { .. } => ShownPart::Source,
            Part::Data { name, data, .. } => ShownPart::Data {
                name,
                data: without_refused_keys(data),
            },
            _ => return None,
        };
        Some(Self { part, chunk })
    }

    pub(super) fn injected(message: Box<Message>) -> Self {
        let chunk = chunks::injected(&message).into();
        let part = ShownPart::Message(message);
        Self { part, chunk }
    }
}

/// Something that clients are shown about a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallLine {
    pub(crate) call: Arc<Call>,
    pub(crate) update: CallUpdate,
    pub(crate) chunk: Arc<Chunk>,
}

/// What clients are shown about a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CallUpdate {
    /// It is there, with its tool.
    Begun,
    /// Its input, so that no page runs it: it is held.
    InputShown,
    /// Its input, so that a page whose tool it is runs it.
    Announced,
    /// A person is asked about it.
    Asked(GateId),
    /// What was answered.
    Answered {
        gate: GateId,
        approved: bool,
        reason: Option<String>,
    },
    /// An output that is not final.
    Progressed(Value),
    /// It is over: as what it is shown, and what became of it.
    Settled(Settlement, Arc<Outcome>),
}

/// As what clients are shown a call that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settlement {
    Output,
    Error,
    /// A person said no.
    Denied,
    /// The model's input was wrong.
    Invalid,
}

impl CallLine {
    fn new(call: &Arc<Call>, update: CallUpdate, chunk: impl Into<Arc<Chunk>>) -> Self {
        Self {
            call: call.clone(),
            update,
            chunk: chunk.into(),
        }
    }

    pub(crate) fn begun(call: &Arc<Call>) -> Self {
        Self::new(call, CallUpdate::Begun, chunks::input_start(call))
    }

    pub(crate) fn input_shown(call: &Arc<Call>) -> Self {
        Self::new(call, CallUpdate::InputShown, chunks::input_delta(call))
    }

    pub(crate) fn announced(call: &Arc<Call>) -> Self {
        Self::new(call, CallUpdate::Announced, chunks::input_available(call))
    }

    /// The question of a gate, asked at its call or at a proxy of that.
    pub(crate) fn asked(call: &Arc<Call>, gate: &Gate, question: &str) -> Self {
        let chunk = chunks::approval_request(gate, call, question);
        Self::new(call, CallUpdate::Asked(gate.id.clone()), chunk)
    }

    /// What was answered to the question of a gate, if it was answered with a yes or a no.
    pub(super) fn answered(call: &Arc<Call>, gate: &Gate, decision: &Decision) -> Option<Self> {
        let response = chunks::approval_response(gate, decision)?;
        let update = CallUpdate::Answered {
            gate: gate.id.clone(),
            approved: response.approved,
            reason: response.reason.clone(),
        };
        Some(Self::new(call, update, Chunk::from(response)))
    }

    pub(super) fn progressed(call: &Arc<Call>, output: Value) -> Self {
        let chunk = chunks::progress(call, &output);
        Self::new(call, CallUpdate::Progressed(output), chunk)
    }

    pub(crate) fn settled(call: &Arc<Call>, outcome: Arc<Outcome>) -> Self {
        let settlement = match &*outcome {
            Outcome::Output { .. } | Outcome::Pending { .. } => Settlement::Output,
            Outcome::Invalid { .. } => Settlement::Invalid,
            // Not every refusal is a person's no.
            Outcome::Denied { .. } | Outcome::Error { .. } | Outcome::Unknown { .. } => {
                Settlement::Error
            }
        };
        let chunk = chunks::outcome(call, &outcome);
        Self::new(call, CallUpdate::Settled(settlement, outcome), chunk)
    }

    /// A call that a person said no to.
    pub(super) fn denied(call: &Arc<Call>, outcome: Arc<Outcome>) -> Self {
        let update = CallUpdate::Settled(Settlement::Denied, outcome);
        Self::new(call, update, chunks::denied(&call.id))
    }

    /// As what the call is over now, if it is.
    pub(crate) fn settlement(&self) -> Option<Settlement> {
        match &self.update {
            CallUpdate::Settled(settlement, _) => Some(*settlement),
            _ => None,
        }
    }

    /// Whether it says how far the call has come.
    pub(super) fn is_progress(&self) -> bool {
        matches!(self.update, CallUpdate::Progressed(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A transcript holds a line for every word, and so does each log of it.
    #[test]
    fn a_line_is_not_large() {
        let bytes = size_of::<Line>();
        assert!(bytes <= 16, "a line takes {bytes} bytes");
    }
}
