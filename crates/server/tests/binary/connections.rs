//! Connections that are slow, idle, too many, or never read: the server closes them, and continues
//! serving others.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

use crate::process::{Server, Start, adk_stream};

const ON: [&str; 3] = ["serve", "--listen", "127.0.0.1:0"];

/// Longer than any limit that a test sets: what takes as long hangs.
const TIME_LIMIT: Duration = Duration::from_secs(60);

fn with(flags: &[&str]) -> Start {
    adk_stream(&[&ON, flags].concat())
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(TIME_LIMIT)).unwrap();
    stream
}

/// What the server says until it closes the connection.
fn read_to_close(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("it was not closed: {error}"),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn half_open_connections_do_not_stop_a_server_with_few_descriptors() {
    // It raises the number that it was started with to the one that the system allows.
    let mut server = with(&[]).descriptors(64, 256).running();
    // Some say nothing, some begin a request and never end it.
    let hostile: Vec<TcpStream> = (0..1100)
        .map(|number| {
            let mut stream = connect(&server);
            if number % 2 == 0 {
                // It may have been closed already.
                let _ = stream.write_all(b"POST /api/chat HTTP/1.1\r\nhost: localhost\r\n");
            }
            if number % 100 == 0 {
                assert_eq!(server.get("/healthz").status, 200, "after {number}");
            }
            stream
        })
        .collect();
    for _ in 0..20 {
        let chat = r#"{"id":"c1","messages":[{"id":"m1","role":"user","parts":[{"type":"text","text":"hello"}]}]}"#;
        assert_eq!(server.post("/api/chat", &[], chat).status, 200);
    }
    let line = server.log_says("too many connections");
    // An eighth is kept for others than connections, and one address has half of the rest.
    assert!(line.contains("limit=224"), "{line}");
    assert!(line.contains("limit_per_address=112"), "{line}");
    // All of them come from one address, and it has no more than that.
    let open = line
        .split_once("open=")
        .and_then(|(_, open)| open.split_once(' '));
    let (open, _) = open.expect("how many are open");
    assert!(open.parse::<usize>().unwrap() <= 112, "{line}");
    drop(hostile);
}

/// Streams a turn on a connection, which is at work from then on.
fn open_window(mut window: TcpStream, number: usize) -> TcpStream {
    let body = format!(
        r#"{{"id":"c{number}","messages":[{{"id":"m1","role":"user","parts":[{{"type":"text","text":"hello"}}]}}]}}"#
    );
    let length = body.len();
    let head = "POST /api/chat HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let request = format!("{head}content-length: {length}\r\n\r\n{body}");
    window.write_all(request.as_bytes()).unwrap();
    let mut first = [0; 15];
    window.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    window
}

/// Connects from one of the many addresses that this machine has for itself.
fn connect_from(server: &Server, address: [u8; 4]) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((address, 0)).into()).unwrap();
    socket.connect(&server.address.into()).unwrap();
    socket.set_read_timeout(Some(TIME_LIMIT)).unwrap();
    socket.into()
}

#[test]
fn many_addresses_have_no_more_connections_than_there_may_be_in_all() {
    let flags = [
        "--max-connections",
        "4",
        "--max-connections-per-address",
        "2",
    ];
    let mut server = with(&[&flags[..], &["--pace", "5000"]].concat()).running();
    let addresses = [
        [127, 0, 0, 2],
        [127, 0, 0, 2],
        [127, 0, 0, 3],
        [127, 0, 0, 3],
    ];
    let windows: Vec<TcpStream> = (0..)
        .zip(addresses)
        .map(|(number, address)| open_window(connect_from(&server, address), number))
        .collect();
    let mut another = connect_from(&server, [127, 0, 0, 4]);
    let _ =
        another.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    let refused = read_to_close(&mut another);
    assert!(
        refused.is_empty() || refused.starts_with("HTTP/1.1 503 "),
        "{refused}"
    );
    let line = server.log_says("too many connections");
    assert!(
        line.contains("open=4") && line.contains("refused=1"),
        "{line}"
    );
    drop(windows);
}

#[test]
fn connections_that_are_at_work_are_not_closed_for_new_ones() {
    let mut server = with(&["--max-connections", "4", "--pace", "5000"]).running();
    // One address has half of them.
    let mut windows: Vec<TcpStream> = (0..2)
        .map(|number| open_window(connect(&server), number))
        .collect();
    let refused = read_to_close(&mut connect(&server));
    if !refused.is_empty() {
        assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
        assert!(refused.contains("retry-after: 1\r\n"), "{refused}");
        assert!(refused.contains("too_many_connections"), "{refused}");
        assert!(refused.contains("frame-ancestors 'none'\r\n"), "{refused}");
    }
    let line = server.log_says("too many connections");
    assert!(
        line.contains("refused=1") && line.contains("limit=4"),
        "{line}"
    );
    // When one of them leaves, there is room.
    drop(windows.pop());
    loop {
        let mut stream = connect(&server);
        let _ = stream
            .write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        if read_to_close(&mut stream).starts_with("HTTP/1.1 200 OK") {
            break;
        }
    }
    let mut more = [0; 1];
    windows[0].read_exact(&mut more).unwrap();
}

/// A client that is still sending when its request is refused, as a proxy does, reads why: a connection that is
/// closed over bytes that nobody has read is reset, and the response with it.
#[test]
fn body_that_is_refused_at_once_is_taken_so_that_the_refusal_is_read() {
    const LENGTH: usize = 4 * 1024 * 1024;
    let server = with(&[]).variable("ADK_STREAM_KEYS", "ann=a-secret-of-anns");
    let server = server.running();
    let json = "content-type: application/json";
    let key = "x-api-key: a-secret-of-anns";
    for (path, headers, status) in [
        ("/api/chat", [json, "x-api-key: nobodys-secret-key"], 401),
        ("/api/chat", [key, "content-type: text/html"], 415),
        ("/api/chat", [key, "origin: https://evil.example"], 403),
        ("/api/chat?profile=none", [key, json], 400),
        ("/api/nowhere", [key, json], 404),
    ] {
        let mut stream = connect(&server);
        let headers = headers.join("\r\n");
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\ncontent-length: {LENGTH}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let piece = vec![b' '; 64 * 1024];
        for _ in 0..LENGTH / piece.len() {
            stream.write_all(&piece).expect("it is taken");
        }
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("no reset");
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{path}: {answer}"
        );
    }
}

#[test]
fn head_that_does_not_come_in_time_is_not_waited_for() {
    let server = with(&["--header-timeout", "0.3"]).running();
    let mut silent = connect(&server);
    let mut partial = connect(&server);
    partial.write_all(b"GET /healthz HTTP/1.1\r\n").unwrap();
    let began = Instant::now();
    let mut trickle = connect(&server);
    trickle.set_nonblocking(true).unwrap();
    // A byte at a time is no reason to wait longer.
    loop {
        let sent = trickle.write(b"G");
        let read = trickle.read(&mut [0; 1]);
        let is_closed = matches!(read, Ok(0))
            || [sent.err(), read.err()]
                .into_iter()
                .flatten()
                .any(|error| error.kind() != ErrorKind::WouldBlock);
        if is_closed {
            break;
        }
        assert!(began.elapsed() < TIME_LIMIT, "it is still open");
        // Slowly, or the head would be refused for its size.
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(
        began.elapsed() >= Duration::from_millis(250),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(read_to_close(&mut silent), "");
    assert_eq!(read_to_close(&mut partial), "");
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn head_that_is_too_large_is_refused() {
    let server = with(&[]).running();
    let mut stream = connect(&server);
    let filler = "x".repeat(40 * 1024);
    let request = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-filler: {filler}\r\n\r\n");
    let _ = stream.write_all(request.as_bytes());
    let answer = read_to_close(&mut stream);
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431 "),
        "{answer}"
    );
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn idle_connection_is_closed_and_one_in_use_is_not() {
    // The time for a head is the shorter one: it is not what closes a connection between requests.
    let server = with(&["--keep-alive", "3", "--header-timeout", "1"]).running();
    let keep_alive = Duration::from_secs(3);
    let request = |stream: &mut TcpStream| -> std::io::Result<()> {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")?;
        let mut answer = Vec::new();
        while !answer.ends_with(b"}") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            answer.push(byte[0]);
        }
        assert!(answer.starts_with(b"HTTP/1.1 200 OK"));
        Ok(())
    };
    let began = Instant::now();
    let (mut stream, last) = 'began: loop {
        assert!(began.elapsed() < TIME_LIMIT, "no connection stays open");
        let mut stream = connect(&server);
        let mut last = Instant::now();
        for number in 0..3 {
            let sent = Instant::now();
            if let Err(error) = request(&mut stream) {
                // On a busy machine the client itself may have come too late: it begins again.
                let allowed = match number {
                    0 => Duration::from_secs(1),
                    _ => keep_alive,
                };
                assert!(last.elapsed() >= allowed, "request {number}: {error}");
                continue 'began;
            }
            last = sent;
        }
        break (stream, last);
    };
    assert_eq!(read_to_close(&mut stream), "");
    // It was open for as long as it may be idle, since the request that was sent last.
    assert!(last.elapsed() >= keep_alive, "{:?}", last.elapsed());
}

#[test]
fn body_that_does_not_come_in_time_is_refused() {
    let server = with(&["--body-timeout", "0.3"]).running();
    let head = "POST /api/chat HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n";
    let mut stopped = connect(&server);
    stopped.write_all(head.as_bytes()).unwrap();
    stopped.write_all(b"{\"id\":").unwrap();
    let answer = read_to_close(&mut stopped);
    assert!(
        answer.starts_with("HTTP/1.1 408 Request Timeout"),
        "{answer}"
    );
    assert!(answer.contains("body_timeout"), "{answer}");
    assert_eq!(server.get("/healthz").status, 200);
}

/// A chat whose history takes megabytes.
fn long_chat(server: &Server) {
    let text = "x".repeat(3 * 1024 * 1024);
    let chat = format!(
        r#"{{"id":"long","messages":[{{"id":"m1","role":"user","parts":[{{"type":"text","text":"{text}"}}]}}]}}"#
    );
    assert_eq!(server.post("/api/chat", &[], &chat).status, 200);
}

#[test]
fn response_that_nobody_reads_is_cut_off() {
    let mut server = with(&["--write-timeout", "0.3", "--pace", "0"])
        .variable("ADK_STREAM_LOG", "info")
        .running();
    long_chat(&server);
    let mut stream = connect(&server);
    // More than the system holds for a client that does not read.
    for _ in 0..8 {
        stream
            .write_all(b"GET /api/chat/long HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .unwrap();
    }
    let line = server.log_says("the client does not read");
    assert!(line.contains("peer=127.0.0.1:"), "{line}");
    // What the system holds is given out, and then it ends, before the last of the answers.
    let answers = read_to_close(&mut stream);
    assert!(answers.matches("HTTP/1.1 200 OK").count() < 8);
    assert_eq!(server.get("/healthz").status, 200);
}

/// Asks for something on a connection of its own, and reads no more than the beginning of the answer.
fn unread(server: &Server, path: &str) -> (TcpStream, String) {
    let mut stream = connect(server);
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    (stream, String::from_utf8_lossy(&status).into_owned())
}

#[test]
fn responses_that_nobody_reads_do_not_fill_the_memory() {
    let mut server = with(&["--pace", "0"]).running();
    long_chat(&server);
    let before = server.peak_memory();
    // More than may wait to be written.
    let mut streams: Vec<TcpStream> = (0..60)
        .map(|_| {
            let (stream, status) = unread(&server, "/api/chat/long");
            assert_eq!(status, "HTTP/1.1 200");
            stream
        })
        .collect();
    server.log_says("cut off clients that do not read");
    // The first to be served was the first to be cut off.
    let rest = read_to_close(&mut streams[0]);
    assert!(rest.len() < 3 * 1024 * 1024, "{}", rest.len());
    // A client that reads is served all the same.
    assert!(server.get("/api/chat/long").body.len() > 3 * 1024 * 1024);
    // All of them would be 180 MiB, without what it takes to make them.
    let peak = server.peak_memory();
    println!(
        "peak memory: {} MiB, {} MiB before",
        peak >> 20,
        before >> 20
    );
    assert!(peak - before < 150 * 1024 * 1024, "{} MiB", peak >> 20);
}

#[test]
fn recordings_that_nobody_reads_are_few() {
    let server = with(&["--pace", "0"]).running();
    long_chat(&server);
    let path = "/api/chat/long/recording";
    let (streams, answers): (Vec<TcpStream>, Vec<String>) =
        (0..5).map(|_| unread(&server, path)).unzip();
    assert_eq!(answers[..4], ["HTTP/1.1 200"; 4]);
    assert_eq!(answers[4], "HTTP/1.1 429");
    // Nothing else waits for them, and who has read one may have another.
    assert!(server.get("/api/chat/long").body.len() > 3 * 1024 * 1024);
    drop(streams);
    while server.get(path).status != 200 {
        std::thread::yield_now();
    }
}

#[test]
fn no_descriptor_left_is_said_and_outlived() {
    // The limit sinks while the server runs, so that its own cap does not keep it from that.
    // Nor does any of them go by itself while the test lasts.
    let mut server = with(&["--header-timeout", "3600"]).running();
    server.limit_descriptors(64);
    let hostile: Vec<TcpStream> = (0..200).map(|_| connect(&server)).collect();
    let line = server.log_says("can't accept connections");
    assert!(line.contains("ERROR") && line.contains("open="), "{line}");
    assert_eq!(server.get("/healthz").status, 200);
    drop(hostile);
    assert_eq!(server.get("/healthz").status, 200);
}
