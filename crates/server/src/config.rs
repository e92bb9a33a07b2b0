//! The configuration of the server: flags, environment and file, laid over each other.

mod adk;
mod cluster;
mod connections;
mod gemini;
mod keys;
mod metrics;
mod models;
mod otlp;
mod quotas;
mod settings;
mod tls;
mod upstream;

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use agents::{Adk, AdkLive, AgUi, Agent, AiSdk, Anthropic, Gemini, GeminiLive, OpenAi};

pub(crate) use self::cluster::Cluster;
use self::keys::Switch;
pub(crate) use self::metrics::MetricsAccess;
pub(crate) use self::otlp::Otlp;
pub(crate) use self::settings::Settings;
use crate::agent_file::{AgentFile, FileAgent, Problem};
use crate::agent_name::AgentName;
use crate::config_file;
use crate::connection::ConnectionLimits;
use crate::duration::{Milliseconds, Seconds, TimeLimit};
use crate::environment::{self, Environment};
use crate::error::Error;
use crate::headers::SecurityHeaders;
use crate::keys::Keys;
use crate::listen_address::ListenAddress;
use crate::live::OnAbort;
use crate::log::{LogFilter, LogFormat};
use crate::origin::Origins;
use crate::page_folder::PageFolder;
use crate::quota::QuotaLimits;
use crate::shared_key::SharedKey;
use crate::store_url::StoreUrl;
use crate::tls::Tls;

/// The configuration, checked, and possible in this version.
#[derive(Debug)]
pub(crate) struct Config {
    /// Where the server listens.
    pub(crate) listen: ListenAddress,
    /// The certificate there, if it listens for TLS.
    pub(crate) tls: Option<Tls>,
    /// Which store keeps the journals.
    pub(crate) store: StoreUrl,
    /// Who answers, where it is not an agent of the file.
    #[cfg_attr(not(feature = "demo"), expect(dead_code, reason = "the demo asks"))]
    pub(crate) agent: Option<AgentName>,
    /// Who answers, where it is an agent of the file.
    pub(crate) file_agent: Option<FileAgent>,
    /// Who answers, where it is somebody outside.
    pub(crate) remote: Option<Remote>,
    /// Where that is, unless it is an agent of the file.
    pub(crate) agent_url: Option<String>,
    /// What tools at the agent are known by, where they may ask.
    pub(crate) agent_key: Option<SharedKey>,
    /// The principals and their keys.
    pub(crate) keys: Keys,
    /// Whether everybody is served where there are no keys.
    pub(crate) insecure: bool,
    /// Whether a model is offered the demo's tools.
    pub(crate) demo_tools: bool,
    /// Which sites may change something or open a socket, besides the one that is served here.
    pub(crate) origins: Origins,
    /// What an `abort` frame does.
    pub(crate) on_abort: OnAbort,
    /// How long approvals wait.
    pub(crate) approval_timeout: TimeLimit,
    /// How long pages have to run a tool.
    pub(crate) client_timeout: TimeLimit,
    /// Other servers over the same store, if there are any.
    pub(crate) cluster: Option<Cluster>,
    /// How many connections there may be, and how long each may take.
    pub(crate) connections: ConnectionLimits,
    /// How much one principal may have open and send.
    pub(crate) quotas: QuotaLimits,
    /// How long a chat is kept open that nobody watches.
    pub(crate) linger: Seconds,
    /// The memory limit for idle chats, in bytes.
    pub(crate) resting_memory: quotas::Limit,
    /// How long tools at work are waited for when the server stops.
    pub(crate) drain: Seconds,
    /// How fast the demo speaks.
    #[cfg_attr(not(feature = "demo"), expect(dead_code, reason = "the demo asks"))]
    pub(crate) pace: Milliseconds,
    /// Where the page lies, if not in the binary.
    pub(crate) page: PageFolder,
    /// The headers that restrict what browsers do with the page.
    pub(crate) headers: SecurityHeaders,
    /// Who may read the metrics, and where.
    pub(crate) metrics: MetricsAccess,
    /// Where traces of turns go, if anywhere.
    pub(crate) otlp: Option<Otlp>,
    /// What goes to stderr.
    pub(crate) log: LogFilter,
    /// In which format.
    pub(crate) log_format: LogFormat,
    /// What the operator should know, though the server can start.
    pub(crate) warnings: Vec<String>,
}

/// Somebody outside who answers.
#[derive(Debug, Clone)]
pub(crate) enum Remote {
    /// Gemini.
    Gemini(Gemini),
    /// Gemini Live.
    GeminiLive(GeminiLive),
    /// An ADK server.
    Adk(Adk),
    /// An ADK server, live.
    AdkLive(AdkLive),
    /// A route of the AI SDK's.
    AiSdk(AiSdk),
    /// An agent that speaks AG-UI.
    AgUi(AgUi),
    /// A model that speaks OpenAI's API.
    OpenAi(OpenAi),
    /// A model that speaks Anthropic's API.
    Anthropic(Anthropic),
}

impl Remote {
    /// Who answers.
    pub(crate) fn agent(&self) -> Arc<dyn Agent> {
        match self {
            Self::Gemini(gemini) => Arc::new(gemini.clone()),
            Self::GeminiLive(live) => Arc::new(live.clone()),
            Self::Adk(adk) => Arc::new(adk.clone()),
            Self::AdkLive(live) => Arc::new(live.clone()),
            Self::AiSdk(route) => Arc::new(route.clone()),
            Self::AgUi(agent) => Arc::new(agent.clone()),
            Self::OpenAi(model) => Arc::new(model.clone()),
            Self::Anthropic(model) => Arc::new(model.clone()),
        }
    }

    /// Whether it has tools of its own, and can't be offered others.
    pub(crate) fn has_tools(&self) -> bool {
        matches!(self, Self::Adk(_) | Self::AdkLive(_) | Self::AiSdk(_))
    }
}

/// Where a layer of settings came from.
#[derive(Debug)]
enum Origin {
    Flags,
    Environment,
    File(PathBuf),
}

impl Origin {
    /// The name under which the operator finds the setting again.
    fn name(&self, key: &str) -> String {
        match self {
            Origin::Flags => format!("--{key}"),
            Origin::Environment => environment::variable(&key.to_uppercase().replace('-', "_")),
            Origin::File(path) => format!("{}: {key}", path.display()),
        }
    }
}

impl Config {
    /// What URLs of this server begin with.
    pub(crate) fn scheme(&self) -> &'static str {
        match self.tls {
            Some(_) => "https",
            None => "http",
        }
    }

    /// Lays flags over the environment over the file over the defaults. `folder` is where the file
    /// is looked for when none is named.
    pub(crate) fn load(
        flags: Settings,
        file: Option<PathBuf>,
        environment: &Environment,
        folder: &Path,
    ) -> Result<Self, Error> {
        let named = match file {
            Some(path) => Some(path),
            None => environment.text("CONFIG")?.map(PathBuf::from),
        };
        let variables = Settings::of(environment)?;
        let mut layers = vec![(Origin::Flags, flags), (Origin::Environment, variables)];
        let mut files = config_file::read(named, folder)?;
        let file = AgentFile::take(&mut files).map_err(first)?;
        for mut layer in files {
            layer.settings.read_keys(&layer.source, environment)?;
            layers.push((Origin::File(layer.source.path), layer.settings));
        }

        let (agent, file_agent) = match agent_of(&layers, &file)? {
            Answering::BuiltIn(agent) => (Some(agent), None),
            Answering::OfFile(name) => {
                let tool_timeout = upstream::tool_timeout(&layers)?;
                let agent = file.agent(&name, environment, tool_timeout);
                (None, Some(agent.map_err(first)?))
            }
        };
        let remote = match agent {
            None => file_agent.as_ref().map(|agent| agent.remote.clone()),
            Some(AgentName::Gemini) => Some(Remote::Gemini(gemini::of(&layers, environment)?)),
            Some(AgentName::GeminiLive) => {
                Some(Remote::GeminiLive(gemini::live(&layers, environment)?))
            }
            Some(AgentName::Adk) => Some(Remote::Adk(adk::of(&layers)?)),
            Some(AgentName::AdkLive) => Some(Remote::AdkLive(adk::live(&layers)?)),
            Some(AgentName::AiSdk) => Some(Remote::AiSdk(upstream::ai_sdk(&layers)?)),
            Some(AgentName::AgUi) => Some(Remote::AgUi(upstream::ag_ui(&layers)?)),
            Some(AgentName::OpenAi) => Some(Remote::OpenAi(models::openai(&layers, environment)?)),
            Some(AgentName::Anthropic) => {
                Some(Remote::Anthropic(models::anthropic(&layers, environment)?))
            }
            Some(AgentName::Demo | AgentName::DemoLive) => None,
        };
        let Switch(demo_tools) = pick(&layers, "demo-tools", |layer| layer.demo_tools.as_deref())?;
        let has_tools = match (&file_agent, &remote) {
            (Some(_), _) => Some("an agent of the file has tools of its own"),
            (None, Some(remote)) if remote.has_tools() => {
                Some("an agent behind adk-stream has tools of its own")
            }
            _ => None,
        };
        if let Some(problem) = has_tools.filter(|_| demo_tools) {
            let given = layers.iter().find(|(_, layer)| layer.demo_tools.is_some());
            return Err(Error::Setting {
                origin: given.map_or_else(String::new, |(origin, _)| origin.name("demo-tools")),
                problem: problem.to_owned(),
            });
        }
        let agent_url = agent.and_then(|agent| agent_url(&layers, agent));
        let (keys, warning) = keys::of(&layers)?;
        let cluster = cluster::of(&layers)?;
        let (tls, tls_warning) = tls::of(&layers, cluster.as_ref())?;
        let mut config = Self {
            listen: pick(&layers, "listen", |layer| layer.listen.as_deref())?,
            store: pick(&layers, "store", |layer| layer.store.as_deref())?,
            agent,
            file_agent,
            remote,
            agent_url,
            agent_key: adk::agent_key(&layers)?,
            cluster,
            tls,
            connections: connections::of(&layers)?,
            quotas: quotas::of(&layers)?,
            resting_memory: pick(&layers, "resting-memory", |layer| {
                layer.resting_memory.as_deref()
            })?,
            linger: pick(&layers, "linger", |layer| layer.linger.as_deref())?,
            drain: pick(&layers, "drain", |layer| layer.drain.as_deref())?,
            keys,
            insecure: keys::insecure(&layers)?,
            demo_tools,
            origins: pick(&layers, "origins", |layer| layer.origins.as_deref())?,
            on_abort: pick(&layers, "on-abort", |layer| layer.on_abort.as_deref())?,
            approval_timeout: pick(&layers, "approval-timeout", |layer| {
                layer.approval_timeout.as_deref()
            })?,
            client_timeout: pick(&layers, "client-timeout", |layer| {
                layer.client_timeout.as_deref()
            })?,
            pace: pick(&layers, "pace", |layer| layer.pace.as_deref())?,
            page: pick(&layers, "page", |layer| layer.page.as_deref())?,
            headers: SecurityHeaders::new(
                &pick(&layers, "content-security-policy", |layer| {
                    layer.content_security_policy.as_deref()
                })?,
                &pick(&layers, "frame-ancestors", |layer| {
                    layer.frame_ancestors.as_deref()
                })?,
            ),
            metrics: metrics::of(&layers)?,
            otlp: otlp::of(&layers)?,
            log: pick(&layers, "log", |layer| layer.log.as_deref())?,
            log_format: pick(&layers, "log-format", |layer| layer.log_format.as_deref())?,
            warnings: environment
                .unknown()
                .map(|name| format!("{name} is set, but unknown to this version"))
                .collect(),
        };
        config.warnings.extend(warning);
        config.warnings.extend(tls_warning);
        if matches!(config.store, StoreUrl::Postgres(_)) && config.cluster.is_none() {
            let alone = "no ADK_STREAM_CLUSTER_KEY: this must be the only server over its database";
            config.warnings.push(alone.to_owned());
        }
        Ok(config)
    }
}

/// Where a built-in agent is, if it is somewhere else.
fn agent_url(layers: &[(Origin, Settings)], agent: AgentName) -> Option<String> {
    type Setting = fn(&Settings) -> Option<&str>;
    let (of, default): (Setting, &str) = match agent {
        AgentName::Demo | AgentName::DemoLive => return None,
        AgentName::Gemini | AgentName::GeminiLive => (
            |layer| layer.gemini_base_url.as_deref(),
            "https://generativelanguage.googleapis.com",
        ),
        AgentName::Adk | AgentName::AdkLive => (|layer| layer.adk_url.as_deref(), adk::DEFAULT_URL),
        // It has no default: without a URL the configuration is refused before.
        AgentName::AiSdk => (|layer| layer.ai_sdk_url.as_deref(), ""),
        AgentName::AgUi => (|layer| layer.ag_ui_url.as_deref(), ""),
        AgentName::OpenAi => (
            |layer| layer.openai_base_url.as_deref(),
            "https://api.openai.com",
        ),
        AgentName::Anthropic => (
            |layer| layer.anthropic_base_url.as_deref(),
            "https://api.anthropic.com",
        ),
    };
    let url = layers.iter().find_map(|(_, layer)| of(layer));
    Some(url.unwrap_or(default).to_owned())
}

/// Who answers.
enum Answering {
    BuiltIn(AgentName),
    /// An agent of the file, by its name.
    OfFile(String),
}

/// Who answers: as somebody says, or the one agent of the file, or the demo.
fn agent_of(layers: &[(Origin, Settings)], file: &AgentFile) -> Result<Answering, Error> {
    let names: Vec<&str> = file.agents().collect();
    let Some((origin, named)) = find(layers, "agent", |layer| layer.agent.as_deref()) else {
        return match names.as_slice() {
            [] => Ok(Answering::BuiltIn(AgentName::default())),
            [one] => Ok(Answering::OfFile((*one).to_owned())),
            several => Err(Error::Setting {
                origin: "--agent".to_owned(),
                problem: format!("the file has several agents: pick {}", several.join(" or ")),
            }),
        };
    };
    if names.contains(&named) {
        return Ok(Answering::OfFile(named.to_owned()));
    }
    let built_in = named.parse().map(Answering::BuiltIn);
    built_in.map_err(|problem: String| Error::Setting {
        origin,
        problem: match names.is_empty() {
            true => problem,
            false => format!("{problem}, or of the file: {}", names.join(", ")),
        },
    })
}

/// The first of what is wrong, and how much more is.
fn first(problems: Vec<Problem>) -> Error {
    let more = problems.len().saturating_sub(1);
    let Some(mut problem) = problems.into_iter().next() else {
        return Error::Usage("the file can't be used".to_owned());
    };
    if more > 0 {
        problem.message = format!(
            "{} (and {more} more: see `adk-stream check`)",
            problem.message
        );
    }
    problem.into()
}

/// The first layer that has the setting decides; the default stands in where none has.
fn pick<T: FromStr<Err = String> + Default>(
    layers: &[(Origin, Settings)],
    key: &str,
    of: fn(&Settings) -> Option<&str>,
) -> Result<T, Error> {
    match find(layers, key, of) {
        None => Ok(T::default()),
        Some((origin, text)) => text
            .parse()
            .map_err(|problem| Error::Setting { origin, problem }),
    }
}

/// The setting as the first layer that has it gives it, and the name under which it does.
fn find<'a>(
    layers: &'a [(Origin, Settings)],
    key: &str,
    of: fn(&Settings) -> Option<&str>,
) -> Option<(String, &'a str)> {
    layers
        .iter()
        .find_map(|(origin, layer)| Some((origin.name(key), of(layer)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    fn listening(address: &str) -> Settings {
        Settings {
            listen: Some(address.into()),
            ..Settings::default()
        }
    }

    fn folder_with(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("adk-stream.toml"), text).unwrap();
        folder
    }

    fn refusal(flags: Settings, variables: &[(&str, &str)], file: &str) -> String {
        let folder = folder_with(file);
        let error = Config::load(flags, None, &environment(variables), folder.path()).unwrap_err();
        error
            .line()
            .replace(&format!("{}/", folder.path().display()), "")
    }

    #[test]
    fn limit_for_tools_of_agents_holds_for_an_agent_of_the_file() {
        let file = "agent-tool-timeout = '7'\n[agents.shop.ai-sdk]\nurl = 'http://127.0.0.1:1/'\n";
        let folder = folder_with(file);
        let load = |flags| Config::load(flags, None, &Environment::default(), folder.path());
        let agent = |flags| format!("{:?}", load(flags).unwrap().remote);
        let of_file = agent(Settings::default());
        assert!(of_file.contains("tool_timeout: Some(7s)"), "{of_file}");
        let flags = Settings {
            agent_tool_timeout: Some("never".into()),
            ..Settings::default()
        };
        let of_flag = agent(flags);
        assert!(of_flag.contains("tool_timeout: None"), "{of_flag}");
    }

    #[test]
    fn without_a_word_the_defaults_hold() {
        let folder = tempfile::tempdir().unwrap();
        let config =
            Config::load(Settings::default(), None, &environment(&[]), folder.path()).unwrap();
        assert_eq!(config.listen.as_str(), "127.0.0.1:8080");
        assert_eq!(config.store, StoreUrl::Memory);
        assert_eq!(config.agent, Some(AgentName::Demo));
    }

    #[test]
    fn a_flag_beats_a_variable_beats_the_file() {
        let folder = folder_with("listen = '127.0.0.1:3'");
        let variable = environment(&[("ADK_STREAM_LISTEN", "127.0.0.1:2")]);
        let listen = |flags, variables: &Environment| {
            Config::load(flags, None, variables, folder.path())
                .unwrap()
                .listen
                .to_string()
        };
        assert_eq!(listen(listening("127.0.0.1:1"), &variable), "127.0.0.1:1");
        assert_eq!(listen(Settings::default(), &variable), "127.0.0.1:2");
        assert_eq!(
            listen(Settings::default(), &environment(&[])),
            "127.0.0.1:3"
        );
    }

    #[test]
    fn a_bad_value_is_refused_under_the_name_it_was_given_by() {
        let lines = [
            refusal(listening("x"), &[], ""),
            refusal(Settings::default(), &[("ADK_STREAM_LISTEN", "x")], ""),
            refusal(Settings::default(), &[], "listen = 'x'"),
        ];
        let problem = "`x` is not an address; expected HOST:PORT, as in 127.0.0.1:8080";
        assert_eq!(lines[0], format!("adk-stream: --listen: {problem}"));
        assert_eq!(
            lines[1],
            format!("adk-stream: ADK_STREAM_LISTEN: {problem}")
        );
        assert_eq!(
            lines[2],
            format!("adk-stream: adk-stream.toml: listen: {problem}")
        );
    }

    #[test]
    fn secrets_are_never_printed() {
        let settings = Settings {
            gemini_key: settings::Secret(Some("s3cret".to_owned())),
            ..Settings::default()
        };
        assert!(!format!("{settings:?} {settings:#?}").contains("s3cret"));
    }

    #[test]
    fn adk_needs_an_app_and_headers_that_can_be_sent() {
        let with = |more: &[(&str, &str)]| {
            let mut variables = vec![("ADK_STREAM_AGENT", "adk")];
            variables.extend(more);
            refusal(Settings::default(), &variables, "")
        };
        assert_eq!(
            with(&[]),
            "adk-stream: the agent adk: it needs the name of an app: --adk-app NAME, or ADK_STREAM_ADK_APP"
        );
        let app = ("ADK_STREAM_ADK_APP", "assistant");
        let url = with(&[app, ("ADK_STREAM_ADK_URL", "ftp://adk")]);
        assert!(
            url.starts_with("adk-stream: ADK_STREAM_ADK_URL: not a base URL"),
            "{url}"
        );
        let header = with(&[app, ("ADK_STREAM_ADK_HEADERS", "s3cret")]);
        assert!(
            header.starts_with("adk-stream: ADK_STREAM_ADK_HEADERS: not a header"),
            "{header}"
        );
        assert!(!header.contains("s3cret"), "{header}");
        let key = with(&[app, ("ADK_STREAM_AGENT_KEY", "short")]);
        assert!(
            key.starts_with("adk-stream: ADK_STREAM_AGENT_KEY: not a key"),
            "{key}"
        );
    }

    #[test]
    fn a_misspelled_variable_is_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let variables = environment(&[("ADK_STREAM_LISTNE", "127.0.0.1:1")]);
        let config = Config::load(Settings::default(), None, &variables, folder.path()).unwrap();
        assert_eq!(
            config.warnings,
            ["ADK_STREAM_LISTNE is set, but unknown to this version"]
        );
    }
}
