//! An engine over a journal in memory, with an agent that follows a script.

use std::sync::Arc;

use adk_stream_engine::Request;
use adk_stream_engine::command::View;
use adk_stream_engine::{Dialect, Engine, EngineError, SendOptions, Tools, WindowStream};
use agents::{Agent, AgentStream};
use serde_json::Value;
use store::{Appended, Journal, Location, NewEntry};
use turn::agent::{AgentEvent, HistoryItem, StepRequest};
use turn::event::Finish;
use turn::gate::Decision;
use turn::queue::Placement;
use turn::{At, Chat, ChatId, Event, Principal, Status};
use wire::{Message, Part, Profile, Role, Trigger};

pub(crate) type Script = Arc<dyn Fn(&StepRequest) -> Vec<AgentEvent> + Send + Sync>;

/// Says what its script says, all at once.
pub(crate) struct Scripted(pub(crate) Script);

impl Agent for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        let events = (self.0)(&request).into_iter();
        Box::pin(CompactEvent(events))
    }

    fn takes_injections(&self) -> bool {
        true
    }
}

struct CompactEvent(std::vec::IntoIter<AgentEvent>);

impl futures_core::Stream for CompactEvent {
    type Item = AgentEvent;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<AgentEvent>> {
        std::task::Poll::Ready(self.0.next())
    }
}

pub(crate) struct Fixture {
    pub(crate) engine: Engine,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) ann: Principal,
    pub(crate) chat: ChatId,
    tools: Tools,
    pub(crate) script: Script,
}

pub(crate) fn text(text: &str) -> AgentEvent {
    AgentEvent::Text {
        delta: text.to_owned(),
        provider_metadata: None,
    }
}

pub(crate) fn call(tool: &str, input: Value) -> AgentEvent {
    AgentEvent::Call {
        provider_id: None,
        tool: tool.to_owned(),
        input,
        provider_metadata: None,
    }
}

/// How many steps the current turn has had.
pub(crate) fn results(request: &StepRequest) -> usize {
    let steps = request.history.iter().rev();
    steps
        .take_while(|past| matches!(past, HistoryItem::Step { .. }))
        .count()
}

impl Fixture {
    pub(crate) fn new(
        tools: Tools,
        script: impl Fn(&StepRequest) -> Vec<AgentEvent> + Send + Sync + 'static,
    ) -> Self {
        let ended = move |request: &StepRequest| {
            let mut events = script(request);
            events.push(AgentEvent::Ended(Finish::Stop));
            events
        };
        Self::over(tools, Arc::new(ended), memory())
    }

    pub(crate) fn cut_off_first(is_cut: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let script = move |_: &StepRequest| match is_cut() {
            true => vec![text("I was about")],
            false => vec![text("Here."), AgentEvent::Ended(Finish::Stop)],
        };
        Self::over(Tools::new(), Arc::new(script), memory())
    }

    pub(crate) fn over(tools: Tools, script: Script, journal: Arc<dyn Journal>) -> Self {
        let agent = Arc::new(Scripted(script.clone()));
        Self {
            engine: Engine::builder(journal.clone(), agent, tools.clone()).build(),
            journal,
            ann: Principal::from("ann"),
            chat: ChatId::from("chat-1"),
            tools,
            script,
        }
    }

    /// The same journal in another process.
    pub(crate) fn restarted(&self) -> Self {
        let journal = self.journal.clone();
        Self::over(self.tools.clone(), self.script.clone(), journal)
    }

    async fn send(&self, trigger: Trigger, messages: Vec<Message>) -> WindowStream {
        let request = Request {
            chat: self.chat.clone(),
            trigger,
            message_id: None,
            messages,
        };
        self.engine
            .send(&self.ann, request, Dialect::Sdk(Profile::Shared))
            .await
            .unwrap()
    }

    /// Sends a history as a page has it.
    pub(crate) async fn resend(&self, messages: Vec<Message>) -> WindowStream {
        self.send(Trigger::SubmitMessage, messages).await
    }

    pub(crate) async fn say(&self, words: &str) {
        self.say_as("user-1", words).await;
    }

    /// Says something in a message of this id.
    pub(crate) async fn say_as(&self, id: &str, words: &str) {
        let message = Message::new(id, Role::User, vec![Part::text(words)]);
        // The window is dropped: nobody need watch.
        self.send(Trigger::SubmitMessage, vec![message]).await;
    }

    /// Says something that waits while a turn is open.
    pub(crate) async fn say_and_wait(
        &self,
        id: &str,
        words: &str,
        placement: Placement,
    ) -> Result<WindowStream, EngineError> {
        let message = Message::new(id, Role::User, vec![Part::text(words)]);
        let request = Request {
            chat: self.chat.clone(),
            trigger: Trigger::SubmitMessage,
            message_id: None,
            messages: vec![message],
        };
        let options = SendOptions {
            while_running: Some(placement),
            ..SendOptions::default()
        };
        let dialect = Dialect::Sdk(Profile::Shared);
        let sent = self.engine.send_with(&self.ann, request, options, dialect);
        sent.await
    }

    /// Another server writes to the journal, so that the next append of the chat's actor conflicts.
    pub(crate) async fn intrude(&self) {
        let entries = self.journal.read(&self.chat, 0).await.unwrap();
        let seq = entries.last().unwrap().seq;
        let chat = Chat::replay(&entries);
        let turn = chat.current().unwrap().id().clone();
        let session = Value::Null;
        let entry = NewEntry {
            at: At(1),
            epoch: 0,
            actor: "somebody else".into(),
            events: vec![Event::SessionNoted { turn, session }],
            open: chat.open_turn(),
        };
        let appended = self.journal.append(&self.chat, seq, entry).await;
        assert_eq!(appended, Ok(Appended::Ok { seq: seq + 1 }));
    }

    /// Waits for an event, without a look at the chat, which would wake it.
    pub(crate) async fn until_event(&self, is_it: impl Fn(&Event) -> bool) {
        let mut tail = self.journal.tail(&self.chat, 0);
        loop {
            let entry = tail.next().await.unwrap().unwrap();
            if entry.events.iter().any(&is_it) {
                return;
            }
        }
    }

    /// How many events there are of a kind.
    pub(crate) async fn count(&self, is_it: impl Fn(&Event) -> bool) -> usize {
        let entries = self.journal.read(&self.chat, 0).await.unwrap();
        let events = entries.iter().flat_map(|entry| &entry.events);
        events.filter(|event| is_it(event)).count()
    }

    pub(crate) async fn regenerate(&self) {
        let mut messages = self
            .engine
            .view(&self.ann, &self.chat)
            .await
            .unwrap()
            .messages;
        messages.truncate(1);
        self.send(Trigger::RegenerateMessage, messages).await;
    }

    /// Waits until the turn stands so, looking again at every entry of the journal.
    pub(crate) async fn until(&self, status: Status) {
        self.wait(async || self.view().await.status == status).await;
    }

    pub(crate) async fn until_texts(&self, texts: &[&str]) {
        self.wait(async || {
            let messages = self.view().await.messages;
            let said = messages
                .iter()
                .filter(|message| message.role == Role::Assistant);
            said.map(Message::text)
                .eq(texts.iter().copied().map(str::to_owned))
        })
        .await;
    }

    async fn wait(&self, holds: impl AsyncFn() -> bool) {
        let mut tail = self.journal.tail(&self.chat, 0);
        while !holds().await {
            tail.next().await.unwrap();
        }
    }

    pub(crate) async fn view(&self) -> View {
        self.engine.view(&self.ann, &self.chat).await.unwrap()
    }

    pub(crate) async fn answer_next(&self, decision: Decision) {
        let waiting = self.engine.approvals(&self.ann).await.unwrap();
        let gate = waiting[0].gate.id.clone();
        self.engine
            .answer(&self.ann, &gate, decision)
            .await
            .unwrap();
    }

    /// The page gives the output of a tool, as a stock client sends it.
    pub(crate) async fn output(&self, tool: &str, output: Value) {
        let mut messages = self
            .engine
            .view(&self.ann, &self.chat)
            .await
            .unwrap()
            .messages;
        for part in messages.iter_mut().flat_map(|message| &mut message.parts) {
            if let Part::Tool(part) = part
                && part.tool_name == tool
            {
                part.state = wire::ToolState::OutputAvailable;
                part.output = Some(output.clone());
            }
        }
        self.send(Trigger::SubmitMessage, messages).await;
    }

    /// The states of all calls, in order.
    pub(crate) async fn states(&self) -> Vec<&'static str> {
        let messages = self
            .engine
            .view(&self.ann, &self.chat)
            .await
            .unwrap()
            .messages;
        let parts = messages.iter().flat_map(|message| &message.parts);
        let calls = parts.filter_map(Part::as_tool);
        calls.map(|part| part.state.as_str()).collect()
    }
}

pub(crate) fn memory() -> Arc<dyn Journal> {
    let opened = store::open(Location::Memory);
    // A store in memory opens at once.
    let mut opened = std::pin::pin!(opened);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match opened.as_mut().poll(&mut context) {
        std::task::Poll::Ready(stores) => stores.unwrap().journal,
        std::task::Poll::Pending => panic!("a store in memory takes its time"),
    }
}
