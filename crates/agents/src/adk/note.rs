//! Which session holds a chat, as the journal records it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use turn::agent::{AgentEvent, CallResult, HistoryItem, StepRequest};
use turn::call::{Outcome, Place, UnknownReason};

/// Which session holds a chat, and how far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Note {
    /// The session.
    pub(super) session: String,
    /// The last turn that was sent to it.
    pub(super) turn: String,
    /// What that turn answers.
    pub(super) cause: String,
    /// How many steps of that turn it was made with.
    #[serde(default)]
    pub(super) base: usize,
    /// Calls whose results it waits for: their ids and tools.
    #[serde(default)]
    pub(super) open: Vec<(String, String)>,
    /// Whether its last run was read to its end. Recorded for servers that do not end a run which
    /// nobody reads, and for sessions in which something went wrong: those are abandoned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) is_read: Option<bool>,
}

impl Note {
    /// What was noted last, if it is a note of this agent's.
    pub(super) fn of(request: &StepRequest) -> Option<Self> {
        serde_json::from_value(request.session.clone()?).ok()
    }

    /// Whether the session holds what comes before the input of this step.
    pub(super) fn holds(&self, request: &StepRequest) -> bool {
        let mut causes = request.history.iter().rev().filter_map(cause);
        causes.next();
        self.turn == request.turn.as_str()
            || (causes.next().as_ref() == Some(&self.cause)
                && self.is_read != Some(false)
                && !self.lacks(request))
    }

    /// Whether the last turn that was sent to it ended with calls of unknown outcome: ADK then has them as
    /// before, some as if a person had still to be asked.
    fn lacks(&self, request: &StepRequest) -> bool {
        let is_step = |past: &&HistoryItem| matches!(past, HistoryItem::Step { .. });
        let before = request.history.iter().rev();
        let before = before.skip_while(is_step).skip(1).take_while(is_step);
        let steps: Vec<_> = before.collect();
        let is_lost = |result: &CallResult| {
            let is_unknown = matches!(result.outcome, Outcome::Unknown { .. });
            result.call.place == Place::Agent && is_unknown
        };
        // The session was made with the first of them, and with what was known of their calls.
        steps.into_iter().rev().skip(self.base).any(|past| {
            let HistoryItem::Step { results, .. } = past else {
                return false;
            };
            results.iter().any(is_lost)
        })
    }

    pub(super) fn event(&self) -> AgentEvent {
        AgentEvent::Session(json!(self))
    }
}

/// What a turn answers, known again by its id.
fn cause(past: &HistoryItem) -> Option<String> {
    match past {
        HistoryItem::Message(message) => Some(message.id.clone().unwrap_or_else(|| message.text())),
        HistoryItem::Result { call, .. } => Some(call.id.to_string()),
        HistoryItem::Step { .. } => None,
    }
}

/// What the current turn answers.
pub(super) fn last_cause(request: &StepRequest) -> String {
    let mut causes = request.history.iter().rev().filter_map(cause);
    causes.next().unwrap_or_default()
}

/// How many steps the current turn has had.
pub(super) fn steps(request: &StepRequest) -> usize {
    let steps = request.history.iter().rev();
    steps
        .take_while(|past| matches!(past, HistoryItem::Step { .. }))
        .count()
}

/// The session that is made for a step when no other holds what came before it.
///
/// Its name follows from the journal: a server that is cut off after making it finds it again.
pub(super) fn fresh_session(request: &StepRequest, cuts: usize) -> String {
    let (chat, turn, steps) = (&request.chat, &request.turn, steps(request));
    match (cuts, request.history.len()) {
        (0, 1) if request.session.is_none() => chat.to_string(),
        (0, _) => format!("{chat}~{turn}~{steps}"),
        _ => format!("{chat}~{turn}~{steps}~{cuts}"),
    }
}

/// What marks a run that is not for a step: what it says is for nobody. Tools find the chat in it.
pub(super) fn mark_of_chat(request: &StepRequest) -> Value {
    json!({"chat": request.chat})
}

/// What marks a run.
pub(super) fn mark(request: &StepRequest) -> Value {
    json!({
        "chat": request.chat,
        "turn": request.turn,
        "step": steps(request),
    })
}

/// The request as it would be if what is known by now of the agent's calls had been known. Of others
/// nothing will be, for this reason.
pub(super) fn settled(
    request: &StepRequest,
    reason: UnknownReason,
    known: impl Fn(&str) -> Option<Outcome>,
) -> StepRequest {
    let mut request = request.clone();
    let history = Arc::make_mut(&mut request.history);
    if let Some(HistoryItem::Step { results, .. }) = history.last_mut() {
        let own = request.own.iter().filter(|own| own.outcome.is_none());
        results.extend(own.map(|own| {
            let id = own.call.provider_id.as_deref().unwrap_or_default();
            CallResult {
                call: own.call.clone(),
                edited_input: None,
                outcome: known(id).unwrap_or(Outcome::Unknown { reason }),
            }
        }));
    }
    request.own.clear();
    request
}

#[cfg(test)]
mod tests {
    use turn::call::Call;
    use turn::message::{Message, Part};
    use turn::{CallId, ChatId, Principal, TurnId};

    use super::*;

    fn message(id: &str) -> HistoryItem {
        HistoryItem::Message(Message::new(id, vec![Part::text("Go")]))
    }

    fn step(outcome: Outcome) -> HistoryItem {
        let call = Call {
            id: CallId::from("call"),
            provider_id: Some("c".to_owned()),
            tool: "pay".to_owned(),
            input: json!({}),
            place: Place::Agent,
            parent: None,
            provider_metadata: None,
        };
        let result = CallResult {
            call,
            edited_input: None,
            outcome,
        };
        HistoryItem::Step {
            parts: Vec::new(),
            results: vec![result],
        }
    }

    fn holds(base: usize, history: Vec<HistoryItem>) -> bool {
        let note = Note {
            session: "chat".to_owned(),
            turn: "turn-1".to_owned(),
            cause: "1".to_owned(),
            base,
            open: Vec::new(),
            is_read: None,
        };
        note.holds(&StepRequest {
            chat: ChatId::from("chat"),
            turn: TurnId::from("turn-2"),
            principal: Principal::from("ann"),
            history: history.into(),
            tools: Vec::new(),
            session: None,
            own: Vec::new(),
            is_again: false,
            trace: None,
        })
    }

    #[test]
    fn session_holds_what_it_has_seen() {
        let output = json!({"paid": 5});
        let paid = step(Outcome::Output { output });
        assert!(holds(0, vec![message("1"), paid.clone(), message("2")]));
        // Of an edit it knows nothing.
        assert!(!holds(0, vec![message("other"), paid, message("2")]));
    }

    #[test]
    fn session_does_not_hold_that_nobody_knows_what_became_of_a_call() {
        let reason = UnknownReason::ServerStopped;
        let unknown = Outcome::Unknown { reason };
        let lost = || vec![message("1"), step(unknown.clone()), message("2")];
        assert!(!holds(0, lost()));
        // Unless it was made with them.
        assert!(holds(1, lost()));
    }
}
