//! A chat with a model through the real turn: the agent's output goes into the journal, and its next
//! request comes out of it.

use std::future::poll_fn;

use adk_stream_agents::{Agent, AgentStream};
use serde_json::{Value, json};
use testkit::view::{Line, ShownChat};
use turn::agent::{AgentEvent, Behavior, StepRequest, ToolDeclaration};
use turn::call::{Call, Outcome, Place};
use turn::event::Entry;
use turn::input::Ids;
use turn::message::{self, Message};
use turn::policy::{PolicyDecision, Verdict};
use turn::{At, CallId, ChatId, Input, Principal, TurnId};

/// A key that is nowhere to be found, but in one header.
pub(crate) const KEY: &str = "k3y-that-nobody-may-see";

/// A chat with a model.
pub(crate) struct Dialogue {
    agent: Box<dyn Agent>,
    pub(crate) chat: ShownChat,
    entries: Vec<Entry>,
    tools: Vec<ToolDeclaration>,
    turns: usize,
}

impl Dialogue {
    pub(crate) fn new(agent: impl Agent) -> Self {
        Self {
            agent: Box::new(agent),
            chat: ShownChat::default(),
            entries: Vec::new(),
            tools: Vec::new(),
            turns: 0,
        }
    }

    pub(crate) fn declare(&mut self, name: &str, input_schema: Value) {
        self.tools.push(ToolDeclaration {
            name: name.to_owned(),
            description: format!("Does {name}."),
            input_schema,
            behavior: Behavior::Blocking,
        });
    }

    pub(crate) fn say(&mut self, prompt: &str) {
        self.send(vec![message::Part::text(prompt)]);
    }

    pub(crate) fn send(&mut self, parts: Vec<message::Part>) {
        let id = format!("user-{}", self.turns + 1);
        let message = Message::new(id, parts);
        let input = Input::Message {
            message,
            principal: Principal::from("ann"),
            after: self.chat.current().map(|turn| turn.id().clone()),
            page_tools: Vec::new(),
            request: None,
            ids: self.ids(),
        };
        self.perform(input);
    }

    fn ids(&mut self) -> Ids {
        self.turns += 1;
        Ids {
            turn: format!("t{}", self.turns).as_str().into(),
            message: format!("m{}", self.turns),
        }
    }

    pub(crate) fn perform(&mut self, input: Input) {
        let seq = self.entries.len() as u64 + 1;
        let (at, actor) = (At(seq), Principal::from("ann"));
        let events = self.chat.handle(input, at).append;
        if !events.is_empty() {
            self.entries.push(Entry {
                seq,
                at,
                actor: actor.into(),
                events,
            });
            self.chat.appended(seq);
        }
    }

    /// The stream of the next step.
    pub(crate) fn stream(&self) -> AgentStream {
        self.agent.step(StepRequest {
            chat: ChatId::from("chat"),
            turn: TurnId::from("turn"),
            principal: Principal::from("ann"),
            history: self.chat.history().into(),
            tools: self.tools.clone(),
            session: None,
            own: Vec::new(),
            is_again: false,
            trace: None,
        })
    }

    /// Runs the next step, and takes what was said into the chat.
    pub(crate) async fn step(&mut self) -> Vec<AgentEvent> {
        let mut stream = self.stream();
        let mut events = Vec::new();
        while let Some(event) = next(&mut stream).await {
            events.push(event.clone());
            let policy = Some(PolicyDecision {
                place: Place::Server,
                verdict: Verdict::Allow,
                timeout: None,
            });
            self.perform(Input::Agent { event, policy });
        }
        events
    }

    /// The calls of the turn.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.chat.current().unwrap().calls().cloned().collect()
    }

    pub(crate) fn settle(&mut self, call: &CallId, outcome: Outcome) {
        let call = call.clone();
        self.perform(Input::ToolDone { call, outcome });
    }

    /// Settles the calls of the turn that are open, each with its number.
    pub(crate) fn settle_all(&mut self) {
        let turn = self.chat.current().unwrap();
        let open: Vec<_> = turn
            .calls()
            .enumerate()
            .filter(|(_, call)| turn.outcome(&call.id).is_none())
            .map(|(number, call)| (number, call.id.clone()))
            .collect();
        for (number, call) in open {
            let output = json!({"number": number});
            self.settle(&call, Outcome::Output { output });
        }
    }

    /// Brings the result of a long-running call.
    pub(crate) fn late(&mut self, call: &CallId, outcome: Outcome) {
        let (call, ids) = (call.clone(), self.ids());
        self.perform(Input::Result { call, outcome, ids });
    }

    /// The same chat in another process: read back from the journal, through its text.
    pub(crate) fn restart(&mut self) {
        let text = serde_json::to_string(&self.entries).unwrap();
        self.entries = serde_json::from_str(&text).unwrap();
        self.chat = ShownChat::replay(&self.entries);
    }

    /// Everything that a page gets of the chat, as text.
    pub(crate) fn shown(&self) -> String {
        let lines = self.chat.current_transcript().unwrap().lines();
        let chunks: Vec<_> = lines.iter().map(Line::chunk).collect();
        let messages = serde_json::to_string(&self.chat.messages()).unwrap();
        format!("{chunks:?} {messages}")
    }
}

/// The next event of a stream.
pub(crate) async fn next(stream: &mut AgentStream) -> Option<AgentEvent> {
    poll_fn(|context| stream.as_mut().poll_next(context)).await
}

/// The last thing that was said.
pub(crate) fn failure(events: &[AgentEvent]) -> (&'static str, String, Option<u64>) {
    match events.last() {
        Some(AgentEvent::Failed {
            code,
            message,
            retry_after_ms,
        }) => (code, message.clone(), *retry_after_ms),
        other => panic!("not a failure: {other:?}"),
    }
}
