//! Servers that are killed between the request of an HTTP tool and its answer: with idempotency every
//! effect happens exactly once, and without it every unclear one is unknown.
//!
//! 8 kills in `make test`, 200 in `make test-long`.

use crate::file_agent::{Shop, gemini, model, refund_tool, settled, with_file};
use crate::process::{Server, repetitions};

fn file(gemini: std::net::SocketAddr, shop: std::net::SocketAddr) -> String {
    let url = |kind: &str| format!("http://{shop}/{kind}");
    let keyed = refund_tool(
        "keyed",
        &url("keyed"),
        ", idempotency-header = 'Idempotency-Key'",
        "allow = true",
    );
    let plain = refund_tool("plain", &url("plain"), "", "allow = true");
    let lookup = format!("allow = true\nlookup = {{ url = 'http://{shop}/looked/{{$call}}' }}");
    let looked = refund_tool(
        "looked",
        &url("looked"),
        ", headers = { X-Call = '{$call}' }",
        &lookup,
    );
    let agent = "[agents.shop]\nmodel = 'main'\ntools = ['keyed', 'plain', 'looked']\n";
    format!("{agent}{}{keyed}{plain}{looked}", model(gemini))
}

#[test]
fn killed_between_request_and_answer_nothing_happens_twice_and_nothing_is_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("chats.db").display());
    let (shop, shop_address) = Shop::start();
    let toml = file(gemini(), shop_address);
    let start = || -> Server {
        let arguments = [
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--store",
            &store,
            "--lease",
            "1",
        ];
        with_file(&arguments, &toml)
            .variable("ADK_STREAM_LOG", "error")
            .running()
    };
    let mut server = start();
    let mut unknown = 0;
    let kills = repetitions(8, 200);
    for number in 0..kills {
        let kinds = ["keyed", "plain", "looked"];
        shop.hold();
        std::thread::scope(|scope| {
            for kind in kinds {
                let address = server.address;
                scope.spawn(move || ask(address, kind, number));
            }
            shop.wait_for_held(kinds.len());
            server.signal("KILL");
            server.ended();
            shop.release();
        });
        server = start();
        let has_effect = number % 2 == 0;
        for kind in kinds {
            let order = format!("{kind}-{number}");
            let part = settled(&server, &order);
            let ledger = shop.ledger();
            let effects = ledger.effects.get(&order).copied().unwrap_or(0);
            let requests = ledger.requests[&order];
            let is_unknown = part["state"] == "output-error"
                && part["errorText"].as_str().unwrap().contains("unknown");
            match kind {
                "keyed" => {
                    assert_eq!((effects, requests), (1, 2), "{order}: {part}");
                    assert_eq!(part["state"], "output-available", "{part}");
                    assert_eq!(part["output"]["refunded"], order, "{part}");
                }
                "plain" => {
                    assert_eq!(
                        (effects, requests),
                        (usize::from(has_effect), 1),
                        "{order}: {part}"
                    );
                    assert!(is_unknown, "{part}");
                    unknown += 1;
                }
                _ => {
                    assert_eq!(
                        (effects, requests),
                        (usize::from(has_effect), 1),
                        "{order}: {part}"
                    );
                    assert_eq!(part["state"] == "output-available", has_effect, "{part}");
                    assert_eq!(is_unknown, !has_effect, "{part}");
                }
            }
        }
    }
    println!("{kills} kills: {kills} keyed once each, {unknown} plain unknown");
}

/// Has a tool called, and does not mind that the server dies.
fn ask(address: std::net::SocketAddr, kind: &str, number: usize) {
    let order = format!("{kind}-{number}");
    let text = format!("{kind} {}", serde_json::json!({"order": order}));
    say_to(address, &order, &text);
}

/// Says something in a chat, and does not mind that the server dies.
pub(crate) fn say_to(address: std::net::SocketAddr, chat: &str, text: &str) {
    use std::io::{Read, Write};
    let message =
        serde_json::json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]});
    let body = serde_json::json!({"id": chat, "trigger": "submit-message", "messages": [message]});
    let headers = [("content-type", "application/json")];
    let request = crate::request::text("POST", "/api/chat", &headers, &body.to_string());
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
}
