//! The handle of an MCP server, which is a source of tools.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::config::{ConfigError, ServerConfig};
use super::connection::Connector;
use super::link::{Link, Phase};
use super::status::{State, Status};
use super::supervisor::supervise;
use crate::context::Context;
use crate::tool::{AnyTool, BoxFuture, Returned, Run};
use crate::toolset::{Source, ToolMap};

/// An MCP server: its tools, how it is, and its end.
///
/// Clones are handles of the same server. It ends with [`Server::shut_down`], or when the last handle is
/// dropped, those that [`crate::Tools`] hold included.
#[derive(Clone)]
pub struct Server {
    owner: Arc<Owner>,
}

struct Owner {
    link: Arc<Link>,
    stop: watch::Sender<bool>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let link = &self.owner.link;
        out.debug_struct("Server")
            .field("name", &link.config.name)
            .field("state", &link.status().state)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Starts a server in the background, in the Tokio runtime of the caller. Nothing is waited for: its
    /// tools appear once it has listed them.
    pub fn start(config: ServerConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let connector = Connector::new(&config)?;
        let link = Arc::new(Link::new(config));
        let (stop, stopped) = watch::channel(false);
        tokio::spawn(supervise(link.clone(), connector, stopped));
        let owner = Arc::new(Owner { link, stop });
        Ok(Self { owner })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.owner.link.config.name
    }

    /// Its tools, for [`crate::Tools::with_source`].
    pub fn source(&self) -> Arc<dyn Source> {
        Arc::new(self.clone())
    }

    /// How it is, and what it offers.
    pub fn status(&self) -> Status {
        let mut status = self.owner.link.status().clone();
        if let Phase::Waiting { until, .. } = &*self.owner.link.phase.borrow() {
            status.state = State::Waiting(until.saturating_duration_since(Instant::now()));
        }
        status
    }

    /// Waits until it can be called for the first time, or until its first start has failed: for who
    /// checks a configuration. Says why it failed.
    pub async fn started(&self) -> Result<(), String> {
        let link = &self.owner.link;
        let mut phases = link.phase.subscribe();
        let settled = phases.wait_for(|phase| !matches!(phase, Phase::Starting));
        // The sender is in the link, which is held.
        drop(settled.await);
        match link.status().state {
            State::Ready => Ok(()),
            _ => Err(link.fault().unwrap_or_default()),
        }
    }

    /// Ends it, and with it its process and everything that it started. Calls that are under way end.
    pub async fn shut_down(&self) {
        let owner = &self.owner;
        owner.stop.send_replace(true);
        let mut phases = owner.link.phase.subscribe();
        let stopped = phases.wait_for(|phase| matches!(phase, Phase::Stopped));
        drop(stopped.await);
    }
}

impl Source for Server {
    fn tools(&self) -> Arc<ToolMap> {
        let listing = self.owner.link.listing();
        listing.map(|listing| listing.tools).unwrap_or_default()
    }

    fn find(&self, name: &str) -> Option<Result<Arc<AnyTool>, String>> {
        find(&self.owner.link, name)
    }

    fn awaited(&self, name: &str) -> Option<Arc<AnyTool>> {
        let link = &self.owner.link;
        let is_ours = tool_of(&link.config.name, name).is_some();
        let is_coming =
            is_ours && link.listing().is_none() && link.status().state != State::Stopped;
        is_coming.then(|| Arc::new(AnyTool::awaited(name, wait_and_run(link.clone(), name))))
    }
}

fn find(link: &Link, name: &str) -> Option<Result<Arc<AnyTool>, String>> {
    let server = &link.config.name;
    let tool = tool_of(server, name)?;
    // In this order: a server lists its tools before it is ready.
    let fault = link.fault();
    let Some(listing) = link.listing() else {
        let stopped = || format!("The MCP server {server} was shut down.");
        return Some(Err(fault.unwrap_or_else(stopped)));
    };
    if let Some(found) = listing.tools.get(name) {
        return Some(Ok(found.clone()));
    }
    let mut left_out = listing.left_out.iter();
    Some(Err(match left_out.find(|left_out| left_out.name == tool) {
        Some(left_out) => format!("{name} is not offered: {}.", left_out.why),
        None => format!("The MCP server {server} no longer has a tool {tool}, or never had one."),
    }))
}

/// The name of a tool at its server, if the name is one of that server's.
fn tool_of<'a>(server: &str, name: &'a str) -> Option<&'a str> {
    name.strip_prefix(server)?.strip_prefix('.')
}

/// Runs a tool that is not listed yet once it is: its call was approved before this process started.
fn wait_and_run(link: Arc<Link>, name: &str) -> Run {
    let name = name.to_owned();
    Arc::new(
        move |context: Context, input: Value| -> BoxFuture<Returned> {
            let (link, name) = (link.clone(), name.clone());
            Box::pin(async move {
                let deadline = Instant::now() + link.config.start_timeout;
                let ready = link.ready(deadline).await;
                let no_tool = || format!("There is no tool {name}.");
                let found =
                    ready.and_then(|_| find(&link, &name).unwrap_or_else(|| Err(no_tool())));
                match found.and_then(|tool| tool.function().ok_or_else(no_tool)) {
                    Ok(function) => function(context, input).await,
                    Err(why) => Returned::failed(format!("The call was not made. {why}")),
                }
            })
        },
    )
}
