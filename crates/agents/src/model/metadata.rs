//! Tokens, model and reason of an answer, for the message's metadata.

use serde_json::{Map, Value, json};
use turn::agent::AgentEvent;

/// Tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) prompt: u64,
    pub(crate) completion: u64,
    pub(crate) total: u64,
    pub(crate) reasoning: Option<u64>,
    pub(crate) cached: Option<u64>,
}

/// What is known of an answer, under the names that Gemini's has; nothing, if nothing is.
pub(crate) fn event(
    usage: Option<Usage>,
    model: Option<&str>,
    finish_reason: Option<&str>,
) -> Option<AgentEvent> {
    let mut metadata = Map::new();
    if let Some(usage) = usage {
        let mut counts = Map::from_iter([
            ("promptTokens".to_owned(), json!(usage.prompt)),
            ("completionTokens".to_owned(), json!(usage.completion)),
            ("totalTokens".to_owned(), json!(usage.total)),
        ]);
        let more = [
            ("reasoningTokens", usage.reasoning),
            ("cachedTokens", usage.cached),
        ];
        let more = more
            .into_iter()
            .filter_map(|(name, count)| Some((name.to_owned(), json!(count?))));
        counts.extend(more);
        metadata.insert("usage".to_owned(), Value::Object(counts));
    }
    let texts = [("modelVersion", model), ("finishReason", finish_reason)];
    let texts = texts
        .into_iter()
        .filter_map(|(name, text)| Some((name.to_owned(), json!(text?))));
    metadata.extend(texts);
    (!metadata.is_empty()).then(|| AgentEvent::Metadata(Value::Object(metadata)))
}
