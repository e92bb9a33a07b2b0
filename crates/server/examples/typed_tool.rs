//! A typed tool with a policy, behind any page built on `useChat`:
//! `cargo run -p adk-stream --example typed_tool`, then ask the agent to send $20 or $200 to somebody.

use std::sync::Arc;

use adk_stream::Api;
use adk_stream::engine::{Context, Engine, ToolError, Tools, Verdict, tool};
use adk_stream::store::{self, Location};
use demo::Demo;

/// What the model has to say for a payment. Its schema, and the check of what the model says, are
/// made of this.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Payment {
    amount: f64,
    recipient: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pay = tool(
        "process_payment",
        "Sends money.",
        async |context: Context, payment: Payment| {
            // Runs once per call, and only when the policy below or a person has said yes.
            println!(
                "{} pays {} to {}",
                context.principal(),
                payment.amount,
                payment.recipient
            );
            Ok::<_, ToolError>(serde_json::json!({"success": true, "amount": payment.amount}))
        },
    )
    .policy(|payment, _principal| match payment.amount {
        ..=100.0 => Verdict::Allow,
        _ => Verdict::Ask {
            question: format!("Send {} USD to {}?", payment.amount, payment.recipient),
        },
    });

    let stores = store::open(Location::Sqlite("chats.db".into())).await?;
    let (agent, tools) = (Arc::new(Demo::new()), Tools::new().with(pay));
    let engine = Engine::builder(stores.journal, agent, tools)
        .start()
        .await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(Api::new(engine).serve(listener).await?)
}
