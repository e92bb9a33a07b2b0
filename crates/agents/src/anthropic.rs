//! A model that speaks Anthropic's Messages API.
//!
//! Everything that the model said goes back to it as it came, block by block, with the signatures of its
//! thoughts: they ride in the journal as provider metadata under `anthropic`, and what a page has no use
//! for rides there as an opaque part.
//!
//! # Layout
//!
//! - [`Config`]: what an operator may say.
//! - `api`: the API as types; `endpoint`: where requests are sent, and what refusals mean.
//! - `request`: a step request as a body; `messages`: the history in it; `reading`: events of an answer as
//!   agent events.

mod api;
mod config;
mod endpoint;
mod messages;
mod reading;
mod request;

use std::sync::Arc;

use turn::agent::StepRequest;

pub use self::config::{Config, DEFAULT_BASE_URL, DEFAULT_MAX_TOKENS};
use crate::agent::{Agent, AgentStream};
use crate::error::Error;
use crate::model::history::is_first_step;
use crate::model::tool_names::ToolNames;
use crate::model::{Http, step};
pub use crate::model::{Key, Retries, Timeouts};

/// The provider's name in the metadata.
const PROVIDER: &str = "anthropic";

/// A model that speaks Anthropic's Messages API.
#[derive(Debug, Clone)]
pub struct Anthropic {
    config: Arc<Config>,
    http: Http,
}

impl Anthropic {
    /// The model as configured. Nothing is sent before the first step.
    pub fn new(config: Config) -> Result<Self, Error> {
        let http = Http::new(endpoint::endpoint(&config)?)?;
        Ok(Self {
            config: Arc::new(config),
            http,
        })
    }
}

impl Agent for Anthropic {
    fn name(&self) -> &str {
        "anthropic"
    }

    fn model(&self) -> Option<&str> {
        Some(&self.config.model)
    }

    fn takes_injections(&self) -> bool {
        true
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        let names = ToolNames::new(&request);
        let body = request::body(&self.config, &names, &request);
        let redactor = self.http.redactor.clone();
        let is_first = is_first_step(&request.history);
        let reading = reading::MessageReading::new(names, redactor, is_first);
        Box::pin(step::stream(
            self.http.traced(request.trace.clone()),
            body,
            reading,
        ))
    }
}
