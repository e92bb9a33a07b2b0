//! What became of calls, as Gemini is told.

use gemini::{Data, FunctionResponse, Part};
use serde_json::{Map, Value, json};
use turn::agent::CallResult;
use turn::call::{Call, Outcome};
use turn::reason::{denial, unknown};

/// The response to a call.
pub(crate) fn part(result: &CallResult) -> Part {
    Data::FunctionResponse(of(result)).into()
}

/// The response to a call, by itself.
pub(crate) fn of(result: &CallResult) -> FunctionResponse {
    let mut response = told(&result.outcome);
    if let Some(input) = &result.edited_input {
        // Else the model would speak of what it asked for, and not of what was done.
        let note = "A person changed the input before the call ran. It ran with this input.";
        response.insert("note".to_owned(), json!(note));
        response.insert("input".to_owned(), input.clone());
    }
    FunctionResponse {
        id: result.call.provider_id.clone(),
        name: Some(result.call.tool.clone()),
        response: Some(response),
        ..FunctionResponse::default()
    }
}

/// The result of a long-running call. Its response was given when it began, and a second one would
/// stand after no call: it is told in words.
pub(crate) fn late(call: &Call, outcome: &Outcome) -> String {
    let result = Value::Object(told(outcome));
    let Call { tool, input, .. } = call;
    format!("(The result of the call {tool}({input}), which went on by itself, is here: {result})")
}

/// Google's convention: what came under `output`, what went wrong under `error`.
pub(crate) fn told(outcome: &Outcome) -> Map<String, Value> {
    let (key, value) = match outcome {
        Outcome::Output { output } | Outcome::Pending { output } => ("output", output.clone()),
        Outcome::Error { error } => ("error", json!(error)),
        Outcome::Invalid { error } => ("error", json!(format!("Invalid input: {error}"))),
        Outcome::Denied { reason } => ("error", json!(denial(reason.as_deref()))),
        Outcome::Unknown { reason } => ("error", json!(unknown(*reason))),
    };
    Map::from_iter([(key.to_owned(), value)])
}
