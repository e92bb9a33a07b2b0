//! How the server ends.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::process::serve;

#[test]
fn sigterm_and_sigint_end_it_well() {
    for name in ["TERM", "INT"] {
        let mut server = serve();
        server.signal(name);
        assert_eq!(server.ended().code(), Some(0), "SIG{name}");
    }
}

#[test]
fn it_says_nothing_until_it_is_told_to_end() {
    let mut server = serve();
    assert_eq!(server.get("/healthz").status, 200);
    assert_eq!(server.get("/nothing").status, 404);
    server.signal("TERM");
    let line = server.log_line();
    assert!(line.contains("SIGTERM: no new connections"), "{line}");
    assert_eq!(server.log_line(), "");
}

#[test]
fn an_idle_connection_does_not_hold_it_up() {
    let mut server = serve();
    let mut idle = TcpStream::connect(server.address).unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n")
        .unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    server.signal("TERM");
    assert_eq!(server.ended().code(), Some(0));
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).unwrap();
    // Had the grace run out, it would have said so.
    assert!(server.log_line().contains("SIGTERM"));
    assert_eq!(server.log_line(), "");
}
