//! The live agent on the emulator: what it sends to a session, and how it replaces one that is lost.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use adk_stream_emulator::{Command, Emulator, Happening, Script};
use agents::gemini::{Key, Retries, Timeouts};
use agents::gemini_live::{Config, Modality};
use agents::{Agent, AgentStream, AudioInput, Conversation, GeminiLive};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use turn::agent::{
    AgentEvent, Behavior, CallResult, HistoryItem, Part, StepRequest, ToolDeclaration,
};
use turn::call::{Call, Outcome, Place};
use turn::event::Finish;
use turn::message::{self, Message};
use turn::{CallId, ChatId, Principal, TurnId};

/// Answers with all that it got, and takes its time between words.
struct Parrot {
    pace: Duration,
}

impl Agent for Parrot {
    fn name(&self) -> &str {
        "parrot"
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        let pace = self.pace;
        let items: Vec<_> = request.history.iter().map(summary).collect();
        let said = format!("I got: {}", items.join(" / "));
        let words: Vec<_> = said.split_inclusive(' ').map(str::to_owned).collect();
        let words = futures_util::stream::iter(words).then(move |delta| async move {
            tokio::time::sleep(pace).await;
            AgentEvent::Text {
                delta,
                provider_metadata: None,
            }
        });
        let end = futures_util::stream::iter([AgentEvent::Ended(Finish::Stop)]);
        Box::pin(words.chain(end))
    }
}

/// What it got, in short; of its own output, only that there was some.
fn summary(past: &HistoryItem) -> String {
    match past {
        HistoryItem::Message(message) => message.text(),
        HistoryItem::Result { .. } => "late".to_owned(),
        HistoryItem::Step { results, .. } => match results.first().map(|result| &result.outcome) {
            None => "…".to_owned(),
            Some(Outcome::Output { output }) => format!("→{output}"),
            Some(_) => "→?".to_owned(),
        },
    }
}

fn live(emulator: &Emulator, behavior: Option<Behavior>) -> Box<dyn Conversation> {
    let mut config = Config::new(Key::new("a-key").unwrap());
    config.common.base_url = emulator.url();
    config.common.retries = Retries {
        first: Duration::from_millis(1),
        ..Retries::default()
    };
    config.common.timeouts = Timeouts {
        first_byte: Duration::from_secs(20),
        idle: Duration::from_secs(20),
        ..Timeouts::default()
    };
    config.modality = Modality::Text;
    config.behavior = behavior;
    let agent = GeminiLive::new(config).unwrap();
    agent.converse(&ChatId::from("chat")).unwrap()
}

async fn parrot(pace: u64) -> Emulator {
    let pace = Duration::from_millis(pace);
    let parrot = Arc::new(Parrot { pace });
    Emulator::builder().agent(parrot).start().await.unwrap()
}

fn script(emulator: &Emulator, rules: &Value) {
    let script = Script::from_json(&json!({ "rules": rules }).to_string());
    emulator.set_script(script.unwrap()).unwrap();
}

fn message(text: &str) -> HistoryItem {
    let part = message::Part::text(text);
    HistoryItem::Message(Message::new(text, vec![part]))
}

fn speech() -> HistoryItem {
    let part = message::Part::Data {
        name: message::SPEECH.to_owned(),
        fields: serde_json::Map::new(),
    };
    HistoryItem::Message(Message::new("speech", vec![part]))
}

fn said(text: &str) -> HistoryItem {
    HistoryItem::Step {
        parts: vec![Part::Text {
            text: text.to_owned(),
            provider_metadata: None,
        }],
        results: Vec::new(),
    }
}

/// A step of one call, which brought this.
fn called(id: &str, output: Value) -> HistoryItem {
    let call = Call {
        id: CallId::of(&TurnId::from("t"), 0),
        provider_id: Some(id.to_owned()),
        tool: "pay".to_owned(),
        input: json!({}),
        place: Place::Server,
        parent: None,
        provider_metadata: None,
    };
    let result = CallResult {
        call: call.clone(),
        edited_input: None,
        outcome: Outcome::Output { output },
    };
    HistoryItem::Step {
        parts: vec![Part::Call {
            call,
            held: false,
            open: false,
        }],
        results: vec![result],
    }
}

fn request(history: &[HistoryItem], session: Option<Value>) -> StepRequest {
    StepRequest {
        chat: ChatId::from("chat"),
        turn: TurnId::from("turn"),
        principal: Principal::from("ann"),
        history: history.to_vec().into(),
        tools: vec![ToolDeclaration {
            name: "pay".to_owned(),
            description: "Pays.".to_owned(),
            input_schema: json!({"type": "object"}),
            behavior: Behavior::Blocking,
        }],
        session,
        own: Vec::new(),
        is_again: false,
        trace: None,
    }
}

/// What a step said, and how it ended.
#[derive(Debug, Default)]
struct Rendered {
    text: String,
    calls: Vec<String>,
    session: Value,
    failed: Option<&'static str>,
}

impl Rendered {
    fn take(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::Text { delta, .. } => self.text.push_str(&delta),
            AgentEvent::Call { provider_id, .. } => self.calls.extend(provider_id),
            AgentEvent::Session(session) => self.session = session,
            AgentEvent::Failed { code, .. } => self.failed = Some(code),
            _ => {}
        }
    }
}

/// Listens to a step to its end.
async fn read(stream: &mut AgentStream) -> Rendered {
    let mut answer = Rendered::default();
    let reading = async {
        while let Some(event) = stream.next().await {
            let is_over = matches!(event, AgentEvent::Ended(_) | AgentEvent::Failed { .. });
            answer.take(event);
            if is_over {
                break;
            }
        }
    };
    let time_limit = Duration::from_secs(15);
    let done = tokio::time::timeout(time_limit, reading).await;
    done.expect("the step never ended");
    answer
}

/// Listens on until the session can be resumed.
async fn rest(stream: &mut AgentStream) -> Value {
    let time_limit = Duration::from_secs(15);
    let rested = async {
        loop {
            if let Some(AgentEvent::Session(session)) = stream.next().await
                && session.get("handle").is_some()
            {
                return session;
            }
        }
    };
    tokio::time::timeout(time_limit, rested)
        .await
        .expect("no handle came")
}

/// Listens until a word was said.
async fn until_it_speaks(stream: &mut AgentStream) {
    while let Some(event) = stream.next().await {
        if matches!(event, AgentEvent::Text { .. }) {
            return;
        }
    }
}

#[tokio::test]
async fn a_session_that_goes_away_is_resumed_where_it_ended() {
    let emulator = parrot(0).await;
    let mut conversation = live(&emulator, None);
    let mut history = vec![message("one")];
    let mut step = conversation.step(request(&history, None));
    let first = read(&mut step).await;
    rest(&mut step).await;
    history.extend([said(&first.text), message("two")]);
    script(
        &emulator,
        &json!([{"on": "answer", "times": 1, "goAway": {"timeLeftSeconds": 50, "after": 1}}]),
    );
    drop(step);
    let mut step = conversation.step(request(&history, None));
    let second = read(&mut step).await;
    assert_eq!(second.session["opened"], "kept");
    rest(&mut step).await;
    emulator.counted(|stats| stats.sockets_open == 0).await;
    drop(step);

    history.extend([said(&second.text), message("three")]);
    let mut step = conversation.step(request(&history, None));
    let third = read(&mut step).await;
    assert_eq!(third.session["opened"], "resumed");
    assert_eq!(third.text, "I got: one / … / two / … / three");
}

#[tokio::test]
async fn a_handle_from_before_the_last_answer_is_not_used() {
    let emulator = parrot(0).await;
    let mut conversation = live(&emulator, None);
    // The connection is lost with the last word, before a handle came that knows it.
    script(
        &emulator,
        &json!([{"on": "answer", "nth": 2, "respond": [
            {"serverContent": {"modelTurn": {"role": "model", "parts": [{"text": "Bye."}]}}},
            {"serverContent": {"turnComplete": true}},
        ], "cut": {"after": 2}}]),
    );
    let mut history = vec![message("one")];
    let mut step = conversation.step(request(&history, None));
    let first = read(&mut step).await;
    rest(&mut step).await;
    drop(step);
    history.extend([said(&first.text), message("two")]);
    let mut step = conversation.step(request(&history, None));
    let second = read(&mut step).await;
    assert_eq!(second.text, "Bye.");
    assert_eq!(second.session.get("handle"), None);
    emulator.counted(|stats| stats.sockets_open == 0).await;
    drop(step);

    history.extend([said("Bye."), message("three")]);
    let mut step = conversation.step(request(&history, None));
    let third = read(&mut step).await;
    assert_eq!(third.session["opened"], "seeded");
    assert_eq!(third.text, "I got: one / … / two / … / three");
}

#[tokio::test]
async fn a_connection_that_was_said_to_end_may_end_in_the_middle_of_a_text() {
    let emulator = parrot(20).await;
    let mut conversation = live(&emulator, None);
    let away = json!({"timeLeftSeconds": 1, "after": 1, "closeAfterMs": 10});
    script(
        &emulator,
        &json!([{"on": "answer", "times": 1, "goAway": away}]),
    );
    let history = vec![message("one two three four five six seven")];
    let answer = read(&mut conversation.step(request(&history, None))).await;
    assert_eq!(answer.failed, None);
    assert_eq!(answer.text, "I got: one two three four five six seven");
    assert_eq!(answer.session["opened"], "seeded");
}

#[tokio::test]
async fn a_text_that_is_cut_twice_is_shown_once() {
    let emulator = parrot(0).await;
    let mut conversation = live(&emulator, None);
    script(
        &emulator,
        &json!([
            {"on": "answer", "nth": 1, "cut": {"after": 5}},
            {"on": "answer", "nth": 2, "cut": {"after": 2}},
        ]),
    );
    let history = vec![message("one two three")];
    let answer = read(&mut conversation.step(request(&history, None))).await;
    assert_eq!(answer.text, "I got: one two three");
}

#[tokio::test]
async fn a_call_is_made_once_though_the_session_is_lost_after_it() {
    let emulator = parrot(0).await;
    let mut conversation = live(&emulator, Some(Behavior::NonBlocking));
    let call = json!({"toolCall": {"functionCalls": [{"id": "c1", "name": "pay", "args": {}}]}});
    script(
        &emulator,
        &json!([{"on": "answer", "respond": [call], "cut": {"after": 1}}]),
    );
    let mut history = vec![message("one")];
    let mut step = conversation.step(request(&history, None));
    let answer = read(&mut step).await;
    assert_eq!((answer.failed, answer.calls), (None, vec!["c1".to_owned()]));
    drop(step);

    script(&emulator, &json!([]));
    history.push(called("c1", json!("paid")));
    let answer = read(&mut conversation.step(request(&history, None))).await;
    assert_eq!(answer.session["opened"], "seeded");
    assert_eq!(answer.text, r#"I got: one / →"paid""#);
}

#[tokio::test]
async fn a_step_that_is_dropped_while_it_sends_leaves_nothing_out() {
    // Slow enough that the second message comes while the model is waited for.
    let emulator = parrot(200).await;
    let mut conversation = live(&emulator, None);
    let call = json!({"toolCall": {"functionCalls": [{"id": "c1", "name": "pay", "args": {}}]}});
    script(
        &emulator,
        &json!([{"on": "answer", "nth": 1, "respond": [call]}]),
    );
    let mut history = vec![message("one")];
    let mut step = conversation.step(request(&history, None));
    assert_eq!(read(&mut step).await.calls, ["c1"]);
    drop(step);
    // Typed over: the outcome of the call is sent, and then the message.
    history.extend([called("c1", json!("no")), message("two")]);
    let mut step = conversation.step(request(&history, None));
    let is_response = |happening: &Happening| matches!(happening, Happening::Received { data } if data.get("toolResponse").is_some());
    tokio::select! {
        _ = emulator.logged(|entry| is_response(&entry.happening)) => {}
        _ = step.next() => panic!("nothing was to be sent yet"),
    }
    drop(step);

    history.push(message("three"));
    let answer = read(&mut conversation.step(request(&history, None))).await;
    assert_eq!(answer.text, r#"I got: one / →"no" / two / three"#);
}

#[tokio::test]
async fn who_is_stopped_while_he_speaks_can_write() {
    let emulator = parrot(0).await;
    let mut conversation = live(&emulator, None);
    let history = vec![speech()];
    let mut step = conversation.step(request(&history, None));
    let sound = AudioInput::Sound {
        pcm: vec![1; 3_200],
        sample_rate: 16_000,
    };
    conversation.push_audio(sound);
    let is_sound = |happening: &Happening| matches!(happening, Happening::Received { data } if data.get("realtimeInput").is_some_and(|it| it.get("audio").is_some()));
    tokio::select! {
        _ = emulator.logged(|entry| is_sound(&entry.happening)) => {}
        event = step.next() => panic!("{event:?}"),
    }
    drop(step);

    let history = vec![speech(), message("two")];
    let answer = read(&mut conversation.step(request(&history, None))).await;
    assert_eq!(answer.failed, None);
    assert!(answer.text.ends_with("two"), "{}", answer.text);
}

#[tokio::test]
async fn a_microphone_that_is_closed_at_once_ends_the_step() {
    let emulator = parrot(0).await;
    let mut conversation = live(&emulator, None);
    let mut step = conversation.step(request(&[speech()], None));
    conversation.push_audio(AudioInput::End);
    let answer = read(&mut step).await;
    assert_eq!((answer.text.as_str(), answer.failed), ("", None));
    drop(step);
    let answer = read(&mut conversation.step(request(&[speech(), message("two")], None))).await;
    assert!(answer.text.ends_with("two"), "{}", answer.text);
}

#[tokio::test]
async fn an_abandoned_answer_makes_no_calls() {
    let emulator = parrot(5).await;
    let mut conversation = live(&emulator, None);
    let text =
        json!({"serverContent": {"modelTurn": {"role": "model", "parts": [{"text": "Hm."}]}}});
    let call = json!({"toolCall": {"functionCalls": [{"id": "c1", "name": "pay", "args": {}}]}});
    script(
        &emulator,
        &json!([{"on": "answer", "nth": 1, "respond": [text, call], "paceMs": 50}]),
    );
    let mut history = vec![message("one")];
    let mut step = conversation.step(request(&history, None));
    until_it_speaks(&mut step).await;
    drop(step);
    // The call is on its way, and the model waits for it.
    let is_call = |happening: &Happening| matches!(happening, Happening::Sent { data } if data.get("toolCall").is_some());
    emulator.logged(|entry| is_call(&entry.happening)).await;

    history.extend([said("Hm."), message("two")]);
    let answer = read(&mut conversation.step(request(&history, None))).await;
    assert_eq!(answer.calls, [""; 0]);
    assert!(answer.text.ends_with("two"), "{}", answer.text);
    let is_refusal = |happening: &Happening| match happening {
        Happening::Received { data } => {
            data["toolResponse"]["functionResponses"][0]["response"]["error"]
                == "The turn was stopped."
        }
        _ => false,
    };
    emulator.logged(|entry| is_refusal(&entry.happening)).await;
}

#[tokio::test]
async fn a_gate_keeps_the_session_that_goes_away_for_as_long_as_it_lasts() {
    let emulator = parrot(0).await;
    let mut conversation = live(&emulator, None);
    let call = json!({"toolCall": {"functionCalls": [{"id": "c1", "name": "pay", "args": {}}]}});
    script(
        &emulator,
        &json!([{"on": "answer", "nth": 1, "respond": [call]}]),
    );
    let mut history = vec![message("one")];
    let mut step = conversation.step(request(&history, None));
    assert_eq!(read(&mut step).await.calls, ["c1"]);
    let away = adk_stream_emulator::script::GoAway {
        time_left_seconds: 50,
        after: 0,
        close_after_ms: None,
    };
    assert_eq!(emulator.command(Command::GoAway(away)), 1);
    let is_away = |happening: &Happening| matches!(happening, Happening::Sent { data } if data.get("goAway").is_some());
    emulator.logged(|entry| is_away(&entry.happening)).await;
    drop(step);
    history.push(called("c1", json!("paid")));
    let mut step = conversation.step(request(&history, None));
    let answer = read(&mut step).await;
    assert_eq!(answer.session["opened"], "kept");
    assert_eq!(answer.text, r#"I got: one / →"paid""#);
    // Now there is a handle, and the connection is closed.
    rest(&mut step).await;
    tokio::select! {
        _ = emulator.counted(|stats| stats.sockets_open == 0) => {}
        event = step.next() => assert_eq!(event, None),
    }
}

#[tokio::test]
async fn a_session_is_resumed_in_another_process() {
    let emulator = parrot(0).await;
    let mut history = vec![message("one")];
    let session = {
        let mut conversation = live(&emulator, None);
        let mut step = conversation.step(request(&history, None));
        read(&mut step).await;
        rest(&mut step).await
    };
    emulator.counted(|stats| stats.sockets_open == 0).await;
    history.extend([said("…"), message("two")]);
    let mut conversation = live(&emulator, None);
    let answer = read(&mut conversation.step(request(&history, Some(session.clone())))).await;
    assert_eq!(answer.session["opened"], "resumed");
    assert_eq!(answer.text, "I got: one / … / two");

    script(
        &emulator,
        &json!([{"on": "connect", "times": 1, "refuseHandle": true}]),
    );
    let mut conversation = live(&emulator, None);
    let answer = read(&mut conversation.step(request(&history, Some(session)))).await;
    assert_eq!(answer.session["opened"], "seeded");
    assert_eq!(answer.text, "I got: one / … / two");
}
