//! What a turn has said so far, in the order in which clients are told, whichever window they use.
//!
//! A transcript has no windows: it is the whole assistant message, with marks where a window closes.
//! [`crate::window`] turns a stretch of it into what one client is sent.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use wire::Chunk;
use wire::chunk::{BlockDelta, Error, Finish, FinishReason};

/// One item of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A chunk, in the newest client's words; a window narrows it to what its client knows.
    ///
    /// Shared, since the turn and all who read along keep it, and a chunk is large.
    Chunk(Arc<Chunk>),
    /// Nothing more can happen without a client, or at all: windows close here.
    Close(Closing),
}

/// Why windows close.
#[derive(Debug, Clone, PartialEq)]
pub enum Closing {
    /// The turn waits at gates.
    Parked,
    /// The turn is over.
    Finished {
        /// Why the model stopped.
        reason: FinishReason,
        /// Usage and the like. Boxed, since every word stands in an item, and few items close.
        metadata: Option<Box<Value>>,
    },
    /// The turn failed. Boxed as well.
    Failed(Box<Failure>),
    /// The turn was stopped.
    Stopped,
}

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// A stable code.
    pub code: String,
    /// What to tell the user.
    pub message: String,
}

impl Closing {
    /// A turn that failed.
    pub fn failed(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Failed(Box::new(Failure {
            code: code.into(),
            message: message.into(),
        }))
    }

    /// Whether nothing follows.
    pub fn is_final(&self) -> bool {
        *self != Self::Parked
    }

    /// The chunk that ends a window here.
    ///
    /// It always carries metadata: clients see a step's start only with the next thing that is
    /// written, and one that does not see the last step takes the calls before it for unsent.
    pub fn chunk(&self) -> Chunk {
        let (reason, status, metadata) = match self {
            Self::Parked => (FinishReason::ToolCalls, "parked", None),
            Self::Finished { reason, metadata } => (*reason, "finished", metadata.as_deref()),
            Self::Stopped => (FinishReason::Interrupted, "stopped", None),
            Self::Failed(failure) => {
                return Chunk::Error(Error {
                    error_text: format!("{}: {}", failure.code, failure.message),
                });
            }
        };
        let mut all = Map::new();
        all.insert("turn".to_owned(), json!(status));
        if let Some(Value::Object(metadata)) = metadata {
            all.extend(metadata.clone());
        }
        Chunk::from(Finish {
            finish_reason: Some(reason),
            message_metadata: Some(Value::Object(all)),
        })
    }
}

/// Draws together the deltas of each block that follow each other, as they are told when a turn is
/// read back from its journal.
pub(crate) fn compact(transcript: &mut Vec<Item>) {
    let mut compact = Vec::new();
    let mut items = transcript.drain(..);
    while let Some(mut item) = items.next() {
        if let Item::Chunk(first) = &mut item
            && let Some((text, count)) = whole(first, items.as_slice())
            && let Chunk::TextDelta(delta) | Chunk::ReasoningDelta(delta) = Arc::make_mut(first)
        {
            delta.delta = text.into();
            items.by_ref().take(count).for_each(drop);
        }
        compact.push(item);
    }
    drop(items);
    compact.shrink_to_fit();
    *transcript = compact;
}

/// A delta with those that follow it and are of the same block, if there are any, and how many.
fn whole(first: &Chunk, rest: &[Item]) -> Option<(String, usize)> {
    let more = || {
        rest.iter().map_while(|item| match item {
            Item::Chunk(next) => of_one_block(first, next),
            Item::Close(_) => None,
        })
    };
    let (head, _) = more().next()?;
    // Counted first, so that the text need not be moved while it grows.
    let length: usize = more().map(|(_, next)| next.delta.len()).sum();
    let mut text = String::with_capacity(head.delta.len() + length);
    text.push_str(&head.delta);
    let mut count = 0;
    for (_, next) in more() {
        text.push_str(&next.delta);
        count += 1;
    }
    Some((text, count))
}

/// Two deltas, if they are of one block.
fn of_one_block<'a>(first: &'a Chunk, next: &'a Chunk) -> Option<(&'a BlockDelta, &'a BlockDelta)> {
    match (first, next) {
        (Chunk::TextDelta(first), Chunk::TextDelta(next))
        | (Chunk::ReasoningDelta(first), Chunk::ReasoningDelta(next)) => {
            let is_one = first.id == next.id && first.provider_metadata == next.provider_metadata;
            is_one.then_some((first, next))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A transcript holds an item for every word, and so does each log of it.
    #[test]
    fn an_item_is_not_large() {
        let bytes = size_of::<Item>();
        assert!(bytes <= 16, "an item takes {bytes} bytes");
    }

    #[test]
    fn words_of_a_block_are_drawn_together_and_nothing_else() {
        let chunk = |value| Item::Chunk(Chunk::decode(value).unwrap().into());
        let delta = |kind: &str, id: &str, delta: &str| {
            chunk(json!({"type": kind, "id": id, "delta": delta}))
        };
        let mut transcript = vec![
            chunk(json!({"type": "start-step"})),
            delta("reasoning-delta", "1", "a"),
            delta("reasoning-delta", "1", "b"),
            delta("text-delta", "2", "c"),
            delta("text-delta", "2", "d"),
            delta("text-delta", "2", "e"),
            delta("text-delta", "3", "f"),
            Item::Close(Closing::Parked),
            delta("text-delta", "3", "g"),
        ];
        let first = transcript[1].clone();
        compact(&mut transcript);
        let expected = [
            chunk(json!({"type": "start-step"})),
            delta("reasoning-delta", "1", "ab"),
            delta("text-delta", "2", "cde"),
            delta("text-delta", "3", "f"),
            Item::Close(Closing::Parked),
            delta("text-delta", "3", "g"),
        ];
        assert_eq!(transcript, expected);
        // Whoever reads along keeps what was said as it was said.
        assert_eq!(first, delta("reasoning-delta", "1", "a"));
    }
}
