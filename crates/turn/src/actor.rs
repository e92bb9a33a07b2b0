//! Who really acted: an entry is signed by its cause.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::chat::Chat;
use crate::id::{CallId, Principal};
use crate::input::Input;

/// Who caused an entry.
///
/// As text it is a principal's name, or one of `@agent`, `@tool/NAME`, `@clock` and `@server`; a
/// principal whose name begins with `@` has one more before it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Actor {
    /// Somebody who speaks.
    Principal(Principal),
    /// The agent.
    Agent,
    /// A tool, by its name.
    Tool(String),
    /// A time that was up.
    Clock,
    /// A server that took a turn up.
    Server,
}

impl Actor {
    /// The principal, if it is one.
    pub fn principal(&self) -> Option<&Principal> {
        match self {
            Self::Principal(principal) => Some(principal),
            _ => None,
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Principal(principal) if principal.as_str().starts_with('@') => {
                write!(out, "@{principal}")
            }
            Self::Principal(principal) => principal.fmt(out),
            Self::Agent => out.write_str("@agent"),
            Self::Tool(name) => write!(out, "@tool/{name}"),
            Self::Clock => out.write_str("@clock"),
            Self::Server => out.write_str("@server"),
        }
    }
}

impl From<Actor> for String {
    fn from(actor: Actor) -> Self {
        actor.to_string()
    }
}

impl From<String> for Actor {
    fn from(text: String) -> Self {
        match text.as_str() {
            "@agent" => Self::Agent,
            "@clock" => Self::Clock,
            "@server" => Self::Server,
            tool if tool.starts_with("@tool/") => Self::Tool(tool["@tool/".len()..].to_owned()),
            name if name.starts_with("@@") => Self::Principal(name[1..].into()),
            _ => Self::Principal(text.into()),
        }
    }
}

impl From<&str> for Actor {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Principal> for Actor {
    fn from(principal: Principal) -> Self {
        Self::Principal(principal)
    }
}

impl Chat {
    /// Who causes what follows from an input, where no principal brings it.
    pub fn actor(&self, input: &Input) -> Actor {
        let tool = |call: &CallId| {
            let made = self.call(call).map(|(_, call): (_, &Call)| call);
            made.map_or(Actor::Server, |call| Actor::Tool(call.tool.clone()))
        };
        match input {
            Input::Message { principal, .. } => principal.clone().into(),
            Input::Agent { .. } | Input::AgentCut => Actor::Agent,
            Input::TimedOut { .. } => Actor::Clock,
            Input::Result { call, .. }
            | Input::ToolAsks { call, .. }
            | Input::ToolQuestion { call, .. }
            | Input::ToolCalls { call, .. }
            | Input::InnerAsks { call, .. }
            | Input::InnerSettles { call, .. }
            | Input::ToolRecords { call, .. }
            | Input::ToolProgress { call, .. }
            | Input::ToolDone { call, .. } => tool(call),
            Input::Answer { .. }
            | Input::Queue { .. }
            | Input::SelectBranch { .. }
            | Input::Stop
            | Input::Recover { .. } => Actor::Server,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_names_one_actor_and_no_other() {
        for actor in [
            Actor::Principal("ann".into()),
            Actor::Principal("@agent".into()),
            Actor::Principal("@@x".into()),
            Actor::Principal("".into()),
            Actor::Agent,
            Actor::Tool("pay".to_owned()),
            Actor::Tool("@clock".to_owned()),
            Actor::Clock,
            Actor::Server,
        ] {
            assert_eq!(Actor::from(actor.to_string()), actor);
        }
        // Journals of before have names alone.
        assert_eq!(Actor::from("engine"), Actor::Principal("engine".into()));
    }
}
