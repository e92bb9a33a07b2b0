//! How an MCP server is.

use std::time::Duration;

use crate::policy::Policy;

/// How an MCP server is, and what it offers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Status {
    /// Whether it can be called.
    pub state: State,
    /// Why it failed the last time, if it ever did.
    pub last_error: Option<String>,
    /// How often it was started again.
    pub restarts: u64,
    /// What it says that it is: name and version.
    pub implementation: Option<String>,
    /// The version of the protocol that is spoken with it.
    pub protocol: Option<String>,
    /// Its tools, as they are offered.
    pub tools: Vec<ToolStatus>,
    /// Its tools that are not offered.
    pub left_out: Vec<LeftOut>,
}

/// Whether a server can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    /// It is starting, for the first time or again.
    #[default]
    Starting,
    /// It can be called.
    Ready,
    /// It failed, and is started again after so long.
    Waiting(Duration),
    /// It was shut down.
    Stopped,
}

/// A tool that is offered.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolStatus {
    /// Its name here: `server.tool`.
    pub name: String,
    /// Its name at the server, if characters of it had to be replaced.
    pub renamed_from: Option<String>,
    /// The description that a model gets.
    pub description: String,
    /// What the operator says of it.
    pub policy: Policy,
    /// What the server says of it.
    pub hints: Hints,
    /// Whether a call with an unknown outcome may be repeated: operator and server say so.
    pub is_idempotent: bool,
}

/// A server's hints about a tool. They are not verified, so they grant nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// Calling it twice is the same as calling it once.
    pub idempotent: Option<bool>,
}

impl Hints {
    /// The hints as a sentence, for who is asked and for the model.
    pub fn sentence(&self) -> Option<String> {
        let said = [
            (self.read_only == Some(true), "read-only"),
            (self.read_only == Some(false), "not read-only"),
            (self.destructive == Some(true), "destructive"),
            (self.destructive == Some(false), "not destructive"),
            (self.idempotent == Some(true), "idempotent"),
            (self.idempotent == Some(false), "not idempotent"),
        ];
        let said = said.into_iter().filter(|(is_said, _)| *is_said);
        let said: Vec<_> = said.map(|(_, word)| word).collect();
        match said.is_empty() {
            true => None,
            false => Some(format!("(Its server says: {}.)", said.join(", "))),
        }
    }

    /// Whether the server says that a second call does no harm.
    pub fn is_repeatable(&self) -> bool {
        self.idempotent == Some(true) || self.read_only == Some(true)
    }
}

/// A tool that is not offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name at the server, shortened if it is long.
    pub name: String,
    /// Why.
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_said_is_shown() {
        assert_eq!(Hints::default().sentence(), None);
        let hints = Hints {
            read_only: Some(false),
            destructive: Some(true),
            idempotent: None,
        };
        let sentence = "(Its server says: not read-only, destructive.)";
        assert_eq!(hints.sentence().as_deref(), Some(sentence));
        assert!(!hints.is_repeatable());
    }
}
