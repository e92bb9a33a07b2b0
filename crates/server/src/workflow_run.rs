//! Windows for `WorkflowChatTransport` of `@ai-sdk/workflow`: it counts the chunks that it has got, and asks
//! for those behind a number where its connection is lost.
//!
//! How many chunks a window has depends on when it was opened and on who reads it, so a number means
//! something only for the window that was counted. This server keeps what it sent of such windows, and what
//! is left of them, in bounded memory. A client of another window gets the error `run_lost`, and reads
//! the chat again.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use engine::WindowStream;
use futures_util::stream::unfold;
use futures_util::{Stream, StreamExt};
use tokio::sync::watch;
use turn::Principal;
use wire::chunk::Finish;
use wire::{Chunk, sse};

use crate::metrics::GaugeGuard;
use crate::problem::Problem;
use crate::random_id::random_id;

/// The header that names a run.
const RUN_ID: HeaderName = HeaderName::from_static("x-workflow-run-id");

/// How many windows are kept.
const MAX_RUNS: usize = 128;

/// How many bytes are kept of one.
const MAX_BYTES: usize = 512 * 1024;

/// How long a window may be silent: proxies close connections that are.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// The windows that are kept, oldest first.
#[derive(Clone, Default)]
pub struct WorkflowRuns(Arc<Mutex<VecDeque<Arc<Run>>>>);

/// A window, what was sent of it, and what is left.
struct Run {
    id: String,
    principal: Principal,
    sent: tokio::sync::Mutex<Sent>,
    /// Which of its readers is the last: the others end.
    reader: watch::Sender<u64>,
}

struct Sent {
    /// How many chunks came before those that are kept.
    base: usize,
    chunks: Vec<Arc<Chunk>>,
    bytes: usize,
    /// The rest; nothing, once it is closed.
    window: Option<(WindowStream, GaugeGuard)>,
}

impl WorkflowRuns {
    /// The response of a window, under a name of its own.
    pub(crate) fn begin(
        &self,
        principal: &Principal,
        window: WindowStream,
        open: GaugeGuard,
    ) -> Response {
        self.begin_as(random_id("run_"), principal, window, open)
    }

    /// The same under a name that the client has already.
    pub(crate) fn begin_as(
        &self,
        id: impl Display,
        principal: &Principal,
        window: WindowStream,
        open: GaugeGuard,
    ) -> Response {
        let id = id.to_string();
        let run = Arc::new(Run {
            id,
            principal: principal.clone(),
            sent: tokio::sync::Mutex::new(Sent {
                base: 0,
                chunks: Vec::new(),
                bytes: 0,
                window: Some((window, open)),
            }),
            reader: watch::channel(0).0,
        });
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.retain(|known| known.id != run.id || known.principal != run.principal);
        runs.push_back(run.clone());
        if runs.len() > MAX_RUNS {
            let given_up = oldest_of_largest_holder(runs.iter().map(|run| &run.principal));
            runs.remove(given_up);
        }
        drop(runs);
        run.response(0)
    }

    /// The response of a window behind this many of its chunks, if it is here: an error, if it is and does
    /// not have them any more.
    pub(crate) async fn resume(
        &self,
        id: &str,
        principal: &Principal,
        at: usize,
    ) -> Option<Result<Response, Problem>> {
        let found = {
            let runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let mut runs = runs.iter();
            runs.find(|run| run.id == id && run.principal == *principal)
                .cloned()?
        };
        // Its former reader may wait for more: it ends, and releases what is kept.
        found.reader.send_modify(|reader| *reader += 1);
        let is_kept = {
            let sent = found.sent.lock().await;
            (sent.base..=sent.base + sent.chunks.len()).contains(&at)
        };
        Some(match is_kept {
            true => Ok(found.response(at)),
            false => Err(Problem::run_lost()),
        })
    }
}

/// Which is given up where there are too many: the oldest of the principal who has the most, so that nobody
/// pushes out the windows of others.
fn oldest_of_largest_holder<'p>(holders: impl Iterator<Item = &'p Principal>) -> usize {
    // For each principal, how many it has, and where its oldest is.
    let mut held: HashMap<&Principal, (usize, Reverse<usize>)> = HashMap::new();
    for (place, holder) in holders.enumerate() {
        held.entry(holder).or_insert((0, Reverse(place))).0 += 1;
    }
    let largest = held.into_values().max();
    largest.map_or(0, |(_, Reverse(oldest))| oldest)
}

impl Run {
    fn response(self: Arc<Self>, at: usize) -> Response {
        let name = HeaderValue::from_str(&self.id);
        let current = self.reader.subscribe();
        let number = *current.borrow();
        let reader = Reader {
            run: self,
            current,
            number,
            at,
        };
        let mut response = stream(unfold(Some(reader), async |reader| {
            let mut reader = reader?;
            let (bytes, is_open) = reader.next().await?;
            Some((bytes, is_open.then_some(reader)))
        }));
        if let Ok(name) = name {
            response.headers_mut().insert(RUN_ID, name);
        }
        response
    }
}

/// The response where there is nothing to resume: a client that counts chunks takes none without a body, and
/// asks again where it has no end.
pub(crate) fn nothing() -> Response {
    let mut bytes = Vec::new();
    sse::write_chunk(&mut bytes, &Chunk::from(Finish::default()));
    sse::write_done(&mut bytes);
    stream(futures_util::stream::iter([bytes.into()]))
}

fn stream(events: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let events = events.map(Ok::<_, Infallible>);
    let mut response = Body::from_stream(events).into_response();
    let headers = sse::HEADERS.into_iter();
    // Hop-by-hop headers are the HTTP library's.
    for (name, value) in headers.filter(|(name, _)| *name != "connection") {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

/// Who reads a window.
struct Reader {
    run: Arc<Run>,
    current: watch::Receiver<u64>,
    number: u64,
    /// How many chunks it has got.
    at: usize,
}

impl Reader {
    /// What is to be written next, and whether anything follows; nothing, once another reads.
    async fn next(&mut self) -> Option<(Bytes, bool)> {
        let Self {
            run,
            current,
            number,
            at,
        } = self;
        let is_other = async { current.wait_for(|reader| reader != number).await.is_ok() };
        let next = async {
            let mut sent = run.sent.lock().await;
            if *at >= sent.base + sent.chunks.len() {
                match tokio::time::timeout(KEEPALIVE, sent.read()).await {
                    Ok(true) => {}
                    Ok(false) => {
                        let mut bytes = Vec::new();
                        sse::write_done(&mut bytes);
                        return (bytes.into(), false);
                    }
                    Err(_) => {
                        let mut bytes = Vec::new();
                        sse::write_comment(&mut bytes, "still here");
                        return (bytes.into(), true);
                    }
                }
            }
            let mut bytes = Vec::new();
            let from = at.saturating_sub(sent.base);
            for chunk in &sent.chunks[from..] {
                sse::write_chunk(&mut bytes, chunk);
            }
            *at = sent.base + sent.chunks.len();
            sent.forget_if_large();
            (bytes.into(), true)
        };
        tokio::select! {
            biased;
            _ = is_other => None,
            next = next => Some(next),
        }
    }
}

impl Sent {
    /// Reads on; says whether there was more.
    async fn read(&mut self) -> bool {
        let Some((window, _)) = &mut self.window else {
            return false;
        };
        match window.next().await {
            Some(chunks) => {
                for chunk in chunks {
                    let mut bytes = Vec::new();
                    sse::write_chunk(&mut bytes, &chunk);
                    self.bytes += bytes.len();
                    self.chunks.push(chunk);
                }
                true
            }
            None => {
                self.window = None;
                false
            }
        }
    }

    /// A long window is kept no longer once it was written.
    fn forget_if_large(&mut self) {
        if self.bytes > MAX_BYTES {
            self.base += self.chunks.len();
            self.chunks = Vec::new();
            self.bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given_up(holders: &[&str]) -> usize {
        let holders: Vec<_> = holders.iter().copied().map(Principal::from).collect();
        oldest_of_largest_holder(holders.iter())
    }

    #[test]
    fn one_who_opens_many_windows_pushes_out_their_own() {
        assert_eq!(given_up(&["bob", "eve", "eve", "ann", "eve"]), 1);
    }

    #[test]
    fn where_all_have_as_many_the_oldest_goes() {
        assert_eq!(given_up(&["bob", "eve", "ann"]), 0);
        assert_eq!(given_up(&["bob", "eve", "eve", "bob"]), 0);
    }
}
