//! What went wrong with a model, in the codes of docs/errors.md and in words for the page.

use std::time::Duration;

use turn::agent::AgentEvent;

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: &'static str,
    /// For the page. Holds no key and no address.
    pub(crate) message: String,
    /// When the model wants to be asked again.
    pub(crate) retry_after: Option<Duration>,
    /// Whether it may be over in a moment.
    pub(crate) is_transient: bool,
}

impl Failure {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retry_after: None,
            is_transient: false,
        }
    }

    pub(crate) fn transient(self) -> Self {
        Self {
            is_transient: true,
            ..self
        }
    }
}

impl From<Failure> for AgentEvent {
    fn from(failure: Failure) -> Self {
        let millis = |after: Duration| u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
        Self::Failed {
            code: failure.code,
            message: failure.message,
            retry_after_ms: failure.retry_after.map(millis),
        }
    }
}

/// Who failed, as pages and logs call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Provider {
    /// The agent's name, for the log.
    pub(crate) agent: &'static str,
    /// What sentences for the page begin with.
    pub(crate) subject: &'static str,
}

impl Provider {
    /// An answer with another HTTP status than 200, or an error in the middle of one. `said` is what
    /// the service says of it, without secrets.
    pub(crate) fn of_status(self, http: u16, retry_after: Option<Duration>, said: &str) -> Failure {
        let failure = match http {
            401 | 403 => self.refused(),
            404 => self.not_found(said),
            408 | 500..=599 => self.unavailable(),
            429 => Failure::new("rate_limited", self.too_often(retry_after)),
            400..=499 => self.bad_request(said),
            _ => self.unreadable(&format!("it answered with the HTTP status {http}")),
        };
        Failure {
            retry_after,
            // 529 is Anthropic's word for an overload.
            is_transient: matches!(http, 429 | 500 | 502 | 503 | 504 | 529),
            ..failure
        }
    }

    /// It does not accept the key.
    pub(crate) fn refused(self) -> Failure {
        let message = format!("{} does not accept the key.", self.subject);
        Failure::new("agent_unauthorized", message)
    }

    /// There is no such model.
    pub(crate) fn not_found(self, said: &str) -> Failure {
        let sentence = match self.subject {
            "The model" => "There is no such model".to_owned(),
            subject => format!("{subject} has no such model"),
        };
        Failure::new("agent_not_found", with(&sentence, said))
    }

    /// It is out of order.
    pub(crate) fn unavailable(self) -> Failure {
        let message = format!("{} is not available at the moment.", self.subject);
        Failure::new("agent_unavailable", message)
    }

    /// It can't answer what it was asked.
    pub(crate) fn bad_request(self, said: &str) -> Failure {
        let sentence = format!("{} can't answer this", self.subject);
        Failure::new("agent_bad_request", with(&sentence, said))
    }

    /// It could not be connected to, or hung up before it said anything.
    pub(crate) fn unreachable(self) -> Failure {
        let message = format!("{} can't be reached.", self.subject);
        Failure::new("agent_unavailable", message).transient()
    }

    /// It took too long.
    pub(crate) fn timed_out(self) -> Failure {
        let message = format!("{} took too long to answer.", self.subject);
        Failure::new("agent_timed_out", message)
    }

    /// Its answer ended before its end.
    pub(crate) fn cut_off(self) -> Failure {
        let message = format!("{}'s answer ended in the middle.", self.subject);
        Failure::new("agent_cut_off", message)
    }

    /// It said something that is not its API.
    pub(crate) fn unreadable(self, why: &str) -> Failure {
        let message = format!("{}'s answer can't be read: {why}.", self.subject);
        Failure::new("agent_invalid_response", message)
    }

    /// It does not want to answer.
    pub(crate) fn blocked(self, what: &str, reason: &str, said: Option<&str>) -> Failure {
        let sentence = format!("{} blocked {what} ({reason})", self.subject);
        Failure::new("agent_blocked", with(&sentence, said.unwrap_or_default()))
    }

    /// It made nothing of it, and nothing was shown.
    pub(crate) fn gave_up(self, reason: &str, said: Option<&str>) -> Failure {
        let sentence = format!("{} gave up ({reason})", self.subject);
        Failure::new(
            "agent_empty_response",
            with(&sentence, said.unwrap_or_default()),
        )
    }

    /// It ended, and there is no answer.
    pub(crate) fn silent(self) -> Failure {
        let message = format!("{} ended without an answer.", self.subject);
        Failure::new("agent_empty_response", message)
    }

    pub(crate) fn too_often(self, retry_after: Option<Duration>) -> String {
        let when = match retry_after.map(|after| after.as_millis().div_ceil(1000)) {
            None => "later".to_owned(),
            Some(1) => "in 1 second".to_owned(),
            Some(seconds) => format!("in {seconds} seconds"),
        };
        format!("{} gets too many requests. Try again {when}.", self.subject)
    }
}

/// A sentence, and what the service says of it.
pub(crate) fn with(sentence: &str, said: &str) -> String {
    if said.is_empty() {
        return format!("{sentence}.");
    }
    // A page shows it whole, so it must end.
    let said: String = said.chars().take(500).collect();
    format!("{sentence}: {said}")
}
