//! Text and reasoning, as they are said.

use std::collections::HashSet;

use serde_json::{Value, json};
use turn::agent::AgentEvent;
use turn::metadata::{OURS, PATH};

use super::KEPT;
use crate::upstream::RunEvent;

/// The words of a run.
#[derive(Default)]
pub(super) struct Words {
    /// The text or reasoning that is being said.
    block: Option<Block>,
    /// The messages whose words the journal has, or came as they were said.
    streamed: HashSet<String>,
    /// Messages that are not the agent's, though it streams them.
    foreign: HashSet<String>,
}

struct Block {
    kind: BlockKind,
    id: String,
}

/// What words are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Text,
    Reasoning,
}

/// Who says something: the invocation of a subagent, and its path.
pub(super) struct Speaker {
    pub(super) invocation: Option<String>,
    pub(super) path: Vec<String>,
}

impl Words {
    /// The words of a run, where the journal has those of some messages.
    pub(super) fn new(streamed: HashSet<String>) -> Self {
        Self {
            streamed,
            ..Self::default()
        }
    }

    /// Notes whose message it is.
    pub(super) fn note_role(&mut self, id: &str, role: Option<&str>) {
        if role.is_some_and(|role| role != "assistant") {
            self.foreign.insert(id.to_owned());
        }
    }

    /// Whether a message is not the agent's.
    pub(super) fn is_foreign(&self, id: &str) -> bool {
        self.foreign.contains(id)
    }

    /// Whether the words of a message came, or are in the journal.
    pub(super) fn is_streamed(&self, id: &str) -> bool {
        self.streamed.contains(id)
    }

    /// The message that more words are of: the one that is named, or the one that is being said. Nothing,
    /// if they are not to be shown.
    pub(super) fn message(
        &self,
        kind: BlockKind,
        id: Option<String>,
        delta: &str,
    ) -> Option<String> {
        let last = self.block.as_ref().filter(|block| block.kind == kind);
        let id = id.or_else(|| last.map(|block| block.id.clone()));
        let id = id.unwrap_or_default();
        (!delta.is_empty() && !self.is_foreign(&id)).then_some(id)
    }

    /// More words of a message.
    pub(super) fn grow(
        &mut self,
        kind: BlockKind,
        id: String,
        delta: &str,
        speaker: Speaker,
        said: &mut Vec<RunEvent>,
    ) {
        let is_open = |block: &Block| block.kind == kind && block.id == id;
        let mut provider_metadata = None;
        if !self.block.as_ref().is_some_and(is_open) {
            self.close(said);
            provider_metadata = Some(metadata(&id, speaker));
            self.streamed.insert(id.clone());
            self.block = Some(Block { kind, id });
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

    /// What is being said is over.
    pub(super) fn close(&mut self, said: &mut Vec<RunEvent>) {
        if self.block.take().is_some() {
            said.push(RunEvent::Output(AgentEvent::PartEnd));
        }
    }
}

/// What is kept of words that begin.
fn metadata(id: &str, speaker: Speaker) -> Value {
    let mut kept = json!({});
    if !id.is_empty() {
        kept["messageId"] = json!(id);
    }
    if let Some(invocation) = speaker.invocation {
        kept["subagentRunId"] = json!(invocation);
    }
    let mut metadata = json!({ KEPT: kept });
    if !speaker.path.is_empty() {
        metadata[OURS] = json!({ PATH: speaker.path });
    }
    metadata
}
