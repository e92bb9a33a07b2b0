//! What things are called. An id is a name and nothing else; each kind has a type of its own.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id)
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.to_owned())
            }
        }
    };
}

id! {
    /// One conversation. The client chooses it; the first who speaks under it owns it.
    ChatId
}

id! {
    /// One turn.
    TurnId
}

id! {
    /// One call, of our own making: a provider's ids may be missing or repeat.
    CallId
}

id! {
    /// One gate; on the wire an approval's id.
    GateId
}

id! {
    /// Who is speaking, from authentication, never from the body.
    Principal
}

impl CallId {
    /// The n-th call of a turn.
    pub fn of(turn: &TurnId, n: usize) -> Self {
        Self(format!("call_{turn}_{n}"))
    }
}

impl GateId {
    /// The n-th gate of a turn.
    pub fn of(turn: &TurnId, n: usize) -> Self {
        Self(format!("gate_{turn}_{n}"))
    }
}
