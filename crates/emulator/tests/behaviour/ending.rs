//! TLS on the same port, and how an emulator ends.

use std::sync::Arc;
use std::time::Duration;

use adk_stream_emulator::Emulator;
use base64::Engine as _;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::http::{asking, read, stream_of, write};
use crate::socket::Socket;
use crate::{emulator, soon};

async fn tls(
    emulator: &Emulator,
    name: &'static str,
) -> tokio_rustls::client::TlsStream<TcpStream> {
    let pem = emulator.certificate().lines();
    let body: String = pem.filter(|line| !line.starts_with("-----")).collect();
    let der = base64::engine::general_purpose::STANDARD
        .decode(body)
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(der)).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(emulator.address()).await.unwrap();
    let name = ServerName::try_from(name).unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    soon(connector.connect(name, stream)).await.unwrap()
}

#[tokio::test]
async fn a_client_that_trusts_the_certificate_speaks_tls_on_the_same_port() {
    let emulator = emulator("[]").await;
    for name in ["127.0.0.1", "localhost"] {
        let mut stream = tls(&emulator, name).await;
        let (path, body) = (stream_of("gemini-2.5-flash"), asking("Hello").to_string());
        write(&mut stream, "POST", &path, "x-goog-api-key: k\r\n", &body).await;
        assert!(read(&mut stream).await.text().starts_with("You said"));
    }
}

#[tokio::test]
async fn a_dropped_emulator_ends_everything() {
    let emulator = emulator(r#"[{"on": "generate", "paceMs": 3600000}]"#).await;
    let address = emulator.address();
    let mut socket = Socket::text(&emulator).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let (path, body) = (stream_of("gemini-2.5-flash"), asking("Hello").to_string());
    write(&mut stream, "POST", &path, "x-goog-api-key: k\r\n", &body).await;
    soon(emulator.counted(|stats| stats.streams_open == 1)).await;
    drop(emulator);
    assert!(!read(&mut stream).await.is_whole);
    assert_eq!(socket.closed().await.0, 1001);
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn an_emulator_that_shuts_down_lets_answers_end() {
    let emulator = emulator(r#"[{"on": "generate", "paceMs": 5}]"#).await;
    let mut stream = TcpStream::connect(emulator.address()).await.unwrap();
    let (path, body) = (stream_of("gemini-2.5-flash"), asking("Hello").to_string());
    write(&mut stream, "POST", &path, "x-goog-api-key: k\r\n", &body).await;
    soon(emulator.counted(|stats| stats.streams_open == 1)).await;
    let (answer, ()) = tokio::join!(
        read(&mut stream),
        soon(emulator.shut_down(Duration::from_secs(20)))
    );
    assert!(answer.is_whole);
}
