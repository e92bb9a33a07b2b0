//! Folds chunks into a message exactly as the client does.
//!
//! This is `processUIMessageStream` of the AI SDK, reimplemented: where it looks a call up, what it
//! overwrites, and at what it throws, with its own error messages. The checker of
//! `testkit` judges streams by it, and the UI message of a turn is made by the same fold that the page
//! uses.

mod tool;

use std::collections::HashMap;
use std::fmt;

use serde_json::{Map, Value};

use crate::chunk::{BlockDelta, BlockStart, Chunk, Data, FinishReason, InputEncoding};
use crate::message::{Message, Role};
use crate::part::{self, BlockState, Part};
use crate::tool_part::{ToolPart, ToolState};

/// Which major of the AI SDK is folded like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sdk {
    /// `ai@6`
    V6,
    /// `ai@7`
    V7,
}

/// Why the client throws, with its own message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamError(pub String);

impl fmt::Display for StreamError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for StreamError {}

/// What a chunk did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// Nothing that the page sees: a step's start shows only with what follows it.
    Quiet,
    /// The page sees the message as it now is.
    Written,
    /// The same, and the page's `onToolCall` is called.
    Called,
}

/// An assistant message that is being streamed.
#[derive(Debug, Clone)]
pub struct Assembler {
    sdk: Sdk,
    message: Message,
    /// How many parts the page has seen.
    visible: usize,
    texts: HashMap<String, usize>,
    reasonings: HashMap<String, usize>,
    inputs: HashMap<String, StreamingInput>,
    finish_reason: Option<FinishReason>,
}

/// A call whose input is being streamed.
#[derive(Debug, Clone)]
struct StreamingInput {
    text: String,
    encoding: Option<InputEncoding>,
    tool_name: String,
    dynamic: bool,
    title: Option<String>,
    tool_metadata: Option<Box<Map<String, Value>>>,
}

impl Assembler {
    /// A new message, with the id that it has until a `start` gives another.
    pub fn new(sdk: Sdk, id: impl Into<String>) -> Self {
        Self::continuing(sdk, Message::new(id, Role::Assistant, Vec::new()))
    }

    /// A message that an earlier window began.
    pub fn continuing(sdk: Sdk, message: Message) -> Self {
        let mut assembler = Self {
            sdk,
            visible: message.parts.len(),
            message,
            texts: HashMap::new(),
            reasonings: HashMap::new(),
            inputs: HashMap::new(),
            finish_reason: None,
        };
        let step = assembler.step_start();
        let streaming = assembler.message.parts[step..].iter();
        let streaming = streaming
            .filter_map(Part::as_tool)
            .filter(|part| part.state == ToolState::InputStreaming);
        assembler.inputs = streaming
            .map(|part| (part.tool_call_id.clone(), StreamingInput::of(part)))
            .collect();
        assembler
    }

    /// The message, with the parts that the page has not seen yet.
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// The message as the page sees it.
    pub fn visible(&self) -> Message {
        let mut message = self.message.clone();
        message.parts.truncate(self.visible);
        message
    }

    /// Why the model stopped, once a `finish` has said so.
    pub fn finish_reason(&self) -> Option<FinishReason> {
        self.finish_reason
    }

    /// The call of an id, as the client looks it up: in the open step, then in the whole message.
    pub fn call(&self, tool_call_id: &str) -> Option<&ToolPart> {
        let index = self.call_index(tool_call_id)?;
        self.message.parts[index].as_tool()
    }

    /// Changes the calls of the message, as the page's answers do in the middle of a stream.
    pub fn change_calls(&mut self, mut change: impl FnMut(&mut ToolPart)) {
        let parts = self.message.parts.iter_mut();
        parts.filter_map(Part::as_tool_mut).for_each(&mut change);
    }

    /// Starts over: a resumed stream replays the message from its beginning.
    pub fn reset(&mut self, id: Option<String>) {
        let id = id.or_else(|| self.message.id.take());
        *self = Self::new(self.sdk, id.unwrap_or_default());
    }

    /// Applies one chunk.
    pub fn apply(&mut self, chunk: &Chunk) -> Result<Applied, StreamError> {
        let applied = self.fold(chunk)?;
        if applied != Applied::Quiet {
            self.visible = self.message.parts.len();
        }
        Ok(applied)
    }

    fn fold(&mut self, chunk: &Chunk) -> Result<Applied, StreamError> {
        match chunk {
            Chunk::Start(start) => {
                let changed =
                    start.message_id.is_some() | self.merge(start.message_metadata.as_ref());
                if let Some(id) = &start.message_id {
                    self.message.id = Some(id.clone());
                }
                return Ok(if changed {
                    Applied::Written
                } else {
                    Applied::Quiet
                });
            }
            Chunk::Finish(finish) => {
                self.finish_reason = finish.finish_reason.or(self.finish_reason);
                let changed = self.merge(finish.message_metadata.as_ref());
                return Ok(if changed {
                    Applied::Written
                } else {
                    Applied::Quiet
                });
            }
            Chunk::MessageMetadata(metadata) => {
                let changed = self.merge(Some(&metadata.message_metadata));
                return Ok(if changed {
                    Applied::Written
                } else {
                    Applied::Quiet
                });
            }
            Chunk::Error(error) => return Err(StreamError(error.error_text.clone())),
            Chunk::Abort(_) => return Ok(Applied::Quiet),
            Chunk::StartStep => {
                self.push(Part::StepStart(part::StepStart::default()));
                return Ok(Applied::Quiet);
            }
            Chunk::FinishStep => {
                // 7 lets a block run on into the next step; 6 forgets the open ones.
                if self.sdk == Sdk::V6 {
                    self.texts.clear();
                    self.reasonings.clear();
                }
                return Ok(Applied::Quiet);
            }
            Chunk::ResetStep => return Ok(self.reset_step()),
            Chunk::Data(data) => return Ok(self.data(data)),

            Chunk::TextStart(start) => self.text_start(start),
            Chunk::TextDelta(delta) => {
                let text = self.open_text(&delta.id.to_str(), "text-delta")?;
                text.text.push_str(&delta.delta);
                replace(
                    &mut text.provider_metadata,
                    delta.provider_metadata.as_ref(),
                );
            }
            Chunk::TextEnd(end) => {
                let sdk = self.sdk;
                let text = self.open_text(&end.id, "text-end")?;
                text.state = Some(BlockState::Done);
                replace(&mut text.provider_metadata, end.provider_metadata.as_ref());
                if sdk == Sdk::V7 {
                    replace(&mut text.citations, end.citations.as_ref());
                }
                self.texts.remove(&end.id);
            }
            Chunk::ReasoningStart(start) => self.reasoning_start(start),
            Chunk::ReasoningDelta(delta) => self.reasoning_delta(delta)?,
            Chunk::ReasoningEnd(end) => {
                let reasoning = self.open_reasoning(&end.id, "reasoning-end")?;
                reasoning.state = Some(BlockState::Done);
                replace(
                    &mut reasoning.provider_metadata,
                    end.provider_metadata.as_ref(),
                );
                self.reasonings.remove(&end.id);
            }
            Chunk::Custom(custom) => self.push(Part::Custom(part::Custom {
                kind: custom.kind.clone(),
                provider_metadata: custom.provider_metadata.clone(),
                ..part::Custom::default()
            })),
            Chunk::File(file) => self.push(Part::File(part::File {
                media_type: file.media_type.clone(),
                url: file.url.clone(),
                provider_metadata: file.provider_metadata.clone(),
                ..part::File::default()
            })),
            Chunk::ReasoningFile(file) => self.push(Part::ReasoningFile(part::ReasoningFile {
                media_type: file.media_type.clone(),
                url: file.url.clone(),
                provider_metadata: file.provider_metadata.clone(),
                ..part::ReasoningFile::default()
            })),
            Chunk::SourceUrl(source) => self.push(Part::SourceUrl(part::SourceUrl {
                source_id: source.source_id.clone(),
                url: source.url.clone(),
                title: source.title.clone(),
                provider_metadata: source.provider_metadata.clone(),
                ..part::SourceUrl::default()
            })),
            Chunk::SourceDocument(source) => {
                self.push(Part::SourceDocument(part::SourceDocument {
                    source_id: source.source_id.clone(),
                    media_type: source.media_type.clone(),
                    title: source.title.clone(),
                    filename: source.filename.clone(),
                    provider_metadata: source.provider_metadata.clone(),
                    ..part::SourceDocument::default()
                }));
            }
            Chunk::SteeringMessage(steering) => {
                self.push(Part::SteeringMessage(part::SteeringMessage {
                    id: steering.id.clone(),
                    parts: steering.parts.clone(),
                    ..part::SteeringMessage::default()
                }));
            }

            Chunk::ToolInputStart(start) => self.input_start(start),
            Chunk::ToolInputDelta(delta) => self.input_delta(delta)?,
            Chunk::ToolInputAvailable(available) => {
                self.input_available(available);
                if available.provider_executed != Some(true) {
                    return Ok(Applied::Called);
                }
            }
            Chunk::ToolInputError(error) => self.input_error(error),
            Chunk::ToolApprovalRequest(request) => self.approval_request(request)?,
            Chunk::ToolApprovalResponse(response) => self.approval_response(response)?,
            Chunk::ToolOutputAvailable(available) => self.output_available(available)?,
            Chunk::ToolOutputError(error) => self.output_error(error)?,
            Chunk::ToolOutputDenied(denied) => {
                self.call_mut(&denied.tool_call_id)?.state = ToolState::OutputDenied;
            }
        }
        Ok(Applied::Written)
    }

    fn push(&mut self, part: Part) {
        self.message.parts.push(part);
    }

    /// Where the parts of the open step start.
    fn step_start(&self) -> usize {
        let parts = self.message.parts.iter();
        let last = parts
            .enumerate()
            .rfind(|(_, part)| matches!(part, Part::StepStart(_)));
        last.map_or(0, |(index, _)| index + 1)
    }

    fn merge(&mut self, metadata: Option<&Value>) -> bool {
        let Some(metadata) = metadata.filter(|metadata| !metadata.is_null()) else {
            return false;
        };
        match &mut self.message.metadata {
            Some(base) => merge(base, metadata),
            base => *base = Some(metadata.clone()),
        }
        true
    }

    fn reset_step(&mut self) -> Applied {
        self.texts.clear();
        self.reasonings.clear();
        self.inputs.clear();
        let step = self.step_start();
        if step == self.message.parts.len() {
            return Applied::Quiet;
        }
        self.message.parts.truncate(step);
        Applied::Written
    }

    fn data(&mut self, data: &Data) -> Applied {
        if data.transient == Some(true) {
            return Applied::Quiet;
        }
        let same = |part: &&mut Part| match part {
            Part::Data(part) => part.name == data.name && part.id == data.id,
            _ => false,
        };
        let known = data.id.as_ref();
        let known = known.and_then(|_| self.message.parts.iter_mut().find(same));
        if let Some(Part::Data(part)) = known {
            part.data = data.data.clone();
        } else {
            let mut extra = data.extra.clone();
            if let Some(transient) = data.transient {
                extra.insert("transient".to_owned(), transient.into());
            }
            self.push(Part::Data(part::Data {
                name: data.name.clone(),
                id: data.id.clone(),
                data: data.data.clone(),
                extra,
            }));
        }
        Applied::Written
    }

    fn text_start(&mut self, start: &BlockStart) {
        self.texts
            .insert(start.id.clone(), self.message.parts.len());
        self.push(Part::Text(part::Text {
            state: Some(BlockState::Streaming),
            provider_metadata: start.provider_metadata.clone(),
            ..part::Text::default()
        }));
    }

    fn reasoning_start(&mut self, start: &BlockStart) {
        self.reasonings
            .insert(start.id.clone(), self.message.parts.len());
        self.push(Part::Reasoning(part::Reasoning {
            id: Some(start.id.clone()),
            state: Some(BlockState::Streaming),
            provider_metadata: start.provider_metadata.clone(),
            ..part::Reasoning::default()
        }));
    }

    fn reasoning_delta(&mut self, delta: &BlockDelta) -> Result<(), StreamError> {
        let reasoning = self.open_reasoning(&delta.id.to_str(), "reasoning-delta")?;
        reasoning.text.push_str(&delta.delta);
        replace(
            &mut reasoning.provider_metadata,
            delta.provider_metadata.as_ref(),
        );
        Ok(())
    }

    fn open_text(&mut self, id: &str, chunk: &str) -> Result<&mut part::Text, StreamError> {
        let index = self.texts.get(id).copied();
        match index.map(|index| &mut self.message.parts[index]) {
            Some(Part::Text(text)) => Ok(text),
            _ => Err(missing_block("text", id, chunk)),
        }
    }

    fn open_reasoning(
        &mut self,
        id: &str,
        chunk: &str,
    ) -> Result<&mut part::Reasoning, StreamError> {
        let index = self.reasonings.get(id).copied();
        match index.map(|index| &mut self.message.parts[index]) {
            Some(Part::Reasoning(reasoning)) => Ok(reasoning),
            _ => Err(missing_block("reasoning", id, chunk)),
        }
    }
}

fn missing_block(kind: &str, id: &str, chunk: &str) -> StreamError {
    StreamError(format!(
        "Received {chunk} for missing {kind} part with ID \"{id}\". \
         Ensure a \"{kind}-start\" chunk is sent before any \"{chunk}\" chunks."
    ))
}

/// What is said replaces, and what is not said stays.
fn replace<T: Clone>(slot: &mut Option<T>, newer: Option<&T>) {
    if let Some(newer) = newer {
        *slot = Some(newer.clone());
    }
}

/// Objects are merged key by key, to any depth; anything else is replaced.
fn merge(base: &mut Value, newer: &Value) {
    match (base, newer) {
        (Value::Object(base), Value::Object(newer)) => {
            for (key, value) in newer {
                match base.get_mut(key) {
                    Some(base) if base.is_object() && value.is_object() => merge(base, value),
                    _ => {
                        base.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (base, newer) => *base = newer.clone(),
    }
}
