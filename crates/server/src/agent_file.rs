//! Agents without code: models, tools and what they may do, as a file says it.
//!
//! A file is read in three steps, each with line and column for what is wrong: TOML into types
//! ([`spec`]), the tables of all files into one ([`AgentFile`]), and what an agent needs of them into a
//! model and tools ([`FileAgent`]). Nothing is connected to before the last step is done.
//!
//! # Layout
//!
//! - [`spec`]: what may be in the file; [`at`]: where it is written; `source`: the file, and problems in it.
//! - `reference`: `@FILE`, `env:` and `file:`.
//! - `model`, `route`, `http_tool`, `client_tool`, `openapi_tool`, `mcp_server`: each kind of table, made real.
//! - `inner_agent`: agents that one uses as tools; `page_tools`: the tools that a page may declare.
//! - `agent`: one agent; `description`: what its model gets, for people; `schema`: the schema of the file.

mod agent;
pub(crate) mod at;
mod client_tool;
pub(crate) mod description;
mod http_tool;
mod inner_agent;
mod mcp_server;
mod model;
mod openapi_tool;
mod page_tools;
mod policy;
pub(crate) mod reference;
mod route;
mod schema;
mod source;
pub(crate) mod spec;

use std::collections::BTreeMap;
use std::ops::Range;

pub(crate) use self::agent::{FileAgent, Written};
use self::at::At;
pub(crate) use self::schema::schema;
pub(crate) use self::source::{Place, Problem, Source};
use self::spec::{AgentSpec, ClientSpec, HttpSpec, McpSpec, ModelSpec, Named, OpenApiSpec};
use crate::agent_name::AgentName;
use crate::config_file::FileLayer;
use crate::duration::TimeLimit;
use crate::environment::Environment;

/// The tables of all files.
#[derive(Debug, Default)]
pub(crate) struct AgentFile {
    sources: Vec<Source>,
    agents: Table<AgentSpec>,
    models: Table<ModelSpec>,
    mcp: Table<McpSpec>,
    http: Table<HttpSpec>,
    openapi: Table<OpenApiSpec>,
    client: Table<ClientSpec>,
    private_hosts: Vec<String>,
}

type Table<T> = BTreeMap<String, Entry<T>>;

/// Something with a name, and where it is written.
#[derive(Debug)]
struct Entry<T> {
    source: usize,
    span: Range<usize>,
    spec: T,
}

/// How long a name may be: with a tool's own behind it, models still take it.
const MAX_NAME: usize = 32;

impl AgentFile {
    /// Takes the tables out of what the files say.
    pub(crate) fn take(layers: &mut [FileLayer]) -> Result<Self, Vec<Problem>> {
        let mut file = Self::default();
        let mut problems = keys_twice(layers);
        for (number, layer) in layers.iter_mut().enumerate() {
            file.sources.push(layer.source.clone());
            let (source, settings) = (&layer.source, &mut layer.settings);
            let from = (number, source, &mut problems);
            let from = merge(
                &mut file.agents,
                std::mem::take(&mut settings.agents),
                "agents",
                from,
            );
            let from = merge(
                &mut file.models,
                std::mem::take(&mut settings.models),
                "models",
                from,
            );
            let from = merge(
                &mut file.mcp,
                std::mem::take(&mut settings.mcp),
                "mcp",
                from,
            );
            let from = merge(
                &mut file.http,
                std::mem::take(&mut settings.http),
                "http",
                from,
            );
            let from = merge(
                &mut file.openapi,
                std::mem::take(&mut settings.openapi),
                "openapi",
                from,
            );
            merge(
                &mut file.client,
                std::mem::take(&mut settings.client),
                "client",
                from,
            );
            let hosts = std::mem::take(&mut settings.network.private_hosts);
            file.private_hosts
                .extend(hosts.into_iter().map(|host| host.value));
        }
        for (name, entry) in &file.agents {
            if name.parse::<AgentName>().is_ok() {
                let message = format!("`{name}` is a built-in agent; choose another name");
                problems.push(file.problem(entry, &entry.span, message));
            }
        }
        let clash =
            |name: &str, other: &str| format!("`{name}` is the name of one under [{other}] too");
        for (name, entry) in &file.client {
            if file.http.contains_key(name) {
                problems.push(file.problem(entry, &entry.span, clash(name, "http")));
            }
        }
        for (name, entry) in &file.openapi {
            if file.mcp.contains_key(name) {
                problems.push(file.problem(entry, &entry.span, clash(name, "mcp")));
            }
        }
        match problems.is_empty() {
            true => Ok(file),
            false => Err(problems),
        }
    }

    /// The names of its agents.
    pub(crate) fn agents(&self) -> impl Iterator<Item = &str> {
        self.agents.keys().map(String::as_str)
    }

    /// An agent, with everything that it needs. `tool_timeout` is for the tools of one that runs elsewhere.
    pub(crate) fn agent(
        &self,
        name: &str,
        environment: &Environment,
        tool_timeout: TimeLimit,
    ) -> Result<FileAgent, Vec<Problem>> {
        agent::build(self, name, environment, tool_timeout)
    }

    fn source(&self, number: usize) -> &Source {
        &self.sources[number]
    }

    fn problem<T>(
        &self,
        entry: &Entry<T>,
        span: &Range<usize>,
        message: impl Into<String>,
    ) -> Problem {
        self.source(entry.source).problem(span, message)
    }
}

/// Adds what one file says to what all say.
fn merge<'a, T>(
    table: &mut Table<T>,
    named: Named<T>,
    kind: &str,
    (number, source, problems): (usize, &'a Source, &'a mut Vec<Problem>),
) -> (usize, &'a Source, &'a mut Vec<Problem>) {
    for (At { value: name, span }, spec) in named {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(is_plain)
            && name.len() <= MAX_NAME;
        if !is_name {
            let message = format!(
                "`{name}` is no name: letters, digits, _ and -, a letter first, {MAX_NAME} at most"
            );
            problems.push(source.problem(&span, message));
        }
        let entry = Entry {
            source: number,
            span: span.clone(),
            spec,
        };
        if table.insert(name.clone(), entry).is_some() {
            let message = format!("[{kind}.{name}] is in another file of this folder too");
            problems.push(source.problem(&span, message));
        }
    }
    (number, source, problems)
}

/// Keys of the server's settings that two files have: which counts would be an accident.
fn keys_twice(layers: &[FileLayer]) -> Vec<Problem> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut problems = Vec::new();
    for (number, layer) in layers.iter().enumerate() {
        // The same text was read already; a table that can't be read has been refused.
        let table: toml::Table = toml::from_str(&layer.source.text).unwrap_or_default();
        for (key, value) in table {
            if value.is_table() {
                continue;
            }
            if let Some(other) = seen.insert(key.clone(), number) {
                let other = layers[other].source.path.display();
                let message = format!("`{key}` is in {other} too");
                problems.push(layer.source.problem(&(0..0), message));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests;
