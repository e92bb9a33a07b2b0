//! A dialogue with the demo: steps are run, and calls are settled as the test says.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use adk_stream_demo::Demo;
use agents::{Agent, AgentStream};
use futures_core::Stream;
use serde_json::{Value, json};
use turn::agent::{
    AgentEvent, Behavior, CallResult, HistoryItem, Part, StepRequest, ToolDeclaration,
};
use turn::call::{Call, Outcome, Place};
use turn::message::{self, Message};
use turn::{CallId, ChatId, Principal, TurnId};

/// Every tool that the demo knows.
pub(crate) const TOOLS: [&str; 8] = [
    "process_payment",
    "get_weather",
    "get_location",
    "change_bgm",
    "book_flight",
    "book_table",
    "set_mood",
    "write_report",
];

/// A chat with the demo.
#[derive(Clone)]
pub(crate) struct Dialogue {
    agent: Demo,
    pub(crate) history: Vec<HistoryItem>,
    pub(crate) tools: Vec<&'static str>,
    calls: usize,
}

impl Dialogue {
    /// A chat in which nothing was said.
    pub(crate) fn with(agent: Demo) -> Self {
        Self {
            agent,
            history: Vec::new(),
            tools: TOOLS.to_vec(),
            calls: 0,
        }
    }

    /// A chat that opens with a prompt.
    pub(crate) fn of(agent: Demo, prompt: &str) -> Self {
        let mut dialogue = Self::with(agent);
        dialogue.say(prompt);
        dialogue
    }

    /// A user message.
    pub(crate) fn say(&mut self, prompt: &str) {
        let message = Message::new("m", vec![message::Part::text(prompt)]);
        self.history.push(HistoryItem::Message(message));
    }

    /// What the engine asks the agent.
    pub(crate) fn request(&self) -> StepRequest {
        let declare = |name: &&str| ToolDeclaration {
            name: (*name).to_owned(),
            description: String::new(),
            input_schema: json!({}),
            behavior: Behavior::Blocking,
        };
        StepRequest {
            chat: ChatId::from("chat"),
            turn: TurnId::from("turn"),
            principal: Principal::from("ann"),
            history: self.history.clone().into(),
            tools: self.tools.iter().map(declare).collect(),
            session: None,
            own: Vec::new(),
            is_again: false,
            trace: None,
        }
    }

    /// Runs a step, and leaves the history as it is.
    pub(crate) fn step(&self) -> Vec<AgentEvent> {
        collect(self.agent.step(self.request()))
    }

    /// Runs a step and settles its calls: whether it had any.
    pub(crate) fn advance(
        &mut self,
        settle: &mut dyn FnMut(&Call) -> CallResult,
    ) -> Vec<AgentEvent> {
        let events = self.step();
        let calls: Vec<_> = calls_of(&events)
            .into_iter()
            .map(|(tool, input)| {
                self.calls += 1;
                call(self.calls, &tool, input)
            })
            .collect();
        let parts = calls.iter().map(|call| Part::Call {
            call: call.clone(),
            held: false,
            open: false,
        });
        self.history.push(HistoryItem::Step {
            parts: parts.collect(),
            results: calls.iter().map(settle).collect(),
        });
        events
    }

    /// Runs the turn to its end: the calls, step by step, and what was said in the last.
    pub(crate) fn finish(
        &mut self,
        settle: &mut dyn FnMut(&Call) -> CallResult,
    ) -> (Vec<Vec<(String, Value)>>, String) {
        let mut steps = Vec::new();
        loop {
            let events = self.advance(settle);
            let calls = calls_of(&events);
            if calls.is_empty() {
                return (steps, text_of(&events));
            }
            steps.push(calls);
            assert!(steps.len() < 50, "the turn has no end");
        }
    }
}

/// Everything that a stream says. The demo without a pace never waits.
pub(crate) fn collect(stream: AgentStream) -> Vec<AgentEvent> {
    let mut stream = pin!(stream);
    let mut context = Context::from_waker(Waker::noop());
    let mut events = Vec::new();
    loop {
        match stream.as_mut().poll_next(&mut context) {
            Poll::Ready(Some(event)) => events.push(event),
            Poll::Ready(None) => return events,
            Poll::Pending => panic!("the demo waits for nothing"),
        }
    }
}

/// The calls among events.
pub(crate) fn calls_of(events: &[AgentEvent]) -> Vec<(String, Value)> {
    let call = |event: &AgentEvent| match event {
        AgentEvent::Call { tool, input, .. } => Some((tool.clone(), input.clone())),
        _ => None,
    };
    events.iter().filter_map(call).collect()
}

/// The text among events.
pub(crate) fn text_of(events: &[AgentEvent]) -> String {
    let delta = |event: &AgentEvent| match event {
        AgentEvent::Text { delta, .. } => Some(delta.clone()),
        _ => None,
    };
    events.iter().filter_map(delta).collect()
}

/// A call.
pub(crate) fn call(number: usize, tool: &str, input: Value) -> Call {
    Call {
        id: CallId::from(format!("call-{number}")),
        provider_id: None,
        tool: tool.to_owned(),
        input,
        place: Place::Server,
        parent: None,
        provider_metadata: None,
    }
}

/// A call that is settled so.
pub(crate) fn settled(call: &Call, outcome: Outcome) -> CallResult {
    CallResult {
        call: call.clone(),
        edited_input: None,
        outcome,
    }
}

/// What the demo's tools answer.
pub(crate) fn approve(call: &Call) -> CallResult {
    let input = &call.input;
    let output = match call.tool.as_str() {
        "process_payment" => json!({
            "success": true, "transaction_id": format!("txn_{}", call.id), "amount": input["amount"],
            "currency": input["currency"], "recipient": input["recipient"], "description": "",
            "wallet_balance": 950.0, "timestamp": "2026-01-17T14:42:52Z",
        }),
        "get_weather" => json!({"temperature": 18, "condition": "Cloudy", "humidity": 65}),
        "get_location" => {
            json!({"latitude": 35.6762, "longitude": 139.6503, "accuracy": 20, "timestamp": 1})
        }
        "change_bgm" => json!({"success": true, "track": input["track"], "message": "BGM changed"}),
        "book_flight" => json!({
            "success": true, "seat": "seat_7", "destination": input["destination"],
            "payment": {"success": true, "transaction_id": "txn_seat", "amount": 120, "currency": "USD",
                        "wallet_balance": 880.0},
        }),
        "book_table" => json!({
            "success": true, "date": "2026-12-24", "time": "19:00", "people": 4, "reservation": "table_1",
        }),
        "set_mood" => json!({
            "location": input["location"],
            "weather": {"temperature": 18, "condition": "Cloudy", "humidity": 65},
            "music": {"success": true, "track": 2},
        }),
        "write_report" => {
            return settled(
                call,
                Outcome::Pending {
                    output: json!({"status": "pending"}),
                },
            );
        }
        _ => json!({}),
    };
    settled(call, Outcome::Output { output })
}
