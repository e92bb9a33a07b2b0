//! What may stand in the file: the types from which its JSON Schema is made.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::at::At;
use super::page_tools::PageToolsSpec;
use super::reference::{SchemaRef, SecretRef};

/// A table of things by their names.
pub(crate) type Named<T> = BTreeMap<At<String>, T>;

/// An agent: a model, its instruction, and the tools that it may call; or one that runs elsewhere, with
/// tools of its own.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct AgentSpec {
    /// gemini:NAME, gemini-live:NAME, openai:NAME or anthropic:NAME, or the name of a model of this file.
    pub(crate) model: Option<At<String>>,
    /// A route of the AI SDK's that answers, in place of a model.
    pub(crate) ai_sdk: Option<At<RouteSpec>>,
    /// An agent that speaks AG-UI, in place of a model.
    pub(crate) ag_ui: Option<At<RouteSpec>>,
    /// The system instruction of the model: a text, or @FILE relative to this file.
    pub(crate) instruction: Option<At<String>>,
    /// The tools that it may call, by name or with * for any characters, as in crm.*; none unless named.
    #[serde(default)]
    pub(crate) tools: Vec<At<String>>,
    /// Other agents of this file that it may use as tools, each by its name. What they do is asked about by
    /// the policies of their own tools.
    #[serde(default)]
    pub(crate) agents: Vec<At<String>>,
    /// What it does, for agents that use it as a tool.
    pub(crate) description: Option<String>,
    /// The tools that a page may declare in its request, by name or with * for any characters: a list, or
    /// a table with names, allow, ask and deny. None unless named.
    pub(crate) page_tools: Option<PageToolsSpec>,
}

/// An agent that runs elsewhere, and answers a POST with a stream.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct RouteSpec {
    /// Where it is.
    pub(crate) url: At<String>,
    /// Headers of every request: a text, with env:NAME or file:PATH as its last word.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, At<String>>,
    /// The tools that pages run; otherwise those without an output at the end of its stream.
    pub(crate) client_tools: Option<Vec<String>>,
    /// Ask it again where a server stopped while it listened; tools that run without an approval may then run twice.
    #[serde(default)]
    pub(crate) rerun: bool,
    /// Fields that pages add to the body of a request and that it gets.
    #[serde(default)]
    pub(crate) forward: Vec<String>,
}

/// A model that needs more than its name.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ModelSpec {
    /// Whose API it speaks.
    pub(crate) kind: ModelKind,
    /// Its name there.
    pub(crate) model: At<String>,
    /// Where it is, if not at the provider's own address.
    pub(crate) base_url: Option<At<String>>,
    /// Its key: env:NAME or file:PATH.
    pub(crate) key: Option<At<SecretRef>>,
    /// How freely it answers, from 0 to 2.
    pub(crate) temperature: Option<At<f64>>,
    /// How long an answer may be, in tokens.
    pub(crate) max_output_tokens: Option<At<u32>>,
    /// How it thinks: auto, none, off, minimal, low, medium, high or a number of tokens.
    pub(crate) thinking: Option<At<String>>,
    /// Which of OpenAI's two APIs it has; for the kind openai.
    pub(crate) api: Option<At<ApiSpec>>,
    /// Headers of every request, for the kinds openai and anthropic: a text, with env:NAME or file:PATH as
    /// its last word.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, At<String>>,
}

/// Whose API a model speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ModelKind {
    /// Gemini, by generateContent.
    Gemini,
    /// Gemini Live.
    GeminiLive,
    /// Chat completions, as OpenAI and most others serve them.
    #[serde(rename = "openai")]
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

/// One of OpenAI's two APIs.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ApiSpec {
    /// Responses at OpenAI itself, chat completions elsewhere.
    Auto,
    /// Chat completions.
    ChatCompletions,
    /// Responses.
    Responses,
}

/// An MCP server. Its tools are NAME.TOOL.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct McpSpec {
    /// A program to start, with its arguments, that speaks MCP over stdin and stdout.
    pub(crate) command: Option<At<Vec<String>>>,
    /// Where the program starts, relative to this file.
    pub(crate) folder: Option<At<String>>,
    /// Variables of the program: env:NAME, file:PATH, or a text that is no secret.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, At<String>>,
    /// The address of a server over streamable HTTP, in place of a command.
    pub(crate) url: Option<At<String>>,
    /// Headers for the address: a text, with env:NAME or file:PATH as its last word.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, At<String>>,
    /// How long a call may take, in seconds.
    pub(crate) timeout: Option<At<f64>>,
    /// What becomes of images, sound and other bytes in answers.
    #[serde(default)]
    pub(crate) media: MediaSpec,
    /// Tools that may run again when the outcome of a call is unknown, where the server says so too.
    #[serde(default)]
    pub(crate) idempotent: Vec<At<String>>,
    /// Tools that run without a question, by their names at the server, with * for any characters.
    #[serde(default)]
    pub(crate) allow: Vec<At<String>>,
    /// Questions for tools, by their names at the server; every other tool is asked about in plain words.
    #[serde(default)]
    pub(crate) ask: Named<At<String>>,
    /// Tools that are not offered.
    #[serde(default)]
    pub(crate) deny: Vec<At<String>>,
}

/// What becomes of images, sound and other bytes in the answers of an MCP server.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MediaSpec {
    /// The output has their media type and size: a model would read the bytes as text.
    #[default]
    Describe,
    /// The output has them, as base64, for pages that show them.
    Inline,
}

/// A tool that is one HTTP request.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HttpSpec {
    /// The description that the model gets.
    pub(crate) description: String,
    /// The JSON Schema of its input.
    pub(crate) input: At<SchemaRef>,
    /// The request.
    pub(crate) request: At<RequestSpec>,
    /// A GET that says what became of a call whose answer was lost: 2xx with its output, 404 if it never happened.
    pub(crate) lookup: Option<At<LookupSpec>>,
    /// A request that tells the server of a higher epoch, in the header Adk-Stream-Fence, when another server has taken a chat over in which a call of this tool was at work.
    pub(crate) on_takeover: Option<At<TakeoverSpec>>,
    /// Run it without a question.
    #[serde(default)]
    pub(crate) allow: bool,
    /// The question, with fields of the input as {{input.amount}}.
    pub(crate) ask: Option<At<String>>,
    /// Do not offer it.
    #[serde(default)]
    pub(crate) deny: bool,
}

/// A request. {name} is a field of the input, {$call} the id of the call.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct RequestSpec {
    /// GET, HEAD, POST, PUT, PATCH or DELETE.
    #[serde(default = "get")]
    pub(crate) method: String,
    /// The URL, with fields of the input in its path and query as {name}.
    pub(crate) url: At<String>,
    /// Headers: a text with {name}, and env:NAME or file:PATH as its last word.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, At<String>>,
    /// The body as JSON, with {name} in its texts; otherwise the fields that stand nowhere else.
    pub(crate) body: Option<At<Value>>,
    /// The header that carries the call's id: the server carries out a call once however often it is sent.
    pub(crate) idempotency_header: Option<At<String>>,
    /// The request has the same effect however often it is sent.
    #[serde(default)]
    pub(crate) idempotent: bool,
    /// How long it may take, in seconds.
    pub(crate) timeout: Option<At<f64>>,
    /// How many bytes of an answer are read.
    pub(crate) max_response_bytes: Option<At<u32>>,
    /// Whether redirects are followed.
    #[serde(default)]
    pub(crate) redirects: RedirectsSpec,
}

fn get() -> String {
    "GET".to_owned()
}

/// Whether redirects are followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RedirectsSpec {
    /// Never.
    #[default]
    None,
    /// Within the same scheme, host and port.
    SameHost,
}

/// A GET that says what became of a call.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct LookupSpec {
    /// The URL, with fields of the input as {name} and the call's id as {$call}.
    pub(crate) url: At<String>,
    /// Headers, as those of the request.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, At<String>>,
}

/// A request that tells the server of a higher epoch. It is of no call, and has no parameters.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct TakeoverSpec {
    /// GET, HEAD, POST, PUT, PATCH or DELETE.
    #[serde(default = "post")]
    pub(crate) method: String,
    /// The URL.
    pub(crate) url: At<String>,
    /// Headers: a text, with env:NAME or file:PATH as its last word.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, At<String>>,
}

fn post() -> String {
    "POST".to_owned()
}

/// Tools from an OpenAPI document. They are NAME.OPERATION.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct OpenApiSpec {
    /// The document, 3.0 or 3.1, in YAML or JSON: @FILE relative to this file, or a URL.
    pub(crate) document: At<String>,
    /// Where the API is, in place of what the document says.
    pub(crate) server: Option<At<String>>,
    /// The operations that are tools, by operationId; none unless named.
    pub(crate) operations: Vec<At<String>>,
    /// Secrets by the names of the document's security schemes: env:NAME or file:PATH.
    #[serde(default)]
    pub(crate) security: BTreeMap<At<String>, At<SecretRef>>,
    /// Headers of every request: a text, with env:NAME or file:PATH as its last word.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, At<String>>,
    /// The header that carries the call's id, of every operation that changes something.
    pub(crate) idempotency_header: Option<At<String>>,
    /// How long a request may take, in seconds.
    pub(crate) timeout: Option<At<f64>>,
    /// Operations that run without a question, with * for any characters.
    #[serde(default)]
    pub(crate) allow: Vec<At<String>>,
    /// Questions by operation.
    #[serde(default)]
    pub(crate) ask: Named<At<String>>,
    /// Operations that are not offered.
    #[serde(default)]
    pub(crate) deny: Vec<At<String>>,
}

/// A tool that the page runs.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ClientSpec {
    /// The description that the model gets.
    pub(crate) description: String,
    /// The JSON Schema of its input.
    pub(crate) input: At<SchemaRef>,
    /// The JSON Schema of what the page gives; another output is refused.
    pub(crate) output: Option<At<SchemaRef>>,
    /// Run it without a question.
    #[serde(default)]
    pub(crate) allow: bool,
    /// The question, with fields of the input as {{input.amount}}.
    pub(crate) ask: Option<At<String>>,
    /// Do not offer it.
    #[serde(default)]
    pub(crate) deny: bool,
}

/// Where HTTP and OpenAPI tools may go.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct NetworkSpec {
    /// Names of hosts that may have private addresses. An address that is written in a URL is meant already.
    #[serde(default)]
    pub(crate) private_hosts: Vec<At<String>>,
}
