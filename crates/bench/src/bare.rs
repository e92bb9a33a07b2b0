//! axum alone, sending bytes that were made before: what no server on the same stack can beat.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use axum::routing::{get, post};
use futures_util::{SinkExt, StreamExt, stream};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::stage::{self, DELTA};

struct Bare {
    go: watch::Sender<u64>,
}

/// Serves the same streams as [`stage`] does, with nothing behind them.
pub async fn serve(listener: TcpListener) -> Result<(), Box<dyn std::error::Error>> {
    let (go, _) = watch::channel(0);
    let router = Router::new()
        .route("/api/chat", post(send))
        .route("/api/chat/live", get(live))
        .route("/bench/go", post(go_on))
        .with_state(Arc::new(Bare { go }));
    stage::listen(listener, router).await
}

/// Serves the same stream by axum's own type for server-sent events, as its documentation has it.
pub async fn serve_sse(listener: TcpListener) -> Result<(), Box<dyn std::error::Error>> {
    let chunks: Arc<Vec<String>> = Arc::new((0..206).map(|index| chunk(index, 200)).collect());
    let send = async move |_: String| {
        let chunks = chunks.clone();
        let events = (0..chunks.len()).map(move |index| {
            let event = Event::default().data(&chunks[index]);
            Ok::<_, Infallible>(event)
        });
        let done = Ok(Event::default().data("[DONE]"));
        Sse::new(stream::iter(events.chain([done]))).keep_alive(KeepAlive::default())
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

async fn send(State(bare): State<Arc<Bare>>, body: String) -> Response {
    static EVENTS: std::sync::LazyLock<Vec<Bytes>> = std::sync::LazyLock::new(|| events(200));
    static ONE: std::sync::LazyLock<Vec<Bytes>> = std::sync::LazyLock::new(|| events(1));
    let body = if body.contains("\"deltas ") {
        Body::from_stream(stream::iter(
            EVENTS.iter().cloned().map(Ok::<_, Infallible>),
        ))
    } else {
        let mut go = bare.go.subscribe();
        let first = stream::iter(ONE[..3].iter().cloned());
        let told = stream::once(async move {
            let _ = go.changed().await;
            ONE[3].clone()
        });
        let rest = stream::iter(ONE[4..].iter().cloned());
        Body::from_stream(first.chain(told).chain(rest).map(Ok::<_, Infallible>))
    };
    ([("content-type", "text/event-stream")], body).into_response()
}

async fn go_on(State(bare): State<Arc<Bare>>) {
    bare.go.send_modify(|told| *told += 1);
}

async fn live(upgrade: WebSocketUpgrade) -> Response {
    let upgrade = upgrade
        .read_buffer_size(8 * 1024)
        .write_buffer_size(8 * 1024);
    upgrade.on_upgrade(talk)
}

async fn talk(mut socket: WebSocket) {
    let start = Utf8Bytes::from(r#"{"type":"start","requestId":"r"}"#);
    let end = Utf8Bytes::from(r#"{"type":"end","requestId":"r"}"#);
    let chunks = (0..206).map(|index| {
        let chunk = chunk(index, 200);
        format!(r#"{{"type":"chunk","requestId":"r","sequence":{index},"chunk":{chunk}}}"#)
    });
    let chunks = chunks.map(Utf8Bytes::from);
    let frames: Vec<_> = [start].into_iter().chain(chunks).chain([end]).collect();
    while let Some(Ok(Message::Text(_))) = socket.next().await {
        for frame in &frames {
            if socket.feed(Message::Text(frame.clone())).await.is_err() {
                return;
            }
        }
        if socket.flush().await.is_err() {
            return;
        }
    }
}
