//! Windows whose clients do not read.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use adk_stream::agents::{Agent, AgentStream};
use adk_stream::engine::{Engine, Tools};
use adk_stream::store::{self, Location};
use adk_stream::turn::agent::{AgentEvent, StepRequest};
use adk_stream::turn::event::Finish;
use adk_stream::turn::{ChatId, Principal, Status};
use adk_stream::{Api, ConnectionLimits};
use futures_util::stream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};

const DELTAS: usize = 8_000;

/// How long the server may take to cut a client off.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// An agent that says eight megabytes.
struct Talker;

impl Agent for Talker {
    fn name(&self) -> &str {
        "talker"
    }

    fn step(&self, _: StepRequest) -> AgentStream {
        let deltas = (0..DELTAS).map(|_| AgentEvent::Text {
            delta: "x".repeat(1000),
            provider_metadata: None,
        });
        let end = [AgentEvent::Ended(Finish::Stop)];
        Box::pin(stream::iter(deltas.chain(end)))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn window_that_nobody_reads_is_cut_off_and_the_turn_continues() {
    let stores = store::open(Location::Memory).await.unwrap();
    let engine = Engine::builder(stores.journal, Arc::new(Talker), Tools::new()).build();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let api = Api {
        connections: ConnectionLimits {
            write_timeout: Duration::from_millis(200),
            ..ConnectionLimits::default()
        },
        ..Api::new(engine.clone())
    };
    tokio::spawn(api.serve(listener));
    let socket = TcpSocket::new_v4().unwrap();
    // Little is taken by the system in the client's place.
    socket.set_recv_buffer_size(16 * 1024).unwrap();
    let mut window = socket.connect(address).await.unwrap();
    let body = r#"{"id":"c1","messages":[{"id":"m1","role":"user","parts":[{"type":"text","text":"talk"}]}]}"#;
    let head = "POST /api/chat HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    window.write_all(request.as_bytes()).await.unwrap();
    let mut first = [0; 15];
    window.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    // The turn comes to its end without the window. The engine is asked: a client that reads all of the
    // chat may itself be too slow for this server, on a busy machine.
    let began = Instant::now();
    let (local, chat) = (Principal::from("local"), ChatId::from("c1"));
    while engine.view(&local, &chat).await.unwrap().status != Status::Finished {
        assert!(began.elapsed() < TIME_LIMIT, "the turn does not end");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The server closes the window; until then, writing to it succeeds.
    let began = Instant::now();
    while window.write_all(b"x").await.is_ok() {
        assert!(began.elapsed() < TIME_LIMIT, "the window is still open");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut rest = Vec::new();
    let _ = window.read_to_end(&mut rest).await;
    assert!(rest.len() < DELTAS * 1000, "{}", rest.len());
}
