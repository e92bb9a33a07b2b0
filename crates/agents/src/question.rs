//! The question to a person about a call, where the agent has none of its own.

use serde_json::Value;

/// How much of an input a question repeats, in characters. The approval shows the rest.
pub(crate) const QUESTION_INPUT: usize = 300;

/// Asks whether a call may run, with its input: a name alone does not say what is approved.
pub(crate) fn about_call(tool: &str, input: Option<&Value>) -> String {
    match input {
        Some(Value::Object(input)) if !input.is_empty() => {
            let text = Value::Object(input.clone()).to_string();
            let mut shown: String = text.chars().take(QUESTION_INPUT).collect();
            if shown.len() < text.len() {
                shown.push('…');
            }
            format!("Run {tool} with {shown}?")
        }
        _ => format!("Run {tool}?"),
    }
}
