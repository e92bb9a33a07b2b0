//! Tokens, as OpenAI's two APIs count them. They have two names for each count, and some servers send both.

use serde_json::{Map, Value};

use crate::model::metadata::Usage;

/// The counts of an answer.
pub(super) fn usage(counts: &Map<String, Value>) -> Usage {
    let count = |names: [&str; 2]| names.iter().find_map(|name| counts.get(*name)?.as_u64());
    let detail = |names: [&str; 2], detail: &str| {
        let mut details = names.iter().filter_map(|name| counts.get(*name));
        details.find_map(|details| details.get(detail)?.as_u64())
    };
    let prompt = count(["prompt_tokens", "input_tokens"]).unwrap_or_default();
    let completion = count(["completion_tokens", "output_tokens"]).unwrap_or_default();
    let total = counts.get("total_tokens").and_then(Value::as_u64);
    Usage {
        prompt,
        completion,
        total: total.unwrap_or(prompt + completion),
        reasoning: detail(
            ["completion_tokens_details", "output_tokens_details"],
            "reasoning_tokens",
        ),
        cached: detail(
            ["prompt_tokens_details", "input_tokens_details"],
            "cached_tokens",
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_are_the_same_under_either_name_and_under_both() {
        let chat = json!({"prompt_tokens": 7, "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 3},
            "completion_tokens_details": {"reasoning_tokens": 2}});
        let responses = json!({"input_tokens": 7, "output_tokens": 5, "total_tokens": 12,
            "input_tokens_details": {"cached_tokens": 3},
            "output_tokens_details": {"reasoning_tokens": 2}});
        let both = json!({"prompt_tokens": 7, "input_tokens": 7, "completion_tokens": 5,
            "output_tokens": 5, "prompt_tokens_details": null,
            "input_tokens_details": {"cached_tokens": 3},
            "output_tokens_details": {"reasoning_tokens": 2}});
        for counts in [chat, responses, both] {
            assert_eq!(
                usage(counts.as_object().unwrap()),
                Usage {
                    prompt: 7,
                    completion: 5,
                    total: 12,
                    reasoning: Some(2),
                    cached: Some(3),
                },
                "{counts}"
            );
        }
    }
}
