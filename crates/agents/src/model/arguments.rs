//! The input of a call, as a model writes it: text that should be a JSON object, and may not be.

use serde_json::{Value, json};
use turn::call::{Call, Outcome};

/// Reads what a model wrote. Text that is not JSON is kept as a string: no tool takes one, so that the
/// model learns that its call is invalid, and the turn continues.
pub(crate) fn read(text: &str) -> Value {
    if text.trim().is_empty() {
        return json!({});
    }
    match serde_json::from_str(text) {
        // Some models write the JSON of a string that holds the object.
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(map)) => Value::Object(map),
            _ => Value::String(inner),
        },
        Ok(Value::Null) => json!({}),
        Ok(value) => value,
        Err(_) => Value::String(text.to_owned()),
    }
}

/// Whether text is a whole JSON object.
pub(crate) fn is_whole(text: &str) -> bool {
    matches!(serde_json::from_str(text), Ok(Value::Object(_)))
}

/// The input as an object, which is all that some servers take in a history. What was none is put into
/// one: a server that fails on it would fail for ever.
pub(crate) fn object(input: &Value) -> Value {
    match input {
        Value::Object(_) => input.clone(),
        Value::String(text) => json!({"invalid_arguments": text}),
        other => json!({"invalid_arguments": other.to_string()}),
    }
}

/// What is wrong with the input of a call that was invalid since it is not JSON.
pub(crate) fn problem(call: &Call, outcome: &Outcome) -> Option<String> {
    let (Value::String(text), Outcome::Invalid { .. }) = (&call.input, outcome) else {
        return None;
    };
    let error = serde_json::from_str::<Value>(text).err()?;
    Some(format!(
        "Invalid input: the arguments are not valid JSON: {error}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_whatever_they_are() {
        for (text, input) in [
            ("", json!({})),
            (" \n", json!({})),
            ("null", json!({})),
            (r#"{"a": 1}"#, json!({"a": 1})),
            (r#""{\"a\": 1}""#, json!({"a": 1})),
            ("[1]", json!([1])),
            (r#"{"a": 1"#, json!("{\"a\": 1")),
            ("a: 1", json!("a: 1")),
        ] {
            assert_eq!(read(text), input, "{text}");
        }
        assert!(is_whole("{}") && !is_whole("{") && !is_whole("1"));
    }

    #[test]
    fn what_goes_back_is_always_an_object() {
        assert_eq!(object(&json!({"a": 1})), json!({"a": 1}));
        assert_eq!(object(&json!("{")), json!({"invalid_arguments": "{"}));
        assert_eq!(object(&json!([1])), json!({"invalid_arguments": "[1]"}));
    }
}
