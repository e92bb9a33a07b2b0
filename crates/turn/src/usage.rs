//! How many tokens an answer took, by the names under which agents note it in journals.

use serde_json::Value;

/// The tokens of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// What the model read, with what its provider's own tools found for it.
    pub input: u64,
    /// What the model wrote, with its thoughts.
    pub output: u64,
    /// All of them, as the provider counts.
    pub total: u64,
    /// Thoughts, among the output.
    pub reasoning: Option<u64>,
    /// What came from the provider's cache, among the input.
    pub cached: Option<u64>,
}

impl Usage {
    /// The usage in the metadata of a step or a message. None, if there is none, or if it is under the
    /// names of an agent of its own.
    pub fn of(metadata: &Value) -> Option<Self> {
        let usage = metadata.get("usage")?;
        let tokens = |name: &str| usage.get(name).and_then(Value::as_u64);
        let (prompt, completion) = (tokens("promptTokens"), tokens("completionTokens"));
        if prompt.is_none() && completion.is_none() {
            return None;
        }
        let found = tokens("toolUsePromptTokens").unwrap_or_default();
        let input = prompt.unwrap_or_default() + found;
        let total = tokens("totalTokens").unwrap_or_default();
        // Some models count thoughts among the completion, and some beside it.
        let output = match total.saturating_sub(input) {
            0 => completion.unwrap_or_default(),
            output => output,
        };
        Some(Self {
            input,
            output,
            total: total.max(input + output),
            reasoning: tokens("reasoningTokens"),
            cached: tokens("cachedTokens"),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn thoughts_are_output_however_the_model_counts_them() {
        let read = |usage: Value| {
            let usage = Usage::of(&json!({"usage": usage}))?;
            Some((usage.input, usage.output, usage.total, usage.reasoning))
        };
        let gemini = json!({"promptTokens": 10, "completionTokens": 4, "reasoningTokens": 6,
            "toolUsePromptTokens": 2, "totalTokens": 22});
        let openai = json!({"promptTokens": 10, "completionTokens": 10, "reasoningTokens": 6,
            "totalTokens": 20});
        assert_eq!(read(gemini), Some((12, 10, 22, Some(6))));
        assert_eq!(read(openai), Some((10, 10, 20, Some(6))));
        let neither = json!({"promptTokens": 1, "completionTokens": 3});
        assert_eq!(read(neither), Some((1, 3, 4, None)));
    }

    #[test]
    fn names_of_other_agents_are_not_read() {
        assert_eq!(Usage::of(&json!({"usage": {"inputTokens": 3}})), None);
        assert_eq!(Usage::of(&json!({"turn": "finished"})), None);
    }
}
