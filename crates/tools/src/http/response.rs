//! What an answer means.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use serde_json::{Value, json};

use super::secret::Secret;

/// How much of an error's body a model gets.
const MAX_ERROR_CHARS: usize = 2000;

/// How long a server may ask to wait before it is asked again.
const MAX_WAIT: Duration = Duration::from_secs(15);

/// What an answer means.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    /// It happened, and this is the output.
    Output(Value),
    /// It was refused, and the model gets the reason.
    Refused { status: u16, error: String },
    /// Not now; perhaps later.
    Busy {
        status: u16,
        error: String,
        wait: Option<Duration>,
    },
    /// The server failed: it may have happened.
    Failed { error: String },
}

/// Reads an answer, up to a number of bytes. An error means that it was cut.
pub(crate) async fn read(
    mut response: Response,
    max_bytes: usize,
    secrets: &[Secret],
) -> Result<Answer, reqwest::Error> {
    let status = response.status();
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let wait = response.headers().get(RETRY_AFTER);
    let wait = wait.and_then(|wait| wait.to_str().ok()?.parse().ok());
    let wait = wait.map(|seconds| Duration::from_secs(seconds).min(MAX_WAIT));
    let mut bytes: Vec<u8> = Vec::new();
    let mut is_cut = false;
    while let Some(chunk) = response.chunk().await? {
        let room = max_bytes.saturating_sub(bytes.len());
        bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            is_cut = true;
            break;
        }
    }
    let text = redacted(&String::from_utf8_lossy(&bytes), secrets);
    let number = status.as_u16();
    let error = || {
        let start: String = text.trim().chars().take(MAX_ERROR_CHARS).collect();
        match start.is_empty() {
            true => format!("The server answered {status}."),
            false => format!("The server answered {status}: {start}"),
        }
    };
    Ok(match number {
        200..=299 => Answer::Output(output(number, &kind, &bytes, text, is_cut)),
        300..=399 => Answer::Refused {
            status: number,
            error: format!("The server answered {status}: a redirect that is not followed."),
        },
        // In progress under the same key, too early, too many.
        408 | 409 | 425 | 429 => Answer::Busy {
            status: number,
            error: error(),
            wait,
        },
        400..=499 => Answer::Refused {
            status: number,
            error: error(),
        },
        _ => Answer::Failed { error: error() },
    })
}

fn output(status: u16, kind: &str, bytes: &[u8], text: String, is_cut: bool) -> Value {
    if bytes.is_empty() {
        return json!({"status": status});
    }
    if is_cut {
        return json!({"truncated": true, "text": text});
    }
    let is_json = kind == "application/json" || kind.ends_with("+json");
    if is_json && let Ok(value) = serde_json::from_str(&text) {
        return value;
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => Value::String(text),
        Err(_) => json!({"contentType": kind, "bytes": bytes.len()}),
    }
}

pub(crate) fn redacted(text: &str, secrets: &[Secret]) -> String {
    let start = text.to_owned();
    secrets
        .iter()
        .fold(start, |text, secret| secret.redact(&text))
}
