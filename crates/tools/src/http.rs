//! Tools that are one HTTP request, without Rust: a URL with parameters of the input, headers, a body.
//!
//! **What happened is never guessed.** A request that may have reached the server, and whose answer was
//! lost, leaves an *unknown* outcome, unless the request may be repeated ([`Repeat`]) or there is a
//! [`Lookup`] that says what became of it.
//!
//! **A model chooses values, never places.** A value is one segment of the path, one value of the query,
//! one header's value or a part of the body; it can't lead to another host or path. Addresses are
//! checked after they were resolved, and the checked address is the one that is connected to.
//!
//! # Layout
//!
//! - [`mod@template`]: texts with parameters; [`request`]: a request made from an input.
//! - [`address`]: which addresses are public; [`client`]: a client that connects to no others.
//! - [`response`]: what an answer means; [`mod@exchange`]: one call, with its retries and its look-up.
//! - [`secret`]: what is sent and never shown; [`fetch`]: a document, before anything runs.

pub mod address;
pub mod client;
pub mod exchange;
pub mod fetch;
pub mod request;
pub mod response;
pub mod secret;
pub mod template;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use self::client::Client;
pub use self::client::Network;
use self::exchange::Exchange;
pub use self::request::{Body, Named, Request};
pub use self::secret::Secret;
pub use self::template::Template;
use crate::context::Context;
use crate::tool::{Tool, tool};

/// A tool that is one HTTP request.
#[derive(Debug, Clone)]
pub struct HttpTool {
    /// The name under which a model calls it.
    pub name: String,
    /// The description that a model gets.
    pub description: String,
    /// The JSON Schema of its input.
    pub input: Value,
    /// The request.
    pub request: Request,
    /// Whether the request may be sent again.
    pub repeat: Repeat,
    /// The request that says what became of a call whose answer was lost.
    pub lookup: Option<Lookup>,
    /// The request that tells the server of a higher epoch when a call was taken over
    /// ([`Tool::on_takeover`]). It has no parameters.
    pub on_takeover: Option<Request>,
    /// How long, how large and how often.
    pub limits: Limits,
    /// Whether redirects are followed, and where to.
    pub redirects: Redirects,
}

/// Whether a request may be sent again when its answer was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repeat {
    /// Never: the outcome is unknown.
    Never,
    /// It changes nothing (GET, HEAD): it is sent again, and fails if that does not help.
    Safe,
    /// It has the same effect however often it is sent.
    Idempotent,
    /// The server knows it by the call's id in this header, and carries it out once.
    Keyed(String),
}

/// A request that says what became of a call: 2xx with its output, or 404 if it never happened.
#[derive(Debug, Clone)]
pub struct Lookup {
    /// The request.
    pub request: Request,
}

/// How long, how large and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long one request may take, from its start to the last byte of the answer.
    pub timeout: Duration,
    /// How much of an answer is read.
    pub response_bytes: usize,
    /// How often a request that may be repeated is sent.
    pub attempts: u32,
    /// How long the first pause between two of them is; each one after it is twice as long.
    pub pause: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            response_bytes: 1024 * 1024,
            attempts: 4,
            pause: Duration::from_millis(250),
        }
    }
}

/// Whether redirects are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Redirects {
    /// No: a redirect is an error.
    #[default]
    None,
    /// To the same scheme, host and port.
    SameHost,
}

/// Why a tool can't be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpError(pub String);

impl fmt::Display for HttpError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for HttpError {}

impl HttpTool {
    /// The tool, over a network. Nothing is sent before it is called.
    pub fn into_tool(self, network: &Network) -> Result<Tool<Value>, HttpError> {
        self.request.check_input(&self.input)?;
        if let Some(lookup) = &self.lookup {
            lookup.request.check_parameters(&self.input)?;
            if !lookup.request.is_safe() {
                return Err(HttpError("a look-up must be a GET".to_owned()));
            }
        }
        if let Some(request) = &self.on_takeover {
            request.check_plain()?;
        }
        let client = Client::new(network, &self.request, self.redirects)?;
        let lookup_client = match &self.lookup {
            Some(lookup) => Some(Client::new(network, &lookup.request, self.redirects)?),
            None => None,
        };
        let takeover_client = match &self.on_takeover {
            Some(request) => Some(Client::new(network, request, self.redirects)?),
            None => None,
        };
        let may_run_again = self.repeat != Repeat::Never || self.lookup.is_some();
        let (name, description, input) = (
            self.name.clone(),
            self.description.clone(),
            self.input.clone(),
        );
        let raises = self.on_takeover.is_some();
        let exchange = Exchange::new(self, client, (lookup_client, takeover_client));
        let (exchange, raising) = {
            let exchange = Arc::new(exchange);
            (exchange.clone(), exchange)
        };
        let made = tool(
            &name,
            &description,
            move |context: Context, input: Value| {
                let exchange = exchange.clone();
                async move { exchange.run(&context, &input).await }
            },
        );
        let mut made = made.input_schema(input);
        if raises {
            made = made.on_takeover(move |fence| {
                let exchange = raising.clone();
                async move { exchange.raise(&fence).await }
            });
        }
        Ok(match may_run_again {
            true => made.idempotent(),
            false => made,
        })
    }
}
