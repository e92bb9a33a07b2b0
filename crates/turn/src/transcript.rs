//! What a turn has said so far, in the order in which clients are told, whichever window they use.
//!
//! A transcript has no windows: it is the whole assistant message, with marks where a window closes.
//! [`crate::window`] turns a stretch of it into what one client is sent.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use wire::Chunk;
use wire::chunk::{Error, Finish, FinishReason};

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
        /// Usage and the like.
        metadata: Option<Value>,
    },
    /// The turn failed.
    Failed {
        /// A stable code.
        code: String,
        /// What to tell the user.
        message: String,
    },
    /// The turn was stopped.
    Stopped,
}

impl Closing {
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
            Self::Finished { reason, metadata } => (*reason, "finished", metadata.as_ref()),
            Self::Stopped => (FinishReason::Interrupted, "stopped", None),
            Self::Failed { code, message } => {
                return Chunk::Error(Error {
                    error_text: format!("{code}: {message}"),
                });
            }
        };
        let mut all = Map::new();
        all.insert("turn".to_owned(), json!(status));
        if let Some(Value::Object(metadata)) = metadata {
            all.extend(metadata.clone());
        }
        Chunk::Finish(Finish {
            finish_reason: Some(reason),
            message_metadata: Some(Value::Object(all)),
        })
    }
}
