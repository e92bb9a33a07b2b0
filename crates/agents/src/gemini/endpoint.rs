//! Where Gemini is, and what its refusals mean.

use gemini::{ErrorBody, Status};
use reqwest::Url;
use reqwest::header::HeaderName;

use super::config::Config;
use super::failure::{Failure, GEMINI};
use crate::error::Error;
use crate::model::http::base_url;
use crate::model::{Endpoint, Redactor};

pub(super) fn endpoint(config: &Config) -> Result<Endpoint, Error> {
    Ok(Endpoint {
        provider: GEMINI,
        url: url(&config.base_url, &config.model)?,
        headers: vec![(
            HeaderName::from_static("x-goog-api-key"),
            config.key.header()?,
        )],
        redactor: Redactor::new([config.key.secret()]),
        retries: config.retries,
        timeouts: config.timeouts,
        refusal,
    })
}

fn refusal(http: u16, body: &[u8], redactor: &Redactor) -> Failure {
    failure(http, &status_in(body), redactor)
}

/// What a status of Google's means. It is logged as Google says it.
pub(super) fn failure(http: u16, status: &Status, redactor: &Redactor) -> Failure {
    let said = redactor.words(status.message.as_deref().unwrap_or_default());
    let word = redactor.words(status.status.as_deref().unwrap_or_default());
    tracing::warn!(
        http,
        status = word,
        message = said,
        "Gemini refused the request"
    );
    Failure::of_status(http, status, &said)
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
