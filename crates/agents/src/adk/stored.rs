//! What a session says of a turn: what ADK has heard of it, and done.

use turn::agent::StepRequest;

use super::event::{Event, Session};
use super::note::{self, Note};
use super::telling::Telling;

/// What came after what the journal has of a turn, if ADK has heard what it is to be told.
pub(super) fn rest(
    session: Session,
    request: &StepRequest,
    note: &Note,
    telling: Option<&Telling>,
) -> Option<Vec<Event>> {
    let events = session.events.into_iter();
    let mut events: Vec<_> = events
        .filter(|event| event.turn() == Some(request.turn.as_str()))
        .collect();
    // Every step but the last of a turn ends with calls.
    let known = note::steps(request).saturating_sub(note.base);
    for _ in 0..known {
        let end = events
            .iter()
            .position(|event| event.calls().next().is_some())?;
        events.drain(..=end);
    }
    let Some(telling) = telling.filter(|_| note::steps(request) > 0) else {
        return (known > 0 || !events.is_empty()).then_some(events);
    };
    let ids: Vec<&str> = telling.ids().collect();
    let is_told = |event: &Event| {
        let mut responses = event.responses();
        let is_meant = |id: &Option<String>| id.as_deref().is_some_and(|id| ids.contains(&id));
        event.is_from_user() && responses.any(|response| is_meant(&response.id))
    };
    let told = events.iter().rposition(is_told)?;
    Some(events.split_off(told + 1))
}

/// Whether the run that a server which is gone may have begun for a step is over, as far as its session
/// says. What is to be told begins a run of its own.
pub(super) fn is_over(session: &Session, request: &StepRequest, is_told: bool) -> bool {
    let step = Some(note::steps(request) as u64);
    let events = session.events.iter();
    let events = events.filter(|event| event.turn() == Some(request.turn.as_str()));
    let mut last = None;
    for event in events.filter(|event| !is_told || event.step() == step) {
        heed(&mut last, event);
    }
    last.as_ref().is_some_and(Event::is_aborted) || is_complete(last.as_ref())
}

/// Takes an event for the last that a run had to say, if it says anything: ends are told without
/// content, and so is that nobody was there any more to hear of the end.
pub(super) fn heed(last: &mut Option<Event>, event: &Event) {
    let is_empty = event.content.is_none();
    let is_end = is_empty && event.error_code.is_none();
    let is_late = is_empty && event.is_aborted() && is_complete(last.as_ref());
    if !is_end && !is_late {
        *last = Some(event.clone());
    }
}

/// Whether a run came to an end by itself, as far as its session says.
pub(super) fn is_complete(last: Option<&Event>) -> bool {
    let Some(last) = last else { return false };
    let is_asking = last.all_calls().next().is_some() && last.calls().next().is_none();
    let waits = last.calls().any(|call| last.is_long_running(call));
    let placeholder = last
        .responses()
        .any(|response| last.is_placeholder(response));
    let is_text = last.is_said() && last.calls().next().is_none();
    last.error_code.is_none() && (is_asking || waits || placeholder || is_text)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use turn::{ChatId, Principal, TurnId};

    use super::*;

    fn request() -> StepRequest {
        StepRequest {
            chat: ChatId::from("chat"),
            turn: TurnId::from("turn"),
            principal: Principal::from("ann"),
            history: Vec::new().into(),
            tools: Vec::new(),
            session: None,
            own: Vec::new(),
            is_again: true,
        }
    }

    fn session(events: &[Value]) -> Session {
        let event = |event: &Value| {
            let mut event = event.clone();
            event["customMetadata"] = json!({"adk_stream": {"turn": "turn", "step": 0}});
            serde_json::from_value(event).unwrap()
        };
        Session {
            events: events.iter().map(event).collect(),
            ..Session::default()
        }
    }

    fn user() -> Value {
        json!({"author": "user", "content": {"role": "user", "parts": [{"text": "Go"}]}})
    }

    fn call() -> Value {
        let call = json!({"functionCall": {"id": "c", "name": "pay"}});
        json!({"author": "root", "content": {"role": "model", "parts": [call]}})
    }

    fn text() -> Value {
        json!({"author": "root", "content": {"role": "model", "parts": [{"text": "Done."}]}})
    }

    fn end() -> Value {
        json!({"author": "root", "actions": {"endOfAgent": true}})
    }

    fn aborted() -> Value {
        json!({"author": "root", "errorCode": "INVOCATION_ABORTED"})
    }

    #[test]
    fn run_is_over_when_it_was_aborted_or_has_said_all() {
        let is_over = |events: &[Value]| is_over(&session(events), &request(), true);
        assert!(!is_over(&[]));
        assert!(!is_over(&[user()]));
        assert!(!is_over(&[user(), call()]));
        assert!(is_over(&[user(), call(), aborted()]));
        assert!(is_over(&[user(), text()]));
        assert!(is_over(&[user(), text(), end()]));
        // It was aborted before it was stored what was said to it.
        assert!(is_over(&[aborted()]));
    }

    #[test]
    fn run_is_over_only_if_it_is_the_one_that_was_begun_for_the_step() {
        let mut session = session(&[user(), text()]);
        for event in &mut session.events {
            event.custom_metadata = Some(json!({"adk_stream": {"turn": "turn", "step": 7}}));
        }
        assert!(!is_over(&session, &request(), true));
        assert!(is_over(&session, &request(), false));
    }

    #[test]
    fn what_comes_after_all_was_said_does_not_make_it_less() {
        let is_complete = |events: &[Value]| {
            let mut last = None;
            for event in &session(events).events {
                heed(&mut last, event);
            }
            is_complete(last.as_ref())
        };
        assert!(is_complete(&[user(), text(), end()]));
        assert!(is_complete(&[user(), text(), end(), aborted()]));
        assert!(!is_complete(&[user(), call(), end()]));
        assert!(!is_complete(&[user(), aborted()]));
    }
}
