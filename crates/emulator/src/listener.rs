//! Connections, with and without TLS, on one port.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::closing::Closing;

/// How a TLS record of a handshake begins; no HTTP method begins so.
const HANDSHAKE: u8 = 0x16;

/// Serves until `closing` is requested, and then until the connections have ended. Dropping the future
/// drops them all.
pub(crate) async fn serve(
    listener: TcpListener,
    tls: TlsAcceptor,
    router: Router,
    closing: Closing,
) {
    let router = Arc::new(router);
    let mut is_closing = closing.clone();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let (tls, router) = (tls.clone(), router.clone());
                    connections.spawn(connection(stream, tls, router, closing.clone()));
                }
                // Out of descriptors, most likely: some are freed soon.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            Some(_) = connections.join_next() => {}
            () = is_closing.requested() => break,
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn connection(stream: TcpStream, tls: TlsAcceptor, router: Arc<Router>, closing: Closing) {
    let _ = stream.set_nodelay(true);
    let mut first = [0];
    let mut is_closing = closing.clone();
    let peeked = tokio::select! {
        peeked = stream.peek(&mut first) => peeked,
        () = is_closing.requested() => return,
    };
    match peeked {
        Ok(1) if first[0] == HANDSHAKE => {
            if let Ok(stream) = tls.accept(stream).await {
                requests(stream, &router, closing).await;
            }
        }
        Ok(1) => requests(stream, &router, closing).await,
        _ => {}
    }
}

async fn requests(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: &Router,
    mut closing: Closing,
) {
    let service = TowerToHyperService::new(router.clone());
    let connection = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // A client that disconnects, or a cut that was requested: neither is an error.
        _ = connection.as_mut() => return,
        () = closing.requested() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}
