//! A chat that is driven by hand, and its windows.

use adk_stream_view::{AgUiWindow, ShownChat};
use serde_json::{Value, json};
use turn::agent::AgentEvent;
use turn::call::{Outcome, Place};
use turn::event::Finish;
use turn::gate::Decision;
use turn::input::Ids;
use turn::policy::{PolicyDecision, Verdict};
use turn::{At, GateId, Input, Principal};

#[derive(Default)]
pub(crate) struct Chat {
    pub(crate) chat: ShownChat,
    entries: u64,
    turns: usize,
}

impl Chat {
    pub(crate) fn handle(&mut self, input: Input) {
        let output = self.chat.handle(input, At(1_000 + self.entries));
        if !output.append.is_empty() {
            self.entries += 1;
            self.chat.appended(self.entries);
        }
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.turns += 1;
        let id = format!("u{}", self.turns);
        let message = turn::Message::new(id, vec![turn::message::Part::text(text)]);
        self.handle(Input::Message {
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

    pub(crate) fn agent(&mut self, event: AgentEvent, policy: Option<PolicyDecision>) {
        self.handle(Input::Agent { event, policy });
    }

    pub(crate) fn text(&mut self, delta: &str) {
        let delta = delta.to_owned();
        let provider_metadata = None;
        self.agent(
            AgentEvent::Text {
                delta,
                provider_metadata,
            },
            None,
        );
    }

    pub(crate) fn reason(&mut self, delta: &str) {
        let delta = delta.to_owned();
        let provider_metadata = None;
        self.agent(
            AgentEvent::Reasoning {
                delta,
                provider_metadata,
            },
            None,
        );
    }

    pub(crate) fn call(&mut self, tool: &str, place: Place, verdict: Verdict) {
        let event = AgentEvent::Call {
            provider_id: None,
            tool: tool.to_owned(),
            input: json!({"n": 1}),
            provider_metadata: None,
        };
        let policy = PolicyDecision {
            place,
            verdict,
            timeout: None,
        };
        self.agent(event, Some(policy));
    }

    pub(crate) fn end_step(&mut self) {
        self.agent(AgentEvent::Ended(Finish::Stop), None);
    }

    pub(crate) fn answer(&mut self, nth: usize, decision: Decision) {
        let gate = GateId::of(self.chat.current().unwrap().id(), nth);
        self.handle(Input::Answer { gate, decision });
    }

    pub(crate) fn done(&mut self, nth: usize, output: Value) {
        let call = self.chat.current().unwrap().calls().nth(nth).unwrap();
        let call = call.id.clone();
        let outcome = Outcome::Output { output };
        self.handle(Input::ToolDone { call, outcome });
    }

    /// The tool of a call asks for data in the middle of its work.
    pub(crate) fn asks_for_data(&mut self, nth: usize, question: &str, schema: Value) {
        let call = self.chat.current().unwrap().calls().nth(nth).unwrap();
        let call = call.id.clone();
        self.handle(Input::ToolQuestion {
            call,
            question: question.to_owned(),
            schema,
            path: Vec::new(),
            timeout: None,
        });
    }

    pub(crate) fn window(&self) -> AgUiWindow {
        AgUiWindow::new(self.chat.current_transcript().unwrap().message_id())
    }

    /// A window for a client that may lack something.
    pub(crate) fn reloaded(&self) -> AgUiWindow {
        let turn = self.chat.current().unwrap().id();
        self.window().with_history(self.chat.ag_ui_history(turn))
    }

    pub(crate) fn read(&self, window: &mut AgUiWindow) -> Vec<Value> {
        let events = window.read(self.chat.current_transcript().unwrap().lines());
        let events = events
            .iter()
            .map(|event| serde_json::to_value(event).unwrap());
        events.collect()
    }
}

pub(crate) fn ask() -> Verdict {
    Verdict::Ask {
        question: "Really?".to_owned(),
    }
}

pub(crate) const APPROVED: Decision = Decision::Approved {
    reason: None,
    input: None,
};

/// Events in a few words: the type, and the id or text that tells them apart.
pub(crate) fn brief(events: &[Value]) -> Vec<String> {
    let received = |event: &Value| {
        let field = |key: &str| event[key].as_str();
        let kind = field("type").unwrap_or_default();
        let detail = field("delta")
            .or(field("content"))
            .or(field("messageId"))
            .or(field("toolCallId"))
            .or(field("stepName"))
            .or(event["outcome"]["type"].as_str())
            .unwrap_or_default();
        match detail {
            "" => kind.to_owned(),
            detail => format!("{kind} {detail}"),
        }
    };
    events.iter().map(received).collect()
}
