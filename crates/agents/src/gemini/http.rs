//! One request, asked again while nothing has come.

use std::sync::Arc;

use gemini::{ErrorBody, Status};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use tokio::time::{sleep, timeout};

use super::config::{Config, Retries, Timeouts};
use super::failure::Failure;
use super::key::Key;
use super::retry::chance;
use crate::error::Error;
use crate::tls;

/// How much of an error is read.
const ERROR_BYTES: usize = 64 * 1024;

/// Where to ask, and with which key.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    client: Client,
    url: Arc<Url>,
    key: Key,
    retries: Retries,
    pub(crate) timeouts: Timeouts,
}

impl Http {
    pub(crate) fn new(config: &Config) -> Result<Self, Error> {
        let url = url(&config.base_url, &config.model)?;
        let headers = [
            (
                HeaderName::from_static("x-goog-api-key"),
                config.key.header()?,
            ),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ACCEPT, HeaderValue::from_static("text/event-stream")),
        ];
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls::config()?)
            .user_agent(concat!("adk-stream/", env!("CARGO_PKG_VERSION")))
            .default_headers(HeaderMap::from_iter(headers))
            // Wherever it would lead, the key would go with it.
            .redirect(Policy::none())
            .connect_timeout(config.timeouts.connect)
            .tcp_nodelay(true);
        if is_loopback(&url) {
            // No proxy reaches this machine better than it does itself.
            builder = builder.no_proxy();
        }
        let failed = |error: reqwest::Error| Error::Client(error.without_url().to_string());
        Ok(Self {
            client: builder.build().map_err(failed)?,
            url: Arc::new(url),
            key: config.key.clone(),
            retries: config.retries,
            timeouts: config.timeouts,
        })
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
            tracing::debug!(code = failure.code, ?wait, "gemini is asked again");
            sleep(wait).await;
        }
    }

    async fn ask_once(&self, body: Vec<u8>) -> Result<(Response, Vec<u8>), Failure> {
        let request = self.client.post(Url::clone(&self.url)).body(body).send();
        let mut response = match timeout(self.timeouts.first_byte, request).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(unanswered(error)),
            Err(_) => return Err(Failure::timed_out()),
        };
        if response.status().as_u16() != 200 {
            return Err(self.refusal(response).await);
        }
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("none");
        if !kind.starts_with("text/event-stream") {
            let why = format!("its content-type is {}", self.words(kind));
            return Err(Failure::unreadable(&why));
        }
        // Whoever hangs up after the head has said as little as one who hung up before.
        match timeout(self.timeouts.first_byte, response.chunk()).await {
            Ok(Ok(first)) => Ok((response, first.unwrap_or_default().to_vec())),
            Ok(Err(error)) => Err(unanswered(error)),
            Err(_) => Err(Failure::timed_out()),
        }
    }

    async fn refusal(&self, mut response: Response) -> Failure {
        let http = response.status().as_u16();
        let header = response.headers().get(RETRY_AFTER);
        let header = header.and_then(|after| after.to_str().ok()?.parse().ok());
        let mut body = Vec::new();
        // Without its body it is still a refusal.
        while let Ok(Ok(Some(bytes))) = timeout(self.timeouts.idle, response.chunk()).await {
            body.extend_from_slice(&bytes);
            if body.len() > ERROR_BYTES {
                break;
            }
        }
        let mut failure = self.failure(http, &status_in(&body));
        let header = header.map(std::time::Duration::from_secs);
        failure.retry_after = failure.retry_after.or(header);
        failure
    }

    /// What a status of Google's means. It is logged as Google says it.
    pub(crate) fn failure(&self, http: u16, status: &Status) -> Failure {
        let said = self.words(status.message.as_deref().unwrap_or_default());
        let word = self.words(status.status.as_deref().unwrap_or_default());
        tracing::warn!(http, status = word, message = said, "gemini refuses");
        Failure::of_status(http, status, &said)
    }

    /// Words from outside, on one line and without the key.
    fn words(&self, text: &str) -> String {
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        self.key.redact(text).chars().map(plain).collect()
    }
}

/// The address of the stream.
fn url(base: &str, model: &str) -> Result<Url, Error> {
    let url = base_url(base)?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-._/".contains(c);
    let model = match model.contains('/') {
        true => model.to_owned(),
        false => format!("models/{model}"),
    };
    let mut words = model.split('/');
    if !model.chars().all(is_name) || words.any(|word| word.is_empty() || word.starts_with('.')) {
        return Err(Error::Model(model));
    }
    let base = url.as_str().trim_end_matches('/');
    let whole = format!("{base}/v1beta/{model}:streamGenerateContent?alt=sse");
    Url::parse(&whole).map_err(|_| Error::BaseUrl("it can't be read"))
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

pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// No answer came. The words of the library hold the address, and are left out.
fn unanswered(error: reqwest::Error) -> Failure {
    let error = error.without_url();
    tracing::warn!(?error, "gemini does not answer");
    if error.is_builder() {
        return Failure::new("agent_bad_request", "The request could not be made.");
    }
    Failure::unreachable()
}

/// The status in the body of an error: an object, or where no stream was asked for, a list of one.
fn status_in(body: &[u8]) -> Status {
    let body = body.trim_ascii();
    let body = body.strip_prefix(b"[").unwrap_or(body);
    let mut bodies = serde_json::Deserializer::from_slice(body).into_iter::<ErrorBody>();
    let first = bodies.next().and_then(Result::ok);
    first.and_then(|body| body.error).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_made_from_the_base_and_the_model() {
        let of = |base, model| url(base, model).map(String::from);
        let tail = "v1beta/models/gemini-x:streamGenerateContent?alt=sse";
        for (base, start) in [
            ("https://g.example", "https://g.example/"),
            ("https://g.example/", "https://g.example/"),
            ("http://127.0.0.1:99/proxy/", "http://127.0.0.1:99/proxy/"),
        ] {
            for model in ["gemini-x", "models/gemini-x"] {
                assert_eq!(of(base, model), Ok(format!("{start}{tail}")));
            }
        }
        assert_eq!(
            of("http://h", "tunedModels/mine").unwrap(),
            "http://h/v1beta/tunedModels/mine:streamGenerateContent?alt=sse"
        );
    }

    #[test]
    fn an_address_that_could_carry_a_secret_or_lead_elsewhere_is_refused() {
        for base in [
            "g.example",
            "ftp://g.example",
            "https://me:s3cret@g.example",
            "https://g.example?key=s3cret",
            "https://g.example#s3cret",
        ] {
            let error = url(base, "m").unwrap_err();
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
        for model in ["", "a b", "../../etc", "m?key=1", "m#x", "a//b", "models/"] {
            assert!(
                matches!(url("http://h", model), Err(Error::Model(_))),
                "{model}"
            );
        }
    }

    #[test]
    fn loopback_is_known() {
        let loopback = |text: &str| is_loopback(&Url::parse(text).unwrap());
        assert!(loopback("http://127.0.0.1:8"));
        assert!(loopback("http://[::1]:8"));
        assert!(loopback("http://localhost"));
        assert!(!loopback("https://generativelanguage.googleapis.com"));
    }

    #[test]
    fn an_error_is_found_in_an_object_and_in_a_list() {
        for body in [
            r#"{"error":{"code":503}}"#,
            "[{\n  \"error\": {\"code\": 503}}\n]",
        ] {
            assert_eq!(status_in(body.as_bytes()).code, Some(503));
        }
        assert_eq!(status_in(b"<html>"), Status::default());
        assert_eq!(status_in(b""), Status::default());
    }
}
