//! What a tool's policy decides about a call.

use std::time::Duration;

use crate::call::Place;

/// What a tool's policy decides about a call that the model makes.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyDecision {
    /// Where it runs.
    pub place: Place,
    /// Whether it may run.
    pub verdict: Verdict,
    /// The timeout of its gate; without one it waits for ever.
    pub timeout: Option<Duration>,
}

/// Whether a call may run.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// A person decides.
    Ask {
        /// The question.
        question: String,
    },
    /// It may not run.
    Deny {
        /// Why.
        reason: String,
    },
    /// Its input does not fit the tool, or there is no such tool.
    Invalid {
        /// What is wrong.
        error: String,
    },
}
