//! Tools that the demo does not have, behind the library's front door: one that asks after its
//! approver has put another input in place of the model's, and some that never come to their end.

use std::future::pending;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use adk_stream::engine::{
    Context, Engine, Later, PageRules, Pattern, Policies, Policy, ToolError, Tools, Verdict,
    client_tool, long_running, tool,
};
use adk_stream::store::{self, Location};
use adk_stream::{Api, KeyIdentity};
use demo::Demo;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
struct Flight {
    destination: String,
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    location: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Track {
    track: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Payment {
    amount: f64,
    recipient: String,
    #[serde(default)]
    #[expect(dead_code, reason = "the demo says it")]
    currency: String,
}

#[derive(Deserialize, JsonSchema)]
struct Topic {
    topic: String,
}

/// Serves them over a store, and says where.
pub(super) async fn serve(store: &str, keys: &str, is_held: bool) -> SocketAddr {
    let location = match store.strip_prefix("sqlite:") {
        Some(path) => Location::Sqlite(PathBuf::from(path)),
        None => Location::Postgres(Box::new(store.parse().unwrap())),
    };
    let stores = store::open(location).await.unwrap();
    let engine = Engine::builder(stores.journal, Arc::new(Demo::new()), tools(is_held));
    let engine = engine.start().await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let identity = KeyIdentity {
        keys: keys.parse().unwrap(),
        ..KeyIdentity::default()
    };
    let api = Api::new(engine).with_identity(identity);
    tokio::spawn(api.serve(listener));
    address
}

/// Never ends, where things are held.
async fn hold(is_held: bool) {
    if is_held {
        pending::<()>().await;
    }
}

fn tools(is_held: bool) -> Tools {
    let declared = Pattern::new("get_location").unwrap();
    let rules = PageRules::new([declared.clone()])
        .with_policies(Policies::new().with(declared, Policy::Allow));
    Tools::new()
        .with_page_rules(rules)
        .with(
            tool("book_flight", "Asks in the middle of its work.", book)
                .ask(|input: &Flight| format!("Look for a flight to {}?", input.destination)),
        )
        .with(client_tool::<Track>("change_bgm", "Plays a track."))
        .with(tool(
            "get_weather",
            "May not come to its end.",
            move |_: Context, input: Place| async move {
                hold(is_held).await;
                Ok::<_, ToolError>(json!({"location": input.location, "condition": "Clear"}))
            },
        ))
        .with(
            tool(
                "set_mood",
                "May be run again.",
                move |_: Context, input: Place| async move {
                    hold(is_held).await;
                    Ok::<_, ToolError>(json!({"location": input.location, "mood": "calm"}))
                },
            )
            .idempotent(),
        )
        .with(
            tool("process_payment", "Does not pay.", pay).policy(|input: &Payment, _| match input
                .amount
            {
                100.0.. => Verdict::Deny {
                    reason: "That is more than anybody may send.".to_owned(),
                },
                _ => Verdict::Allow,
            }),
        )
        .with(long_running(
            "write_report",
            "Takes its time.",
            move |_: Context, input: Topic| Later {
                pending: json!({"status": "pending", "topic": input.topic}),
                work: async move {
                    hold(is_held).await;
                    Ok::<_, ToolError>(json!({"status": "done"}))
                },
            },
        ))
}

async fn book(context: Context, input: Flight) -> Result<Value, ToolError> {
    let destination = input.destination;
    let seat = async { Ok(format!("12A to {destination}")) };
    let seat = context.once("seat", seat).await?;
    context.approve(format!("Take seat {seat}?")).await?;
    let music: Value = context.client("change_bgm", Track { track: 2 }).await?;
    Ok(json!({"seat": seat, "music": music}))
}

async fn pay(_: Context, input: Payment) -> Result<Value, ToolError> {
    assert!(input.amount != 13.0, "this tool panics");
    let why = format!("{} has no account.", input.recipient);
    Err(ToolError::new(why))
}
