//! The other servers over one store, by HTTP. Built with the feature `cluster`.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use engine::command::{Command, Deciding, Reply};
use engine::replica::{NotForwarded, Peers};
use engine::{Batch, WindowStream};
use reqwest::Client;
use serde_json::Value;
use store::Location;
use tokio::sync::{mpsc, oneshot};
use turn::{TraceContext, TurnId};
use view::Closing;
use wire::Chunk;

use super::{HEADER, LINEAGE, LINEAGE_PATH, PATH, TURN, WireReply, observe};
use crate::cause::cause;
use crate::request_context::{self, RequestContext};
use crate::shared_key::SharedKey;

/// How long a server may take to answer a command, or to send more of a window. A silent window
/// sends keepalives more often, and the engine gives up on an owner whose lease is over.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// The other servers, by HTTP.
pub struct HttpPeers {
    client: Client,
    key: SharedKey,
    location: Location,
}

impl HttpPeers {
    /// For servers of one's own: without proxies, and with short timeouts.
    pub fn new(key: SharedKey) -> Result<Self, String> {
        let tls = agents::tls_config().map_err(|error| error.to_string())?;
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_secs(2))
            .no_proxy()
            .tcp_nodelay(true);
        let client = client.build().map_err(|error| error.to_string())?;
        let location = Location::Memory;
        Ok(Self {
            client,
            key,
            location,
        })
    }

    /// Tells the others of a failover of this database, and learns of it from them.
    #[must_use]
    pub fn with_location(self, location: Location) -> Self {
        Self { location, ..self }
    }

    /// Asks a server what it has seen of the database, or says why it can't be asked.
    pub(crate) async fn ask(&self, address: &str) -> Result<(), String> {
        let url = format!("{}{LINEAGE_PATH}", address.trim_end_matches('/'));
        let mut asked = self.client.get(url).header(HEADER, self.key.as_str());
        if let Some(newest) = self.location.newest_lineage() {
            asked = asked.header(LINEAGE, newest);
        }
        let answer = asked.timeout(IDLE_TIMEOUT).send().await;
        let answer = answer.map_err(|error| cause(&error))?;
        match answer.status().as_u16() {
            204 => {
                observe(&self.location, answer.headers());
                Ok(())
            }
            401 => Err("it has another cluster key".to_owned()),
            status => Err(format!(
                "it answers {status}, as no server of this cluster does"
            )),
        }
    }

    async fn send(&self, address: &str, command: &Command) -> Result<Reply, NotForwarded> {
        let url = format!("{}{PATH}", address.trim_end_matches('/'));
        let sent = self.client.post(url).header(HEADER, self.key.as_str());
        let mut sent = sent.header("content-type", "application/json");
        if let Some(id) = RequestContext::current_id() {
            sent = sent.header(request_context::HEADER, id.as_str());
        }
        let trace = command.trace.as_ref().filter(|trace| trace.span.is_some());
        for (name, value) in trace.into_iter().flat_map(TraceContext::headers) {
            sent = sent.header(name, value);
        }
        if let Some(newest) = self.location.newest_lineage() {
            sent = sent.header(LINEAGE, newest);
        }
        let body = serde_json::to_vec(command).map_err(|_| NotForwarded::Nowhere)?;
        let sent = tokio::time::timeout(IDLE_TIMEOUT, sent.body(body).send()).await;
        let mut answer = match sent {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) if error.is_connect() => return Err(NotForwarded::Nowhere),
            Ok(Err(_)) | Err(_) => return Err(NotForwarded::Silent),
        };
        observe(&self.location, answer.headers());
        let status = answer.status().as_u16();
        if status != 200 {
            if status != 421 {
                tracing::warn!(status, address, "forwarding a command failed");
            }
            return Err(match status {
                500.. => NotForwarded::Silent,
                _ => NotForwarded::Nowhere,
            });
        }
        let mut lines = Lines::default();
        let first = lines.next(&mut answer).await.ok_or(NotForwarded::Silent)?;
        let reply = serde_json::from_value(first).map_err(|_| NotForwarded::Silent)?;
        Ok(match reply {
            WireReply::Window(Some(message_id)) => {
                let (sender, chunks) = mpsc::channel(16);
                let turn = answer.headers().get(TURN);
                let turn = turn.and_then(|turn| Some(TurnId::from(turn.to_str().ok()?)));
                tokio::spawn(pass_on(answer, lines, sender));
                let window = WindowStream::elsewhere(message_id, chunks);
                Reply::Window(Some(window.of_turn(turn)))
            }
            WireReply::Window(None) => Reply::Window(None),
            WireReply::Stopped(was_open) => Reply::Stopped(was_open),
            WireReply::View(view) => Reply::View(view),
            WireReply::Asked(Some(decision)) => Reply::Asked(Deciding::Decided(decision)),
            WireReply::Asked(None) => Reply::Asked(Deciding::Open(oneshot::channel().1)),
            WireReply::Taken(taken) => Reply::Taken(taken),
            WireReply::Done => Reply::Done,
            WireReply::Failed(error) => return Err(NotForwarded::Refused(error)),
        })
    }
}

impl Peers for HttpPeers {
    fn forward<'a>(
        &'a self,
        address: &'a str,
        command: &'a Command,
    ) -> Pin<Box<dyn Future<Output = Result<Reply, NotForwarded>> + Send + 'a>> {
        Box::pin(self.send(address, command))
    }

    fn compare<'a>(&'a self, address: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            // One that is away, or of an older version, has nothing to say.
            let _ = self.ask(address).await;
        })
    }
}

/// Passes on what another server reads of a window, until it ends or is cut.
async fn pass_on(mut answer: reqwest::Response, mut lines: Lines, sender: mpsc::Sender<Batch>) {
    loop {
        let line = tokio::select! {
            line = lines.next(&mut answer) => line,
            () = sender.closed() => return,
        };
        let batch = match line {
            Some(Value::Array(chunks)) => decode(chunks, Vec::new()),
            Some(Value::Object(mut read)) => {
                let Some(Value::Array(chunks)) = read.remove("chunks") else {
                    return;
                };
                let sequences = read.remove("sequences").unwrap_or_default();
                let sequences = serde_json::from_value(sequences).unwrap_or_default();
                Batch {
                    asks: read.get("asks") == Some(&Value::Bool(true)),
                    ..decode(chunks, sequences)
                }
            }
            Some(_) => return,
            None => {
                let message = "The server that had this chat has stopped; resume it.";
                let notice = Closing::failed("handed_over", message).chunks();
                let notice: Vec<_> = notice.into_iter().map(Arc::new).collect();
                let _ = sender.send(notice.into()).await;
                return;
            }
        };
        // An empty one says that the server is there.
        if sender.send(batch).await.is_err() {
            return;
        }
    }
}

/// Both ends are of one version, or nearly: what one does not know it leaves out.
fn decode(chunks: Vec<Value>, sequences: Vec<u64>) -> Batch {
    let mut sequences = sequences.into_iter();
    let mut batch = Batch::default();
    for chunk in chunks {
        let sequence = sequences.next();
        if let Ok(chunk) = Chunk::decode(chunk) {
            batch.chunks.push(Arc::new(chunk));
            batch.sequences.extend(sequence);
        }
    }
    batch
}

/// Lines of JSON, as they come.
#[derive(Default)]
struct Lines(Vec<u8>);

impl Lines {
    async fn next(&mut self, answer: &mut reqwest::Response) -> Option<Value> {
        loop {
            if let Some(end) = self.0.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.0.drain(..=end).collect();
                return serde_json::from_slice(&line).ok();
            }
            match tokio::time::timeout(IDLE_TIMEOUT, answer.chunk()).await {
                Ok(Ok(Some(bytes))) => self.0.extend_from_slice(&bytes),
                Ok(Ok(None)) if !self.0.is_empty() => {
                    let line = std::mem::take(&mut self.0);
                    return serde_json::from_slice(&line).ok();
                }
                _ => return None,
            }
        }
    }
}
