//! Branches of a chat that become the chat again.

use adk_stream_engine::command::View;
use adk_stream_engine::{EngineError, Tools};
use serde_json::json;
use turn::agent::{HistoryItem, StepRequest};
use turn::{Event, Principal, Status};
use wire::Role;

use super::fixture::{Fixture, call, text};

/// Repeats all that the user has said.
fn listener() -> Fixture {
    Fixture::new(Tools::new(), |request: &StepRequest| {
        let said = request.history.iter().filter_map(|past| match past {
            HistoryItem::Message(message) => Some(message.text()),
            _ => None,
        });
        vec![text(&said.collect::<Vec<_>>().join(", "))]
    })
}

fn answers(view: &View) -> Vec<(String, String)> {
    let said = view.messages.iter();
    let said = said.filter(|message| message.role == Role::Assistant);
    said.map(|message| (message.id.clone().unwrap(), message.text()))
        .collect()
}

async fn select(fixture: &Fixture, message_id: &str) -> Result<View, EngineError> {
    let engine = &fixture.engine;
    engine
        .select_branch(&fixture.ann, &fixture.chat, message_id)
        .await
}

fn is_selected(event: &Event) -> bool {
    matches!(event, Event::BranchSelected { .. })
}

#[tokio::test]
async fn branch_that_was_cut_off_becomes_the_chat_again() {
    let fixture = listener();
    fixture.say_as("u1", "one").await;
    fixture.until_texts(&["one"]).await;
    fixture.say_as("u2", "two").await;
    fixture.until_texts(&["one", "one, two"]).await;
    let before = answers(&fixture.view().await);
    // An edit of the first message.
    fixture.say_as("u1", "other").await;
    fixture.until_texts(&["other"]).await;
    let edited = answers(&fixture.view().await);

    let view = select(&fixture, &before[0].0).await.unwrap();
    assert_eq!(answers(&view), before);
    assert_eq!(view.status, Status::Finished);
    assert_eq!(answers(&fixture.view().await), before);
    // Once more changes nothing, and is in no journal; nor is a message of the branch that is there.
    select(&fixture, &before[0].0).await.unwrap();
    select(&fixture, "u2").await.unwrap();
    assert_eq!(fixture.count(is_selected).await, 1);
    let engine = &fixture.engine;
    let branches = engine.branches(&fixture.ann, &fixture.chat).await.unwrap();
    assert_eq!(branches.len(), 1);
    assert_eq!(branches[0].messages[1].text(), "other");

    // What is said next follows the branch, also for a server that reads the journal.
    let fixture = fixture.restarted();
    fixture.say_as("u3", "three").await;
    fixture
        .until_texts(&["one", "one, two", "one, two, three"])
        .await;
    let view = select(&fixture, &edited[0].0).await.unwrap();
    assert_eq!(answers(&view), edited);
    // By the user's message as well, which both branches have.
    let view = select(&fixture, "u1").await.unwrap();
    assert_eq!(answers(&view)[..2], before);
}

#[tokio::test]
async fn branch_is_not_selected_while_a_turn_is_open() {
    let tools = Tools::new().with(super::pay(&Default::default()).ask(|_| "Pay?".to_owned()));
    let fixture = Fixture::new(tools, |request| match request.history.last() {
        Some(HistoryItem::Message(message)) if message.text() == "pay" => {
            vec![call("pay", json!({"amount": 5}))]
        }
        _ => vec![text("Well.")],
    });
    fixture.say_as("u1", "one").await;
    fixture.until_texts(&["Well."]).await;
    let first = answers(&fixture.view().await);
    fixture.say_as("u1", "pay").await;
    fixture.until(Status::Parked).await;
    let refused = select(&fixture, &first[0].0).await.unwrap_err();
    assert_eq!(refused.code(), "turn_open");
    // The cut-off turn answers the same message of the user.
    select(&fixture, "u1").await.unwrap_err();
    fixture
        .engine
        .stop(&fixture.ann, &fixture.chat)
        .await
        .unwrap();
    select(&fixture, &first[0].0).await.unwrap();
    assert_eq!(fixture.count(is_selected).await, 1);
}

#[tokio::test]
async fn branch_is_selected_by_the_owner_alone() {
    let fixture = listener();
    fixture.say_as("u1", "one").await;
    fixture.until_texts(&["one"]).await;
    let engine = &fixture.engine;
    let bob = Principal::from("bob");
    let foreign = engine.select_branch(&bob, &fixture.chat, "u1").await;
    assert!(matches!(foreign, Err(EngineError::UnknownChat)));
    let unknown = select(&fixture, "no-such-message").await.unwrap_err();
    assert_eq!(unknown.code(), "unknown_message");
}
