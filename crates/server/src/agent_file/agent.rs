//! One agent of the file: its model, its instruction and its tools.

use std::fmt::Display;
use std::ops::Range;

use serde_json::Value;
use tools::http::{Network, Request};
use tools::mcp::{Server, ServerConfig};
use tools::pattern::Pattern;
use tools::policy::Policy;
use tools::{AnyTool, PageRules, Tools};

use super::at::At;
use super::inner_agent::UsedAgent;
use super::reference::{SchemaRef, SecretRef};
use super::source::{Place, Problem, nearest};
use super::spec::AgentSpec;
use super::{
    AgentFile, Entry, client_tool, http_tool, inner_agent, mcp_server, model, openapi_tool,
    page_tools, policy, route,
};
use crate::config::Remote;
use crate::duration::TimeLimit;
use crate::environment::Environment;
use crate::error::Error;
use crate::model_probe::Probe;

/// One agent of the file. Nothing of it is connected yet.
#[derive(Debug)]
pub(crate) struct FileAgent {
    pub(crate) name: String,
    /// Its model, or where it runs, as people call it.
    pub(crate) model: String,
    pub(crate) remote: Remote,
    /// Whether the model, or the agent that runs elsewhere, can be reached.
    pub(crate) probe: Written<Probe>,
    /// The system instruction of the model.
    pub(crate) instruction: Option<String>,
    /// The tools that it may call, but for those of MCP servers.
    pub(crate) tools: Vec<BuiltTool>,
    /// The agents that it uses as tools.
    pub(crate) agents: Vec<UsedAgent>,
    /// The MCP servers of which it may call tools.
    pub(crate) servers: Vec<Written<ServerConfig>>,
    /// The names of the tools that it may call.
    pub(crate) selection: Vec<Pattern>,
    /// The tools that a page may declare.
    pub(crate) page_rules: Option<PageRules>,
    /// Where its HTTP tools go.
    pub(crate) hosts: Vec<Written<Request>>,
    /// How its HTTP tools go there.
    pub(crate) network: Network,
}

/// Something to connect to, and where the file names it.
#[derive(Debug, Clone)]
pub(crate) struct Written<T> {
    pub(crate) what: T,
    pub(crate) place: Place,
}

/// A tool, and what is said of it.
#[derive(Debug)]
pub(crate) struct BuiltTool {
    pub(crate) tool: AnyTool,
    pub(crate) policy: Policy,
    /// Where it runs, for people.
    pub(crate) place: String,
}

impl FileAgent {
    /// Its tools, with its MCP servers started. Nothing is waited for.
    pub(crate) fn start_tools(&self) -> Result<(Tools, Vec<Server>), Error> {
        let mut servers = Vec::new();
        let tools = self.start_with(&mut servers)?;
        Ok((tools, servers))
    }

    /// The same, with servers that others have started already.
    fn start_with(&self, servers: &mut Vec<Server>) -> Result<Tools, Error> {
        let mut tools = Tools::new();
        for built in &self.tools {
            tools = tools.with(built.tool.clone());
        }
        for used in &self.agents {
            let own = used.agent.start_with(servers)?;
            tools = tools.with(used.tool_of(&self.name, own));
        }
        for Written { what: config, .. } in &self.servers {
            let known = servers.iter().find(|server| server.name() == config.name);
            let server = match known.cloned() {
                Some(server) => server,
                None => {
                    let started =
                        Server::start(config.clone()).map_err(|error| Error::Setting {
                            origin: format!("mcp.{}", config.name),
                            problem: error.to_string(),
                        })?;
                    servers.push(started.clone());
                    started
                }
            };
            tools = tools.with_source(server.source());
            tokio::spawn(warn_of_unused(server, self.selection.clone()));
        }
        if let Some(rules) = &self.page_rules {
            tools = tools.with_page_rules(rules.clone());
        }
        Ok(tools.only(self.selection.iter().cloned()))
    }
}

/// Says which patterns fit no tool of a server, once it has listed its tools.
async fn warn_of_unused(server: Server, selection: Vec<Pattern>) {
    if let Err(error) = server.started().await {
        tracing::warn!(server = server.name(), error, "MCP server did not start");
        return;
    }
    let tools = server.status().tools;
    let prefix = format!("{}.", server.name());
    let own = selection
        .iter()
        .filter(|pattern| pattern.as_str().starts_with(&prefix));
    for pattern in own.filter(|pattern| !tools.iter().any(|tool| pattern.matches(&tool.name))) {
        tracing::warn!(server = server.name(), %pattern, "pattern matches no tool of this MCP server");
    }
}

/// Makes an agent, and collects what is wrong.
pub(super) struct Builder<'a> {
    pub(super) file: &'a AgentFile,
    pub(super) environment: &'a Environment,
    pub(super) network: Network,
    /// How long the tools of an agent may take that runs elsewhere.
    pub(super) tool_timeout: TimeLimit,
    pub(super) problems: Vec<Problem>,
    pub(super) hosts: Vec<Written<Request>>,
}

/// An agent, or everything that is wrong with it.
pub(super) fn build(
    file: &AgentFile,
    name: &str,
    environment: &Environment,
    tool_timeout: TimeLimit,
) -> Result<FileAgent, Vec<Problem>> {
    let Some(entry) = file.agents.get(name) else {
        return Err(Vec::new());
    };
    let tls = match agents::tls_config() {
        Ok(tls) => tls,
        Err(error) => return Err(vec![file.problem(entry, &entry.span, error.to_string())]),
    };
    let mut builder = Builder {
        file,
        environment,
        network: Network::new(tls).with_private_hosts(file.private_hosts.iter().cloned()),
        tool_timeout,
        problems: Vec::new(),
        hosts: Vec::new(),
    };
    let agent = builder.agent(name, entry, &[]);
    match agent {
        Some(agent) if builder.problems.is_empty() => Ok(agent),
        _ => Err(builder.problems),
    }
}

impl<'a> Builder<'a> {
    /// An agent. `above` are those that use it.
    pub(super) fn agent(
        &mut self,
        name: &str,
        entry: &'a Entry<AgentSpec>,
        above: &[&str],
    ) -> Option<FileAgent> {
        let spec = &entry.spec;
        // Before anything of its own is collected.
        let agents = inner_agent::build(self, name, entry, above);
        let instruction = match &spec.instruction {
            Some(text) => self.text(entry.source, text),
            None => None,
        };
        let answering = self.answering(entry, instruction.as_deref());
        let selection = self.selection(entry);
        let is_wanted = |tool: &str| selection.iter().any(|pattern| pattern.matches(tool));
        let mut tools = Vec::new();
        let file = self.file;
        for (name, entry) in file.http.iter().filter(|(name, _)| is_wanted(name)) {
            tools.extend(http_tool::build(self, name, entry));
        }
        for (name, entry) in file.client.iter().filter(|(name, _)| is_wanted(name)) {
            tools.extend(client_tool::build(self, name, entry));
        }
        for (name, entry) in &file.openapi {
            let operations = entry.spec.operations.iter();
            if operations
                .clone()
                .any(|one| is_wanted(&format!("{name}.{}", one.value)))
            {
                tools.extend(openapi_tool::build(self, name, entry, &is_wanted));
            }
        }
        let mut servers = Vec::new();
        for (name, entry) in &file.mcp {
            if selection.iter().any(|pattern| may_be_of(pattern, name)) {
                servers.extend(mcp_server::build(self, name, entry));
            }
        }
        let page_rules = page_tools::build(self, entry, &selection);
        let selection = selection.iter().cloned();
        let selection = selection.chain(inner_agent::patterns(&agents)).collect();
        let (model, remote, probe) = answering?;
        Some(FileAgent {
            name: name.to_owned(),
            model,
            remote,
            probe,
            instruction,
            tools: tools
                .into_iter()
                .filter(|tool| tool.policy != Policy::Deny)
                .collect(),
            agents,
            servers,
            selection,
            page_rules,
            hosts: std::mem::take(&mut self.hosts),
            network: self.network.clone(),
        })
    }

    /// Who answers: a model, or an agent that runs elsewhere.
    fn answering(
        &mut self,
        entry: &'a Entry<AgentSpec>,
        instruction: Option<&str>,
    ) -> Option<(String, Remote, Written<Probe>)> {
        let spec = &entry.spec;
        match (&spec.model, &spec.ai_sdk, &spec.ag_ui) {
            (Some(model), None, None) => {
                let (remote, probe) = model::build(self, entry, model, instruction)?;
                Some((model.value.clone(), remote, probe))
            }
            (None, Some(route), None) => route::ai_sdk(self, entry, route),
            (None, None, Some(route)) => route::ag_ui(self, entry, route),
            _ => {
                self.problem(
                    entry.source,
                    &entry.span,
                    "expected one of model, ai-sdk, ag-ui",
                );
                None
            }
        }
    }

    /// The patterns of tools, each of which must fit something.
    fn selection(&mut self, entry: &Entry<AgentSpec>) -> Vec<Pattern> {
        let file = self.file;
        let mut names: Vec<String> = file
            .http
            .keys()
            .chain(file.client.keys())
            .cloned()
            .collect();
        for (name, entry) in &file.openapi {
            let operations = entry.spec.operations.iter();
            names.extend(operations.map(|one| format!("{name}.{}", one.value)));
        }
        let mut selection = Vec::new();
        for text in &entry.spec.tools {
            let source = file.source(entry.source);
            let Some(pattern) = self.note(policy::pattern(source, text)) else {
                continue;
            };
            let is_known = names.iter().any(|name| pattern.matches(name))
                || file.mcp.keys().any(|server| may_be_of(&pattern, server));
            if !is_known {
                let servers = file.mcp.keys().map(|server| format!("{server}.*"));
                let known: Vec<String> = names.iter().cloned().chain(servers).collect();
                let meant = nearest(text, known.iter().map(String::as_str));
                let meant = meant.map(|meant| format!("; did you mean `{meant}`?"));
                let message = format!(
                    "there is no tool `{}`{}",
                    text.value,
                    meant.unwrap_or_default()
                );
                self.problem(entry.source, &text.span, message);
            }
            selection.push(pattern);
        }
        selection
    }

    /// Notes something that is wrong.
    pub(super) fn problem(
        &mut self,
        source: usize,
        span: &Range<usize>,
        message: impl Into<String>,
    ) {
        let problem = self.file.source(source).problem(span, message);
        self.problems.push(problem);
    }

    /// Something to connect to, with where it is written.
    pub(super) fn written<T>(&self, source: usize, span: &Range<usize>, what: T) -> Written<T> {
        let place = self.file.source(source).at(span);
        Written { what, place }
    }

    /// What was made, or nothing, with a note of why.
    pub(super) fn note<T>(&mut self, made: Result<T, Problem>) -> Option<T> {
        made.map_err(|problem| self.problems.push(problem)).ok()
    }

    /// The same at a place.
    pub(super) fn note_at<T, E: Display>(
        &mut self,
        source: usize,
        span: &Range<usize>,
        made: Result<T, E>,
    ) -> Option<T> {
        made.map_err(|error| self.problem(source, span, error.to_string()))
            .ok()
    }

    /// What is in a file that the file names.
    pub(super) fn read(
        &mut self,
        source: usize,
        span: &Range<usize>,
        path: &str,
    ) -> Option<String> {
        let text = self.file.source(source).read_beside(path);
        self.note_at(source, span, text)
    }

    /// A text, or what is in the file that it names.
    pub(super) fn text(&mut self, source: usize, text: &At<String>) -> Option<String> {
        let whole = match text.strip_prefix('@') {
            Some(path) => self.read(source, &text.span, path)?,
            None => text.value.clone(),
        };
        Some(whole.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// A JSON Schema.
    pub(super) fn schema(&mut self, source: usize, schema: &At<SchemaRef>) -> Option<Value> {
        let value = match &schema.value {
            SchemaRef::Inline(value) => value.clone(),
            SchemaRef::File(path) => {
                let text = self.read(source, &schema.span, path)?;
                let value = serde_json::from_str(&text);
                let value = value.map_err(|error| format!("{path} is not JSON: {error}"));
                self.note_at(source, &schema.span, value)?
            }
        };
        if value.get("type").and_then(Value::as_str) != Some("object") {
            self.problem(
                source,
                &schema.span,
                "expected a JSON Schema with type = \"object\"",
            );
            return None;
        }
        Some(value)
    }

    /// A secret, from where it is kept. It is not quoted, whatever is wrong with it.
    pub(super) fn secret(
        &mut self,
        source: usize,
        span: &Range<usize>,
        reference: &SecretRef,
    ) -> Option<String> {
        let secret = reference.read(self.file.source(source), self.environment);
        self.note_at(source, span, secret)
    }

    /// A tool that is done, if its schema is one.
    pub(super) fn finish<T>(
        &mut self,
        entry: &Entry<T>,
        schema: &Range<usize>,
        tool: AnyTool,
        policy: Policy,
        place: String,
    ) -> Option<BuiltTool> {
        if let Some(error) = tool.schema_error() {
            let message = format!("the input is not a JSON Schema: {error}");
            self.problem(entry.source, schema, message);
            return None;
        }
        Some(BuiltTool {
            tool,
            policy,
            place,
        })
    }
}

/// Whether tools of a server may fit a pattern, whatever tools it has.
fn may_be_of(pattern: &Pattern, server: &str) -> bool {
    let text = pattern.as_str();
    let prefix = format!("{server}.");
    match text.split_once('*') {
        Some((start, _)) => prefix.starts_with(start) || start.starts_with(&prefix),
        None => text.starts_with(&prefix) && text.len() > prefix.len(),
    }
}
