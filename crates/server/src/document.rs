//! `/openapi.json`: the routes as an OpenAPI document.
//!
//! Routes are annotated where they are, and the bodies of responses are the types that are written
//! (`replies`). What no annotation can say is added here: bodies that `wire` decodes by hand
//! (`bodies`), and the errors that many routes have in common (`errors`).

mod bodies;
mod errors;
mod operations;
mod page;
mod parameters;

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use utoipa::OpenApi;

pub(crate) use self::bodies::UiMessage;
pub(crate) use self::operations::{AskDecision, JournalEntry, Recorded, WrongField};
pub(crate) use self::page::page;
pub(crate) use self::parameters::{
    ApprovalPath, ChatListQuery, ChatPath, JournalQuery, PageQuery, ProfileHeader, Profiles,
    ResumeQuery,
};
use crate::compression;
use crate::page::{Encoding, File};

/// Where it is served, to everybody: it says nothing that the repository does not say.
pub(crate) const PATH: &str = "/openapi.json";

/// The annotations.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "adk-stream",
        description = "Chats with agents, where people approve what agents do. Times are milliseconds \
                       since 1970. Every error has a stable code. docs/http.md describes each route, \
                       docs/errors.md each code, and docs/wire.md what streams contain.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    servers((url = "/")),
    security(("bearer" = []), ("apiKey" = [])),
    tags(
        (name = "Chats", description = "Messages, streams, histories and lists."),
        (name = "Approvals and calls", description = "What waits for a person, a page or a worker."),
        (name = "WebSocket", description = "One socket for many chats."),
        (name = "Server", description = "What a server is, and whether it is well."),
    ),
    paths(
        crate::api::send,
        crate::api::send_of_legacy_page,
        crate::api::resume,
        crate::api::stop,
        crate::api::view,
        crate::api::output,
        crate::api::info,
        crate::ag_ui::run,
        crate::ag_ui::connect,
        crate::approvals::list,
        crate::approvals::one,
        crate::approvals::answer,
        crate::asks::ask,
        crate::chats::list,
        crate::chats::update,
        crate::chats::delete,
        crate::events::stream,
        crate::legacy_chat::clear_sessions,
        crate::history::journal,
        crate::history::branches,
        crate::history::select_branch,
        crate::history::recording,
        crate::live::open,
        crate::live::issue,
        crate::routes::health,
        operations::readiness,
        operations::metrics,
        operations::document,
    ),
    components(schemas(crate::problem::ErrorBody)),
)]
struct Annotated;

/// Other paths of the same routes: method, path, the path that is annotated, and an id.
const ALIASES: [(&str, &str, &str, &str); 3] = [
    (
        "delete",
        "/api/chat/{id}",
        "/api/chats/{id}",
        "deleteChatByItsPath",
    ),
    ("get", "/live", "/api/chat/live", "openLegacyWebSocket"),
    ("get", "/health", "/healthz", "readLegacyHealth"),
];

/// The types in which null is the same as nothing.
const WITH_NULLS: [&str; 2] = ["AgentQuestion", "AskDecision"];

/// The document, as it is published.
pub(crate) fn text() -> String {
    // A value can always be written.
    let text = serde_json::to_string_pretty(&document()).unwrap_or_default();
    format!("{text}\n")
}

fn document() -> Value {
    let mut annotated = Annotated::openapi();
    crate::demo::describe(&mut annotated);
    // What is generated has nothing that JSON can't hold.
    let mut document = serde_json::to_value(annotated).unwrap_or_default();
    for (method, alias, path, id) in ALIASES {
        let mut operation = document["paths"][path][method].clone();
        operation["operationId"] = id.into();
        document["paths"][alias][method] = operation;
    }
    let mut shared = errors::Shared::default();
    if let Some(paths) = document["paths"].as_object_mut() {
        paths.sort_keys();
        let operations = paths.values_mut().filter_map(Value::as_object_mut);
        for operation in operations.flat_map(Map::values_mut) {
            complete(operation);
            shared.complete(operation);
        }
    }
    document["components"]["responses"] = shared.responses();
    document["components"]["headers"] = errors::headers();
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        for (name, schema) in schemas.iter_mut() {
            if !WITH_NULLS.contains(&name.as_str()) {
                left_out_where_absent(schema);
            }
        }
        if let Some(asked) = schemas.get_mut("AskedOf") {
            one_of_each(asked);
        }
        schemas.extend(bodies::schemas());
        schemas.sort_keys();
    }
    document["components"]["securitySchemes"] = json!({
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "description": "A key of the server. A server without keys serves its own machine alone, \
                            and needs none.",
        },
        "apiKey": {
            "type": "apiKey",
            "in": "header",
            "name": "x-api-key",
            "description": "The same key, in a header of its own.",
        },
        "agentKey": {
            "type": "http",
            "scheme": "bearer",
            "description": "ADK_STREAM_AGENT_KEY, for tools and workers on the agent's side.",
        },
        "metricsKey": {
            "type": "http",
            "scheme": "bearer",
            "description": "ADK_STREAM_METRICS_KEY.",
        },
        "ticket": {
            "type": "apiKey",
            "in": "query",
            "name": "ticket",
            "description": "A ticket of `POST /api/ticket`; also as the subprotocol \
                            `adk-stream.ticket.TICKET`.",
        },
    });
    document
}

/// Says of an operation what its annotation can't.
fn complete(operation: &mut Value) {
    if let Some(body) = operation.get_mut("requestBody") {
        body["required"] = true.into();
    }
    let parameters = operation.get_mut("parameters");
    for parameter in parameters
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        not_null(&mut parameter["schema"]);
    }
    let responses = operation
        .get_mut("responses")
        .and_then(Value::as_object_mut);
    for response in responses.into_iter().flat_map(Map::values_mut) {
        // Streams are described in docs/wire.md: a schema would be taken for that of each event.
        if let Some(stream) = response.pointer_mut("/content/text~1event-stream") {
            *stream = json!({});
        }
    }
}

/// A field of a response that need not be there is never null: it is left out.
fn left_out_where_absent(schema: &mut Value) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        if required.iter().any(|it| it == name) {
            continue;
        }
        not_null(property);
    }
}

/// Takes null out of what a value may be.
fn not_null(schema: &mut Value) {
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            schema["type"] = only;
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("oneOf") {
        choices.retain(|one| one["type"] != "null");
        if let [only] = choices.as_slice() {
            *schema = only.clone();
        }
    }
}

/// What is named by one key has that key alone, and no field that is not listed.
fn one_of_each(schema: &mut Value) {
    let choices = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    for choice in choices.into_iter().flatten() {
        choice["additionalProperties"] = false.into();
        let fields = choice.get_mut("properties").and_then(Value::as_object_mut);
        for field in fields.into_iter().flat_map(Map::values_mut) {
            field["additionalProperties"] = false.into();
        }
    }
}

/// The document in each encoding, made when it is first asked for.
static ENCODED: LazyLock<Vec<(Option<Encoding>, Bytes)>> = LazyLock::new(|| {
    let text = text();
    let compressed = Encoding::ALL.into_iter().filter_map(|encoding| {
        let bytes = compression::encode(encoding, text.as_bytes())?;
        Some((Some(encoding), Bytes::from(bytes)))
    });
    let mut all: Vec<_> = compressed.collect();
    all.push((None, Bytes::from(text.clone())));
    all
});

/// Answers with the document.
pub(crate) async fn answer(request: HeaderMap) -> Response {
    let mut encoded = ENCODED.iter();
    let found = encoded
        .find(|(encoding, _)| encoding.is_none_or(|encoding| encoding.is_accepted(&request)));
    let (encoding, content) = found.cloned().unwrap_or_default();
    let hash = Sha256::digest(&content);
    File::described(PATH, content, &hash)
        .encoded(encoding)
        .response(&request)
}

#[cfg(test)]
mod tests;
