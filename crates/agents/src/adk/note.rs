//! Which session holds a chat, as the journal is told.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use turn::agent::{AgentEvent, CallResult, Past, StepRequest};
use turn::call::Outcome;

/// Which session holds a chat, and how far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Note {
    /// The session.
    pub(super) session: String,
    /// The last turn that it was told of.
    pub(super) turn: String,
    /// What that turn answers.
    pub(super) cause: String,
    /// How many steps of that turn it was made with.
    #[serde(default)]
    pub(super) base: usize,
    /// Calls whose results it waits for: their ids and tools.
    #[serde(default)]
    pub(super) open: Vec<(String, String)>,
}

impl Note {
    /// What was noted last, if it is a note of this agent's.
    pub(super) fn of(request: &StepRequest) -> Option<Self> {
        serde_json::from_value(request.session.clone()?).ok()
    }

    /// Whether the session holds what came before what is to be told.
    pub(super) fn holds(&self, request: &StepRequest) -> bool {
        let mut causes = request.history.iter().rev().filter_map(cause);
        causes.next();
        self.turn == request.turn.as_str() || causes.next().as_ref() == Some(&self.cause)
    }

    pub(super) fn event(&self) -> AgentEvent {
        AgentEvent::Session(json!(self))
    }
}

/// What a turn answers, known again by its id.
fn cause(past: &Past) -> Option<String> {
    match past {
        Past::Message(message) => Some(message.id.clone().unwrap_or_else(|| message.text())),
        Past::Result { call, .. } => Some(call.id.to_string()),
        Past::Step { .. } => None,
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
        .take_while(|past| matches!(past, Past::Step { .. }))
        .count()
}

/// The session that is made for a step when no other holds what came before it.
///
/// Its name follows from the journal: whoever is cut off after making it finds it again.
pub(super) fn fresh_session(request: &StepRequest, cuts: usize) -> String {
    let (chat, turn, steps) = (&request.chat, &request.turn, steps(request));
    match (cuts, request.history.len()) {
        (0, 1) if request.session.is_none() => chat.to_string(),
        (0, _) => format!("{chat}~{turn}~{steps}"),
        _ => format!("{chat}~{turn}~{steps}~{cuts}"),
    }
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
/// nothing will be.
pub(super) fn settled(
    request: &StepRequest,
    known: impl Fn(&str) -> Option<Outcome>,
) -> StepRequest {
    let mut request = request.clone();
    let history = Arc::make_mut(&mut request.history);
    if let Some(Past::Step { results, .. }) = history.last_mut() {
        let own = request.own.iter().filter(|own| own.outcome.is_none());
        results.extend(own.map(|own| {
            let id = own.call.provider_id.as_deref().unwrap_or_default();
            CallResult {
                call: own.call.clone(),
                edited_input: None,
                outcome: known(id).unwrap_or(Outcome::Unknown),
            }
        }));
    }
    request.own.clear();
    request
}
