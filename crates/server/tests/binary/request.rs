//! One HTTP request over a plain socket, so that nothing is between the test and the bytes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::process::Server;

/// How long a server may say nothing: one that takes longer never answers.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// An answer, as it came.
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: String,
    pub(crate) body: Vec<u8>,
}

impl Server {
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &[])
    }

    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(method, path, headers, "")
    }

    /// Sends a JSON body, which needs no header of its own.
    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let json = [("content-type", "application/json")];
        self.send("POST", path, &[&json, headers].concat(), body)
    }

    /// The same for a client that sends on while it is refused, with many others: the status, unless it was cut
    /// off.
    pub(crate) fn try_post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Option<u16> {
        let json = [("content-type", "application/json")];
        let mut stream = TcpStream::connect(self.address).unwrap();
        let request = text("POST", path, &[&json, headers].concat(), body);
        let _ = stream.write_all(request.as_bytes());
        let mut start = [0; 12];
        stream.read_exact(&mut start).ok()?;
        std::str::from_utf8(&start[9..]).unwrap().parse().ok()
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        send(self.address, method, path, headers, body)
    }
}

/// One request to a server.
pub(crate) fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIME_LIMIT)).unwrap();
    let request = text(method, path, headers, body);
    // A server that refuses a body may close before it has read it.
    let _ = stream.write_all(request.as_bytes());
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("an answer");
    Answer::parse(&bytes)
}

/// The status of a response of which nothing more is read.
pub(crate) fn try_head(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIME_LIMIT)).unwrap();
    stream
        .write_all(text("GET", path, headers, "").as_bytes())
        .unwrap();
    let mut start = [0; 12];
    stream.read_exact(&mut start).expect("an answer");
    std::str::from_utf8(&start[9..]).unwrap().parse().unwrap()
}

/// A request as it is on the wire.
pub(crate) fn text(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let host = if headers.contains("host: ") {
        ""
    } else {
        "host: localhost\r\n"
    };
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\n{host}connection: close\r\n");
    format!("{head}{headers}content-length: {length}\r\n\r\n{body}")
}

impl Answer {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .expect("a whole head");
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let (status_line, headers) = head.split_once("\r\n").unwrap();
        Self {
            status: status_line.split(' ').nth(1).unwrap().parse().unwrap(),
            headers: headers.to_owned(),
            body: bytes[end + 4..].to_vec(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.lines().find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// Every value of a header that may come several times.
    pub(crate) fn values(&self, name: &str) -> Vec<&str> {
        let lines = self
            .headers
            .lines()
            .filter_map(|line| line.split_once(": "));
        let found = lines.filter(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value).collect()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        assert_eq!(self.header("content-type"), Some("application/json"));
        match self.header("transfer-encoding") {
            Some("chunked") => serde_json::from_slice(&self.chunks()).unwrap(),
            _ => serde_json::from_slice(&self.body).unwrap(),
        }
    }

    /// The body without the lengths of its chunks.
    fn chunks(&self) -> Vec<u8> {
        let (mut whole, mut rest) = (Vec::new(), &self.body[..]);
        loop {
            let end = rest.windows(2).position(|two| two == b"\r\n").unwrap();
            let length = std::str::from_utf8(&rest[..end]).unwrap();
            let length = usize::from_str_radix(length, 16).unwrap();
            if length == 0 {
                return whole;
            }
            let chunk = &rest[end + 2..];
            whole.extend_from_slice(&chunk[..length]);
            rest = &chunk[length + 2..];
        }
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}
