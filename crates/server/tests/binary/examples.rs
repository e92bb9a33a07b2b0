//! The examples with an agent file, each started by its one command, and the guide of
//! docs/agent-file.md, whose file is the one of an example.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use emulator::Script;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::launcher;

use crate::emulated::Gemini;
use crate::process::adk_stream;
use crate::request::send;

/// How long anything may take: npm has to fetch a server, and the machine may be busy.
const TIME_LIMIT: Duration = Duration::from_secs(240);

/// An example that runs, in a folder of its own.
struct Example {
    child: Child,
    address: SocketAddr,
    folder: TempDir,
    _gemini: Option<Gemini>,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap()
}

impl Example {
    /// Starts `examples/NAME/run`, with the emulator of this process where it has a script.
    fn start(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = repository().join("examples").join(name).join("run");
        let mut command = launcher::command(program);
        command
            .env("ADK_STREAM_BINARY", env!("CARGO_BIN_EXE_adk-stream"))
            .env("EXAMPLE_DIRECTORY", folder.path())
            .env("LISTEN", "127.0.0.1:0")
            .env("SHOP_PORT", "0")
            .env_remove("LOCAL_MODEL_URL");
        let script = repository().join("examples").join(name).join("script.json");
        let gemini = script.exists().then(|| {
            let script = std::fs::read_to_string(script).unwrap();
            assert!(
                Script::from_json(&script).is_ok(),
                "{name}: its script can't be read"
            );
            Gemini::start_unsigned(&script)
        });
        if let Some(gemini) = &gemini {
            command
                .env(
                    "ADK_STREAM_GEMINI_BASE_URL",
                    format!("http://{}", gemini.address),
                )
                .env("GEMINI_API_KEY", "none");
        }
        let mut child = command.spawn().unwrap();
        let address = launcher::wait_until_listening(&mut child);
        Self {
            address: address.unwrap_or_else(|| panic!("{name} did not start")),
            child,
            folder,
            _gemini: gemini,
        }
    }

    fn get(&self, path: &str) -> Value {
        send(self.address, "GET", path, &[], "").json()
    }

    fn post(&self, path: &str, body: &Value) -> String {
        let headers = [("content-type", "application/json")];
        let answer = send(self.address, "POST", path, &headers, &body.to_string());
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.text().to_owned()
    }

    fn say(&self, chat: &str, said: &str) -> String {
        let message =
            json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": said}]});
        let body = json!({"id": chat, "trigger": "submit-message", "messages": [message]});
        self.post("/api/chat", &body)
    }

    /// The parts of a chat, once it is as expected.
    fn until(&self, chat: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + TIME_LIMIT;
        loop {
            let read = self.get(&format!("/api/chat/{chat}"));
            if is_so(&read) {
                return read;
            }
            assert!(Instant::now() < deadline, "{read}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Answers yes to the one question that is open, and gives it.
    fn approve(&self) -> Value {
        let open = self.get("/api/approvals");
        let approval = open["approvals"][0].clone();
        let id = approval["approvalId"]
            .as_str()
            .unwrap_or_else(|| panic!("{open}"));
        self.post(&format!("/api/approvals/{id}"), &json!({"approved": true}));
        approval
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        // TERM, so that the script ends what it started.
        launcher::signal(self.child.id(), "TERM");
        let _ = self.child.wait();
    }
}

#[test]
fn mcp_server_of_npm_asks_before_it_writes() {
    let example = Example::start("mcp-approvals");
    let deadline = Instant::now() + TIME_LIMIT;
    // Until npm has fetched the server and it has listed its tools, a call of them is refused.
    let window = (0..).find_map(|number| {
        let window = example.say(&format!("c{number}"), "Write a note");
        assert!(Instant::now() < deadline, "{window}");
        let is_asked = window.contains("tool-approval-request");
        if !is_asked {
            std::thread::sleep(Duration::from_millis(500));
        }
        is_asked.then_some((number, window))
    });
    let (number, _) = window.unwrap();
    let note = example.folder.path().join("note.txt");
    assert!(!note.exists());
    let approval = example.approve();
    assert!(
        approval.to_string().contains("Write note.txt?"),
        "{approval}"
    );
    let is_over = |chat: &Value| chat["status"] == "finished";
    let chat = example.until(&format!("c{number}"), is_over);
    assert_eq!(
        std::fs::read_to_string(&note).unwrap_or_else(|_| panic!("{chat}")),
        "Buy tea.\n"
    );
}

#[test]
fn guide_is_the_example_and_its_file_is_short() {
    let file = text("examples/mcp-approvals/adk-stream.toml");
    assert!(file.lines().count() <= 15);
    let guide = text("docs/agent-file.md");
    assert!(
        guide.contains(&format!("```toml\n{file}```")),
        "the guide has another file"
    );
    // It starts the version that the tests of the MCP client use.
    let pinned: Value = serde_json::from_str(&text("web/mcp/package.json")).unwrap();
    let package = "@modelcontextprotocol/server-filesystem";
    let version = pinned["devDependencies"][package].as_str().unwrap();
    assert!(file.contains(&format!("{package}@{version}")), "{file}");
    // It passes the check that the guide names next.
    let printed = adk_stream(&["check", "--offline"])
        .file("adk-stream.toml", &file)
        .variable("GEMINI_API_KEY", "none")
        .answered();
    assert!(
        printed.starts_with("agent files\n  model gemini:gemini-flash-latest\n"),
        "{printed}"
    );
}

#[test]
fn shop_reads_at_once_and_cancels_after_a_yes() {
    let example = Example::start("openapi-shop");
    let window = example.say("c1", "Cancel order 7");
    assert!(
        window.contains("A teapot") && window.contains("tool-approval-request"),
        "{window}"
    );
    let approval = example.approve();
    let question = "Cancel order 7? Reason: The customer asked for it.";
    assert!(approval.to_string().contains(question), "{approval}");
    let chat = example.until("c1", |chat| chat["status"] == "finished");
    let parts = chat["messages"][1]["parts"].as_array().unwrap().iter();
    let cancelled = parts
        .clone()
        .find(|part| part["type"] == "tool-shop.cancelOrder");
    let cancelled = cancelled.unwrap_or_else(|| panic!("{chat}"));
    assert_eq!(cancelled["output"]["state"], "cancelled", "{chat}");
    assert!(
        !chat.to_string().contains("known-to-the-shop-alone"),
        "{chat}"
    );
}

#[test]
fn local_model_calls_a_tool_of_the_page() {
    let example = Example::start("openai-local");
    let window = example.say("c1", "Where am I?");
    assert!(window.contains("tool-approval-request"), "{window}");
    let approval = example.approve().to_string();
    assert!(approval.contains("May I know where you are?"), "{approval}");
    let waits =
        |chat: &Value| chat.to_string().contains("input-available") || chat["status"] == "parked";
    let chat = example.until("c1", waits);
    assert!(chat.to_string().contains("tool-get_location"), "{chat}");
    let other = example.say("c2", "Hello");
    assert!(
        other.contains("text-delta") && other.contains("Hello"),
        "{other}"
    );
}
