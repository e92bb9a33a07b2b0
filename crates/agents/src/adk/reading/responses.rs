//! Responses to calls: their outcomes, and questions to people.

use gemini::{FunctionCall, FunctionResponse};
use serde_json::{Value, json};
use turn::agent::{AgentEvent, Asking};
use turn::call::{Outcome, UnknownReason};

use super::super::event::{CONFIRMATION, Event};
use super::Reading;
use crate::question::confirmation_question;

impl Reading {
    /// Takes the responses right after long-running calls, before these are shown: some return a first
    /// output at once, and some need an approval.
    pub(in crate::adk) fn expect_of(&mut self, event: &Event) -> Vec<String> {
        for call in event.all_calls() {
            if let Some((id, asking)) = asking(event, call) {
                self.asking.insert(id, asking);
            }
        }
        let given = event
            .responses()
            .filter(|response| !event.is_placeholder(response));
        given.filter_map(|response| response.id.clone()).collect()
    }

    /// Reads what comes between steps: results, and questions to people.
    pub(in crate::adk) fn read_responses(&mut self, event: &Event) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        let mut shown = Vec::new();
        self.note(event);
        self.act(event, &mut shown);
        self.has_shown |= event.content.is_some() || !shown.is_empty();
        self.held.extend(shown);
        for response in event.responses() {
            events.extend(self.response(event, response));
        }
        for call in event.all_calls() {
            events.extend(self.asks(event, call));
        }
        events
    }

    pub(super) fn asks(&mut self, event: &Event, call: &FunctionCall) -> Option<AgentEvent> {
        let (provider_id, asking) = asking(event, call)?;
        if self.decide(&provider_id).is_none() {
            if self.waiting.iter().any(|(id, _)| *id == provider_id) {
                // It was shown with its question.
                return None;
            }
            self.asked.insert(provider_id.clone());
        }
        Some(AgentEvent::Asks {
            provider_id,
            asking,
        })
    }

    pub(super) fn response(
        &mut self,
        event: &Event,
        response: &FunctionResponse,
    ) -> Option<AgentEvent> {
        let id = response.id.as_ref()?;
        if event.is_placeholder(response) {
            self.asked.insert(id.clone());
            return None;
        }
        self.settle(id, outcome(event, response))
    }

    /// Settles a call at the agent, if it is not settled yet.
    pub(in crate::adk) fn settle(&mut self, id: &str, outcome: Outcome) -> Option<AgentEvent> {
        if let Some(call) = self.decide(id) {
            // The model continues, and gets the rest later.
            self.waiting.retain(|(waiting, _)| waiting != id);
            self.later.push(call);
        } else {
            let place = self.open.iter().position(|open| open == id)?;
            self.open.remove(place);
        }
        let provider_id = id.to_owned();
        self.settled.insert(provider_id.clone(), outcome.clone());
        Some(AgentEvent::Settled {
            provider_id,
            outcome,
        })
    }

    /// Takes a call off those of which it is not known who runs them.
    fn decide(&mut self, id: &str) -> Option<FunctionCall> {
        let is_meant = |call: &FunctionCall| call.id.as_deref() == Some(id);
        let place = self.undecided.iter().position(is_meant)?;
        Some(self.undecided.remove(place))
    }
}

/// A question that ADK asks by a call of its own: the call that it is about, and the question.
fn asking(event: &Event, call: &FunctionCall) -> Option<(String, Asking)> {
    if call.name.as_deref() != Some(CONFIRMATION) {
        return None;
    }
    let args = call.args.as_ref()?;
    let original = args.get("originalFunctionCall")?;
    let asked = args.get("toolConfirmation");
    let hint = asked.and_then(|asked| asked.get("hint")?.as_str());
    let id = original.get("id")?.as_str()?.to_owned();
    let asking = Asking {
        question: confirmation_question(hint, original),
        token: call.id.as_ref().map(|id| match &event.branch {
            Some(branch) => json!({"id": id, "branch": branch}),
            None => json!(id),
        }),
        ..Asking::default()
    };
    Some((id, asking))
}

/// The outcome for an error that a tool has returned. The Python package returns the answer that it got, so a
/// denial is recognised by the text of its `Denied`; whether the call was denied is for the turn to
/// say.
fn failed(error: &str) -> Outcome {
    let reason = match error.strip_prefix("Denied") {
        Some("") => None,
        Some(rest) if rest.starts_with(": ") => Some(rest[2..].to_owned()),
        _ => {
            let error = error.to_owned();
            return Outcome::Error { error };
        }
    };
    Outcome::Denied { reason }
}

/// The outcome of a call.
fn outcome(event: &Event, response: &FunctionResponse) -> Outcome {
    if event.is_aborted() {
        // The reader of the run was gone, and the call may have been executed all the same.
        let reason = UnknownReason::ServerStopped;
        return Outcome::Unknown { reason };
    }
    let mut response = response.response.clone().unwrap_or_default();
    match response.get("error") {
        Some(Value::String(error)) if response.len() == 1 => failed(error),
        _ => match response.remove("result") {
            // What is no object ADK wraps so.
            Some(result) if response.is_empty() => Outcome::Output { output: result },
            Some(result) => {
                response.insert("result".to_owned(), result);
                let output = Value::Object(response);
                Outcome::Output { output }
            }
            None => {
                let output = Value::Object(response);
                Outcome::Output { output }
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denial_that_the_package_passes_on_is_typed() {
        let denied = |reason: Option<&str>| Outcome::Denied {
            reason: reason.map(str::to_owned),
        };
        assert_eq!(failed("Denied"), denied(None));
        assert_eq!(failed("Denied: too much"), denied(Some("too much")));
        for error in ["Denied by the bank", "denied", "It broke", ""] {
            let error = error.to_owned();
            assert_eq!(failed(&error.clone()), Outcome::Error { error });
        }
    }
}
