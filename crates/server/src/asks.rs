//! Tools at the agent, which ask people and pages in the middle of their work.
//!
//! A tool that runs in an ADK server asks by `POST /api/agent/asks`, and gets the answer when a person
//! has decided, or after a while with nothing, upon which it asks the same again. A question is known
//! by its call and its number among the call's questions, so a repeated request opens no second one.

use std::time::Duration;

use axum::Json;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use engine::Ask;
use engine::Question;
use serde::Deserialize;
use serde_json::{Value, json};
use turn::ChatId;
use turn::gate::Decision;

use crate::api::Api;
use crate::identity::bearer;
use crate::problem::Problem;

/// How long a request is held. Proxies close a silent request after some 30 seconds or more.
const TIME_LIMIT: Duration = Duration::from_secs(15);

/// What a tool asks.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Asked {
    chat: String,
    /// The id that the agent gave the call.
    call: String,
    #[serde(default)]
    nth: usize,
    ask: Whom,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Whom {
    Approval { question: String },
    Question { question: String, schema: Value },
    ClientCall { tool: String, input: Value },
}

/// Whether a request comes from the agent's side, by its key.
pub(crate) fn is_agent(api: &Api, headers: &HeaderMap) -> bool {
    let key = api.agent_key.as_ref();
    bearer(headers).is_some_and(|given| key.is_some_and(|key| key.is(given.as_bytes())))
}

pub(crate) async fn ask(State(api): State<Api>, request: Request) -> Result<Response, Problem> {
    // Checked before anything is parsed.
    if !is_agent(&api, request.headers()) {
        return Err(Problem::unauthorized());
    }
    let body = to_bytes(request.into_body(), api.limits.bytes).await;
    let body = body.map_err(|_| Problem::too_large(api.limits.bytes))?;
    let body = Value::Object(api.limits.object(&body)?);
    let asked: Asked = serde_json::from_value(body)
        .map_err(|error| Problem::bad_request(format!("not a question: {error}")))?;
    let timeout = asked.timeout_ms.map(Duration::from_millis);
    let ask = match asked.ask {
        Whom::Approval { question } => Ask::Approval { question, timeout },
        Whom::Question { question, schema } => Ask::Data {
            question,
            schema,
            timeout,
        },
        Whom::ClientCall { tool, input } => Ask::Page {
            tool,
            input,
            timeout,
        },
    };
    let question = Question {
        call: asked.call,
        nth: asked.nth,
        ask,
    };
    let chat = ChatId::from(asked.chat);
    let decided = api
        .engine
        .ask_for_agent(&chat, question, TIME_LIMIT)
        .await?;
    Ok(Json(decision(decided)).into_response())
}

/// The decision, as JSON for a tool.
fn decision(decided: Option<Decision>) -> Value {
    match decided {
        None => json!({"decision": null}),
        Some(Decision::Approved { .. }) => json!({"decision": "approved"}),
        Some(Decision::Denied { reason }) => json!({"decision": "denied", "reason": reason}),
        Some(Decision::Output { output }) => json!({"decision": "output", "output": output}),
        Some(Decision::Failed { error }) => json!({"decision": "failed", "error": error}),
        Some(Decision::TimedOut) => json!({"decision": "timed-out"}),
        Some(Decision::Superseded) => {
            let reason = "The user wrote something else instead.";
            json!({"decision": "cancelled", "reason": reason})
        }
        Some(Decision::Cancelled) => json!({"decision": "cancelled", "reason": null}),
    }
}
