//! The binary with the Gemini emulator behind it, which runs in the test's own process.

use std::net::SocketAddr;

use emulator::{Emulator, Script, Signatures};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::process::{Server, adk_stream};

/// An emulator that wants thought signatures back, whatever the model.
pub(crate) struct Gemini {
    pub(crate) address: SocketAddr,
    // Dropped before the runtime on which it runs.
    _emulator: Emulator,
    _runtime: Runtime,
}

impl Gemini {
    /// Starts one that follows a script, or none where the script is empty.
    pub(crate) fn start(script: &str) -> Self {
        Self::start_with(script, Signatures::Always)
    }

    /// The same for scripts whose calls have no signatures.
    pub(crate) fn start_unsigned(script: &str) -> Self {
        Self::start_with(script, Signatures::Never)
    }

    fn start_with(script: &str, signatures: Signatures) -> Self {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().unwrap();
        let mut emulator = Emulator::builder().signatures(signatures);
        if !script.is_empty() {
            emulator = emulator.script(Script::from_json(script).unwrap());
        }
        let emulator = runtime.block_on(emulator.start()).unwrap();
        Self {
            address: emulator.address(),
            _emulator: emulator,
            _runtime: runtime,
        }
    }
}

/// A server whose Gemini is this emulator.
fn serve(emulator: &Gemini) -> Server {
    let url = format!("http://{}", emulator.address);
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--agent", "gemini"];
    adk_stream(&[&arguments[..], &["--gemini-base-url", &url, "--demo-tools"]].concat())
        .variable("GEMINI_API_KEY", "k")
        .running()
}

fn send(server: &Server, messages: &Value) -> String {
    let body = json!({"id": "c1", "trigger": "submit-message", "messages": messages});
    let answer = server.post("/api/chat", &[], &body.to_string());
    assert_eq!(answer.status, 200);
    answer.text().to_owned()
}

#[test]
fn a_payment_is_approved_with_gemini_behind() {
    let emulator = Gemini::start("");
    let server = serve(&emulator);
    let prompt =
        json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Send $20 to Sam"}]});
    let window = send(&server, &json!([prompt]));
    assert!(window.contains("tool-approval-request"), "{window}");
    let open: Value = serde_json::from_slice(&server.get("/api/approvals").body).unwrap();
    let id = open["approvals"][0]["approvalId"].as_str().unwrap();
    let path = format!("/api/approvals/{id}");
    let answer = server.post(&path, &[], r#"{"approved": true}"#);
    assert_eq!(answer.status, 200);
    // The turn continues by itself, and a window that comes later tells the rest.
    let window = server.get("/api/chat/c1/stream").text().to_owned();
    let deltas = window.lines().filter_map(|line| {
        let chunk: Value = serde_json::from_str(line.strip_prefix("data: ")?).ok()?;
        let is_text = chunk["type"] == "text-delta";
        is_text.then(|| chunk["delta"].as_str().unwrap().to_owned())
    });
    let said: String = deltas.collect();
    let chat: Value = serde_json::from_slice(&server.get("/api/chat/c1").body).unwrap();
    assert!(
        said.starts_with("I sent $20 to Sam.") || chat.to_string().contains("I sent $20 to Sam."),
        "{window} {chat}"
    );
}
