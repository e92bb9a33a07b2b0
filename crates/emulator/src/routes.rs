//! Which path is answered by whom.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, Method, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::Value;

use crate::control;
use crate::core::{Core, Exchange};
use crate::generate::{self, Form, GenerateCall};
use crate::live;
use crate::log::{self, Happening};
use crate::models;
use crate::refusal::Refusal;

/// Google takes a hundred megabytes.
const LARGEST: usize = 100 << 20;

/// The versions of the API that there are.
const VERSIONS: [&str; 3] = ["v1beta", "v1alpha", "v1"];

pub(crate) fn router(core: Arc<Core>) -> Router {
    Router::new()
        .route("/{version}/models", get(list))
        .route("/{version}/models/{*call}", get(describe).post(call))
        .route("/ws/{service}", get(live::upgrade))
        .merge(control::router())
        .fallback(post(nothing).get(nothing))
        .layer(DefaultBodyLimit::max(LARGEST))
        .with_state(core)
}

/// The key of a request.
pub(crate) fn key<'r>(headers: &'r HeaderMap, uri: &'r Uri) -> Option<&'r str> {
    let header = headers.get("x-goog-api-key");
    header
        .and_then(|key| key.to_str().ok())
        .or_else(|| parameter(uri, "key"))
}

/// A parameter of a query.
pub(crate) fn parameter<'u>(uri: &'u Uri, name: &str) -> Option<&'u str> {
    let pairs = uri.query().unwrap_or_default().split('&');
    let mut values = pairs.filter_map(|pair| pair.split_once('='));
    values.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// A request, written down.
fn take_in(
    core: &Arc<Core>,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    body: &[u8],
) -> Exchange {
    core.counters.request();
    let exchange = Exchange::new(core);
    exchange.write(Happening::Request {
        method: method.to_string(),
        path: uri.path().to_owned(),
        query: log::query(uri.query()),
        headers: log::headers(headers),
        body: if body.is_empty() {
            Value::Null
        } else {
            log::json_or_text(body)
        },
    });
    exchange
}

/// Answers at once, and writes it down.
fn respond(exchange: &Exchange, answer: Result<Value, Refusal>) -> Response {
    let (status, body) = match &answer {
        Ok(body) => (200, body.clone()),
        Err(refusal) => (refusal.code().as_u16(), refusal.body()),
    };
    exchange.write(Happening::Answer {
        status,
        body: body.clone(),
    });
    match answer {
        Ok(body) => axum::Json(body).into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

fn admit(core: &Core, version: &str, headers: &HeaderMap, uri: &Uri) -> Result<(), Refusal> {
    if !VERSIONS.contains(&version) {
        return Err(Refusal::new(404, None));
    }
    if core.options.keys.take(key(headers, uri)) {
        Ok(())
    } else {
        Err(Refusal::key())
    }
}

async fn list(
    State(core): State<Arc<Core>>,
    Path(version): Path<String>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let exchange = take_in(&core, &method, &uri, &headers, &[]);
    let admitted = admit(&core, &version, &headers, &uri);
    respond(&exchange, admitted.map(|()| models::list()))
}

async fn describe(
    State(core): State<Arc<Core>>,
    Path((version, model)): Path<(String, String)>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let exchange = take_in(&core, &method, &uri, &headers, &[]);
    let found = admit(&core, &version, &headers, &uri).and_then(|()| {
        if models::exists(&model) {
            Ok(models::describe(&model))
        } else {
            Err(Refusal::no_model(&model, &version, "getModel"))
        }
    });
    respond(&exchange, found)
}

async fn call(
    State(core): State<Arc<Core>>,
    Path((version, call)): Path<(String, String)>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let exchange = take_in(&core, &method, &uri, &headers, &body);
    if let Err(refusal) = admit(&core, &version, &headers, &uri) {
        return respond(&exchange, Err(refusal));
    }
    let (model, method) = call.rsplit_once(':').unwrap_or((&call, ""));
    let is_sse = ["alt", "$alt"]
        .iter()
        .any(|name| parameter(&uri, name) == Some("sse"));
    let form = match method {
        "generateContent" => Form::Whole,
        "streamGenerateContent" if is_sse => Form::Sse,
        "streamGenerateContent" => Form::Array,
        "countTokens" => {
            let body = serde_json::from_slice(&body).ok();
            let counted = body.and_then(models::count);
            let counted = counted.ok_or_else(|| Refusal::new(400, None));
            return respond(&exchange, counted);
        }
        _ => return respond(&exchange, Err(Refusal::new(404, None))),
    };
    let call = GenerateCall {
        version,
        model: model.to_owned(),
        method: method.to_owned(),
        form,
    };
    generate::generate(&core, &exchange, &call, &body).await
}

/// There is nothing here; what came is written down all the same.
async fn nothing(
    State(core): State<Arc<Core>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let exchange = take_in(&core, &method, &uri, &headers, &body);
    respond(&exchange, Err(Refusal::new(404, None)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_in_a_header_or_in_the_query() {
        let uri: Uri = "/v1beta/models?alt=sse&key=k".parse().unwrap();
        let mut headers = HeaderMap::new();
        assert_eq!(key(&headers, &uri), Some("k"));
        headers.insert("x-goog-api-key", "h".parse().unwrap());
        assert_eq!(key(&headers, &uri), Some("h"));
        assert_eq!(key(&HeaderMap::new(), &"/v1".parse().unwrap()), None);
    }
}
