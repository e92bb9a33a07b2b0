//! What is not looked up because it is likely to be known: that a chat is new, and where an approval
//! is. Where the guess is wrong, the journal says so, and all is as if it had been read first.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use adk_stream_engine::engine::Request;
use adk_stream_engine::{EngineError, Speech, Tools, Verdict};
use serde_json::json;
use turn::gate::Decision;
use turn::{Event, GateId, Principal, Status};
use wire::{Message, Part, Profile, Role, Trigger};

use crate::house::{House, call, text};
use crate::{approved, pay};

fn is_turn(event: &Event) -> bool {
    matches!(event, Event::TurnOpened { .. })
}

/// A house whose chat has had a turn.
async fn begun() -> House {
    let house = House::new(Tools::new(), |_| vec![text("Here.")]);
    house.say("Hello").await;
    house.until(Status::Finished).await;
    house
}

#[tokio::test]
async fn a_message_that_comes_alone_to_a_chat_that_is_there_comes_behind_what_is_there() {
    let house = begun().await.restarted();
    house.say_as("user-2", "Hello again").await;
    house.until_texts(&["Here.", "Here."]).await;
    assert_eq!(house.count(is_turn).await, 2);
    let opened = house.count(|event| matches!(event, Event::ChatOpened { .. }));
    assert_eq!(opened.await, 1);
}

#[tokio::test]
async fn a_message_that_was_taken_in_before_a_restart_opens_no_second_turn() {
    let house = begun().await.restarted();
    house.say("Hello").await;
    assert_eq!(house.count(is_turn).await, 1);
}

#[tokio::test]
async fn a_first_message_to_somebody_elses_chat_is_refused_and_leaves_nothing() {
    let house = begun().await.restarted();
    let message = Message::new("user-9", Role::User, vec![Part::text("Mine!")]);
    let request = Request {
        chat: house.chat.clone(),
        trigger: Trigger::SubmitMessage,
        message_id: None,
        messages: vec![message],
    };
    let bob = Principal::from("bob");
    let speech = Speech::Sdk(Profile::Shared);
    let sent = house.engine.send(&bob, request, speech).await;
    assert!(matches!(sent, Err(EngineError::UnknownChat)));
    assert_eq!(house.count(is_turn).await, 1);
}

/// A house in which somebody is asked, and the question.
async fn asked() -> (House, GateId) {
    let runs = Arc::new(AtomicUsize::new(0));
    let pay = pay(&runs).policy(|_, _| Verdict::Ask {
        question: "Pay?".to_owned(),
    });
    let house = House::new(
        Tools::new().with(pay),
        |request| match crate::house::results(request) {
            0 => vec![call("pay", json!({"amount": 1}))],
            _ => vec![text("Paid.")],
        },
    );
    house.say("Pay").await;
    house.until(Status::Parked).await;
    let waiting = house.engine.approvals(&house.ann).await.unwrap();
    (house, waiting[0].gate.id.clone())
}

#[tokio::test]
async fn who_answers_is_told_what_the_journal_says() {
    let (here, gate) = asked().await;
    let (elsewhere, other) = asked().await;
    // One answer finds the chat at hand, the other has to look for it.
    for (house, gate) in [(here, gate), (elsewhere.restarted(), other)] {
        let answered = house.engine.answer(&house.ann, &gate, approved());
        let answered = answered.await.unwrap();
        assert!(answered.agrees);
        let record = house.journal.gate(&gate).await.unwrap().unwrap();
        assert_eq!(record.closed, Some(answered.closed));
        let denied = Decision::Denied { reason: None };
        let second = house.engine.answer(&house.ann, &gate, denied);
        let second = second.await.unwrap();
        assert!(!second.agrees);
        assert_eq!(record.closed, Some(second.closed));
    }
}

#[tokio::test]
async fn an_approval_of_somebody_else_is_unknown_wherever_it_is() {
    let (house, gate) = asked().await;
    let bob = Principal::from("bob");
    for house in [house.restarted(), house] {
        let answered = house.engine.answer(&bob, &gate, approved()).await;
        assert!(matches!(answered, Err(EngineError::UnknownApproval)));
        let record = house.journal.gate(&gate).await.unwrap().unwrap();
        assert_eq!(record.closed, None);
    }
}
