//! Settings as text, before anything is made of them.

use std::fmt;

use serde::{Deserialize, Deserializer};

use crate::environment::Environment;
use crate::error::Error;

/// Settings as text, as one source gives them: the flags, the environment or the file.
#[derive(Debug, Default, clap::Args, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Address to listen on; port 0 picks a free one [env: ADK_STREAM_LISTEN] [default: 127.0.0.1:8080]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<String>,
    /// Where the journals are kept: memory, sqlite:PATH or postgres://… [env: ADK_STREAM_STORE] [default: memory]
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,
    /// Who answers [env: ADK_STREAM_AGENT] [default: demo]
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Who may speak, as NAME=KEY,… or NAME=sha256:HEX,… [env: ADK_STREAM_KEYS] [default: only this machine]
    #[arg(long, value_name = "KEYS")]
    pub(crate) keys: Option<String>,
    /// A file of keys, NAME=KEY or NAME=sha256:HEX on each line, besides --keys [env: ADK_STREAM_KEYS_FILE]
    #[arg(long, value_name = "FILE")]
    #[serde(rename = "keys-file")]
    pub(crate) keys_file: Option<String>,
    /// Serve everybody who reaches this server as one principal, where there are no keys [env: ADK_STREAM_INSECURE] [default: false]
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    #[serde(default, deserialize_with = "switch")]
    pub(crate) insecure: Option<String>,
    /// Sites whose pages may change something or open a WebSocket, with commas between [env: ADK_STREAM_ORIGINS] [default: this server's own]
    #[arg(long, value_name = "ORIGINS")]
    pub(crate) origins: Option<String>,
    /// What an abort frame does to the turn: leave it, or stop it [env: ADK_STREAM_ON_ABORT] [default: leave]
    #[arg(long, value_name = "leave|stop")]
    #[serde(rename = "on-abort")]
    pub(crate) on_abort: Option<String>,
    /// How long approvals wait, in seconds, or never to time out [env: ADK_STREAM_APPROVAL_TIMEOUT] [default: never; 30 for gemini-live]
    #[arg(long, value_name = "SECONDS")]
    #[serde(rename = "approval-timeout")]
    pub(crate) approval_timeout: Option<String>,
    /// How long pages have to run a tool, in seconds, or never to time out [env: ADK_STREAM_CLIENT_TIMEOUT] [default: never]
    #[arg(long, value_name = "SECONDS")]
    #[serde(rename = "client-timeout")]
    pub(crate) client_timeout: Option<String>,
    /// How much memory chats that nothing happens to may take, or none for no limit [env: ADK_STREAM_RESTING_MEMORY] [default: 64MiB]
    #[arg(long, value_name = "BYTES")]
    #[serde(rename = "resting-memory")]
    pub(crate) resting_memory: Option<String>,
    /// Offer the demo's tools, which pay from a pretended wallet, to a model too; the demo always has them [env: ADK_STREAM_DEMO_TOOLS] [default: false]
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    #[serde(default, rename = "demo-tools", deserialize_with = "switch")]
    pub(crate) demo_tools: Option<String>,
    /// Pause between the demo's words, in milliseconds [env: ADK_STREAM_PACE] [default: 15]
    #[arg(long, value_name = "MILLISECONDS")]
    pub(crate) pace: Option<String>,
    /// Folder of a page to serve in place of the built-in one [env: ADK_STREAM_PAGE] [default: the built-in page]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) page: Option<String>,
    /// Sites that may show the page in a frame, with commas between [env: ADK_STREAM_FRAME_ANCESTORS] [default: none]
    #[arg(long, value_name = "ORIGINS")]
    #[serde(rename = "frame-ancestors")]
    pub(crate) frame_ancestors: Option<String>,
    /// What the page may load, as the directives of a Content-Security-Policy, where a page of your own needs more [env: ADK_STREAM_CONTENT_SECURITY_POLICY] [default: what the built-in page needs]
    #[arg(long, value_name = "DIRECTIVES")]
    #[serde(rename = "content-security-policy")]
    pub(crate) content_security_policy: Option<String>,
    /// The key for Gemini. No flag: everybody on this machine can read a command line.
    #[arg(skip)]
    #[serde(rename = "gemini-key")]
    pub(crate) gemini_key: Secret,
    /// Gemini's model [env: ADK_STREAM_GEMINI_MODEL] [default: gemini-flash-latest]
    #[arg(long, value_name = "MODEL")]
    #[serde(rename = "gemini-model")]
    pub(crate) gemini_model: Option<String>,
    /// Where Gemini is [env: ADK_STREAM_GEMINI_BASE_URL] [default: Google's]
    #[arg(long, value_name = "URL")]
    #[serde(rename = "gemini-base-url")]
    pub(crate) gemini_base_url: Option<String>,
    /// What the model is told before all; @FILE for what is in a file [env: ADK_STREAM_SYSTEM_INSTRUCTION] [default: nothing]
    #[arg(long, value_name = "TEXT")]
    #[serde(rename = "system-instruction")]
    pub(crate) system_instruction: Option<String>,
    /// How freely the model answers, from 0 to 2 [env: ADK_STREAM_TEMPERATURE] [default: its own way]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) temperature: Option<String>,
    /// How long an answer may be, in tokens, thoughts included [env: ADK_STREAM_MAX_OUTPUT_TOKENS] [default: the model's limit]
    #[arg(long, value_name = "TOKENS")]
    #[serde(rename = "max-output-tokens")]
    pub(crate) max_output_tokens: Option<String>,
    /// How the model thinks: auto, none, off, minimal, low, medium, high or TOKENS [env: ADK_STREAM_THINKING] [default: auto]
    #[arg(long, value_name = "HOW")]
    pub(crate) thinking: Option<String>,
    /// In what Gemini Live and a live ADK server answer: audio or text [env: ADK_STREAM_LIVE_MODALITY] [default: audio]
    #[arg(long, value_name = "audio|text")]
    #[serde(rename = "live-modality")]
    pub(crate) live_modality: Option<String>,
    /// Whether Gemini Live waits for calls: blocking, or non-blocking [env: ADK_STREAM_LIVE_TOOLS] [default: as each tool says]
    #[arg(long, value_name = "BEHAVIOR")]
    #[serde(rename = "live-tools")]
    pub(crate) live_tools: Option<String>,
    /// Gemini Live's voice, such as Kore [env: ADK_STREAM_LIVE_VOICE] [default: its own]
    #[arg(long, value_name = "VOICE")]
    #[serde(rename = "live-voice")]
    pub(crate) live_voice: Option<String>,
    /// Where `adk api_server` listens [env: ADK_STREAM_ADK_URL] [default: http://127.0.0.1:8000]
    #[arg(long, value_name = "URL")]
    #[serde(rename = "adk-url")]
    pub(crate) adk_url: Option<String>,
    /// Which of its apps answers [env: ADK_STREAM_ADK_APP]
    #[arg(long, value_name = "NAME")]
    #[serde(rename = "adk-app")]
    pub(crate) adk_app: Option<String>,
    /// Headers for the ADK server, one a line. No flag, as for Gemini's key.
    #[arg(skip)]
    #[serde(rename = "adk-headers")]
    pub(crate) adk_headers: Secret,
    /// The key by which tools at the agent ask people and pages. No flag, as for Gemini's.
    #[arg(skip)]
    #[serde(rename = "agent-key")]
    pub(crate) agent_key: Secret,
    /// The key by which several servers over one database know each other. No flag, as for Gemini's.
    #[arg(skip)]
    #[serde(rename = "cluster-key")]
    pub(crate) cluster_key: Secret,
    /// Where other servers over the same database reach this one [env: ADK_STREAM_ADVERTISE] [default: where it listens]
    #[arg(long, value_name = "URL")]
    pub(crate) advertise: Option<String>,
    /// How long a server that gives no sign of life is believed in, in seconds [env: ADK_STREAM_LEASE] [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) lease: Option<String>,
    /// How long a chat that nobody watches is kept open, and what its agent keeps for it, in seconds [env: ADK_STREAM_LINGER] [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) linger: Option<String>,
    /// How long tools that are at work may take to end once the server is told to stop, in seconds [env: ADK_STREAM_DRAIN] [default: 20]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) drain: Option<String>,
    /// How many connections may be open, WebSockets included [env: ADK_STREAM_MAX_CONNECTIONS] [default: the descriptor limit, less a reserve]
    #[arg(long, value_name = "NUMBER")]
    #[serde(rename = "max-connections")]
    pub(crate) max_connections: Option<String>,
    /// How many of them may come from one address [env: ADK_STREAM_MAX_CONNECTIONS_PER_ADDRESS] [default: half]
    #[arg(long, value_name = "NUMBER")]
    #[serde(rename = "max-connections-per-address")]
    pub(crate) max_connections_per_address: Option<String>,
    /// How long the head of a request may take to come, in seconds [env: ADK_STREAM_HEADER_TIMEOUT] [default: 10]
    #[arg(long, value_name = "SECONDS")]
    #[serde(rename = "header-timeout")]
    pub(crate) header_timeout: Option<String>,
    /// How long a connection may wait for its next request, in seconds [env: ADK_STREAM_KEEP_ALIVE] [default: 75]
    #[arg(long, value_name = "SECONDS")]
    #[serde(rename = "keep-alive")]
    pub(crate) keep_alive: Option<String>,
    /// How long nothing of a request's body may come, in seconds [env: ADK_STREAM_BODY_TIMEOUT] [default: 10]
    #[arg(long, value_name = "SECONDS")]
    #[serde(rename = "body-timeout")]
    pub(crate) body_timeout: Option<String>,
    /// How long a client may take nothing of a response, in seconds [env: ADK_STREAM_WRITE_TIMEOUT] [default: 30]
    #[arg(long, value_name = "SECONDS")]
    #[serde(rename = "write-timeout")]
    pub(crate) write_timeout: Option<String>,
    /// How many chats of one principal may have a turn that has not ended, or none for no limit [env: ADK_STREAM_MAX_OPEN_CHATS] [default: 1000]
    #[arg(long, value_name = "NUMBER")]
    #[serde(rename = "max-open-chats")]
    pub(crate) max_open_chats: Option<String>,
    /// How many approvals of one principal may wait for an answer, or none [env: ADK_STREAM_MAX_OPEN_APPROVALS] [default: 1000]
    #[arg(long, value_name = "NUMBER")]
    #[serde(rename = "max-open-approvals")]
    pub(crate) max_open_approvals: Option<String>,
    /// How many requests of one principal may be in flight, streams and WebSockets included, or none [env: ADK_STREAM_MAX_REQUESTS_IN_FLIGHT] [default: 1000]
    #[arg(long, value_name = "NUMBER")]
    #[serde(rename = "max-requests-in-flight")]
    pub(crate) max_requests_in_flight: Option<String>,
    /// How many requests one principal may send a second, or none; five times as many may come at once [env: ADK_STREAM_MAX_REQUESTS_PER_SECOND] [default: 200]
    #[arg(long, value_name = "NUMBER")]
    #[serde(rename = "max-requests-per-second")]
    pub(crate) max_requests_per_second: Option<String>,
    /// How many bytes of bodies one principal may send a second, or none [env: ADK_STREAM_MAX_BODY_BYTES_PER_SECOND] [default: 16MiB]
    #[arg(long, value_name = "BYTES")]
    #[serde(rename = "max-body-bytes-per-second")]
    pub(crate) max_body_bytes_per_second: Option<String>,
    /// What Gemini blocks: a threshold, or HARM=THRESHOLD,… [env: ADK_STREAM_SAFETY] [default: what Google blocks]
    #[arg(long, value_name = "SAFETY")]
    pub(crate) safety: Option<String>,
}

impl Settings {
    /// What the environment says.
    pub(super) fn of(environment: &Environment) -> Result<Self, Error> {
        Ok(Self {
            listen: environment.text("LISTEN")?,
            store: environment.text("STORE")?,
            agent: environment.text("AGENT")?,
            keys: environment.text("KEYS")?,
            keys_file: environment.text("KEYS_FILE")?,
            insecure: environment.text("INSECURE")?,
            origins: environment.text("ORIGINS")?,
            on_abort: environment.text("ON_ABORT")?,
            approval_timeout: environment.text("APPROVAL_TIMEOUT")?,
            client_timeout: environment.text("CLIENT_TIMEOUT")?,
            resting_memory: environment.text("RESTING_MEMORY")?,
            demo_tools: environment.text("DEMO_TOOLS")?,
            pace: environment.text("PACE")?,
            page: environment.text("PAGE")?,
            frame_ancestors: environment.text("FRAME_ANCESTORS")?,
            content_security_policy: environment.text("CONTENT_SECURITY_POLICY")?,
            gemini_key: Secret(environment.text("GEMINI_KEY")?),
            gemini_model: environment.text("GEMINI_MODEL")?,
            gemini_base_url: environment.text("GEMINI_BASE_URL")?,
            system_instruction: environment.text("SYSTEM_INSTRUCTION")?,
            temperature: environment.text("TEMPERATURE")?,
            max_output_tokens: environment.text("MAX_OUTPUT_TOKENS")?,
            thinking: environment.text("THINKING")?,
            live_modality: environment.text("LIVE_MODALITY")?,
            live_tools: environment.text("LIVE_TOOLS")?,
            live_voice: environment.text("LIVE_VOICE")?,
            adk_url: environment.text("ADK_URL")?,
            adk_app: environment.text("ADK_APP")?,
            adk_headers: Secret(environment.text("ADK_HEADERS")?),
            agent_key: Secret(environment.text("AGENT_KEY")?),
            cluster_key: Secret(environment.text("CLUSTER_KEY")?),
            advertise: environment.text("ADVERTISE")?,
            lease: environment.text("LEASE")?,
            linger: environment.text("LINGER")?,
            drain: environment.text("DRAIN")?,
            max_connections: environment.text("MAX_CONNECTIONS")?,
            max_connections_per_address: environment.text("MAX_CONNECTIONS_PER_ADDRESS")?,
            header_timeout: environment.text("HEADER_TIMEOUT")?,
            keep_alive: environment.text("KEEP_ALIVE")?,
            body_timeout: environment.text("BODY_TIMEOUT")?,
            write_timeout: environment.text("WRITE_TIMEOUT")?,
            max_open_chats: environment.text("MAX_OPEN_CHATS")?,
            max_open_approvals: environment.text("MAX_OPEN_APPROVALS")?,
            max_requests_in_flight: environment.text("MAX_REQUESTS_IN_FLIGHT")?,
            max_requests_per_second: environment.text("MAX_REQUESTS_PER_SECOND")?,
            max_body_bytes_per_second: environment.text("MAX_BODY_BYTES_PER_SECOND")?,
            safety: environment.text("SAFETY")?,
        })
    }
}

/// A setting that is on or off, which a file may write as `true` or as `'true'`.
fn switch<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected true or false")]
    enum Switch {
        Bool(bool),
        Text(String),
    }
    Ok(Some(match Switch::deserialize(deserializer)? {
        Switch::Bool(is_on) => is_on.to_string(),
        Switch::Text(text) => text,
    }))
}

/// A setting that is never printed.
#[derive(Clone, Default, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(pub(super) Option<String>);

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret")
    }
}
