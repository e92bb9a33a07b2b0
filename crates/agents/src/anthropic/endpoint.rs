//! Where requests are sent, and what refusals mean.

use reqwest::header::{HeaderName, HeaderValue};

use super::config::Config;
use crate::error::Error;
use crate::model::api_error::ApiError;
use crate::model::http::{base_url, below, extra_headers};
use crate::model::{Endpoint, Failure, Provider, Redactor};

/// Any model, as pages and logs call it.
pub(super) const MODEL: Provider = Provider {
    agent: "anthropic",
    subject: "The model",
};

/// The version of the API that is spoken.
const VERSION: &str = "2023-06-01";

pub(super) fn endpoint(config: &Config) -> Result<Endpoint, Error> {
    if config.model.trim().is_empty() {
        return Err(Error::Model(config.model.clone()));
    }
    let base = base_url(&config.base_url)?;
    // Others are configured with the version in the base.
    let is_versioned = base.path().trim_end_matches('/').ends_with("/v1");
    let path = match is_versioned {
        true => "messages",
        false => "v1/messages",
    };
    let version = HeaderName::from_static("anthropic-version");
    let mut headers = vec![(version, HeaderValue::from_static(VERSION))];
    if let Some(key) = &config.key {
        headers.push((HeaderName::from_static("x-api-key"), key.header()?));
    }
    headers.extend(extra_headers(&config.headers)?);
    let secrets = config.headers.iter().map(|(_, value)| value.clone());
    Ok(Endpoint {
        provider: MODEL,
        url: below(&base, path)?,
        headers,
        redactor: Redactor::new(config.key.iter().map(|key| key.secret()).chain(secrets)),
        retries: config.retries,
        timeouts: config.timeouts,
        refusal,
    })
}

fn refusal(http: u16, body: &[u8], redactor: &Redactor) -> Failure {
    ApiError::in_body(body).failure(MODEL, Some(http), redactor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_made_from_the_base() {
        for (base, wanted) in [
            (
                "https://api.anthropic.com",
                "https://api.anthropic.com/v1/messages",
            ),
            ("http://h:1/", "http://h:1/v1/messages"),
            ("http://h:1/v1", "http://h:1/v1/messages"),
            ("http://h/proxy/v1/", "http://h/proxy/v1/messages"),
        ] {
            let config = Config {
                base_url: base.to_owned(),
                ..Config::new("m")
            };
            assert_eq!(endpoint(&config).unwrap().url.as_str(), wanted);
        }
    }
}
