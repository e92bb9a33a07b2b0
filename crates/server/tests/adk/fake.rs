//! A small ADK server that keeps sessions as the real one does, and goes wrong when it is told to.
//!
//! The real one judges us elsewhere (`python/adk`, `web/conformance`); this one can be stopped
//! between any two events.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::stream::unfold;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::time::timeout;

/// How long anything is waited for. A machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The server, and what it was asked.
#[derive(Clone, Default)]
pub(crate) struct Fake {
    inner: Arc<Mutex<Inner>>,
    /// Lets go of who is held.
    pub(crate) release: Arc<Notify>,
    /// Says that somebody is held.
    held: Arc<Notify>,
    /// Says that it was asked something, or has kept something.
    changed: Arc<Notify>,
}

#[derive(Default)]
struct Inner {
    sessions: HashMap<String, Vec<Value>>,
    runs: Vec<Value>,
    /// How often money was paid.
    paid: usize,
    /// Whether what it is sent next lies before it for a while.
    is_slow: bool,
    /// How often it fails to make a session, and with how many of its events it is made all the same.
    failing: usize,
    kept: Option<usize>,
    /// How often it was told to make one.
    made: usize,
    /// What lies before it: the session, and what it will keep there.
    late: Option<(String, [Value; 2])>,
}

/// One frame of a run.
enum Frame {
    Event(Value),
    Raw(&'static str),
    /// Waits until it is let go, or until the client hangs up.
    Hold,
    /// Pays, if nobody has hung up.
    Pay,
    /// Breaks the connection.
    Break,
}

impl Fake {
    pub(crate) async fn start(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new()
            .route("/apps/app/app-info", get(info))
            .route("/apps/app/users/ann/sessions", post(make_session))
            .route("/apps/app/users/ann/sessions/{id}", get(session))
            .route("/run_sse", post(run))
            .with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        address
    }

    pub(crate) fn runs(&self) -> Vec<Value> {
        self.inner.lock().unwrap().runs.clone()
    }

    pub(crate) fn paid(&self) -> usize {
        self.inner.lock().unwrap().paid
    }

    pub(crate) fn sessions(&self) -> Vec<String> {
        let mut ids: Vec<_> = self
            .inner
            .lock()
            .unwrap()
            .sessions
            .keys()
            .cloned()
            .collect();
        ids.sort();
        ids
    }

    pub(crate) fn events(&self, session: &str) -> Vec<Value> {
        self.inner.lock().unwrap().sessions[session].clone()
    }

    /// As if its database were locked when the next sessions are made: so many times. What it keeps of
    /// them are the first events, if anything.
    pub(crate) fn lock(&self, times: usize, kept: Option<usize>) {
        let mut inner = self.inner.lock().unwrap();
        (inner.failing, inner.kept, inner.made) = (times, kept, 0);
    }

    /// How often it was told to make a session since its database was locked.
    pub(crate) fn made(&self) -> usize {
        self.inner.lock().unwrap().made
    }

    /// As if it had kept its sessions in memory, and had been restarted.
    pub(crate) fn forget(&self) {
        self.inner.lock().unwrap().sessions.clear();
    }

    /// As if it stood still: what it is sent next is read after somebody has looked for it in vain, and
    /// nobody listens by then.
    pub(crate) fn stand_still(&self) {
        self.inner.lock().unwrap().is_slow = true;
    }

    /// Waits until somebody is held.
    pub(crate) async fn holds(&self) {
        let held = timeout(PATIENCE, self.held.notified()).await;
        held.expect("nobody is held");
    }

    /// Waits until something is so.
    pub(crate) async fn until(&self, is_so: impl Fn(&Self) -> bool) {
        let waiting = async {
            loop {
                let changed = self.changed.notified();
                if is_so(self) {
                    return;
                }
                changed.await;
            }
        };
        timeout(PATIENCE, waiting).await.expect("it never is so");
    }

    fn store(&self, session: &str, event: Value) {
        let mut inner = self.inner.lock().unwrap();
        inner.sessions.get_mut(session).unwrap().push(event);
        self.changed.notify_waiters();
    }
}

async fn info() -> Json<Value> {
    Json(json!({"name": "app", "rootAgentName": "root"}))
}

async fn make_session(State(fake): State<Fake>, Json(body): Json<Value>) -> Response {
    let id = body["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(body["state"]["adk_stream"]["chat"], "chat-1");
    let mut inner = fake.inner.lock().unwrap();
    inner.made += 1;
    if inner.sessions.contains_key(&id) {
        let told = json!({"detail": format!("Session already exists: {id}")});
        return (StatusCode::CONFLICT, Json(told)).into_response();
    }
    let mut events = body["events"].as_array().cloned().unwrap_or_default();
    if inner.failing > 0 {
        inner.failing -= 1;
        if let Some(kept) = inner.kept {
            events.truncate(kept);
            inner.sessions.insert(id, events);
        }
        return (StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error").into_response();
    }
    inner.sessions.insert(id.clone(), events);
    Json(json!({"id": id})).into_response()
}

async fn session(State(fake): State<Fake>, Path(id): Path<String>) -> Response {
    let mut inner = fake.inner.lock().unwrap();
    let late = inner.late.take_if(|(session, _)| *session == id);
    let Some(events) = inner.sessions.get_mut(&id) else {
        let told = json!({"detail": "Session not found"});
        return (StatusCode::NOT_FOUND, Json(told)).into_response();
    };
    let told = Json(json!({"id": id, "events": events}));
    events.extend(late.into_iter().flat_map(|(_, read)| read));
    told.into_response()
}

async fn run(State(fake): State<Fake>, Json(body): Json<Value>) -> Response {
    let id = body["sessionId"].as_str().unwrap().to_owned();
    let mark = body["customMetadata"].clone();
    {
        let mut inner = fake.inner.lock().unwrap();
        if !inner.sessions.contains_key(&id) {
            let told = json!({"detail": format!("Session not found: {id}")});
            return (StatusCode::NOT_FOUND, Json(told)).into_response();
        }
        inner.runs.push(body.clone());
        fake.changed.notify_waiters();
    }
    let message = body["newMessage"].clone();
    let said = message["parts"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    if said == "out of order" {
        return (StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error").into_response();
    }
    let user = json!({"author": "user", "content": message, "customMetadata": mark});
    if std::mem::take(&mut fake.inner.lock().unwrap().is_slow) {
        fake.inner.lock().unwrap().late = Some((id, [user, aborted(&mark)]));
        return std::future::pending().await;
    }
    fake.store(&id, user);
    let frames = script(&said, &message["parts"]);
    let stream = unfold(
        (frames.into_iter(), fake.clone(), id, mark),
        async |(mut frames, fake, id, mark)| {
            loop {
                let bytes = match frames.next()? {
                    Frame::Event(mut event) => {
                        event["author"] = json!("root");
                        event["customMetadata"] = mark.clone();
                        if event["partial"] != true {
                            fake.store(&id, event.clone());
                        }
                        Bytes::from(format!("data: {event}\n\n"))
                    }
                    Frame::Raw(text) => Bytes::from_static(text.as_bytes()),
                    Frame::Hold => {
                        let guard = Abort(fake.clone(), id.clone(), mark.clone());
                        fake.held.notify_one();
                        fake.release.notified().await;
                        std::mem::forget(guard);
                        continue;
                    }
                    Frame::Pay => {
                        fake.inner.lock().unwrap().paid += 1;
                        continue;
                    }
                    Frame::Break => {
                        let broken = Err(std::io::Error::other("broken"));
                        return Some((broken, (frames, fake, id, mark)));
                    }
                };
                return Some((Ok(bytes), (frames, fake, id, mark)));
            }
        },
    );
    let stream = Body::from_stream(stream);
    ([("content-type", "text/event-stream")], stream).into_response()
}

/// What the real one keeps of a run whose client hangs up.
struct Abort(Fake, String, Value);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.store(&self.1, aborted(&self.2));
    }
}

fn aborted(mark: &Value) -> Value {
    json!({"author": "root", "errorCode": "INVOCATION_ABORTED", "customMetadata": mark})
}

fn text(text: &str) -> Vec<Frame> {
    let part = |text: &str| json!({"role": "model", "parts": [{"text": text}]});
    let (first, rest) = text.split_at(text.len() / 2);
    vec![
        Frame::Event(json!({"id": text, "content": part(first), "partial": true})),
        Frame::Event(json!({"id": text, "content": part(rest), "partial": true})),
        Frame::Event(json!({"id": text, "content": part(text), "partial": false})),
    ]
}

fn call(id: &str, name: &str) -> Frame {
    let call = json!({"functionCall": {"id": id, "name": name, "args": {"amount": 5}}});
    Frame::Event(json!({"content": {"role": "model", "parts": [call]}}))
}

fn response(id: &str, name: &str, response: Value) -> Frame {
    let response = json!({"functionResponse": {"id": id, "name": name, "response": response}});
    Frame::Event(json!({"content": {"role": "user", "parts": [response]}}))
}

fn asking() -> Vec<Frame> {
    let original = json!({"id": "p1", "name": "pay", "args": {"amount": 5}});
    let args = json!({"originalFunctionCall": original, "toolConfirmation": {"hint": "Pay 5?"}});
    let ask = json!({"id": "conf", "name": "adk_request_confirmation", "args": args});
    let content = json!({"role": "model", "parts": [{"functionCall": ask}]});
    let placeholder = json!({"id": "p1", "name": "pay", "response": {"error": "confirm"}});
    let placeholder = json!({
        "content": {"role": "user", "parts": [{"functionResponse": placeholder}]},
        "actions": {"requestedToolConfirmations": {"p1": {"hint": "Pay 5?"}}},
    });
    vec![
        call("p1", "pay"),
        Frame::Event(json!({"content": content, "longRunningToolIds": ["conf"]})),
        Frame::Event(placeholder),
    ]
}

/// Calls whose results come from outside, beside others or not.
fn waiting(ids: &[&str], others: &[&str]) -> Frame {
    let call = |id: &&str| json!({"functionCall": {"id": id, "name": id, "args": {}}});
    let calls: Vec<_> = ids.iter().chain(others).map(call).collect();
    Frame::Event(json!({
        "content": {"role": "model", "parts": calls},
        "longRunningToolIds": ids,
    }))
}

fn asking_about(id: &str, question: &str) -> [Frame; 2] {
    let original = json!({"id": id, "name": id, "args": {}});
    let args = json!({"originalFunctionCall": original, "toolConfirmation": {"hint": question}});
    let conf = format!("conf-{id}");
    let ask = json!({"id": conf, "name": "adk_request_confirmation", "args": args});
    let placeholder = json!({"id": id, "name": id, "response": {"error": "confirm"}});
    [
        Frame::Event(json!({
            "content": {"role": "model", "parts": [{"functionCall": ask}]},
            "longRunningToolIds": [conf],
        })),
        Frame::Event(json!({
            "content": {"role": "user", "parts": [{"functionResponse": placeholder}]},
            "actions": {"requestedToolConfirmations": {id: {"hint": question}}},
        })),
    ]
}

/// What the agent does, by what it is told.
fn script(said: &str, parts: &Value) -> Vec<Frame> {
    let answers: Vec<&Value> = parts.as_array().unwrap().iter().collect();
    let response_of = |id: &str| {
        let mut answers = answers.iter().map(|part| &part["functionResponse"]);
        answers.find(|response| response["id"] == id)
    };
    let paid = || response("p1", "pay", json!({"paid": 5}));
    if let Some(answer) = response_of("conf") {
        return match answer["response"]["confirmed"] == true {
            true => [vec![Frame::Hold, Frame::Pay, paid()], text("Paid.")]
                .into_iter()
                .flatten()
                .collect(),
            false => text("Not paid."),
        };
    }
    if response_of("p1").is_some() || response_of("w1").is_some() {
        return text("I see.");
    }
    if let Some(first) = answers
        .first()
        .map(|part| &part["functionResponse"]["response"])
        && !first.is_null()
    {
        return text(&format!("It says {first}."));
    }
    match said {
        "pay" => asking(),
        "music" => vec![waiting(&["music"], &[])],
        "report" => {
            let pending = response("report", "report", json!({"status": "pending"}));
            let mut frames = vec![waiting(&["report"], &[]), pending];
            frames.extend(text("I will tell you."));
            frames
        }
        "where" => {
            let mut frames = vec![waiting(&["where"], &[])];
            frames.extend(asking_about("where", "Tell where you are?"));
            frames
        }
        "both" => vec![
            waiting(&["music"], &["weather"]),
            Frame::Hold,
            response("weather", "weather", json!({"sky": "blue"})),
        ],
        "weather" => {
            let sunny = response("w1", "weather", json!({"sky": "blue"}));
            let mut frames = vec![call("w1", "weather"), Frame::Hold, sunny];
            frames.extend(text("It is sunny."));
            frames
        }
        "linger" => {
            let mut frames = text("That is all.");
            let end = json!({"actions": {"endOfAgent": true}});
            frames.extend([Frame::Event(end), Frame::Hold]);
            frames
        }
        "garbage" => vec![Frame::Raw("data: {\"content\": \n\n")],
        "odd" => vec![Frame::Raw("data: {\"content\": 7}\n\n")],
        "break" => {
            let mut frames = text("I was about to");
            frames.truncate(1);
            frames.push(Frame::Break);
            frames
        }
        "raise" => vec![
            call("w1", "weather"),
            Frame::Event(json!({"errorCode": "RuntimeError", "errorMessage": "it broke"})),
            Frame::Raw("data: {\"error\": \"RuntimeError: it broke\"}\n\n"),
        ],
        "busy" => vec![Frame::Raw(
            "data: {\"error\": \"_ResourceExhaustedError: 429 RESOURCE_EXHAUSTED.\"}\n\n",
        )],
        _ => text("Hello."),
    }
}
