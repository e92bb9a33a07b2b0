//! Whether a model can be reached with its key, or an agent that runs elsewhere: a request that costs nothing.

use std::fmt;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A request that costs nothing: a GET.
#[derive(Clone)]
pub(crate) struct Probe {
    pub(crate) url: String,
    /// The key is among them.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) shows: Shows,
}

/// What the URL of a request shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shows {
    /// The model: a server that does not know the URL does not know the model either.
    Model,
    /// A list of models, which not every server has.
    Models,
    /// Nothing: a route takes a POST, which would start a turn. Whatever it answers, it is there.
    Route,
}

impl fmt::Debug for Probe {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Probe")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// What came of it, or why the model can't be used.
pub(crate) async fn reach(probe: &Probe) -> Result<String, String> {
    let tls = agents::tls_config().map_err(|error| error.to_string())?;
    let mut headers = HeaderMap::new();
    for (name, value) in &probe.headers {
        let value = HeaderValue::from_str(value).map_err(|_| "its key can't be sent".to_owned())?;
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| "one of its headers can't be sent".to_owned())?;
        headers.insert(name, value);
    }
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .default_headers(headers)
        // Wherever it would lead, the key would go with it.
        .redirect(Policy::none())
        .timeout(TIMEOUT);
    let is_local = ["//127.", "//localhost", "//[::1]"];
    let client = match is_local.iter().any(|host| probe.url.contains(host)) {
        true => client.no_proxy(),
        false => client,
    };
    let failed = |error: reqwest::Error| error.without_url().to_string();
    let client = client.build().map_err(failed)?;
    let response = client.get(&probe.url).send().await.map_err(|error| {
        let what = if error.is_timeout() {
            "it did not answer in time"
        } else {
            "it can't be reached"
        };
        tracing::debug!(error = ?error.without_url(), "model was not reached");
        what.to_owned()
    })?;
    let status = response.status().as_u16();
    match status {
        _ if probe.shows == Shows::Route => Ok("it answers".to_owned()),
        200..=299 => Ok("it accepts the key".to_owned()),
        401 | 403 => Err("it does not accept the key".to_owned()),
        400 if probe.shows == Shows::Model => {
            Err("it does not accept the key or the model".to_owned())
        }
        404 if probe.shows == Shows::Model => Err("it does not know this model".to_owned()),
        404 | 405 | 501 => Ok("it answers, and lists no models".to_owned()),
        _ => Err(format!("it answered {status}")),
    }
}
