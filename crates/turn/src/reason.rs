//! The sentences that the model and people are told where nobody else has said anything.

/// Of a gate that nobody answered in time.
pub const TIMED_OUT: &str = "Approval request timed out";

/// Of a page's call that no page ran in time.
pub const PAGE_TIMED_OUT: &str = "No page ran it in time.";

/// Of a call that was started and never heard of again.
pub const UNKNOWN: &str = "The outcome is unknown: the server stopped while the call ran. It may or may not have happened.";

/// Of a call that the model took back.
pub const CANCELLED: &str = "The model took the call back.";

/// Of a page's call whose tool went on without it.
pub const NOT_NEEDED: &str = "The tool went on without it.";

/// Of a gate that the person typed over.
pub const SUPERSEDED: &str = "superseded: the user wrote something else";

/// How a denial is told where it has to be an error.
pub fn denial(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("Denied: {reason}"),
        None => "Denied".to_owned(),
    }
}
