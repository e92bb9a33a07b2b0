//! Gemini, by `streamGenerateContent`: one request a step.
//!
//! Everything that the model said goes back to it as it came, part by part, with its thought
//! signatures: they ride in the journal as provider metadata under `google`, and what a page has no
//! use for rides there as an opaque part.
//!
//! # Layout
//!
//! - [`Config`]: what an operator may say; [`Key`]: the key, which is never shown.
//! - `request`: a step request as the body of a request; `contents`: the history in it, with
//!   `response` for what became of calls.
//! - `endpoint`: where it is sent; `reading`: chunks as events; `provider_metadata`: what goes back
//!   unchanged. How it is sent, and again, is in `model`.
//! - `failure`: what went wrong, in codes.

mod config;
mod contents;
mod endpoint;
mod failure;
mod provider_metadata;
mod reading;
mod request;
pub(crate) mod response;
#[cfg(test)]
mod round_trip;

use std::sync::Arc;

use turn::agent::StepRequest;

pub use self::config::{Config, DEFAULT_BASE_URL, DEFAULT_MODEL, Key, Retries, Timeouts};
pub(crate) use self::contents::contents;
pub(crate) use self::failure::Failure;
use self::reading::StreamReading;
pub(crate) use self::reading::{read as read_part, usage};
pub(crate) use self::request::declaration;
pub(crate) use self::response::of_outcome as outcome_map;
use crate::agent::{Agent, AgentStream};
use crate::error::Error;
pub(crate) use crate::model::chance;
pub(crate) use crate::model::data_url::standard_base64;
pub(crate) use crate::model::http::{base_url, is_loopback};
use crate::model::{Http, step};

/// Gemini, by generateContent.
#[derive(Debug, Clone)]
pub struct Gemini {
    config: Arc<Config>,
    http: Http,
}

impl Gemini {
    /// Gemini as configured. Nothing is sent before the first step.
    pub fn new(config: Config) -> Result<Self, Error> {
        let http = Http::new(endpoint::endpoint(&config)?)?;
        Ok(Self {
            config: Arc::new(config),
            http,
        })
    }
}

impl Agent for Gemini {
    fn name(&self) -> &str {
        "gemini"
    }

    fn model(&self) -> Option<&str> {
        Some(&self.config.model)
    }

    fn takes_injections(&self) -> bool {
        true
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        let body = request::body(&self.config, &request);
        let reading = StreamReading::new(self.http.redactor.clone());
        Box::pin(step::stream(
            self.http.traced(request.trace.clone()),
            body,
            reading,
        ))
    }
}
