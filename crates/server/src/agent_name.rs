//! Who answers.

use std::str::FromStr;

use crate::error::Error;

/// Who answers, by the name that the operator gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AgentName {
    /// The built-in demo, which needs no key and no network.
    #[default]
    Demo,
    /// The built-in demo as a live conversation.
    DemoLive,
    /// Gemini, by generateContent.
    Gemini,
    /// Gemini Live.
    GeminiLive,
    /// A remote ADK server.
    Adk,
    /// A remote ADK server, live.
    AdkLive,
    /// A model that speaks OpenAI's API.
    OpenAi,
}

impl AgentName {
    /// Refuses what this version can't do yet. An agent becomes available when its arm is deleted.
    pub(crate) fn require_available(self) -> Result<(), Error> {
        match self {
            AgentName::OpenAi => Err(Error::NotBuilt("the agent openai")),
            _ => Ok(()),
        }
    }
}

impl FromStr for AgentName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "demo" => Ok(AgentName::Demo),
            "demo-live" => Ok(AgentName::DemoLive),
            "gemini" => Ok(AgentName::Gemini),
            "gemini-live" => Ok(AgentName::GeminiLive),
            "adk" => Ok(AgentName::Adk),
            "adk-live" => Ok(AgentName::AdkLive),
            "openai" => Ok(AgentName::OpenAi),
            _ => Err(format!(
                "`{text}` is not an agent; expected demo, demo-live, gemini, gemini-live, adk, adk-live or openai"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_all_are_available_yet() {
        for name in [
            "demo",
            "demo-live",
            "gemini",
            "gemini-live",
            "adk",
            "adk-live",
        ] {
            let agent = name.parse::<AgentName>().unwrap();
            assert!(agent.require_available().is_ok());
        }
        let refused = AgentName::OpenAi.require_available().unwrap_err();
        assert_eq!(
            refused.line(),
            "adk-stream: the agent openai is not available yet in this version"
        );
    }

    #[test]
    fn an_unknown_agent_is_refused_by_name() {
        let refused = "Demo".parse::<AgentName>().unwrap_err();
        assert!(refused.starts_with("`Demo` is not an agent"), "{refused}");
    }
}
