//! A document from a URL that the operator wrote, before anything runs.

use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use serde_json::Map;
use tokio::runtime::Builder;

use super::client::{Client, Network, refused_address};
use super::request::{Named, Request};
use super::template::Values;
use super::{HttpError, Redirects};

/// How long it may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How large it may be.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The text at a URL, fetched on a runtime of its own, before there is another.
pub fn text_blocking(network: &Network, url: &str) -> Result<String, HttpError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| HttpError(error.to_string()))?;
    runtime.block_on(text(network, url))
}

async fn text(network: &Network, url: &str) -> Result<String, HttpError> {
    let request = Request::new("GET", url, Named::ByOperator)?;
    let client = Client::new(network, &request, Redirects::SameHost)?;
    let (input, call) = (&Map::new(), "");
    let values = Values {
        input,
        call,
        fence: None,
        trace: None,
    };
    let prepared = request.prepare(values).map_err(HttpError)?;
    let failed = |error: reqwest::Error| {
        let refused = refused_address(&error);
        let why = refused.unwrap_or_else(|| error.without_url().to_string());
        HttpError(format!("can't fetch it: {why}"))
    };
    let fetched = tokio::time::timeout(TIMEOUT, async {
        let mut response = client.send(prepared).await.map_err(failed)?;
        if response.status().is_redirection() {
            return Err(HttpError(
                "can't fetch it: it redirects elsewhere, which is not followed".to_owned(),
            ));
        }
        if !response.status().is_success() {
            return Err(HttpError(format!("can't fetch it: {}", response.status())));
        }
        // A site that asks people to sign in answers with a page.
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if kind.eq_ignore_ascii_case("text/html") {
            let why = "it is a page (text/html), and no OpenAPI document";
            return Err(HttpError(why.to_owned()));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_BYTES {
                return Err(HttpError(format!("it is larger than {MAX_BYTES} bytes")));
            }
        }
        String::from_utf8(bytes).map_err(|_| HttpError("it is not UTF-8".to_owned()))
    });
    fetched
        .await
        .unwrap_or_else(|_| Err(HttpError("it did not come in time".to_owned())))
}
