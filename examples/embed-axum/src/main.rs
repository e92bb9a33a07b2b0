//! An axum application that has users and sessions already, and mounts adk-stream under `/ai`.
//!
//! `cargo run`, sign in with `curl -i -d name=ann http://127.0.0.1:3000/sign-in`, and use the cookie.

mod agent;
mod refunds;
mod sessions;

use std::net::SocketAddr;
use std::sync::Arc;

use adk_stream::Api;
use adk_stream::engine::{Engine, Tools};
use adk_stream::store::{self, Location};
use axum::Router;
use axum::routing::{get, post};

use crate::agent::ShopAgent;
use crate::sessions::Sessions;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sessions = Sessions::default();
    let stores = store::open(Location::Memory).await?;
    let tools = Tools::new().with(refunds::tool());
    let engine = Engine::builder(stores.journal, Arc::new(ShopAgent), tools)
        .start()
        .await?;
    let api = Api::new(engine).with_identity(sessions.clone());

    let application = Router::new()
        .route("/", get(async || "The shop."))
        .route("/sign-in", post(sessions::sign_in))
        .with_state(sessions)
        .nest("/ai", api.router());

    let address = std::env::args()
        .nth(1)
        .unwrap_or("127.0.0.1:3000".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let service = application.into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, service).await?)
}
