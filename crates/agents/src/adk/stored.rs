//! What a stored session holds of a turn: what ADK has received, and done.

use turn::agent::StepRequest;

use super::event::{Event, RunOrigin, Session};
use super::note::{self, Note};
use super::run_input::{RunInput, answered_ids};

/// Whether a session holds the input of a step.
#[derive(Debug, PartialEq)]
pub(super) enum Received {
    /// It does, and these events came after what the journal has of the turn.
    Yes(Vec<Event>),
    /// It does not.
    No,
    /// It does not even hold the question, so the outcome is unknown.
    Unclear,
}

/// Whether ADK has received the input of a step, and the events that followed.
pub(super) fn received(
    session: Session,
    request: &StepRequest,
    note: &Note,
    input: Option<&RunInput>,
) -> Received {
    let answers: Vec<&str> = input.into_iter().flat_map(RunInput::ids).collect();
    if note::steps(request) > 0 && !answers.is_empty() {
        return match answer(&session.events, &answers) {
            Answer::At(place) => {
                let mut events = session.events;
                Received::Yes(events.split_off(place + 1))
            }
            Answer::Missing => Received::No,
            Answer::NoQuestion => Received::Unclear,
        };
    }
    let mut events = of_turn(session.events, request);
    // Every step but the last of a turn ends with calls.
    let known = note::steps(request).saturating_sub(note.base);
    for _ in 0..known {
        let mut ends = events.iter();
        let Some(end) = ends.position(|event| event.calls().next().is_some()) else {
            return Received::No;
        };
        events.drain(..=end);
    }
    match known > 0 || !events.is_empty() {
        true => Received::Yes(events),
        false => Received::No,
    }
}

/// Whether a session holds what is sent before the input of a step.
pub(super) fn holds_first(session: &Session, input: Option<&RunInput>) -> bool {
    let first = input.and_then(|input| input.before.as_ref());
    first.is_some_and(|first| {
        let ids: Vec<&str> = answered_ids(first).collect();
        matches!(answer(&session.events, &ids), Answer::At(_))
    })
}

/// The place of the answers to questions in a session.
enum Answer {
    At(usize),
    Missing,
    NoQuestion,
}

/// Looks for answers by their own ids, whatever else is kept of them. An id that was used before is
/// another's: only what comes after the last question counts.
fn answer(events: &[Event], ids: &[&str]) -> Answer {
    let is_meant = |id: &Option<String>| id.as_deref().is_some_and(|id| ids.contains(&id));
    let asks = |event: &Event| event.all_calls().any(|call| is_meant(&call.id));
    let answers = |event: &Event| {
        let mut responses = event.responses();
        event.is_from_user() && responses.any(|response| is_meant(&response.id))
    };
    let Some(asked) = events.iter().rposition(asks) else {
        return Answer::NoQuestion;
    };
    let answered = events[asked..].iter().rposition(answers);
    answered.map_or(Answer::Missing, |place| Answer::At(asked + place))
}

/// The events of a turn.
fn of_turn(events: Vec<Event>, request: &StepRequest) -> Vec<Event> {
    let events = marked(events).filter(|(_, mark)| is_of(mark.as_ref(), request));
    events.map(|(event, _)| event).collect()
}

fn is_of(mark: Option<&RunOrigin>, request: &StepRequest) -> bool {
    mark.is_some_and(|mark| mark.turn == request.turn.as_str())
}

/// Events, each with what it is for. Where only messages say it, what follows one is of its run.
fn marked(
    events: impl IntoIterator<Item = Event>,
) -> impl Iterator<Item = (Event, Option<RunOrigin>)> {
    let mut run = None;
    events.into_iter().map(move |event| {
        let own = event.mark();
        if event.is_from_user() {
            run.clone_from(&own);
        }
        let mark = own.or_else(|| run.clone());
        (event, mark)
    })
}

/// Whether the run that a server which is gone may have begun for a step is over, as far as its session
/// shows. New input begins a run of its own.
pub(super) fn is_over(session: &Session, request: &StepRequest, cause: RunCause<'_>) -> bool {
    let step = note::steps(request) as u64;
    let mut last = None;
    if let RunCause::Answers(ids) = cause {
        let Answer::At(place) = answer(&session.events, ids) else {
            return false;
        };
        let events = &session.events[place + 1..];
        events.iter().for_each(|event| note_last(&mut last, event));
    } else {
        let is_begun = |mark: &RunOrigin| matches!(cause, RunCause::Nothing) || mark.step == step;
        for (event, mark) in marked(session.events.iter().cloned()) {
            if is_of(mark.as_ref(), request) && mark.as_ref().is_some_and(is_begun) {
                note_last(&mut last, &event);
            }
        }
    }
    last.as_ref().is_some_and(Event::is_aborted) || is_complete(last.as_ref())
}

/// What a run was begun with.
#[derive(Debug, Clone, Copy)]
pub(super) enum RunCause<'a> {
    /// Answers to these.
    Answers(&'a [&'a str]),
    /// A message.
    Message,
    /// It is the run that continues.
    Nothing,
}

/// Keeps an event as the last of a run, if it has content: ends are reported without
/// content, and so is an abort after the end.
pub(super) fn note_last(last: &mut Option<Event>, event: &Event) {
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
            trace: None,
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
        let is_over = |events: &[Value]| is_over(&session(events), &request(), RunCause::Message);
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
    fn what_follows_a_marked_message_is_of_its_run() {
        let mark = |turn: &str| json!({"stateDelta": {"adk_stream": {"turn": turn, "step": 0}}});
        let mut events = vec![user(), text(), user(), call(), end()];
        events[0]["actions"] = mark("earlier");
        events[2]["actions"] = mark("turn");
        let events = events.into_iter().map(serde_json::from_value);
        let events: Vec<Event> = events.collect::<Result<_, _>>().unwrap();
        assert_eq!(of_turn(events.clone(), &request()), events[2..]);
    }

    #[test]
    fn answer_is_found_by_its_id_after_the_last_question_of_that_id() {
        let answer = || {
            let response = json!({"functionResponse": {"id": "c", "name": "pay"}});
            json!({"author": "user", "content": {"role": "user", "parts": [response]}})
        };
        let find = |events: &[Value]| {
            let events = events.iter().cloned().map(serde_json::from_value);
            let events: Vec<Event> = events.collect::<Result<_, _>>().unwrap();
            match super::answer(&events, &["c"]) {
                Answer::At(place) => Some(place),
                Answer::Missing => None,
                Answer::NoQuestion => Some(usize::MAX),
            }
        };
        assert_eq!(find(&[user(), call(), answer(), text()]), Some(2));
        assert_eq!(find(&[user(), call(), text()]), None);
        assert_eq!(find(&[call(), answer(), call()]), None);
        assert_eq!(find(&[user(), text(), answer()]), Some(usize::MAX));
    }

    #[test]
    fn run_is_over_only_if_it_is_the_one_that_was_begun_for_the_step() {
        let mut session = session(&[user(), text()]);
        for event in &mut session.events {
            event.custom_metadata = Some(json!({"adk_stream": {"turn": "turn", "step": 7}}));
        }
        assert!(!is_over(&session, &request(), RunCause::Message));
        assert!(is_over(&session, &request(), RunCause::Nothing));
    }

    #[test]
    fn what_comes_after_all_was_said_does_not_make_it_less() {
        let is_complete = |events: &[Value]| {
            let mut last = None;
            for event in &session(events).events {
                note_last(&mut last, event);
            }
            is_complete(last.as_ref())
        };
        assert!(is_complete(&[user(), text(), end()]));
        assert!(is_complete(&[user(), text(), end(), aborted()]));
        assert!(!is_complete(&[user(), call(), end()]));
        assert!(!is_complete(&[user(), aborted()]));
    }
}
