//! The body of a request: JSON, and no larger than allowed.
//!
//! All bodies together have a bound in memory, and large ones are parsed a few at a time, away from
//! the threads that serve everybody: a parsed body takes many times its bytes.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, ORIGIN, USER_AGENT};
use axum::http::{HeaderMap, HeaderValue};
use futures_util::StreamExt;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use turn::Principal;

use crate::api::Api;
use crate::connection::TooSlow;
use crate::problem::Problem;
use crate::shares::Shares;

/// How much of a body that is too large is read all the same: a client that is still sending when
/// the connection closes may never see why.
const DRAIN: usize = 16 * 1024 * 1024;

/// How much all bodies together may hold, in bytes.
const ROOM: usize = 32 * 1024 * 1024;

/// How much of it one principal may hold: bodies that come slowly hold it for long.
const SHARE: usize = ROOM / 2;

/// The unit in which room is given. A body that is smaller needs none, and never waits.
const STEP: usize = 64 * 1024;

/// From how many bytes on a body is large.
const LARGE: usize = 256 * 1024;

/// How many large bodies are parsed and taken in at once.
const LARGE_AT_ONCE: usize = 2;

/// How many values a body may hold: each takes some 70 bytes in memory, and two in the body.
const VALUES: usize = 250_000;

/// How long a body waits for room, or for its turn.
const WAIT: Duration = Duration::from_secs(5);

/// The room that all bodies share.
#[derive(Clone)]
pub struct Bodies {
    /// In steps.
    room: Arc<Semaphore>,
    shares: Arc<Shares>,
    large: Arc<Semaphore>,
}

impl Default for Bodies {
    fn default() -> Self {
        Self {
            room: Arc::new(Semaphore::new(ROOM / STEP)),
            shares: Arc::new(Shares::new(SHARE / STEP)),
            large: Arc::new(Semaphore::new(LARGE_AT_ONCE)),
        }
    }
}

impl Bodies {
    /// Parses this many bytes; large bodies on a blocking thread, and in
    /// turn. The turn is over when what is returned with it is dropped.
    pub(crate) async fn parse<B, T>(
        &self,
        bytes: B,
        parse: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<(T, Option<OwnedSemaphorePermit>), Problem>
    where
        B: AsRef<[u8]> + Send + 'static,
        T: Send + 'static,
    {
        let parse = |bytes: &[u8]| {
            let mut values = ValueCount::default();
            if bytes.len() >= LARGE {
                values.add(bytes);
            }
            match values.is_too_many() {
                true => Err(Problem::too_many_values(VALUES)),
                false => Ok(parse(bytes)),
            }
        };
        let (parsed, turn) = self.parse_counted(bytes, parse).await?;
        Ok((parsed?, turn))
    }

    /// The same, where the values were counted.
    async fn parse_counted<B, T>(
        &self,
        bytes: B,
        parse: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<(T, Option<OwnedSemaphorePermit>), Problem>
    where
        B: AsRef<[u8]> + Send + 'static,
        T: Send + 'static,
    {
        if bytes.as_ref().len() < LARGE {
            return Ok((parse(bytes.as_ref()), None));
        }
        let turn = Arc::clone(&self.large).acquire_owned();
        let Ok(Ok(turn)) = tokio::time::timeout(WAIT, turn).await else {
            return Err(Problem::no_room());
        };
        let parsed = tokio::task::spawn_blocking(move || parse(bytes.as_ref()));
        // It fails where it has panicked, or the server ends.
        let parsed = parsed.await.map_err(|_| Problem::no_room())?;
        Ok((parsed, Some(turn)))
    }
}

impl Bodies {
    /// Reserves this many bytes: of the principal's share first, so that one that has used that up
    /// blocks no other.
    async fn room(&self, principal: Option<&Principal>, bytes: usize) -> Result<Steps, Problem> {
        let given = async {
            let share = match principal {
                Some(principal) => Some(take(self.shares.of(principal), bytes, SHARE).await?),
                None => None,
            };
            let room = take(self.room.clone(), bytes, ROOM).await?;
            Ok::<_, AcquireError>(Steps {
                _share: share,
                _room: room,
            })
        };
        match tokio::time::timeout(WAIT, given).await {
            Ok(Ok(given)) => Ok(given),
            _ => Err(Problem::no_room()),
        }
    }
}

/// The room of one body, until it is dropped.
struct Steps {
    _share: Option<OwnedSemaphorePermit>,
    _room: OwnedSemaphorePermit,
}

/// About how many values there are in a text of JSON, as it comes: each but the first comes after a comma or
/// a bracket that is not inside of a string.
#[derive(Default)]
struct ValueCount {
    separators: usize,
    in_string: bool,
    is_escaped: bool,
}

impl ValueCount {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string = !self.in_string,
                b',' | b'[' | b'{' if !self.in_string => self.separators += 1,
                _ => {}
            }
        }
    }

    /// Whether there are more than a body may hold. A body that is not large has fewer bytes than that.
    fn is_too_many(&self) -> bool {
        self.separators >= VALUES
    }
}

/// A body that was read.
pub(crate) struct Received {
    bytes: Vec<u8>,
    steps: Option<Steps>,
    bodies: Bodies,
}

/// What a body takes up, until it has been taken in.
pub(crate) struct Room {
    _steps: Option<Steps>,
    _large: Option<OwnedSemaphorePermit>,
}

/// Reads a JSON body, no larger than the limit.
///
/// The type must be JSON: a form of another site can't send that without asking first.
pub(crate) async fn read(
    api: &Api,
    principal: Option<&Principal>,
    headers: &HeaderMap,
    body: Body,
) -> Result<Received, Problem> {
    match Labelled::of(headers) {
        Labelled::Json => receive(api, principal, headers, body).await,
        Labelled::Text | Labelled::Other => Err(Problem::unsupported_media_type()),
    }
}

/// The same for a chat's request, whose type may be missing, or the one that browsers and Node give a
/// text: `WorkflowChatTransport` sets none. A form of another site can send that too; the guard has refused
/// it by its origin, and a browser that says nothing of where a request comes from is refused here.
pub(crate) async fn read_chat(
    api: &Api,
    principal: Option<&Principal>,
    headers: &HeaderMap,
    body: Body,
) -> Result<Received, Problem> {
    match Labelled::of(headers) {
        Labelled::Text if !is_silent_browser(headers) => {
            receive(api, principal, headers, body).await
        }
        _ => read(api, principal, headers, body).await,
    }
}

/// What a request says that its body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Labelled {
    Json,
    /// A text, or nothing.
    Text,
    Other,
}

impl Labelled {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let Some(kind) = headers.get(CONTENT_TYPE) else {
            return Self::Text;
        };
        let kind = kind.to_str().unwrap_or("?");
        let kind = kind.split(';').next().unwrap_or_default().trim();
        match kind {
            _ if kind.eq_ignore_ascii_case("application/json") => Self::Json,
            _ if kind.eq_ignore_ascii_case("text/plain") => Self::Text,
            _ => Self::Other,
        }
    }
}

/// Whether a browser sends a request and does not say which site has it do so, as those before 2020 did.
fn is_silent_browser(headers: &HeaderMap) -> bool {
    let agent = headers.get(USER_AGENT).map(HeaderValue::as_bytes);
    let is_browser = agent.is_some_and(|agent| agent.starts_with(b"Mozilla/"));
    is_browser && !headers.contains_key(ORIGIN) && !headers.contains_key("sec-fetch-site")
}

async fn receive(
    api: &Api,
    principal: Option<&Principal>,
    headers: &HeaderMap,
    body: Body,
) -> Result<Received, Problem> {
    let limit = api.limits.bytes;
    let admit = |bytes: usize| match principal {
        Some(principal) => api.quotas.admit_bytes(principal, bytes),
        None => Ok(()),
    };
    // What is announced is refused before it is sent, and what is not, after.
    let announced = announced(headers);
    if let Some(bytes) = announced {
        admit(bytes.min(limit))?;
    }
    let mut stream = body.into_data_stream();
    let (mut bytes, mut seen) = (Vec::new(), 0);
    // All that it may need at once: bodies that hold a part each would wait for each other.
    let whole = announced.map_or(limit, |bytes| bytes.min(limit));
    let mut steps = None;
    // What would not be parsed is not waited for, nor held in memory.
    let mut values = (whole >= LARGE).then(ValueCount::default);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| match TooSlow::is_cause_of(&error) {
            true => Problem::body_timeout(),
            false => Problem::bad_request("the body was cut off"),
        })?;
        seen += chunk.len();
        if seen <= limit {
            if seen >= STEP && steps.is_none() {
                steps = Some(api.bodies.room(principal, whole).await?);
                // Grown by halves it would take twice as much.
                bytes.reserve_exact(announced.map_or(0, |_| whole.saturating_sub(bytes.len())));
            }
            bytes.extend_from_slice(&chunk);
            if let Some(values) = &mut values {
                values.add(&chunk);
                if values.is_too_many() {
                    return Err(Problem::too_many_values(VALUES));
                }
            }
        } else if seen > limit + DRAIN {
            break;
        } else {
            bytes = Vec::new();
        }
    }
    if seen > limit {
        return Err(Problem::too_large(limit));
    }
    if announced.is_none() {
        admit(seen)?;
    }
    Ok(Received {
        bytes,
        steps,
        bodies: api.bodies.clone(),
    })
}

/// The length of the body, as the request declares it.
fn announced(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reserves bytes, at most as many as there are.
async fn take(
    room: Arc<Semaphore>,
    bytes: usize,
    most: usize,
) -> Result<OwnedSemaphorePermit, AcquireError> {
    let steps = bytes.div_ceil(STEP).min(most / STEP);
    let steps = u32::try_from(steps).unwrap_or(u32::MAX);
    room.acquire_many_owned(steps).await
}

impl Received {
    /// Makes something of it. The room is to be kept for as long as what was made of the body is.
    pub(crate) async fn parse<T: Send + 'static>(
        self,
        parse: impl FnOnce(&[u8]) -> Result<T, Problem> + Send + 'static,
    ) -> Result<(T, Room), Problem> {
        let Self {
            bytes,
            steps,
            bodies,
        } = self;
        let (parsed, large) = bodies.parse_counted(bytes, parse).await?;
        let room = Room {
            _steps: steps,
            _large: large,
        };
        Ok((parsed?, room))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// On a runtime that has one thread: what blocks it blocks everybody.
    #[tokio::test]
    async fn large_bodies_are_parsed_away_from_the_threads_that_serve_a_few_at_a_time() {
        const TIME_LIMIT: Duration = Duration::from_secs(20);
        let bodies = Bodies::default();
        let (began, mut beginnings) = tokio::sync::mpsc::unbounded_channel();
        // Each continues when this task has let it.
        let parse = |number: usize| {
            let (go, gone) = mpsc::channel::<()>();
            let (bodies, began) = (bodies.clone(), began.clone());
            let parsed = tokio::spawn(async move {
                let parse = move |_: &[u8]| {
                    let _ = began.send(number);
                    gone.recv_timeout(TIME_LIMIT).is_ok()
                };
                let parsed = bodies.parse(vec![b' '; LARGE], parse).await;
                // Its turn is over here.
                parsed
                    .map_err(|problem| problem.code())
                    .map(|(is_done, _turn)| is_done)
            });
            (go, parsed)
        };
        let [first, second, third] = [0, 1, 2].map(parse);
        let mut next = async || tokio::time::timeout(TIME_LIMIT, beginnings.recv()).await;
        let mut both = [next().await.unwrap(), next().await.unwrap()];
        both.sort_unstable();
        assert_eq!(both, [Some(0), Some(1)]);
        assert_eq!(bodies.large.available_permits(), 0);
        for (go, parsed) in [first, second, third] {
            go.send(()).unwrap();
            assert_eq!(parsed.await.unwrap(), Ok(true));
        }
        assert_eq!(next().await, Ok(Some(2)));
    }

    #[tokio::test(start_paused = true)]
    async fn principal_waits_for_its_own_bodies_and_others_do_not() {
        let bodies = Bodies::default();
        let (ann, bob) = (Principal::from("ann"), Principal::from("bob"));
        let half = SHARE / 2;
        let first = bodies.room(Some(&ann), half).await.unwrap();
        let second = bodies.room(Some(&ann), half).await.unwrap();
        let refused = bodies.room(Some(&ann), half).await.err();
        assert_eq!(
            refused.map(|problem| problem.code()),
            Some("too_many_bytes")
        );
        let began = tokio::time::Instant::now();
        drop(bodies.room(Some(&bob), SHARE).await.unwrap());
        drop(bodies.room(None, ROOM / 2).await.unwrap());
        assert_eq!(began.elapsed(), Duration::ZERO);
        drop(first);
        drop(bodies.room(Some(&ann), half).await.unwrap());
        drop(second);
        // A body that is larger than a share has all of it.
        drop(bodies.room(Some(&bob), ROOM).await.unwrap());
    }

    #[test]
    fn values_are_counted_and_string_contents_are_not() {
        for (text, count) in [
            ("1", 1),
            ("[1,2,3]", 4),
            (r#"{"a":[],"b":{"c":1}}"#, 5),
            (r#""a,b,[c,{d""#, 1),
            (r#"["\\",1]"#, 3),
            (r#"["\",,,",1]"#, 3),
            ("", 1),
        ] {
            let mut values = ValueCount::default();
            // Wherever it is cut.
            text.as_bytes().iter().for_each(|byte| values.add(&[*byte]));
            assert_eq!(values.separators + 1, count, "{text}");
        }
    }
}
