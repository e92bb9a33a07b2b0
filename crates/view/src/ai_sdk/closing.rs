//! Why windows close, and the chunk that says so.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use turn::Usage;
use turn::call::Call;
use turn::event::Finish as Finished;
use turn::gate::Gate;
use wire::Chunk;
use wire::chunk::{Data, Error, Finish, FinishReason};

/// The name of the data that tells programs why a window failed: `data-error`.
const ERROR: &str = "error";

/// Why windows close.
#[derive(Debug, Clone, PartialEq)]
pub enum Closing {
    /// The turn waits at gates. Boxed like the others.
    Parked(Arc<Vec<OpenQuestion>>),
    /// The turn is over.
    Finished {
        /// Why the model stopped.
        reason: FinishReason,
        /// Usage and the like. Boxed, since every word has a line, and few lines close.
        metadata: Option<Box<Value>>,
    },
    /// The turn failed. Boxed as well.
    Failed(Box<Failure>),
    /// The turn was stopped.
    Stopped,
}

/// A question that people have not answered.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenQuestion {
    /// The gate that asks.
    pub gate: Gate,
    /// The call that it holds.
    pub call: Arc<Call>,
}

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// A stable code.
    pub code: String,
    /// What to tell the user.
    pub message: String,
    /// When to try again, where that is known.
    pub retry_after_ms: Option<u64>,
}

impl Closing {
    /// A turn that failed.
    pub fn failed(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::failed_until(code, message, None)
    }

    /// A turn that failed, and may be tried again after a time.
    pub fn failed_until(
        code: impl Into<String>,
        message: impl Into<String>,
        retry_after_ms: Option<u64>,
    ) -> Self {
        Self::Failed(Box::new(Failure {
            code: code.into(),
            message: message.into(),
            retry_after_ms,
        }))
    }

    /// Whether nothing follows.
    pub(crate) fn is_final(&self) -> bool {
        !matches!(self, Self::Parked(_))
    }

    /// The chunks that end a window here.
    ///
    /// An `error` has a text for people and nothing else. What a program needs comes before it, as data
    /// that every client passes to its page and that no message keeps.
    pub fn chunks(&self) -> Vec<Chunk> {
        let mut chunks = Vec::with_capacity(2);
        if let Self::Failed(failure) = self {
            chunks.push(Chunk::from(failure.data()));
        }
        chunks.push(self.chunk());
        chunks
    }

    /// The chunk that ends a window here, with tokens under the SDK's names.
    pub fn chunk(&self) -> Chunk {
        let mut chunk = self.journal_chunk();
        if let Chunk::Finish(finish) = &mut chunk
            && let Some(metadata) = &mut finish.message_metadata
            && let Some(usage) = Usage::of(metadata)
        {
            metadata["usage"] = sdk_usage(usage);
        }
        chunk
    }

    /// The chunk that ends a window here, with metadata under the names that journals have, which are
    /// those of the legacy bridge.
    ///
    /// It always carries metadata: clients see a step's start only with the next thing that is
    /// written, and one that does not see the last step takes the calls before it for unsent.
    pub(crate) fn journal_chunk(&self) -> Chunk {
        let (reason, status, metadata) = match self {
            Self::Parked(_) => (FinishReason::ToolCalls, "parked", None),
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

/// Tokens as the SDK's `LanguageModelUsage` names them.
fn sdk_usage(usage: Usage) -> Value {
    let mut named = json!({
        "inputTokens": usage.input,
        "outputTokens": usage.output,
        "totalTokens": usage.total,
    });
    if let Some(cached) = usage.cached {
        named["inputTokenDetails"] = json!({"cacheReadTokens": cached});
    }
    if let Some(reasoning) = usage.reasoning {
        named["outputTokenDetails"] = json!({"reasoningTokens": reasoning});
    }
    named
}

impl Failure {
    fn data(&self) -> Data {
        let mut data = json!({"code": self.code, "message": self.message});
        if let Some(milliseconds) = self.retry_after_ms {
            data["retryAfterMs"] = milliseconds.into();
        }
        Data {
            name: ERROR.to_owned(),
            id: None,
            data,
            transient: Some(true),
            extra: Map::new(),
        }
    }
}

pub(super) fn finish_reason(finish: Finished) -> FinishReason {
    match finish {
        Finished::Stop => FinishReason::Stop,
        Finished::Length => FinishReason::Length,
        Finished::ContentFilter => FinishReason::ContentFilter,
        Finished::Error => FinishReason::Error,
        Finished::Cut | Finished::Other => FinishReason::Other,
    }
}
