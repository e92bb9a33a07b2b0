//! The default sentences that the model and people read.

use crate::call::{Outcome, UnknownReason};

/// Of a gate that expired.
pub const TIMED_OUT: &str = "Approval request timed out";

/// Of a question for data that expired.
pub const QUESTION_TIMED_OUT: &str = "Nobody answered in time.";

/// Of a page's call that expired.
pub const PAGE_TIMED_OUT: &str = "No page ran it in time.";

/// Of a call that was started and whose outcome is unknown.
pub const fn unknown(reason: UnknownReason) -> &'static str {
    match reason {
        // Before reasons were recorded, every unknown outcome was said to be the server's.
        UnknownReason::Unrecorded | UnknownReason::ServerStopped => {
            "The outcome is unknown: the server stopped while the call ran. It may or may not have happened."
        }
        UnknownReason::TurnStopped => {
            "The outcome is unknown: the turn was stopped while the call ran. It may or may not have happened."
        }
        UnknownReason::AnswerUnclear => {
            "The outcome is unknown: the agent's server can't tell whether it has taken the answer. It may or may not have happened."
        }
        UnknownReason::ConnectionCut => {
            "The outcome is unknown: the connection to the agent was cut while the call ran. It may or may not have happened."
        }
        UnknownReason::AgentFailed => {
            "The outcome is unknown: the agent failed while the call ran. It may or may not have happened."
        }
        UnknownReason::NoResult => {
            "The outcome is unknown: the agent gave no result of the call. It may or may not have happened."
        }
        UnknownReason::AnswerLost => {
            "The outcome is unknown: the tool's request was sent, and its answer was lost. It may or may not have happened."
        }
    }
}

/// Of a call that the model took back.
pub const CANCELLED: &str = "The model took the call back.";

/// Of a call that its step has no room for: see [`MAX_CALLS`](crate::limits::MAX_CALLS).
pub const TOO_MANY_CALLS: &str =
    "more than 32 calls in one step: this one did not run. Make the rest in later steps.";

/// Of a page's call whose tool went on without it.
pub const NOT_NEEDED: &str = "The tool went on without it.";

/// Of a gate that the person typed over.
pub const SUPERSEDED: &str = "superseded: the user wrote something else";

/// Of a question that asked for data, which the person declined to give.
pub fn declined(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("Declined: {reason}"),
        None => "Declined".to_owned(),
    }
}

/// Why the person declines, by the text of a page's error: one that is written as [`declined`] writes it
/// is shown again as it was sent.
pub fn reason_of_declined(error: &str) -> Option<String> {
    let reason = match error.strip_prefix("Declined") {
        Some(rest) if rest.is_empty() || rest.starts_with(": ") => rest.trim_start_matches(": "),
        _ => error,
    };
    let reason = reason.trim();
    (!reason.is_empty()).then(|| reason.to_owned())
}

/// A denial as the text of an error.
pub fn denial(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("Denied: {reason}"),
        None => "Denied".to_owned(),
    }
}

/// Why a call has no output, as the text of an error; nothing, if it has one.
pub fn error_text(outcome: &Outcome) -> Option<String> {
    Some(match outcome {
        Outcome::Output { .. } | Outcome::Pending { .. } => return None,
        Outcome::Denied { reason } => denial(reason.as_deref()),
        Outcome::Error { error } | Outcome::Invalid { error } => error.clone(),
        Outcome::Unknown { reason } => unknown(*reason).to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_for_a_call_too_many_names_the_limit() {
        let limit = format!("more than {} calls", crate::limits::MAX_CALLS);
        assert!(TOO_MANY_CALLS.starts_with(&limit));
    }

    #[test]
    fn reason_of_a_person_who_declines_is_read_as_it_is_written() {
        for reason in [None, Some("not now"), Some("Declined")] {
            let read = reason_of_declined(&declined(reason));
            assert_eq!(read.as_deref(), reason);
        }
        assert_eq!(reason_of_declined(" "), None);
        assert_eq!(reason_of_declined("no").as_deref(), Some("no"));
        assert_eq!(
            reason_of_declined("Declined it").as_deref(),
            Some("Declined it")
        );
    }
}
