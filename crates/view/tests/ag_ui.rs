//! Whole runs as clients of AG-UI are sent them.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use adk_stream_view::{AgUiWindow, ClientRun, Intake, Run, ShownChat};
use serde_json::{Value, json};
use turn::agent::AgentEvent;
use turn::call::{Outcome, Place};
use turn::event::Finish;
use turn::gate::Decision;
use turn::input::Ids;
use turn::policy::{PolicyDecision, Verdict};
use turn::{At, GateId, Input, Principal};
use wire::ag_ui::RunRequest;
use wire::{Limits, Trigger};

#[derive(Default)]
struct Chat {
    chat: ShownChat,
    entries: u64,
    turns: usize,
}

impl Chat {
    fn handle(&mut self, input: Input) {
        let output = self.chat.handle(input, At(1_000 + self.entries));
        if !output.append.is_empty() {
            self.entries += 1;
            self.chat.appended(self.entries);
        }
    }

    fn say(&mut self, text: &str) {
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

    fn agent(&mut self, event: AgentEvent, policy: Option<PolicyDecision>) {
        self.handle(Input::Agent { event, policy });
    }

    fn text(&mut self, delta: &str) {
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

    fn reason(&mut self, delta: &str) {
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

    fn call(&mut self, tool: &str, place: Place, verdict: Verdict) {
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

    fn end_step(&mut self) {
        self.agent(AgentEvent::Ended(Finish::Stop), None);
    }

    fn answer(&mut self, nth: usize, decision: Decision) {
        let gate = GateId::of(self.chat.current().unwrap().id(), nth);
        self.handle(Input::Answer { gate, decision });
    }

    fn done(&mut self, nth: usize, output: Value) {
        let call = self.chat.current().unwrap().calls().nth(nth).unwrap();
        let call = call.id.clone();
        let outcome = Outcome::Output { output };
        self.handle(Input::ToolDone { call, outcome });
    }

    fn window(&self) -> AgUiWindow {
        AgUiWindow::new(self.chat.current_transcript().unwrap().message_id())
    }

    /// A window for a client that may lack something.
    fn reloaded(&self) -> AgUiWindow {
        let turn = self.chat.current().unwrap().id();
        self.window().with_history(self.chat.ag_ui_history(turn))
    }

    fn read(&self, window: &mut AgUiWindow) -> Vec<Value> {
        let events = window.read(self.chat.current_transcript().unwrap().lines());
        let events = events
            .iter()
            .map(|event| serde_json::to_value(event).unwrap());
        events.collect()
    }
}

fn ask() -> Verdict {
    Verdict::Ask {
        question: "Really?".to_owned(),
    }
}

const APPROVED: Decision = Decision::Approved {
    reason: None,
    input: None,
};

/// Events in a few words: the type, and the id or text that tells them apart.
fn brief(events: &[Value]) -> Vec<String> {
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

#[test]
fn text_and_reasoning_are_messages_of_their_own() {
    let mut chat = Chat::default();
    chat.say("hi");
    let mut window = chat.window();
    chat.reason("Hm.");
    chat.text("Hello, ");
    let mut events = chat.read(&mut window);
    chat.text("world.");
    chat.end_step();
    events.extend(chat.read(&mut window));
    assert!(window.is_closed());
    assert_eq!(
        brief(&events),
        [
            "STEP_STARTED step-1",
            "REASONING_START m1:r1",
            "REASONING_MESSAGE_START m1:r1",
            "REASONING_MESSAGE_CONTENT Hm.",
            "REASONING_MESSAGE_END m1:r1",
            "REASONING_END m1:r1",
            "TEXT_MESSAGE_START m1:1",
            "TEXT_MESSAGE_CONTENT Hello, ",
            "TEXT_MESSAGE_CONTENT world.",
            "TEXT_MESSAGE_END m1:1",
            "STEP_FINISHED step-1",
            "RUN_FINISHED success",
        ]
    );
}

#[test]
fn approval_is_an_interrupt_and_its_answer_goes_on_in_the_next_run() {
    let mut chat = Chat::default();
    chat.say("pay");
    let mut window = chat.window();
    chat.call("pay", Place::Server, ask());
    chat.end_step();
    let events = chat.read(&mut window);
    assert_eq!(
        brief(&events),
        [
            "STEP_STARTED step-1",
            "TOOL_CALL_START call_t1_0",
            "TOOL_CALL_ARGS {\"n\":1}",
            "TOOL_CALL_END call_t1_0",
            "STEP_FINISHED step-1",
            "RUN_FINISHED interrupt",
        ]
    );
    let interrupt = &events[5]["outcome"]["interrupts"][0];
    assert_eq!(interrupt["id"], "gate_t1_0");
    assert_eq!(interrupt["toolCallId"], "call_t1_0");
    assert_eq!(interrupt["message"], "Really?");
    assert_eq!(interrupt["metadata"]["input"], json!({"n": 1}));

    chat.answer(0, APPROVED);
    let mut window = chat.reloaded();
    let mut events = chat.read(&mut window);
    chat.done(0, json!({"paid": true}));
    chat.text("Paid.");
    chat.end_step();
    events.extend(chat.read(&mut window));
    assert_eq!(
        brief(&events),
        [
            "MESSAGES_SNAPSHOT",
            "TOOL_CALL_RESULT {\"paid\":true}",
            "STEP_STARTED step-2",
            "TEXT_MESSAGE_START m1:2",
            "TEXT_MESSAGE_CONTENT Paid.",
            "TEXT_MESSAGE_END m1:2",
            "STEP_FINISHED step-2",
            "RUN_FINISHED success",
        ]
    );
    let call = json!({"name": "pay", "arguments": "{\"n\":1}"});
    assert_eq!(
        events[0]["messages"],
        json!([
            {"role": "user", "id": "u1", "content": "pay"},
            {"role": "assistant", "id": "m1:1",
             "toolCalls": [{"id": "call_t1_0", "type": "function", "function": call}]},
        ])
    );
}

#[test]
fn denial_is_the_calls_result_with_its_reason() {
    let mut chat = Chat::default();
    chat.say("pay");
    chat.call("pay", Place::Server, ask());
    chat.end_step();
    let reason = Some("too much".to_owned());
    chat.answer(0, Decision::Denied { reason });
    chat.text("As you like.");
    chat.end_step();
    let mut window = chat.reloaded();
    let events = chat.read(&mut window);
    assert_eq!(
        brief(&events),
        ["MESSAGES_SNAPSHOT", "RUN_FINISHED success"]
    );
    let messages = events[0]["messages"].as_array().unwrap();
    assert_eq!(messages[2]["error"], "Denied: too much");
    assert_eq!(messages[3]["content"], "As you like.");
}

#[test]
fn call_of_a_page_is_shown_when_nobody_is_asked_anything() {
    let mut chat = Chat::default();
    chat.say("both");
    let mut window = chat.window();
    chat.call("pay", Place::Server, ask());
    chat.call("play", Place::Client, Verdict::Allow);
    chat.end_step();
    let events = chat.read(&mut window);
    assert_eq!(
        brief(&events),
        [
            "STEP_STARTED step-1",
            "TOOL_CALL_START call_t1_0",
            "TOOL_CALL_ARGS {\"n\":1}",
            "TOOL_CALL_END call_t1_0",
            "STEP_FINISHED step-1",
            "RUN_FINISHED interrupt",
        ]
    );
    chat.answer(0, APPROVED);
    chat.done(0, json!("paid"));
    let events = chat.read(&mut chat.reloaded());
    assert_eq!(
        brief(&events),
        [
            "MESSAGES_SNAPSHOT",
            "TOOL_CALL_START call_t1_1",
            "TOOL_CALL_ARGS {\"n\":1}",
            "TOOL_CALL_END call_t1_1",
            "RUN_FINISHED success",
        ]
    );
    assert_eq!(
        events[4]["outcome"],
        json!({"type": "success", "pendingToolCallIds": ["call_t1_1"]})
    );
}

#[test]
fn page_does_not_see_its_call_before_it_is_approved() {
    let mut chat = Chat::default();
    chat.say("where?");
    let mut window = chat.window();
    chat.call("locate", Place::Client, ask());
    chat.end_step();
    let events = chat.read(&mut window);
    assert_eq!(brief(&events), ["RUN_FINISHED interrupt"]);
    let interrupt = &events[0]["outcome"]["interrupts"][0];
    assert_eq!(interrupt.get("toolCallId"), None);
    assert_eq!(interrupt["metadata"]["toolCallId"], "call_t1_0");
    chat.answer(0, APPROVED);
    let events = chat.read(&mut chat.reloaded());
    assert_eq!(
        brief(&events[1..]),
        [
            "TOOL_CALL_START call_t1_0",
            "TOOL_CALL_ARGS {\"n\":1}",
            "TOOL_CALL_END call_t1_0",
            "RUN_FINISHED success",
        ]
    );
}

#[test]
fn client_that_comes_in_the_middle_of_a_text_gets_all_of_it_once() {
    let mut chat = Chat::default();
    chat.say("hi");
    chat.text("Hello, ");
    let mut window = chat.reloaded();
    let mut events = chat.read(&mut window);
    chat.text("world.");
    chat.end_step();
    events.extend(chat.read(&mut window));
    assert_eq!(
        brief(&events),
        [
            "MESSAGES_SNAPSHOT",
            "STEP_STARTED step-1",
            "TEXT_MESSAGE_START m1:1",
            "TEXT_MESSAGE_CONTENT Hello, ",
            "TEXT_MESSAGE_CONTENT world.",
            "TEXT_MESSAGE_END m1:1",
            "STEP_FINISHED step-1",
            "RUN_FINISHED success",
        ]
    );
    assert_eq!(events[0]["messages"].as_array().unwrap().len(), 1);
}

fn request(body: &Value) -> RunRequest {
    RunRequest::from_slice(body.to_string().as_bytes(), &Limits::default()).unwrap()
}

fn messages(body: &Value) -> Vec<wire::Message> {
    match ClientRun::of(&request(body)).unwrap() {
        ClientRun::Send { messages, .. } => messages,
        ClientRun::Connect => panic!("it brings something"),
    }
}

/// As CopilotKit sends them: each answer also as the result of the call that it is about.
#[test]
fn answer_that_is_also_sent_as_a_result_is_an_answer_alone() {
    let mut chat = Chat::default();
    chat.say("pay");
    chat.call("pay", Place::Server, ask());
    chat.end_step();
    let user = json!({"role": "user", "id": "u1", "content": "pay"});
    let call = json!({"id": "call_t1_0", "type": "function", "function": {"name": "pay", "arguments": "{}"}});
    let assistant = json!({"role": "assistant", "id": "t1", "toolCalls": [call]});
    let take = |resume: Value, content: &str| {
        let result =
            json!({"role": "tool", "id": "x", "toolCallId": "call_t1_0", "content": content});
        let body = json!({"threadId": "c", "runId": "r", "messages": [user, assistant, result], "resume": [resume]});
        let sent = messages(&body);
        chat.chat.take_run(
            &"ann".into(),
            Trigger::SubmitMessage,
            None,
            &sent,
            At(9_000),
        )
    };
    let yes =
        json!({"interruptId": "gate_t1_0", "status": "resolved", "payload": {"approved": true}});
    let Ok(Intake::Continue { answers, .. }) = take(yes.clone(), r#"{"approved": true}"#) else {
        panic!("it goes on with the turn")
    };
    assert_eq!(answers, [("gate_t1_0".into(), APPROVED)]);
    let no = json!({"interruptId": "gate_t1_0", "status": "cancelled"});
    assert!(matches!(
        take(no, r#"{"status": "cancelled"}"#),
        Ok(Intake::Continue { answers, .. }) if answers.len() == 1
    ));
    // Another result is still one that nobody may give.
    assert!(take(yes, r#"{"paid": true}"#).is_err());
}

#[test]
fn answers_count_wherever_the_history_ends() {
    let mut chat = Chat::default();
    chat.say("where?");
    chat.call("locate", Place::Client, ask());
    chat.end_step();
    let resume = json!([{"interruptId": "gate_t1_0", "status": "resolved", "payload": true}]);
    let old = json!({"role": "user", "id": "u1", "content": "where?"});
    let new = json!({"role": "user", "id": "u2", "content": "And now?"});
    let take = |history: Value| {
        let body = json!({"threadId": "c", "runId": "r", "messages": history, "resume": resume});
        let sent = messages(&body);
        chat.chat.take_run(
            &"ann".into(),
            Trigger::SubmitMessage,
            None,
            &sent,
            At(9_000),
        )
    };
    let Ok(Intake::Continue { answers, .. }) = take(json!([old])) else {
        panic!("it goes on with the turn")
    };
    assert_eq!(answers, [("gate_t1_0".into(), APPROVED)]);
    let Ok(Intake::Open { answers, .. }) = take(json!([old, new])) else {
        panic!("it opens a turn")
    };
    assert_eq!(answers, [("gate_t1_0".into(), APPROVED)]);
}

#[test]
fn history_of_a_client_is_compared_by_turns() {
    let mut chat = Chat::default();
    chat.say("hi");
    chat.text("Hello.");
    chat.end_step();
    chat.say("more");
    let turn = chat.chat.current().unwrap().id().clone();
    let u1 = json!({"role": "user", "id": "u1", "content": "hi"});
    let u2 = json!({"role": "user", "id": "u2", "content": "more"});
    let a1 = |text: &str| json!({"role": "assistant", "id": "m1:1", "content": text});
    let has = |history: Value| {
        let body = json!({"threadId": "c", "runId": "r", "messages": history});
        chat.chat.has_ag_ui_history(&turn, &messages(&body))
    };
    assert!(has(json!([u1, a1("Hello."), u2])));
    assert!(!has(json!([u1, a1("Hel"), u2])));
    assert!(!has(json!([u1, u2])));
    assert!(!has(json!([u2])));
}

#[test]
fn clients_before_1_0_are_sent_outcomes_that_they_know() {
    let mut chat = Chat::default();
    chat.say("play");
    chat.call("play", Place::Client, Verdict::Allow);
    chat.end_step();
    let ends = |version: Value, chunks: Vec<std::sync::Arc<wire::Chunk>>| {
        let body = json!({"threadId": "c", "runId": "r", "protocolVersion": version});
        let mut run = Run::of(&request(&body));
        let events = chunks.iter().filter_map(|chunk| run.event(chunk));
        let last = events.last().unwrap();
        assert_eq!(
            (&last["threadId"], &last["runId"]),
            (&json!("c"), &json!("r"))
        );
        assert_eq!(run.cut(), None);
        last["outcome"].clone()
    };
    let read = |chat: &Chat| {
        let lines = chat.chat.current_transcript().unwrap().lines();
        chat.window().read_chunks(lines)
    };
    let pending = json!({"type": "success", "pendingToolCallIds": ["call_t1_0"]});
    assert_eq!(ends(json!("1.0"), read(&chat)), pending);
    assert_eq!(ends(Value::Null, read(&chat)), json!({"type": "success"}));
    chat.handle(Input::Stop);
    assert_eq!(
        ends(json!("1.0"), read(&chat)),
        json!({"type": "cancelled"})
    );
    assert_eq!(ends(Value::Null, read(&chat)), json!({"type": "success"}));
}
