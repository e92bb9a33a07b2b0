//! What is sent and never shown.

use std::fmt;
use std::sync::Arc;

/// How short a secret is not looked for in answers: it would be found in innocent words.
const MIN_REDACTED: usize = 6;

/// A secret. It is sent, and never shown, logged or journaled.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// A secret; whitespace around it is not part of it.
    pub fn new(text: &str) -> Self {
        Self(text.trim().into())
    }

    /// The secret itself, to be sent.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A text without the secret, which a server may have repeated.
    pub fn redact(&self, text: &str) -> String {
        match self.0.len() < MIN_REDACTED {
            true => text.to_owned(),
            false => text.replace(&*self.0, "…"),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret")
    }
}
