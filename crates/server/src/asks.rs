//! Tools at the agent, which ask people and pages in the middle of their work.
//!
//! A tool that runs in an ADK server asks by `POST /api/agent/asks`, and gets the answer when a person
//! has decided, or after a while with nothing, upon which it asks the same again. A question is known
//! by its call and its number among the call's questions, so a repeated request opens no second one.

use std::time::Duration;

use axum::Json;
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
use crate::body::read;
use crate::identity::bearer;
use crate::paging::LARGEST;
use crate::problem::Problem;

/// How long a request is held. Proxies close a silent request after some 30 seconds or more.
const TIME_LIMIT: Duration = Duration::from_secs(15);

/// What a tool asks.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema), schema(as = AgentQuestion))]
pub(crate) struct AgentQuestion {
    #[cfg_attr(feature = "cli", schema(min_length = 1))]
    chat: String,
    /// The id that the agent gave the call.
    #[cfg_attr(feature = "cli", schema(min_length = 1))]
    call: String,
    /// Its number among the call's questions.
    #[serde(default)]
    nth: usize,
    ask: Whom,
    #[serde(default)]
    #[cfg_attr(feature = "cli", schema(maximum = 9_007_199_254_740_991_u64))]
    timeout_ms: Option<u64>,
}

/// Whom it asks, and what.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema), schema(as = AskedOf))]
pub(crate) enum Whom {
    /// A person, for a yes or a no.
    Approval { question: String },
    /// A person, for data.
    Question { question: String, schema: Value },
    /// A page, for the output of a tool.
    ClientCall { tool: String, input: Value },
}

/// Whether a request comes from the agent's side, by its key.
pub(crate) fn is_agent(api: &Api, headers: &HeaderMap) -> bool {
    let key = api.agent_key.as_ref();
    bearer(headers).is_some_and(|given| key.is_some_and(|key| key.is(given.as_bytes())))
}

/// A tool at the agent asks a person or a page, and gets the decision when there is one.
#[cfg_attr(feature = "cli", utoipa::path(
    post, path = "/api/agent/asks", tag = "Approvals and calls", operation_id = "askForAgent",
    request_body = AgentQuestion,
    responses(
        (status = 200, description = "The decision, or null after a while without one.", body = crate::document::AskDecision),
        (status = 400, description = "bad_request, invalid_chat_id"),
        (status = 404, description = "unknown_call, unknown_chat"),
        (status = 409, description = "call_not_open, forged_output"),
    ),
    security(("agentKey" = [])),
))]
pub(crate) async fn ask(State(api): State<Api>, request: Request) -> Result<Response, Problem> {
    // Checked before anything is parsed.
    if !is_agent(&api, request.headers()) {
        return Err(Problem::unauthorized());
    }
    let (parts, body) = request.into_parts();
    let body = read(&api, None, &parts.headers, body).await?;
    let limits = api.limits;
    let parse = move |bytes: &[u8]| {
        let body = Value::Object(limits.object(bytes)?);
        serde_json::from_value::<AgentQuestion>(body)
            .map_err(|error| Problem::bad_request(format!("not a question: {error}")))
    };
    let (asked, _room) = body.parse(parse).await?;
    // A call may not be in the journal yet, and is waited for; one without a name is never there.
    for (name, id) in [("chat", &asked.chat), ("call", &asked.call)] {
        if id.is_empty() {
            return Err(Problem::bad_request(format!("{name}: it is empty")));
        }
    }
    if asked.timeout_ms.is_some_and(|timeout| timeout > LARGEST) {
        return Err(Problem::bad_request(format!(
            "timeoutMs: more than {LARGEST}"
        )));
    }
    let timeout = asked.timeout_ms.map(Duration::from_millis);
    let ask = match asked.ask {
        Whom::Approval { question } => Ask::Approval { question, timeout },
        Whom::Question { question, schema } => Ask::Data {
            question,
            schema,
            path: Vec::new(),
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
