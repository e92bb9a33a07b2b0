//! `adk-stream emulate-gemini`, and `adk-stream serve` with it behind.

use serde_json::{Value, json};

use crate::process::{Server, Start, adk_stream};

fn emulate(arguments: &[&str]) -> Start {
    let listen = ["emulate-gemini", "--listen", "127.0.0.1:0"];
    adk_stream(&[&listen[..], arguments].concat())
}

fn ask(emulator: &Server, prompt: &str) -> (u16, String) {
    let body = json!({"contents": [{"role": "user", "parts": [{"text": prompt}]}]});
    let path = "/v1beta/models/gemini-2.5-flash:generateContent";
    let answer = emulator.post(path, &[("x-goog-api-key", "k")], &body.to_string());
    (answer.status, answer.text().to_owned())
}

#[test]
fn it_answers_and_ends_at_a_signal() {
    for name in ["TERM", "INT"] {
        let mut emulator = emulate(&[]).running();
        let (status, answer) = ask(&emulator, "Hello");
        assert_eq!(status, 200);
        assert!(answer.contains("I am the demo agent"), "{answer}");
        emulator.signal(name);
        assert_eq!(emulator.ended().code(), Some(0), "SIG{name}");
        assert!(emulator.log_line().contains(&format!("SIG{name}: ")));
        assert_eq!(emulator.log_line(), "");
    }
}

#[test]
fn a_certificate_is_written_where_it_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("certificate.pem");
    let _emulator = emulate(&["--certificate", path.to_str().unwrap()]).running();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("-----BEGIN CERTIFICATE-----\n"));
    let refused = emulate(&["--certificate", "nowhere/certificate.pem"]).refused();
    refused.says("can't write nowhere/certificate.pem: No such file or directory (os error 2)");
}

#[test]
fn a_script_is_followed_from_a_file_or_refused() {
    let script = r#"{"rules": [{"on": "generate", "times": 1, "status": {"code": 503}}]}"#;
    let emulator = emulate(&[])
        .variable("ADK_STREAM_EMULATOR_SCRIPT", "script.json")
        .file("script.json", script)
        .running();
    let statuses = [ask(&emulator, "Hello").0, ask(&emulator, "Hello").0];
    assert_eq!(statuses, [503, 200]);
    emulate(&["--script", "script.json"])
        .file("script.json", r#"{"rules": [{"nth": 0}]}"#)
        .refused()
        .says("script.json: the script is wrong: rules[0]: `nth` counts from 1");
}

/// A server whose Gemini is this emulator.
fn serve(emulator: &Server) -> Server {
    let url = format!("http://{}", emulator.address);
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--agent", "gemini"];
    adk_stream(&[&arguments[..], &["--gemini-base-url", &url]].concat())
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
    let emulator = emulate(&["--signatures", "always"]).running();
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
    // The turn goes on by itself, and a window that comes later tells the rest.
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

#[test]
fn the_help_names_every_setting() {
    let help = adk_stream(&["emulate-gemini", "--help"]).answered();
    for name in [
        "LISTEN",
        "SCRIPT",
        "CERTIFICATE",
        "KEYS",
        "PACE",
        "FRAMES",
        "SIGNATURES",
        "CALL_IDS",
    ] {
        assert!(
            help.contains(&format!("ADK_STREAM_EMULATOR_{name}")),
            "{help}"
        );
        let flag = format!("--{}", name.to_lowercase().replace('_', "-"));
        assert!(help.contains(&flag), "{help}");
    }
}
