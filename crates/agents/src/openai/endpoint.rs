//! Where requests are sent, and what refusals mean.

use reqwest::Url;
use reqwest::header::AUTHORIZATION;

use super::config::{Api, Config};
use crate::error::Error;
use crate::model::api_error::ApiError;
use crate::model::http::{base_url, below, extra_headers};
use crate::model::{Endpoint, Failure, Provider, Redactor};

/// Any model, as pages and logs call it.
pub(super) const MODEL: Provider = Provider {
    agent: "openai",
    subject: "The model",
};

/// Which API is spoken, and where.
pub(super) fn endpoint(config: &Config) -> Result<(Api, Endpoint), Error> {
    if config.model.trim().is_empty() {
        return Err(Error::Model(config.model.clone()));
    }
    let base = base_url(&config.base_url)?;
    let (api, path) = match config.api {
        Api::Auto if is_openai(&base) => (Api::Responses, "responses"),
        Api::Responses => (Api::Responses, "responses"),
        Api::Auto | Api::ChatCompletions => (Api::ChatCompletions, "chat/completions"),
    };
    let mut headers = Vec::new();
    if let Some(key) = &config.key {
        headers.push((AUTHORIZATION, key.bearer()?));
    }
    headers.extend(extra_headers(&config.headers)?);
    let secrets = config.headers.iter().map(|(_, value)| value.clone());
    let endpoint = Endpoint {
        provider: MODEL,
        url: below(&base, path)?,
        headers,
        redactor: Redactor::new(config.key.iter().map(|key| key.secret()).chain(secrets)),
        retries: config.retries,
        timeouts: config.timeouts,
        refusal,
    };
    Ok((api, endpoint))
}

/// Whether this is OpenAI's own service, which takes no field that it does not know.
pub(super) fn is_openai(base: &Url) -> bool {
    let host = base.host_str().unwrap_or_default();
    host == "api.openai.com" || host.ends_with(".api.openai.com")
}

fn refusal(http: u16, body: &[u8], redactor: &Redactor) -> Failure {
    ApiError::in_body(body).failure(MODEL, Some(http), redactor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(base_url: &str, api: Api) -> Result<(Api, String), Error> {
        let (api, endpoint) = endpoint(&Config {
            base_url: base_url.to_owned(),
            api,
            ..Config::new("m")
        })?;
        Ok((api, endpoint.url.into()))
    }

    #[test]
    fn the_api_follows_from_the_base_unless_it_is_named() {
        for (base, api, wanted) in [
            (
                "https://api.openai.com/v1",
                Api::Auto,
                "https://api.openai.com/v1/responses",
            ),
            (
                "https://eu.api.openai.com/v1/",
                Api::Auto,
                "https://eu.api.openai.com/v1/responses",
            ),
            (
                "http://127.0.0.1:11434/v1",
                Api::Auto,
                "http://127.0.0.1:11434/v1/chat/completions",
            ),
            (
                "https://api.openai.com.example/v1",
                Api::Auto,
                "https://api.openai.com.example/v1/chat/completions",
            ),
            (
                "https://api.openai.com/v1",
                Api::ChatCompletions,
                "https://api.openai.com/v1/chat/completions",
            ),
            ("http://h/v1", Api::Responses, "http://h/v1/responses"),
        ] {
            assert_eq!(of(base, api).unwrap().1, wanted);
        }
    }

    #[test]
    fn what_can_not_be_sent_is_refused_without_secrets() {
        for base in [
            "h",
            "ftp://h",
            "https://me:s3cret@h",
            "https://h?key=s3cret",
        ] {
            let error = of(base, Api::Auto).unwrap_err();
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
        assert!(matches!(endpoint(&Config::new(" ")), Err(Error::Model(_))));
        let config = Config {
            headers: vec![("X-Team".to_owned(), "s3c\nret".to_owned())],
            ..Config::new("m")
        };
        assert!(matches!(endpoint(&config), Err(Error::Header)));
        assert!(!format!("{config:?}").contains("s3c"));
    }
}
