//! An agent that holds its conversation open: what it says after its step, what only those who watch
//! are told, what it notes for a restart, and that it is let go with its chat.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use adk_stream_engine::engine::Request;
use adk_stream_engine::{Engine, Speech, Tools, WindowStream, tool};
use agents::{Agent, AgentStream, Conversation, Heard};
use serde_json::{Value, json};
use store::{Journal, Location};
use tokio::sync::mpsc;
use turn::agent::{AgentEvent, Past, StepRequest};
use turn::call::Outcome;
use turn::event::Finish;
use turn::{ChatId, Event, Principal, Status};
use wire::{Chunk, Message, Part, Profile, Role, Trigger};

use crate::house::{call, text};

/// What the test puts into the agent's mouth, step by step, and what the agent was told.
#[derive(Default)]
struct Stage {
    steps: Mutex<VecDeque<mpsc::UnboundedReceiver<AgentEvent>>>,
    asked: Mutex<Vec<StepRequest>>,
    heard: Mutex<Vec<Heard>>,
    open: AtomicUsize,
}

impl Stage {
    /// The next step says what is sent here.
    fn next_step(&self) -> mpsc::UnboundedSender<AgentEvent> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.steps.lock().unwrap().push_back(receiver);
        sender
    }

    fn last_asked(&self) -> StepRequest {
        self.asked.lock().unwrap().last().unwrap().clone()
    }
}

struct Live(Arc<Stage>);

impl Agent for Live {
    fn name(&self) -> &str {
        "live"
    }

    fn step(&self, _: StepRequest) -> AgentStream {
        panic!("steps are asked for in the conversation")
    }

    fn hears(&self) -> bool {
        true
    }

    fn converse(&self, _: &ChatId) -> Option<Box<dyn Conversation>> {
        self.0.open.fetch_add(1, Ordering::SeqCst);
        Some(Box::new(Talk(self.0.clone())))
    }
}

struct Talk(Arc<Stage>);

impl Conversation for Talk {
    fn step(&mut self, request: StepRequest) -> AgentStream {
        self.0.asked.lock().unwrap().push(request);
        let next = self.0.steps.lock().unwrap().pop_front();
        Box::pin(Told(next.unwrap_or_else(|| mpsc::unbounded_channel().1)))
    }

    fn hear(&mut self, heard: Heard) {
        self.0.heard.lock().unwrap().push(heard);
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Told(mpsc::UnboundedReceiver<AgentEvent>);

impl futures_core::Stream for Told {
    type Item = AgentEvent;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<AgentEvent>> {
        self.0.poll_recv(context)
    }
}

struct House {
    stage: Arc<Stage>,
    journal: Arc<dyn Journal>,
    engine: Engine,
    ann: Principal,
    chat: ChatId,
}

async fn house() -> House {
    let stage = Arc::new(Stage::default());
    let journal = store::open(Location::Memory).await.unwrap().journal;
    over(stage, journal)
}

fn over(stage: Arc<Stage>, journal: Arc<dyn Journal>) -> House {
    let pay = tool("pay", "Pays", async |_, _: Value| Ok("paid"));
    let tools = Tools::new().with(pay.ask(|_| "Pay?".to_owned()));
    let engine = Engine::builder(journal.clone(), Arc::new(Live(stage.clone())), tools);
    House {
        stage,
        journal,
        engine: engine.idle(Duration::from_millis(20)).build(),
        ann: Principal::from("ann"),
        chat: ChatId::from("chat-1"),
    }
}

impl House {
    async fn say(&self, words: &str) -> WindowStream {
        let message = Message::new(words, Role::User, vec![Part::text(words)]);
        let view = self.engine.view(&self.ann, &self.chat).await;
        let mut messages = view.map(|view| view.messages).unwrap_or_default();
        messages.push(message);
        let request = Request {
            chat: self.chat.clone(),
            trigger: Trigger::SubmitMessage,
            message_id: None,
            messages,
        };
        let speech = Speech::Sdk(Profile::Shared);
        self.engine.send(&self.ann, request, speech).await.unwrap()
    }

    async fn status(&self) -> Status {
        let view = self.engine.view(&self.ann, &self.chat).await;
        view.unwrap().status
    }

    async fn until(&self, holds: impl AsyncFn(&House) -> bool) {
        let mut tail = self.journal.tail(&self.chat, 0);
        while !holds(self).await {
            tail.next().await.unwrap();
        }
    }

    async fn asked(&self, steps: usize) {
        while self.stage.asked.lock().unwrap().len() < steps {
            tokio::task::yield_now().await;
        }
    }
}

fn taken_back(call: &str) -> AgentEvent {
    AgentEvent::Cancelled {
        provider_ids: vec![call.to_owned()],
    }
}

fn payment(id: &str) -> AgentEvent {
    let AgentEvent::Call { tool, input, .. } = call("pay", json!({})) else {
        unreachable!()
    };
    AgentEvent::Call {
        provider_id: Some(id.to_owned()),
        tool,
        input,
        provider_metadata: None,
    }
}

const ENDED: AgentEvent = AgentEvent::Ended(Finish::Stop);

async fn rest(mut window: WindowStream) -> Vec<Chunk> {
    let mut all = Vec::new();
    while let Some(chunks) = window.next().await {
        all.extend(chunks.iter().map(|chunk| Chunk::clone(chunk)));
    }
    all
}

#[tokio::test]
async fn call_that_the_model_takes_back_while_it_waits_ends_its_gate() {
    let house = house().await;
    let first = house.stage.next_step();
    let second = house.stage.next_step();
    first.send(payment("p1")).unwrap();
    first.send(ENDED).unwrap();
    rest(house.say("pay").await).await;
    assert_eq!(house.status().await, Status::Parked);

    first.send(taken_back("p1")).unwrap();
    house.asked(2).await;
    let asked = house.stage.last_asked().history;
    let Some(Past::Step { results, .. }) = asked.last() else {
        panic!("{asked:?}")
    };
    let error = "The model took the call back.".to_owned();
    assert_eq!(results[0].outcome, Outcome::Error { error });
    assert!(house.engine.approvals(&house.ann).await.unwrap().is_empty());

    second.send(text("Never mind.")).unwrap();
    second.send(ENDED).unwrap();
    house
        .until(async |house| house.status().await == Status::Finished)
        .await;
}

#[tokio::test]
async fn call_that_is_taken_back_within_its_step_is_never_asked_about() {
    let house = house().await;
    let first = house.stage.next_step();
    house.stage.next_step();
    for event in [payment("p1"), payment("p2"), taken_back("p1"), ENDED] {
        first.send(event).unwrap();
    }
    rest(house.say("pay twice").await).await;
    let waiting = house.engine.approvals(&house.ann).await.unwrap();
    let ids = waiting.iter().map(|open| open.call.provider_id.as_deref());
    assert_eq!(ids.collect::<Vec<_>>(), [Some("p2")]);
}

#[tokio::test]
async fn signals_reach_those_who_watch_and_nobody_later() {
    let house = house().await;
    let step = house.stage.next_step();
    let mut window = house.say("sing").await;
    let mut chunks = Vec::new();
    step.send(text("la")).unwrap();
    while !matches!(chunks.last(), Some(Chunk::TextDelta(_))) {
        let next = window.next().await.unwrap();
        chunks.extend(next.iter().map(|chunk| Chunk::clone(chunk)));
    }
    let (name, data) = ("pcm".to_owned(), json!({"content": "AAAA"}));
    step.send(AgentEvent::Signal { name, data }).unwrap();
    step.send(ENDED).unwrap();
    chunks.extend(rest(window).await);

    let kinds: Vec<_> = chunks.iter().map(Chunk::type_name).collect();
    assert_eq!(
        kinds,
        [
            "start",
            "start-step",
            "text-start",
            "text-delta",
            "data-pcm",
            "text-end",
            "finish-step",
            "finish"
        ]
    );
    let pcm = serde_json::to_value(&chunks[4]).unwrap();
    let data = json!({"content": "AAAA"});
    assert_eq!(
        pcm,
        json!({"type": "data-pcm", "data": data, "transient": true})
    );
    let view = house.engine.view(&house.ann, &house.chat).await.unwrap();
    let parts = &view.messages[1].parts;
    assert!(parts.iter().all(|part| !matches!(part, Part::Data(_))));
}

#[tokio::test]
async fn what_the_agent_notes_is_journaled_and_told_to_the_next_process() {
    let house = house().await;
    let step = house.stage.next_step();
    step.send(AgentEvent::Session(json!({"handle": 1})))
        .unwrap();
    step.send(payment("p1")).unwrap();
    step.send(ENDED).unwrap();
    rest(house.say("pay").await).await;
    step.send(AgentEvent::Session(json!({"handle": 2})))
        .unwrap();
    let noted = async |house: &House| {
        let entries = house.journal.read(&house.chat, 0).await.unwrap();
        let events = entries.into_iter().flat_map(|entry| entry.events);
        let noted = events.filter_map(|event| match event {
            Event::SessionNoted { session, .. } => Some(session["handle"].clone()),
            _ => None,
        });
        noted.collect::<Vec<_>>() == [1, 2]
    };
    house.until(noted).await;

    let restarted = over(Arc::new(Stage::default()), house.journal.clone());
    let gate = restarted.engine.approvals(&house.ann).await.unwrap()[0]
        .gate
        .id
        .clone();
    let yes = turn::gate::Decision::Approved {
        reason: None,
        input: None,
    };
    restarted
        .engine
        .answer(&house.ann, &gate, yes)
        .await
        .unwrap();
    restarted.asked(1).await;
    let asked = restarted.stage.last_asked();
    assert_eq!(asked.session, Some(json!({"handle": 2})));
}

#[tokio::test(start_paused = true)]
async fn conversation_is_let_go_with_its_chat_unless_somebody_is_there() {
    let house = house().await;
    let somebody = house.engine.attend(&house.chat);
    let step = house.stage.next_step();
    step.send(ENDED).unwrap();
    rest(house.say("hi").await).await;

    // The stream of the step is listened to as long as the conversation lasts.
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(house.stage.open.load(Ordering::SeqCst), 1);
    drop(somebody);
    step.closed().await;
    while house.stage.open.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn speech_is_heard_by_the_conversation_and_refused_by_an_agent_without_audio_input() {
    let house = house().await;
    let _step = house.stage.next_step();
    let _window = house.say("listen").await;
    let sound = Heard::Sound {
        pcm: vec![1, 2],
        sample_rate: 16_000,
    };
    for heard in [sound.clone(), Heard::End] {
        let heard = house.engine.hear(&house.ann, &house.chat, heard).await;
        heard.unwrap();
    }
    assert_eq!(*house.stage.heard.lock().unwrap(), [sound, Heard::End]);
    let eve = Principal::from("eve");
    let refused = house.engine.hear(&eve, &house.chat, Heard::End).await;
    assert_eq!(refused.unwrap_err().code(), "unknown_chat");

    let silent = Engine::builder(
        house.journal.clone(),
        Arc::new(demo::Demo::new()),
        Tools::new(),
    )
    .build();
    let refused = silent.hear(&house.ann, &house.chat, Heard::End).await;
    assert_eq!(refused.unwrap_err().code(), "audio_unsupported");
}
