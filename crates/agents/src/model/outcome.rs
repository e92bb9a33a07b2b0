//! Results of calls, as models get them: outputs under `output`, errors under `error`.

use serde_json::{Map, Value, json};
use turn::agent::CallResult;
use turn::call::{Call, Outcome};
use turn::reason::{denial, unknown};

/// What became of a call of a step, and with which input it ran, where that is not the model's.
pub(crate) fn of_result(result: &CallResult) -> Map<String, Value> {
    let mut response = of_outcome(&result.outcome);
    if let Some(input) = &result.edited_input {
        // Else the model would speak of what it asked for, and not of what was done.
        let note = "A person changed the input before the call ran. It ran with this input.";
        response.insert("note".to_owned(), json!(note));
        response.insert("input".to_owned(), input.clone());
    }
    response
}

/// Whether a call came to nothing.
pub(crate) fn is_error(outcome: &Outcome) -> bool {
    !matches!(outcome, Outcome::Output { .. } | Outcome::Pending { .. })
}

/// The result of a long-running call. Its response was given when it began, and a second one would
/// stand after no call: it is sent as text.
pub(crate) fn late(call: &Call, outcome: &Outcome) -> String {
    let result = Value::Object(of_outcome(outcome));
    let Call { tool, input, .. } = call;
    format!("(The result of the call {tool}({input}), which went on by itself, is here: {result})")
}

/// What came under `output`, what went wrong under `error`.
pub(crate) fn of_outcome(outcome: &Outcome) -> Map<String, Value> {
    let (key, value) = match outcome {
        Outcome::Output { output } | Outcome::Pending { output } => ("output", output.clone()),
        Outcome::Error { error } => ("error", json!(error)),
        Outcome::Invalid { error } => ("error", json!(format!("Invalid input: {error}"))),
        Outcome::Denied { reason } => ("error", json!(denial(reason.as_deref()))),
        Outcome::Unknown { reason } => ("error", json!(unknown(*reason))),
    };
    Map::from_iter([(key.to_owned(), value)])
}
