//! What a person wants done, and what has to be asked back.

use serde_json::Value;

/// The tools that the demo knows, in the order in which their patterns are tried.
pub(super) const TOOLS: [&str; 8] = [
    "process_payment",
    "get_location",
    "get_weather",
    "change_bgm",
    "book_flight",
    "book_table",
    "set_mood",
    "write_report",
];

/// One call that a person wants.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Intent {
    pub(super) tool: &'static str,
    pub(super) input: Value,
}

impl Intent {
    /// Whether it moves money.
    pub(super) fn spends(&self) -> bool {
        ["process_payment", "book_flight"].contains(&self.tool)
    }
}

/// What the demo asks back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Question {
    /// How much to pay.
    Amount,
    /// Whom to pay.
    Recipient,
    /// Which track to play.
    Track,
    /// Whose weather.
    City,
    /// Where to fly.
    Destination,
    /// Which place's mood.
    Mood,
    /// What to write about.
    Topic,
    /// What these words mean.
    Unclear(String),
    /// What these words mean, before any money moves.
    Payment(String),
}
