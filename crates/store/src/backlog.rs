//! How much waits in a whole store, for those who operate it.

use turn::At;

use crate::journal::Reply;

/// Counts what waits for people and pages, in the chats of all owners.
pub trait Backlog: Send + Sync {
    /// The open gates, counted no further than a limit.
    fn open_gates_of_all(&self, limit: usize) -> Reply<'_, OpenGates>;
}

/// The open gates of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenGates {
    /// Those that wait for a person's yes or no.
    pub approvals: usize,
    /// Those that wait for data from a person.
    pub questions: usize,
    /// Those that wait for a page.
    pub client_calls: usize,
    /// When the oldest of them was asked.
    pub oldest: Option<At>,
}

/// What the text of a gate holds that waits for a page, and no other: quotes inside of its strings are
/// escaped. The kind is in no column of its own, and a database's own JSON functions refuse some strings.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) const CLIENT_CALL: &str = r#"%"kind":{"kind":"client-call"}%"#;

/// The same of a gate that waits for data from a person.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) const QUESTION: &str = r#"%"kind":{"kind":"question",%"#;

#[cfg(all(test, any(feature = "postgres", feature = "sqlite")))]
mod tests {
    use serde_json::json;
    use turn::gate::{Gate, GateKind};

    use super::*;

    #[test]
    fn text_of_a_gate_tells_its_kind() {
        let [page, data] = [CLIENT_CALL, QUESTION].map(|pattern| pattern.trim_matches('%'));
        let text = |kind| {
            let gate = Gate {
                id: "g".into(),
                call: "c".into(),
                kind,
                expires: Some(At(1)),
                token: None,
                input: None,
            };
            serde_json::to_string(&gate).unwrap()
        };
        assert!(text(GateKind::ClientCall).contains(page));
        let question = format!("{page}{data}");
        let approval = text(GateKind::Approval { question });
        assert!(!approval.contains(page) && !approval.contains(data));
        let kind = json!({"kind": "question", "question": page, "schema": {"title": data}});
        let asked = text(serde_json::from_value(kind).unwrap());
        assert!(asked.contains(data) && !asked.contains(page), "{asked}");
    }
}
