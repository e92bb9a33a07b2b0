//! Where an ADK server is.

use std::fmt;

/// Where an ADK server is, and which of its apps answers.
#[derive(Clone)]
pub struct Config {
    /// The address of `adk api_server`.
    pub url: String,
    /// The app.
    pub app: String,
    /// Headers for a proxy in front of it. They may be secret, and are never shown.
    pub headers: Vec<(String, String)>,
}

impl Config {
    /// An app of a server.
    pub fn new(url: impl Into<String>, app: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            app: app.into(),
            headers: Vec::new(),
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Config")
            .field("url", &self.url)
            .field("app", &self.app)
            .finish_non_exhaustive()
    }
}
