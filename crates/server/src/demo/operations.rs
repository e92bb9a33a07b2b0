//! The demo's route in the OpenAPI document.
#![expect(
    dead_code,
    reason = "what is here describes, and is never called or made"
)]

use utoipa::{OpenApi, ToSchema};

/// What the demo adds to the document.
#[derive(OpenApi)]
#[openapi(paths(wallet))]
pub(super) struct Operations;

/// The wallet of the principal, where the demo's tools are offered.
#[utoipa::path(
    get, path = "/api/wallet", tag = "Server", operation_id = "readWallet",
    responses(
        (status = 200, description = "The wallet.", body = Wallet),
        (status = 204, description = "The demo's tools are not offered."),
        (status = 404, description = "not_found"),
    ),
)]
fn wallet() {}

/// The demo's wallet.
#[derive(ToSchema)]
struct Wallet {
    balance: f64,
    currency: String,
    payments: Vec<Payment>,
}

/// A payment of the demo.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct Payment {
    transaction_id: String,
    tool_call_id: String,
    amount: f64,
    recipient: String,
    #[schema(required)]
    description: Option<String>,
    at: u64,
}
