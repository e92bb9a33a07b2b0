//! The step that is running: what the model has said of it so far, which no journal has yet.

use std::vec::IntoIter;

use serde_json::Value;

use crate::agent::{AgentEvent, CompactEvent, Part};
use crate::call::Place;
use crate::item::Item;
use crate::limits::MAX_CALLS;
use crate::metadata::merge;
use crate::policy::{PolicyDecision, Verdict};
use crate::reason;
use crate::time::At;

/// A call that the model made in the running step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProposedCall {
    pub(crate) provider_id: Option<String>,
    pub(crate) tool: String,
    pub(crate) input: Value,
    pub(crate) provider_metadata: Option<Value>,
    pub(crate) policy: PolicyDecision,
    /// What an agent that asks wants back with the answer.
    pub(crate) token: Option<Value>,
    /// When an agent that asks does not wait any more.
    pub(crate) expires: Option<At>,
    /// Whether the agent will say later who runs it.
    pub(crate) is_open: bool,
}

/// The running step.
#[derive(Debug, Clone, Default)]
pub(crate) struct StepInProgress {
    /// What was said, but for the calls, which are kept apart.
    pub(crate) parts: Vec<Piece>,
    pub(crate) calls: Vec<ProposedCall>,
    pub(crate) metadata: Option<Value>,
    pub(crate) session: Option<Value>,
    /// Whether clients were shown that it has begun.
    pub(crate) is_begun: bool,
    /// How many of the calls may wait for somebody, or run here.
    counted_calls: usize,
    open: Option<BlockKind>,
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
enum BlockKind {
    Text,
    Reasoning,
}

/// A block that is open.
pub(crate) struct OpenBlock<'a> {
    open: BlockKind,
    text: &'a mut String,
}

impl OpenBlock<'_> {
    /// Takes the next delta in, if it is one of this block.
    pub(crate) fn take(&mut self, events: &mut IntoIter<CompactEvent>) -> Option<String> {
        match (self.open, events.as_slice().first()?) {
            (BlockKind::Text, CompactEvent::Text(delta))
            | (BlockKind::Reasoning, CompactEvent::Reasoning(delta))
                if !delta.is_empty() => {}
            _ => return None,
        }
        let (CompactEvent::Text(delta) | CompactEvent::Reasoning(delta)) = events.next()? else {
            return None;
        };
        self.text.push_str(&delta);
        Some(delta)
    }
}

impl StepInProgress {
    /// Takes an event in: what is said of it at once.
    pub(crate) fn take(&mut self, event: AgentEvent, policy: Option<PolicyDecision>) -> Vec<Item> {
        match event {
            AgentEvent::Text {
                delta,
                provider_metadata,
            } => self.push_delta(BlockKind::Text, delta, provider_metadata),
            AgentEvent::Reasoning {
                delta,
                provider_metadata,
            } => self.push_delta(BlockKind::Reasoning, delta, provider_metadata),
            AgentEvent::PartEnd => self.close().into_iter().collect(),
            AgentEvent::Call {
                provider_id,
                tool,
                input,
                provider_metadata,
            } => {
                let closed = self.close();
                self.propose(ProposedCall {
                    provider_id,
                    policy: policy.unwrap_or_else(|| unknown(&tool)),
                    tool,
                    input,
                    provider_metadata,
                    token: None,
                    expires: None,
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
                let is_asked = asks.is_some();
                let asks = asks.unwrap_or_default();
                let timeout = policy.and_then(|policy| policy.timeout);
                let closed = self.close();
                self.propose(ProposedCall {
                    provider_id: Some(provider_id),
                    tool,
                    input,
                    provider_metadata,
                    policy: PolicyDecision {
                        place,
                        verdict: match is_asked {
                            true => Verdict::Ask {
                                question: asks.question,
                            },
                            false => Verdict::Allow,
                        },
                        // A page that is asked nothing has all the time.
                        timeout: timeout.filter(|_| is_asked),
                    },
                    token: asks.token,
                    expires: asks.expires,
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
                self.propose(ProposedCall {
                    provider_id: Some(provider_id),
                    tool,
                    input,
                    provider_metadata,
                    policy: PolicyDecision {
                        place: Place::Client,
                        verdict: Verdict::Allow,
                        timeout: None,
                    },
                    token: None,
                    expires: None,
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
            AgentEvent::Data { name, id, data } => self.whole(Part::Data { name, id, data }),
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
            | AgentEvent::Progress { .. }
            | AgentEvent::Settled { .. } => Vec::new(),
            AgentEvent::Ended(_) | AgentEvent::Failed { .. } => self.close().into_iter().collect(),
        }
    }

    /// Adds a call. One too many is never asked about, and does not run.
    fn propose(&mut self, mut call: ProposedCall) {
        // The agent itself waits for the answer to what it asks, and says later who runs what it left open.
        let is_agents = call.is_open || call.token.is_some() || call.policy.place == Place::Agent;
        if !is_agents {
            if self.counted_calls >= MAX_CALLS {
                let error = reason::TOO_MANY_CALLS.to_owned();
                call.policy.verdict = Verdict::Invalid { error };
            }
            self.counted_calls += 1;
        }
        self.parts.push(Piece::Call(self.calls.len()));
        self.calls.push(call);
    }

    /// The block that is open, to be continued.
    pub(crate) fn open_block(&mut self) -> Option<OpenBlock<'_>> {
        let open = self.open?;
        match self.parts.last_mut()? {
            Piece::Part(Part::Text { text, .. } | Part::Reasoning { text, .. }) => {
                Some(OpenBlock { open, text })
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
                made.policy.verdict = Verdict::Deny { reason };
            }
        }
    }

    /// Closes the block that is open.
    pub(crate) fn close(&mut self) -> Option<Item> {
        self.open.take().map(|_| Item::BlockEnded)
    }

    /// Appends to the text or reasoning that is open, or to a new one if none of its kind is.
    fn push_delta(
        &mut self,
        kind: BlockKind,
        delta: String,
        provider_metadata: Option<Value>,
    ) -> Vec<Item> {
        let mut items = Vec::new();
        if self.open != Some(kind) {
            items.extend(self.close());
            self.open = Some(kind);
            let (text, metadata) = (String::new(), provider_metadata.clone());
            let (part, begun) = match kind {
                BlockKind::Text => (
                    Part::Text {
                        text,
                        provider_metadata: None,
                    },
                    Item::TextBegun {
                        provider_metadata: metadata,
                    },
                ),
                BlockKind::Reasoning => (
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
            items.push(Item::Delta(delta));
        }
        items
    }

    fn whole(&mut self, part: Part) -> Vec<Item> {
        let mut items: Vec<_> = self.close().into_iter().collect();
        if part.is_shown() {
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

/// The items of a part that is read from the journal.
pub(crate) fn items(part: &Part) -> Vec<Item> {
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
        Part::Call { .. } => return Vec::new(),
        part if part.is_shown() => return vec![Item::Part(Box::new(part.clone()))],
        _ => return Vec::new(),
    };
    let delta = (!text.is_empty()).then(|| Item::Delta(text.clone()));
    let items = [Some(begun), delta, Some(Item::BlockEnded)];
    items.into_iter().flatten().collect()
}

fn unknown(tool: &str) -> PolicyDecision {
    PolicyDecision {
        place: Place::Server,
        verdict: Verdict::Invalid {
            error: format!("there is no tool {tool}"),
        },
        timeout: None,
    }
}
