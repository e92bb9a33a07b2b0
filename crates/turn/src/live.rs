//! The step that is running: what the model has said of it so far, which no journal has yet.

use std::iter::Peekable;
use std::time::Duration;

use serde_json::Value;

use crate::agent::{AgentEvent, Part, Said};
use crate::call::Place;
use crate::reason;
use crate::said::Item;

/// Whose metadata a page is told.
pub const OURS: &str = "adkStream";

/// The name under which, among what is ours, a call has the path to the agent that made it.
pub const PATH: &str = "path";

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
    Text,
    Reasoning,
}

/// A block that is open.
pub(crate) struct More<'a> {
    open: Open,
    text: &'a mut String,
}

impl More<'_> {
    /// Takes the next word in, if it is one of this block.
    pub(crate) fn take(
        &mut self,
        said: &mut Peekable<impl Iterator<Item = Said>>,
    ) -> Option<String> {
        let is_more = |said: &Said| match (self.open, said) {
            (Open::Text, Said::Text(word)) | (Open::Reasoning, Said::Reasoning(word)) => {
                !word.is_empty()
            }
            _ => false,
        };
        let (Said::Text(word) | Said::Reasoning(word)) = said.next_if(is_more)? else {
            return None;
        };
        self.text.push_str(&word);
        Some(word)
    }
}

impl Live {
    /// Takes an event in: what is said of it at once.
    pub(crate) fn take(&mut self, event: AgentEvent, ruling: Option<Ruling>) -> Vec<Item> {
        match event {
            AgentEvent::Text {
                delta,
                provider_metadata,
            } => self.word(Open::Text, delta, provider_metadata),
            AgentEvent::Reasoning {
                delta,
                provider_metadata,
            } => self.word(Open::Reasoning, delta, provider_metadata),
            AgentEvent::PartEnd => self.close().into_iter().collect(),
            AgentEvent::Call {
                provider_id,
                tool,
                input,
                provider_metadata,
            } => {
                let closed = self.close();
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
                closed.into_iter().collect()
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
                let closed = self.close();
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
                closed.into_iter().collect()
            }
            AgentEvent::OpenCall {
                provider_id,
                tool,
                input,
                provider_metadata,
            } => {
                let closed = self.close();
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
                closed.into_iter().collect()
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
                self.whole(file)
            }
            AgentEvent::Opaque(content) => self.whole(Part::Opaque { content }),
            AgentEvent::Source { url, title } => self.whole(Part::Source { url, title }),
            AgentEvent::Data { name, data } => self.whole(Part::Data { name, data }),
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
                let reason = reason::CANCELLED.to_owned();
                made.ruling.verdict = Verdict::Deny { reason };
            }
        }
    }

    /// Closes the block that is open.
    pub(crate) fn close(&mut self) -> Option<Item> {
        self.open.take().map(|_| Item::BlockEnded)
    }

    /// More of a text or reasoning, of a new one if none of its kind is open.
    fn word(&mut self, kind: Open, delta: String, provider_metadata: Option<Value>) -> Vec<Item> {
        let mut items = Vec::new();
        if self.open != Some(kind) {
            items.extend(self.close());
            self.open = Some(kind);
            let (text, metadata) = (String::new(), provider_metadata.clone());
            let (part, begun) = match kind {
                Open::Text => (
                    Part::Text {
                        text,
                        provider_metadata: None,
                    },
                    Item::TextBegun {
                        provider_metadata: metadata,
                    },
                ),
                Open::Reasoning => (
                    Part::Reasoning {
                        text,
                        provider_metadata: None,
                    },
                    Item::ReasoningBegun {
                        provider_metadata: metadata,
                    },
                ),
            };
            self.parts.push(Piece::Part(part));
            items.push(begun);
        }
        self.grow(&delta, provider_metadata);
        if !delta.is_empty() {
            items.push(Item::Words(delta));
        }
        items
    }

    fn whole(&mut self, part: Part) -> Vec<Item> {
        let mut items: Vec<_> = self.close().into_iter().collect();
        if !matches!(part, Part::Opaque { .. }) {
            items.push(Item::Part(Box::new(part.clone())));
        }
        self.parts.push(Piece::Part(part));
        items
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

/// What is said of a part that is read back from the journal.
pub(crate) fn said(part: &Part) -> Vec<Item> {
    let (begun, text) = match part {
        Part::Text {
            text,
            provider_metadata,
        } => {
            let provider_metadata = provider_metadata.clone();
            (Item::TextBegun { provider_metadata }, text)
        }
        Part::Reasoning {
            text,
            provider_metadata,
        } => {
            let provider_metadata = provider_metadata.clone();
            (Item::ReasoningBegun { provider_metadata }, text)
        }
        Part::Call { .. } | Part::Opaque { .. } => return Vec::new(),
        part => return vec![Item::Part(Box::new(part.clone()))],
    };
    let words = (!text.is_empty()).then(|| Item::Words(text.clone()));
    let items = [Some(begun), words, Some(Item::BlockEnded)];
    items.into_iter().flatten().collect()
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
pub fn merge(all: &mut Option<Value>, newer: Value) {
    match (all, newer) {
        (Some(Value::Object(all)), Value::Object(newer)) => all.extend(newer),
        (all, newer) => *all = Some(newer),
    }
}
