//! A model that speaks OpenAI's API: OpenAI's own, Ollama, vLLM, LiteLLM, OpenRouter and many more.
//!
//! Everything that the model said goes back to it: its calls with the ids and fields that came with them,
//! and what else its server added to a message, which rides in the journal as provider metadata under
//! `openai`.
//!
//! # Layout
//!
//! - [`Config`]: what an operator may say.
//! - `endpoint`: where requests are sent, and what refusals mean.
//! - `chat`: chat completions; `responses`: the Responses API; `usage`: tokens of both.

mod chat;
mod config;
mod endpoint;
mod responses;
mod usage;

use std::sync::Arc;

use turn::agent::StepRequest;

pub use self::config::{Api, Config, DEFAULT_BASE_URL};
use crate::agent::{Agent, AgentStream};
use crate::error::Error;
use crate::model::history::is_first_step;
use crate::model::tool_names::ToolNames;
use crate::model::{Http, step};
pub use crate::model::{Key, Retries, Timeouts};

/// The provider's name in the metadata.
const PROVIDER: &str = "openai";

/// A model that speaks OpenAI's API.
#[derive(Debug, Clone)]
pub struct OpenAi {
    config: Arc<Config>,
    api: Api,
    is_openai: bool,
    http: Http,
}

impl OpenAi {
    /// The model as configured. Nothing is sent before the first step.
    pub fn new(config: Config) -> Result<Self, Error> {
        let (api, endpoint) = endpoint::endpoint(&config)?;
        Ok(Self {
            config: Arc::new(config),
            api,
            is_openai: endpoint::is_openai(&endpoint.url),
            http: Http::new(endpoint)?,
        })
    }
}

impl Agent for OpenAi {
    fn name(&self) -> &str {
        "openai"
    }

    fn model(&self) -> Option<&str> {
        Some(&self.config.model)
    }

    fn takes_injections(&self) -> bool {
        true
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        let names = ToolNames::new(&request);
        let is_first = is_first_step(&request.history);
        let redactor = self.http.redactor.clone();
        let http = self.http.traced(request.trace.clone());
        match self.api {
            Api::Responses => {
                let body = responses::body(&self.config, &names, &request);
                let reading = responses::ResponsesReading::new(names, redactor, is_first);
                Box::pin(step::stream(http, body, reading))
            }
            Api::Auto | Api::ChatCompletions => {
                let body = chat::body(&self.config, self.is_openai, &names, &request);
                let reading = chat::ChatReading::new(names, redactor, is_first);
                Box::pin(step::stream(http, body, reading))
            }
        }
    }
}
