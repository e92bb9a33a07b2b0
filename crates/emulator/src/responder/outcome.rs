//! The outcome of a call, from the function's response.
//!
//! On Gemini's wire a response is an object. Google asks for the output under `output` and for what
//! went wrong under `error`; its SDK puts under `result` what a Python function returned; people send
//! any object. What is more than an output or an error has no form on this wire and is sent as text,
//! those of our own client (`agents::gemini`): denials, bad inputs, outcomes that are not known, inputs
//! that an approver changed, and calls that continue by themselves.

use gemini::FunctionResponse;
use serde_json::{Map, Value};
use turn::call::{Outcome, UnknownReason};
use turn::reason::unknown;

/// What became of the call, and the input that it ran with, where that was changed.
pub(super) fn outcome(response: &FunctionResponse) -> (Outcome, Option<Value>) {
    let mut fields = response.response.clone().unwrap_or_default();
    let edited = edited_input(&mut fields);
    if response.will_continue == Some(true) {
        let output = output(fields);
        return (Outcome::Pending { output }, edited);
    }
    (of(fields), edited)
}

/// What a response means by itself.
pub(super) fn of(fields: Map<String, Value>) -> Outcome {
    if let Some(error) = sole(&fields, "error") {
        return failed(error);
    }
    let output = output(fields);
    if output.get("status").and_then(Value::as_str) == Some("pending") {
        return Outcome::Pending { output };
    }
    Outcome::Output { output }
}

/// Takes out the input that an approver put in place of the model's.
fn edited_input(fields: &mut Map<String, Value>) -> Option<Value> {
    let note = fields.get("note")?.as_str()?;
    if !note.starts_with("A person changed the input") || !fields.contains_key("input") {
        return None;
    }
    fields.shift_remove("note");
    fields.shift_remove("input")
}

fn output(fields: Map<String, Value>) -> Value {
    let inner = sole(&fields, "output").or_else(|| sole(&fields, "result"));
    match inner {
        Some(inner) => inner.clone(),
        None => Value::Object(fields),
    }
}

/// The field, where it is the only one.
fn sole<'f>(fields: &'f Map<String, Value>, name: &str) -> Option<&'f Value> {
    fields.get(name).filter(|_| fields.len() == 1)
}

fn failed(error: &Value) -> Outcome {
    let error = match error {
        Value::String(error) => error.clone(),
        other => other.to_string(),
    };
    let mut reasons = UnknownReason::ALL.into_iter();
    if let Some(reason) = reasons.find(|reason| error == unknown(*reason)) {
        return Outcome::Unknown { reason };
    }
    if let Some(reason) = error.strip_prefix("Denied: ") {
        return Outcome::Denied {
            reason: Some(reason.to_owned()),
        };
    }
    if error == "Denied" {
        return Outcome::Denied { reason: None };
    }
    if let Some(error) = error.strip_prefix("Invalid input: ") {
        return Outcome::Invalid {
            error: error.to_owned(),
        };
    }
    Outcome::Error { error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(response: Value) -> Outcome {
        outcome(&serde_json::from_value(json!({ "response": response })).unwrap()).0
    }

    #[test]
    fn an_output_is_found_where_it_stands() {
        let output = json!({"temperature": 18});
        let expected = Outcome::Output {
            output: output.clone(),
        };
        assert_eq!(of(json!({ "output": output })), expected);
        assert_eq!(of(json!({ "result": output })), expected);
        assert_eq!(of(output), expected);
        let several = json!({"output": 1, "error": "none"});
        assert_eq!(of(several.clone()), Outcome::Output { output: several });
    }

    #[test]
    fn an_error_is_what_its_words_say() {
        let denied = |reason: Option<&str>| Outcome::Denied {
            reason: reason.map(str::to_owned),
        };
        assert_eq!(
            of(json!({"error": "Denied: too much"})),
            denied(Some("too much"))
        );
        assert_eq!(of(json!({"error": "Denied"})), denied(None));
        for reason in UnknownReason::ALL {
            let response = json!({ "error": unknown(reason) });
            assert_eq!(of(response), Outcome::Unknown { reason });
        }
        let error = "no signal".to_owned();
        assert_eq!(of(json!({ "error": error })), Outcome::Error { error });
    }

    #[test]
    fn what_will_continue_is_pending() {
        let response = json!({"response": {"output": {"status": "asked"}}, "will_continue": true});
        let output = json!({"status": "asked"});
        assert_eq!(
            outcome(&serde_json::from_value(response).unwrap()).0,
            Outcome::Pending { output }
        );
    }

    #[test]
    fn an_input_that_was_changed_is_recognised() {
        let note = "A person changed the input before the call ran. It ran with this input.";
        let response = json!({"output": {"ok": true}, "note": note, "input": {"amount": 5}});
        let response = serde_json::from_value(json!({ "response": response })).unwrap();
        let output = json!({"ok": true});
        assert_eq!(
            outcome(&response),
            (Outcome::Output { output }, Some(json!({"amount": 5})))
        );
    }
}
