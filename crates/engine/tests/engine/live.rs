//! An agent that holds its conversation open: what it says after its step, what only connected
//! clients get, what it notes for a restart, and that it is dropped with its chat.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use adk_stream_engine::Request;
use adk_stream_engine::{Dialect, Engine, Tools, WindowStream, tool};
use agents::{Agent, AgentStream, AudioInput, Conversation};
use serde_json::{Value, json};
use store::{Journal, Location};
use tokio::sync::mpsc;
use turn::agent::{AgentEvent, Asking, HistoryItem, StepRequest};
use turn::call::{Outcome, Place};
use turn::event::Finish;
use turn::gate::Decision;
use turn::{ChatId, Event, Principal, Status};
use wire::{Chunk, Message, Part, Profile, Role, Trigger};

use crate::fixture::{call, text};

/// What the test has the agent say, step by step, and what the agent received.
#[derive(Default)]
struct Stage {
    steps: Mutex<VecDeque<mpsc::UnboundedReceiver<AgentEvent>>>,
    asked: Mutex<Vec<StepRequest>>,
    audio: Mutex<Vec<AudioInput>>,
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

    fn supports_audio(&self) -> bool {
        true
    }

    fn converse(&self, _: &ChatId) -> Option<Box<dyn Conversation>> {
        self.0.open.fetch_add(1, Ordering::SeqCst);
        Some(Box::new(ScriptedConversation(self.0.clone())))
    }
}

struct ScriptedConversation(Arc<Stage>);

impl Conversation for ScriptedConversation {
    fn step(&mut self, request: StepRequest) -> AgentStream {
        self.0.asked.lock().unwrap().push(request);
        let next = self.0.steps.lock().unwrap().pop_front();
        Box::pin(ScriptedStream(
            next.unwrap_or_else(|| mpsc::unbounded_channel().1),
        ))
    }

    fn push_audio(&mut self, audio: AudioInput) {
        self.0.audio.lock().unwrap().push(audio);
    }
}

impl Drop for ScriptedConversation {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

struct ScriptedStream(mpsc::UnboundedReceiver<AgentEvent>);

impl futures_core::Stream for ScriptedStream {
    type Item = AgentEvent;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<AgentEvent>> {
        self.0.poll_recv(context)
    }
}

struct Fixture {
    stage: Arc<Stage>,
    journal: Arc<dyn Journal>,
    engine: Engine,
    ann: Principal,
    chat: ChatId,
}

async fn fixture() -> Fixture {
    let stage = Arc::new(Stage::default());
    let journal = store::open(Location::Memory).await.unwrap().journal;
    over(stage, journal)
}

fn over(stage: Arc<Stage>, journal: Arc<dyn Journal>) -> Fixture {
    let pay = tool("pay", "Pays", async |_, _: Value| Ok("paid"));
    let tools = Tools::new().with(pay.ask(|_| "Pay?".to_owned()));
    let engine = Engine::builder(journal.clone(), Arc::new(Live(stage.clone())), tools);
    Fixture {
        stage,
        journal,
        engine: engine.idle(Duration::from_millis(20)).build(),
        ann: Principal::from("ann"),
        chat: ChatId::from("chat-1"),
    }
}

impl Fixture {
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
        let dialect = Dialect::Sdk(Profile::Shared);
        self.engine.send(&self.ann, request, dialect).await.unwrap()
    }

    async fn status(&self) -> Status {
        let view = self.engine.view(&self.ann, &self.chat).await;
        view.unwrap().status
    }

    async fn until(&self, holds: impl AsyncFn(&Fixture) -> bool) {
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
    let fixture = fixture().await;
    let first = fixture.stage.next_step();
    let second = fixture.stage.next_step();
    first.send(payment("p1")).unwrap();
    first.send(ENDED).unwrap();
    rest(fixture.say("pay").await).await;
    assert_eq!(fixture.status().await, Status::Parked);

    first.send(taken_back("p1")).unwrap();
    fixture.asked(2).await;
    let asked = fixture.stage.last_asked().history;
    let Some(HistoryItem::Step { results, .. }) = asked.last() else {
        panic!("{asked:?}")
    };
    let error = "The model took the call back.".to_owned();
    assert_eq!(results[0].outcome, Outcome::Error { error });
    assert!(
        fixture
            .engine
            .approvals(&fixture.ann)
            .await
            .unwrap()
            .is_empty()
    );

    second.send(text("Never mind.")).unwrap();
    second.send(ENDED).unwrap();
    fixture
        .until(async |fixture| fixture.status().await == Status::Finished)
        .await;
}

#[tokio::test]
async fn call_that_is_taken_back_within_its_step_is_never_asked_about() {
    let fixture = fixture().await;
    let first = fixture.stage.next_step();
    fixture.stage.next_step();
    for event in [payment("p1"), payment("p2"), taken_back("p1"), ENDED] {
        first.send(event).unwrap();
    }
    rest(fixture.say("pay twice").await).await;
    let waiting = fixture.engine.approvals(&fixture.ann).await.unwrap();
    let ids = waiting.iter().map(|open| open.call.provider_id.as_deref());
    assert_eq!(ids.collect::<Vec<_>>(), [Some("p2")]);
}

#[tokio::test]
async fn signals_reach_those_who_watch_and_nobody_later() {
    let fixture = fixture().await;
    let step = fixture.stage.next_step();
    let mut window = fixture.say("sing").await;
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
    let view = fixture
        .engine
        .view(&fixture.ann, &fixture.chat)
        .await
        .unwrap();
    let parts = &view.messages[1].parts;
    assert!(parts.iter().all(|part| !matches!(part, Part::Data(_))));
}

#[tokio::test]
async fn notes_of_the_agent_are_journaled_and_sent_to_the_next_process() {
    let fixture = fixture().await;
    let step = fixture.stage.next_step();
    step.send(AgentEvent::Session(json!({"handle": 1})))
        .unwrap();
    step.send(payment("p1")).unwrap();
    step.send(ENDED).unwrap();
    rest(fixture.say("pay").await).await;
    step.send(AgentEvent::Session(json!({"handle": 2})))
        .unwrap();
    let noted = async |fixture: &Fixture| {
        let entries = fixture.journal.read(&fixture.chat, 0).await.unwrap();
        let events = entries.into_iter().flat_map(|entry| entry.events);
        let noted = events.filter_map(|event| match event {
            Event::SessionNoted { session, .. } => Some(session["handle"].clone()),
            _ => None,
        });
        noted.collect::<Vec<_>>() == [1, 2]
    };
    fixture.until(noted).await;

    let restarted = over(Arc::new(Stage::default()), fixture.journal.clone());
    let gate = restarted.engine.approvals(&fixture.ann).await.unwrap()[0]
        .gate
        .id
        .clone();
    let yes = Decision::Approved {
        reason: None,
        input: None,
    };
    restarted
        .engine
        .answer(&fixture.ann, &gate, yes)
        .await
        .unwrap();
    restarted.asked(1).await;
    let asked = restarted.stage.last_asked();
    assert_eq!(asked.session, Some(json!({"handle": 2})));
}

#[tokio::test]
async fn note_of_the_agent_after_its_turn_gives_no_page_anything_to_resume() {
    let fixture = fixture().await;
    let step = fixture.stage.next_step();
    step.send(text("Hi.")).unwrap();
    step.send(ENDED).unwrap();
    rest(fixture.say("hi").await).await;
    let seen = fixture.engine.view(&fixture.ann, &fixture.chat).await;
    let seen = seen.unwrap().seq;
    step.send(AgentEvent::Session(json!({"handle": 1})))
        .unwrap();
    let mut tail = fixture.journal.tail(&fixture.chat, seen);
    tail.next().await.unwrap();

    let dialect = Dialect::Sdk(Profile::Shared);
    let resume = |after| {
        let engine = &fixture.engine;
        engine.resume_after(&fixture.ann, &fixture.chat, dialect, Some(after))
    };
    assert!(resume(seen).await.unwrap().is_none());
    assert!(resume(seen - 1).await.unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn conversation_is_evicted_with_its_chat_unless_somebody_is_there() {
    let fixture = fixture().await;
    let somebody = fixture.engine.register_viewer(&fixture.chat);
    let step = fixture.stage.next_step();
    step.send(ENDED).unwrap();
    rest(fixture.say("hi").await).await;

    // The stream of the step is listened to as long as the conversation lasts.
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(fixture.stage.open.load(Ordering::SeqCst), 1);
    drop(somebody);
    step.closed().await;
    while fixture.stage.open.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn speech_goes_to_the_conversation_and_refused_by_an_agent_without_audio_input() {
    let fixture = fixture().await;
    let _step = fixture.stage.next_step();
    let _window = fixture.say("listen").await;
    let sound = AudioInput::Sound {
        pcm: vec![1, 2],
        sample_rate: 16_000,
    };
    for audio in [sound.clone(), AudioInput::End] {
        let pushed = fixture
            .engine
            .push_audio(&fixture.ann, &fixture.chat, audio)
            .await;
        pushed.unwrap();
    }
    assert_eq!(
        *fixture.stage.audio.lock().unwrap(),
        [sound, AudioInput::End]
    );
    let eve = Principal::from("eve");
    let refused = fixture
        .engine
        .push_audio(&eve, &fixture.chat, AudioInput::End)
        .await;
    assert_eq!(refused.unwrap_err().code(), "unknown_chat");

    let silent = Engine::builder(
        fixture.journal.clone(),
        Arc::new(demo::Demo::new()),
        Tools::new(),
    )
    .build();
    let refused = silent
        .push_audio(&fixture.ann, &fixture.chat, AudioInput::End)
        .await;
    assert_eq!(refused.unwrap_err().code(), "audio_unsupported");
}

/// A call of the agent's own, and its question about it.
fn own_question(nth: usize) -> AgentEvent {
    AgentEvent::Asks {
        provider_id: "own".to_owned(),
        asking: Asking {
            question: format!("Book? ({nth})"),
            token: Some(json!(nth)),
            schema: None,
            expires: None,
        },
    }
}

#[tokio::test(start_paused = true)]
async fn chat_is_retired_though_its_step_ended_behind_a_question_that_was_asked_again() {
    let fixture = fixture().await;
    let (first, second) = (fixture.stage.next_step(), fixture.stage.next_step());
    let own_call = AgentEvent::OwnCall {
        provider_id: "own".to_owned(),
        tool: "book".to_owned(),
        input: json!({}),
        provider_metadata: None,
        place: Place::Agent,
        asks: None,
    };
    for event in [own_call, ENDED, own_question(1)] {
        first.send(event).unwrap();
    }
    rest(fixture.say("book").await).await;
    let asked = async || {
        let open = fixture.engine.approvals(&fixture.ann).await.unwrap();
        open.first().map(|open| open.gate.id.clone())
    };
    let gate = asked().await.unwrap();
    let yes = Decision::Approved {
        reason: None,
        input: None,
    };
    let answered = fixture.engine.answer(&fixture.ann, &gate, yes).await;
    assert!(answered.unwrap().agrees);
    fixture.asked(2).await;
    second.send(own_question(2)).unwrap();
    fixture.until(async |_| asked().await.is_some()).await;
    assert_eq!(fixture.stage.open.load(Ordering::SeqCst), 1);
    // By itself, when the question is stored: nothing is left to be done.
    second.send(ENDED).unwrap();
    let retired = async {
        while fixture.stage.open.load(Ordering::SeqCst) > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let retired = tokio::time::timeout(Duration::from_secs(3600), retired);
    retired.await.expect("the chat is kept for ever");
}
