//! A tool with a policy: small refunds are made at once, larger ones after a yes.

use adk_stream::engine::{self, Context, Tool, ToolError, Verdict};
use serde_json::json;

/// What the model has to give. Its schema is made of this.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Refund {
    /// The number of the order.
    order: u32,
    /// How much, in dollars.
    amount: f64,
}

pub fn tool() -> Tool<Refund> {
    engine::tool("refund", "Refunds an order.", refund).policy(|refund, _| match refund.amount {
        ..=10.0 => Verdict::Allow,
        amount => Verdict::Ask {
            question: format!("Refund {amount} USD for order {}?", refund.order),
        },
    })
}

/// Runs once for each call, and only when the policy or a person has said yes.
async fn refund(context: Context, refund: Refund) -> Result<serde_json::Value, ToolError> {
    let Refund { order, amount } = refund;
    Ok(json!({"order": order, "refunded": amount, "by": context.principal()}))
}
