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
//!   `response` for what became of calls and `data_url` for files.
//! - `http`: one request, asked again while nothing has come; `retry`: when.
//! - `step`: the stream of events; `reading`: chunks as events; `provider_metadata`: what goes back unchanged.
//! - `failure`: what went wrong, in codes.

mod config;
mod contents;
mod data_url;
mod failure;
mod http;
mod key;
mod provider_metadata;
mod reading;
mod request;
pub(crate) mod response;
mod retry;
#[cfg(test)]
mod round_trip;
mod step;

use std::sync::Arc;

use turn::agent::StepRequest;

pub use self::config::{Config, DEFAULT_BASE_URL, DEFAULT_MODEL, Retries, Timeouts};
pub(crate) use self::contents::contents;
pub(crate) use self::data_url::standard_base64;
pub(crate) use self::failure::Failure;
use self::http::Http;
pub(crate) use self::http::{base_url, is_loopback};
pub use self::key::Key;
pub(crate) use self::reading::{read as read_part, usage};
pub(crate) use self::request::declaration;
pub(crate) use self::response::told as outcome_map;
pub(crate) use self::retry::chance;
use crate::agent::{Agent, AgentStream};
use crate::error::Error;

/// Gemini, by generateContent.
#[derive(Debug, Clone)]
pub struct Gemini {
    config: Arc<Config>,
    http: Http,
}

impl Gemini {
    /// Gemini as configured. Nothing is sent before the first step.
    pub fn new(config: Config) -> Result<Self, Error> {
        let http = Http::new(&config)?;
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

    fn step(&self, request: StepRequest) -> AgentStream {
        let body = request::body(&self.config, &request);
        Box::pin(step::stream(self.http.clone(), body))
    }
}
