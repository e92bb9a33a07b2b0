//! What an operator may say of a model that speaks OpenAI's API.

use std::fmt;

use crate::model::{Key, Retries, Timeouts};

/// OpenAI's own service.
pub const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// Who is asked, with which key, and how it is to answer.
#[derive(Clone)]
pub struct Config {
    /// Where the API is, before `/chat/completions`: `http://127.0.0.1:11434/v1` for Ollama.
    pub base_url: String,
    /// The model.
    pub model: String,
    /// The key, where the server wants one.
    pub key: Option<Key>,
    /// Which of OpenAI's two APIs the server has.
    pub api: Api,
    /// The system instruction of the model.
    pub instruction: Option<String>,
    /// How freely to answer; the model's own way, if nothing is said.
    pub temperature: Option<f64>,
    /// How long an answer may be.
    pub max_tokens: Option<u64>,
    /// How hard to think, as `low` or `high`; nothing is sent, if nothing is said.
    pub reasoning_effort: Option<String>,
    /// Headers for every request. They may be secret, and are never shown.
    pub headers: Vec<(String, String)>,
    /// How often to ask again.
    pub retries: Retries,
    /// How long to wait.
    pub timeouts: Timeouts,
}

/// One of OpenAI's APIs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Api {
    /// Responses where the base URL is OpenAI's own, chat completions elsewhere.
    #[default]
    Auto,
    /// `/chat/completions`, which nearly every server has.
    ChatCompletions,
    /// `/responses`, which keeps what OpenAI's models think between steps.
    Responses,
}

impl std::str::FromStr for Api {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "chat-completions" => Ok(Self::ChatCompletions),
            "responses" => Ok(Self::Responses),
            _ => Err(format!(
                "`{text}` is not an API; expected auto, chat-completions or responses"
            )),
        }
    }
}

impl Config {
    /// A model of OpenAI's own service, without a key.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            base_url: DEFAULT_BASE_URL.to_owned(),
            model: model.into(),
            key: None,
            api: Api::default(),
            instruction: None,
            temperature: None,
            max_tokens: None,
            reasoning_effort: None,
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
            .field("api", &self.api)
            .finish_non_exhaustive()
    }
}
