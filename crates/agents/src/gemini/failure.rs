//! What went wrong with Gemini, in the codes of docs/errors.md.

use gemini::Status;

use crate::model::failure::with;
pub(crate) use crate::model::{Failure, Provider};

/// Gemini, as pages and logs call it.
pub(super) const GEMINI: Provider = Provider {
    agent: "gemini",
    subject: "Gemini",
};

/// What Gemini fails of.
impl Failure {
    /// An answer with another HTTP status than 200, or an error in the middle of one. `said` is what
    /// Google says of it, without the key.
    pub(crate) fn of_status(http: u16, status: &Status, said: &str) -> Self {
        match http {
            400 if is_about_the_key(status) => GEMINI.refused(),
            _ => GEMINI.of_status(http, status.retry_delay(), said),
        }
    }

    /// Live hung up, with a code and a reason. `said` is the reason, without the key.
    pub(crate) fn of_close(code: u16, said: &str) -> Self {
        let is_about = |word: &str| said.to_lowercase().contains(word);
        match code {
            1007 | 1008 if is_about("api key") || is_about("permission") => GEMINI.refused(),
            1008 if is_about("not found") || is_about("not supported") => {
                Self::new("agent_not_found", with("Gemini has no such model", said))
            }
            1007 | 1008 => GEMINI.bad_request(said),
            1011 if is_about("quota") || is_about("exhausted") => {
                Self::new("rate_limited", GEMINI.too_often(None)).transient()
            }
            1011..=1014 => GEMINI.unavailable().transient(),
            _ => Self::cut_off(),
        }
    }

    /// It could not be connected to, or hung up before it said anything.
    pub(crate) fn unreachable() -> Self {
        GEMINI.unreachable()
    }

    /// It took too long.
    pub(crate) fn timed_out() -> Self {
        GEMINI.timed_out()
    }

    /// Its answer ended before its end.
    pub(crate) fn cut_off() -> Self {
        GEMINI.cut_off()
    }

    /// It said something that is not its API.
    pub(crate) fn unreadable(why: &str) -> Self {
        GEMINI.unreadable(why)
    }
}

fn is_about_the_key(status: &Status) -> bool {
    let reason = status.reason();
    let message = status.message.as_deref().unwrap_or_default();
    reason.is_some_and(|reason| reason.starts_with("API_KEY_")) || message.starts_with("API key ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use gemini::Detail;
    use turn::agent::AgentEvent;

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
            (302, "agent_invalid_response", false),
            (400, "agent_bad_request", false),
            (401, "agent_unauthorized", false),
            (403, "agent_unauthorized", false),
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
        assert_eq!(failure.code, "agent_unauthorized");
        let status = Status {
            message: Some("API key not valid. Please pass a valid API key.".to_owned()),
            ..Status::default()
        };
        assert_eq!(
            Failure::of_status(400, &status, "").code,
            "agent_unauthorized"
        );
    }

    #[test]
    fn the_time_to_come_back_is_reported() {
        let failure = of(429, vec![Detail::retry_info(Duration::from_millis(17_200))]);
        assert_eq!(
            failure.message,
            "Gemini gets too many requests. Try again in 18 seconds."
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
    fn only_what_helps_the_user_is_shown_of_googles_words() {
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
