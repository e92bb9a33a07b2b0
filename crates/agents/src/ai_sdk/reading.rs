//! The chunks of a UI message stream, as what an agent says.
//!
//! They are read leniently: a chunk of a type that is not known is kept, and one that a client would
//! throw at is used as far as it can be.

use serde_json::{Value, json};
use turn::agent::AgentEvent;
use turn::event::Finish;
use turn::metadata::{self, OURS};

use super::call_chunk::CallChunks;
use super::{KEPT, PROVIDER, messages};
use crate::model::failure::with;
use crate::model::{Failure, Redactor};
use crate::upstream::{Reader, RunEvent};

/// Reads the chunks of one stream.
#[derive(Default)]
pub(super) struct Reading {
    redactor: Redactor,
    /// The text or reasoning that is being said.
    block: Option<Block>,
    calls: CallChunks,
    message_id: Option<String>,
    metadata: Option<Value>,
    /// Whether the message has an id or metadata that no step has yet.
    is_message_new: bool,
    /// Data that later data of the same name and id replaces.
    data: Vec<IdentifiedData>,
    is_in_step: bool,
    is_finished: bool,
}

struct Block {
    kind: BlockKind,
    id: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Text,
    Reasoning,
}

struct IdentifiedData {
    name: String,
    id: String,
    data: Value,
}

impl Reading {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            ..Self::default()
        }
    }

    fn chunk(
        &mut self,
        kind: &str,
        chunk: &Value,
        said: &mut Vec<RunEvent>,
    ) -> Result<(), Failure> {
        use BlockKind::{Reasoning, Text};
        match kind {
            "text-start" => self.begin(Text, chunk, said),
            "text-delta" => self.grow(Text, chunk, said),
            "text-end" => self.close(Text, chunk, said),
            "reasoning-start" => self.begin(Reasoning, chunk, said),
            "reasoning-delta" => self.grow(Reasoning, chunk, said),
            "reasoning-end" => self.close(Reasoning, chunk, said),
            "start" | "message-metadata" => self.note_message(chunk, said),
            "finish" => {
                self.note_message(chunk, said);
                self.end_step(said);
                self.is_finished = true;
                said.push(RunEvent::Finish(finish(text(chunk, "finishReason"))));
            }
            "start-step" => self.is_in_step = true,
            "finish-step" => {
                self.is_in_step = false;
                self.end_step(said);
                said.push(RunEvent::StepEnd);
            }
            // Words that were said stay said; of calls nothing is known outside yet.
            "reset-step" => said.push(RunEvent::Retract),
            "file" => said.extend(self.file(chunk)),
            "source-url" => said.extend(source(chunk)),
            "error" => {
                let words = self
                    .redactor
                    .words(text(chunk, "errorText").unwrap_or_default());
                return Err(Failure::new(
                    "agent_failed",
                    with("The agent failed", &words),
                ));
            }
            "abort" => {
                let words = self
                    .redactor
                    .words(text(chunk, "reason").unwrap_or_default());
                let message = with("The agent stopped before its answer was complete", &words);
                return Err(Failure::new("agent_failed", message));
            }
            kind if kind.starts_with("tool-") => {
                if !self.calls.take(kind, chunk, said) {
                    said.push(kept(chunk));
                }
            }
            kind => match kind.strip_prefix("data-") {
                Some(name) => self.take_data(name, chunk, said),
                None => said.push(kept(chunk)),
            },
        }
        Ok(())
    }

    fn begin(&mut self, kind: BlockKind, chunk: &Value, said: &mut Vec<RunEvent>) {
        if self.block.is_some() {
            said.push(RunEvent::Output(AgentEvent::PartEnd));
        }
        let id = text(chunk, "id").unwrap_or_default().to_owned();
        self.block = Some(Block { kind, id });
        self.say(kind, "", chunk, said);
    }

    fn grow(&mut self, kind: BlockKind, chunk: &Value, said: &mut Vec<RunEvent>) {
        self.enter(kind, chunk, said);
        let delta = text(chunk, "delta").unwrap_or_default();
        self.say(kind, delta, chunk, said);
    }

    fn close(&mut self, kind: BlockKind, chunk: &Value, said: &mut Vec<RunEvent>) {
        self.enter(kind, chunk, said);
        self.say(kind, "", chunk, said);
        self.block = None;
        said.push(RunEvent::Output(AgentEvent::PartEnd));
    }

    /// Goes to the block that a chunk is of. Several may be open, and are said one after the other.
    fn enter(&mut self, kind: BlockKind, chunk: &Value, said: &mut Vec<RunEvent>) {
        let id = text(chunk, "id").unwrap_or_default();
        let is_open = |block: &Block| block.kind == kind && block.id == id;
        if !self.block.as_ref().is_some_and(is_open) {
            if self.block.is_some() {
                said.push(RunEvent::Output(AgentEvent::PartEnd));
            }
            let id = id.to_owned();
            self.block = Some(Block { kind, id });
        }
    }

    /// Says words, if there are any, or something is said of them.
    fn say(&self, kind: BlockKind, delta: &str, chunk: &Value, said: &mut Vec<RunEvent>) {
        let provider_metadata = provider_metadata(chunk);
        if delta.is_empty() && provider_metadata.is_none() {
            return;
        }
        let delta = delta.to_owned();
        said.push(RunEvent::Output(match kind {
            BlockKind::Text => AgentEvent::Text {
                delta,
                provider_metadata,
            },
            BlockKind::Reasoning => AgentEvent::Reasoning {
                delta,
                provider_metadata,
            },
        }));
    }

    fn file(&self, chunk: &Value) -> Option<RunEvent> {
        Some(RunEvent::Output(AgentEvent::File {
            url: text(chunk, "url")?.to_owned(),
            media_type: text(chunk, "mediaType")?.to_owned(),
            provider_metadata: provider_metadata(chunk),
        }))
    }

    /// Data that has an id is shown at once to who watches, and becomes a part with its step, in its last
    /// form.
    fn take_data(&mut self, name: &str, chunk: &Value, said: &mut Vec<RunEvent>) {
        let data = chunk.get("data").cloned().unwrap_or_default();
        let name = name.to_owned();
        let is_transient = chunk.get("transient") == Some(&Value::Bool(true));
        match text(chunk, "id") {
            _ if is_transient => said.push(RunEvent::Output(AgentEvent::Signal { name, data })),
            None => said.push(RunEvent::Output(AgentEvent::Data {
                name,
                id: None,
                data,
            })),
            Some(id) => {
                let signal = AgentEvent::Signal {
                    name: name.clone(),
                    data: data.clone(),
                };
                said.push(RunEvent::Output(signal));
                let mut known = self.data.iter_mut();
                match known.find(|known| known.name == name && known.id == id) {
                    Some(known) => known.data = data,
                    None => self.data.push(IdentifiedData {
                        name,
                        id: id.to_owned(),
                        data,
                    }),
                }
            }
        }
    }

    fn note_message(&mut self, chunk: &Value, said: &mut Vec<RunEvent>) {
        if let Some(id) = text(chunk, "messageId") {
            self.is_message_new |= self.message_id.as_deref() != Some(id);
            self.message_id = Some(id.to_owned());
        }
        let metadata = chunk.get("messageMetadata").and_then(Value::as_object);
        if let Some(metadata) = metadata {
            let mut metadata = metadata.clone();
            // What is ours the route has from us, if it has it.
            metadata.shift_remove(OURS);
            self.is_message_new = true;
            metadata::merge(&mut self.metadata, metadata.clone().into());
            said.push(RunEvent::Output(AgentEvent::Metadata(metadata.into())));
        }
    }

    /// Says what belongs to the step and waits for its end.
    fn end_step(&mut self, said: &mut Vec<RunEvent>) {
        for IdentifiedData { name, id, data } in std::mem::take(&mut self.data) {
            let id = Some(id);
            said.push(RunEvent::Output(AgentEvent::Data { name, id, data }));
        }
        if std::mem::take(&mut self.is_message_new) {
            let message =
                messages::kept_message(self.message_id.as_deref(), self.metadata.as_ref());
            said.push(RunEvent::Output(AgentEvent::Opaque(message)));
        }
    }
}

impl Reader for Reading {
    fn take(&mut self, data: &str, said: &mut Vec<RunEvent>) -> Result<(), Failure> {
        if data == wire::sse::DONE {
            return Ok(());
        }
        let unreadable = |why: &str| PROVIDER.unreadable(why);
        let chunk: Value =
            serde_json::from_str(data).map_err(|_| unreadable("one of its chunks is not JSON"))?;
        let kind =
            text(&chunk, "type").ok_or_else(|| unreadable("one of its chunks has no type"))?;
        self.chunk(kind, &chunk, said)
    }

    fn end(&mut self, said: &mut Vec<RunEvent>) -> Result<(), Failure> {
        self.end_step(said);
        match !self.is_finished && (self.is_in_step || self.block.is_some()) {
            true => Err(PROVIDER.cut_off()),
            false => Ok(()),
        }
    }
}

/// A chunk that no client of ours is shown.
fn kept(chunk: &Value) -> RunEvent {
    RunEvent::Output(AgentEvent::Opaque(json!({ KEPT: chunk })))
}

fn source(chunk: &Value) -> Option<RunEvent> {
    Some(RunEvent::Output(AgentEvent::Source {
        url: text(chunk, "url")?.to_owned(),
        title: text(chunk, "title").map(str::to_owned),
    }))
}

fn provider_metadata(chunk: &Value) -> Option<Value> {
    let metadata = chunk.get("providerMetadata")?;
    Some(json!({ KEPT: metadata }))
}

pub(super) fn text<'a>(chunk: &'a Value, field: &str) -> Option<&'a str> {
    chunk.get(field)?.as_str()
}

fn finish(reason: Option<&str>) -> Finish {
    match reason {
        None | Some("stop" | "tool-calls") => Finish::Stop,
        Some("length") => Finish::Length,
        Some("content-filter") => Finish::ContentFilter,
        Some("error") => Finish::Error,
        Some(_) => Finish::Other,
    }
}

#[cfg(test)]
mod tests;
