//! In place of the demo, in builds without the feature `demo`.

use std::sync::Arc;
use std::time::Duration;

use agents::Agent;
use axum::Router;
use engine::Tools;
use store::Location;
use utoipa::openapi::OpenApi;

use crate::api::Api;
use crate::config::Config;
use crate::error::Error;

/// There is no demo to answer.
pub(crate) fn agent(_: &Config) -> Result<Arc<dyn Agent>, Error> {
    Err(Error::LeftOut("the agent demo"))
}

/// There are no tools of the demo.
pub(crate) async fn tools(
    _: &Config,
    _: Location,
    _: Option<Duration>,
) -> Result<(Tools, Router<Api>), Error> {
    Err(Error::LeftOut("the demo's tools"))
}

/// There are no routes of the demo.
pub(crate) fn no_tools() -> Router<Api> {
    Router::new()
}

/// There are no routes of the demo to describe.
pub(crate) fn describe(_: &mut OpenApi) {}
