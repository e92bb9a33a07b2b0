//! The step that is running: what the model has said of it so far, which no journal has yet.

use std::iter::Peekable;
use std::time::Duration;

use serde_json::Value;
use wire::Chunk;
use wire::chunk::{BlockDelta, BlockStart, Data, File, ReasoningEnd, SourceUrl, TextEnd};
use wire::metadata::ProviderMetadata;

use crate::agent::{AgentEvent, Part, Said};
use crate::call::Place;
use crate::telling;

/// Whose metadata a page is told.
pub const OURS: &str = "adkStream";

/// Among ours, of a text: whose speech it is a transcript of, `input` or `output`.
pub const TRANSCRIPT: &str = "transcript";

/// What the engine's tools and policies say of a call that the model makes.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruling {
    /// Where it runs.
    pub place: Place,
    /// Whether it may.
    pub verdict: Verdict,
    /// How long its gate waits: for ever, if nothing is said.
    pub timeout: Option<Duration>,
}

/// Whether a call may run.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It may.
    Allow,
    /// A person is to be asked.
    Ask {
        /// What.
        question: String,
    },
    /// It may not.
    Deny {
        /// Why.
        reason: String,
    },
    /// Its input is not one that the tool takes, or there is no such tool.
    Invalid {
        /// What is wrong.
        error: String,
    },
}

/// A call that the model made in the running step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Made {
    pub(crate) provider_id: Option<String>,
    pub(crate) tool: String,
    pub(crate) input: Value,
    pub(crate) provider_metadata: Option<Value>,
    pub(crate) ruling: Ruling,
    /// What an agent that asks wants back with the answer.
    pub(crate) token: Option<Value>,
    /// Whether the agent will say later who runs it.
    pub(crate) is_open: bool,
}

/// The running step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Live {
    /// What was said, but for the calls, which stand apart.
    pub(crate) parts: Vec<Piece>,
    pub(crate) calls: Vec<Made>,
    pub(crate) metadata: Option<Value>,
    pub(crate) session: Option<Value>,
    /// Whether clients were told that it has begun.
    pub(crate) is_begun: bool,
    open: Option<Open>,
}

/// A part that was said, or the place of a call among them.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a step has few parts, and nearly all of them are said"
)]
pub(crate) enum Piece {
    Part(Part),
    Call(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Text(u32),
    Reasoning(u32),
}

/// A block that is open.
pub(crate) struct More<'a> {
    open: Open,
    text: &'a mut String,
}

impl More<'_> {
    /// Takes the next word in, if it is one of this block: the chunk that clients are told.
    pub(crate) fn take(
        &mut self,
        said: &mut Peekable<impl Iterator<Item = Said>>,
    ) -> Option<Chunk> {
        let is_more = |said: &Said| match (self.open, said) {
            (Open::Text(_), Said::Text(word)) | (Open::Reasoning(_), Said::Reasoning(word)) => {
                !word.is_empty()
            }
            _ => false,
        };
        let (Said::Text(word) | Said::Reasoning(word)) = said.next_if(is_more)? else {
            return None;
        };
        self.text.push_str(&word);
        Some(match self.open {
            Open::Text(block) => Chunk::TextDelta(delta_of(block, word)),
            Open::Reasoning(block) => Chunk::ReasoningDelta(delta_of(block, word)),
        })
    }
}

impl Live {
    /// Takes an event in: the chunks that clients are told at once. `block` numbers the message's
    /// texts, reasonings and sources.
    pub(crate) fn take(
        &mut self,
        event: AgentEvent,
        ruling: Option<Ruling>,
        block: &mut u32,
    ) -> Vec<Chunk> {
        match event {
            AgentEvent::Text {
                delta,
                provider_metadata,
            } => {
                let mut chunks = Vec::new();
                if !matches!(self.open, Some(Open::Text(_))) {
                    chunks.extend(self.close());
                    *block += 1;
                    self.open = Some(Open::Text(*block));
                    self.parts.push(Piece::Part(Part::Text {
                        text: String::new(),
                        provider_metadata: None,
                    }));
                    let start = start(*block, provider_metadata.as_ref());
                    chunks.push(Chunk::TextStart(start));
                }
                self.grow(&delta, provider_metadata);
                chunks.extend(more(*block, delta).map(Chunk::TextDelta));
                chunks
            }
            AgentEvent::Reasoning {
                delta,
                provider_metadata,
            } => {
                let mut chunks = Vec::new();
                if !matches!(self.open, Some(Open::Reasoning(_))) {
                    chunks.extend(self.close());
                    *block += 1;
                    self.open = Some(Open::Reasoning(*block));
                    self.parts.push(Piece::Part(Part::Reasoning {
                        text: String::new(),
                        provider_metadata: None,
                    }));
                    let start = start(*block, provider_metadata.as_ref());
                    chunks.push(Chunk::ReasoningStart(start));
                }
                self.grow(&delta, provider_metadata);
                chunks.extend(more(*block, delta).map(Chunk::ReasoningDelta));
                chunks
            }
            AgentEvent::PartEnd => self.close().into_iter().collect(),
            AgentEvent::Call {
                provider_id,
                tool,
                input,
                provider_metadata,
            } => {
                let chunks = self.close();
                self.parts.push(Piece::Call(self.calls.len()));
                self.calls.push(Made {
                    provider_id,
                    ruling: ruling.unwrap_or_else(|| unknown(&tool)),
                    tool,
                    input,
                    provider_metadata,
                    token: None,
                    is_open: false,
                });
                chunks.into_iter().collect()
            }
            AgentEvent::OwnCall {
                provider_id,
                tool,
                input,
                provider_metadata,
                place,
                asks,
            } => {
                let (question, token) = asks.map(|asks| (asks.question, asks.token)).unzip();
                let is_asked = question.is_some();
                let timeout = ruling.and_then(|ruling| ruling.timeout);
                let chunks = self.close();
                self.parts.push(Piece::Call(self.calls.len()));
                self.calls.push(Made {
                    provider_id: Some(provider_id),
                    tool,
                    input,
                    provider_metadata,
                    ruling: Ruling {
                        place,
                        verdict: match question {
                            Some(question) => Verdict::Ask { question },
                            None => Verdict::Allow,
                        },
                        // A page that is asked nothing has all the time.
                        timeout: timeout.filter(|_| is_asked),
                    },
                    token: token.flatten(),
                    is_open: false,
                });
                chunks.into_iter().collect()
            }
            AgentEvent::OpenCall {
                provider_id,
                tool,
                input,
                provider_metadata,
            } => {
                let chunks = self.close();
                self.parts.push(Piece::Call(self.calls.len()));
                self.calls.push(Made {
                    provider_id: Some(provider_id),
                    tool,
                    input,
                    provider_metadata,
                    ruling: Ruling {
                        place: Place::Client,
                        verdict: Verdict::Allow,
                        timeout: None,
                    },
                    token: None,
                    is_open: true,
                });
                chunks.into_iter().collect()
            }
            AgentEvent::File {
                url,
                media_type,
                provider_metadata,
            } => {
                let file = Part::File {
                    url,
                    media_type,
                    provider_metadata,
                };
                self.whole(file, block)
            }
            AgentEvent::Opaque(content) => self.whole(Part::Opaque { content }, block),
            AgentEvent::Source { url, title } => self.whole(Part::Source { url, title }, block),
            AgentEvent::Data { name, data } => self.whole(Part::Data { name, data }, block),
            AgentEvent::Metadata(metadata) => {
                merge(&mut self.metadata, metadata);
                Vec::new()
            }
            AgentEvent::Session(session) => {
                self.session = Some(session);
                Vec::new()
            }
            AgentEvent::Cancelled { provider_ids } => {
                self.cancel(&provider_ids);
                Vec::new()
            }
            AgentEvent::Signal { .. }
            | AgentEvent::Asks { .. }
            | AgentEvent::Waits { .. }
            | AgentEvent::Settled { .. } => Vec::new(),
            AgentEvent::Ended(_) | AgentEvent::Failed { .. } => self.close().into_iter().collect(),
        }
    }

    /// The block that is open, to be told more.
    pub(crate) fn more(&mut self) -> Option<More<'_>> {
        let open = self.open?;
        match self.parts.last_mut()? {
            Piece::Part(Part::Text { text, .. } | Part::Reasoning { text, .. }) => {
                Some(More { open, text })
            }
            _ => None,
        }
    }

    /// Takes back calls that nothing was done about yet.
    fn cancel(&mut self, provider_ids: &[String]) {
        for made in &mut self.calls {
            let id = made.provider_id.as_ref();
            if id.is_some_and(|id| provider_ids.contains(id)) {
                let reason = telling::CANCELLED.to_owned();
                made.ruling.verdict = Verdict::Deny { reason };
            }
        }
    }

    /// Closes the block that is open.
    pub(crate) fn close(&mut self) -> Option<Chunk> {
        Some(match self.open.take()? {
            Open::Text(block) => Chunk::from(TextEnd {
                id: block.to_string(),
                ..TextEnd::default()
            }),
            Open::Reasoning(block) => Chunk::ReasoningEnd(ReasoningEnd {
                id: block.to_string(),
                ..ReasoningEnd::default()
            }),
        })
    }

    fn whole(&mut self, part: Part, block: &mut u32) -> Vec<Chunk> {
        let mut chunks: Vec<_> = self.close().into_iter().collect();
        chunks.extend(whole(&part, block));
        self.parts.push(Piece::Part(part));
        chunks
    }

    fn grow(&mut self, delta: &str, metadata: Option<Value>) {
        if let Some(Piece::Part(
            Part::Text {
                text,
                provider_metadata,
            }
            | Part::Reasoning {
                text,
                provider_metadata,
            },
        )) = self.parts.last_mut()
        {
            text.push_str(delta);
            if metadata.is_some() {
                *provider_metadata = metadata;
            }
        }
    }
}

/// The chunks of a part that is told whole, as it is when a turn is read back from the journal.
pub(crate) fn told(part: &Part, block: &mut u32) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    match part {
        Part::Text {
            text,
            provider_metadata,
        } => {
            *block += 1;
            let start = start(*block, provider_metadata.as_ref());
            chunks.push(Chunk::TextStart(start));
            chunks.extend(more(*block, text.clone()).map(Chunk::TextDelta));
            chunks.push(Chunk::from(TextEnd {
                id: block.to_string(),
                ..TextEnd::default()
            }));
        }
        Part::Reasoning {
            text,
            provider_metadata,
        } => {
            *block += 1;
            let start = start(*block, provider_metadata.as_ref());
            chunks.push(Chunk::ReasoningStart(start));
            chunks.extend(more(*block, text.clone()).map(Chunk::ReasoningDelta));
            chunks.push(Chunk::ReasoningEnd(ReasoningEnd {
                id: block.to_string(),
                ..ReasoningEnd::default()
            }));
        }
        Part::Call { .. } => {}
        part => chunks.extend(whole(part, block)),
    }
    chunks
}

fn whole(part: &Part, block: &mut u32) -> Option<Chunk> {
    Some(match part {
        Part::File {
            url, media_type, ..
        } => Chunk::from(File {
            url: url.clone(),
            media_type: media_type.clone(),
            provider_metadata: None,
        }),
        Part::Source { url, title } => {
            *block += 1;
            Chunk::from(SourceUrl {
                source_id: format!("source-{block}"),
                url: url.clone(),
                title: title.clone(),
                provider_metadata: None,
            })
        }
        Part::Data { name, data } => Chunk::from(Data {
            name: name.clone(),
            data: wire::prototype::without_refused_keys(data.clone()),
            ..Data::default()
        }),
        Part::Text { .. } | Part::Reasoning { .. } | Part::Call { .. } | Part::Opaque { .. } => {
            return None;
        }
    })
}

/// What a provider says of a part is between it and the agent; what is ours is for the page.
fn start(block: u32, provider_metadata: Option<&Value>) -> BlockStart {
    let ours = provider_metadata.and_then(|all| all.get(OURS)?.as_object());
    BlockStart {
        id: block.to_string(),
        provider_metadata: ours.map(|ours| ProviderMetadata::of(OURS, ours.clone())),
    }
}

fn more(block: u32, delta: String) -> Option<BlockDelta> {
    (!delta.is_empty()).then(|| delta_of(block, delta))
}

fn delta_of(block: u32, delta: String) -> BlockDelta {
    BlockDelta {
        id: block.into(),
        delta: delta.into(),
        provider_metadata: None,
    }
}

fn unknown(tool: &str) -> Ruling {
    Ruling {
        place: Place::Server,
        verdict: Verdict::Invalid {
            error: format!("there is no tool {tool}"),
        },
        timeout: None,
    }
}

/// Later metadata is laid over earlier, key by key.
pub(crate) fn merge(all: &mut Option<Value>, newer: Value) {
    match (all, newer) {
        (Some(Value::Object(all)), Value::Object(newer)) => all.extend(newer),
        (all, newer) => *all = Some(newer),
    }
}
