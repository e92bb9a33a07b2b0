//! What an operator may say of a model of Anthropic's.

use std::fmt;

use crate::model::{Key, Retries, Timeouts};

/// Anthropic's own service.
pub const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";

/// How long an answer may be, if nothing is said: the API wants a number, and every model that is not
/// older than Claude 3.5 takes this one.
pub const DEFAULT_MAX_TOKENS: u64 = 8192;

/// Who is asked, with which key, and how it is to answer.
#[derive(Clone)]
pub struct Config {
    /// Where the API is, before `/v1/messages`.
    pub base_url: String,
    /// The model.
    pub model: String,
    /// The key, where the server wants one.
    pub key: Option<Key>,
    /// The system instruction of the model.
    pub instruction: Option<String>,
    /// How freely to answer; the model's own way, if nothing is said. Not sent where the model thinks:
    /// Anthropic refuses both together.
    pub temperature: Option<f64>,
    /// How long an answer may be; [`DEFAULT_MAX_TOKENS`], if nothing is said.
    pub max_tokens: Option<u64>,
    /// For how many tokens to think before answering; not at all, if nothing is said.
    pub thinking_budget: Option<u64>,
    /// Headers for every request, `anthropic-beta` among them. They may be secret, and are never shown.
    pub headers: Vec<(String, String)>,
    /// How often to ask again.
    pub retries: Retries,
    /// How long to wait.
    pub timeouts: Timeouts,
}

impl Config {
    /// A model of Anthropic's own service, without a key.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            base_url: DEFAULT_BASE_URL.to_owned(),
            model: model.into(),
            key: None,
            instruction: None,
            temperature: None,
            max_tokens: None,
            thinking_budget: None,
            headers: Vec::new(),
            retries: Retries::default(),
            timeouts: Timeouts::default(),
        }
    }
}

/// Without the headers, which may be secret.
impl fmt::Debug for Config {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Config")
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
