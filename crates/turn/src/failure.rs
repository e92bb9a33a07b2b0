//! Why agents fail, as far as it changes what is done.

use serde::{Deserialize, Deserializer};

crate::codes! {
    /// Failures that a turn treats in a way of their own. Agents name what went wrong by a code that is
    /// listed in docs/errors.md; a turn ends in the same way by all others.
    pub(crate) enum FailureCode {
        /// The agent itself failed, as when one of its tools raised an error.
        AgentFailed = "agent_failed",
        /// The agent's answer ended in the middle.
        AgentCutOff = "agent_cut_off",
    }
}

/// Codes that journals may hold under an earlier name, with the present one.
const RENAMED: [(&str, &str); 4] = [
    ("agent_forgot", "agent_session_lost"),
    ("agent_gave_up", "agent_empty_response"),
    ("agent_refused", "agent_unauthorized"),
    ("agent_unreadable", "agent_invalid_response"),
];

/// Reads a code from a journal, by its present name.
pub(crate) fn read_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let code = String::deserialize(deserializer)?;
    let renamed = RENAMED.into_iter().find(|(former, _)| *former == code);
    Ok(renamed.map_or(code, |(_, present)| present.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::event::End;

    #[test]
    fn journal_with_an_earlier_name_of_a_code_reads_as_the_present_one() {
        for (stored, code) in [
            ("agent_gave_up", "agent_empty_response"),
            ("agent_refused", "agent_unauthorized"),
            ("agent_unreadable", "agent_invalid_response"),
            ("agent_forgot", "agent_session_lost"),
            ("agent_cut_off", "agent_cut_off"),
            ("a_code_of_an_agent", "a_code_of_an_agent"),
        ] {
            let end = json!({"end": "failed", "code": stored, "message": "It failed."});
            let read: End = serde_json::from_value(end).unwrap();
            assert_eq!(
                read,
                End::Failed {
                    code: code.to_owned(),
                    message: "It failed.".to_owned(),
                    retry_after_ms: None,
                }
            );
        }
    }
}
