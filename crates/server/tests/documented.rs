//! Code of the documents that belongs to no example.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use adk_stream::agents::gemini::{Config, Gemini, Key};
use adk_stream::agents::openai::{self, OpenAi};
use adk_stream::engine::{Engine, Tools};
use adk_stream::store::{self, Location};

/// docs/gemini.md
#[tokio::test]
async fn gemini_answers_in_an_application() -> Result<(), Box<dyn Error>> {
    let key = "any".to_owned();
    let stores = store::open(Location::Memory).await?;
    let gemini = Gemini::new(Config {
        model: "gemini-2.5-pro".to_owned(),
        ..Config::new(Key::new(key)?)
    })?;
    let engine = Engine::builder(stores.journal, Arc::new(gemini), Tools::new())
        .start()
        .await?;
    assert_eq!(engine.agent_name(), "gemini");
    Ok(())
}

/// docs/models.md
#[tokio::test]
async fn model_of_ones_own_answers_in_an_application() -> Result<(), Box<dyn Error>> {
    let stores = store::open(Location::Memory).await?;
    let model = OpenAi::new(openai::Config {
        base_url: "http://127.0.0.1:11434/v1".to_owned(),
        instruction: Some("Be brief.".to_owned()),
        ..openai::Config::new("qwen3")
    })?;
    let engine = Engine::builder(stores.journal, Arc::new(model), Tools::new())
        .start()
        .await?;
    assert_eq!(engine.agent_name(), "openai");
    Ok(())
}

/// docs/library.md: the tools of MCP servers, of requests and of documents are in the one crate.
#[test]
fn tools_are_re_exported() -> Result<(), Box<dyn Error>> {
    use adk_stream::tools::{http, mcp, openapi};

    let transport = mcp::Transport::Http {
        url: "https://crm.example/mcp".to_owned(),
        headers: Default::default(),
    };
    mcp::ServerConfig::new("crm", transport).check()?;
    let url = "https://shop.example/orders/{order}";
    http::Request::new("GET", url, http::Named::ByOperator)?;
    openapi::Document::parse(r#"{"openapi": "3.1.0", "info": {}, "paths": {}}"#)?;
    Ok(())
}

/// docs/operations.md: each crate that writes to the log has a row, by which its lines are found and filtered.
#[test]
fn every_crate_that_logs_is_in_the_table_of_targets() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let page = std::fs::read_to_string(root.join("docs/operations.md")).unwrap();
    let mut missing = Vec::new();
    for entry in std::fs::read_dir(root.join("crates")).unwrap() {
        let entry = entry.unwrap();
        let target = match entry.file_name().to_str().unwrap() {
            "server" => "adk_stream".to_owned(),
            name => format!("adk_stream_{name}"),
        };
        if logs(&entry.path().join("src")) && !page.contains(&format!("\n| `{target}` | ")) {
            missing.push(target);
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// Whether a file below a folder writes to the log.
fn logs(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return false;
    };
    entries.flatten().map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            return logs(&path);
        }
        let source = std::fs::read_to_string(&path).unwrap_or_default();
        ["error!(", "warn!(", "info!(", "debug!(", "trace!("]
            .iter()
            .any(|log| source.contains(&format!("tracing::{log}")))
    })
}
