//! A server that is reached by HTTP: every message is posted, and answered by JSON or a stream of events.
//!
//! `rmcp` has a client of its own for this, which reads whatever a server sends. This one reads no more
//! than is allowed, follows no redirects, since they would carry the headers elsewhere, and notes which
//! requests a server may have got.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Response, StatusCode};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, RequestId, RequestParamsMeta,
    ServerJsonRpcMessage,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::http_header::{
    EVENT_STREAM_MIME_TYPE, HEADER_LAST_EVENT_ID, HEADER_SESSION_ID, JSON_MIME_TYPE,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
    StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::peer::Sent;
use super::{dropped, short, unreadable};
use crate::mcp::config::{ConfigError, Limits};
use crate::tls;

/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How much of the body of a refusal is read.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;

type Error = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Where a server is.
pub(super) struct Endpoint {
    client: reqwest::Client,
    url: String,
    headers: HashMap<HeaderName, HeaderValue>,
}

impl Endpoint {
    pub(super) fn new(url: &str, headers: &BTreeMap<String, String>) -> Result<Self, ConfigError> {
        let mut sent = HashMap::new();
        for (name, value) in headers {
            let refused = || ConfigError::Header(name.clone());
            let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| refused())?;
            value.set_sensitive(true);
            let name = HeaderName::try_from(name.as_str()).map_err(|_| refused())?;
            sent.insert(name, value);
        }
        let tls = tls::config().map_err(ConfigError::Client)?;
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| ConfigError::Client(error.to_string()))?;
        Ok(Self {
            client,
            url: url.to_owned(),
            headers: sent,
        })
    }

    pub(super) fn transport(
        &self,
        limits: &Limits,
        sent: Arc<Sent>,
    ) -> StreamableHttpClientTransport<Client> {
        let config = StreamableHttpClientTransportConfig::with_uri(self.url.as_str())
            .custom_headers(self.headers.clone())
            .max_concurrent_requests(limits.max_calls.saturating_add(4));
        let client = Client {
            http: self.client.clone(),
            sent,
            max: limits.max_message_bytes,
        };
        StreamableHttpClientTransport::with_client(client, config)
    }
}

/// An HTTP client with limits.
#[derive(Clone)]
pub(super) struct Client {
    http: reqwest::Client,
    sent: Arc<Sent>,
    max: usize,
}

impl StreamableHttpClient for Client {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let request = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        if let Some(id) = &request {
            self.sent.begin(id);
        }
        let not_sent = |error| {
            if let Some(id) = &request {
                self.sent.forget(id);
            }
            error
        };
        let body = serde_json::to_vec(&message)?;
        let accept = format!("{EVENT_STREAM_MIME_TYPE}, {JSON_MIME_TYPE}");
        let mut post = self.http.post(uri.as_ref()).headers(header_map(headers));
        post = post
            .header(ACCEPT, accept)
            .header(CONTENT_TYPE, JSON_MIME_TYPE);
        for (name, value) in trace_headers(&message) {
            post = post.header(name, value);
        }
        if let Some(session) = &session {
            post = post.header(HEADER_SESSION_ID, session.as_ref());
        }
        let response = post.body(body).send().await.map_err(|error| {
            let was_refused = error.is_connect();
            let error = Error::Client(error.without_url());
            if was_refused { not_sent(error) } else { error }
        })?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(not_sent(Error::SessionExpired));
        }
        let is_answer = !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if !status.is_success() {
            let refusal = refusal(response).await;
            return match (refusal, request.clone()) {
                // The answer of a server that does not know the question that comes before the handshake.
                (Refusal::Other(why), Some(id))
                    if status.is_client_error() && is_answer && is_discovery(&message) =>
                {
                    let error = ErrorData::invalid_request(why, None);
                    Ok(json(JsonRpcMessage::error(error, Some(id)), None))
                }
                (Refusal::Message(error), Some(id)) if is_answer => {
                    Ok(json(JsonRpcMessage::error(error, Some(id)), None))
                }
                (Refusal::Challenge(challenge), _) => Err(not_sent(Error::AuthRequired(
                    AuthRequiredError::new(challenge),
                ))),
                (Refusal::Message(error), _) => Err(not_sent(unexpected(format!(
                    "HTTP {status}: {}",
                    error.message
                )))),
                // A server that fails may have done something; one that refuses has not.
                (Refusal::Other(why), _) => {
                    let error = unexpected(format!("HTTP {status}: {why}"));
                    Err(if status.is_server_error() {
                        error
                    } else {
                        not_sent(error)
                    })
                }
            };
        }
        let named = header(response.headers(), HEADER_SESSION_ID);
        let kind = header(response.headers(), "content-type").unwrap_or_default();
        if kind.starts_with(EVENT_STREAM_MIME_TYPE) {
            let events = events(response, self.max, request);
            return Ok(StreamableHttpPostResponse::Sse(events, named));
        }
        let Some(id) = request else {
            // Nothing was asked, and whatever it says is not read.
            return Ok(StreamableHttpPostResponse::Accepted);
        };
        if !kind.starts_with(JSON_MIME_TYPE) {
            return Err(StreamableHttpError::UnexpectedContentType(Some(short(
                &kind,
            ))));
        }
        match body_within(response, self.max).await? {
            Body::Whole(body) => match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
                Ok(message) => Ok(json(message, named)),
                Err(error) => Ok(json(unreadable(id, &error.to_string()), named)),
            },
            Body::TooLarge(bytes) => Ok(json(dropped(id, bytes, self.max), named)),
        }
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        authorization: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        _: usize,
    ) -> Result<StreamableHttpPostResponse, Error> {
        self.post_message(uri, message, session, authorization, headers)
            .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Error> {
        let delete = self.http.delete(uri.as_ref()).headers(header_map(headers));
        let delete = delete.header(HEADER_SESSION_ID, session.as_ref());
        let response = delete.send().await;
        // A server that keeps its sessions ends them by itself.
        response
            .map(|_| ())
            .map_err(|error| Error::Client(error.without_url()))
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, Error> {
        let mut get = self.http.get(uri.as_ref()).headers(header_map(headers));
        get = get.header(ACCEPT, EVENT_STREAM_MIME_TYPE);
        if let Some(session) = session {
            get = get.header(HEADER_SESSION_ID, session.as_ref());
        }
        if let Some(last) = last {
            get = get.header(HEADER_LAST_EVENT_ID, last);
        }
        let response = get.send().await;
        let response = response.map_err(|error| Error::Client(error.without_url()))?;
        let kind = header(response.headers(), "content-type").unwrap_or_default();
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(Error::ServerDoesNotSupportSse),
            status if !status.is_success() => Err(unexpected(format!("HTTP {status}"))),
            _ if kind.starts_with(EVENT_STREAM_MIME_TYPE) => Ok(events(response, self.max, None)),
            _ => Err(StreamableHttpError::UnexpectedContentType(Some(short(
                &kind,
            )))),
        }
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        authorization: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        _: usize,
    ) -> Result<Events, Error> {
        self.get_stream(uri, session, last, authorization, headers)
            .await
    }
}

fn header_map(headers: HashMap<HeaderName, HeaderValue>) -> HeaderMap {
    headers.into_iter().collect()
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}

fn unexpected(why: String) -> Error {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(why))
}

fn json(message: ServerJsonRpcMessage, session: Option<String>) -> StreamableHttpPostResponse {
    StreamableHttpPostResponse::Json(message, session)
}

/// The span of the call that a message makes: proxies in between read headers, and no bodies.
fn trace_headers(message: &ClientJsonRpcMessage) -> impl Iterator<Item = (&'static str, &str)> {
    let params = match message {
        JsonRpcMessage::Request(request) => match &request.request {
            ClientRequest::CallToolRequest(call) => Some(&call.params),
            _ => None,
        },
        _ => None,
    };
    let parent = params.and_then(|params| params.traceparent());
    let state = params.and_then(|params| params.tracestate());
    let parent = parent.map(|parent| ("traceparent", parent));
    parent
        .into_iter()
        .chain(state.map(|state| ("tracestate", state)))
}

fn is_discovery(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(request)
        if matches!(request.request, ClientRequest::DiscoverRequest(_)))
}

/// What a server says that refuses a request.
enum Refusal {
    /// An error of the protocol.
    Message(ErrorData),
    /// It wants another authorization.
    Challenge(String),
    Other(String),
}

async fn refusal(response: Response) -> Refusal {
    let challenge = header(response.headers(), WWW_AUTHENTICATE.as_str());
    let is_challenge = response.status() == StatusCode::UNAUTHORIZED;
    if let Some(challenge) = challenge.filter(|_| is_challenge) {
        return Refusal::Challenge(short(&challenge));
    }
    match body_within(response, MAX_REFUSAL_BYTES).await {
        Ok(Body::Whole(body)) => match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
            Ok(JsonRpcMessage::Error(error)) => Refusal::Message(error.error),
            _ => Refusal::Other(short(&String::from_utf8_lossy(&body))),
        },
        Ok(Body::TooLarge(bytes)) => Refusal::Other(format!("a body of more than {bytes} bytes")),
        Err(_) => Refusal::Other("a body that can't be read".to_owned()),
    }
}

enum Body {
    Whole(Vec<u8>),
    /// It has more bytes than are taken.
    TooLarge(usize),
}

async fn body_within(mut response: Response, max: usize) -> Result<Body, Error> {
    let mut body = Vec::new();
    let chunk = |error: reqwest::Error| Error::Client(error.without_url());
    while let Some(bytes) = response.chunk().await.map_err(chunk)? {
        if body.len() + bytes.len() > max {
            return Ok(Body::TooLarge(body.len() + bytes.len()));
        }
        body.extend_from_slice(&bytes);
    }
    Ok(Body::Whole(body))
}

/// The events of a response. One that is too large ends them, and where they answer a request, an error is
/// put in its place.
fn events(response: Response, max: usize, request: Option<RequestId>) -> Events {
    let state = Reading {
        response: Some(response),
        event: EventSize::default(),
        max,
        too_large: None,
    };
    let reading = Arc::new(std::sync::Mutex::new(None));
    let ended = reading.clone();
    let bytes: Pin<Box<dyn futures_util::Stream<Item = _> + Send>> =
        Box::pin(stream::unfold(state, move |mut state| {
            let reading = reading.clone();
            async move {
                let next = state.next().await;
                if let Some(size) = state.too_large {
                    // Nothing that holds the lock can panic half-way through a change.
                    let mut held = reading.lock().unwrap_or_else(|held| held.into_inner());
                    *held = Some(size);
                }
                next.map(|next| (next, state))
            }
        }));
    let last = stream::once(async move {
        let size = *ended.lock().unwrap_or_else(|held| held.into_inner());
        let message = dropped(request?, size?, max);
        let data = serde_json::to_string(&message).ok()?;
        Some(Ok(Sse::default().data(data)))
    });
    let last = last.filter_map(std::future::ready);
    SseStream::from_bytes_stream(bytes).chain(last).boxed()
}

struct Reading {
    response: Option<Response>,
    event: EventSize,
    max: usize,
    too_large: Option<usize>,
}

impl Reading {
    async fn next(&mut self) -> Option<Result<Bytes, reqwest::Error>> {
        let response = self.response.as_mut()?;
        match response.chunk().await {
            Ok(Some(bytes)) if self.event.add(&bytes) <= self.max => Some(Ok(bytes)),
            Ok(Some(_)) => {
                self.too_large = Some(self.event.largest);
                self.response = None;
                None
            }
            Ok(None) => None,
            Err(error) => {
                self.response = None;
                Some(Err(error.without_url()))
            }
        }
    }
}

/// Counts the bytes of the event that is being read.
#[derive(Default)]
struct EventSize {
    bytes: usize,
    largest: usize,
    is_line_empty: bool,
}

impl EventSize {
    /// The size of the largest event so far that bytes belong to.
    fn add(&mut self, bytes: &[u8]) -> usize {
        self.largest = 0;
        for byte in bytes {
            self.bytes += 1;
            match byte {
                b'\n' if self.is_line_empty => self.bytes = 0,
                b'\n' => self.is_line_empty = true,
                b'\r' => {}
                _ => self.is_line_empty = false,
            }
            self.largest = self.largest.max(self.bytes);
        }
        self.largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_of_one_event() {
        let mut size = EventSize::default();
        assert_eq!(size.add(b"data: 12345\n"), 12);
        assert_eq!(size.add(b"data: 1\n"), 20);
        assert_eq!(size.add(b"\n"), 0);
        assert_eq!(size.add(b"data: 1\r\n\r\ndata: 2"), 10);
        assert_eq!(size.add(b"34"), 9);
    }
}
