//! Settings as text, before anything is made of them.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::agent_file::Source;
use crate::agent_file::reference::{LITERAL_SECRET, SecretRef};
use crate::agent_file::spec::{
    AgentSpec, ClientSpec, HttpSpec, McpSpec, ModelSpec, Named, NetworkSpec, OpenApiSpec,
};
use crate::environment::Environment;
use crate::error::Error;

/// Settings as text, as one source gives them: the flags, the environment or the file.
#[derive(Debug, Default, clap::Args, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Address to listen on; port 0 picks a free one [env: ADK_STREAM_LISTEN] [default: 127.0.0.1:8080]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<String>,
    /// Certificate chain in PEM, to listen for TLS; read again when it changes [env: ADK_STREAM_TLS_CERT] [default: plain HTTP]
    #[arg(long, value_name = "FILE")]
    #[serde(rename = "tls-cert")]
    pub(crate) tls_cert: Option<String>,
    /// Private key of the certificate, in PEM [env: ADK_STREAM_TLS_KEY]
    #[arg(long, value_name = "FILE")]
    #[serde(rename = "tls-key")]
    pub(crate) tls_key: Option<String>,
    /// Where the journals are kept: memory, sqlite:PATH or postgres://… [env: ADK_STREAM_STORE] [default: memory]
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,
    /// Who answers [env: ADK_STREAM_AGENT] [default: demo]
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Principals and their keys, as NAME=KEY,… or NAME=sha256:HEX,… [env: ADK_STREAM_KEYS] [default: only this machine]
    #[arg(long, value_name = "KEYS")]
    pub(crate) keys: Option<String>,
    /// A file of keys, NAME=KEY or NAME=sha256:HEX on each line, besides --keys [env: ADK_STREAM_KEYS_FILE]
    #[arg(long, value_name = "FILE")]
    #[serde(rename = "keys-file")]
    pub(crate) keys_file: Option<String>,
    /// Without keys, serve every client that reaches this server as one principal [env: ADK_STREAM_INSECURE] [default: false]
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    #[serde(default, deserialize_with = "switch")]
    #[schemars(with = "Option<bool>")]
    pub(crate) insecure: Option<String>,
    /// Sites whose pages may change something or open a WebSocket, separated by commas [env: ADK_STREAM_ORIGINS] [default: this server's own]
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
    /// How long tools that the agent ai-sdk or ag-ui runs by itself may take, in seconds, or never to time out [env: ADK_STREAM_AGENT_TOOL_TIMEOUT] [default: 3600]
    #[arg(long, value_name = "SECONDS")]
    #[serde(rename = "agent-tool-timeout")]
    pub(crate) agent_tool_timeout: Option<String>,
    /// Memory limit for idle chats, or none for no limit [env: ADK_STREAM_RESTING_MEMORY] [default: 64MiB]
    #[arg(long, value_name = "BYTES")]
    #[serde(rename = "resting-memory")]
    pub(crate) resting_memory: Option<String>,
    /// Offer the demo's tools, which pay from a pretended wallet, to a model too; the demo always has them [env: ADK_STREAM_DEMO_TOOLS] [default: false]
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    #[serde(default, rename = "demo-tools", deserialize_with = "switch")]
    #[schemars(with = "Option<bool>")]
    pub(crate) demo_tools: Option<String>,
    /// Pause between the demo's words, in milliseconds [env: ADK_STREAM_PACE] [default: 15]
    #[arg(long, value_name = "MILLISECONDS")]
    pub(crate) pace: Option<String>,
    /// Folder of a page to serve in place of the built-in one [env: ADK_STREAM_PAGE] [default: the built-in page]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) page: Option<String>,
    /// Sites that may show the page in a frame, separated by commas [env: ADK_STREAM_FRAME_ANCESTORS] [default: none]
    #[arg(long, value_name = "ORIGINS")]
    #[serde(rename = "frame-ancestors")]
    pub(crate) frame_ancestors: Option<String>,
    /// What the page may load, as the directives of a Content-Security-Policy, where a page of your own needs more; base-uri and object-src are 'none' unless it names them [env: ADK_STREAM_CONTENT_SECURITY_POLICY] [default: what the built-in page needs]
    #[arg(long, value_name = "DIRECTIVES")]
    #[serde(rename = "content-security-policy")]
    pub(crate) content_security_policy: Option<String>,
    /// The key for Gemini. No flag: everybody on this machine can read a command line.
    #[arg(skip)]
    #[serde(rename = "gemini-key", default, deserialize_with = "reference")]
    #[schemars(with = "Option<SecretRef>")]
    pub(crate) gemini_key: Secret,
    /// Gemini's model [env: ADK_STREAM_GEMINI_MODEL] [default: gemini-flash-latest]
    #[arg(long, value_name = "MODEL")]
    #[serde(rename = "gemini-model")]
    pub(crate) gemini_model: Option<String>,
    /// Where Gemini is [env: ADK_STREAM_GEMINI_BASE_URL] [default: Google's]
    #[arg(long, value_name = "URL")]
    #[serde(rename = "gemini-base-url")]
    pub(crate) gemini_base_url: Option<String>,
    /// The key for a model that speaks OpenAI's API. No flag, as for Gemini's.
    #[arg(skip)]
    #[serde(rename = "openai-key", default, deserialize_with = "reference")]
    #[schemars(with = "Option<SecretRef>")]
    pub(crate) openai_key: Secret,
    /// The model of the agent openai [env: ADK_STREAM_OPENAI_MODEL]
    #[arg(long, value_name = "MODEL")]
    #[serde(rename = "openai-model")]
    pub(crate) openai_model: Option<String>,
    /// Where it is, with its version, such as http://127.0.0.1:11434/v1 [env: ADK_STREAM_OPENAI_BASE_URL] [default: OpenAI's]
    #[arg(long, value_name = "URL")]
    #[serde(rename = "openai-base-url")]
    pub(crate) openai_base_url: Option<String>,
    /// Which API it has: auto, chat-completions or responses [env: ADK_STREAM_OPENAI_API] [default: auto]
    #[arg(long, value_name = "API")]
    #[serde(rename = "openai-api")]
    pub(crate) openai_api: Option<String>,
    /// Headers for it, one a line. No flag, as for Gemini's key.
    #[arg(skip)]
    #[serde(rename = "openai-headers", default)]
    pub(crate) openai_headers: Secret,
    /// The key for a model that speaks Anthropic's API. No flag, as for Gemini's.
    #[arg(skip)]
    #[serde(rename = "anthropic-key", default, deserialize_with = "reference")]
    #[schemars(with = "Option<SecretRef>")]
    pub(crate) anthropic_key: Secret,
    /// The model of the agent anthropic [env: ADK_STREAM_ANTHROPIC_MODEL]
    #[arg(long, value_name = "MODEL")]
    #[serde(rename = "anthropic-model")]
    pub(crate) anthropic_model: Option<String>,
    /// Where it is [env: ADK_STREAM_ANTHROPIC_BASE_URL] [default: Anthropic's]
    #[arg(long, value_name = "URL")]
    #[serde(rename = "anthropic-base-url")]
    pub(crate) anthropic_base_url: Option<String>,
    /// Headers for it, one a line. No flag, as for Gemini's key.
    #[arg(skip)]
    #[serde(rename = "anthropic-headers", default)]
    pub(crate) anthropic_headers: Secret,
    /// The system instruction of the model, or @FILE for a file with it [env: ADK_STREAM_SYSTEM_INSTRUCTION] [default: nothing]
    #[arg(long, value_name = "TEXT")]
    #[serde(rename = "system-instruction")]
    pub(crate) system_instruction: Option<String>,
    /// Temperature of the model, from 0 to 2 [env: ADK_STREAM_TEMPERATURE] [default: the model's own]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) temperature: Option<String>,
    /// How long an answer may be, in tokens, thoughts included [env: ADK_STREAM_MAX_OUTPUT_TOKENS] [default: the model's limit]
    #[arg(long, value_name = "TOKENS")]
    #[serde(rename = "max-output-tokens")]
    pub(crate) max_output_tokens: Option<String>,
    /// How the model thinks: auto, none, off, minimal, low, medium, high or TOKENS [env: ADK_STREAM_THINKING] [default: auto]
    #[arg(long, value_name = "HOW")]
    pub(crate) thinking: Option<String>,
    /// Output of Gemini Live and of a live ADK server: audio or text [env: ADK_STREAM_LIVE_MODALITY] [default: audio]
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
    #[serde(rename = "adk-headers", default)]
    pub(crate) adk_headers: Secret,
    /// URL of the route of the agent ai-sdk, to which `useChat` would POST [env: ADK_STREAM_AI_SDK_URL]
    #[arg(long, value_name = "URL")]
    #[serde(rename = "ai-sdk-url")]
    pub(crate) ai_sdk_url: Option<String>,
    /// Headers for that route, one a line. No flag, as for Gemini's key.
    #[arg(skip)]
    #[serde(rename = "ai-sdk-headers", default)]
    pub(crate) ai_sdk_headers: Secret,
    /// The tools of that route which pages run, separated by commas [env: ADK_STREAM_AI_SDK_CLIENT_TOOLS] [default: those without an output at the end of its stream]
    #[arg(long, value_name = "NAMES")]
    #[serde(rename = "ai-sdk-client-tools")]
    pub(crate) ai_sdk_client_tools: Option<String>,
    /// Call that route again if a server stopped while it read an answer; tools that run without an approval may then run twice [env: ADK_STREAM_AI_SDK_RERUN] [default: false]
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    #[serde(default, rename = "ai-sdk-rerun", deserialize_with = "switch")]
    #[schemars(with = "Option<bool>")]
    pub(crate) ai_sdk_rerun: Option<String>,
    /// Fields that pages add to the body of a request and that the route gets, with commas between [env: ADK_STREAM_AI_SDK_FORWARD] [default: none]
    #[arg(long, value_name = "NAMES")]
    #[serde(rename = "ai-sdk-forward")]
    pub(crate) ai_sdk_forward: Option<String>,
    /// URL of the agent ag-ui, where a POST begins a run [env: ADK_STREAM_AG_UI_URL]
    #[arg(long, value_name = "URL")]
    #[serde(rename = "ag-ui-url")]
    pub(crate) ag_ui_url: Option<String>,
    /// Headers for that agent, one a line. No flag, as for Gemini's key.
    #[arg(skip)]
    #[serde(rename = "ag-ui-headers", default)]
    pub(crate) ag_ui_headers: Secret,
    /// The tools of that agent which pages run, separated by commas [env: ADK_STREAM_AG_UI_CLIENT_TOOLS] [default: those without a result at the end of a run]
    #[arg(long, value_name = "NAMES")]
    #[serde(rename = "ag-ui-client-tools")]
    pub(crate) ag_ui_client_tools: Option<String>,
    /// Call that agent again if a server stopped while it read an answer; tools that run without an approval may then run twice [env: ADK_STREAM_AG_UI_RERUN] [default: false]
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    #[serde(default, rename = "ag-ui-rerun", deserialize_with = "switch")]
    #[schemars(with = "Option<bool>")]
    pub(crate) ag_ui_rerun: Option<String>,
    /// Fields that pages add to the body of a request and that the agent gets as forwardedProps, with commas between [env: ADK_STREAM_AG_UI_FORWARD] [default: none]
    #[arg(long, value_name = "NAMES")]
    #[serde(rename = "ag-ui-forward")]
    pub(crate) ag_ui_forward: Option<String>,
    /// The key by which tools at the agent ask people and pages. No flag, as for Gemini's.
    #[arg(skip)]
    #[serde(rename = "agent-key", default, deserialize_with = "reference")]
    #[schemars(with = "Option<SecretRef>")]
    pub(crate) agent_key: Secret,
    /// The key with which servers that share a database authenticate each other. No flag, as for Gemini's.
    #[arg(skip)]
    #[serde(rename = "cluster-key", default, deserialize_with = "reference")]
    #[schemars(with = "Option<SecretRef>")]
    pub(crate) cluster_key: Secret,
    /// Where other servers that share the database reach this one [env: ADK_STREAM_ADVERTISE] [default: where it listens]
    #[arg(long, value_name = "URL")]
    pub(crate) advertise: Option<String>,
    /// Lease: seconds without renewal before a server's chats may be taken over [env: ADK_STREAM_LEASE] [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) lease: Option<String>,
    /// How long a chat without a connected client stays open, with its agent's session, in seconds [env: ADK_STREAM_LINGER] [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) linger: Option<String>,
    /// How long running tools may take to finish when the server shuts down, in seconds [env: ADK_STREAM_DRAIN] [default: 20]
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
    /// Longest pause between two reads of a body, in seconds [env: ADK_STREAM_BODY_TIMEOUT] [default: 10]
    #[arg(long, value_name = "SECONDS")]
    #[serde(rename = "body-timeout")]
    pub(crate) body_timeout: Option<String>,
    /// Longest time a client may read nothing of a response, in seconds [env: ADK_STREAM_WRITE_TIMEOUT] [default: 30]
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
    /// How many streams of events one principal may have open, or none [env: ADK_STREAM_MAX_EVENT_STREAMS] [default: 64]
    #[arg(long, value_name = "NUMBER")]
    #[serde(rename = "max-event-streams")]
    pub(crate) max_event_streams: Option<String>,
    /// How many requests one principal may send a second, or none; five times as many may come at once [env: ADK_STREAM_MAX_REQUESTS_PER_SECOND] [default: 200]
    #[arg(long, value_name = "NUMBER")]
    #[serde(rename = "max-requests-per-second")]
    pub(crate) max_requests_per_second: Option<String>,
    /// How many bytes of bodies one principal may send a second, or none [env: ADK_STREAM_MAX_BODY_BYTES_PER_SECOND] [default: 16MiB]
    #[arg(long, value_name = "BYTES")]
    #[serde(rename = "max-body-bytes-per-second")]
    pub(crate) max_body_bytes_per_second: Option<String>,
    /// Address of its own for /metrics; without a key, one that only this machine reaches [env: ADK_STREAM_METRICS_LISTEN] [default: none]
    #[arg(long, value_name = "HOST:PORT")]
    #[serde(rename = "metrics-listen")]
    pub(crate) metrics_listen: Option<String>,
    /// The key for /metrics. No flag, as for Gemini's.
    #[arg(skip)]
    #[serde(rename = "metrics-key", default, deserialize_with = "reference")]
    #[schemars(with = "Option<SecretRef>")]
    pub(crate) metrics_key: Secret,
    /// What a million tokens cost, for the metric adk_stream_cost_total: INPUT/OUTPUT, or INPUT/CACHED/OUTPUT, as in 1.25/10 [env: ADK_STREAM_TOKEN_PRICES] [default: none]
    #[arg(long, value_name = "PRICES")]
    #[serde(rename = "token-prices")]
    pub(crate) token_prices: Option<String>,
    /// Address of an OpenTelemetry collector that takes OTLP over HTTP, such as http://127.0.0.1:4318, to trace turns [env: ADK_STREAM_OTLP_ENDPOINT] [default: none]
    #[arg(long, value_name = "URL")]
    #[serde(rename = "otlp-endpoint")]
    pub(crate) otlp_endpoint: Option<String>,
    /// The name of this service in traces [env: ADK_STREAM_OTLP_SERVICE_NAME] [default: adk-stream]
    #[arg(long, value_name = "NAME")]
    #[serde(rename = "otlp-service-name")]
    pub(crate) otlp_service_name: Option<String>,
    /// Share of traces to record, from 0 to 1; a caller that brings a trace decides for it [env: ADK_STREAM_OTLP_SAMPLING] [default: 1]
    #[arg(long, value_name = "RATIO")]
    #[serde(rename = "otlp-sampling")]
    pub(crate) otlp_sampling: Option<String>,
    /// Headers for the collector, one a line. No flag, as for Gemini's key.
    #[arg(skip)]
    #[serde(rename = "otlp-headers", default, deserialize_with = "reference")]
    #[schemars(with = "Option<SecretRef>")]
    pub(crate) otlp_headers: Secret,
    /// Export contents too: messages, inputs and outputs of tools [env: ADK_STREAM_OTLP_CONTENTS] [default: false]
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    #[serde(default, rename = "otlp-contents", deserialize_with = "switch")]
    #[schemars(with = "Option<bool>")]
    pub(crate) otlp_contents: Option<String>,
    /// Which lines are logged: a level, or levels by module, such as info,access=debug [env: ADK_STREAM_LOG] [default: info]
    #[arg(long, value_name = "LEVELS")]
    pub(crate) log: Option<String>,
    /// How a line of the log is written: text or json [env: ADK_STREAM_LOG_FORMAT] [default: text]
    #[arg(long, value_name = "text|json")]
    #[serde(rename = "log-format")]
    pub(crate) log_format: Option<String>,
    /// What Gemini blocks: a threshold, or HARM=THRESHOLD,… [env: ADK_STREAM_SAFETY] [default: what Google blocks]
    #[arg(long, value_name = "SAFETY")]
    pub(crate) safety: Option<String>,
    /// Agents, by the names that --agent picks. Where there is one alone, it is that one.
    #[arg(skip)]
    #[serde(default)]
    pub(crate) agents: Named<AgentSpec>,
    /// Models that need more than a name.
    #[arg(skip)]
    #[serde(default)]
    pub(crate) models: Named<ModelSpec>,
    /// MCP servers; their tools are NAME.TOOL.
    #[arg(skip)]
    #[serde(default)]
    pub(crate) mcp: Named<McpSpec>,
    /// Tools that are one HTTP request.
    #[arg(skip)]
    #[serde(default)]
    pub(crate) http: Named<HttpSpec>,
    /// Tools from OpenAPI documents; they are NAME.OPERATION.
    #[arg(skip)]
    #[serde(default)]
    pub(crate) openapi: Named<OpenApiSpec>,
    /// Tools that the page runs.
    #[arg(skip)]
    #[serde(default)]
    pub(crate) client: Named<ClientSpec>,
    /// Where HTTP and OpenAPI tools may go.
    #[arg(skip)]
    #[serde(default)]
    pub(crate) network: NetworkSpec,
}

impl Settings {
    /// What the environment says.
    pub(super) fn of(environment: &Environment) -> Result<Self, Error> {
        Ok(Self {
            listen: environment.text("LISTEN")?,
            tls_cert: environment.text("TLS_CERT")?,
            tls_key: environment.text("TLS_KEY")?,
            store: environment.text("STORE")?,
            agent: environment.text("AGENT")?,
            keys: environment.text("KEYS")?,
            keys_file: environment.text("KEYS_FILE")?,
            insecure: environment.text("INSECURE")?,
            origins: environment.text("ORIGINS")?,
            on_abort: environment.text("ON_ABORT")?,
            approval_timeout: environment.text("APPROVAL_TIMEOUT")?,
            client_timeout: environment.text("CLIENT_TIMEOUT")?,
            agent_tool_timeout: environment.text("AGENT_TOOL_TIMEOUT")?,
            resting_memory: environment.text("RESTING_MEMORY")?,
            demo_tools: environment.text("DEMO_TOOLS")?,
            pace: environment.text("PACE")?,
            page: environment.text("PAGE")?,
            frame_ancestors: environment.text("FRAME_ANCESTORS")?,
            content_security_policy: environment.text("CONTENT_SECURITY_POLICY")?,
            gemini_key: Secret(environment.text("GEMINI_KEY")?),
            gemini_model: environment.text("GEMINI_MODEL")?,
            gemini_base_url: environment.text("GEMINI_BASE_URL")?,
            openai_key: Secret(environment.text("OPENAI_KEY")?),
            openai_model: environment.text("OPENAI_MODEL")?,
            openai_base_url: environment.text("OPENAI_BASE_URL")?,
            openai_api: environment.text("OPENAI_API")?,
            openai_headers: Secret(environment.text("OPENAI_HEADERS")?),
            anthropic_key: Secret(environment.text("ANTHROPIC_KEY")?),
            anthropic_model: environment.text("ANTHROPIC_MODEL")?,
            anthropic_base_url: environment.text("ANTHROPIC_BASE_URL")?,
            anthropic_headers: Secret(environment.text("ANTHROPIC_HEADERS")?),
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
            ai_sdk_url: environment.text("AI_SDK_URL")?,
            ai_sdk_headers: Secret(environment.text("AI_SDK_HEADERS")?),
            ai_sdk_client_tools: environment.text("AI_SDK_CLIENT_TOOLS")?,
            ai_sdk_rerun: environment.text("AI_SDK_RERUN")?,
            ai_sdk_forward: environment.text("AI_SDK_FORWARD")?,
            ag_ui_url: environment.text("AG_UI_URL")?,
            ag_ui_headers: Secret(environment.text("AG_UI_HEADERS")?),
            ag_ui_client_tools: environment.text("AG_UI_CLIENT_TOOLS")?,
            ag_ui_rerun: environment.text("AG_UI_RERUN")?,
            ag_ui_forward: environment.text("AG_UI_FORWARD")?,
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
            max_event_streams: environment.text("MAX_EVENT_STREAMS")?,
            max_requests_per_second: environment.text("MAX_REQUESTS_PER_SECOND")?,
            max_body_bytes_per_second: environment.text("MAX_BODY_BYTES_PER_SECOND")?,
            metrics_listen: environment.text("METRICS_LISTEN")?,
            metrics_key: Secret(environment.text("METRICS_KEY")?),
            otlp_endpoint: environment.text("OTLP_ENDPOINT")?,
            otlp_service_name: environment.text("OTLP_SERVICE_NAME")?,
            token_prices: environment.text("TOKEN_PRICES")?,
            otlp_sampling: environment.text("OTLP_SAMPLING")?,
            otlp_headers: Secret(environment.text("OTLP_HEADERS")?),
            otlp_contents: environment.text("OTLP_CONTENTS")?,
            log: environment.text("LOG")?,
            log_format: environment.text("LOG_FORMAT")?,
            safety: environment.text("SAFETY")?,
            // Tables are for files alone.
            ..Self::default()
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

/// Reads a key of the file, which says where the key is kept: [`Settings::read_keys`] reads it there.
fn reference<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
    let text = String::deserialize(deserializer)?;
    match SecretRef::parse(&text) {
        Some(_) => Ok(Secret(Some(text))),
        None => Err(D::Error::custom(LITERAL_SECRET)),
    }
}

impl Settings {
    /// Puts the keys in the place of what a file says of where they are kept.
    pub(crate) fn read_keys(
        &mut self,
        source: &Source,
        environment: &Environment,
    ) -> Result<(), Error> {
        let keys = [
            ("gemini-key", &mut self.gemini_key),
            ("openai-key", &mut self.openai_key),
            ("anthropic-key", &mut self.anthropic_key),
            ("agent-key", &mut self.agent_key),
            ("cluster-key", &mut self.cluster_key),
            ("metrics-key", &mut self.metrics_key),
            ("otlp-headers", &mut self.otlp_headers),
        ];
        for (name, Secret(key)) in keys {
            let Some(reference) = key.as_deref().and_then(SecretRef::parse) else {
                continue;
            };
            let read = reference.read(source, environment);
            *key = Some(read.map_err(|problem| Error::Setting {
                origin: format!("{}: {name}", source.path.display()),
                problem,
            })?);
        }
        Ok(())
    }
}

/// A setting that is never printed.
#[derive(Clone, Default, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(pub(super) Option<String>);

impl JsonSchema for Secret {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Option::<String>::json_schema(generator)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret")
    }
}
