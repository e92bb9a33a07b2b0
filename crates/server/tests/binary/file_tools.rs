//! Agents of a file, served: what is asked, what runs, and what nobody sees.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::file_agent::{
    Shop, answer, gemini, model, refund_tool, say, serve, serve_http, settled, with_file,
};
use crate::process::{Server, adk_stream};

const AGENT: &str = "[agents.shop]\nmodel = 'main'\ninstruction = 'Be kind.'\n";

fn approve(server: &Server) -> Value {
    let open = server.get("/api/approvals").json();
    let approval = open["approvals"][0].clone();
    let path = format!(
        "/api/approvals/{}",
        approval["approvalId"].as_str().unwrap()
    );
    assert_eq!(server.post(&path, &[], r#"{"approved": true}"#).status, 200);
    approval
}

#[test]
fn http_tool_of_a_file_asks_and_then_runs_with_a_secret_that_nobody_sees() {
    let (shop, address) = Shop::start();
    let more = ", headers = { Authorization = 'Bearer env:SHOP_TOKEN' }";
    let ask = "ask = 'Refund order {{input.order}}?'";
    let tool = refund_tool("refund", &format!("http://{address}/plain"), more, ask);
    let toml = format!("{AGENT}tools = ['refund']\n{}{tool}", model(gemini()));
    let mut server = serve(&toml);
    let window = say(&server, "c1", r#"refund {"order": "A/1"}"#);
    assert!(window.contains("tool-approval-request"), "{window}");
    assert!(shop.ledger().requests.is_empty());
    let approval = approve(&server);
    assert!(
        approval.to_string().contains("Refund order A/1?"),
        "{approval}"
    );
    let part = settled(&server, "c1");
    // The shop saw the slash as part of the order.
    assert_eq!(part["output"]["refunded"], "A%2F1", "{part}");
    let journal = server.get("/api/chat/c1/journal");
    server.signal("TERM");
    server.ended();
    let seen = format!("{window}{part}{}{}", journal.text(), server.log());
    assert!(!seen.contains("t0ken") && !seen.contains("k3y"), "{seen}");
}

/// From the model to the person, and through the edit of another field to who is asked in the end.
#[test]
fn numbers_reach_the_tool_as_they_are_shown_though_another_field_is_edited() {
    let numbers = r#""n":9007199254740993,"big":18446744073709551615,"tenth":0.1,"sum":0.30000000000000004,"price":19.99"#;
    // The text, and not a value that was read from it.
    let sse = |part: String| {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        let candidate = r#""finishReason":"STOP","content":{"role":"model","parts":["#;
        Some(format!(
            "{head}data: {{\"candidates\":[{{{candidate}{part}]}}}}]}}\r\n\r\n"
        ))
    };
    let call = format!(r#"{{"functionCall":{{"name":"book","args":{{{numbers},"note":"a"}}}}}}"#);
    let gemini = serve_http(
        move |request| match request.body.contains("functionResponse") {
            true => sse(r#"{"text":"Done."}"#.to_owned()),
            false => sse(call.clone()),
        },
    );
    let (booked, bodies) = std::sync::mpsc::channel();
    let service = serve_http(move |request| {
        booked.send(request.body.clone()).unwrap();
        answer(200, &json!({"ok": true}))
    });
    let fields = ["n", "big", "tenth", "sum", "price"].map(|name| format!("{name} = {{}}"));
    let properties = format!("{}, note = {{ type = 'string' }}", fields.join(", "));
    let tool = format!(
        "[http.book]\ndescription = 'Books.'\nask = 'Book?'\n\
         input = {{ type = 'object', properties = {{ {properties} }} }}\n\
         request = {{ method = 'POST', url = 'http://{service}/book' }}\n"
    );
    let toml = format!("{AGENT}tools = ['book']\n{}{tool}", model(gemini));
    let server = serve(&toml);
    say(&server, "c1", "book it");
    let open = server.get("/api/approvals");
    assert!(open.text().contains(numbers), "{}", open.text());
    let id = open.json()["approvals"][0]["approvalId"].clone();
    let path = format!("/api/approvals/{}", id.as_str().unwrap());
    let edited = format!(r#"{{"approved":true,"input":{{{numbers},"note":"b"}}}}"#);
    let answered = server.post(&path, &[], &edited);
    assert_eq!(answered.status, 200, "{}", answered.text());
    settled(&server, "c1");
    assert_eq!(
        bodies.recv().unwrap(),
        format!(r#"{{{numbers},"note":"b"}}"#)
    );
}

#[test]
fn client_tool_of_a_file_is_run_by_the_page_and_its_output_is_checked() {
    let tool = "[client.get_location]\ndescription = 'Where the user is.'\nallow = true\n\
                input = { type = 'object', properties = {} }\n\
                output = { type = 'object', properties = { city = { type = 'string' } }, required = ['city'] }\n";
    let toml = format!("{AGENT}tools = ['get_*']\n{}{tool}", model(gemini()));
    let server = serve(&toml);
    let window = say(&server, "c1", "get_location {}");
    assert!(window.contains("tool-input-available"), "{window}");
    let chat = server.get("/api/chat/c1").json();
    let call = chat["messages"][1]["parts"].as_array().unwrap().iter();
    let call = call
        .clone()
        .find(|part| part["type"] == "tool-get_location")
        .unwrap();
    let id = call["toolCallId"].as_str().unwrap();
    let send = |output: Value| {
        let mut part = call.clone();
        part["state"] = "output-available".into();
        part["output"] = output;
        let mut messages = chat["messages"].clone();
        messages[1]["parts"] = json!([part]);
        let body = json!({"id": "c1", "trigger": "submit-message", "messages": messages});
        server.post("/api/chat", &[], &body.to_string())
    };
    let refused = send(json!({"town": "Oslo"}));
    assert!(
        refused.text().contains("invalid_output"),
        "{id}: {}",
        refused.text()
    );
    assert_eq!(send(json!({"city": "Oslo"})).status, 200);
    assert_eq!(settled(&server, "c1")["output"]["city"], "Oslo");
}

#[test]
fn tool_that_is_not_named_is_not_there() {
    let (shop, address) = Shop::start();
    let refund = refund_tool(
        "refund",
        &format!("http://{address}/plain"),
        "",
        "allow = true",
    );
    let secret = refund_tool(
        "secret",
        &format!("http://{address}/plain"),
        "",
        "allow = true",
    );
    let toml = format!(
        "{AGENT}tools = ['refund']\n{}{refund}{secret}",
        model(gemini())
    );
    let server = serve(&toml);
    let window = say(&server, "c1", r#"secret {"order": "1"}"#);
    assert!(window.contains("There is no tool secret."), "{window}");
    assert!(shop.ledger().requests.is_empty());
}

#[test]
fn route_of_a_file_gets_the_fields_of_a_page_that_it_is_to_have() {
    let (sent, bodies) = std::sync::mpsc::channel();
    let route = serve_http(move |request| {
        sent.send(serde_json::from_str::<Value>(&request.body).unwrap())
            .unwrap();
        let chunks = [
            json!({"type": "start"}),
            json!({"type": "start-step"}),
            json!({"type": "text-delta", "id": "0", "delta": "Done."}),
            json!({"type": "finish-step"}),
            json!({"type": "finish"}),
        ];
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        let events = chunks.map(|chunk| format!("data: {chunk}\n\n"));
        Some(format!("{head}{}", events.concat()))
    });
    let server = serve(&format!(
        "[agents.shop.ai-sdk]\nurl = 'http://{route}/api/chat'\nforward = ['model']\n"
    ));
    let message = json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": "hi"}]});
    let post = |more: Value| {
        let mut body = json!({"id": "c1", "trigger": "submit-message", "messages": [message]});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        server.post("/api/chat", &[], &body.to_string())
    };
    let said = post(json!({"model": "large", "webSearch": true}));
    assert!(said.text().contains("Done."), "{}", said.text());
    let body = bodies.recv().unwrap();
    assert_eq!(body["model"], "large");
    assert_eq!(body.get("webSearch"), None);
    assert_eq!(body["messages"], json!([message]));
    // They are the message's: its answer can be made again.
    let again = post(json!({"trigger": "regenerate-message"}));
    assert!(again.text().contains("Done."), "{}", again.text());
    assert_eq!(bodies.recv().unwrap()["model"], "large");
    let mut other = message.clone();
    other["id"] = "u2".into();
    let large = json!({"messages": [other], "model": "x".repeat(20_000)});
    let refused = post(large);
    assert_eq!(refused.status, 400, "{}", refused.text());
}

#[test]
fn one_agent_of_the_file_answers_and_of_several_one_is_picked() {
    let model = model(gemini());
    let two = format!("[agents.a]\nmodel = 'main'\n[agents.b]\nmodel = 'main'\n{model}");
    with_file(&["serve", "--listen", "127.0.0.1:0"], &two)
        .refused()
        .says("--agent: the file has several agents: pick a or b");
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--agent", "b"];
    let server = with_file(&arguments, &two).running();
    assert!(say(&server, "c1", "hi").contains("Done."));
    // A page shows who asks by this name.
    assert_eq!(server.get("/api/info").json()["agent"], "b");
    let refused = with_file(&["serve", "--agent", "c"], &two).refused();
    assert!(
        refused.line.ends_with("or of the file: a, b"),
        "{}",
        refused.line
    );
    // The demo is still there for who asks for it.
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--agent", "demo"];
    with_file(&arguments, &two).running();
}

#[test]
fn check_says_what_is_wrong_and_what_the_model_gets() {
    let (_, address) = Shop::start();
    let ask = "ask = 'Refund order {{input.order}}?'";
    let tool = refund_tool("refund", &format!("http://{address}/plain"), "", ask);
    let toml = format!("{AGENT}tools = ['refund']\n{}{tool}", model(gemini()));
    let printed = with_file(&["check"], &toml).answered();
    for line in [
        "agent shop",
        "  model main",
        "    Be kind.",
        "(ask: Refund order {{input.order}}?; POST http://127.0.0.1:",
        "    Refunds an order.",
        r#""required":["order"]"#,
        "  reached model main: it accepts the key",
        "  reached http://127.0.0.1:",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    assert!(!printed.contains("k3y"), "{printed}");
    let wrong = toml
        .replace("'refund']", "'refnd']")
        .replace("ask = ", "aks = ");
    let (code, text) = with_file(&["check"], &wrong).ended();
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("adk-stream.toml:") && text.contains("did you mean `ask`?"),
        "{text}"
    );
    // Somebody who is not there is found, and with --offline nobody is looked for.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = gone.local_addr().unwrap();
    drop(gone);
    let wrong = format!("{AGENT}tools = ['refund']\n{}{tool}", model(nobody));
    let (code, text) = with_file(&["check"], &wrong).ended();
    assert_eq!(code, Some(1), "{text}");
    let line = wrong.lines().position(|line| line.starts_with("base-url"));
    let place = format!("adk-stream.toml:{}:12: model main: ", line.unwrap() + 1);
    let problem = format!("{place}it can't be reached\n");
    assert!(text.contains(&problem), "{problem} {text}");
    with_file(&["check", "--offline"], &wrong).answered();
}

#[test]
fn check_names_the_place_of_everything_that_it_does_not_reach() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = gone.local_addr().unwrap();
    drop(gone);
    let (_, shop) = Shop::start();
    let lookup = format!("lookup = {{ url = 'http://{nobody}/calls/{{$call}}' }}\nallow = true");
    let refund = refund_tool("refund", &format!("http://{shop}/plain"), "", &lookup);
    let toml = format!(
        "[agents.shop]\nmodel = 'main'\ntools = ['refund', 'gone.*', 'missing.*']\n\
         [agents.route.ai-sdk]\nurl = 'http://{nobody}/api/chat'\n\
         [mcp.gone]\nurl = 'http://{nobody}/mcp'\n\
         [mcp.missing]\ncommand = ['./no-such-program']\n{}{refund}",
        model(gemini())
    );
    let (code, text) = with_file(&["check"], &toml).ended();
    assert_eq!(code, Some(1), "{text}");
    let line = |begins: &str| {
        let found = toml.lines().position(|line| line.starts_with(begins));
        found.unwrap() + 1
    };
    for (line, column, what) in [
        (
            5,
            7,
            format!("ai-sdk http://{nobody}/api/chat: it can't be reached"),
        ),
        (7, 7, "MCP server gone: ".to_owned()),
        (9, 11, "MCP server missing: ".to_owned()),
        (line("lookup"), 18, format!("http://{nobody}: ")),
    ] {
        let problem = format!("adk-stream.toml:{line}:{column}: {what}");
        assert!(text.contains(&problem), "{problem}\n{text}");
    }
    // A route that answers is there, whatever it answers to a GET.
    let route = serve_http(|_| answer(405, &json!({})));
    let toml = format!("[agents.route.ai-sdk]\nurl = 'http://{route}/api/chat'\n");
    let printed = with_file(&["check"], &toml).answered();
    let reached = format!("  reached ai-sdk http://{route}/api/chat: it answers\n");
    assert!(printed.contains(&reached), "{printed}");
}

#[test]
fn file_of_init_is_served() {
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/tests/mcp/server.py");
    let model = gemini();
    let init = adk_stream(&[
        "init",
        "--model",
        "gemini:gemini-x",
        "--key-variable",
        "TEST_KEY",
        "--base-url",
        &format!("http://{model}"),
        "--tools",
        &format!("python3 {server}"),
    ]);
    let path = init.folder().join("adk-stream.toml");
    let (_, folder) = init.answered_in();
    let toml = std::fs::read_to_string(&path).unwrap();
    drop(folder);
    let served = serve(&toml);
    // Until the MCP server has listed its tools, a call of one fails.
    let deadline = Instant::now() + Duration::from_secs(120);
    let asked = (0..).find(|number| {
        let window = say(&served, &format!("c{number}"), r#"server.echo {"n": 1}"#);
        let is_asked = window.contains("tool-approval-request");
        assert!(is_asked || window.contains("still starting"), "{window}");
        assert!(Instant::now() < deadline, "{window}");
        is_asked
    });
    let approval = approve(&served);
    assert_eq!(approval["toolName"], "server.echo");
    let part = settled(&served, &format!("c{}", asked.unwrap()));
    assert_eq!(part["output"], r#"{"n": 1}"#, "{part}");
}

#[test]
fn mcp_server_that_asks_for_data_gets_what_a_person_answers_over_rest() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/tests/mcp/server.py");
    let toml = format!(
        "{AGENT}tools = ['table.*']\n[mcp.table]\ncommand = ['python3', '{fixture}']\n\
         allow = ['*']\n{}",
        model(gemini())
    );
    let server = serve(&toml);
    let listed = || server.get("/api/approvals").json()["approvals"].clone();
    let ask_in = |chat: &str| {
        let window = say(&server, chat, "table.elicit {}");
        let waiting = listed();
        let mut waiting = waiting.as_array().unwrap().iter();
        let asked = waiting.find(|asked| asked["chatId"] == chat).cloned();
        asked.ok_or(window)
    };
    // Until the MCP server has listed its tools, a call of one fails.
    let deadline = Instant::now() + Duration::from_secs(120);
    let (chat, asked) = (0..)
        .find_map(|number| {
            let chat = format!("c{number}");
            match ask_in(&chat) {
                Ok(asked) => Some((chat, asked)),
                Err(window) => {
                    assert!(window.contains("still starting"), "{window}");
                    assert!(Instant::now() < deadline, "{window}");
                    None
                }
            }
        })
        .unwrap();
    assert_eq!(asked["kind"], "question");
    assert_eq!(
        asked["question"],
        "The MCP server table asks: For how many?"
    );
    assert_eq!(asked["schema"]["properties"]["people"]["minimum"], 1);
    let answer = |asked: &Value, body: Value| {
        let id = asked["approvalId"].as_str().unwrap();
        server.post(&format!("/api/approvals/{id}"), &[], &body.to_string())
    };
    for (wrong, path) in [
        (json!({"people": 0}), "/people"),
        (json!({"people": "four"}), "/people"),
        (json!({}), "/people"),
    ] {
        let refused = answer(&asked, json!({"answer": wrong}));
        let error = refused.json()["error"].clone();
        assert_eq!(
            (refused.status, &error["code"]),
            (400, &"invalid_answer".into())
        );
        assert_eq!(error["fields"][0]["path"], path, "{error}");
    }
    assert_eq!(answer(&asked, json!({"approved": true})).status, 400);
    assert_eq!(listed().as_array().unwrap().len(), 1, "it is still open");
    let taken = answer(
        &asked,
        json!({"answer": {"people": 4}, "digest": asked["digest"]}),
    );
    assert_eq!(taken.status, 200, "{}", taken.text());
    let received = |chat: &str| -> Value {
        let part = settled(&server, chat);
        let text = part["output"].as_str().unwrap_or_else(|| panic!("{part}"));
        serde_json::from_str(text).unwrap()
    };
    let accepted = json!({"action": "accept", "content": {"people": 4}});
    assert_eq!(received(&chat), accepted);

    let asked = ask_in("declined").unwrap();
    assert_eq!(answer(&asked, json!({"declined": true})).status, 200);
    assert_eq!(received("declined"), json!({"action": "decline"}));
    assert_eq!(listed(), json!([]));
}

#[test]
fn init_writes_a_file_that_passes_check_and_overwrites_nothing() {
    let arguments = [
        "init",
        "--model",
        "openai:qwen3",
        "--key-variable",
        "TEST_KEY",
        "--tools",
        "http",
        "--base-url",
        "http://127.0.0.1:1/v1",
        "--config",
        "made.toml",
    ];
    let start = with_file(&arguments, "");
    let path = start.folder().join("made.toml");
    let (said, folder) = start.answered_in();
    assert!(said.starts_with("wrote made.toml\n"), "{said}");
    let text = std::fs::read_to_string(&path).unwrap();
    with_file(
        &["check", "--offline", "--config", "adk-stream.toml"],
        &text,
    )
    .answered();
    let again = adk_stream(&["init", "--config", path.to_str().unwrap()]);
    again
        .refused()
        .says(&format!("{} exists; it is left as it is", path.display()));
    drop(folder);
    // Without flags it asks, and takes the defaults where nothing is answered.
    let said = adk_stream(&["init"]).answered();
    assert!(
        said.contains("Which model?") && said.contains("wrote adk-stream.toml"),
        "{said}"
    );
}
