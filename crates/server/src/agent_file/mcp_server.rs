//! `[mcp.NAME]`: an MCP server.

use std::collections::BTreeMap;

use tools::mcp::{Media, ServerConfig, Transport};

use super::agent::{Builder, Written};
use super::at::At;
use super::reference::{LITERAL_SECRET, SecretRef, is_secret_name};
use super::spec::{McpSpec, MediaSpec};
use super::{Entry, policy};

/// The server, which is not started yet.
pub(super) fn build(
    builder: &mut Builder<'_>,
    name: &str,
    entry: &Entry<McpSpec>,
) -> Option<Written<ServerConfig>> {
    let spec = &entry.spec;
    let transport = match (&spec.command, &spec.url) {
        (Some(command), None) => {
            if let Some(header) = spec.headers.values().next() {
                builder.problem(
                    entry.source,
                    &header.span,
                    "headers are for a url, not for a command",
                );
                return None;
            }
            let Some((program, arguments)) = command.split_first() else {
                builder.problem(entry.source, &command.span, "the command is empty");
                return None;
            };
            let source = builder.file.source(entry.source);
            let folder = spec.folder.as_ref().map_or(".", |folder| folder.as_str());
            let folder = source.beside(folder);
            Transport::Stdio {
                command: program.clone(),
                args: arguments.to_vec(),
                env: values(builder, entry.source, &spec.env)?,
                cwd: Some(folder).filter(|folder| !folder.as_os_str().is_empty()),
            }
        }
        (None, Some(url)) => {
            if let Some(variable) = spec.env.values().next() {
                builder.problem(
                    entry.source,
                    &variable.span,
                    "env is for a command, not for a url",
                );
                return None;
            }
            Transport::Http {
                url: url.value.clone(),
                headers: values(builder, entry.source, &spec.headers)?,
            }
        }
        _ => {
            builder.problem(entry.source, &entry.span, "expected a command or a url");
            return None;
        }
    };
    let mut config = ServerConfig::new(name, transport);
    let source = builder.file.source(entry.source);
    let mut problems = Vec::new();
    config.policies = policy::several(source, &spec.allow, &spec.ask, &spec.deny, &mut problems);
    for pattern in &spec.idempotent {
        match policy::pattern(source, pattern) {
            Ok(pattern) => config.idempotent.push(pattern),
            Err(problem) => problems.push(problem),
        }
    }
    builder.problems.extend(problems);
    if let Some(timeout) = &spec.timeout {
        config.call_timeout = builder.seconds(entry.source, timeout)?;
    }
    config.media = match spec.media {
        MediaSpec::Describe => Media::Describe,
        MediaSpec::Inline => Media::Inline,
    };
    let url = spec.url.as_ref().map(|url| &url.span);
    let command = spec.command.as_ref().map(|command| &command.span);
    let place = url.or(command).unwrap_or(&entry.span);
    builder.note_at(entry.source, place, config.check())?;
    Some(builder.written(entry.source, place, config))
}

/// Values that are a text, or end with a secret.
pub(super) fn values(
    builder: &mut Builder<'_>,
    source: usize,
    given: &BTreeMap<String, At<String>>,
) -> Option<BTreeMap<String, String>> {
    let mut values = BTreeMap::new();
    for (name, text) in given {
        let (start, last) = text.rsplit_once(' ').unwrap_or(("", text));
        let value = match SecretRef::parse(last) {
            Some(reference) => {
                let secret = builder.secret(source, &text.span, &reference)?;
                match start.is_empty() {
                    true => secret,
                    false => format!("{start} {secret}"),
                }
            }
            None if is_secret_name(name) => {
                builder.problem(source, &text.span, LITERAL_SECRET);
                return None;
            }
            None => text.value.clone(),
        };
        values.insert(name.clone(), value);
    }
    Some(values)
}
