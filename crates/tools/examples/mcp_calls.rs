//! Calls every tool of an MCP server once, with an input made from its schema, and prints what came of it.
//!
//! `cargo run -p adk-stream-tools --features mcp --example mcp_calls -- URL`
//!
//! It is the client that `@modelcontextprotocol/conformance` drives (`scripts/mcp-conformance`), which may
//! name the calls in a variable.

// It has nobody to report to but its caller.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::error::Error;

use adk_stream_tools::mcp::{Server, ServerConfig, Transport};
use adk_stream_tools::tool::Returned;
use adk_stream_tools::work::{Ask, Work, WorkReceiver, WorkSender};
use adk_stream_tools::{Context, Pattern, Policy, Tools};
use serde_json::{Map, Value, json};
use turn::gate::Decision;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().next_back().unwrap_or_default();
    let transport = Transport::Http {
        url,
        headers: BTreeMap::new(),
    };
    let mut config = ServerConfig::new("server", transport);
    config.policies = config.policies.with(Pattern::new("*")?, Policy::Allow);
    let server = Server::start(config)?;
    server.started().await?;
    let status = server.status();
    println!(
        "protocol {:?}, left out {:?}",
        status.protocol, status.left_out
    );
    let tools = Tools::new().with_source(server.source());
    for (name, input) in calls(&tools) {
        let tool = match tools.find(&name) {
            Ok(tool) => tool,
            Err(why) => {
                println!("{name}: {why}");
                continue;
            }
        };
        let Some(function) = tool.function() else {
            continue;
        };
        let (work, received) = WorkSender::new(64);
        let context = Context::new(
            "chat".into(),
            1,
            "call".into(),
            "caller".into(),
            tools.clone(),
            work,
            Default::default(),
        );
        tokio::spawn(answer(received));
        match function(context, input).await {
            Returned::Done(outcome) => println!("{name}: {outcome:?}"),
            Returned::Later(..) => println!("{name}: it goes on"),
        }
    }
    server.shut_down().await;
    Ok(())
}

/// Takes what is shown meanwhile, and answers questions as a person who changes nothing in their forms.
async fn answer(mut received: WorkReceiver) {
    while let Some(work) = received.recv().await {
        // The tool that waits may have ended.
        match *work {
            Work::Ask {
                ask: Ask::Data { schema, .. },
                answer,
                ..
            } => {
                let fields = schema.get("properties").and_then(Value::as_object);
                let fields = fields.into_iter().flatten();
                let given = fields.filter_map(|(name, field)| {
                    Some((name.clone(), field.get("default")?.clone()))
                });
                let output = Value::Object(given.collect());
                let _ = answer.send(Decision::Output { output });
            }
            Work::Record { done, .. } => drop(done.send(())),
            _ => {}
        }
    }
}

/// The calls that the suite names, or one of each tool.
fn calls(tools: &Tools) -> Vec<(String, Value)> {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    let named = context.get("toolCalls").and_then(Value::as_array);
    let named = named.into_iter().flatten().filter_map(|call| {
        let name = call.get("name")?.as_str()?;
        Some((format!("server.{name}"), call.get("arguments")?.clone()))
    });
    let named: Vec<_> = named.collect();
    if !named.is_empty() {
        return named;
    }
    let current = tools.current();
    let first = current.values().map(|tool| tool.input_schema()).next();
    let calls = current.iter().map(|(name, tool)| {
        let mut input = input(tool.input_schema());
        // A tool that takes a schema is given one as it was listed.
        if let (Some(field), Some(first)) = (input.get_mut("schema"), first) {
            *field = first.clone();
        }
        (name.clone(), input)
    });
    calls.collect()
}

/// Some input of a schema.
fn input(schema: &Value) -> Value {
    let declared = schema.get("properties").and_then(Value::as_object);
    let fields = declared.into_iter().flatten();
    let fields = fields.map(|(name, schema)| (name.clone(), value(schema)));
    Value::Object(fields.collect::<Map<_, _>>())
}

fn value(schema: &Value) -> Value {
    if let Some(first) = schema.get("enum").and_then(|all| all.get(0)) {
        return first.clone();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("number" | "integer") => json!(5),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => input(schema),
        Some("null") => Value::Null,
        _ => json!("text"),
    }
}
