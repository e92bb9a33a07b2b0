//! The models that are listed. Others are answered for too, as long as their name could be one.

use gemini::GenerateContentRequest;
use serde_json::{Value, json};

/// Models as Google lists them: some for generateContent, some for Live.
const GENERATE: [&str; 4] = [
    "gemini-2.5-flash",
    "gemini-2.5-pro",
    "gemini-3-pro-preview",
    "gemini-3.8-flash",
];
const LIVE: [&str; 3] = [
    "gemini-live-2.5-flash-preview",
    "gemini-2.5-flash-native-audio-preview-09-2025",
    "gemini-3.8-flash-live",
];

/// Whether there could be such a model.
pub(crate) fn exists(model: &str) -> bool {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    let families = ["gemini-", "gemma-", "learnlm-"];
    model.chars().all(is_name) && families.iter().any(|family| model.starts_with(family))
}

/// The list.
pub(crate) fn list() -> Value {
    let models = GENERATE.iter().chain(&LIVE).map(|model| describe(model));
    json!({ "models": models.collect::<Vec<_>>() })
}

/// A model, as Google describes it.
pub(crate) fn describe(model: &str) -> Value {
    let methods: &[&str] = if LIVE.contains(&model) || model.contains("live") {
        &["countTokens", "bidiGenerateContent"]
    } else {
        &["generateContent", "countTokens"]
    };
    json!({
        "name": format!("models/{model}"),
        "version": "001",
        "displayName": format!("{model} (emulated)"),
        "description": "An emulator on loopback",
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": methods,
        "temperature": 1,
        "topP": 0.95,
        "topK": 64,
        "maxTemperature": 2,
        "thinking": true,
    })
}

/// How many tokens a request to countTokens is about.
pub(crate) fn count(body: Value) -> Option<Value> {
    // The contents are at the top, or inside of the request that is to be counted.
    let inner = body
        .get("generateContentRequest")
        .or_else(|| body.get("generate_content_request"));
    let request: GenerateContentRequest =
        serde_json::from_value(inner.unwrap_or(&body).clone()).ok()?;
    let contents = request.contents.iter().chain(&request.system_instruction);
    let tokens = crate::tokens::Tokens::of(contents);
    Some(json!({"totalTokens": tokens.total(), "promptTokensDetails": tokens.details()}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_could_be_a_model() {
        assert!(exists("gemini-9-some-day"));
        assert!(!exists("gpt-5"));
        assert!(!exists("gemini-2.5/../x"));
    }

    #[test]
    fn tokens_are_counted_in_both_forms() {
        let contents = json!([{"parts": [{"text": "four"}]}]);
        let flat = count(json!({ "contents": contents })).unwrap();
        let deep = count(json!({"generateContentRequest": {"contents": contents}})).unwrap();
        assert_eq!(flat["totalTokens"], 1);
        assert_eq!(flat, deep);
    }
}
