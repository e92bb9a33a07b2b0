//! The example of an agent of your own, as a page meets it.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

#[path = "../examples/own_agent.rs"]
#[allow(dead_code, reason = "its main serves a fixed port")]
mod example;

use std::sync::Arc;

use adk_stream::Api;
use adk_stream::engine::{Engine, Tools};
use adk_stream::store::{self, Location};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The stream that answers a message.
async fn answer(text: &str) -> String {
    let stores = store::open(Location::Memory).await.unwrap();
    let engine = Engine::builder(stores.journal, Arc::new(example::Echo), Tools::new());
    let engine = engine.start().await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(Api::new(engine).serve(listener));
    let body = serde_json::json!({
        "id": "c",
        "messages": [{"id": "m", "role": "user", "parts": [{"type": "text", "text": text}]}],
    })
    .to_string();
    let head = "POST /api/chat HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n";
    let kind = "content-type: application/json";
    let request = format!(
        "{head}{kind}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn words_of_the_model_are_streamed() {
    let stream = answer("Good morning").await;
    for chunk in [r#""delta":"Good "#, r#"morning""#, r#""type":"finish""#] {
        assert!(stream.contains(chunk), "{chunk} in {stream}");
    }
}

#[tokio::test]
async fn failure_of_the_model_reaches_the_page_with_its_code() {
    let stream = answer("").await;
    let error = r#"{"type":"error","errorText":"agent_failed: nothing was asked"}"#;
    assert!(stream.contains(error), "{stream}");
}
