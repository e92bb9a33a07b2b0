//! What is not looked up because it is likely to be known: that a chat is new, and where an approval
//! is. Where the guess is wrong, the journal says so, and all is as if it had been read first.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use adk_stream_engine::Request;
use adk_stream_engine::{Dialect, EngineError, Tools, Verdict};
use serde_json::json;
use turn::gate::Decision;
use turn::{Event, GateId, Principal, Status};
use wire::{Message, Part, Profile, Role, Trigger};

use crate::fixture::{Fixture, call, text};
use crate::{approved, pay};

fn is_turn(event: &Event) -> bool {
    matches!(event, Event::TurnOpened { .. })
}

/// A fixture whose chat has had a turn.
async fn begun() -> Fixture {
    let fixture = Fixture::new(Tools::new(), |_| vec![text("Here.")]);
    fixture.say("Hello").await;
    fixture.until(Status::Finished).await;
    fixture
}

#[tokio::test]
async fn a_message_that_comes_alone_to_a_chat_that_is_there_comes_behind_what_is_there() {
    let fixture = begun().await.restarted();
    fixture.say_as("user-2", "Hello again").await;
    fixture.until_texts(&["Here.", "Here."]).await;
    assert_eq!(fixture.count(is_turn).await, 2);
    let opened = fixture.count(|event| matches!(event, Event::ChatOpened { .. }));
    assert_eq!(opened.await, 1);
}

#[tokio::test]
async fn a_message_that_was_taken_in_before_a_restart_opens_no_second_turn() {
    let fixture = begun().await.restarted();
    fixture.say("Hello").await;
    assert_eq!(fixture.count(is_turn).await, 1);
}

#[tokio::test]
async fn a_first_message_to_somebody_elses_chat_is_refused_and_leaves_nothing() {
    let fixture = begun().await.restarted();
    let message = Message::new("user-9", Role::User, vec![Part::text("Mine!")]);
    let request = Request {
        chat: fixture.chat.clone(),
        trigger: Trigger::SubmitMessage,
        message_id: None,
        messages: vec![message],
    };
    let bob = Principal::from("bob");
    let dialect = Dialect::Sdk(Profile::Shared);
    let sent = fixture.engine.send(&bob, request, dialect).await;
    assert!(matches!(sent, Err(EngineError::UnknownChat)));
    assert_eq!(fixture.count(is_turn).await, 1);
}

/// A fixture in which somebody is asked, and the question.
async fn asked() -> (Fixture, GateId) {
    let runs = Arc::new(AtomicUsize::new(0));
    let pay = pay(&runs).policy(|_, _| Verdict::Ask {
        question: "Pay?".to_owned(),
    });
    let fixture = Fixture::new(
        Tools::new().with(pay),
        |request| match crate::fixture::results(request) {
            0 => vec![call("pay", json!({"amount": 1}))],
            _ => vec![text("Paid.")],
        },
    );
    fixture.say("Pay").await;
    fixture.until(Status::Parked).await;
    let waiting = fixture.engine.approvals(&fixture.ann).await.unwrap();
    (fixture, waiting[0].gate.id.clone())
}

#[tokio::test]
async fn answer_is_acknowledged_with_what_the_journal_says() {
    let (here, gate) = asked().await;
    let (elsewhere, other) = asked().await;
    // One answer finds the chat at hand, the other has to look for it.
    for (fixture, gate) in [(here, gate), (elsewhere.restarted(), other)] {
        let answered = fixture.engine.answer(&fixture.ann, &gate, approved());
        let answered = answered.await.unwrap();
        assert!(answered.agrees);
        let record = fixture.journal.gate(&gate).await.unwrap().unwrap();
        assert_eq!(record.closed, Some(answered.closed));
        let denied = Decision::Denied { reason: None };
        let second = fixture.engine.answer(&fixture.ann, &gate, denied);
        let second = second.await.unwrap();
        assert!(!second.agrees);
        assert_eq!(record.closed, Some(second.closed));
    }
}

#[tokio::test]
async fn an_approval_of_somebody_else_is_unknown_wherever_it_is() {
    let (fixture, gate) = asked().await;
    let bob = Principal::from("bob");
    for fixture in [fixture.restarted(), fixture] {
        let answered = fixture.engine.answer(&bob, &gate, approved()).await;
        assert!(matches!(answered, Err(EngineError::UnknownApproval)));
        let record = fixture.journal.gate(&gate).await.unwrap().unwrap();
        assert_eq!(record.closed, None);
    }
}
