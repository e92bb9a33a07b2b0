//! What a response of a function says of its call.
//!
//! On Gemini's wire a response is an object. Google asks for the output under `output` and for what
//! went wrong under `error`; its SDK puts under `result` what a Python function returned; people send
//! any object. Whether an error was a denial is told by its words alone.

use gemini::FunctionResponse;
use serde_json::{Map, Value};
use turn::call::Outcome;
use turn::telling::UNKNOWN;

/// What became of the call.
pub(super) fn outcome(response: &FunctionResponse) -> Outcome {
    let fields = response.response.clone().unwrap_or_default();
    if response.will_continue == Some(true) {
        let output = output(fields);
        return Outcome::Pending { output };
    }
    if let Some(error) = sole(&fields, "error") {
        return failed(error);
    }
    Outcome::Output {
        output: output(fields),
    }
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
    if error == UNKNOWN {
        return Outcome::Unknown;
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
        outcome(&serde_json::from_value(json!({ "response": response })).unwrap())
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
        assert_eq!(of(json!({ "error": UNKNOWN })), Outcome::Unknown);
        let error = "no signal".to_owned();
        assert_eq!(of(json!({ "error": error })), Outcome::Error { error });
    }

    #[test]
    fn what_will_continue_is_pending() {
        let response = json!({"response": {"output": {"status": "asked"}}, "will_continue": true});
        let output = json!({"status": "asked"});
        assert_eq!(
            outcome(&serde_json::from_value(response).unwrap()),
            Outcome::Pending { output }
        );
    }
}
