//! `adk-stream healthcheck`, as a container runs it.

use std::net::TcpListener;

use crate::process::{adk_stream, serve};

#[test]
fn server_that_responds_is_healthy() {
    let server = serve();
    let listen = server.address.to_string();
    adk_stream(&["healthcheck"])
        .variable("ADK_STREAM_LISTEN", &listen)
        .answered();
    let any = format!("0.0.0.0:{}", server.address.port());
    adk_stream(&["healthcheck"])
        .variable("ADK_STREAM_LISTEN", &any)
        .answered();
    let ready = format!("http://{listen}/readyz");
    adk_stream(&["healthcheck", &ready]).answered();
}

#[test]
fn server_that_refuses_or_is_not_there_is_not() {
    let server = serve();
    let url = format!("http://{}/api/chat/unknown", server.address);
    let refusal = adk_stream(&["healthcheck", &url]).refused();
    assert_eq!(refusal.code, Some(1));
    let expected = format!("adk-stream: {url}: it responds with 404 Not Found");
    assert_eq!(refusal.line, expected);

    // Bound and closed again: nobody listens there.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
    let url = format!("http://{}/healthz", free.unwrap());
    let refusal = adk_stream(&["healthcheck", &url]).refused();
    assert_eq!(refusal.code, Some(1));
    assert!(refusal.line.contains("refused"), "{}", refusal.line);
}
