//! Prompts that play a fault.

use adk_stream_demo::Demo;
use serde_json::json;
use turn::agent::AgentEvent;
use turn::call::Outcome;
use turn::event::Finish;

use crate::dialogue::{Dialogue, approve, calls_of, settled, text_of};

fn events(prompt: &str) -> Vec<AgentEvent> {
    Dialogue::of(Demo::new(), prompt).step()
}

#[test]
fn a_rate_limit_says_when_to_try_again() {
    let [
        AgentEvent::Failed {
            code,
            message,
            retry_after_ms,
        },
    ] = &events("fail with rate limit")[..]
    else {
        panic!("not one failure");
    };
    assert_eq!((*code, *retry_after_ms), ("rate_limited", Some(17_000)));
    assert!(message.contains("17 seconds"), "{message}");
}

#[test]
fn a_refused_key_is_a_failure_of_its_own() {
    let failed = |event: &AgentEvent| {
        matches!(
            event,
            AgentEvent::Failed {
                code: "agent_unauthorized",
                retry_after_ms: None,
                ..
            }
        )
    };
    assert!(failed(&events("Fail with refused key!")[0]));
}

#[test]
fn a_broken_stream_ends_in_the_middle() {
    let events = events("break the stream");
    assert!(text_of(&events).len() > 10);
    assert!(
        events
            .iter()
            .all(|event| matches!(event, AgentEvent::Text { .. }))
    );
}

#[test]
fn silence_is_an_end_without_a_word() {
    let events = events("say nothing");
    assert!(matches!(
        events[..],
        [AgentEvent::Metadata(_), AgentEvent::Ended(Finish::Stop)]
    ));
}

#[test]
fn a_long_text_has_two_hundred_words() {
    let events = events("take your time");
    let deltas = events
        .iter()
        .filter(|event| matches!(event, AgentEvent::Text { .. }));
    assert_eq!(deltas.count(), 200);
}

#[test]
fn a_bad_input_is_explained_once_it_was_refused() {
    let mut dialogue = Dialogue::of(Demo::new(), "call with bad input");
    let events = dialogue.advance(&mut |call| {
        settled(
            call,
            Outcome::Invalid {
                error: "location: missing".to_owned(),
            },
        )
    });
    assert_eq!(
        calls_of(&events),
        [("get_weather".to_owned(), json!({"place": 5}))]
    );
    assert_eq!(
        text_of(&dialogue.step()),
        "I called get_weather with an input that it does not take: location: missing."
    );
}

#[test]
fn a_fault_is_only_played_where_nothing_else_is_asked() {
    let mut dialogue = Dialogue::of(Demo::new(), "Take your time, then pay Ann $5");
    let (calls, text) = dialogue.finish(&mut approve);
    assert_eq!(calls.len(), 1);
    assert!(text.starts_with("I sent $5 to Ann."), "{text}");
}
