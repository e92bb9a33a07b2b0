//! The question to a person about a call, where the agent has none of its own.

use serde_json::Value;

/// How much of an input a question repeats, in characters. The approval shows the rest.
const QUESTION_INPUT: usize = 300;

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

/// The question of a confirmation of ADK's about a call: the hint of the tool's author. Without one ADK
/// has a text of its own, which is for programs: it says how to respond. The question is then made of the
/// call's input.
pub(crate) fn confirmation_question(hint: Option<&str>, call: &Value) -> String {
    const OF_ADK: &str = "Please approve or reject the tool call";
    let name = call.get("name").and_then(Value::as_str).unwrap_or_default();
    match hint.filter(|hint| !hint.trim().is_empty() && !hint.starts_with(OF_ADK)) {
        Some(hint) => hint.to_owned(),
        None => about_call(name, call.get("args")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn confirmation_without_a_hint_asks_with_the_input() {
        let call = json!({"name": "pay", "args": {"recipient": "Sam", "amount": 20}});
        let with_input = r#"Run pay with {"recipient":"Sam","amount":20}?"#;
        assert_eq!(confirmation_question(None, &call), with_input);
        let of_adk = "Please approve or reject the tool call pay() by responding";
        for hint in ["", of_adk] {
            assert_eq!(confirmation_question(Some(hint), &call), with_input);
        }
        assert_eq!(confirmation_question(Some("Pay Sam?"), &call), "Pay Sam?");
        for call in [json!({"name": "pay"}), json!({"name": "pay", "args": {}})] {
            assert_eq!(confirmation_question(None, &call), "Run pay?");
        }
        let long = json!({"name": "pay", "args": {"note": "é".repeat(1000)}});
        let asked = confirmation_question(None, &long);
        assert!(asked.ends_with("é…?"), "{asked}");
        assert!(asked.chars().count() < QUESTION_INPUT + 20, "{asked}");
    }
}
