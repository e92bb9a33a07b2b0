//! What went wrong with an ADK server, in the codes of docs/errors.md.

use std::time::Duration;

use serde_json::Value;

use crate::gemini::Failure;

/// No connection: nothing was sent.
pub(super) fn unreachable() -> Failure {
    Failure {
        is_transient: true,
        ..Failure::new("agent_unavailable", "The agent can't be reached.")
    }
}

/// The error by which ADK reports that two runs write to one session.
pub(super) const STALE: &str = "StaleSessionError";

/// The code of [`busy`].
pub(super) const BUSY: &str = "agent_busy";

/// Another run of it is still at work on the chat.
pub(super) fn busy() -> Failure {
    let message = "The agent is still working on an earlier message. Try again.";
    Failure::new(BUSY, message)
}

/// It took too long.
pub(super) fn timed_out() -> Failure {
    Failure::new("agent_timed_out", "The agent took too long to answer.")
}

/// Its answer ended before its end.
pub(super) fn cut_off() -> Failure {
    Failure::new("agent_cut_off", "The agent's answer ended in the middle.")
}

/// Its response does not follow its API.
pub(super) fn unreadable(why: &str) -> Failure {
    let message = format!("The agent's answer can't be read: {why}.");
    Failure::new("agent_invalid_response", message)
}

/// Its session is gone, and with it a question to a person.
pub(super) fn forgotten() -> Failure {
    let message = "The agent has lost its session and its question. Send the message again.";
    Failure::new("agent_session_lost", message)
}

/// It had nothing to say. Some versions end so when their model was refused an answer.
pub(super) fn silent() -> Failure {
    Failure::new("agent_empty_response", "The agent ended without an answer.")
}

/// The chat has a history, and the server takes none.
pub(super) fn without_history() -> Failure {
    let message = "The agent's server can't start a session with a history.";
    Failure::new("agent_bad_request", message)
}

/// An answer with another HTTP status than 200.
pub(super) fn of_status(status: u16, detail: &str) -> Failure {
    match status {
        401 | 403 => Failure::new(
            "agent_unauthorized",
            "The agent's server rejected our credentials.",
        ),
        404 => Failure::new(
            "agent_not_found",
            with("The agent's server has no such app", detail),
        ),
        429 => Failure::new(
            "rate_limited",
            "The agent gets too many requests. Try again later.",
        ),
        400..=499 => Failure::new(
            "agent_bad_request",
            with("The agent can't answer this", detail),
        ),
        500..=599 => Failure::new("agent_unavailable", "The agent is out of order."),
        _ => unreadable(&format!("it answered with the HTTP status {status}")),
    }
}

/// A live run that ended with a code and a reason. The reason contains why the model's socket ended.
pub(super) fn of_close(code: u16, detail: &str) -> Failure {
    let is_about = |word: &str| detail.to_lowercase().contains(word);
    let (cause, rest) = detail.split_once(" None. ").unwrap_or(("", detail));
    match (code, cause.parse::<u16>().unwrap_or_default()) {
        (1011, 1011) if is_about("quota") || is_about("exhausted") => {
            of_error("RESOURCE_EXHAUSTED", "")
        }
        (1011, 1007 | 1008) if is_about("key") || is_about("permission") => {
            of_error("PERMISSION_DENIED", "")
        }
        (1011, 1007 | 1008) => of_error("INVALID_ARGUMENT", rest),
        (1011, 1000..=1015) => of_error("UNAVAILABLE", ""),
        (1011, _) if !detail.is_empty() => of_error("", detail),
        (1002, _) => forgotten(),
        (1008, _) => of_status(403, detail),
        _ => cut_off(),
    }
}

/// The bare frame that ADK ends a broken run with. Newer versions say in `details` of what kind it is,
/// others begin with it: `Kind: what`, or the error of the model's API, `503 UNAVAILABLE. {…}`.
pub(super) fn of_frame(detail: &str, kind: Option<&str>) -> Failure {
    let is_name = |name: &str| {
        name.chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '.')
    };
    let named = detail.split_once(": ").filter(|(name, _)| is_name(name));
    let (name, message) = named.unwrap_or(("", detail));
    of_error(kind.unwrap_or(name), message)
}

/// An event with an error.
pub(super) fn of_error(kind: &str, detail: &str) -> Failure {
    let kind = match named(kind) {
        Some(kind) => kind,
        // The error of the model's API is in the text, if the kind is none of its own.
        None => status_in(detail).unwrap_or(kind),
    };
    let is_about = |word: &str| kind.contains(word) || detail.contains(word);
    if is_about("RESOURCE_EXHAUSTED") || is_about("ResourceExhausted") {
        let message = "The agent's model gets too many requests. Try again later.";
        return Failure {
            retry_after: retry_after(detail),
            ..Failure::new("rate_limited", message)
        };
    }
    match kind {
        "PERMISSION_DENIED" | "UNAUTHENTICATED" => {
            Failure::new("agent_unauthorized", "The agent's model rejected its key.")
        }
        "NOT_FOUND" => Failure::new(
            "agent_not_found",
            with("The agent's model does not exist", detail),
        ),
        "UNAVAILABLE" | "INTERNAL" | "DEADLINE_EXCEEDED" => Failure::new(
            "agent_unavailable",
            "The agent's model is not available at the moment.",
        ),
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" => Failure::new(
            "agent_bad_request",
            with("The agent's model can't answer this", detail),
        ),
        "INVOCATION_ABORTED" => cut_off(),
        STALE => busy(),
        "" => Failure::new("agent_failed", with("The agent failed", detail)),
        _ if is_blocked(kind) => Failure::new(
            "agent_blocked",
            format!("The agent's model refused to answer ({kind})."),
        ),
        _ => Failure::new(
            "agent_failed",
            with(&format!("The agent failed ({kind})"), detail),
        ),
    }
}

/// A status of the model's API, by its name or its number.
fn named(kind: &str) -> Option<&'static str> {
    let known = STATUSES.iter();
    let mut known = known.filter(|(number, name)| *number == kind || *name == kind);
    known.next().map(|(_, name)| *name)
}

/// The status of the model's API, where ADK only repeats its text.
fn status_in(detail: &str) -> Option<&'static str> {
    let body: Option<Value> = serde_json::from_str(detail).ok();
    let status = body
        .as_ref()
        .and_then(|body| body.get("error")?.get("status")?.as_str());
    // `503 UNAVAILABLE. {…}`
    let words = detail
        .split_whitespace()
        .map(|word| word.trim_end_matches('.'));
    let (numbers, names) = (words.clone(), words.skip(1));
    let mut pairs = numbers.zip(names);
    let printed = pairs.find_map(|(number, name)| named(number).filter(|_| named(name).is_some()));
    status.and_then(named).or(printed)
}

const STATUSES: [(&str, &str); 9] = [
    ("400", "INVALID_ARGUMENT"),
    ("401", "UNAUTHENTICATED"),
    ("403", "PERMISSION_DENIED"),
    ("404", "NOT_FOUND"),
    ("429", "RESOURCE_EXHAUSTED"),
    ("500", "INTERNAL"),
    ("502", "UNAVAILABLE"),
    ("503", "UNAVAILABLE"),
    ("504", "DEADLINE_EXCEEDED"),
];

/// The retry delay of the model's API. ADK prints the error as Python does.
fn retry_after(detail: &str) -> Option<Duration> {
    let (_, delay) = detail.split_once("'retryDelay': '")?;
    let (seconds, _) = delay.split_once("s'")?;
    Duration::try_from_secs_f64(seconds.parse().ok()?).ok()
}

/// Whether a reason to stop is a filter's.
pub(super) fn is_blocked(reason: &str) -> bool {
    matches!(
        reason,
        "SAFETY"
            | "RECITATION"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION"
            | "OTHER"
    )
}

/// A sentence, and ADK's explanation.
fn with(sentence: &str, detail: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let detail: String = detail.chars().take(300).map(plain).collect();
    match detail.is_empty() {
        true => format!("{sentence}."),
        false => format!("{sentence}: {detail}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_version_calls_an_error_it_has_its_code() {
        let cases = [
            // TypeScript.
            (of_error("429", "too much"), "rate_limited"),
            (of_error("503", "gone"), "agent_unavailable"),
            (of_error("400", "bad"), "agent_bad_request"),
            (of_error("403", "no"), "agent_unauthorized"),
            (
                of_error("UNKNOWN_ERROR", r#"{"error": {"status": "UNAVAILABLE"}}"#),
                "agent_unavailable",
            ),
            // Python 1.x.
            (
                of_frame("503 UNAVAILABLE. {'error': {'code': 503}}", None),
                "agent_unavailable",
            ),
            (
                of_frame("429 RESOURCE_EXHAUSTED. {'error': {}}", None),
                "rate_limited",
            ),
            (
                of_frame("404 NOT_FOUND. {'error': {}}", None),
                "agent_not_found",
            ),
            (of_frame("it broke", None), "agent_failed"),
            // Python 2.x.
            (
                of_frame("ServerError: 503 UNAVAILABLE. {}", Some("ServerError")),
                "agent_unavailable",
            ),
            (
                of_frame("RuntimeError: it broke", Some("RuntimeError")),
                "agent_failed",
            ),
        ];
        for (failure, code) in cases {
            assert_eq!(failure.code, code, "{}", failure.message);
        }
    }

    #[test]
    fn when_to_ask_again_is_read_from_what_python_prints() {
        let detail = "429 RESOURCE_EXHAUSTED. {'error': {'code': 429, 'details': [{'@type': \
            'type.googleapis.com/google.rpc.RetryInfo', 'retryDelay': '1.5s'}]}}";
        let failure = of_error("RESOURCE_EXHAUSTED", detail);
        assert_eq!(failure.code, "rate_limited");
        assert_eq!(failure.retry_after, Some(Duration::from_millis(1500)));
        let failure = of_error("_ResourceExhaustedError", "too much");
        assert_eq!(failure.code, "rate_limited");
        assert_eq!(failure.retry_after, None);
    }
}
