//! Tools that a page declares in its request, through the routes of the binary.

use serde_json::{Value, json};

use crate::file_agent::{gemini, model, recording_gemini, serve, settled, with_file};
use crate::process::Server;
use crate::request::Answer;

const COLOR: &str = "[client.pick_color]\ndescription = 'The words of the file.'\nallow = true\n\
                     input = { type = 'object', properties = { what = { type = 'string' } }, required = ['what'] }\n";

fn file(page_tools: &str, more: &str) -> String {
    let agent = format!("[agents.shop]\nmodel = 'main'\n{page_tools}\n");
    format!("{agent}{}{more}", model(gemini()))
}

/// Sends a message with the tools of a page.
fn send(server: &Server, chat: &str, text: &str, tools: &Value) -> Answer {
    let message = json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]});
    let body = json!({
        "id": chat, "trigger": "submit-message", "messages": [message], "tools": tools,
    });
    server.post("/api/chat", &[], &body.to_string())
}

/// A tool as assistant-ui declares it.
fn color() -> Value {
    json!({"pick_color": {
        "description": "Has the user pick a colour.",
        "parameters": {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"what": {"type": "string"}},
            "required": ["what"],
            "additionalProperties": false,
        },
    }})
}

/// The one call of a chat.
fn call(server: &Server, chat: &str) -> Value {
    let read = server.get(&format!("/api/chat/{chat}")).json();
    let parts = read["messages"][1]["parts"].as_array().unwrap().clone();
    let mut parts = parts.into_iter();
    let call = parts.find(|part| part["type"] == "tool-pick_color");
    call.unwrap_or_else(|| panic!("{read}"))
}

fn give(server: &Server, call: &Value, output: &Value) -> Answer {
    let path = format!("/api/calls/{}", call["toolCallId"].as_str().unwrap());
    server.post(&path, &[], &json!({"output": output}).to_string())
}

#[test]
fn declared_tool_is_offered_to_the_model_and_runs_in_the_page_after_a_kill() {
    let (bodies, gemini) = recording_gemini();
    let toml = format!(
        "[agents.shop]\nmodel = 'main'\npage-tools = {{ names = ['pick_*'], allow = ['pick_color'] }}\n{}",
        model(gemini)
    );
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("chats.db").display());
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--store", &store];
    let mut server = with_file(&arguments, &toml).running();
    let window = send(&server, "c1", r#"pick_color {"what": "sky"}"#, &color());
    assert_eq!(window.status, 200, "{}", window.text());
    assert!(
        window.text().contains("tool-input-available"),
        "{}",
        window.text()
    );
    server.signal("KILL");
    server.ended();
    let server = with_file(&arguments, &toml).running();
    assert_eq!(
        give(&server, &call(&server, "c1"), &json!("blue")).status,
        200
    );
    assert_eq!(settled(&server, "c1")["output"], "blue");
    let journal = server.get("/api/chat/c1/journal").json().to_string();
    assert!(journal.contains("pageTools"), "{journal}");
    // Before the kill and after it, the model was offered the tool, without the page's `$schema`.
    let bodies = bodies.lock().unwrap();
    assert_eq!(bodies.len(), 2);
    for body in &*bodies {
        let offered = body["tools"].to_string();
        assert!(offered.contains("pick_color"), "{offered}");
        assert!(offered.contains("Has the user pick"), "{offered}");
        assert!(!offered.contains("$schema"), "{offered}");
    }
}

#[test]
fn declared_tool_asks_unless_the_file_allows_it() {
    let server = serve(&file("page-tools = ['pick_*']", ""));
    let window = send(&server, "c1", r#"pick_color {"what": "sky"}"#, &color());
    assert!(
        window.text().contains("tool-approval-request"),
        "{}",
        window.text()
    );
    let open = server.get("/api/approvals").json();
    let id = open["approvals"][0]["approvalId"].as_str().unwrap();
    let path = format!("/api/approvals/{id}");
    assert_eq!(server.post(&path, &[], r#"{"approved": true}"#).status, 200);
    assert_eq!(
        give(&server, &call(&server, "c1"), &json!("blue")).status,
        200
    );
    assert_eq!(settled(&server, "c1")["output"], "blue");
}

#[test]
fn edited_input_of_a_declared_tool_is_held_to_its_schema() {
    let server = serve(&file("page-tools = ['pick_*']", ""));
    send(&server, "c1", r#"pick_color {"what": "sky"}"#, &color());
    let open = server.get("/api/approvals").json();
    let id = open["approvals"][0]["approvalId"].as_str().unwrap();
    let path = format!("/api/approvals/{id}");
    let edit = json!({"approved": true, "input": {"which": "sea"}}).to_string();
    let refused = server.post(&path, &[], &edit);
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(
        refused.text().contains("invalid_input"),
        "{}",
        refused.text()
    );
    let edit = json!({"approved": true, "input": {"what": "sea"}}).to_string();
    assert_eq!(server.post(&path, &[], &edit).status, 200);
    let journal = server.get("/api/chat/c1/journal").json().to_string();
    assert!(journal.contains(r#""input":{"what":"sea"}"#), "{journal}");
    // The page runs what was approved.
    let part = call(&server, "c1");
    assert_eq!(part["input"], json!({"what": "sea"}), "{part}");
    assert_eq!(
        give(&server, &call(&server, "c1"), &json!("blue")).status,
        200
    );
    assert_eq!(settled(&server, "c1")["input"], json!({"what": "sea"}));
}

#[test]
fn tools_that_the_file_does_not_name_are_ignored() {
    for page_tools in ["", "page-tools = ['get_*']"] {
        let server = serve(&file(page_tools, ""));
        let window = send(&server, "c1", r#"pick_color {"what": "sky"}"#, &color());
        assert_eq!(window.status, 200, "{}", window.text());
        assert!(
            window.text().contains("There is no tool pick_color."),
            "{}",
            window.text()
        );
        let journal = server.get("/api/chat/c1/journal").json().to_string();
        assert!(!journal.contains("pageTools"), "{journal}");
    }
    // Where no page may declare tools, the field is the application's own.
    let server = serve(&file("", ""));
    let window = send(&server, "c2", "hi", &json!("whatever"));
    assert_eq!(window.status, 200, "{}", window.text());
}

#[test]
fn named_tool_that_is_not_declared_right_is_refused_and_nothing_is_taken() {
    let server = serve(&file("page-tools = ['pick_*']", COLOR));
    for tools in [
        json!("pick_color"),
        json!({"pick_color": {"description": "No schema."}}),
        json!({"pick_day": {"parameters": {"type": "object", "properties": {"a": {"type": 7}}}}}),
        // The file declares another input of it.
        json!({"pick_color": {"parameters": {"type": "object", "properties": {}}}}),
    ] {
        let refused = send(&server, "c1", "hi", &tools);
        assert_eq!(refused.status, 400, "{tools}: {}", refused.text());
        assert!(
            refused.text().contains("invalid_page_tool"),
            "{}",
            refused.text()
        );
        assert_eq!(server.get("/api/chat/c1").status, 404, "{tools}");
    }
    let taken = send(&server, "c1", r#"pick_color {"what": "sky"}"#, &color());
    assert!(
        taken.text().contains("tool-input-available"),
        "{}",
        taken.text()
    );
}

#[test]
fn answer_counts_although_its_request_declares_tools_that_can_not_be_used() {
    let server = serve(&file(
        "page-tools = { names = ['pick_*'], allow = ['pick_color'] }",
        "",
    ));
    send(&server, "c1", r#"pick_color {"what": "sky"}"#, &color());
    let mut part = call(&server, "c1");
    part["state"] = "output-available".into();
    part["output"] = "blue".into();
    let mut messages = server.get("/api/chat/c1").json()["messages"].clone();
    messages[1]["parts"] = json!([part]);
    let body = json!({
        "id": "c1", "trigger": "submit-message", "messages": messages,
        "tools": {"pick_color": "broken"},
    });
    let window = server.post("/api/chat", &[], &body.to_string());
    assert_eq!(window.status, 200, "{}", window.text());
    assert_eq!(settled(&server, "c1")["output"], "blue");
}

#[test]
fn tool_that_the_file_declares_is_offered_in_the_words_of_the_file() {
    let (bodies, gemini) = recording_gemini();
    let agent = "[agents.shop]\nmodel = 'main'\npage-tools = ['pick_color']\n";
    let server = serve(&format!("{agent}{}{COLOR}", model(gemini)));
    send(&server, "c1", "hi", &Value::Null);
    send(&server, "c2", "hi", &color());
    let bodies = bodies.lock().unwrap();
    assert!(!bodies[0].to_string().contains("pick_color"));
    let offered = bodies[1]["tools"].to_string();
    assert!(offered.contains("The words of the file."), "{offered}");
    assert!(!offered.contains("Has the user pick"), "{offered}");
}

#[test]
fn mistakes_in_page_tools_are_shown_with_their_place() {
    let toml = file(
        "page-tools = { names = ['pick_*'], allow = ['pikc_color'] }",
        "",
    );
    let (code, said) = with_file(&["check", "--offline"], &toml).ended();
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("adk-stream.toml:3:45: `pikc_color` fits none of names"),
        "{said}"
    );
    let toml = file("page-tools = { allow = ['a'] }", "");
    let (_, said) = with_file(&["check", "--offline"], &toml).ended();
    assert!(said.contains("missing field `names`"), "{said}");
}
