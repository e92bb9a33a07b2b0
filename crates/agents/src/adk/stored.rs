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
