//! The legacy bridge, with a plain WebSocket client: every scenario of it gives the order of chunks
//! that the system before this one gave.

use serde_json::{Value, json};
use testkit::scenario::{self, Scenario};
use wire::Chunk;
use wire::legacy::ServerFrame;

use crate::process::{Server, adk_stream};
use crate::socket::Client;

fn serve(more: &[&str]) -> Server {
    let arguments = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--agent",
        "demo-live",
        "--pace",
        "0",
    ];
    adk_stream(&[&arguments, more].concat()).running()
}

/// What a turn said.
#[derive(Default)]
struct Played {
    order: Vec<String>,
    calls: Vec<(String, Value)>,
    errors: Vec<String>,
}

/// Plays a scenario: types its prompt, and answers as it says.
fn play(client: &mut Client, scenario: &Scenario) -> Played {
    let messages = json!([{"role": "user", "content": scenario.prompt}]);
    client.send(&json!({"type": "message", "messages": messages, "trigger": "submit-message"}));
    let mut answers = scenario.answers.iter();
    let mut recorded = Played::default();
    let mut location = None;
    loop {
        let frame = ServerFrame::from_text(&client.next().unwrap()).unwrap();
        let ServerFrame::Chunk(chunk) = frame else {
            recorded.order.push("[DONE]".to_owned());
            return recorded;
        };
        let name = chunk.type_name().into_owned();
        if !(name.ends_with("-delta") && recorded.order.last() == Some(&name)) {
            recorded.order.push(name);
        }
        match chunk {
            Chunk::ToolInputAvailable(call) => {
                if call.tool_name == "change_bgm" {
                    let result = json!({"success": true, "track": 1});
                    let (kind, id) = ("tool_result", &call.tool_call_id);
                    client
                        .send(&json!({"type": kind, "data": {"toolCallId": id, "result": result}}));
                }
                if call.tool_name == "get_location" {
                    location = Some(call.tool_call_id.clone());
                }
                recorded.calls.push((call.tool_name, call.input));
            }
            Chunk::ToolApprovalRequest(request) => {
                let approved = match answers.next().map(String::as_str) {
                    Some("approve") => true,
                    Some("deny") => false,
                    _ => continue,
                };
                let id = request.approval_id;
                let mut parts = vec![json!({
                    "type": "tool-adk_request_confirmation", "toolCallId": id,
                    "toolName": "adk_request_confirmation", "state": "approval-responded",
                    "approval": {"id": id, "approved": approved},
                })];
                // The page runs what was approved, and sends both in one message.
                parts.extend(location.take().filter(|_| approved).map(|call| {
                    json!({"type": "tool-result", "toolCallId": call, "result": {"latitude": 35.6}})
                }));
                let messages = json!([{"role": "user", "parts": parts}]);
                client.send(&json!({"type": "message", "messages": messages}));
            }
            Chunk::ToolOutputError(error) => recorded.errors.push(error.error_text),
            _ => {}
        }
    }
}

/// Blocks of reasoning that follow each other are one: how often a model paused in its thoughts
/// differs from recording to recording of the same prompt. That it thought at all before its last
/// words differs too.
fn merged(order: &[String]) -> Vec<&str> {
    let order = order.iter().map(String::as_str);
    order
        .filter(|kind| !kind.starts_with("reasoning"))
        .collect()
}

#[test]
fn every_scenario_has_the_order_of_the_legacy_bridge() {
    let patient = serve(&[]);
    let hasty = serve(&["--approval-timeout", "0.2"]);
    let scenarios = scenario::all();
    let scenarios = scenarios
        .iter()
        .filter(|scenario| scenario.transport == "bidi");
    let mut played = 0;
    for scenario in scenarios {
        let is_hasty = scenario.answers.iter().any(|answer| answer == "none");
        let server = if is_hasty { &hasty } else { &patient };
        let recorded = play(&mut server.connect("/live"), scenario);
        assert_eq!(
            merged(&recorded.order),
            merged(&scenario.order),
            "{}",
            scenario.name
        );
        assert!(
            recorded.order[1].starts_with("reasoning"),
            "{}",
            scenario.name
        );
        assert_eq!(recorded.errors, scenario.errors, "{}", scenario.name);
        let expected: Vec<(String, Value)> = scenario
            .calls
            .iter()
            .map(|call| (call.tool.clone(), in_our_letters(&call.input)))
            .collect();
        assert_eq!(recorded.calls, expected, "{}", scenario.name);
        played += 1;
    }
    assert_eq!(played, 7);
}

/// The recordings call 次郎 by both of his names, for one and the same prompt; we use one.
fn in_our_letters(input: &Value) -> Value {
    let mut input = input.clone();
    if input["recipient"] == "次郎" {
        input["recipient"] = "Jiro".into();
    }
    input
}

#[test]
fn two_tools_wait_for_two_answers_side_by_side() {
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0", "--pace", "0"]).running();
    let mut client = server.connect("/live");
    let messages =
        json!([{"role": "user", "content": "Aliceに30ドル、Bobに40ドル送金してください"}]);
    client.send(&json!({"type": "message", "messages": messages}));
    let mut asked = Vec::new();
    let mut settled = Vec::new();
    loop {
        match ServerFrame::from_text(&client.next().unwrap()).unwrap() {
            ServerFrame::Chunk(Chunk::ToolApprovalRequest(request)) => {
                asked.push(request);
                if asked.len() < 2 {
                    continue;
                }
                // The second first, and each by itself.
                for request in asked.iter().rev() {
                    let id = &request.approval_id;
                    let part = json!({"type": "tool-process_payment", "toolCallId": request.tool_call_id,
                        "state": "approval-responded", "approval": {"id": id, "approved": true}});
                    let messages = json!([{"role": "user", "parts": [part]}]);
                    client.send(&json!({"type": "message", "messages": messages}));
                }
            }
            ServerFrame::Chunk(Chunk::ToolOutputAvailable(output)) => {
                settled.push(output.tool_call_id)
            }
            ServerFrame::Done => break,
            _ => {}
        }
    }
    assert_eq!(asked.len(), 2);
    assert_eq!(
        settled,
        [asked[1].tool_call_id.clone(), asked[0].tool_call_id.clone()]
    );
    assert_eq!(server.get("/api/wallet").json()["balance"], 930);
}

#[test]
fn older_form_of_an_answer_names_the_call_itself() {
    let server = serve(&[]);
    let mut client = server.connect("/live");
    let messages = json!([{"role": "user", "content": "Send $20 to Sam"}]);
    client.send(&json!({"type": "message", "data": {"messages": messages}}));
    let mut answered = false;
    loop {
        match ServerFrame::from_text(&client.next().unwrap()).unwrap() {
            ServerFrame::Chunk(Chunk::ToolApprovalRequest(request)) => {
                let result = json!({"approved": false, "user_message": "User denied"});
                let content = json!([{"type": "tool-result", "toolCallId": request.tool_call_id,
                                      "toolName": "process_payment", "result": result}]);
                let messages = json!([{"id": "fr-1", "role": "user", "content": content}]);
                client.send(&json!({"type": "message", "messages": messages}));
            }
            ServerFrame::Chunk(Chunk::ToolOutputError(error)) => {
                assert_eq!(error.error_text, "User denied the payment");
                answered = true;
            }
            ServerFrame::Done => break,
            _ => {}
        }
    }
    assert!(answered);
    assert_eq!(server.get("/api/wallet").json()["balance"], 1000);
}

#[test]
fn socket_stays_open_over_what_it_does_not_know_and_closes_over_what_is_no_json() {
    let server = serve(&[]);
    let mut client = server.connect("/live");
    client.send(&json!({"type": "ping", "timestamp": 17}));
    assert_eq!(client.next().unwrap(), r#"{"type":"pong","timestamp":17}"#);
    client.send(&json!({"type": "dance"}));
    assert!(client.next().unwrap().contains("\"errorText\":\"type: "));
    client.send(&json!({"type": "tool_result", "toolCallId": "nobody", "result": {}}));
    assert!(client.next().unwrap().contains("unknown_call"));
    client.send(&json!({"type": "audio_control", "action": "start"}));
    assert!(client.next().unwrap().contains("audio_unsupported"));
    client.send(&json!({"type": "interrupt"}));
    client.send(&json!({"type": "ping", "timestamp": null}));
    assert!(client.next().unwrap().contains("pong"));
    client.send_text("{");
    let (code, reason) = client.next().unwrap_err();
    assert_eq!(code, 1002);
    assert!(reason.starts_with("not valid JSON [req_"), "{reason}");
}

#[test]
fn interrupt_stops_the_turn() {
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0", "--pace", "5"]).running();
    let mut client = server.connect("/api/chat/live");
    let messages = json!([{"role": "user", "content": "take your time"}]);
    client.send(&json!({"type": "message", "id": "c1", "messages": messages}));
    while !client.next().unwrap().contains("text-delta") {}
    client.send(&json!({"type": "interrupt", "reason": "user_abort"}));
    while !client.next().unwrap().contains("[DONE]") {}
    assert_eq!(server.get("/api/chat/c1").json()["status"], "stopped");
}

#[test]
fn message_that_is_refused_is_over() {
    let server = serve(&[]);
    let mut client = server.connect("/live");
    let part = json!({"type": "tool-process_payment", "toolCallId": "nobody",
        "state": "output-available", "input": {}, "output": {}});
    for message in [
        json!({"role": "user", "parts": [part]}),
        json!({"role": "nobody", "content": "hi"}),
        json!({"role": "system", "content": "hi"}),
    ] {
        client.send(&json!({"type": "message", "messages": [message]}));
        assert!(client.next().unwrap().contains("errorText"));
        assert!(client.next().unwrap().contains("[DONE]"));
    }
}

#[test]
fn page_that_can_not_run_a_tool_is_not_waited_for_beyond_the_time_that_is_set() {
    let server = serve(&["--client-timeout", "0.2"]);
    let mut client = server.connect("/live");
    let messages = json!([{"role": "user", "content": "Play track 1"}]);
    client.send(&json!({"type": "message", "messages": messages}));
    let mut errors = Vec::new();
    loop {
        match ServerFrame::from_text(&client.next().unwrap()).unwrap() {
            ServerFrame::Chunk(Chunk::ToolOutputError(error)) => errors.push(error.error_text),
            ServerFrame::Done => break,
            _ => {}
        }
    }
    assert_eq!(errors, ["No page ran it in time."]);
}

/// A page closes its stream at the step of a question. What comes next is read as the answer to what it
/// sends next, so nothing of the old turn may come before or in it.
#[test]
fn page_that_types_over_a_question_gets_its_new_message_alone() {
    let server = serve(&[]);
    let mut client = server.connect("/live");
    let say = |client: &mut Client, text: &str| {
        let messages = json!([{"role": "user", "content": text}]);
        client.send(&json!({"type": "message", "id": "c1", "messages": messages}));
    };
    let chunk = |client: &mut Client| ServerFrame::from_text(&client.next().unwrap()).unwrap();
    say(&mut client, "Send $20 to Sam");
    let mut call = String::new();
    loop {
        match chunk(&mut client) {
            ServerFrame::Chunk(Chunk::ToolApprovalRequest(request)) => call = request.tool_call_id,
            ServerFrame::Chunk(Chunk::FinishStep) => break,
            _ => {}
        }
    }
    say(&mut client, "What is the weather in Oslo?");
    let mut frames = Vec::new();
    loop {
        match chunk(&mut client) {
            ServerFrame::Done => break,
            frame => frames.push(frame.to_text()),
        }
    }
    assert!(frames[0].contains(r#""type":"start""#), "{}", frames[0]);
    let of_old: Vec<_> = frames.iter().filter(|text| text.contains(&call)).collect();
    assert!(of_old.is_empty(), "{of_old:?}");
    assert!(frames.last().unwrap().contains(r#""type":"finish""#));
    client.send(&json!({"type": "ping", "timestamp": 1}));
    assert!(client.next().unwrap().contains("pong"));
}

/// How many turns a chat has after its frames were sent one after the other.
fn turns_after(frames: &[Value]) -> usize {
    let server = serve(&[]);
    let mut client = server.connect("/live");
    for messages in frames {
        client.send(&json!({"type": "message", "id": "c1", "messages": messages}));
        while ServerFrame::from_text(&client.next().unwrap()).unwrap() != ServerFrame::Done {}
    }
    let chat = server.get("/api/chat/c1").json();
    chat["messages"].as_array().unwrap().len() / 2
}

#[test]
fn frame_with_a_history_is_one_turn_however_often_it_comes() {
    let hello = json!({"role": "user", "content": "hello"});
    let reply = json!({"role": "assistant", "content": "Hello!"});
    let alone = json!([hello]);
    let behind = json!([hello, reply, hello]);
    assert_eq!(turns_after(&[alone.clone(), behind.clone(), behind]), 2);
    // A page that sends its last message alone says the same thing twice in this way.
    assert_eq!(turns_after(&[alone.clone(), alone]), 2);
}

/// The id of the message that a stream begins with.
fn message_id(stream: &str) -> String {
    let (_, from) = stream
        .split_once(r#""type":"start","messageId":""#)
        .unwrap();
    from.split_once('"').unwrap().0.to_owned()
}

/// Its pages name no chat, and change between the two ways.
#[test]
fn page_that_names_no_chat_has_one_over_both_ways() {
    let server = serve(&[]);
    assert_eq!(server.get("/health").status, 200);
    let said = |id: &str, text: &str| json!({"id": id, "role": "user", "content": text});
    let settled = json!({"id": "other", "role": "assistant", "parts": [
        {"type": "tool-get_weather", "toolCallId": "call_elsewhere", "state": "output-available",
         "input": {"location": "Oslo"}, "output": {"temperature": 3}},
    ]});
    let first = said("u1", "hello");
    let post = |messages: Value| {
        let body = json!({"messages": messages}).to_string();
        let answer = server.post("/stream", &[], &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.text().to_owned()
    };
    let hello = message_id(&post(json!([first])));
    let mut client = server.connect("/live");
    let weather = said("u2", "What is the weather in Oslo?");
    // A call of another mode's chat, which this one does not know.
    client.send(&json!({"type": "message", "messages": [first, settled, weather]}));
    let turn = message_id(&client.next().unwrap());
    while client.next().unwrap() != "data: [DONE]\n\n" {}
    // The same message again is the same turn: both ways have the same chat.
    let again = post(json!([first, settled, weather]));
    assert_eq!(message_id(&again), turn);
    // Another page that says the same has another chat.
    let other = post(json!([said("u9", "hello")]));
    assert_ne!(message_id(&other), hello);
    // Without an id, nothing tells a page from another.
    let body = json!({"messages": [{"role": "user", "content": "hello"}]}).to_string();
    let answer = server.post("/stream", &[], &body);
    assert_eq!(answer.json()["error"]["code"], "bad_request");
}

/// The chats that a principal has, by id, with whether each is archived.
fn chats(server: &Server) -> Vec<(String, bool)> {
    let list = server.get("/api/chats").json();
    let chats = list["chats"].as_array().unwrap().iter();
    let row = |chat: &Value| {
        (
            chat["id"].as_str().unwrap().to_owned(),
            chat["archived"] == true,
        )
    };
    chats.map(row).collect()
}

#[test]
fn page_whose_sessions_were_cleared_begins_a_new_chat() {
    let server = serve(&[]);
    let said = |id: &str, text: &str| json!({"id": id, "role": "user", "content": text});
    let pay = said("u1", "Send $20 to Sam");
    let post = |messages: Value| {
        let body = json!({"messages": messages}).to_string();
        let answer = server.post("/stream", &[], &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.text().to_owned()
    };
    let clear = || server.post("/clear-sessions", &[], "").json();
    // A chat that its page named is not one of these.
    server.post(
        "/api/chat",
        &[],
        &json!({"id": "own", "messages": [pay]}).to_string(),
    );
    let asked = message_id(&post(json!([pay])));
    assert_eq!(clear(), json!({"status": "success", "cleared": 1}));
    let first = chats(&server);
    assert_eq!(
        first.iter().filter(|(_, is_archived)| *is_archived).count(),
        1
    );
    let open = server.get("/api/approvals").json();
    assert_eq!(open["approvals"].as_array().unwrap().len(), 1, "{open}");
    // The same page again: another chat, which knows nothing of the first.
    let again = post(json!([pay]));
    assert_ne!(message_id(&again), asked);
    let mut client = server.connect("/live");
    client.send(&json!({"type": "message", "messages": [pay, said("u2", "hello")]}));
    let turn = message_id(&client.next().unwrap());
    while client.next().unwrap() != "data: [DONE]\n\n" {}
    assert_eq!(chats(&server).len(), first.len() + 1);
    // Also on a socket that is open, and over both ways.
    clear();
    client.send(&json!({"type": "message", "messages": [said("u3", "hello")]}));
    let new = message_id(&client.next().unwrap());
    while client.next().unwrap() != "data: [DONE]\n\n" {}
    assert_ne!(new, turn);
    assert_eq!(chats(&server).len(), first.len() + 2);
    // The journals are there.
    for (id, _) in chats(&server) {
        let journal = server.get(&format!("/api/chat/{id}/journal")).json();
        assert!(!journal["entries"].as_array().unwrap().is_empty(), "{id}");
    }
}
