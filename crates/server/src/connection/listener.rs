//! The accept loop.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::Instant;

use super::limits::{ConnectionLimits, raise_descriptor_limit};
use super::refusal::NO_ROOM;
use super::table::{Admission, Table};
use super::{Server, Transport, accepted};

/// How long the loop waits where the system has no descriptor left.
const PAUSE: Duration = Duration::from_millis(50);

/// How often refused and closed connections are logged.
const REPORT: Duration = Duration::from_secs(1);

/// How many unsent bytes the system holds for a client: enough for any network, and
/// not the megabytes that it would take for one that does not read.
#[cfg(target_os = "linux")]
const UNSENT: u32 = 128 * 1024;

/// Serves connections until `drain` ends, and then until they have ended. Requests know the address
/// of their client, as `ConnectInfo<SocketAddr>`.
///
/// It raises the limit on descriptors of the process, and keeps to the limits on connections. Sockets
/// that were opened outlive it.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    drain: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_over(Transport::Plain, listener, router, limits, drain).await
}

/// The same, over TLS where there is a certificate.
pub(crate) async fn serve_over(
    transport: Transport,
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    drain: impl Future<Output = ()>,
) -> io::Result<()> {
    let table = Table::new(limits.caps(raise_descriptor_limit()));
    let (draining, is_draining) = watch::channel(false);
    // Each connection holds the other end: it is closed when all have ended.
    let (ended, open) = watch::channel(());
    let server = Arc::new(Server {
        transport,
        router,
        limits,
        table: table.clone(),
    });
    let mut report = Report::new(table.clone());
    let mut drain = std::pin::pin!(drain);
    loop {
        let incoming = tokio::select! {
            incoming = listener.accept() => incoming,
            () = &mut drain => break,
        };
        let (stream, peer) = match incoming {
            Ok(incoming) => incoming,
            // The client disconnected before it was served.
            Err(error) if is_of_client(&error) => continue,
            Err(error) => {
                report.accept_failed(&error, table.make_room());
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let admission = table.admit(peer.ip());
        report.admitted(peer, &admission);
        let Some(slot) = admission.slot else {
            refuse(&stream, &server.transport);
            continue;
        };
        prepare(&stream);
        let state = slot.connection().clone();
        let (server, is_draining, open) = (server.clone(), is_draining.clone(), open.clone());
        let task = tokio::spawn(async move {
            accepted(stream, peer, slot, server, is_draining).await;
            drop(open);
        });
        state.served_by(task.abort_handle());
    }
    drop((listener, open));
    draining.send_replace(true);
    ended.closed().await;
    Ok(())
}

fn is_of_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
    )
}

/// Deltas are small and must leave at once: held back until the client has acknowledged the ones
/// before, one client alone would wait forty milliseconds in every turn.
fn prepare(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::warn!("can't set TCP_NODELAY: {error}");
    }
    #[cfg(target_os = "linux")]
    if let Err(error) = socket2::SockRef::from(stream).set_tcp_notsent_lowat(UNSENT) {
        tracing::warn!("can't set TCP_NOTSENT_LOWAT: {error}");
    }
}

/// Responds that there are too many connections, and waits for nothing.
fn refuse(stream: &TcpStream, transport: &Transport) {
    let response = match transport {
        Transport::Plain => NO_ROOM,
        #[cfg(feature = "cli")]
        Transport::Tls(_) => crate::tls::NO_ROOM,
    };
    // A client that does not read it is refused all the same.
    let _ = stream.try_write(response);
    let _ = socket2::SockRef::from(stream).shutdown(std::net::Shutdown::Write);
}

/// Logs connections that were refused or closed, once in a while.
struct Report {
    table: Arc<Table>,
    last: Option<Instant>,
    refused: usize,
    evicted: usize,
}

impl Report {
    fn new(table: Arc<Table>) -> Self {
        Self {
            table,
            last: None,
            refused: 0,
            evicted: 0,
        }
    }

    fn is_due(&mut self) -> bool {
        let is_due = self.last.is_none_or(|last| last.elapsed() >= REPORT);
        if is_due {
            self.last = Some(Instant::now());
        }
        is_due
    }

    fn admitted(&mut self, peer: SocketAddr, admission: &Admission) {
        let is_refused = admission.slot.is_none();
        self.evicted += admission.evicted;
        self.refused += usize::from(is_refused);
        if (admission.evicted > 0 || is_refused) && self.is_due() {
            let caps = self.table.caps();
            tracing::warn!(
                open = admission.open,
                limit = caps.max,
                limit_per_address = caps.max_per_address,
                refused = std::mem::take(&mut self.refused),
                closed = std::mem::take(&mut self.evicted),
                address = %peer.ip(),
                "too many connections"
            );
        }
    }

    fn accept_failed(&mut self, error: &io::Error, evicted: usize) {
        self.evicted += evicted;
        if self.is_due() {
            tracing::error!(
                open = self.table.len(),
                limit = self.table.caps().max,
                closed = std::mem::take(&mut self.evicted),
                "can't accept connections: {error}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn silent_connection_is_not_waited_for_when_the_server_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", axum::routing::get(async || "served"));
        let (request_drain, drain) = tokio::sync::oneshot::channel::<()>();
        let mut silent = TcpStream::connect(address).await.unwrap();
        let mut asking = TcpStream::connect(address).await.unwrap();
        let limits = ConnectionLimits::default();
        let server = tokio::spawn(serve(listener, router, limits, async {
            let _ = drain.await;
        }));
        let request = b"GET / HTTP/1.1\r\nhost: here\r\n\r\n";
        // The first response shows that the connection was accepted.
        asking.write_all(request).await.unwrap();
        let mut answer = [0; 15];
        asking.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200 OK");
        drop(request_drain);
        let mut nothing = Vec::new();
        silent.read_to_end(&mut nothing).await.unwrap();
        assert!(nothing.is_empty());
        server.await.unwrap().unwrap();
    }
}
