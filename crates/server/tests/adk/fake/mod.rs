//! A small ADK server that keeps sessions as the real one does, and fails on request.
//!
//! The real one judges us elsewhere (`python/adk`, `web/conformance`); this one can be stopped
//! between any two events.

mod habits;
mod script;

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::stream::{Stream, StreamExt as _, unfold};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::time::timeout;

pub(crate) use self::habits::Habits;
use self::script::script;

/// How long anything is waited for. A machine may be busy.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(30);

/// The server, and what it was asked.
#[derive(Clone, Default)]
pub(crate) struct Fake {
    inner: Arc<Mutex<Inner>>,
    /// Releases requests that are held.
    pub(crate) release: Arc<Notify>,
    /// Says that somebody is held.
    held: Arc<Notify>,
    /// Says that it was asked something, or has kept something.
    changed: Arc<Notify>,
}

#[derive(Default)]
struct Inner {
    habits: Habits,
    sessions: HashMap<String, Vec<Value>>,
    /// How many it named itself.
    named: usize,
    runs: Vec<Value>,
    /// From where they came.
    peers: Vec<SocketAddr>,
    /// In which sessions money was paid.
    paid: Vec<String>,
    /// Whether what it is sent next lies before it for a while.
    is_slow: bool,
    /// How often it fails to make a session, and with how many of its events it is made all the same.
    failing: usize,
    kept: Option<usize>,
    /// How often it was asked to make one.
    made: usize,
    /// What lies before it: the session, and what it will keep there.
    late: Option<(String, [Value; 2])>,
    /// Whether nobody is held.
    is_free: bool,
    /// How often somebody was held.
    holds: usize,
}

/// One frame of a run.
enum Frame {
    Event(Value),
    Raw(&'static str),
    /// Waits until it is released, or until the client disconnects.
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
            .route("/version", get(version))
            .route("/apps/app/app-info", get(info))
            .route("/apps/app/users/{user}/sessions", post(make_session))
            .route(
                "/apps/app/users/{user}/sessions/{id}",
                get(session).post(make_named_session).delete(drop_session),
            )
            .route("/run_sse", post(run))
            .with_state(self.clone());
        let router = router.into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, router).await });
        address
    }

    /// Behaves so from now on.
    pub(crate) fn behave(&self, habits: Habits) {
        self.inner.lock().unwrap().habits = habits;
    }

    fn habits(&self) -> Habits {
        self.inner.lock().unwrap().habits
    }

    pub(crate) fn runs(&self) -> Vec<Value> {
        self.inner.lock().unwrap().runs.clone()
    }

    /// From where its runs were asked for.
    pub(crate) fn peers(&self) -> Vec<SocketAddr> {
        self.inner.lock().unwrap().peers.clone()
    }

    pub(crate) fn paid(&self) -> usize {
        self.inner.lock().unwrap().paid.len()
    }

    /// How often money was paid in a chat.
    pub(crate) fn paid_in(&self, chat: &str) -> usize {
        let inner = self.inner.lock().unwrap();
        let is_in = |id: &&String| id.split('~').next() == Some(chat);
        inner.paid.iter().filter(is_in).count()
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

    /// As if its database were locked when the next sessions are made: this many times. What it keeps of
    /// them are the first events, if anything.
    pub(crate) fn lock(&self, times: usize, kept: Option<usize>) {
        let mut inner = self.inner.lock().unwrap();
        (inner.failing, inner.kept, inner.made) = (times, kept, 0);
    }

    /// How often it was asked to make a session since its database was locked.
    pub(crate) fn made(&self) -> usize {
        self.inner.lock().unwrap().made
    }

    /// As if it had kept its sessions in memory, and had been restarted.
    pub(crate) fn forget(&self) {
        self.inner.lock().unwrap().sessions.clear();
    }

    /// What it has kept of its sessions.
    pub(crate) fn kept(&self) -> Value {
        let sessions = self.inner.lock().unwrap().sessions.clone();
        json!(sessions.into_iter().collect::<BTreeMap<_, _>>())
    }

    /// As if it had kept them.
    pub(crate) fn remember(&self, sessions: &Value) {
        let sessions = serde_json::from_value(sessions.clone()).unwrap();
        self.inner.lock().unwrap().sessions = sessions;
    }

    /// Holds nobody from now on.
    pub(crate) fn set_free(&self) {
        self.inner.lock().unwrap().is_free = true;
    }

    /// How often somebody was held.
    pub(crate) fn held(&self) -> usize {
        self.inner.lock().unwrap().holds
    }

    /// How many of its runs nobody listened to.
    pub(crate) fn aborted(&self) -> usize {
        let sessions = self.kept().to_string();
        sessions.matches("INVOCATION_ABORTED").count()
    }

    /// As if it were blocked: what it is sent next is read after a client has looked for it in vain, and
    /// nobody listens by then.
    pub(crate) fn stand_still(&self) {
        self.inner.lock().unwrap().is_slow = true;
    }

    /// Waits until somebody is held.
    pub(crate) async fn holds(&self) {
        let held = timeout(TIME_LIMIT, self.held.notified()).await;
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
        timeout(TIME_LIMIT, waiting).await.expect("it never is so");
    }

    fn make(&self, id: String, body: &Value) -> Response {
        let mut inner = self.inner.lock().unwrap();
        inner.made += 1;
        let habits = inner.habits;
        if inner.sessions.contains_key(&id) {
            if habits.explains_in_text {
                return in_text(500, format!("session {id} already exists"));
            }
            let status = match habits.names_sessions {
                true => StatusCode::BAD_REQUEST,
                false => StatusCode::CONFLICT,
            };
            let answer = habits.refusal(&format!("Session already exists: {id}"));
            return (status, Json(answer)).into_response();
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
        inner.sessions.insert(id.clone(), events.clone());
        match habits.tells_no_events {
            true => Json(json!({"id": id})).into_response(),
            false => Json(json!({"id": id, "events": events})).into_response(),
        }
    }

    fn store(&self, session: &str, event: Value) {
        let mut inner = self.inner.lock().unwrap();
        inner.sessions.get_mut(session).unwrap().push(event);
        self.changed.notify_waiters();
    }
}

fn in_text(status: u16, why: String) -> Response {
    (StatusCode::from_u16(status).unwrap(), why).into_response()
}

async fn version(State(fake): State<Fake>) -> Response {
    match fake.habits().version {
        Some(version) => Json(json!({"version": version})).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn info() -> Json<Value> {
    Json(json!({"name": "app", "rootAgentName": "root"}))
}

async fn make_session(State(fake): State<Fake>, Json(mut body): Json<Value>) -> Response {
    let mut id = body["sessionId"].as_str().unwrap().to_owned();
    if fake.habits().names_sessions {
        let mut inner = fake.inner.lock().unwrap();
        inner.named += 1;
        id = format!("named-{}", inner.named);
        if !inner.habits.takes_history {
            body["events"] = json!([]);
        }
    } else {
        // Another session of a chat is called after it.
        let chat = body["state"]["adk_stream"]["chat"].as_str().unwrap();
        assert!(id == chat || id.starts_with(&format!("{chat}~")), "{body}");
    }
    fake.make(id, &body)
}

async fn make_named_session(
    State(fake): State<Fake>,
    Path((_, id)): Path<(String, String)>,
    Json(mut body): Json<Value>,
) -> Response {
    if !fake.habits().takes_history {
        body["events"] = json!([]);
    }
    fake.make(id, &body)
}

async fn drop_session(State(fake): State<Fake>, Path((_, id)): Path<(String, String)>) {
    fake.inner.lock().unwrap().sessions.remove(&id);
}

async fn session(State(fake): State<Fake>, Path((_, id)): Path<(String, String)>) -> Response {
    let mut inner = fake.inner.lock().unwrap();
    let late = inner.late.take_if(|(session, _)| *session == id);
    let habits = inner.habits;
    if habits.fails_to_read {
        return in_text(500, "Internal Server Error".to_owned());
    }
    let Some(events) = inner.sessions.get_mut(&id) else {
        if habits.explains_in_text {
            return in_text(500, format!("session {id} not found"));
        }
        let answer = habits.refusal("Session not found");
        return (StatusCode::NOT_FOUND, Json(answer)).into_response();
    };
    let answer = Json(json!({"id": id, "events": events}));
    events.extend(late.into_iter().flat_map(|(_, read)| read));
    answer.into_response()
}

async fn run(
    State(fake): State<Fake>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Json(body): Json<Value>,
) -> Response {
    let id = body["sessionId"].as_str().unwrap().to_owned();
    let habits = fake.habits();
    if habits.is_strict && !body["customMetadata"].is_null() {
        let answer = "json: unknown field \"customMetadata\"";
        return (StatusCode::BAD_REQUEST, answer).into_response();
    }
    {
        let mut inner = fake.inner.lock().unwrap();
        if !inner.sessions.contains_key(&id) {
            if habits.explains_in_text {
                let why = "failed to find the session: failed to get session: record not found";
                return in_text(404, why.to_owned());
            }
            let answer = habits.refusal(&format!("Session not found: {id}"));
            return (StatusCode::NOT_FOUND, Json(answer)).into_response();
        }
        inner.runs.push(body.clone());
        inner.peers.push(peer);
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
    let (user, mark) = (habits.user(&body), habits.mark(&body));
    if std::mem::take(&mut fake.inner.lock().unwrap().is_slow) {
        fake.inner.lock().unwrap().late = Some((id, [user, aborted(&mark)]));
        return std::future::pending().await;
    }
    fake.store(&id, user);
    let frames = script(&said, &message["parts"], habits);
    let stream = play(frames, fake, id, mark);
    let stream = match habits.runs_on {
        true => Body::from_stream(unread(stream)),
        false => Body::from_stream(stream),
    };
    ([("content-type", "text/event-stream")], stream).into_response()
}

type Played = Result<Bytes, std::io::Error>;

/// The frames of a run, one after the other, while somebody takes them.
fn play(frames: Vec<Frame>, fake: Fake, id: String, mark: Value) -> impl Stream<Item = Played> {
    unfold(
        (frames.into_iter(), fake, id, mark),
        async |(mut frames, fake, id, mark)| {
            loop {
                let bytes = match frames.next()? {
                    Frame::Event(mut event) => {
                        if event["author"].is_null() {
                            event["author"] = json!("root");
                        }
                        event["customMetadata"] = mark.clone();
                        if event["partial"] != true {
                            fake.store(&id, event.clone());
                        }
                        Bytes::from(format!("data: {event}\n\n"))
                    }
                    Frame::Raw(text) => Bytes::from_static(text.as_bytes()),
                    Frame::Hold if fake.inner.lock().unwrap().is_free => continue,
                    Frame::Hold => {
                        let guard = Abort(fake.clone(), id.clone(), mark.clone());
                        fake.inner.lock().unwrap().holds += 1;
                        fake.changed.notify_waiters();
                        fake.held.notify_one();
                        fake.release.notified().await;
                        std::mem::forget(guard);
                        continue;
                    }
                    Frame::Pay => {
                        fake.inner.lock().unwrap().paid.push(id.clone());
                        fake.changed.notify_waiters();
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
    )
}

/// A run that does not care whether anybody reads it.
fn unread(stream: impl Stream<Item = Played> + Send + 'static) -> impl Stream<Item = Played> {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(stream.for_each(move |played| {
        let _ = sender.send(played);
        std::future::ready(())
    }));
    unfold(receiver, async |mut receiver| {
        let played = receiver.recv().await?;
        Some((played, receiver))
    })
}

/// What the real one keeps of a run whose client hangs up.
struct Abort(Fake, String, Value);

impl Drop for Abort {
    fn drop(&mut self) {
        if self.0.habits().never_seals {
            return;
        }
        self.0.store(&self.1, aborted(&self.2));
    }
}

fn aborted(mark: &Value) -> Value {
    json!({"author": "root", "errorCode": "INVOCATION_ABORTED", "customMetadata": mark})
}
