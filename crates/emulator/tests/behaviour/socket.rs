//! A live client that does nothing by itself.

use adk_stream_emulator::Emulator;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::soon;

/// A model whose tools block unless they are said not to.
pub(crate) const MODEL: &str = "models/gemini-live-2.5-flash-preview";

/// A live socket.
pub(crate) struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    /// A socket on which nothing was said.
    pub(crate) async fn open(emulator: &Emulator) -> Self {
        let stream = TcpStream::connect(emulator.address()).await.unwrap();
        let url = format!("{}?key=k", emulator.live_url());
        let (socket, _) = soon(client_async(url, stream)).await.unwrap();
        Self(socket)
    }

    /// A socket with this setup, which was taken.
    pub(crate) async fn with(emulator: &Emulator, setup: Value) -> Self {
        let mut socket = Self::open(emulator).await;
        socket.send(json!({ "setup": setup })).await;
        let complete = socket.next().await;
        assert!(complete["setupComplete"].is_object(), "{complete}");
        socket
    }

    /// A session that answers in text, with the demo's tools.
    pub(crate) async fn text(emulator: &Emulator) -> Self {
        Self::with(emulator, setup(json!({}))).await
    }

    pub(crate) async fn send(&mut self, frame: Value) {
        self.send_raw(Message::text(frame.to_string())).await;
    }

    pub(crate) async fn send_raw(&mut self, message: Message) {
        soon(self.0.send(message)).await.unwrap();
    }

    /// Says something that is to be answered.
    pub(crate) async fn say(&mut self, text: &str) {
        let turns = json!([{"role": "user", "parts": [{"text": text}]}]);
        self.send(json!({"clientContent": {"turns": turns, "turnComplete": true}}))
            .await;
    }

    /// Brings what a call brought.
    pub(crate) async fn bring(&mut self, call: &Value, output: Value, more: Value) {
        let mut response = json!({
            "id": call["id"], "name": call["name"], "response": {"output": output},
        });
        for (key, value) in more.as_object().unwrap() {
            response[key] = value.clone();
        }
        self.send(json!({"toolResponse": {"functionResponses": [response]}}))
            .await;
    }

    /// The next message, as it came.
    pub(crate) async fn next_raw(&mut self) -> Message {
        soon(self.0.next()).await.expect("a frame").unwrap()
    }

    /// The next frame.
    pub(crate) async fn next(&mut self) -> Value {
        let message = self.next_raw().await;
        assert!(!message.is_close(), "{message:?}");
        serde_json::from_slice(&message.into_data()).unwrap()
    }

    /// The next frame that has this field, and the frames before it.
    pub(crate) async fn until(&mut self, pointer: &str) -> (Vec<Value>, Value) {
        let mut before = Vec::new();
        loop {
            let frame = self.next().await;
            if let Some(value) = frame.pointer(pointer) {
                return (before, value.clone());
            }
            before.push(frame);
        }
    }

    /// What is said until the turn is complete.
    pub(crate) async fn turn(&mut self) -> Vec<Value> {
        let (before, _) = self.until("/serverContent/turnComplete").await;
        before
    }

    /// The calls that come next.
    pub(crate) async fn calls(&mut self) -> Vec<Value> {
        let (_, calls) = self.until("/toolCall/functionCalls").await;
        calls.as_array().unwrap().clone()
    }

    /// How it was closed, whatever came before; 1006 where there was no end.
    pub(crate) async fn closed(&mut self) -> (u16, String) {
        loop {
            match soon(self.0.next()).await {
                Some(Ok(Message::Close(Some(CloseFrame { code, reason })))) => {
                    return (code.into(), reason.to_string());
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return (1006, String::new()),
            }
        }
    }
}

/// The words of frames.
pub(crate) fn text_of(frames: &[Value]) -> String {
    let part = |frame: &Value| {
        let text = frame.pointer("/serverContent/modelTurn/parts/0/text")?;
        Some(text.as_str()?.to_owned())
    };
    frames.iter().filter_map(part).collect()
}

/// A setup that answers in text, with the demo's tools, and with what else is said.
pub(crate) fn setup(more: Value) -> Value {
    let tools = ["get_weather", "process_payment"].map(|name| json!({ "name": name }));
    let mut setup = json!({
        "model": MODEL,
        "generationConfig": {"responseModalities": ["TEXT"]},
        "tools": [{"functionDeclarations": tools}],
    });
    for (key, value) in more.as_object().unwrap() {
        setup[key] = value.clone();
    }
    setup
}

/// The demo's tools, for which the model does not wait.
pub(crate) fn non_blocking() -> Value {
    let tools = ["get_weather", "process_payment"];
    let tools = tools.map(|name| json!({"name": name, "behavior": "NON_BLOCKING"}));
    json!({"tools": [{"functionDeclarations": tools}]})
}
