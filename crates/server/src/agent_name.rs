//! Who answers.

use std::str::FromStr;

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
    /// A route of the AI SDK's.
    AiSdk,
    /// An agent that speaks AG-UI.
    AgUi,
    /// A model that speaks OpenAI's API.
    OpenAi,
    /// A model that speaks Anthropic's API.
    Anthropic,
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
            "ai-sdk" => Ok(AgentName::AiSdk),
            "ag-ui" => Ok(AgentName::AgUi),
            "openai" => Ok(AgentName::OpenAi),
            "anthropic" => Ok(AgentName::Anthropic),
            _ => Err(format!(
                "`{text}` is not an agent; expected demo, demo-live, gemini, gemini-live, adk, adk-live, ai-sdk, ag-ui, openai or anthropic"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_agent_is_refused_by_name() {
        let refused = "Demo".parse::<AgentName>().unwrap_err();
        assert!(refused.starts_with("`Demo` is not an agent"), "{refused}");
    }
}
