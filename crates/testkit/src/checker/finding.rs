//! What is wrong with a stream.

use std::fmt;

/// What is wrong with a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What the client does.
    pub kind: Kind,
    /// Why, with the client's own message where it has one.
    pub reason: String,
    /// The window, from 0.
    pub window: usize,
    /// How many chunks the window had when it was found.
    pub chunk: usize,
}

/// What a client does with a stream that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// It throws: status `error`, the rest is dropped.
    Throws,
    /// It sends again though nobody did anything, and continues doing so.
    Loops,
    /// It has an answer and never sends it.
    Stuck,
    /// It shows one call as two parts.
    PartTwice,
    /// It shows one answer as two messages.
    Split,
    /// It shows a call that was further along as if it were not.
    StateBack,
    /// It holds messages that its own validator refuses.
    Invalid,
    /// It shows something as being written for ever.
    Unfinished,
    /// The newest releases accept it, and the strict early ones throw.
    StrictReleases,
}

impl Kind {
    /// The name in the corpus and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Throws => "throws",
            Self::Loops => "loops",
            Self::Stuck => "stuck",
            Self::PartTwice => "part-twice",
            Self::Split => "split",
            Self::StateBack => "state-back",
            Self::Invalid => "invalid",
            Self::Unfinished => "unfinished",
            Self::StrictReleases => "strict-releases",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (window, chunk) = (self.window, self.chunk);
        write!(
            out,
            "{} at window {window}, chunk {chunk}: {}",
            self.kind.name(),
            self.reason
        )
    }
}
