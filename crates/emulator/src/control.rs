//! The emulator's own routes, by which tests set scripts and read the log.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::json;

use crate::command::Command;
use crate::core::Core;
use crate::error::Error;
use crate::routes::parameter;
use crate::script::{Rule, Script};

/// How long a reader of the log may wait for something new.
const LONGEST: Duration = Duration::from_secs(60);

pub(crate) fn router() -> Router<Arc<Core>> {
    Router::new()
        .route(
            "/emulator/script",
            get(script).put(replace).post(extend).delete(forget),
        )
        .route("/emulator/log", get(log).delete(clear))
        .route("/emulator/stats", get(stats))
        .route("/emulator/live", post(command))
}

fn problem(error: &Error) -> Response {
    let body = json!({"error": {"code": "invalid_script", "message": error.to_string()}});
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}

fn read(body: &Bytes) -> Result<Script, Error> {
    let text = std::str::from_utf8(body).map_err(|error| Error::Script(error.to_string()))?;
    Script::from_json(text)
}

async fn script(State(core): State<Arc<Core>>) -> Response {
    Json(core.playbook.remaining()).into_response()
}

async fn replace(State(core): State<Arc<Core>>, body: Bytes) -> Response {
    match read(&body) {
        Ok(script) => {
            core.playbook.replace(script);
            StatusCode::NO_CONTENT.into_response()
        }
        Err(error) => problem(&error),
    }
}

/// Adds a script, or a rule by itself.
async fn extend(State(core): State<Arc<Core>>, body: Bytes) -> Response {
    let rule = serde_json::from_slice::<Rule>(&body).map(Script::from);
    let script = match rule {
        Ok(script) => script.check().map(|()| script),
        Err(_) => read(&body),
    };
    match script {
        Ok(script) => {
            core.playbook.extend(script);
            StatusCode::NO_CONTENT.into_response()
        }
        Err(error) => problem(&error),
    }
}

async fn forget(State(core): State<Arc<Core>>) -> Response {
    core.playbook.replace(Script::default());
    StatusCode::NO_CONTENT.into_response()
}

/// What came after the entry `after`; waits up to `wait` seconds until there is something.
async fn log(State(core): State<Arc<Core>>, uri: Uri) -> Response {
    let number = |name| parameter(&uri, name).and_then(|value| value.parse::<u64>().ok());
    let after = number("after").unwrap_or(0);
    let wait = Duration::from_secs(number("wait").unwrap_or(0)).min(LONGEST);
    let mut watch = core.log.watch();
    let mut closing = core.closing.clone();
    tokio::select! {
        _ = tokio::time::timeout(wait, watch.wait_for(|seq| *seq > after)) => {}
        () = closing.requested() => {}
    }
    Json(json!({"entries": core.log.after(after)})).into_response()
}

async fn clear(State(core): State<Arc<Core>>) -> Response {
    core.log.clear();
    StatusCode::NO_CONTENT.into_response()
}

async fn stats(State(core): State<Arc<Core>>) -> Response {
    let stats = *core.counters.watch().borrow();
    Json(stats).into_response()
}

/// Does something to the sockets that are open.
async fn command(State(core): State<Arc<Core>>, body: Bytes) -> Response {
    match serde_json::from_slice::<Command>(&body) {
        Ok(command) => {
            // No socket is open: nothing to do.
            let sockets = core.commands.send(command).unwrap_or(0);
            Json(json!({ "sockets": sockets })).into_response()
        }
        Err(error) => problem(&Error::Script(error.to_string())),
    }
}
