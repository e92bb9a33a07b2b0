//! Bytes on a WebSocket that are no frames, or none that may be sent: what the socket is closed with.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::process::{Server, serve};

/// A socket after its handshake, as plain bytes.
fn upgraded(server: &Server) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let time_limit = Some(Duration::from_secs(20));
    stream.set_read_timeout(time_limit).unwrap();
    let request = "GET /api/chat/live HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\n\
                   upgrade: websocket\r\nsec-websocket-version: 13\r\n\
                   sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    assert!(head.starts_with(b"HTTP/1.1 101"));
    stream
}

/// A masked frame. The mask is zero, so that the payload is sent as it is.
fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    assert!(length < 126);
    [&[first, 0x80 | length, 0, 0, 0, 0], payload].concat()
}

/// The code with which the server closes.
fn close_code(mut stream: TcpStream) -> u16 {
    loop {
        let mut head = [0; 2];
        stream.read_exact(&mut head).unwrap();
        let mut payload = vec![0; usize::from(head[1] & 0x7f)];
        stream.read_exact(&mut payload).unwrap();
        if head[0] == 0x88 {
            return u16::from_be_bytes([payload[0], payload[1]]);
        }
    }
}

fn closed_with(server: &Server, bytes: &[u8]) -> u16 {
    let mut stream = upgraded(server);
    stream.write_all(bytes).unwrap();
    close_code(stream)
}

#[test]
fn bytes_that_break_the_protocol_close_with_1002() {
    let server = serve();
    let cases: [(&str, Vec<u8>); 7] = [
        ("not masked", vec![0x81, 2, b'{', b'}']),
        ("a reserved bit", masked(0xc1, b"{}")),
        ("an unknown kind", masked(0x83, b"{}")),
        ("an unknown control frame", masked(0x8b, b"")),
        ("a ping in pieces", masked(0x09, b"")),
        (
            "a ping that is too long",
            [&[0x89, 0xfe, 0, 200, 0, 0, 0, 0][..], &[0; 200]].concat(),
        ),
        ("a piece of nothing", masked(0x80, b"{}")),
    ];
    for (what, bytes) in cases {
        assert_eq!(closed_with(&server, &bytes), 1002, "{what}");
    }
}

#[test]
fn text_that_is_not_utf8_closes_with_1007() {
    let server = serve();
    assert_eq!(closed_with(&server, &masked(0x81, b"\xff\xfe")), 1007);
    // Also where it comes in pieces, each of which ends in the middle of a character.
    let pieces = [masked(0x01, b"\xe3\x81"), masked(0x80, b"\x28")].concat();
    assert_eq!(closed_with(&server, &pieces), 1007);
}

#[test]
fn only_a_frame_that_is_too_large_closes_with_1009() {
    let server = serve();
    let length = (64_u64 << 20).to_be_bytes();
    let head = [&[0x81, 0xff][..], &length, &[0; 4]].concat();
    assert_eq!(closed_with(&server, &head), 1009);
}

#[test]
fn client_that_only_leaves_causes_no_error() {
    let server = serve();
    let mut stream = upgraded(&server);
    stream
        .write_all(&masked(0x88, &1000_u16.to_be_bytes()))
        .unwrap();
    assert_eq!(close_code(stream), 1000);
    assert_eq!(server.get("/healthz").status, 200);
}

/// As much of a frame that is announced as larger.
fn unfinished(server: &Server) -> TcpStream {
    let mut stream = upgraded(server);
    let length = 4_000_000_u64.to_be_bytes();
    let head = [&[0x81, 0xff][..], &length, &[0; 4]].concat();
    stream.write_all(&head).unwrap();
    stream.write_all(&[b'x'; 3_000_000]).unwrap();
    stream
}

#[test]
fn frames_that_never_end_make_room_for_others() {
    let server = serve();
    let mut sockets: Vec<TcpStream> = (0..40).map(|_| unfinished(&server)).collect();
    // What is closed lets others in; the frame that is still coming is taken.
    let mut last = sockets.pop().unwrap();
    last.write_all(&[b'x'; 1_000_000]).unwrap();
    assert_eq!(close_code(last), 1002, "not JSON");
    let first = sockets.swap_remove(0);
    assert_eq!(close_code(first), 1013);
    let peak = server.peak_memory();
    assert!(peak < 150_000_000, "{} MB", peak / 1_000_000);
}
