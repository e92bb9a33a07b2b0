//! The demo, mounted: the one place of the product that knows it. Built with the feature `demo`.

mod operations;

use std::sync::Arc;
use std::time::Duration;

use ::demo::{Demo, ledger, wallet};
use agents::Agent;
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use engine::Tools;
use store::Location;
use utoipa::OpenApi as _;
use utoipa::openapi::OpenApi;

use crate::agent_name::AgentName;
use crate::api::{Api, fresh};
use crate::caller::Caller;
use crate::config::Config;
use crate::error::Error;
use crate::problem::Problem;

/// The demo as the agent.
pub(crate) fn agent(config: &Config) -> Result<Arc<dyn Agent>, Error> {
    let demo = match config.agent {
        Some(AgentName::DemoLive) => Demo::live(),
        _ => Demo::new(),
    };
    Ok(Arc::new(demo.with_pace(config.pace.0)))
}

/// The demo's tools, over its wallets in a store that was opened already, and the route to these.
/// Their gates wait for ever, or for `timeout`.
pub(crate) async fn tools(
    config: &Config,
    location: Location,
    timeout: Option<Duration>,
) -> Result<(Tools, Router<Api>), Error> {
    let ledger = ledger::open(location).await.map_err(Error::Store)?;
    let tools = ::demo::tools(&ledger, timeout, config.pace.0);
    let wallet = async move |Caller(principal): Caller| -> Result<Response, Problem> {
        Ok(fresh(wallet::to_json(&ledger.wallet(&principal).await?)))
    };
    Ok((tools, Router::new().route(WALLET, get(wallet))))
}

/// The route of a server without the demo's tools: there is no wallet, which is no error.
pub(crate) fn no_tools() -> Router<Api> {
    let none = async |_: Caller| StatusCode::NO_CONTENT.into_response();
    Router::new().route(WALLET, get(none))
}

/// Adds the demo's route to the OpenAPI document.
pub(crate) fn describe(document: &mut OpenApi) {
    document.merge(operations::Operations::openapi());
}

const WALLET: &str = "/api/wallet";
