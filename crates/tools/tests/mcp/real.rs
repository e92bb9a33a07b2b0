//! Servers that nobody here wrote: those of npm's `@modelcontextprotocol`, which `web/mcp` pins, and two
//! of PyPI, which `python/mcp` pins.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use adk_stream_tools::mcp::{Server, ServerConfig, Transport};
use adk_stream_tools::work::WorkSender;
use adk_stream_tools::{Pattern, Policy, Tools};
use serde_json::{Value, json};
use turn::call::Outcome;

use crate::fixture::{LONG, run, shown, until};

fn script(package: &str) -> String {
    let modules = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/node_modules");
    let script = format!("{modules}/@modelcontextprotocol/{package}/dist/index.js");
    let is_there = std::path::Path::new(&script).exists();
    assert!(
        is_there,
        "{package} is not installed: npm ci in web/ does it"
    );
    script
}

fn node(package: &str, args: &[&str]) -> Transport {
    let args = args.iter().map(|arg| (*arg).to_owned());
    Transport::Stdio {
        command: "node".to_owned(),
        args: [script(package)].into_iter().chain(args).collect(),
        env: BTreeMap::new(),
        cwd: None,
    }
}

fn begin(transport: Transport) -> Server {
    let mut config = ServerConfig::new("real", transport);
    config.policies = config
        .policies
        .with(Pattern::new("*").unwrap(), Policy::Allow);
    config.call_timeout = LONG;
    config.limits.progress_interval = Duration::ZERO;
    Server::start(config).unwrap()
}

async fn start(transport: Transport) -> (Server, Tools) {
    let server = begin(transport);
    server.started().await.unwrap();
    let tools = Tools::new().with_source(server.source());
    (server, tools)
}

async fn output(tools: &Tools, tool: &str, input: Value) -> Value {
    let (work, _received) = WorkSender::new(64);
    match run(tools, tool, input, work).await {
        Outcome::Output { output } => output,
        other => panic!("{tool}: {other:?}"),
    }
}

/// What every transport of the server of everything does.
async fn does_everything(transport: Transport) {
    let (server, tools) = start(transport).await;
    let status = server.status();
    assert_eq!(status.left_out, [], "every tool of it can be used");
    let echoed = output(&tools, "real.echo", json!({"message": "hello"})).await;
    assert_eq!(echoed, json!("Echo: hello"));
    let sum = output(&tools, "real.get-sum", json!({"a": 2, "b": 3})).await;
    assert!(sum.as_str().unwrap().contains('5'), "{sum}");
    let image = output(&tools, "real.get-tiny-image", json!({})).await;
    let content = image["content"].as_array().unwrap();
    let image = content
        .iter()
        .find(|block| block["type"] == "image")
        .unwrap();
    assert_eq!(image["mediaType"], "image/png");
    assert!(image["bytes"].as_u64().unwrap() > 100 && image["data"].is_null());
    let weather = json!({"location": "New York"});
    let weather = output(&tools, "real.get-structured-content", weather).await;
    assert!(weather["temperature"].is_number(), "{weather}");
    let links = output(&tools, "real.get-resource-links", json!({"count": 2})).await;
    let links = links["content"].as_array().unwrap();
    assert!(links.iter().any(|block| block["type"] == "resource_link"));
    let (work, received) = WorkSender::new(64);
    let long = json!({"duration": 1, "steps": 4});
    let done = run(&tools, "real.trigger-long-running-operation", long, work).await;
    assert!(matches!(done, Outcome::Output { .. }), "{done:?}");
    let shown = shown(received);
    assert!(
        !shown.is_empty() && shown[0]["total"] == json!(4.0),
        "{shown:?}"
    );
    let refused = tools.rule("real.get-sum", &json!({"a": "two"}), &"ann".into());
    let refused = format!("{:?}", refused.verdict);
    assert!(refused.starts_with("Invalid"), "{refused}");
    server.shut_down().await;
}

#[tokio::test]
async fn server_of_everything_is_used_over_stdio() {
    does_everything(node("server-everything", &["stdio"])).await;
}

/// A process that ends with the test.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn server_of_everything_is_used_over_http() {
    // It prints no port of its own choice, so that it gets one that was free a moment ago.
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let started = Command::new("node")
        .args([&script("server-everything"), "streamableHttp"])
        .env("PORT", port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _running = Running(started.unwrap());
    until(|| TcpStream::connect(("127.0.0.1", port)).is_ok()).await;
    let transport = Transport::Http {
        url: format!("http://127.0.0.1:{port}/mcp"),
        headers: BTreeMap::from([("authorization".to_owned(), "Bearer x".to_owned())]),
    };
    does_everything(transport).await;
}

#[tokio::test]
async fn server_of_files_is_used_over_stdio() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let (server, tools) = start(node("server-filesystem", &[&path.to_string_lossy()])).await;
    assert_eq!(server.status().left_out, []);
    let file = path.join("note.txt");
    let written = json!({"path": file, "content": "words"});
    output(&tools, "real.write_file", written).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "words");
    let read = output(&tools, "real.read_text_file", json!({"path": file})).await;
    assert!(read.to_string().contains("words"), "{read}");
    let (work, _received) = WorkSender::new(8);
    let outside = run(
        &tools,
        "real.read_text_file",
        json!({"path": "/etc/hostname"}),
        work,
    )
    .await;
    let Outcome::Error { error } = outside else {
        panic!("{outside:?}");
    };
    assert!(error.to_lowercase().contains("denied"), "{error}");
    // What it says of writing is shown to who is asked.
    let status = server.status();
    let write = status
        .tools
        .iter()
        .find(|tool| tool.name == "real.write_file");
    assert_eq!(write.unwrap().hints.destructive, Some(true));
    server.shut_down().await;
}

/// Starts a server of PyPI, by the name of its module.
async fn start_python(module: &str, args: &[&str]) -> (Server, Tools) {
    let python = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../target/python-mcp/bin/python"
    );
    assert!(
        std::path::Path::new(python).exists(),
        "{module} is not installed: scripts/python-env mcp does it"
    );
    let args = [&["-m", module], args].concat();
    let server = begin(Transport::Stdio {
        command: python.to_owned(),
        args: args.into_iter().map(str::to_owned).collect(),
        env: BTreeMap::new(),
        cwd: None,
    });
    // On a busy machine Python takes longer than a first try waits; it is then started again.
    until(|| !server.status().tools.is_empty()).await;
    assert_eq!(server.status().left_out, []);
    let tools = Tools::new().with_source(server.source());
    (server, tools)
}

#[tokio::test]
async fn server_of_git_is_used_over_stdio() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let made = Command::new("git")
        .args(["init", "--quiet"])
        .arg(&path)
        .status();
    assert!(made.unwrap().success());
    std::fs::write(path.join("note.txt"), "words").unwrap();
    let repository = path.to_string_lossy().into_owned();
    let (server, tools) = start_python("mcp_server_git", &["--repository", &repository]).await;
    let asked = json!({"repo_path": repository});
    let status = output(&tools, "real.git_status", asked).await.to_string();
    assert!(status.contains("note.txt"), "{status}");
    let added = json!({"repo_path": repository, "files": ["note.txt"]});
    output(&tools, "real.git_add", added).await;
    let staged = json!({"repo_path": repository});
    let staged = output(&tools, "real.git_diff_staged", staged).await;
    assert!(staged.to_string().contains("+words"), "{staged}");
    // It refuses what is outside of its repository.
    let (work, _received) = WorkSender::new(8);
    let outside = run(&tools, "real.git_status", json!({"repo_path": "/"}), work).await;
    assert!(matches!(outside, Outcome::Error { .. }), "{outside:?}");
    server.shut_down().await;
}

#[tokio::test]
async fn server_of_time_is_used_over_stdio() {
    let (server, tools) = start_python("mcp_server_time", &["--local-timezone", "UTC"]).await;
    let asked = json!({
        "source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "UTC",
    });
    // Neither has daylight saving time.
    let converted = output(&tools, "real.convert_time", asked).await.to_string();
    assert!(
        converted.contains("T03:00") && converted.contains("-9.0h"),
        "{converted}"
    );
    let (work, _received) = WorkSender::new(8);
    let nowhere = json!({"timezone": "Nowhere/At_all"});
    let refused = run(&tools, "real.get_current_time", nowhere, work).await;
    assert!(
        matches!(&refused, Outcome::Error { error } if error.contains("Nowhere/At_all")),
        "{refused:?}"
    );
    let unfit = tools.rule("real.convert_time", &json!({"time": 12}), &"ann".into());
    let unfit = format!("{:?}", unfit.verdict);
    assert!(unfit.starts_with("Invalid"), "{unfit}");
    server.shut_down().await;
}
