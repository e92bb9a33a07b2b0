//! `adk-stream check`: what is wrong with the configuration, and what the model will get.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;
use tools::http::{Network, Request};
use tools::mcp::{Server, ServerConfig};
use tools::pattern::Pattern;

use crate::agent_file::{AgentFile, FileAgent, Place, Written, description};
use crate::config::{Config, Settings};
use crate::config_file;
use crate::duration::TimeLimit;
use crate::environment::Environment;
use crate::error::Error;
use crate::model_probe::{self, Shows};
use crate::runtime::runtime;

/// How long a host may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// What to check.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// Configuration file in TOML, or a folder of them [env: ADK_STREAM_CONFIG] [default: adk-stream.toml]
    #[arg(long, value_name = "PATH")]
    config: Option<PathBuf>,
    /// Only this agent [default: every agent of the file]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Connect to nothing
    #[arg(long)]
    offline: bool,
}

/// What was found.
#[derive(Default)]
pub(crate) struct Findings {
    /// What the model gets, and what was reached.
    report: String,
    pub(crate) problems: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

impl Findings {
    /// Notes what is wrong with something that the file names. Agents share servers and hosts, and with them
    /// what is wrong.
    fn problem_at(&mut self, place: &Place, message: String) {
        let problem = place.problem(message).to_string();
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }
}

/// Checks, prints what was found, and fails if something is wrong.
pub(crate) fn run(command: &Check, environment: &Environment) -> Result<(), Error> {
    let mut findings = Findings::default();
    check(command, environment, &mut findings)?;
    // A closed output has no reader.
    let _ = std::io::stdout().write_all(findings.report.as_bytes());
    let mut stderr = std::io::stderr();
    for warning in &findings.warnings {
        let _ = writeln!(stderr, "warning: {warning}");
    }
    for problem in &findings.problems {
        let _ = writeln!(stderr, "{problem}");
    }
    match findings.problems.len() {
        0 => Ok(()),
        count => Err(Error::Unsound(count)),
    }
}

fn check(command: &Check, environment: &Environment, findings: &mut Findings) -> Result<(), Error> {
    let named = match &command.config {
        Some(path) => Some(path.clone()),
        None => environment.text("CONFIG")?.map(PathBuf::from),
    };
    let named = named.unwrap_or_else(|| config_file::DEFAULT.into());
    let mut layers = match config_file::read(Some(named.clone()), "".as_ref()) {
        Ok(layers) => layers,
        Err(Error::FileMalformed {
            path,
            line: Some(line),
            column: Some(column),
            problem,
        }) => {
            let path = path.display();
            findings
                .problems
                .push(format!("{path}:{line}:{column}: {problem}"));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let file = match AgentFile::take(&mut layers) {
        Ok(file) => file,
        Err(problems) => {
            findings
                .problems
                .extend(problems.iter().map(ToString::to_string));
            return Ok(());
        }
    };
    let all: Vec<&str> = file.agents().collect();
    if all.is_empty() {
        findings
            .problems
            .push(format!("{}: there is no [agents.NAME]", named.display()));
        return Ok(());
    }
    let wanted = match &command.agent {
        Some(name) if all.contains(&name.as_str()) => vec![name.as_str()],
        Some(name) => {
            return Err(Error::Setting {
                origin: "--agent".to_owned(),
                problem: format!(
                    "`{name}` is not an agent of the file; it has {}",
                    all.join(", ")
                ),
            });
        }
        None => all,
    };
    let mut agents = Vec::new();
    for name in &wanted {
        match file.agent(name, environment, TimeLimit::default()) {
            Ok(agent) => agents.push(agent),
            Err(problems) => {
                // Agents share tools, and with them what is wrong.
                for problem in problems.iter().map(ToString::to_string) {
                    if !findings.problems.contains(&problem) {
                        findings.problems.push(problem);
                    }
                }
            }
        }
    }
    if findings.problems.is_empty() {
        let settings = Settings {
            agent: Some(wanted[0].to_owned()),
            ..Settings::default()
        };
        // The settings of the server, which an agent does not need.
        match Config::load(settings, Some(named), environment, "".as_ref()) {
            Ok(config) => findings.warnings.extend(config.warnings),
            Err(error) => findings.problems.push(error.to_string()),
        }
    }
    let runtime = runtime().map_err(|source| Error::System {
        attempt: "start the runtime",
        source,
    })?;
    runtime.block_on(async {
        for agent in with_used(&agents) {
            findings.report.push_str(&agent.description());
            if !command.offline {
                try_agent(agent, findings).await;
            }
        }
    });
    runtime.shutdown_background();
    Ok(())
}

/// Agents and those that they use as tools, each once.
pub(crate) fn with_used<'a>(agents: impl IntoIterator<Item = &'a FileAgent>) -> Vec<&'a FileAgent> {
    let mut all: Vec<&FileAgent> = Vec::new();
    let mut left: VecDeque<&FileAgent> = agents.into_iter().collect();
    while let Some(agent) = left.pop_front() {
        if all.iter().all(|known| known.name != agent.name) {
            all.push(agent);
            left.extend(agent.agents.iter().map(|used| &used.agent));
        }
    }
    all
}

/// Tries everything that an agent connects to.
pub(crate) async fn try_agent(agent: &FileAgent, findings: &mut Findings) {
    let model = match agent.probe.what.shows {
        Shows::Route => agent.model.clone(),
        Shows::Model | Shows::Models => format!("model {}", agent.model),
    };
    match model_probe::reach(&agent.probe.what).await {
        Ok(said) => {
            let _ = writeln!(findings.report, "  reached {model}: {said}");
        }
        Err(problem) => findings.problem_at(&agent.probe.place, format!("{model}: {problem}")),
    }
    let mut seen = BTreeSet::new();
    for Written {
        what: request,
        place,
    } in &agent.hosts
    {
        if !seen.insert(request.origin()) {
            continue;
        }
        match reach(&agent.network, request).await {
            Ok(()) => {
                let _ = writeln!(findings.report, "  reached {}", request.origin());
            }
            Err(problem) => findings.problem_at(place, format!("{}: {problem}", request.origin())),
        }
    }
    let mut names = Vec::new();
    for server in &agent.servers {
        if let Some(listed) = try_server(agent, server, findings).await {
            names.extend(listed);
        }
    }
    // A pattern for tools of the file has been checked already.
    let own = agent.tools.iter().map(|built| built.tool.name());
    let used = agent.agents.iter().map(|used| used.agent.name.as_str());
    let fixed: Vec<String> = own.chain(used).map(str::to_owned).collect();
    let fits = |pattern: &Pattern| names.iter().chain(&fixed).any(|name| pattern.matches(name));
    for pattern in agent.selection.iter().filter(|pattern| !fits(pattern)) {
        findings.warnings.push(format!(
            "agent {}: there is no tool `{pattern}` at the moment",
            agent.name
        ));
    }
}

/// Looks a host up and connects to it: whether it takes a HEAD is its own affair.
async fn reach(network: &Network, request: &Request) -> Result<(), String> {
    let found = timeout(CONNECT, network.addresses(request)).await;
    let addresses = match found {
        Ok(Ok(addresses)) => addresses,
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => return Err("its name was not looked up in time".to_owned()),
    };
    let mut why = "it has no address".to_owned();
    for address in addresses {
        match timeout(CONNECT, TcpStream::connect((address, request.port()))).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => why = error.to_string(),
            Err(_) => why = "it did not answer in time".to_owned(),
        }
    }
    Err(why)
}

/// Starts an MCP server, lists its tools, and ends it.
async fn try_server(
    agent: &FileAgent,
    Written {
        what: config,
        place,
    }: &Written<ServerConfig>,
    findings: &mut Findings,
) -> Option<Vec<String>> {
    let name = config.name.clone();
    let server = match Server::start(config.clone()) {
        Ok(server) => server,
        Err(error) => {
            findings.problem_at(place, format!("MCP server {name}: {error}"));
            return None;
        }
    };
    let started = server.started().await;
    let status = server.status();
    if let Err(problem) = started {
        server.shut_down().await;
        findings.problem_at(place, format!("MCP server {name}: {problem}"));
        return None;
    }
    let what = status.implementation.as_deref().unwrap_or("no name");
    let _ = writeln!(findings.report, "  reached MCP server {name}: {what}");
    let map = server.source().tools();
    let is_wanted = |tool: &str| agent.selection.iter().any(|pattern| pattern.matches(tool));
    for tool in status.tools.iter().filter(|tool| is_wanted(&tool.name)) {
        let schema = map.get(&tool.name).map(|tool| tool.input_schema().clone());
        let policy = description::policy(&tool.policy);
        let runs_at = format!("MCP server {name}");
        findings.report.push_str(&description::tool(
            &tool.name,
            &policy,
            &runs_at,
            &tool.description,
            &schema.unwrap_or_default(),
        ));
    }
    for left_out in &status.left_out {
        let (tool, why) = (&left_out.name, &left_out.why);
        findings
            .warnings
            .push(format!("MCP server {name}: {tool} is not offered: {why}"));
    }
    server.shut_down().await;
    let prefix = format!("{name}.");
    let own: Vec<&str> = status
        .tools
        .iter()
        .filter_map(|tool| tool.name.strip_prefix(&prefix))
        .collect();
    for unused in config.policies.unused(&own) {
        findings
            .warnings
            .push(format!("MCP server {name}: it has no tool `{unused}`"));
    }
    Some(status.tools.into_iter().map(|tool| tool.name).collect())
}
