//! How an MCP server is reached, what its tools may do, and its limits.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::pattern::Pattern;
use crate::policy::Policies;

/// How long the name of a server may be.
pub const MAX_SERVER_NAME_BYTES: usize = 32;

/// An MCP server.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// What it is called here: its tools are `name.tool`.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// What its tools may do, by their names here without `name.`. Whatever is not named is asked about.
    pub policies: Policies,
    /// The tools that may be called again if nobody knows whether a call has happened, by their names here
    /// without `name.`. A tool counts as such only if the server says so as well.
    pub idempotent: Vec<Pattern>,
    /// How long a person is asked about a call. Without it, for ever.
    pub approval_timeout: Option<Duration>,
    /// How long a call may take.
    pub call_timeout: Duration,
    /// How long a start may take, until the list of tools is there.
    pub start_timeout: Duration,
    /// How large and how many.
    pub limits: Limits,
    /// The URIs that the server is given when it asks for its roots. Unless some are named, it is refused.
    pub roots: Vec<String>,
    /// What becomes of images, sound and other bytes in answers.
    pub media: Media,
}

/// What becomes of images, sound and other bytes in the answer of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Media {
    /// The output says what there was: the media type and the size. A model would read the bytes as text.
    #[default]
    Describe,
    /// The output holds them, as base64, within its limit. For pages that show them.
    Inline,
}

impl ServerConfig {
    /// A server with the default limits, whose calls all need an approval.
    pub fn new(name: impl Into<String>, transport: Transport) -> Self {
        Self {
            name: name.into(),
            transport,
            policies: Policies::new(),
            idempotent: Vec::new(),
            approval_timeout: None,
            call_timeout: Duration::from_secs(60),
            start_timeout: Duration::from_secs(60),
            limits: Limits::default(),
            roots: Vec::new(),
            media: Media::default(),
        }
    }

    /// What is wrong with it.
    pub fn check(&self) -> Result<(), ConfigError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let starts_well = self.name.starts_with(|c: char| c.is_ascii_alphabetic());
        if !starts_well || !self.name.chars().all(is_plain) {
            return Err(ConfigError::Name(self.name.clone()));
        }
        if self.name.len() > MAX_SERVER_NAME_BYTES {
            return Err(ConfigError::Name(self.name.clone()));
        }
        match &self.transport {
            Transport::Stdio { command, .. } if command.is_empty() => Err(ConfigError::NoCommand),
            Transport::Stdio { .. } => Ok(()),
            Transport::Http { url, headers } => {
                let parsed = reqwest::Url::parse(url);
                let parsed = parsed.map_err(|error| ConfigError::Url(error.to_string()))?;
                if !matches!(parsed.scheme(), "http" | "https") || !parsed.has_host() {
                    let why = "it has to begin with http:// or https://".to_owned();
                    return Err(ConfigError::Url(why));
                }
                for (name, value) in headers {
                    let is_name = reqwest::header::HeaderName::try_from(name.as_str()).is_ok();
                    let is_value = reqwest::header::HeaderValue::try_from(value.as_str()).is_ok();
                    if !is_name || !is_value || is_reserved(name) {
                        return Err(ConfigError::Header(name.clone()));
                    }
                }
                Ok(())
            }
        }
    }
}

/// Headers that the protocol sets.
fn is_reserved(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("mcp-") || matches!(&*name, "accept" | "content-type" | "last-event-id")
}

/// How a server is reached.
#[derive(Clone)]
pub enum Transport {
    /// A program of this machine, which is started and ended with the server.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables of its environment, beside a few of ours that programs need (`PATH`, `HOME` and the
        /// like). Ours may hold secrets that are none of its business.
        env: BTreeMap<String, String>,
        /// Its working directory.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Headers of every request: `Authorization`, for one.
        headers: BTreeMap<String, String>,
    },
}

impl fmt::Debug for Transport {
    /// Without values of variables, headers and queries: those are secrets.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio {
                command,
                args,
                env,
                cwd,
            } => out
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", &args.len())
                .field("env", &env.keys())
                .field("cwd", cwd)
                .finish(),
            Self::Http { url, headers } => out
                .debug_struct("Http")
                .field("url", &url.split('?').next())
                .field("headers", &headers.keys())
                .finish(),
        }
    }
}

/// How large and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How large a message of the server may be.
    pub max_message_bytes: usize,
    /// How large the output of a call may be, as JSON, for the model and the journal.
    pub max_output_bytes: usize,
    /// How many tools are taken from it.
    pub max_tools: usize,
    /// How much of a description is taken.
    pub max_description_bytes: usize,
    /// How large an input schema may be, as JSON.
    pub max_schema_bytes: usize,
    /// How many calls may be under way. A call beyond it waits, within its time.
    pub max_calls: usize,
    /// How often progress of one call is shown, at most.
    pub progress_interval: Duration,
    /// The longest wait before a server that failed is started again; the first is a hundredth of it.
    pub max_restart_delay: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_message_bytes: 4 * 1024 * 1024,
            max_output_bytes: 1024 * 1024,
            max_tools: 512,
            max_description_bytes: 4096,
            max_schema_bytes: 64 * 1024,
            max_calls: 64,
            progress_interval: Duration::from_millis(100),
            max_restart_delay: Duration::from_secs(30),
        }
    }
}

/// What is wrong with a [`ServerConfig`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigError {
    /// The name is none that tools can begin with.
    Name(String),
    /// There is no command.
    NoCommand,
    /// The address is none.
    Url(String),
    /// A header can't be sent, or is the protocol's own.
    Header(String),
    /// No HTTP client can be made.
    Client(String),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(
                out,
                "{name:?} is no name for an MCP server: a letter, then letters, digits, _ and -, {MAX_SERVER_NAME_BYTES} at most"
            ),
            Self::NoCommand => out.write_str("the MCP server has no command"),
            Self::Url(why) => write!(out, "the MCP server's url can't be used: {why}"),
            Self::Header(name) => write!(
                out,
                "the header {name:?} can't be sent to the MCP server: its name or value is not valid, or the protocol sets it"
            ),
            Self::Client(why) => write!(out, "no HTTP client for the MCP server: {why}"),
        }
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn http(url: &str, header: &str) -> Transport {
        Transport::Http {
            url: url.to_owned(),
            headers: BTreeMap::from([(header.to_owned(), "secret-value".to_owned())]),
        }
    }

    fn stdio(command: &str) -> Transport {
        Transport::Stdio {
            command: command.to_owned(),
            args: vec!["secret-argument".to_owned()],
            env: BTreeMap::from([("TOKEN".to_owned(), "secret-value".to_owned())]),
            cwd: None,
        }
    }

    #[test]
    fn what_can_not_work_is_refused() {
        let check = |name: &str, transport| ServerConfig::new(name, transport).check();
        assert_eq!(check("crm", stdio("crm-mcp")), Ok(()));
        assert_eq!(
            check("crm", http("https://crm.test/mcp", "authorization")),
            Ok(())
        );
        for name in ["", "a.b", "1a", "a b", "ä", &"x".repeat(33)] {
            let error = check(name, stdio("crm-mcp")).unwrap_err();
            assert!(matches!(error, ConfigError::Name(_)), "{name}");
        }
        assert_eq!(check("crm", stdio("")), Err(ConfigError::NoCommand));
        for url in ["", "crm.test/mcp", "ftp://crm.test", "file:///etc/passwd"] {
            let error = check("crm", http(url, "x")).unwrap_err();
            assert!(matches!(error, ConfigError::Url(_)), "{url}");
        }
        for header in ["", "a b", "Mcp-Session-Id", "Accept"] {
            let error = check("crm", http("http://crm.test", header)).unwrap_err();
            assert!(matches!(error, ConfigError::Header(_)), "{header}");
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        let configs = [
            ServerConfig::new("crm", stdio("crm-mcp")),
            ServerConfig::new("crm", http("http://crm.test/?key=secret-query", "key")),
        ];
        let printed = format!("{configs:?}");
        assert!(!printed.contains("secret"), "{printed}");
    }
}
