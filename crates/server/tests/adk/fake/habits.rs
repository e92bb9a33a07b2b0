//! In what servers differ from the newest.

use serde_json::{Value, json};

/// In what a server differs from ADK for Python as it is today.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Habits {
    /// It drops `customMetadata`, as Python before 2.2 and TypeScript do.
    pub(crate) drops_metadata: bool,
    /// Events of users have no metadata, as with Python 2.2.
    pub(crate) marks_only_its_own: bool,
    /// It drops `stateDelta` too.
    pub(crate) drops_state: bool,
    /// It does not note that a run was aborted, as Python before 2.4 does not.
    pub(crate) never_seals: bool,
    /// A run continues when nobody reads it, as with TypeScript.
    pub(crate) runs_on: bool,
    /// It names sessions itself unless the path does, and begins them empty, as TypeScript and Java.
    pub(crate) names_sessions: bool,
    /// It takes no field that it does not know, as Go.
    pub(crate) is_strict: bool,
    /// It wants the answers to the calls of one event, and no other, in a message, as before 2.7.
    pub(crate) wants_answers_alone: bool,
    /// It says nothing after a refusal until its question is closed, as a resumable app does.
    pub(crate) waits_for_closing: bool,
    /// The version that it says it has; none, if it has no route for that.
    pub(crate) version: Option<&'static str>,
    /// It fails when a session is read.
    pub(crate) fails_to_read: bool,
    /// A session that it names by the path is made with its history, as with Go.
    pub(crate) takes_history: bool,
    /// It does not tell what a new session holds.
    pub(crate) tells_no_events: bool,
    /// Whatever is wrong with a session is a 500, and why is text, as with Go.
    pub(crate) explains_in_text: bool,
    /// A run that results from outside have begun ends only a while after its last event.
    pub(crate) lingers: bool,
}

impl Habits {
    /// TypeScript 2.0, as far as it matters here.
    pub(crate) fn typescript() -> Self {
        Self {
            drops_metadata: true,
            never_seals: true,
            runs_on: true,
            names_sessions: true,
            wants_answers_alone: true,
            ..Self::default()
        }
    }

    /// Python 1.x.
    pub(crate) fn python_1() -> Self {
        Self {
            drops_metadata: true,
            never_seals: true,
            wants_answers_alone: true,
            ..Self::default()
        }
    }

    /// Go, by reading its source.
    pub(crate) fn go() -> Self {
        Self {
            is_strict: true,
            names_sessions: true,
            takes_history: true,
            explains_in_text: true,
            never_seals: true,
            ..Self::default()
        }
    }

    /// The event by which a message is kept.
    pub(super) fn user(self, body: &Value) -> Value {
        let mut event = json!({"author": "user", "content": body["newMessage"]});
        if !self.drops_metadata && !self.marks_only_its_own {
            event["customMetadata"] = body["customMetadata"].clone();
        }
        if !self.drops_state {
            event["actions"] = json!({"stateDelta": body["stateDelta"]});
        }
        event
    }

    /// What marks the events of the agent.
    pub(super) fn mark(self, body: &Value) -> Value {
        match self.drops_metadata {
            true => Value::Null,
            false => body["customMetadata"].clone(),
        }
    }

    /// A refusal in its own words.
    pub(super) fn refusal(self, said: &str) -> Value {
        match self.names_sessions {
            true => json!({"error": said}),
            false => json!({"detail": said}),
        }
    }
}
