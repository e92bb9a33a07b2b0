//! The HTTP of an agent of somebody else's: a POST that is answered with a stream of events.
//!
//! A request is sent again only while no connection was made: a server that has received it may have acted.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, Response, Url};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};
use wire::sse::Decoder;

use crate::error::Error;
use crate::model::http::{extra_headers, is_loopback, retry_after};
use crate::model::{Failure, Provider, Redactor, chance};
use crate::tls;

/// How long the agent may take to be connected to.
const CONNECT: Duration = Duration::from_secs(5);

/// How long it may take to begin an answer.
const FIRST_BYTE: Duration = Duration::from_secs(180);

/// How long an unreachable agent is waited for: it may be about to restart.
const UNREACHABLE: Duration = Duration::from_secs(10);

/// How long the first pause between two tries is.
const PAUSE: Duration = Duration::from_millis(100);

/// How much one event may hold. Images come in one.
const EVENT_BYTES: usize = 64 * 1024 * 1024;

/// How much one run may hold: an agent that never ends would fill the memory.
const RUN_BYTES: usize = 256 * 1024 * 1024;

/// How long the words of a refusal may take to come.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(5);

/// How much is read of a refusal.
const REFUSAL_BYTES: usize = 16 * 1024;

/// How much of a refusal is shown.
const REFUSAL_CHARS: usize = 300;

/// The agent's address, and how to get there.
#[derive(Debug)]
pub(crate) struct Upstream {
    client: Client,
    url: Url,
    provider: Provider,
    redactor: Redactor,
}

impl Upstream {
    pub(crate) fn new(
        provider: Provider,
        url: &str,
        headers: &[(String, String)],
    ) -> Result<Self, Error> {
        let url = agent_url(url)?;
        let secrets = headers.iter().map(|(_, value)| value.clone());
        let redactor = Redactor::new(secrets);
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls::config()?)
            .user_agent(concat!("adk-stream/", env!("CARGO_PKG_VERSION")))
            .default_headers(HeaderMap::from_iter(extra_headers(headers)?))
            // Wherever it would lead, the headers would go with it.
            .redirect(Policy::none())
            .connect_timeout(CONNECT)
            // A server may close an idle connection while a request is on its way, and nobody could
            // tell whether it was received.
            .pool_max_idle_per_host(0)
            // A tool may be silent for hours: this is how an agent that is gone is noticed.
            .tcp_keepalive(Duration::from_secs(15))
            .tcp_nodelay(true);
        if is_loopback(&url) {
            builder = builder.no_proxy();
        }
        let failed = |error: reqwest::Error| Error::Client(error.without_url().to_string());
        let client = builder.build().map_err(failed)?;
        Ok(Self {
            client,
            url,
            provider,
            redactor,
        })
    }

    /// Who fails, where something does.
    pub(crate) fn provider(&self) -> Provider {
        self.provider
    }

    /// Takes secrets out of what the agent says.
    pub(crate) fn redactor(&self) -> Redactor {
        self.redactor.clone()
    }

    fn words(&self, text: &str) -> String {
        self.redactor.words(text)
    }

    /// Sends a body, and begins to read the answer.
    pub(crate) async fn post(
        &self,
        body: &Value,
        headers: HeaderMap,
    ) -> Result<EventStream, Failure> {
        let body = body.to_string();
        let request = || {
            let request = self.client.post(self.url.clone());
            let request = request.header(CONTENT_TYPE, "application/json");
            request.headers(headers.clone()).body(body.clone())
        };
        let response = self.send(request).await?;
        match response.status().as_u16() {
            200 => self.stream(response),
            _ => Err(self.refused(response).await),
        }
    }

    /// The stream at a path below the agent's; nothing, if there is none.
    pub(crate) async fn get_stream(
        &self,
        path: &[&str],
        headers: HeaderMap,
    ) -> Option<EventStream> {
        let mut url = self.url.clone();
        url.path_segments_mut().ok()?.pop_if_empty().extend(path);
        let request = || {
            let request = self.client.request(Method::GET, url.clone());
            request.headers(headers.clone())
        };
        let response = self.send(request).await.ok()?;
        let is_found = response.status().as_u16() == 200;
        is_found.then(|| self.stream(response).ok()).flatten()
    }

    fn stream(&self, response: Response) -> Result<EventStream, Failure> {
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("none");
        if !kind.starts_with("text/event-stream") {
            let why = format!("its content-type is {}", self.words(kind));
            return Err(self.provider.unreadable(&why));
        }
        Ok(EventStream {
            provider: self.provider,
            response: Some(response),
            decoder: Decoder::new(),
            ready: VecDeque::new(),
            volume: Volume::default(),
        })
    }

    /// Sends a request, again only while no connection was made.
    async fn send(&self, request: impl Fn() -> RequestBuilder) -> Result<Response, Failure> {
        let until = Instant::now() + UNREACHABLE;
        let mut wait = PAUSE;
        loop {
            let accept = HeaderValue::from_static("text/event-stream, application/json");
            let request = request().header(ACCEPT, accept).send();
            match timeout(FIRST_BYTE, request).await {
                Ok(Ok(response)) => return Ok(response),
                Ok(Err(error)) if error.is_connect() && Instant::now() < until => {
                    sleep(wait.mul_f64(0.5 + chance() / 2.0)).await;
                    wait = (wait * 2).min(Duration::from_secs(2));
                }
                Ok(Err(error)) => {
                    let is_undelivered = error.is_connect();
                    let error = error.without_url();
                    tracing::warn!(agent = self.provider.agent, ?error, "agent request failed");
                    return Err(match is_undelivered {
                        true => self.provider.unreachable(),
                        false => self.provider.cut_off(),
                    });
                }
                Err(_) => return Err(self.provider.timed_out()),
            }
        }
    }

    async fn refused(&self, mut response: Response) -> Failure {
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers(), SystemTime::now());
        let mut body = Vec::new();
        let read = async {
            while let Ok(Some(bytes)) = response.chunk().await {
                body.extend_from_slice(&bytes);
                if body.len() > REFUSAL_BYTES {
                    break;
                }
            }
        };
        // Without its whole body it is still a refusal.
        let _ = timeout(REFUSAL_TIMEOUT, read).await;
        let said = self.words(&refusal_text(&body));
        tracing::warn!(
            agent = self.provider.agent,
            status,
            said,
            "agent request refused"
        );
        let failure = match status {
            404 => Failure::new("agent_not_found", "The agent's address has no agent."),
            401 | 403 => Failure::new(
                "agent_unauthorized",
                "The agent's server rejected our credentials.",
            ),
            _ => self.provider.of_status(status, retry_after, &said),
        };
        // It was received, and what it did is unknown.
        Failure {
            is_transient: false,
            ..failure
        }
    }
}

/// Why the agent refuses, where it says so in words.
fn refusal_text(body: &[u8]) -> String {
    let text = match serde_json::from_slice::<Value>(body) {
        Ok(body) => {
            let fields = ["error", "message", "detail"];
            let said = fields.iter().find_map(|field| body.get(field));
            match said {
                Some(Value::String(said)) => said.clone(),
                Some(other) => other.to_string(),
                None => String::new(),
            }
        }
        Err(_) if body.starts_with(b"<") => String::new(),
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    };
    text.chars().take(REFUSAL_CHARS).collect()
}

/// Where an agent is. A route may need a query; a user in it would be a secret.
fn agent_url(text: &str) -> Result<Url, Error> {
    let url = Url::parse(text).map_err(|_| Error::BaseUrl("it can't be read"))?;
    let why = if !matches!(url.scheme(), "http" | "https") {
        Some("it is not http")
    } else if !url.username().is_empty() || url.password().is_some() {
        Some("it names a user")
    } else if url.fragment().is_some() {
        Some("it has a fragment")
    } else {
        None
    };
    match why {
        Some(why) => Err(Error::BaseUrl(why)),
        None => Ok(url),
    }
}

/// An answer that is being read, event by event.
pub(crate) struct EventStream {
    provider: Provider,
    /// Nothing, once it was read to its end.
    response: Option<Response>,
    decoder: Decoder,
    ready: VecDeque<String>,
    volume: Volume,
}

/// How many bytes came.
#[derive(Default)]
struct Volume {
    /// Since the last event.
    event: usize,
    /// In the whole stream.
    run: usize,
}

impl Volume {
    /// Adds bytes, and whether an event ended with them; what is wrong, if they are too many.
    fn add(&mut self, bytes: usize, is_event: bool) -> Result<(), &'static str> {
        self.event = if is_event { 0 } else { self.event + bytes };
        self.run = self.run.saturating_add(bytes);
        if self.event > EVENT_BYTES {
            Err("one event of it has no end")
        } else if self.run > RUN_BYTES {
            Err("it has no end")
        } else {
            Ok(())
        }
    }
}

impl EventStream {
    /// The data of the next event; nothing, at the end. What comes before a failure is read first.
    pub(crate) async fn next(&mut self) -> Result<Option<String>, Failure> {
        loop {
            if let Some(data) = self.ready.pop_front() {
                return Ok(Some(data));
            }
            let Some(response) = &mut self.response else {
                return Ok(None);
            };
            match response.chunk().await {
                Ok(Some(bytes)) => {
                    let events = self.decoder.push(&bytes);
                    let is_event = !events.is_empty();
                    self.ready
                        .extend(events.into_iter().map(|event| event.data));
                    if let Err(why) = self.volume.add(bytes.len(), is_event) {
                        self.response = None;
                        self.ready.clear();
                        return Err(self.provider.unreadable(why));
                    }
                }
                Ok(None) => {
                    self.response = None;
                    if self.decoder.is_incomplete() {
                        return Err(self.provider.cut_off());
                    }
                }
                Err(error) => {
                    self.response = None;
                    let error = error.without_url();
                    tracing::warn!(agent = self.provider.agent, ?error, "agent stream cut off");
                    return Err(self.provider.cut_off());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_may_have_a_query_and_no_user() {
        assert!(agent_url("https://app.example/api/chat?team=blue").is_ok());
        for bad in [
            "app.example",
            "ftp://app.example",
            "http://a:b@app.example",
            "http://a/#x",
        ] {
            assert!(agent_url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn stream_without_an_end_is_not_read_for_ever() {
        let mut event = Volume::default();
        assert_eq!(event.add(EVENT_BYTES, false), Ok(()));
        assert!(event.add(1, false).unwrap_err().contains("one event"));
        let mut run = Volume::default();
        for _ in 0..RUN_BYTES / EVENT_BYTES {
            assert_eq!(run.add(EVENT_BYTES, true), Ok(()));
        }
        assert_eq!(run.add(1, true), Err("it has no end"));
    }

    #[test]
    fn refusal_is_read_from_json_and_from_text() {
        assert_eq!(refusal_text(br#"{"error":"no credit"}"#), "no credit");
        assert_eq!(refusal_text(br#"{"detail":{"why":1}}"#), r#"{"why":1}"#);
        assert_eq!(refusal_text(b"no credit"), "no credit");
        assert_eq!(refusal_text(b"<html>proxy</html>"), "");
    }
}
