//! Sockets whose clients give no sign of life, do not read, or have nothing to say.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use adk_stream::engine::{Engine, Tools};
use adk_stream::store::{self, Location};
use adk_stream::{Api, SocketLimits};
use demo::Demo;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role};
use tungstenite::{Error, Message, WebSocket};

/// A server in this process, with limits that a test can wait for.
async fn serve(sockets: SocketLimits) -> SocketAddr {
    let stores = store::open(Location::Memory).await.unwrap();
    let engine = Engine::builder(stores.journal, Arc::new(Demo::new()), Tools::new()).build();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let api = Api {
        sockets,
        ..Api::new(engine)
    };
    tokio::spawn(api.serve(listener));
    address
}

fn connect(address: SocketAddr) -> WebSocket<TcpStream> {
    let stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    tungstenite::client(format!("ws://{address}/live"), stream)
        .unwrap()
        .0
}

/// The first that the server says.
fn answer(socket: &mut WebSocket<TcpStream>) -> String {
    loop {
        if let Message::Text(text) = socket.read().unwrap() {
            return text.to_string();
        }
    }
}

/// Why the server closed: its code and reason.
fn close_frame(socket: &mut WebSocket<TcpStream>) -> (u16, String) {
    loop {
        match socket.read() {
            Ok(Message::Close(Some(frame))) => {
                return (frame.code.into(), frame.reason.to_string());
            }
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

fn limits() -> SocketLimits {
    SocketLimits {
        ping: Duration::from_millis(20),
        ..SocketLimits::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_without_a_sign_of_life_is_closed() {
    let silence = Duration::from_millis(100);
    let address = serve(SocketLimits {
        silence,
        ..limits()
    })
    .await;
    let said = tokio::task::spawn_blocking(move || {
        let mut socket = connect(address);
        // A client answers pings as it reads: one that never writes its pongs gives no sign.
        let mut stream = socket.get_mut().try_clone().unwrap();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut stream, &mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let said = said.await.unwrap();
    assert!(said.contains("no sign of life"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn socket_with_nothing_to_say_is_closed() {
    let idle = Duration::from_millis(100);
    let address = serve(SocketLimits { idle, ..limits() }).await;
    let close_frame = tokio::task::spawn_blocking(move || close_frame(&mut connect(address)));
    let expected = (1000, "nothing was said for a while".to_owned());
    assert_eq!(close_frame.await.unwrap(), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_that_does_not_read_is_cut_off_and_others_are_served() {
    let stall = Duration::from_millis(200);
    let address = serve(SocketLimits {
        stall,
        ..SocketLimits::default()
    })
    .await;
    let blocked = tokio::task::spawn_blocking(move || {
        let mut socket = connect(address);
        socket
            .get_ref()
            .set_write_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        // Each is answered by as many bytes; nothing is ever read.
        let stamp = "x".repeat(100_000);
        let ping = format!(r#"{{"type":"ping","timestamp":"{stamp}"}}"#);
        loop {
            match socket.send(Message::text(ping.clone())) {
                Ok(()) => {}
                Err(error) => return error,
            }
        }
    });
    let error = blocked.await.unwrap();
    assert!(
        matches!(error, Error::Io(_) | Error::ConnectionClosed),
        "{error}"
    );
    let other = tokio::task::spawn_blocking(move || {
        let mut socket = connect(address);
        socket
            .send(Message::text(r#"{"type":"ping","timestamp":1}"#))
            .unwrap();
        answer(&mut socket)
    });
    assert!(other.await.unwrap().contains("pong"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_window_too_many_gets_an_error_of_its_own() {
    let address = serve(SocketLimits {
        windows: 0,
        ..SocketLimits::default()
    })
    .await;
    let answer = tokio::task::spawn_blocking(move || {
        let mut socket = connect(address);
        let resume = r#"{"type":"resume","requestId":"r1","id":"c1","headers":{},"body":{}}"#;
        socket.send(Message::text(resume)).unwrap();
        answer(&mut socket)
    });
    let answer = answer.await.unwrap();
    assert!(
        answer.starts_with(r#"{"type":"error","requestId":"r1""#),
        "{answer}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_that_closes_is_answered() {
    let address = serve(SocketLimits::default()).await;
    let answer = tokio::task::spawn_blocking(move || {
        let mut socket = connect(address);
        let (code, reason) = (CloseCode::Normal, "bye".into());
        socket.close(Some(CloseFrame { code, reason })).unwrap();
        close_frame(&mut socket)
    });
    // As the protocol has it: the client's own words.
    assert_eq!(answer.await.unwrap(), (1000, "bye".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frame_that_is_too_large_is_said_to_be_so_while_it_is_sent() {
    let address = serve(SocketLimits::default()).await;
    let said = tokio::task::spawn_blocking(move || {
        let socket = connect(address);
        let mut reader = connect_again(&socket);
        let mut socket = socket;
        let frame = "x".repeat(64 * 1024 * 1024);
        std::thread::spawn(move || socket.send(Message::text(frame)));
        close_frame(&mut reader)
    });
    assert_eq!(said.await.unwrap().0, 1009);
}

/// A second hand on the same connection, to read while the first writes.
fn connect_again(socket: &WebSocket<TcpStream>) -> WebSocket<TcpStream> {
    let stream = socket.get_ref().try_clone().unwrap();
    WebSocket::from_raw_socket(stream, Role::Client, None)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_whose_id_would_fill_every_frame_is_refused() {
    let address = serve(SocketLimits::default()).await;
    let answer = tokio::task::spawn_blocking(move || {
        let mut socket = connect(address);
        let id = "x".repeat(257);
        let resume = format!(
            r#"{{"type":"resume","requestId":"{id}","id":"c","headers":{{}},"body":{{}}}}"#
        );
        socket.send(Message::text(resume)).unwrap();
        answer(&mut socket)
    });
    let answer = answer.await.unwrap();
    assert!(answer.contains("at most 256 bytes"), "{answer}");
}
