//! Code of the documents that belongs to no example.

use std::error::Error;
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
