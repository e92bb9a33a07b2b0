//! Questions that ask for data: over REST, in a chat message, and what pages are shown.

use serde_json::{Value, json};

use crate::guide;
use crate::process::{Server, serve};

/// Has the demo ask for a table in a chat of this id, and gives the question as the list has it.
fn ask_for_a_table(server: &Server, chat: &str) -> Value {
    let message =
        json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Book a table"}]});
    let body = json!({"id": chat, "messages": [message]}).to_string();
    assert_eq!(server.post("/api/chat", &[], &body).status, 200);
    let waiting = server.get("/api/approvals").json();
    let waiting = waiting["approvals"].as_array().unwrap();
    let asked = waiting.iter().find(|asked| asked["chatId"] == chat);
    asked.expect("the table is asked about").clone()
}

fn path(asked: &Value) -> String {
    format!("/api/approvals/{}", asked["approvalId"].as_str().unwrap())
}

fn table() -> Value {
    json!({"date": "2026-12-24", "time": "19:00", "people": 4, "contact": {"name": "Ann"}})
}

/// The assistant's message of a chat.
fn answer_of(server: &Server, chat: &str) -> Value {
    let view = server.get(&format!("/api/chat/{chat}")).json();
    view["messages"].as_array().unwrap().last().unwrap().clone()
}

fn call<'a>(message: &'a Value, tool: &str) -> &'a Value {
    let parts = message["parts"].as_array().unwrap();
    let kind = format!("tool-{tool}");
    parts.iter().find(|part| part["type"] == kind).unwrap()
}

#[test]
fn question_is_listed_with_its_schema_and_answered_with_data() {
    let server = serve();
    let asked = ask_for_a_table(&server, "c1");
    assert_eq!(asked["kind"], "question");
    assert_eq!(asked["question"], "When, and for how many?");
    assert_eq!(asked["toolName"], "ask_user");
    assert_eq!(asked["within"], true);
    assert_eq!(asked["editable"], false);
    assert_eq!(asked["schema"]["required"][0], "date");
    assert_eq!(asked["input"]["schema"], asked["schema"]);

    // What a page finds: a call of its own, which names the question.
    let message = answer_of(&server, "c1");
    let shown = call(&message, "ask_user");
    assert_eq!(shown["state"], "input-available");
    assert_eq!(shown["input"]["question"], asked["question"]);
    let noted = &shown["callProviderMetadata"]["adkStream"]["question"];
    assert_eq!(noted["approvalId"], asked["approvalId"]);
    assert_eq!(noted["digest"], asked["digest"]);

    let answer = |body: Value| server.post(&path(&asked), &[], &body.to_string());
    let wrong = answer(json!({"answer": {"date": "soon", "people": 40, "contact": {}}}));
    assert_eq!(wrong.status, 400);
    let error = wrong.json()["error"].clone();
    assert_eq!(error["code"], "invalid_answer");
    let fields = error["fields"].as_array().unwrap();
    let mut paths: Vec<_> = fields
        .iter()
        .map(|it| it["path"].as_str().unwrap())
        .collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/contact/name", "/date", "/people", "/time"]);
    assert_eq!(answer(json!({"approved": true})).status, 400);
    let other = answer(json!({"answer": table(), "digest": "00"}));
    assert_eq!(
        (other.status, &other.json()["error"]["code"]),
        (409, &json!("approval_changed"))
    );
    assert_eq!(other.json()["approval"]["schema"], asked["schema"]);

    let taken = answer(json!({"answer": table(), "digest": asked["digest"]}));
    assert_eq!(taken.status, 200, "{:?}", taken.json());
    assert_eq!(taken.json()["answer"], table());
    // The first answer counts; the same again agrees.
    assert_eq!(answer(json!({"answer": table()})).status, 200);
    let late = answer(json!({"declined": true}));
    assert_eq!(
        (late.status, &late.json()["error"]["code"]),
        (409, &json!("already_decided"))
    );
    assert_eq!(
        server.get(&path(&asked)).json()["decision"]["answer"],
        table()
    );

    server.get("/api/chat/c1/stream");
    let message = answer_of(&server, "c1");
    assert_eq!(call(&message, "ask_user")["output"], table());
    assert_eq!(call(&message, "book_table")["output"]["people"], 4);
}

#[test]
fn question_is_answered_and_refused_as_documented() {
    let server = serve();
    let asked = ask_for_a_table(&server, "c1");
    // As docs/http.md has it.
    let command = guide::block("sh", "/api/approvals/APPROVAL_ID");
    let body = command
        .split("-d '")
        .nth(1)
        .and_then(|rest| rest.split('\'').next());
    let body = body.unwrap();
    let body = body.replace("DIGEST", asked["digest"].as_str().unwrap());
    let body: Value = serde_json::from_str(&body).unwrap();
    let answer = |body: &Value| server.post(&path(&asked), &[], &body.to_string());

    let mut partial = body.clone();
    partial["answer"].as_object_mut().unwrap().remove("people");
    let refused = answer(&partial);
    assert_eq!(refused.status, 400);
    let documented = guide::block("json", "\"invalid_answer\"");
    let documented: Value = serde_json::from_str(&documented).unwrap();
    let fields = |body: &Value| body["error"]["fields"].clone();
    assert_eq!(fields(&refused.json()), fields(&documented));

    let taken = answer(&body);
    assert_eq!(taken.status, 200, "{:?}", taken.json());
    assert_eq!(taken.json()["answer"], table());
}

#[test]
fn person_may_decline() {
    let server = serve();
    let asked = ask_for_a_table(&server, "c1");
    let body = json!({"declined": true, "reason": "not today"}).to_string();
    let declined = server.post(&path(&asked), &[], &body);
    assert_eq!(declined.status, 200);
    assert_eq!(declined.json()["declined"], true);
    assert_eq!(declined.json()["reason"], "not today");
    assert!(declined.json().get("approved").is_none());
    server.get("/api/chat/c1/stream");
    let message = answer_of(&server, "c1");
    let shown = call(&message, "ask_user");
    assert_eq!(shown["state"], "output-error");
    assert_eq!(shown["errorText"], "Declined: not today");
}

#[test]
fn page_answers_by_its_call_and_an_answer_that_does_not_fit_leaves_it_open() {
    let server = serve();
    let asked = ask_for_a_table(&server, "c1");
    let call_path = format!("/api/calls/{}", asked["toolCallId"].as_str().unwrap());
    let wrong = server.post(&call_path, &[], r#"{"output":{"people":4}}"#);
    assert_eq!(
        (wrong.status, &wrong.json()["error"]["code"]),
        (400, &json!("invalid_answer"))
    );
    assert!(server.get(&path(&asked)).json().get("decision").is_none());

    // As a stock page sends it, in its message.
    let mut message = answer_of(&server, "c1");
    let parts = message["parts"].as_array_mut().unwrap();
    let shown = parts
        .iter_mut()
        .find(|part| part["type"] == "tool-ask_user")
        .unwrap();
    shown["state"] = "output-available".into();
    shown["output"] = json!({"people": 4});
    let send = |message: &Value| {
        let body = json!({"id": "c1", "messages": [message]});
        server.post("/api/chat", &[], &body.to_string())
    };
    let refused = send(&message);
    assert_eq!(
        (refused.status, &refused.json()["error"]["code"]),
        (400, &json!("invalid_answer"))
    );
    let parts = message["parts"].as_array_mut().unwrap();
    let shown = parts
        .iter_mut()
        .find(|part| part["type"] == "tool-ask_user")
        .unwrap();
    shown["output"] = table();
    assert_eq!(send(&message).status, 200);
    let decision = server.get(&path(&asked)).json()["decision"].clone();
    assert_eq!(decision["answer"], table());
}
