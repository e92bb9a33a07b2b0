//! Consent over the wire: what counts as an answer, and to what it was given.

use std::mem::discriminant;

use serde_json::{Value, json};

use crate::guide;
use crate::process::{Server, serve};
use crate::socket::Client;

/// Asks the demo to pay in a chat of this id, and gives the approval that it waits for.
fn ask_to_pay(server: &Server, chat: &str) -> Value {
    let body = user_message(chat, "Send $20 to Sam");
    assert_eq!(server.post("/api/chat", &[], &body).status, 200);
    let waiting = server.get("/api/approvals").json();
    let waiting = waiting["approvals"].as_array().unwrap();
    let asked = waiting.iter().find(|asked| asked["chatId"] == chat);
    asked.expect("the payment is asked about").clone()
}

fn user_message(chat: &str, text: &str) -> String {
    let message = json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]});
    json!({"id": chat, "messages": [message]}).to_string()
}

fn path(approval: &Value) -> String {
    format!(
        "/api/approvals/{}",
        approval["approvalId"].as_str().unwrap()
    )
}

/// The next chunk of the legacy bridge's dialect.
fn chunk(client: &mut Client) -> Value {
    let text = client.next().unwrap();
    serde_json::from_str(text.strip_prefix("data: ").unwrap()).unwrap()
}

fn is_paid(server: &Server) -> bool {
    let wallet = server.get("/api/wallet").json();
    !wallet["payments"].as_array().unwrap().is_empty()
}

#[test]
fn only_an_object_that_says_everything_once_is_an_answer() {
    let server = serve();
    let approval = ask_to_pay(&server, "c1");
    for body in [
        "[true,null,null]",
        r#"[{"approved":true}]"#,
        "true",
        "null",
        r#"{"approved":false,"approved":true}"#,
        r#"{"approved":true,"approved":true}"#,
        r#"{"approved":"true"}"#,
        r#"{"approved":true,"input":{"amount":1,"amount":2}}"#,
        r#"{"approved":true,"sure":true}"#,
    ] {
        let answer = server.post(&path(&approval), &[], body);
        let error = answer.json()["error"].clone();
        assert_eq!(
            (answer.status, &error["code"]),
            (400, &json!("bad_request")),
            "{body}"
        );
        if body.contains("approved\":false") {
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("\"approved\""), "{message}");
        }
    }
    assert!(
        server
            .get(&path(&approval))
            .json()
            .get("decision")
            .is_none()
    );
    assert!(!is_paid(&server));
}

#[test]
fn approval_inside_a_message_that_is_given_twice_is_no_answer() {
    let server = serve();
    let approval = ask_to_pay(&server, "c1");
    let (id, call) = (&approval["approvalId"], &approval["toolCallId"]);
    let chat = server.get("/api/chat/c1").json();
    let assistant = chat["messages"][1]["id"].clone();
    let answers = [
        format!(r#"{{"id":{id},"approved":false,"approved":true}}"#),
        format!(r#"[{id},true]"#),
    ];
    for answer in answers {
        let part = format!(
            r#"{{"type":"tool-process_payment","toolCallId":{call},"state":"approval-responded","input":{},"approval":{answer}}}"#,
            approval["input"]
        );
        let message = format!(r#"{{"id":{assistant},"role":"assistant","parts":[{part}]}}"#);
        let body = format!(r#"{{"id":"c1","messages":[{message}]}}"#);
        let refused = server.post("/api/chat", &[], &body);
        assert_eq!(refused.status, 400, "{body}");
        assert_eq!(refused.json()["error"]["code"], "bad_request");
        // Over the WebSocket the same, in the SDK's frames and in the legacy bridge's.
        let mut client = server.connect("/live");
        client.send_text(&format!(
            r#"{{"type":"send","requestId":"r1","id":"c1","trigger":"submit-message","messages":[{message}]}}"#
        ));
        let frame = client.frame();
        assert_eq!(
            (&frame["type"], &frame["requestId"]),
            (&json!("error"), &json!("r1"))
        );
        client.send_text(&format!(
            r#"{{"type":"message","id":"c1","messages":[{message}]}}"#
        ));
        assert_eq!(chunk(&mut client)["type"], "error");
    }
    assert!(
        server
            .get(&path(&approval))
            .json()
            .get("decision")
            .is_none()
    );
    assert!(!is_paid(&server));
}

/// The body that docs/http.md shows for a refusal.
fn documented(code: &str) -> Value {
    serde_json::from_str(&guide::block("json", &format!("\"{code}\""))).unwrap()
}

/// Expects every documented field in the body, with a value of the same type.
fn expect_fields(documented: &Value, body: &Value) {
    assert_eq!(discriminant(documented), discriminant(body), "{body}");
    for (name, value) in documented.as_object().into_iter().flatten() {
        expect_fields(value, &body[name]);
    }
}

#[test]
fn refused_answers_are_as_documented() {
    let server = serve();
    let approval = ask_to_pay(&server, "c1");
    let answer = |answer: Value| server.post(&path(&approval), &[], &answer.to_string());

    let changed = answer(json!({"approved": true, "digest": "0".repeat(64)}));
    assert_eq!(changed.status, 409);
    expect_fields(&documented("approval_changed"), &changed.json());

    assert_eq!(answer(json!({"approved": true})).status, 200);
    let contrary = answer(json!({"approved": false}));
    assert_eq!(contrary.status, 409);
    assert_eq!(contrary.json()["error"]["code"], "already_decided");
    expect_fields(&documented("already_decided"), &contrary.json());
}

#[test]
fn answer_to_something_else_is_refused_with_what_is_asked_and_decides_nothing() {
    let server = serve();
    let approval = ask_to_pay(&server, "c1");
    let digest = approval["digest"].as_str().unwrap();
    assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let of_another = ask_to_pay(&server, "c2");
    // The same question of the same input is the same question.
    assert_eq!(of_another["digest"], approval["digest"]);

    let other = "0".repeat(64);
    for approved in [true, false] {
        let body = json!({"approved": approved, "digest": other}).to_string();
        let refused = server.post(&path(&approval), &[], &body);
        assert_eq!(refused.status, 409);
        let body = refused.json();
        assert_eq!(body["error"]["code"], "approval_changed");
        assert_eq!(body["digest"], approval["digest"]);
        assert_eq!(body["approval"], approval);
    }
    assert!(
        server
            .get(&path(&approval))
            .json()
            .get("decision")
            .is_none()
    );
    assert!(!is_paid(&server));

    let body = json!({"approved": true, "digest": digest}).to_string();
    let answer = server.post(&path(&approval), &[], &body);
    assert_eq!(
        (answer.status, &answer.json()["approved"]),
        (200, &json!(true))
    );
    // Who was shown something else does not take the decision for his own.
    let body = json!({"approved": true, "digest": other}).to_string();
    let late = server.post(&path(&approval), &[], &body);
    assert_eq!(late.json()["error"]["code"], "approval_changed");
    assert_eq!(late.json()["approval"]["decision"]["approved"], true);
}

#[test]
fn digest_that_a_stock_client_sends_back_counts_in_every_transport() {
    let server = serve();
    let approval = ask_to_pay(&server, "c1");
    let chat = server.get("/api/chat/c1").json();
    let assistant = chat["messages"][1].clone();
    let parts = assistant["parts"].as_array().unwrap();
    let shown = parts
        .iter()
        .find(|part| part["state"] == "approval-requested");
    let shown = shown.unwrap();
    assert_eq!(
        shown["approval"]["descriptor"]["digest"],
        approval["digest"]
    );

    // As addToolApprovalResponse does it.
    let respond = |digest: &Value| {
        let mut part = shown.clone();
        part["state"] = "approval-responded".into();
        part["approval"]["approved"] = true.into();
        part["approval"]["descriptor"]["digest"] = digest.clone();
        json!({"id": assistant["id"], "role": "assistant", "parts": [part]})
    };
    let wrong = respond(&json!("1".repeat(64)));
    let body = json!({"id": "c1", "messages": [wrong], "messageId": assistant["id"]});
    let refused = server.post("/api/chat", &[], &body.to_string());
    assert_eq!(refused.status, 409);
    assert_eq!(refused.json()["error"]["code"], "approval_changed");
    assert_eq!(refused.json()["digest"], approval["digest"]);
    assert_eq!(refused.json()["approval"], approval);

    let mut client = server.connect("/api/chat/live");
    client.send(
        &json!({"type": "send", "requestId": "r1", "id": "c1", "trigger": "submit-message",
                "messageId": assistant["id"], "messages": [wrong], "headers": {}, "body": {}}),
    );
    let frame = client.frame();
    let error_text = frame["errorText"].as_str().unwrap();
    assert!(error_text.starts_with("approval_changed: "), "{error_text}");
    let mut client = server.connect("/live");
    client.send(&json!({"type": "message", "id": "c1", "messages": [wrong]}));
    let error_text = chunk(&mut client)["errorText"].clone();
    assert!(
        error_text
            .as_str()
            .unwrap()
            .starts_with("approval_changed: "),
        "{error_text}"
    );
    assert!(client.next().unwrap().contains("[DONE]"));
    let result = json!({"approved": true, "digest": "1"});
    let result =
        json!({"type": "tool-result", "toolCallId": approval["toolCallId"], "result": result});
    let message = json!({"role": "user", "parts": [result]});
    client.send(&json!({"type": "message", "id": "c1", "messages": [message]}));
    let error_text = chunk(&mut client)["errorText"].clone();
    assert!(
        error_text
            .as_str()
            .unwrap()
            .starts_with("approval_changed: "),
        "{error_text}"
    );
    assert!(!is_paid(&server));

    let body = json!({"id": "c1", "messages": [respond(&approval["digest"])], "messageId": assistant["id"]});
    assert_eq!(server.post("/api/chat", &[], &body.to_string()).status, 200);
    assert!(is_paid(&server));
}

/// A question that asks for data is answered by the output of a call, which has no approval: the digest is in
/// the call's metadata, which stock clients send back with all of the message.
#[test]
fn digest_of_a_question_that_asks_for_data_counts_in_a_message_too() {
    let server = serve();
    let body = user_message("c1", "Book a table");
    assert_eq!(server.post("/api/chat", &[], &body).status, 200);
    let asked = server.get("/api/approvals").json()["approvals"][0].clone();
    assert_eq!(asked["kind"], "question");
    let chat = server.get("/api/chat/c1").json();
    let assistant = chat["messages"][1].clone();
    let parts = assistant["parts"].as_array().unwrap();
    let shown = parts
        .iter()
        .find(|part| part["toolCallId"] == asked["toolCallId"]);
    let shown = shown.unwrap();
    let digest = &shown["callProviderMetadata"]["adkStream"]["question"]["digest"];
    assert_eq!(*digest, asked["digest"]);

    // As addToolOutput does it, and as it declines.
    let table =
        json!({"date": "2026-12-24", "time": "19:00", "people": 4, "contact": {"name": "Ann"}});
    let give = |digest: &Value, outcome: &Value| {
        let mut part = shown.clone();
        let fields = part.as_object_mut().unwrap();
        fields.extend(outcome.as_object().unwrap().clone());
        part["callProviderMetadata"]["adkStream"]["question"]["digest"] = digest.clone();
        json!({"id": assistant["id"], "role": "assistant", "parts": [part]})
    };
    let answered = json!({"state": "output-available", "output": table});
    let declined = json!({"state": "output-error", "errorText": "Declined"});
    let other = json!("1".repeat(64));
    for outcome in [&answered, &declined] {
        let wrong = give(&other, outcome);
        let body = json!({"id": "c1", "messages": [wrong], "messageId": assistant["id"]});
        let refused = server.post("/api/chat", &[], &body.to_string());
        assert_eq!(refused.status, 409, "{}", refused.text());
        assert_eq!(refused.json()["error"]["code"], "approval_changed");
        assert_eq!(refused.json()["digest"], asked["digest"]);
        assert_eq!(refused.json()["approval"], asked);
        let mut client = server.connect("/api/chat/live");
        client.send(
            &json!({"type": "send", "requestId": "r1", "id": "c1", "trigger": "submit-message",
                    "messageId": assistant["id"], "messages": [wrong], "headers": {}, "body": {}}),
        );
        assert_eq!(client.frame()["code"], "approval_changed");
    }
    let open = server.get(&path(&asked)).json();
    assert_eq!(open.get("decision"), None);

    let right = give(&asked["digest"], &answered);
    let body = json!({"id": "c1", "messages": [right], "messageId": assistant["id"]});
    assert_eq!(server.post("/api/chat", &[], &body.to_string()).status, 200);
    let decided = server.get(&path(&asked)).json();
    assert_eq!(decided["decision"]["answer"], table);
}

#[test]
fn one_approval_is_shown_to_its_owner_open_and_decided() {
    let server = serve();
    let approval = ask_to_pay(&server, "c1");
    let open = server.get(&path(&approval));
    assert_eq!(
        (open.status, open.header("cache-control")),
        (200, Some("no-store"))
    );
    assert_eq!(open.json(), approval);
    assert_eq!(approval["question"], "Send 20 USD to Sam?");
    assert_eq!(
        (&approval["within"], &approval["editable"]),
        (&json!(false), &json!(true))
    );

    let denied = server.post(&path(&approval), &[], r#"{"approved":false,"reason":"no"}"#);
    assert_eq!(denied.status, 200);
    let mut decided = server.get(&path(&approval)).json();
    let decision = decided.as_object_mut().unwrap().remove("decision").unwrap();
    assert_eq!(decided, approval);
    assert_eq!(decision, denied.json());

    let unknown = server.get("/api/approvals/nobody-asked");
    assert_eq!(unknown.status, 404);
    assert_eq!(unknown.json()["error"]["code"], "unknown_approval");
}

#[test]
fn edited_input_that_the_tool_does_not_declare_is_refused() {
    let server = serve();
    let approval = ask_to_pay(&server, "c1");
    for input in [
        r#"[500,"Mallory","USD",""]"#,
        r#"{"amount":500}"#,
        r#"{"amount":5,"recipient":"Sam","memo":"x"}"#,
        r#"{"amount":5,"recipient":"Sam","__proto__":{"recipient":"Mallory"}}"#,
    ] {
        let body = format!(r#"{{"approved":true,"input":{input}}}"#);
        let refused = server.post(&path(&approval), &[], &body);
        assert_eq!(refused.status, 400, "{input}");
        assert_eq!(refused.json()["error"]["code"], "invalid_input");
    }
    assert!(!is_paid(&server));
    let body = r#"{"approved":true,"input":{"amount":5,"recipient":"Sam"}}"#;
    let answer = server.post(&path(&approval), &[], body);
    assert_eq!(answer.status, 200);
}

#[test]
fn edited_number_that_would_run_rounded_is_refused() {
    let server = serve();
    let approval = ask_to_pay(&server, "c1");
    for (number, code) in [
        ("0.10000000000000000001", "bad_request"),
        ("100000000000000000000001", "bad_request"),
        ("1e23", "invalid_input"),
    ] {
        let input = format!(r#"{{"amount":{number},"recipient":"Sam"}}"#);
        let body = format!(r#"{{"approved":true,"input":{input}}}"#);
        let refused = server.post(&path(&approval), &[], &body);
        assert_eq!(refused.status, 400, "{number}");
        assert_eq!(refused.json()["error"]["code"], code, "{number}");
        let says = match code {
            "bad_request" => format!("input: {number} would be rounded"),
            _ => "a number is too large".to_owned(),
        };
        assert!(refused.text().contains(&says), "{}", refused.text());
    }
    assert!(!is_paid(&server));
}

#[test]
fn output_that_the_tool_does_not_declare_is_refused_and_the_call_stays_open() {
    let server = serve();
    let body = user_message("c1", "Where am I?");
    assert_eq!(server.post("/api/chat", &[], &body).status, 200);
    let asked = server.get("/api/approvals").json()["approvals"][0].clone();
    assert_eq!(asked["toolName"], "get_location");
    let approved = server.post(&path(&asked), &[], r#"{"approved":true}"#);
    assert_eq!(approved.status, 200);
    let call = asked["toolCallId"].as_str().unwrap();
    let give = |body: &str| server.post(&format!("/api/calls/{call}"), &[], body);

    let good = r#"{"output":{"latitude":59.9,"longitude":10.7,"city":"Oslo"}}"#;
    let twice = r#"{"output":{"latitude":1},"output":{"latitude":2}}"#;
    for (body, code) in [
        (r#"{"output":{"latitude":"north"}}"#, "invalid_output"),
        (r#"{"output":{"latitude":91}}"#, "invalid_output"),
        (r#"{"output":[59.9,10.7]}"#, "invalid_output"),
        (r#"{"output":{}}"#, "invalid_output"),
        (r#"[{"output":{"latitude":59.9}}]"#, "bad_request"),
        (twice, "bad_request"),
    ] {
        let refused = give(body);
        assert_eq!(refused.status, 400, "{body}");
        assert_eq!(refused.json()["error"]["code"], code, "{body}");
    }
    let mut client = server.connect("/live");
    let result = json!({"latitude": "north"});
    client.send(&json!({"type": "tool_result", "toolCallId": call, "result": result}));
    let error_text = chunk(&mut client)["errorText"].clone();
    let error_text = error_text.as_str().unwrap();
    assert!(error_text.starts_with("invalid_output: "), "{error_text}");
    assert_eq!(server.get("/api/chat/c1").json()["status"], "parked");
    assert_eq!(give(good).json()["taken"], true);
}

#[test]
fn chats_are_not_opened_under_ids_that_routes_can_not_hold() {
    let server = serve();
    let long = "x".repeat(257);
    let longer = "x".repeat(600);
    for id in [
        "", ".", "..", "live", "a/b", "a\\b", "a?b", "a#b", "50%", "a\nb", &long, &longer,
    ] {
        let run = json!({"threadId": id, "runId": "r1",
                         "messages": [{"id": "u1", "role": "user", "content": "hi"}]});
        for (route, body) in [
            ("/api/chat", user_message(id, "hi")),
            ("/stream", user_message(id, "hi")),
            ("/api/ag-ui", run.to_string()),
        ] {
            let refused = server.post(route, &[], &body);
            assert_eq!(refused.status, 400, "{id:?}");
            assert_eq!(refused.json()["error"]["code"], "invalid_chat_id", "{id:?}");
        }
        let message: Value = serde_json::from_str(&user_message(id, "hi")).unwrap();
        let messages = &message["messages"];
        let mut client = server.connect("/live");
        client.send(
            &json!({"type": "send", "requestId": "r1", "id": id, "trigger": "submit-message",
                    "messages": messages, "headers": {}, "body": {}}),
        );
        let frame = client.frame();
        assert_eq!(frame["type"], "error", "{id:?}");
        let error_text = frame["errorText"].as_str().unwrap();
        assert!(error_text.starts_with("invalid_chat_id: "), "{error_text}");
        client.send(&json!({"type": "message", "id": id, "messages": messages}));
        let error_text = chunk(&mut client)["errorText"].clone();
        assert!(
            error_text
                .as_str()
                .unwrap()
                .starts_with("invalid_chat_id: "),
            "{error_text}"
        );
    }
}
