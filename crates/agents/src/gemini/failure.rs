//! What went wrong, in the codes of docs/errors.md and in words for whoever chats.

use std::time::Duration;

use gemini::Status;
use turn::agent::AgentEvent;

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: &'static str,
    /// For whoever chats. Holds no key and no address.
    pub(crate) message: String,
    /// When Gemini wants to be asked again.
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

    fn transient(self) -> Self {
        Self {
            is_transient: true,
            ..self
        }
    }

    /// An answer with another HTTP status than 200, or an error in the middle of one. `said` is what
    /// Google says of it, without the key.
    pub(crate) fn of_status(http: u16, status: &Status, said: &str) -> Self {
        let retry_after = status.retry_delay();
        let refused = || Self::new("agent_refused", "Gemini does not take the key.");
        let failure = match http {
            400 if is_about_the_key(status) => refused(),
            401 | 403 => refused(),
            404 => Self::new("agent_not_found", with("Gemini has no such model", said)),
            408 | 500..=599 => Self::new(
                "agent_unavailable",
                "Gemini is not available at the moment.",
            ),
            429 => Self::new("rate_limited", too_often(retry_after)),
            400..=499 => Self::new("agent_bad_request", with("Gemini can't answer this", said)),
            _ => Self::unreadable(&format!("it answered with the HTTP status {http}")),
        };
        Self {
            retry_after,
            is_transient: matches!(http, 429 | 500 | 502 | 503 | 504),
            ..failure
        }
    }

    /// Live hung up, with a code and a reason. `said` is the reason, without the key.
    pub(crate) fn of_close(code: u16, said: &str) -> Self {
        let is_about = |word: &str| said.to_lowercase().contains(word);
        match code {
            1007 | 1008 if is_about("api key") || is_about("permission") => {
                Self::new("agent_refused", "Gemini does not take the key.")
            }
            1008 if is_about("not found") || is_about("not supported") => {
                Self::new("agent_not_found", with("Gemini has no such model", said))
            }
            1007 | 1008 => Self::new("agent_bad_request", with("Gemini can't answer this", said)),
            1011 if is_about("quota") || is_about("exhausted") => {
                Self::new("rate_limited", too_often(None)).transient()
            }
            1011..=1014 => Self::new(
                "agent_unavailable",
                "Gemini is not available at the moment.",
            )
            .transient(),
            _ => Self::cut_off(),
        }
    }

    /// It could not be connected to, or hung up before it said anything.
    pub(crate) fn unreachable() -> Self {
        Self::new("agent_unavailable", "Gemini can't be reached.").transient()
    }

    /// It took too long.
    pub(crate) fn timed_out() -> Self {
        Self::new("agent_timed_out", "Gemini took too long to answer.")
    }

    /// Its answer ended before its end.
    pub(crate) fn cut_off() -> Self {
        Self::new("agent_cut_off", "Gemini's answer ended in the middle.")
    }

    /// It said something that is not its API.
    pub(crate) fn unreadable(why: &str) -> Self {
        let message = format!("Gemini's answer can't be read: {why}.");
        Self::new("agent_unreadable", message)
    }

    /// It does not want to answer.
    pub(crate) fn blocked(what: &str, reason: &str, said: Option<&str>) -> Self {
        let message = with(
            &format!("Gemini blocked {what} ({reason})"),
            said.unwrap_or_default(),
        );
        Self::new("agent_blocked", message)
    }

    /// It made nothing of it, and nothing was shown.
    pub(crate) fn gave_up(reason: &str, said: Option<&str>) -> Self {
        let message = with(
            &format!("Gemini gave up ({reason})"),
            said.unwrap_or_default(),
        );
        Self::new("agent_gave_up", message)
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

fn is_about_the_key(status: &Status) -> bool {
    let reason = status.reason();
    let message = status.message.as_deref().unwrap_or_default();
    reason.is_some_and(|reason| reason.starts_with("API_KEY_")) || message.starts_with("API key ")
}

fn too_often(retry_after: Option<Duration>) -> String {
    let when = match retry_after.map(|after| after.as_millis().div_ceil(1000)) {
        None => "later".to_owned(),
        Some(1) => "in 1 second".to_owned(),
        Some(seconds) => format!("in {seconds} seconds"),
    };
    format!("Gemini is asked too often. Try again {when}.")
}

/// A sentence, and what Google says of it.
fn with(sentence: &str, said: &str) -> String {
    if said.is_empty() {
        return format!("{sentence}.");
    }
    // A page shows it whole, so it must end.
    let said: String = said.chars().take(500).collect();
    format!("{sentence}: {said}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gemini::Detail;

    fn of(http: u16, details: Vec<Detail>) -> Failure {
        let status = Status {
            details,
            ..Status::default()
        };
        Failure::of_status(http, &status, "Because.")
    }

    #[test]
    fn every_status_has_its_code_and_is_asked_again_or_not() {
        for (http, code, is_transient) in [
            (302, "agent_unreadable", false),
            (400, "agent_bad_request", false),
            (401, "agent_refused", false),
            (403, "agent_refused", false),
            (404, "agent_not_found", false),
            (408, "agent_unavailable", false),
            (413, "agent_bad_request", false),
            (429, "rate_limited", true),
            (500, "agent_unavailable", true),
            (501, "agent_unavailable", false),
            (502, "agent_unavailable", true),
            (503, "agent_unavailable", true),
            (504, "agent_unavailable", true),
        ] {
            let failure = of(http, vec![]);
            assert_eq!(
                (failure.code, failure.is_transient),
                (code, is_transient),
                "{http}"
            );
        }
    }

    #[test]
    fn a_bad_key_is_known_by_its_reason_or_its_words() {
        let failure = of(400, vec![Detail::error_info("API_KEY_INVALID")]);
        assert_eq!(failure.code, "agent_refused");
        let status = Status {
            message: Some("API key not valid. Please pass a valid API key.".to_owned()),
            ..Status::default()
        };
        assert_eq!(Failure::of_status(400, &status, "").code, "agent_refused");
    }

    #[test]
    fn the_time_to_come_back_is_told() {
        let failure = of(429, vec![Detail::retry_info(Duration::from_millis(17_200))]);
        assert_eq!(
            failure.message,
            "Gemini is asked too often. Try again in 18 seconds."
        );
        assert!(matches!(
            AgentEvent::from(failure),
            AgentEvent::Failed {
                retry_after_ms: Some(17_200),
                ..
            }
        ));
    }

    #[test]
    fn only_what_helps_whoever_chats_is_told_of_googles_words() {
        assert_eq!(
            of(400, vec![]).message,
            "Gemini can't answer this: Because."
        );
        for http in [403, 429, 500] {
            assert!(!of(http, vec![]).message.contains("Because"), "{http}");
        }
        let long = Failure::of_status(400, &Status::default(), &"x".repeat(10_000));
        assert!(long.message.len() < 600);
    }
}
