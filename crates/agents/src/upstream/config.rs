//! Where an agent of somebody else's is.

use std::fmt;
use std::time::Duration;

/// Where an agent is that answers a POST with a stream of events.
#[derive(Clone)]
pub struct Config {
    /// The address that is sent a POST.
    pub url: String,
    /// Headers for it. They may be secret, and are never shown.
    pub headers: Vec<(String, String)>,
    /// The tools that pages run, beside those that the agent is offered. Without a list, a call is a
    /// page's if the stream ends without its output, and the calls of a step are shown when the step is
    /// over. With one, other calls are shown while they run, and a listed tool that needs an approval is
    /// run by the page once it is given.
    pub client_tools: Option<Vec<String>>,
    /// Whether a request is sent again that a server which stopped may have sent. Tools that the agent
    /// runs without an approval may then run twice.
    pub reruns: bool,
    /// The fields that a page adds to the body of its request and that the agent gets with the message.
    pub forward: Vec<String>,
    /// How long the agent's tools may run without anything becoming of one of them; without a limit, for as
    /// long as the connection is open.
    pub tool_timeout: Option<Duration>,
}

/// How long an agent's tools may run, if nobody says otherwise.
const TOOL_TIMEOUT: Duration = Duration::from_secs(60 * 60);

impl Config {
    /// An agent at an address.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            headers: Vec::new(),
            client_tools: None,
            reruns: false,
            forward: Vec::new(),
            tool_timeout: Some(TOOL_TIMEOUT),
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Config")
            .field("url", &self.url)
            .field("client_tools", &self.client_tools)
            .field("reruns", &self.reruns)
            .field("forward", &self.forward)
            .field("tool_timeout", &self.tool_timeout)
            .finish_non_exhaustive()
    }
}
