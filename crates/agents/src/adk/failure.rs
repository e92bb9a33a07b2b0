//! What went wrong with an ADK server, in the codes of docs/errors.md.

use std::time::Duration;

use crate::gemini::Failure;

/// It could not be connected to: nothing was asked of it.
pub(super) fn unreachable() -> Failure {
    Failure {
        is_transient: true,
        ..Failure::new("agent_unavailable", "The agent can't be reached.")
    }
}

/// It took too long.
pub(super) fn timed_out() -> Failure {
    Failure::new("agent_timed_out", "The agent took too long to answer.")
}

/// Its answer ended before its end.
pub(super) fn cut_off() -> Failure {
    Failure::new("agent_cut_off", "The agent's answer ended in the middle.")
}

/// It said something that is not its API.
pub(super) fn unreadable(why: &str) -> Failure {
    let message = format!("The agent's answer can't be read: {why}.");
    Failure::new("agent_unreadable", message)
}

/// Its session is gone, and with it what a person was asked.
pub(super) fn forgotten() -> Failure {
    let message = "The agent has forgotten what it asked. Ask it again.";
    Failure::new("agent_forgot", message)
}

/// An answer with another HTTP status than 200.
pub(super) fn of_status(status: u16, said: &str) -> Failure {
    match status {
        401 | 403 => Failure::new("agent_refused", "The agent's server does not let us in."),
        404 => Failure::new(
            "agent_not_found",
            with("The agent's server has no such app", said),
        ),
        429 => Failure::new(
            "rate_limited",
            "The agent is asked too often. Try again later.",
        ),
        400..=499 => Failure::new(
            "agent_bad_request",
            with("The agent can't answer this", said),
        ),
        500..=599 => Failure::new("agent_unavailable", "The agent is out of order."),
        _ => unreadable(&format!("it answered with the HTTP status {status}")),
    }
}

/// An event with an error, or the bare frame that ADK ends a broken run with.
pub(super) fn of_error(kind: &str, said: &str) -> Failure {
    let is_about = |word: &str| kind.contains(word) || said.contains(word);
    if is_about("RESOURCE_EXHAUSTED") || is_about("ResourceExhausted") {
        let message = "The agent's model is asked too often. Try again later.";
        return Failure {
            retry_after: retry_after(said),
            ..Failure::new("rate_limited", message)
        };
    }
    match kind {
        "PERMISSION_DENIED" | "UNAUTHENTICATED" => {
            Failure::new("agent_refused", "The agent's model does not take its key.")
        }
        "UNAVAILABLE" | "INTERNAL" | "DEADLINE_EXCEEDED" => Failure::new(
            "agent_unavailable",
            "The agent's model is not available at the moment.",
        ),
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" => Failure::new(
            "agent_bad_request",
            with("The agent's model can't answer this", said),
        ),
        // Whoever finds that another wrote into its session may have done its work.
        "INVOCATION_ABORTED" | "StaleSessionError" => cut_off(),
        "" => Failure::new("agent_failed", with("The agent failed", said)),
        _ if is_blocked(kind) => Failure::new(
            "agent_blocked",
            format!("The agent's model does not want to answer ({kind})."),
        ),
        _ => Failure::new(
            "agent_failed",
            with(&format!("The agent failed ({kind})"), said),
        ),
    }
}

/// When the model wants to be asked again. ADK prints what the model said, as Python does.
fn retry_after(said: &str) -> Option<Duration> {
    let (_, delay) = said.split_once("'retryDelay': '")?;
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

/// A sentence, and what ADK says of it.
fn with(sentence: &str, said: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let said: String = said.chars().take(300).map(plain).collect();
    match said.is_empty() {
        true => format!("{sentence}."),
        false => format!("{sentence}: {said}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_to_ask_again_is_read_from_what_python_prints() {
        let said = "429 RESOURCE_EXHAUSTED. {'error': {'code': 429, 'details': [{'@type': \
            'type.googleapis.com/google.rpc.RetryInfo', 'retryDelay': '1.5s'}]}}";
        let failure = of_error("RESOURCE_EXHAUSTED", said);
        assert_eq!(failure.code, "rate_limited");
        assert_eq!(failure.retry_after, Some(Duration::from_millis(1500)));
        let failure = of_error("_ResourceExhaustedError", "too much");
        assert_eq!(failure.code, "rate_limited");
        assert_eq!(failure.retry_after, None);
    }
}
