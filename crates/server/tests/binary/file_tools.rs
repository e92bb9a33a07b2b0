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
