//! Results of calls, as they are sent to Gemini.

use gemini::{Data, FunctionResponse, Part};
use turn::agent::CallResult;

use crate::model::outcome::of_result;
pub(crate) use crate::model::outcome::{late, of_outcome};

/// The response to a call.
pub(crate) fn part(result: &CallResult) -> Part {
    Data::FunctionResponse(of(result)).into()
}

/// The response to a call, by itself.
pub(crate) fn of(result: &CallResult) -> FunctionResponse {
    FunctionResponse {
        id: result.call.provider_id.clone(),
        name: Some(result.call.tool.clone()),
        response: Some(of_result(result)),
        ..FunctionResponse::default()
    }
}
