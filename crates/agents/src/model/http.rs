//! One request, sent again while nothing has come.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use tokio::time::{sleep, timeout};
use turn::TraceContext;

use super::failure::{Failure, Provider};
use super::redactor::Redactor;
use super::retry::{Retries, Timeouts, chance};
use crate::error::Error;
use crate::tls;

/// How much of an error is read.
const ERROR_BYTES: usize = 64 * 1024;

/// Where to ask, and how.
pub(crate) struct Endpoint {
    pub(crate) provider: Provider,
    pub(crate) url: Url,
    /// What goes with every request, the key included.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// What must not be seen in what the service says.
    pub(crate) redactor: Redactor,
    pub(crate) retries: Retries,
    pub(crate) timeouts: Timeouts,
    /// What an answer with another HTTP status than 200 means.
    pub(crate) refusal: fn(http: u16, body: &[u8], &Redactor) -> Failure,
}

/// A model's API over HTTP.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    client: Client,
    url: Arc<Url>,
    pub(crate) provider: Provider,
    pub(crate) redactor: Redactor,
    retries: Retries,
    pub(crate) timeouts: Timeouts,
    refusal: fn(u16, &[u8], &Redactor) -> Failure,
    /// The span that asks.
    trace: Option<TraceContext>,
}

impl Http {
    pub(crate) fn new(endpoint: Endpoint) -> Result<Self, Error> {
        let mut headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ACCEPT, HeaderValue::from_static("text/event-stream")),
        ]);
        for (name, value) in endpoint.headers {
            // The operator's own come last, and count.
            headers.insert(name, value);
        }
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls::config()?)
            .user_agent(concat!("adk-stream/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            // Wherever it would lead, the key would go with it.
            .redirect(Policy::none())
            .connect_timeout(endpoint.timeouts.connect)
            .tcp_nodelay(true);
        if is_loopback(&endpoint.url) {
            // No proxy reaches this machine better than it does itself.
            builder = builder.no_proxy();
        }
        let failed = |error: reqwest::Error| Error::Client(error.without_url().to_string());
        Ok(Self {
            client: builder.build().map_err(failed)?,
            url: Arc::new(endpoint.url),
            provider: endpoint.provider,
            redactor: endpoint.redactor,
            retries: endpoint.retries,
            timeouts: endpoint.timeouts,
            refusal: endpoint.refusal,
            trace: None,
        })
    }

    /// The same for a step, with its span.
    pub(crate) fn traced(&self, trace: Option<TraceContext>) -> Self {
        Self {
            trace,
            ..self.clone()
        }
    }

    /// Asks until an answer begins, or asking again would not help: the answer, and its first bytes.
    pub(crate) async fn ask(&self, body: &[u8]) -> Result<(Response, Vec<u8>), Failure> {
        let mut asked = 0;
        loop {
            let failure = match self.ask_once(body.to_vec()).await {
                Ok(begun) => return Ok(begun),
                Err(failure) => failure,
            };
            asked += 1;
            let Some(wait) = self.retries.wait(asked, &failure, chance()) else {
                return Err(failure);
            };
            let agent = self.provider.agent;
            tracing::debug!(agent, code = failure.code, ?wait, "model request retried");
            sleep(wait).await;
        }
    }

    async fn ask_once(&self, body: Vec<u8>) -> Result<(Response, Vec<u8>), Failure> {
        let mut request = self.client.post(Url::clone(&self.url)).body(body);
        for (name, value) in self.trace.iter().flat_map(TraceContext::headers) {
            request = request.header(name, value);
        }
        let mut response = match timeout(self.timeouts.first_byte, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.unanswered(error)),
            Err(_) => return Err(self.provider.timed_out()),
        };
        if response.status().as_u16() != 200 {
            return Err(self.refused(response).await);
        }
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("none");
        if !kind.starts_with("text/event-stream") {
            let why = format!("its content-type is {}", self.redactor.words(kind));
            return Err(self.provider.unreadable(&why));
        }
        // A connection that closes after the head has delivered as little as one that closed before it.
        match timeout(self.timeouts.first_byte, response.chunk()).await {
            Ok(Ok(first)) => Ok((response, first.unwrap_or_default().to_vec())),
            Ok(Err(error)) => Err(self.unanswered(error)),
            Err(_) => Err(self.provider.timed_out()),
        }
    }

    async fn refused(&self, mut response: Response) -> Failure {
        let http = response.status().as_u16();
        let header = retry_after(response.headers(), SystemTime::now());
        let mut body = Vec::new();
        // Without its body it is still a refusal.
        while let Ok(Ok(Some(bytes))) = timeout(self.timeouts.idle, response.chunk()).await {
            body.extend_from_slice(&bytes);
            if body.len() > ERROR_BYTES {
                break;
            }
        }
        let mut failure = (self.refusal)(http, &body, &self.redactor);
        if failure.retry_after.is_none() && header.is_some() {
            failure.retry_after = header;
            if failure.code == "rate_limited" {
                failure.message = self.provider.too_often(header);
            }
        }
        failure
    }

    /// No answer came. The words of the library hold the address, and are left out.
    fn unanswered(&self, error: reqwest::Error) -> Failure {
        let error = error.without_url();
        tracing::warn!(agent = self.provider.agent, ?error, "model unreachable");
        if error.is_builder() {
            return Failure::new("agent_bad_request", "The request could not be made.");
        }
        self.provider.unreachable()
    }
}

/// How the names of headers begin that LiteLLM's proxy passes on from the service behind it.
const PASSED_ON: &str = "llm_provider-";

/// When to come back, as headers say it: in milliseconds, as OpenAI does, in seconds, or at a date. What a
/// proxy says itself comes before what it passes on.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    ["", PASSED_ON]
        .into_iter()
        .find_map(|prefix| retry_after_by(headers, prefix, now))
}

fn retry_after_by(headers: &HeaderMap, prefix: &str, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| {
        let value = headers.get(format!("{prefix}{name}"))?;
        value.to_str().ok().map(str::trim)
    };
    let number = |text: &str| text.parse::<f64>().ok();
    let wait = |seconds: f64| Duration::try_from_secs_f64(seconds).ok();
    let millis = text("retry-after-ms").and_then(number);
    if let Some(after) = millis.and_then(|millis| wait(millis / 1000.0)) {
        return Some(after);
    }
    let header = text(RETRY_AFTER.as_str())?;
    if let Some(seconds) = number(header) {
        return wait(seconds);
    }
    let date = httpdate::parse_http_date(header).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// A base URL that can carry no secret.
pub(crate) fn base_url(base: &str) -> Result<Url, Error> {
    let url = Url::parse(base).map_err(|_| Error::BaseUrl("it can't be read"))?;
    let why = if !matches!(url.scheme(), "http" | "https") {
        Some("it is not http")
    } else if !url.username().is_empty() || url.password().is_some() {
        Some("it names a user")
    } else if url.query().is_some() || url.fragment().is_some() {
        Some("it has a query")
    } else {
        None
    };
    if let Some(why) = why {
        return Err(Error::BaseUrl(why));
    }
    Ok(url)
}

/// The address of a path below a base URL.
pub(crate) fn below(base: &Url, path: &str) -> Result<Url, Error> {
    let base = base.as_str().trim_end_matches('/');
    Url::parse(&format!("{base}/{path}")).map_err(|_| Error::BaseUrl("it can't be read"))
}

/// Headers that an operator adds, which may be secret.
pub(crate) fn extra_headers(
    headers: &[(String, String)],
) -> Result<Vec<(HeaderName, HeaderValue)>, Error> {
    let header = |(name, value): &(String, String)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        let mut value = HeaderValue::from_str(value).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    };
    let headers = headers.iter().map(header);
    headers.collect::<Option<_>>().ok_or(Error::Header)
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_known() {
        let loopback = |text: &str| is_loopback(&Url::parse(text).unwrap());
        assert!(loopback("http://127.0.0.1:8"));
        assert!(loopback("http://[::1]:8"));
        assert!(loopback("http://localhost"));
        assert!(!loopback("https://generativelanguage.googleapis.com"));
    }

    #[test]
    fn the_time_to_come_back_is_read_in_every_form() {
        let now = httpdate::parse_http_date("Wed, 21 Oct 2015 07:28:00 GMT").unwrap();
        for (name, value, wanted) in [
            ("retry-after", "77", Some(77_000)),
            ("retry-after", "1.5", Some(1_500)),
            ("retry-after", "Wed, 21 Oct 2015 07:28:10 GMT", Some(10_000)),
            ("retry-after", "Wed, 21 Oct 2015 07:27:10 GMT", Some(0)),
            ("retry-after-ms", "120", Some(120)),
            ("retry-after", "-1", None),
            ("retry-after", "NaN", None),
            ("retry-after", "soon", None),
            ("llm_provider-retry-after", "7", Some(7_000)),
            ("llm_provider-retry-after-ms", "120", Some(120)),
            ("x-other", "1", None),
        ] {
            let headers = extra_headers(&[(name.to_owned(), value.to_owned())]).unwrap();
            let after = retry_after(&HeaderMap::from_iter(headers), now);
            assert_eq!(after, wanted.map(Duration::from_millis), "{name}: {value}");
        }
        for (both, millis) in [
            ([("retry-after", "77"), ("retry-after-ms", "5")], 5),
            (
                [("retry-after", "2"), ("llm_provider-retry-after-ms", "5")],
                2_000,
            ),
        ] {
            let both = both.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let headers = HeaderMap::from_iter(extra_headers(&both).unwrap());
            assert_eq!(
                retry_after(&headers, now),
                Some(Duration::from_millis(millis))
            );
        }
    }

    #[test]
    fn headers_that_can_not_be_sent_are_refused_without_their_values() {
        for (name, value) in [("a b", "s3cret"), ("a", "s3c\nret"), ("", "s3cret")] {
            let headers = [(name.to_owned(), value.to_owned())];
            assert_eq!(extra_headers(&headers).unwrap_err(), Error::Header);
        }
    }
}
