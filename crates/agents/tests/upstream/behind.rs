//! A chat whose agent runs elsewhere, as the engine drives it: it asks the agent whenever the turn says so.

use std::future::poll_fn;
use std::time::Duration;

use adk_stream_agents::{Agent, AgentStream, Conversation};
use serde_json::Value;
use testkit::view::ShownChat;
use tokio::time::timeout;
use turn::agent::{AgentEvent, StepRequest, ToolDeclaration};
use turn::call::{Call, Outcome, Place};
use turn::event::{End, Entry};
use turn::gate::{Decision, Gate};
use turn::input::{Effect, Ids};
use turn::message::{self, Message};
use turn::policy::{PolicyDecision, Verdict};
use turn::{At, ChatId, Input, Principal, Status};

/// Longer than anything takes that is waited for.
const DEADLINE: Duration = Duration::from_secs(30);

/// A chat whose agent runs elsewhere.
pub(crate) struct Behind {
    agent: Box<dyn Agent>,
    conversation: Box<dyn Conversation>,
    pub(crate) chat: ShownChat,
    entries: Vec<Entry>,
    turns: usize,
    is_agent_due: bool,
    /// The metadata of the next message.
    pub(crate) metadata: Option<Value>,
    /// The tools that the agent is offered: a page runs them, once a person has said yes.
    pub(crate) tools: Vec<ToolDeclaration>,
}

impl Behind {
    pub(crate) fn new(agent: impl Agent) -> Self {
        Self {
            conversation: agent.converse(&ChatId::from("chat")).unwrap(),
            agent: Box::new(agent),
            chat: ShownChat::default(),
            entries: Vec::new(),
            turns: 0,
            is_agent_due: false,
            metadata: None,
            tools: Vec::new(),
        }
    }

    /// Says something, and waits until the turn is over or parked.
    pub(crate) async fn say(&mut self, prompt: &str) {
        self.begin(prompt);
        self.run().await;
    }

    /// Says something. The agent is not asked yet.
    pub(crate) fn begin(&mut self, prompt: &str) {
        self.turns += 1;
        let id = format!("user-{}", self.turns);
        let mut message = Message::new(id, vec![message::Part::text(prompt)]);
        message.metadata = self.metadata.take();
        self.perform(Input::Message {
            message,
            principal: Principal::from("ann"),
            after: self.chat.current().map(|turn| turn.id().clone()),
            page_tools: Vec::new(),
            request: None,
            ids: Ids {
                turn: format!("t{}", self.turns).as_str().into(),
                message: format!("m{}", self.turns),
            },
        });
    }

    /// Decides on the first open gate. The agent is not asked yet.
    pub(crate) fn decide(&mut self, decision: Decision) {
        let gate = self.gates()[0].id.clone();
        self.perform(Input::Answer { gate, decision });
    }

    /// Decides on the first open gate, and waits until the turn is over or parked.
    pub(crate) async fn answer(&mut self, decision: Decision) {
        self.decide(decision);
        self.run().await;
    }

    /// Asks the agent for as long as the turn wants it.
    pub(crate) async fn run(&mut self) {
        while std::mem::take(&mut self.is_agent_due) {
            let mut stream = self.stream();
            loop {
                let event = timeout(DEADLINE, next(&mut stream)).await;
                let Some(event) = event.expect("the agent says something") else {
                    self.perform(Input::AgentCut);
                    break;
                };
                self.push(event);
                if self.is_agent_due {
                    break;
                }
            }
        }
    }

    /// The agent's stream, now that it is asked.
    pub(crate) fn stream(&mut self) -> AgentStream {
        let turn = self.chat.current().unwrap();
        let request = StepRequest {
            chat: ChatId::from("chat"),
            turn: turn.id().clone(),
            principal: Principal::from("ann"),
            history: self.chat.history().into(),
            tools: self.tools.clone(),
            session: self.chat.session().cloned(),
            own: turn.own_calls(),
            is_again: turn.is_asked_again(),
            trace: turn.step_trace(),
        };
        self.conversation.step(request)
    }

    pub(crate) fn push(&mut self, event: AgentEvent) {
        let policy = matches!(event, AgentEvent::Call { .. }).then(|| PolicyDecision {
            place: Place::Client,
            verdict: Verdict::Ask {
                question: "May it?".to_owned(),
            },
            timeout: None,
        });
        self.perform(Input::Agent { event, policy });
    }

    fn perform(&mut self, input: Input) {
        let seq = self.entries.len() as u64 + 1;
        let (at, actor) = (At(seq), Principal::from("ann"));
        let output = self.chat.handle(input, at);
        if output.effects.contains(&Effect::CallModel) {
            self.is_agent_due = true;
        }
        if !output.append.is_empty() {
            self.entries.push(Entry {
                seq,
                at,
                actor: actor.into(),
                events: output.append,
            });
            self.chat.appended(seq);
        }
    }

    /// Another server takes the chat over, with what the journal has. The agent is not asked yet.
    pub(crate) fn crash(&mut self) {
        let text = serde_json::to_string(&self.entries).unwrap();
        self.entries = serde_json::from_str(&text).unwrap();
        self.chat = ShownChat::replay(&self.entries);
        self.conversation = self.agent.converse(&ChatId::from("chat")).unwrap();
        self.is_agent_due = false;
        self.perform(Input::Recover {
            here: Vec::new(),
            idempotent: Vec::new(),
            by: Some("other".to_owned()),
        });
    }

    pub(crate) fn status(&self) -> Status {
        self.chat.status().unwrap()
    }

    /// The code with which the turn failed.
    pub(crate) fn failure(&self) -> (String, String) {
        match self.chat.current().unwrap().end() {
            Some(End::Failed { code, message, .. }) => (code.clone(), message.clone()),
            other => panic!("not a failure: {other:?}"),
        }
    }

    pub(crate) fn gates(&self) -> Vec<Gate> {
        let turn = self.chat.current().unwrap();
        turn.open_gates().cloned().collect()
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        let turn = self.chat.current().unwrap();
        turn.calls().cloned().collect()
    }

    /// What became of the calls of the turn.
    pub(crate) fn outcomes(&self) -> Vec<Option<Outcome>> {
        let turn = self.chat.current().unwrap();
        let calls = turn.calls();
        calls.map(|call| turn.outcome(&call.id).cloned()).collect()
    }

    /// The chat as pages get it.
    pub(crate) fn messages(&self) -> Value {
        serde_json::to_value(self.chat.messages()).unwrap()
    }
}

pub(crate) fn approved() -> Decision {
    Decision::Approved {
        reason: None,
        input: None,
    }
}

pub(crate) fn denied(reason: &str) -> Decision {
    let reason = Some(reason.to_owned());
    Decision::Denied { reason }
}

/// The next event of a stream.
pub(crate) async fn next(stream: &mut AgentStream) -> Option<AgentEvent> {
    poll_fn(|context| stream.as_mut().poll_next(context)).await
}
