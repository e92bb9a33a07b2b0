//! What is taken from a client's request, and what is refused: the journal is the truth.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use adk_stream_view::{Intake, ShownChat, may_open_turn};
use serde_json::{Value, json};
use turn::agent::AgentEvent;
use turn::call::{Outcome, Place};
use turn::event::Finish;
use turn::gate::Decision;
use turn::input::Ids;
use turn::message::Part;
use turn::policy::{PolicyDecision, Verdict};
use turn::{At, Input, Principal};
use wire::{Message, Trigger};

/// A chat that waits: a payment of 5.0 for approval (c0), music in the page (c1), a location in the
/// page for approval (c2).
fn chat() -> ShownChat {
    let mut chat = ShownChat::default();
    let handle = |chat: &mut ShownChat, input| {
        chat.handle(input, At(1));
    };
    let message = turn::Message::new("u1", vec![Part::text("pay")]);
    let ids = Ids {
        turn: "t".into(),
        message: "m".to_owned(),
    };
    let principal = Principal::from("ann");
    let after = None;
    handle(
        &mut chat,
        Input::Message {
            message,
            principal,
            after,
            page_tools: Vec::new(),
            request: None,
            ids,
        },
    );
    let ask = || Verdict::Ask {
        question: "?".to_owned(),
    };
    for (tool, place, verdict) in [
        ("process_payment", Place::Server, ask()),
        ("change_bgm", Place::Client, Verdict::Allow),
        ("get_location", Place::Client, ask()),
    ] {
        let event = AgentEvent::Call {
            provider_id: None,
            tool: tool.to_owned(),
            input: json!({"amount": 5.0}),
            provider_metadata: None,
        };
        let policy = Some(PolicyDecision {
            place,
            verdict,
            timeout: None,
        });
        handle(&mut chat, Input::Agent { event, policy });
    }
    let (event, policy) = (AgentEvent::Ended(Finish::Stop), None);
    handle(&mut chat, Input::Agent { event, policy });
    chat
}

fn message(role: &str, id: &str, parts: Value) -> Message {
    Message::decode(json!({"id": id, "role": role, "parts": parts})).unwrap()
}

fn take(chat: &ShownChat, last: Message) -> Result<Intake, &'static str> {
    let user = message("user", "u1", json!([{"type": "text", "text": "pay"}]));
    let id = last.id.clone();
    let taken = chat.take(
        &"ann".into(),
        Trigger::SubmitMessage,
        id.as_deref(),
        &[user, last],
        At(1),
    );
    taken.map_err(|refusal| refusal.code.name())
}

fn answers(chat: &ShownChat, parts: Value) -> Result<Vec<(String, Decision)>, &'static str> {
    match take(chat, message("assistant", "m", parts))? {
        Intake::Continue { answers, .. } => Ok(answers
            .into_iter()
            .map(|(gate, decision)| (gate.to_string(), decision))
            .collect()),
        Intake::Open { .. } => Err("opened"),
        Intake::Queued { .. } => Err("queued"),
    }
}

fn approval(call: &str, gate: &str, approved: bool) -> Value {
    json!({"type": "tool-process_payment", "toolCallId": call, "state": "approval-responded",
           "input": {"amount": 5}, "approval": {"id": gate, "approved": approved}})
}

fn yes() -> Decision {
    let (reason, input) = (None, None);
    Decision::Approved { reason, input }
}

#[test]
fn open_gates_are_answered_and_numbers_are_javascripts() {
    let chat = chat();
    let taken = answers(&chat, json!([approval("call_t_0", "gate_t_0", true)]));
    assert_eq!(taken, Ok(vec![("gate_t_0".to_owned(), yes())]));
}

#[test]
fn what_a_tool_has_shown_before_it_asked_is_no_answer() {
    let chat = chat();
    for output in [
        json!(true),
        json!({"approved": true}),
        json!({"status": "looking"}),
    ] {
        // As the SDK keeps it: the output stays when the call is asked about.
        let part = json!({"type": "tool-process_payment", "toolCallId": "call_t_0",
               "state": "approval-requested", "input": {"amount": 5}, "output": output,
               "preliminary": true, "approval": {"id": "gate_t_0"}});
        for preliminary in [true, false] {
            let mut part = part.clone();
            part["preliminary"] = json!(preliminary);
            assert_eq!(answers(&chat, json!([part])), Ok(Vec::new()));
        }
        let dynamic = json!({"type": "dynamic-tool", "toolName": "process_payment",
               "toolCallId": "call_t_0", "state": "approval-requested", "input": {"amount": 5},
               "output": output, "approval": {"id": "gate_t_0"}});
        assert_eq!(answers(&chat, json!([dynamic])), Ok(Vec::new()));
    }
}

#[test]
fn approval_that_was_never_asked_is_refused() {
    let chat = chat();
    let taken = answers(&chat, json!([approval("call_t_0", "gate_t_9", true)]));
    assert_eq!(taken, Err("unknown_approval"));
    // A page's call is no question that could be approved.
    let taken = answers(&chat, json!([approval("call_t_1", "gate_t_1", true)]));
    assert_eq!(taken, Err("unknown_approval"));
}

#[test]
fn approval_of_another_input_is_refused() {
    let chat = chat();
    let mut part = approval("call_t_0", "gate_t_0", true);
    part["input"] = json!({"amount": 5000});
    assert_eq!(answers(&chat, json!([part])), Err("input_changed"));
}

#[test]
fn answer_to_another_question_is_refused_and_to_the_one_that_is_asked_taken() {
    let chat = chat();
    let id = "gate_t_0".into();
    let (turn, gate, _) = chat.gate(&id).unwrap();
    let digest = gate.digest(turn.call(&gate.call).unwrap()).unwrap();
    let with = |digest: Value| {
        let mut part = approval("call_t_0", "gate_t_0", true);
        part["approval"]["descriptor"] = json!({"question": "?", "digest": digest});
        answers(&chat, json!([part]))
    };
    assert_eq!(with(json!("0")), Err("approval_changed"));
    assert_eq!(with(json!({})), Err("approval_changed"));
    let taken = Ok(vec![("gate_t_0".to_owned(), yes())]);
    assert_eq!(with(json!(digest)), taken);
    assert_eq!(with(json!(null)), taken);

    // Once it is decided, an old message that holds another is old news.
    let mut decided = chat.clone();
    let (gate, decision) = (id, yes());
    decided.handle(Input::Answer { gate, decision }, At(2));
    let mut part = approval("call_t_0", "gate_t_0", true);
    part["approval"]["digest"] = json!("0");
    assert_eq!(answers(&decided, json!([part])), Ok(vec![]));
}

#[test]
fn output_for_a_servers_open_call_is_refused() {
    let chat = chat();
    let part = json!({"type": "tool-process_payment", "toolCallId": "call_t_0", "state": "output-available",
                      "input": {"amount": 5}, "output": {"success": true}});
    assert_eq!(answers(&chat, json!([part])), Err("forged_output"));
    let part =
        json!({"type": "tool-result", "toolCallId": "call_t_0", "result": {"success": true}});
    assert_eq!(answers(&chat, json!([part])), Err("forged_output"));
}

#[test]
fn output_for_a_call_that_is_not_open_is_refused() {
    let chat = chat();
    let part = json!({"type": "tool-get_location", "toolCallId": "call_t_2", "state": "output-available",
                      "input": {}, "output": {"latitude": 0}});
    assert_eq!(answers(&chat, json!([part])), Err("call_not_open"));
}

#[test]
fn settled_calls_of_another_chat_are_history_and_open_ones_are_refused() {
    let chat = chat();
    let take = |state: &str, gate: &str| {
        let mut part = json!({"type": "tool-process_payment", "toolCallId": "call_x", "state": state,
                              "input": {"amount": 900}});
        match state {
            "output-available" => part["output"] = json!({"success": true}),
            "output-error" => part["errorText"] = "no".into(),
            "output-denied" => part["approval"] = json!({"id": gate, "approved": false}),
            "approval-responded" => part["approval"] = json!({"id": gate, "approved": true}),
            _ => {}
        }
        let text = json!([{"type": "text", "text": "And now?"}]);
        let messages = [
            message("assistant", "other", json!([part])),
            message("user", "u9", text),
        ];
        chat.take(
            &"ann".into(),
            Trigger::SubmitMessage,
            None,
            &messages,
            At(0),
        )
        .map(|intake| matches!(intake, Intake::Open { .. }))
        .map_err(|refusal| refusal.code.name())
    };
    for state in ["output-available", "output-error", "output-denied"] {
        assert_eq!(take(state, "gate_x"), Ok(true), "{state}");
    }
    for state in ["input-available", "approval-responded"] {
        assert_eq!(take(state, "gate_x"), Err("unknown_call"), "{state}");
    }
    // Whatever ids it has.
    assert_eq!(take("approval-responded", "call_x"), Err("unknown_call"));
}

#[test]
fn invented_call_in_an_answer_is_refused() {
    let chat = chat();
    let part = json!({"type": "tool-process_payment", "toolCallId": "call_x", "state": "output-available",
                      "input": {"amount": 900}, "output": {"success": true}});
    assert_eq!(answers(&chat, json!([part])), Err("unknown_call"));
}

#[test]
fn page_gives_its_output_and_an_approval_may_stand_beside_it() {
    let chat = chat();
    let music = json!({"type": "tool-change_bgm", "toolCallId": "call_t_1", "state": "output-available",
                       "input": {}, "output": {"ok": 1}});
    let output = Decision::Output {
        output: json!({"ok": 1}),
    };
    assert_eq!(
        answers(&chat, json!([music])),
        Ok(vec![("gate_t_1".to_owned(), output)])
    );

    // The legacy bridge sends the approval and the output that it allowed in one message.
    let parts = json!([
        {"type": "tool-get_location", "toolCallId": "call_t_2", "state": "approval-responded",
         "input": {"amount": 5}, "approval": {"id": "gate_t_2", "approved": true}},
        {"type": "tool-result", "toolCallId": "call_t_2", "result": {"latitude": 35.6}},
    ]);
    let output = Decision::Output {
        output: json!({"latitude": 35.6}),
    };
    let taken = answers(&chat, parts).unwrap();
    assert_eq!(
        taken,
        [
            ("gate_t_2".to_owned(), yes()),
            ("gate_t_3".to_owned(), output)
        ]
    );
    let mut chat = chat;
    for (gate, decision) in taken {
        let gate = gate.as_str().into();
        chat.handle(Input::Answer { gate, decision }, At(2));
    }
    let call = "call_t_2".into();
    let outcome = chat.current().unwrap().outcome(&call).cloned();
    assert_eq!(
        outcome,
        Some(Outcome::Output {
            output: json!({"latitude": 35.6})
        })
    );
}

#[test]
fn answer_in_a_user_message_of_the_legacy_bridge_is_an_answer() {
    let chat = chat();
    let confirmation = json!([{"type": "tool-adk_request_confirmation", "toolCallId": "gate_t_0",
        "state": "approval-responded", "approval": {"id": "gate_t_0", "approved": true}}]);
    let taken = take(&chat, message("user", "fr-1", confirmation));
    assert!(
        matches!(taken, Ok(Intake::Continue { ref answers, .. }) if answers.len() == 1),
        "{taken:?}"
    );
    let result = json!([{"type": "tool-result", "toolCallId": "call_t_0", "toolName": "process_payment",
        "result": {"approved": false, "user_message": "User denied"}}]);
    let taken = take(&chat, message("user", "fr-2", result));
    let reason = Some("User denied".to_owned());
    let denied = vec![("gate_t_0".into(), Decision::Denied { reason })];
    assert_eq!(
        taken,
        Ok(Intake::Continue {
            turn: "t".into(),
            answers: denied,
            seen: None
        })
    );
}

#[test]
fn answer_to_a_settled_gate_is_old_news() {
    let mut chat = chat();
    let (gate, decision) = ("gate_t_0".into(), Decision::Denied { reason: None });
    chat.handle(Input::Answer { gate, decision }, At(2));
    let taken = answers(&chat, json!([approval("call_t_0", "gate_t_0", true)]));
    assert_eq!(taken, Ok(Vec::new()));
}

#[test]
fn same_message_again_is_the_same_turn_and_another_opens_one() {
    let chat = chat();
    let again = message("user", "u1", json!([{"type": "text", "text": "pay"}]));
    let taken = chat.take(
        &"ann".into(),
        Trigger::SubmitMessage,
        None,
        std::slice::from_ref(&again),
        At(1),
    );
    assert_eq!(
        taken,
        Ok(Intake::Continue {
            turn: "t".into(),
            answers: Vec::new(),
            seen: None
        })
    );
    let other = message(
        "user",
        "u2",
        json!([{"type": "text", "text": "never mind"}]),
    );
    let taken = chat.take(
        &"ann".into(),
        Trigger::SubmitMessage,
        None,
        &[again.clone(), other],
        At(1),
    );
    assert!(
        matches!(taken, Ok(Intake::Open { after: Some(_), .. })),
        "{taken:?}"
    );
    // An edit starts over from there.
    let edited = message("user", "u1", json!([{"type": "text", "text": "pay less"}]));
    let taken = chat.take(
        &"ann".into(),
        Trigger::SubmitMessage,
        Some("u1"),
        &[edited],
        At(1),
    );
    assert!(
        matches!(taken, Ok(Intake::Open { after: None, .. })),
        "{taken:?}"
    );
    let taken = chat.take(
        &"ann".into(),
        Trigger::RegenerateMessage,
        None,
        &[again],
        At(1),
    );
    assert!(
        matches!(taken, Ok(Intake::Open { after: None, .. })),
        "{taken:?}"
    );
    // A message that never arrived is tried again in this way, too.
    let unanswered = message("user", "u3", json!([{"type": "text", "text": "hello?"}]));
    let taken = chat.take(
        &"ann".into(),
        Trigger::RegenerateMessage,
        None,
        &[unanswered],
        At(1),
    );
    assert!(matches!(taken, Ok(Intake::Open { .. })), "{taken:?}");
    let taken = chat.take(
        &"ann".into(),
        Trigger::RegenerateMessage,
        Some("nobody"),
        &[],
        At(1),
    );
    assert_eq!(taken.unwrap_err().code.name(), "unknown_message");
}

#[test]
fn message_that_comes_late_once_more_is_no_edit() {
    let mut chat = chat();
    let first = message("user", "u1", json!([{"type": "text", "text": "pay"}]));
    chat.handle(
        Input::Message {
            message: turn::Message::new("u2", vec![Part::text("wait")]),
            principal: Principal::from("ann"),
            after: Some("t".into()),
            page_tools: Vec::new(),
            request: None,
            ids: Ids {
                turn: "t2".into(),
                message: "m2".to_owned(),
            },
        },
        At(2),
    );
    let late = chat.take(
        &"ann".into(),
        Trigger::SubmitMessage,
        None,
        std::slice::from_ref(&first),
        At(1),
    );
    assert_eq!(
        late,
        Ok(Intake::Continue {
            turn: "t".into(),
            answers: Vec::new(),
            seen: None
        })
    );
    // One that says which message it edits is one, whatever it says.
    let edit = chat.take(
        &"ann".into(),
        Trigger::SubmitMessage,
        Some("u1"),
        &[first],
        At(1),
    );
    assert!(
        matches!(edit, Ok(Intake::Open { after: None, .. })),
        "{edit:?}"
    );
}

/// A user message that opens a turn, and the turn's number.
fn say(chat: &mut ShownChat, messages: &[Message], n: u64) {
    // A minute after the other.
    let now = At(n * 60_000);
    let taken = chat.take(&"ann".into(), Trigger::SubmitMessage, None, messages, now);
    let Ok(Intake::Open { message, after, .. }) = taken else {
        panic!("{taken:?}")
    };
    let ids = Ids {
        turn: format!("t{n}").into(),
        message: format!("a{n}"),
    };
    let principal = Principal::from("ann");
    let input = Input::Message {
        message,
        principal,
        after,
        page_tools: Vec::new(),
        request: None,
        ids,
    };
    chat.handle(input, now);
    let agent = |event| Input::Agent {
        event,
        policy: None,
    };
    let text = AgentEvent::Text {
        delta: format!("answer {n}"),
        provider_metadata: None,
    };
    chat.handle(agent(text), now);
    chat.handle(agent(AgentEvent::Ended(Finish::Stop)), now);
}

fn user(id: &str) -> Message {
    message("user", id, json!([{"type": "text", "text": id}]))
}

fn assistant(id: &str) -> Message {
    message(
        "assistant",
        id,
        json!([{"type": "step-start"}, {"type": "text", "text": "answer"}]),
    )
}

fn path(chat: &ShownChat) -> Vec<String> {
    chat.path().map(|turn| turn.id().to_string()).collect()
}

#[test]
fn page_that_cuts_its_history_off_edits() {
    let mut chat = ShownChat::default();
    say(&mut chat, &[user("u1")], 1);
    say(&mut chat, &[user("u1"), assistant("a1"), user("u2")], 2);
    // A page that sends its last message alone goes on behind the last.
    say(&mut chat, &[user("u3")], 3);
    assert_eq!(path(&chat), ["t1", "t2", "t3"]);
    // As assistant-ui edits u2: the history ends behind a1, and no message is named.
    say(&mut chat, &[user("u1"), assistant("a1"), user("u4")], 4);
    assert_eq!(path(&chat), ["t1", "t4"]);
    // A request for what was cut off that comes once more opens nothing.
    let late = [user("u1"), assistant("a1"), user("u2")];
    let taken = chat.take(
        &"ann".into(),
        Trigger::SubmitMessage,
        None,
        &late,
        At(5 * 60_000),
    );
    assert!(matches!(taken, Ok(Intake::Continue { turn, .. }) if turn == "t2".into()));
    // What somebody has just said in another tab is not cut off.
    let other_tab = [user("u1"), assistant("a1"), user("u6")];
    let just_now = At(4 * 60_000 + 500);
    let taken = chat.take(
        &"ann".into(),
        Trigger::SubmitMessage,
        None,
        &other_tab,
        just_now,
    );
    assert!(matches!(taken, Ok(Intake::Open { after, .. }) if after == Some("t4".into())));
    // And back on the branch that was cut off.
    let branch = [
        user("u1"),
        assistant("a1"),
        user("u2"),
        assistant("a2"),
        user("u5"),
    ];
    say(&mut chat, &branch, 5);
    assert_eq!(path(&chat), ["t1", "t2", "t5"]);
    assert_eq!(chat.turns().len(), 5);
}

#[test]
fn message_that_names_an_earlier_one_takes_its_place() {
    let mut chat = ShownChat::default();
    say(&mut chat, &[user("u1")], 1);
    say(&mut chat, &[user("u1"), assistant("a1"), user("u2")], 2);
    let take = |chat: &ShownChat, named: &str, messages: &[Message], now: u64| {
        let submit = Trigger::SubmitMessage;
        chat.take(&"ann".into(), submit, Some(named), messages, At(now))
    };
    // A page that edits its first message has no history left; and what is named was said just now.
    let just_now = 2 * 60_000 + 500;
    let first = take(&chat, "u1", &[user("u3")], just_now);
    assert!(matches!(first, Ok(Intake::Open { after: None, .. })));
    let second = [user("u1"), assistant("a1"), user("u3")];
    let second = take(&chat, "u2", &second, just_now);
    assert!(matches!(second, Ok(Intake::Open { after, .. }) if after == Some("t1".into())));
    // The same request again opens nothing, and a message that nobody knows is in no place.
    let again = take(&chat, "u1", &[user("u2")], just_now);
    assert!(matches!(again, Ok(Intake::Continue { turn, .. }) if turn == "t2".into()));
    let unknown = take(&chat, "nobody", &[user("u3")], just_now);
    assert!(matches!(unknown, Ok(Intake::Open { after, .. }) if after == Some("t2".into())));
}

#[test]
fn page_that_has_not_seen_a_result_goes_on_behind_it() {
    let mut chat = ShownChat::default();
    say(&mut chat, &[user("u1")], 1);
    let pending = json!({
        "event": "call-settled", "turn": "t1", "call": "c", "outcome": "pending", "output": 1,
    });
    let call = json!({"id": "c", "tool": "report", "input": {}, "place": "server"});
    let nested = json!({"event": "call-nested", "turn": "t1", "call": call});
    let entry = json!({"seq": 9, "at": 1, "actor": "ann", "events": [nested, pending]});
    chat.append(&serde_json::from_value(entry).unwrap());
    let ids = Ids {
        turn: "result".into(),
        message: "a2".to_owned(),
    };
    let outcome = Outcome::Output { output: json!(1) };
    let call = "c".into();
    chat.handle(Input::Result { call, outcome, ids }, At(1));
    assert_eq!(path(&chat), ["t1", "result"]);
    say(&mut chat, &[user("u1"), assistant("a1"), user("u2")], 2);
    assert_eq!(path(&chat), ["t1", "result", "t2"]);
}

#[test]
fn message_without_an_id_gets_one_by_place_and_content() {
    let nameless = |text: &str| Message::decode(json!({"role": "user", "content": text})).unwrap();
    let mut chat = ShownChat::default();
    say(&mut chat, &[nameless("hi")], 1);
    let first = chat.messages()[0].id.clone().unwrap();
    assert!(first.starts_with("user_"), "{first}");
    // The same body again is the same turn.
    let again = chat.take(
        &"ann".into(),
        Trigger::SubmitMessage,
        None,
        &[nameless("hi")],
        At(1),
    );
    assert!(matches!(again, Ok(Intake::Continue { turn, .. }) if turn == "t1".into()));
    // Elsewhere, or with other words, it is another message.
    let reply = Message::decode(json!({"id": "a1", "role": "assistant", "content": "hi"})).unwrap();
    say(&mut chat, &[nameless("hi"), reply, nameless("hi")], 2);
    say(&mut chat, &[nameless("ho")], 3);
    assert_eq!(path(&chat), ["t1", "t2", "t3"]);
    let ids: std::collections::HashSet<_> = chat.messages().iter().map(|m| m.id.clone()).collect();
    assert_eq!(ids.len(), 6);
}

#[test]
fn answer_to_a_turn_that_was_cut_off_gets_its_outcome_under_its_own_id() {
    let mut chat = chat();
    let taken = chat.take(
        &"ann".into(),
        Trigger::RegenerateMessage,
        None,
        &[user("u1")],
        At(1),
    );
    let Ok(Intake::Open { message, after, .. }) = taken else {
        panic!("{taken:?}")
    };
    let ids = Ids {
        turn: "again".into(),
        message: "m2".to_owned(),
    };
    let principal = Principal::from("ann");
    let input = Input::Message {
        message,
        principal,
        after,
        page_tools: Vec::new(),
        request: None,
        ids,
    };
    chat.handle(input, At(1));
    assert_eq!(path(&chat), ["again"]);
    let parts = json!([approval("call_t_0", "gate_t_0", true)]);
    let taken = take(&chat, self::message("assistant", "m", parts)).unwrap();
    let Intake::Continue {
        turn,
        answers,
        seen,
    } = taken
    else {
        panic!("{taken:?}")
    };
    assert_eq!((turn, answers), ("t".into(), Vec::new()));
    assert!(seen.is_some());
}

/// Every request of up to three messages, of each role, known, new or without an id, that names any of them.
#[test]
fn nothing_opens_a_turn_that_is_not_said_to_open_one() {
    let text = json!([{"type": "text", "text": "pay"}]);
    let answer = json!([approval("call_t_0", "gate_t_0", true)]);
    let mut messages = Vec::new();
    for (role, ids) in [("user", ["u1", "u2"]), ("assistant", ["m", "x"])] {
        for parts in [&text, &answer] {
            messages.extend(ids.map(|id| message(role, id, parts.clone())));
            messages.push(Message {
                id: None,
                ..message(role, "without", parts.clone())
            });
        }
    }
    let mut requests: Vec<Vec<Message>> = vec![Vec::new()];
    let (mut first, mut opened) = (0, 0);
    for _ in 0..3 {
        let before = first..requests.len();
        first = requests.len();
        for place in before {
            for message in &messages {
                let request = [requests[place].clone(), vec![message.clone()]].concat();
                requests.push(request);
            }
        }
    }
    let triggers = [Trigger::SubmitMessage, Trigger::RegenerateMessage];
    for chat in [chat(), ShownChat::default()] {
        for messages in &requests {
            for id in [
                None,
                Some("u1"),
                Some("u2"),
                Some("m"),
                Some("x"),
                Some("?"),
            ] {
                for trigger in triggers {
                    let taken = [
                        chat.take(&"ann".into(), trigger, id, messages, At(9_000)),
                        chat.take_run(&"ann".into(), trigger, id, messages, At(9_000)),
                    ];
                    if taken
                        .iter()
                        .any(|taken| matches!(taken, Ok(Intake::Open { .. })))
                    {
                        opened += 1;
                        assert!(may_open_turn(trigger, id, messages), "{id:?} {messages:?}");
                    }
                }
            }
        }
    }
    assert!(opened > 1_000, "{opened}");
}
