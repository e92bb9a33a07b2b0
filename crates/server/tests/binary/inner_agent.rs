//! An agent of the file that another one uses as a tool: its questions have the path of who asks, its
//! answers come back to it, and after a kill nothing of what it did is done again.

use serde_json::{Value, json};

use crate::file_agent::{
    Shop, model, recording_gemini, refund_tool, say, serve, settled, with_file,
};
use crate::process::Server;

/// The model calls what its message says: the support the clerk, and the clerk a tool.
fn request(tool: &str, order: &str) -> String {
    let inner = format!("{tool} {}", json!({"order": order}));
    format!("clerk {}", json!({"request": inner}))
}

fn file(gemini: std::net::SocketAddr, shop: std::net::SocketAddr) -> String {
    let url = |kind: &str| format!("http://{shop}/{kind}");
    let refund = refund_tool(
        "refund",
        &url("plain"),
        "",
        "ask = 'Refund order {{input.order}}?'",
    );
    let plain = refund_tool("plain", &url("plain"), "", "allow = true");
    let keyed = refund_tool(
        "keyed",
        &url("keyed"),
        ", idempotency-header = 'Idempotency-Key'",
        "allow = true",
    );
    format!(
        "[agents.support]\nmodel = 'main'\ninstruction = 'You are support.'\nagents = ['clerk']\n\
         [agents.clerk]\nmodel = 'main'\ninstruction = 'You are the clerk.'\n\
         description = 'Refunds orders.'\ntools = ['refund', 'plain', 'keyed']\n\
         {}{refund}{plain}{keyed}",
        model(gemini)
    )
}

/// A server on a file of chats.
fn start(toml: &str, store: &str) -> Server {
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--agent", "support"];
    let arguments = [&arguments[..], &["--store", store, "--lease", "1"]].concat();
    with_file(&arguments, toml)
        .variable("ADK_STREAM_LOG", "error")
        .running()
}

fn store(folder: &tempfile::TempDir) -> String {
    format!("sqlite:{}", folder.path().join("chats.db").display())
}

fn approval(server: &Server) -> Value {
    let open = server.get("/api/approvals").json();
    let open = open["approvals"].as_array().unwrap().clone();
    assert_eq!(open.len(), 1, "{open:?}");
    open[0].clone()
}

fn answer(server: &Server, approval: &Value, body: &Value) -> u16 {
    let id = approval["approvalId"].as_str().unwrap();
    let path = format!("/api/approvals/{id}");
    server.post(&path, &[], &body.to_string()).status
}

/// What a model was sent of results, by the instruction under which it was asked.
fn results(bodies: &[Value], instruction: &str) -> Vec<Value> {
    let of_agent = bodies
        .iter()
        .filter(|body| body["systemInstruction"].to_string().contains(instruction));
    let contents = of_agent.flat_map(|body| body["contents"].as_array().unwrap().clone());
    let parts = contents.flat_map(|content| content["parts"].as_array().unwrap().clone());
    parts
        .filter(|part| part.get("functionResponse").is_some())
        .collect()
}

fn part(message: &Value, tool: &str) -> Value {
    let parts = message["parts"].as_array().unwrap();
    let kind = format!("tool-{tool}");
    let found = parts.iter().find(|part| part["type"] == kind);
    found.unwrap_or_else(|| panic!("{message}")).clone()
}

fn assistant(server: &Server, chat: &str) -> Value {
    let read = server.get(&format!("/api/chat/{chat}")).json();
    read["messages"].as_array().unwrap().last().unwrap().clone()
}

#[test]
fn question_inside_names_who_asks_and_its_answer_after_a_kill_reaches_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let (shop, address) = Shop::start();
    let (bodies, gemini) = recording_gemini();
    let toml = file(gemini, address);
    let mut server = start(&toml, &store(&folder));
    let window = say(&server, "c1", &request("refund", "A-1"));
    assert!(window.contains("tool-approval-request"), "{window}");

    let asked = approval(&server);
    assert_eq!(asked["toolName"], "refund");
    assert_eq!(asked["input"], json!({"order": "A-1"}));
    assert_eq!(asked["question"], "Refund order A-1?");
    assert_eq!(asked["path"], json!(["support", "clerk"]));
    assert_eq!(asked["editable"], false);
    // What a page shows: the call itself, with its input, and the path in what v7 reads.
    let shown = part(&assistant(&server, "c1"), "refund");
    assert_eq!(shown["state"], "approval-requested", "{shown}");
    assert_eq!(shown["input"], json!({"order": "A-1"}));
    let v7 = server.get("/api/chat/c1/stream?profile=v7");
    let path = r#""path":["support","clerk"]"#;
    assert!(v7.text().contains(path), "{}", v7.text());
    assert!(shop.ledger().requests.is_empty());

    let before = bodies.lock().unwrap().len();
    server.signal("KILL");
    server.ended();
    server = start(&toml, &store(&folder));
    assert_eq!(approval(&server)["digest"], asked["digest"]);
    let body = json!({"approved": true, "digest": asked["digest"]});
    assert_eq!(answer(&server, &asked, &body), 200);
    settled(&server, "c1");

    let message = assistant(&server, "c1");
    let refund = part(&message, "refund");
    assert_eq!(refund["state"], "output-available", "{refund}");
    assert_eq!(refund["output"]["refunded"], "A-1");
    assert_eq!(part(&message, "clerk")["output"], "Done.");
    assert_eq!(shop.ledger().requests["A-1"], 1);
    // One step of the clerk and one of the support: what was said before the kill is not asked for again.
    let bodies = bodies.lock().unwrap();
    assert_eq!(bodies.len() - before, 2, "{bodies:?}");
    let received = results(&bodies, "You are the clerk.");
    assert!(received[0].to_string().contains("A-1"), "{received:?}");
    // Of the clerk's work the support gets the answer alone.
    let received = results(&bodies, "You are support.");
    let received = serde_json::to_string(&received).unwrap();
    assert!(
        received.contains("Done.") && !received.contains("refunded"),
        "{received}"
    );
}

#[test]
fn denial_with_a_reason_reaches_the_agent_inside() {
    let (shop, address) = Shop::start();
    let (bodies, gemini) = recording_gemini();
    let server = serve(&format!("agent = 'support'\n{}", file(gemini, address)));
    say(&server, "c1", &request("refund", "A-2"));
    let asked = approval(&server);
    let body = json!({"approved": false, "reason": "Not without a receipt"});
    assert_eq!(answer(&server, &asked, &body), 200);
    settled(&server, "c1");
    let message = assistant(&server, "c1");
    assert_eq!(part(&message, "refund")["state"], "output-denied");
    // The clerk went on, and so the support's call has its answer.
    assert_eq!(part(&message, "clerk")["output"], "Done.");
    let received = results(&bodies.lock().unwrap(), "You are the clerk.");
    let received = serde_json::to_string(&received).unwrap();
    assert!(received.contains("Not without a receipt"), "{received}");
    assert!(shop.ledger().requests.is_empty());
}

#[test]
fn answer_in_a_chat_message_of_a_stock_page_reaches_the_agent_inside() {
    let (shop, address) = Shop::start();
    let (_, gemini) = recording_gemini();
    let server = serve(&format!("agent = 'support'\n{}", file(gemini, address)));
    say(&server, "c1", &request("refund", "A-3"));
    let read = server.get("/api/chat/c1").json();
    let mut messages = read["messages"].clone();
    let last = messages.as_array_mut().unwrap().last_mut().unwrap();
    let id = last["id"].clone();
    let parts = last["parts"].as_array_mut().unwrap();
    // The last step holds the question alone, so the stock predicates send the answer.
    let begun = parts.iter().rposition(|part| part["type"] == "step-start");
    let in_step: Vec<_> = parts[begun.unwrap() + 1..].iter().collect();
    assert_eq!(in_step.len(), 1, "{parts:?}");
    let asked = parts.last_mut().unwrap();
    assert_eq!(asked["type"], "tool-refund");
    asked["state"] = json!("approval-responded");
    asked["approval"]["approved"] = json!(true);
    let body =
        json!({"id": "c1", "messages": messages, "trigger": "submit-message", "messageId": id});
    let answered = server.post("/api/chat", &[], &body.to_string());
    assert_eq!(answered.status, 200, "{}", answered.text());
    assert!(answered.text().contains("Done."), "{}", answered.text());
    settled(&server, "c1");
    assert_eq!(shop.ledger().effects["A-3"], 1);
}

/// A kill while a tool of the agent inside is at work: what may run twice under its key does, and of the
/// other the outcome is unknown.
#[test]
fn killed_while_a_tool_inside_is_at_work_nothing_happens_twice() {
    for (tool, order, is_known) in [("keyed", "k-2", true), ("plain", "p-2", false)] {
        let folder = tempfile::tempdir().unwrap();
        let (shop, address) = Shop::start();
        let (bodies, gemini) = recording_gemini();
        let toml = file(gemini, address);
        let mut server = start(&toml, &store(&folder));
        shop.hold();
        std::thread::scope(|scope| {
            let (at, text) = (server.address, request(tool, order));
            scope.spawn(move || crate::file_crash::say_to(at, order, &text));
            shop.wait_for_held(1);
            server.signal("KILL");
            server.ended();
            shop.release();
        });
        server = start(&toml, &store(&folder));
        let clerk = settled(&server, order);
        // The clerk went on after the restart, and the support with it.
        assert_eq!(clerk["output"], "Done.", "{clerk}");
        let ledger = shop.ledger();
        assert_eq!(ledger.effects[order], 1, "{tool}");
        assert_eq!(ledger.requests[order], if is_known { 2 } else { 1 });
        let received = results(&bodies.lock().unwrap(), "You are the clerk.");
        let received = serde_json::to_string(&received).unwrap();
        assert_eq!(received.contains("unknown"), !is_known, "{received}");
    }
}

#[test]
fn check_prints_the_agents_that_one_uses() {
    let (_, address) = Shop::start();
    let (_, gemini) = recording_gemini();
    let toml = file(gemini, address);
    let arguments = ["check", "--agent", "support"];
    let printed = with_file(&arguments, &toml).answered();
    let tool = "tool clerk (allow; its own tools ask; agent of this file)";
    assert!(printed.contains(tool), "{printed}");
    assert!(printed.contains("agent clerk\n"), "{printed}");
    let tool = "tool refund (ask: Refund order {{input.order}}?;";
    assert!(printed.contains(tool), "{printed}");
}
