//! TLS on the listening socket, with a client of rustls' own.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};

use crate::process::{Server, Start, adk_stream};
use crate::request;

/// How long a server may say nothing: one that takes longer never answers.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A certificate for localhost, and its key.
struct Certificate {
    der: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Certificate {
    fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        Self {
            der: made.cert.der().clone(),
            key: made.signing_key.serialize_der(),
        }
    }

    fn pem(&self) -> String {
        pem("CERTIFICATE", &self.der)
    }

    fn key_pem(&self) -> String {
        pem("PRIVATE KEY", &self.key)
    }

    fn write(&self, folder: &Path) {
        std::fs::write(folder.join("cert.pem"), self.pem()).unwrap();
        std::fs::write(folder.join("key.pem"), self.key_pem()).unwrap();
    }

    /// A connection that trusts this certificate alone.
    fn connect(&self, address: SocketAddr) -> Connection {
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let session = ClientConnection::new(Arc::new(config), name).unwrap();
        StreamOwned::new(session, tcp(address))
    }
}

type Connection = StreamOwned<ClientConnection, TcpStream>;

fn pem(kind: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    format!("-----BEGIN {kind}-----\n{text}\n-----END {kind}-----\n")
}

fn tcp(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIME_LIMIT)).unwrap();
    stream
}

fn with_tls(arguments: &[&str]) -> Start {
    let tls = ["serve", "--listen", "127.0.0.1:0", "--pace", "1"];
    let files = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    adk_stream(&[&tls[..], &files, arguments].concat())
}

/// A server with this certificate.
fn serve(certificate: &Certificate, arguments: &[&str]) -> Server {
    let start = with_tls(arguments);
    certificate.write(start.folder());
    start.running()
}

/// One request, and the whole response up to the end of the connection.
fn request(connection: &mut Connection, method: &str, path: &str, body: &str) -> String {
    let json = [("content-type", "application/json")];
    let text = request::text(method, path, &json, body);
    connection.write_all(text.as_bytes()).unwrap();
    let mut response = Vec::new();
    connection.read_to_end(&mut response).unwrap();
    String::from_utf8_lossy(&response).into_owned()
}

fn message(text: &str) -> Value {
    json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]})
}

#[test]
fn requests_streams_and_sockets_are_served() {
    let certificate = Certificate::new();
    let server = serve(&certificate, &[]);
    let connect = || certificate.connect(server.address);
    let health = request(&mut connect(), "GET", "/healthz", "");
    assert!(health.starts_with("HTTP/1.1 200"), "{health}");

    let body = json!({"id": "c1", "messages": [message("Hello")], "trigger": "submit-message"});
    let stream = request(&mut connect(), "POST", "/api/chat", &body.to_string());
    assert!(
        stream.contains("text-delta") && stream.contains("[DONE]"),
        "{stream}"
    );

    let url = format!("wss://localhost:{}/live", server.address.port());
    let (mut socket, _) = tungstenite::client(url, connect()).unwrap();
    let frame = json!({"type": "send", "requestId": "r1", "id": "c2", "trigger": "submit-message",
                       "messages": [message("Hello")], "headers": {}, "body": {}});
    socket.send(frame.to_string().into()).unwrap();
    let mut seen = String::new();
    while !seen.contains("\"finish\"") {
        seen.push_str(&socket.read().unwrap().into_text().unwrap());
    }
    assert!(seen.contains("text-delta"), "{seen}");
}

#[test]
fn certificate_is_replaced_without_a_restart() {
    let (first, second) = (Certificate::new(), Certificate::new());
    let start = with_tls(&[]);
    let folder = start.folder().to_owned();
    first.write(&folder);
    let mut server = start.running();
    let mut early = first.connect(server.address);
    // The handshake is over, and the connection stays.
    early
        .write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .unwrap();
    early.read_exact(&mut [0; 15]).unwrap();

    std::fs::write(folder.join("cert.pem"), "nonsense").unwrap();
    server.signal("HUP");
    while !server.log_line().contains("certificate not loaded") {}
    let health = request(&mut first.connect(server.address), "GET", "/healthz", "");
    assert!(health.starts_with("HTTP/1.1 200"), "{health}");

    second.write(&folder);
    server.signal("HUP");
    while !server.log_line().contains("certificate loaded") {}
    let health = request(&mut second.connect(server.address), "GET", "/healthz", "");
    assert!(health.starts_with("HTTP/1.1 200"), "{health}");
    let mut stale = first.connect(server.address);
    let refused = stale
        .write_all(b"GET /healthz HTTP/1.1\r\n\r\n")
        .unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidData, "{refused}");
    let rest = request(&mut early, "GET", "/healthz", "");
    assert!(rest.contains("HTTP/1.1 200"), "{rest}");
}

#[test]
fn slow_handshake_is_cut_off() {
    let certificate = Certificate::new();
    let server = serve(&certificate, &["--header-timeout", "1"]);
    let (mut silent, mut slow) = (tcp(server.address), tcp(server.address));
    // The head of a record of 512 bytes, of which the rest never comes.
    slow.write_all(&[22, 3, 1, 2, 0, 1]).unwrap();
    for stream in [&mut silent, &mut slow] {
        let mut nothing = Vec::new();
        // A reset is an end as well.
        let _ = stream.read_to_end(&mut nothing);
        assert_eq!(nothing, Vec::<u8>::new());
    }
}

#[test]
fn handshakes_count_as_connections() {
    let certificate = Certificate::new();
    let server = serve(
        &certificate,
        &["--max-connections", "4", "--header-timeout", "600"],
    );
    let mut silent: Vec<TcpStream> = (0..4).map(|_| tcp(server.address)).collect();
    // One that never said anything makes room.
    let health = request(
        &mut certificate.connect(server.address),
        "GET",
        "/healthz",
        "",
    );
    assert!(health.starts_with("HTTP/1.1 200"), "{health}");
    let mut nothing = Vec::new();
    let _ = silent[0].read_to_end(&mut nothing);
    assert_eq!(nothing, Vec::<u8>::new());
}

#[test]
fn plain_http_gets_a_response_that_says_what_to_do() {
    let certificate = Certificate::new();
    let mut server = serve(&certificate, &[]);
    let body = "x".repeat(30_000);
    let answer = request::send(server.address, "POST", "/api/chat", &[], &body);
    assert_eq!(answer.status, 400);
    let error = &answer.json()["error"];
    assert_eq!(error["code"], "tls_required");
    // The log has it under the id that the client got.
    let id = error["requestId"].as_str().unwrap();
    assert_eq!(answer.header("x-request-id"), Some(id));
    let line = server.log_says(&format!("request_id=\"{id}\""));
    assert!(line.contains(r#"code="tls_required""#), "{line}");
}

#[test]
fn what_is_wrong_with_the_files_is_said_at_the_start() {
    let (one, other) = (Certificate::new(), Certificate::new());
    let start = with_tls(&[]).file("cert.pem", one.pem());
    let line = start.refused().line;
    assert!(
        line.starts_with("adk-stream: --tls-key: key.pem: No such file"),
        "{line}"
    );
    let start = with_tls(&[]).file("cert.pem", one.pem());
    start
        .file("key.pem", other.key_pem())
        .refused()
        .says("--tls-key: key.pem: the key does not belong to the certificate in cert.pem");
    adk_stream(&["serve", "--tls-cert", "cert.pem"])
        .refused()
        .says("--tls-cert: a certificate needs its key: set --tls-key too");
    adk_stream(&["serve"])
        .variable("ADK_STREAM_TLS_KEY", "key.pem")
        .refused()
        .says("ADK_STREAM_TLS_KEY: a key needs its certificate: set --tls-cert too");
    let line = with_tls(&[])
        .file("cert.pem", one.pem())
        .file("key.pem", one.key_pem())
        .variable("ADK_STREAM_CLUSTER_KEY", "a-key-of-the-cluster")
        .refused()
        .line;
    assert!(line.contains("--advertise"), "{line}");
}

#[test]
fn health_is_checked_whatever_name_the_certificate_has() {
    let certificate = Certificate::new();
    let start = with_tls(&[]);
    let folder = start.folder().to_owned();
    certificate.write(&folder);
    let server = start.running();
    let check = |name: &str| {
        adk_stream(&["healthcheck"])
            .variable("ADK_STREAM_LISTEN", &server.address.to_string())
            .variable(
                "ADK_STREAM_TLS_CERT",
                folder.join("cert.pem").to_str().unwrap(),
            )
            .variable("ADK_STREAM_TLS_KEY", folder.join(name).to_str().unwrap())
    };
    assert_eq!(check("key.pem").answered(), "");
}
