//! axum alone, sending bytes that were made before: what no server on the same stack can beat.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use axum::routing::{get, post};
use futures_util::{SinkExt, Stream, StreamExt, stream};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::stage::{self, DELTA};
use crate::streaming::DELTAS;

/// How many chunks come before the first delta.
const FIRST: usize = 3;

struct Bare {
    go: watch::Sender<u64>,
    /// How many deltas the turn has said that many watch.
    ready_count: watch::Sender<usize>,
}

/// Serves the same streams as [`stage`] does, with nothing behind them.
pub async fn serve(listener: TcpListener) -> Result<(), Box<dyn std::error::Error>> {
    let (go, _) = watch::channel(0);
    let (ready_count, _) = watch::channel(0);
    let router = Router::new()
        .route("/api/chat", post(send))
        .route("/api/chat/{id}/stream", get(resume))
        .route("/api/chat/live", get(live))
        .route("/bench/go", post(go_on))
        .with_state(Arc::new(Bare { go, ready_count }));
    stage::listen(listener, router).await
}

/// Serves the same stream by axum's own type for server-sent events, as its documentation has it.
pub async fn serve_sse(listener: TcpListener) -> Result<(), Box<dyn std::error::Error>> {
    let chunks: Arc<Vec<String>> = Arc::new((0..DELTAS + 6).map(|i| chunk(i, DELTAS)).collect());
    let send = async move |body: String| {
        let chunks = chunks.clone();
        let events = (0..chunks.len()).map(move |index| {
            let event = Event::default().data(&chunks[index]);
            Ok::<_, Infallible>(event)
        });
        let done = Ok(Event::default().data("[DONE]"));
        let events = stream::iter(events.chain([done]));
        let sse = match Order::of(&body) {
            Order::Paced => Sse::new(at_pace(events).boxed()),
            _ => Sse::new(events.boxed()),
        };
        sse.keep_alive(KeepAlive::default())
    };
    stage::listen(listener, Router::new().route("/api/chat", post(send))).await
}

fn chunk(index: usize, count: usize) -> String {
    match index {
        0 => r#"{"type":"start","messageId":"message_0123456789abcdef"}"#.to_owned(),
        1 => r#"{"type":"start-step"}"#.to_owned(),
        2 => r#"{"type":"text-start","id":"1"}"#.to_owned(),
        index if index == count + 3 => r#"{"type":"text-end","id":"1"}"#.to_owned(),
        index if index == count + 4 => r#"{"type":"finish-step"}"#.to_owned(),
        index if index == count + 5 => {
            r#"{"type":"finish","finishReason":"stop","messageMetadata":{"turn":"finished"}}"#
                .to_owned()
        }
        _ => format!(r#"{{"type":"text-delta","id":"1","delta":"{DELTA}"}}"#),
    }
}

/// Each event as bytes that are shared by all responses.
fn events(count: usize) -> Vec<Bytes> {
    let events = (0..count + 6).map(|index| format!("data: {}\n\n", chunk(index, count)));
    let done = ["data: [DONE]\n\n".to_owned()];
    events.chain(done).map(Bytes::from).collect()
}

static EVENTS: LazyLock<Vec<Bytes>> = LazyLock::new(|| events(DELTAS));
static ONE: LazyLock<Vec<Bytes>> = LazyLock::new(|| events(1));

/// What a client asks for, as [`stage`] reads it.
#[derive(Debug, Clone, Copy)]
enum Order {
    /// All deltas at once.
    Deltas,
    /// The same at the pace of a model.
    Paced,
    /// The same once the word is given, for all who watch.
    Watched,
    /// What is being said for all who watch.
    Resume,
    /// One delta, once the word is given.
    Wait,
}

impl Order {
    fn of(body: &str) -> Self {
        let orders = [
            ("\"deltas ", Self::Deltas),
            ("\"paced ", Self::Paced),
            ("\"watched ", Self::Watched),
            ("\"resume\"", Self::Resume),
        ];
        let mut orders = orders.into_iter();
        let found = orders.find(|(word, _)| body.contains(word));
        found.map_or(Self::Wait, |(_, order)| order)
    }
}

/// The deltas of a turn when they are due; the chunks around them come with the first and the last.
fn at_pace<T>(all: impl Stream<Item = T> + Unpin) -> impl Stream<Item = T> {
    // The first delta waits for its moment; what is before it does not.
    let head = stream::repeat(()).take(FIRST);
    let tail = stream::repeat(());
    let moments = head.chain(stage::ticks(DELTAS, None)).chain(tail);
    Box::pin(moments).zip(all).map(|(_, one)| one)
}

/// The events of the turn that many watch, as they come.
fn followed(ready_count: watch::Receiver<usize>) -> impl Stream<Item = usize> {
    stream::unfold((ready_count, 0), async |(mut ready_count, sent)| {
        // The chunks before and after the deltas are there with the first and the last of them.
        let ready = |count| match count {
            DELTAS => EVENTS.len(),
            count => FIRST + count,
        };
        if sent == EVENTS.len() {
            return None;
        }
        while sent == ready(*ready_count.borrow_and_update()) {
            ready_count.changed().await.ok()?;
        }
        Some((sent, (ready_count, sent + 1)))
    })
}

/// Begins the turn that many watch: it is said once the word is given.
fn begin(bare: &Arc<Bare>) {
    let (bare, go) = (bare.clone(), bare.go.subscribe());
    bare.ready_count.send_replace(0);
    tokio::spawn(async move {
        let ticks = stage::ticks(DELTAS, Some(go));
        ticks
            .for_each(async |()| {
                bare.ready_count
                    .send_modify(|ready_count| *ready_count += 1)
            })
            .await;
    });
}

async fn send(State(bare): State<Arc<Bare>>, body: String) -> Response {
    let all = || stream::iter(EVENTS.iter().cloned());
    let body = match Order::of(&body) {
        Order::Deltas => Body::from_stream(all().map(Ok::<_, Infallible>)),
        Order::Paced => Body::from_stream(at_pace(all()).map(Ok::<_, Infallible>)),
        Order::Watched | Order::Resume => {
            begin(&bare);
            watch(&bare)
        }
        Order::Wait => {
            let mut go = bare.go.subscribe();
            let first = stream::iter(ONE[..3].iter().cloned());
            let ready_count = stream::once(async move {
                let _ = go.changed().await;
                ONE[3].clone()
            });
            let rest = stream::iter(ONE[4..].iter().cloned());
            Body::from_stream(
                first
                    .chain(ready_count)
                    .chain(rest)
                    .map(Ok::<_, Infallible>),
            )
        }
    };
    ([("content-type", "text/event-stream")], body).into_response()
}

async fn resume(State(bare): State<Arc<Bare>>) -> Response {
    ([("content-type", "text/event-stream")], watch(&bare)).into_response()
}

fn watch(bare: &Bare) -> Body {
    let events = followed(bare.ready_count.subscribe()).map(|index| EVENTS[index].clone());
    Body::from_stream(events.map(Ok::<_, Infallible>))
}

async fn go_on(State(bare): State<Arc<Bare>>) {
    bare.go.send_modify(|ready_count| *ready_count += 1);
}

async fn live(State(bare): State<Arc<Bare>>, upgrade: WebSocketUpgrade) -> Response {
    let upgrade = upgrade
        .read_buffer_size(8 * 1024)
        .write_buffer_size(8 * 1024);
    upgrade.on_upgrade(|socket| talk(socket, bare))
}

/// Each frame of a window as text that is shared by all sockets: its start, its chunks, its end.
static FRAMES: LazyLock<Vec<Utf8Bytes>> = LazyLock::new(|| {
    let start = Utf8Bytes::from(r#"{"type":"start","requestId":"r"}"#);
    let end = Utf8Bytes::from(r#"{"type":"end","requestId":"r"}"#);
    let chunks = (0..DELTAS + 6).map(|index| {
        let chunk = chunk(index, DELTAS);
        format!(r#"{{"type":"chunk","requestId":"r","sequence":{index},"chunk":{chunk}}}"#)
    });
    let chunks = chunks.map(Utf8Bytes::from);
    [start].into_iter().chain(chunks).chain([end]).collect()
});

async fn talk(mut socket: WebSocket, bare: Arc<Bare>) {
    while let Some(Ok(Message::Text(text))) = socket.next().await {
        let order = Order::of(&text);
        if matches!(order, Order::Watched) {
            begin(&bare);
        }
        let sent = match order {
            Order::Paced => {
                let ([first, ..], rest) = FRAMES.split_at(1) else {
                    return;
                };
                let frames = at_pace(stream::iter(rest.iter().cloned()));
                send_each(&mut socket, stream::iter([first.clone()]).chain(frames)).await
            }
            Order::Watched | Order::Resume => {
                let followed = followed(bare.ready_count.subscribe());
                let first = stream::iter([FRAMES[0].clone()]);
                let frames = first.chain(followed.map(|index| FRAMES[index + 1].clone()));
                send_each(&mut socket, frames).await
            }
            Order::Deltas | Order::Wait => send_all(&mut socket).await,
        };
        if sent.is_err() {
            return;
        }
    }
}

/// Sends all frames at once.
async fn send_all(socket: &mut WebSocket) -> Result<(), axum::Error> {
    for frame in FRAMES.iter() {
        socket.feed(Message::Text(frame.clone())).await?;
    }
    socket.flush().await
}

/// Sends each frame when it comes.
async fn send_each(
    socket: &mut WebSocket,
    frames: impl Stream<Item = Utf8Bytes>,
) -> Result<(), axum::Error> {
    let mut frames = std::pin::pin!(frames);
    while let Some(frame) = frames.next().await {
        socket.send(Message::Text(frame)).await?;
    }
    Ok(())
}
