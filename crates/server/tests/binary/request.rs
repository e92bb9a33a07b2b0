//! One HTTP request over a plain socket, so that nothing stands between the test and the bytes.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::process::Server;

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

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
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
        let request = format!("{head}{headers}content-length: {length}\r\n\r\n{body}");
        // A server that refuses a body may close before it has read it.
        let _ = stream.write_all(request.as_bytes());
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        Answer::parse(&bytes)
    }
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

    pub(crate) fn json(&self) -> serde_json::Value {
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}
