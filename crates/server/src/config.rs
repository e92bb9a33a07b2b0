//! What the server was told: flags, environment and file, laid over each other.

mod adk;
mod gemini;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use agents::{Adk, AdkLive, Gemini, GeminiLive};
use tracing_subscriber::filter::Targets;

use crate::agent_name::AgentName;
use crate::config_file;
use crate::duration::{Milliseconds, Patience, Seconds};
use crate::environment::{self, Environment};
use crate::error::Error;
use crate::keys::Keys;
use crate::listen_address::ListenAddress;
use crate::live::OnAbort;
use crate::log;
use crate::origin::Origins;
use crate::page_folder::PageFolder;
use crate::shared_key::SharedKey;
use crate::store_url::StoreUrl;

/// What the server was told, checked, and possible in this version.
#[derive(Debug)]
pub(crate) struct Config {
    /// Where the server listens.
    pub(crate) listen: ListenAddress,
    /// Which store keeps the journals.
    pub(crate) store: StoreUrl,
    /// Who answers.
    pub(crate) agent: AgentName,
    /// Who answers, where it is somebody outside.
    pub(crate) remote: Option<Remote>,
    /// What tools at the agent are known by, where they may ask.
    pub(crate) agent_key: Option<SharedKey>,
    /// Who may speak.
    pub(crate) keys: Keys,
    /// Which sites may open a socket, besides the one that is served here.
    pub(crate) origins: Origins,
    /// What an `abort` frame does.
    pub(crate) on_abort: OnAbort,
    /// How long approvals wait.
    pub(crate) approval_timeout: Patience,
    /// Other servers over the same store, if there are any.
    pub(crate) cluster: Option<Cluster>,
    /// How long a chat is kept open that nobody watches.
    pub(crate) linger: Seconds,
    /// How long tools at work are waited for when the server is told to stop.
    pub(crate) drain: Seconds,
    /// How fast the demo speaks.
    pub(crate) pace: Milliseconds,
    /// Where the page lies, if not in the binary.
    pub(crate) page: PageFolder,
    /// What goes to stderr.
    pub(crate) log: Targets,
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
}

impl Remote {
    /// Whether it has tools of its own.
    pub(crate) fn has_tools(&self) -> bool {
        matches!(self, Self::Adk(_) | Self::AdkLive(_))
    }
}

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
    /// Sites whose pages may open a WebSocket, with commas between [env: ADK_STREAM_ORIGINS] [default: this server's own]
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
    /// Pause between the demo's words, in milliseconds [env: ADK_STREAM_PACE] [default: 15]
    #[arg(long, value_name = "MILLISECONDS")]
    pub(crate) pace: Option<String>,
    /// Folder of a page to serve in place of the built-in one [env: ADK_STREAM_PAGE] [default: the built-in page]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) page: Option<String>,
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
    /// What Gemini blocks: a threshold, or HARM=THRESHOLD,… [env: ADK_STREAM_SAFETY] [default: what Google blocks]
    #[arg(long, value_name = "SAFETY")]
    pub(crate) safety: Option<String>,
}

/// A setting that is never printed.
#[derive(Clone, Default, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(Option<String>);

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret")
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
        let variables = Settings {
            listen: environment.text("LISTEN")?,
            store: environment.text("STORE")?,
            agent: environment.text("AGENT")?,
            keys: environment.text("KEYS")?,
            origins: environment.text("ORIGINS")?,
            on_abort: environment.text("ON_ABORT")?,
            approval_timeout: environment.text("APPROVAL_TIMEOUT")?,
            pace: environment.text("PACE")?,
            page: environment.text("PAGE")?,
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
            safety: environment.text("SAFETY")?,
        };
        let mut layers = vec![(Origin::Flags, flags), (Origin::Environment, variables)];
        if let Some((path, settings)) = config_file::read(named, folder)? {
            layers.push((Origin::File(path), settings));
        }

        let agent: AgentName = pick(&layers, "agent", |layer| layer.agent.as_deref())?;
        agent.require_available()?;
        let remote = match agent {
            AgentName::Gemini => Some(Remote::Gemini(gemini::of(&layers, environment)?)),
            AgentName::GeminiLive => Some(Remote::GeminiLive(gemini::live(&layers, environment)?)),
            AgentName::Adk => Some(Remote::Adk(adk::of(&layers)?)),
            AgentName::AdkLive => Some(Remote::AdkLive(adk::live(&layers)?)),
            AgentName::Demo | AgentName::DemoLive | AgentName::OpenAi => None,
        };
        let mut config = Self {
            listen: pick(&layers, "listen", |layer| layer.listen.as_deref())?,
            store: pick(&layers, "store", |layer| layer.store.as_deref())?,
            agent,
            remote,
            agent_key: adk::agent_key(&layers)?,
            cluster: cluster(&layers)?,
            linger: pick(&layers, "linger", |layer| layer.linger.as_deref())?,
            drain: pick(&layers, "drain", |layer| layer.drain.as_deref())?,
            keys: pick(&layers, "keys", |layer| layer.keys.as_deref())?,
            origins: pick(&layers, "origins", |layer| layer.origins.as_deref())?,
            on_abort: pick(&layers, "on-abort", |layer| layer.on_abort.as_deref())?,
            approval_timeout: pick(&layers, "approval-timeout", |layer| {
                layer.approval_timeout.as_deref()
            })?,
            pace: pick(&layers, "pace", |layer| layer.pace.as_deref())?,
            page: pick(&layers, "page", |layer| layer.page.as_deref())?,
            log: log::filter(environment.text("LOG")?.as_deref())?,
            warnings: environment
                .unknown()
                .map(|name| format!("{name} is set, but means nothing to this version"))
                .collect(),
        };
        if matches!(config.store, StoreUrl::Postgres(_)) && config.cluster.is_none() {
            let alone = "no ADK_STREAM_CLUSTER_KEY: this must be the only server over its database";
            config.warnings.push(alone.to_owned());
        }
        Ok(config)
    }
}

/// How several servers over one store work together.
#[derive(Debug, Clone)]
pub(crate) struct Cluster {
    /// What they know each other by.
    pub(crate) key: SharedKey,
    /// Where this one is reached, if not where it listens.
    pub(crate) advertise: Option<String>,
    /// How long one that gives no sign of life is believed in.
    pub(crate) lease: Seconds,
}

fn cluster(layers: &[(Origin, Settings)]) -> Result<Option<Cluster>, Error> {
    let key = layers.iter().find_map(|(origin, layer)| {
        let key = layer.cluster_key.0.as_deref()?;
        Some((origin.name("cluster-key"), key))
    });
    let Some((origin, key)) = key else {
        return Ok(None);
    };
    let key = SharedKey::new(key).map_err(|problem| Error::Setting { origin, problem })?;
    let advertise = find(layers, "advertise", |layer| layer.advertise.as_deref());
    if let Some((origin, url)) = &advertise
        && !(url.starts_with("http://") || url.starts_with("https://"))
    {
        return Err(Error::Setting {
            origin: origin.clone(),
            problem: format!("`{url}` is not an address; expected one as http://HOST:PORT"),
        });
    }
    Ok(Some(Cluster {
        key,
        advertise: advertise.map(|(_, url)| url.to_owned()),
        lease: pick(layers, "lease", |layer| layer.lease.as_deref())?,
    }))
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
    fn without_a_word_the_defaults_hold() {
        let folder = tempfile::tempdir().unwrap();
        let config =
            Config::load(Settings::default(), None, &environment(&[]), folder.path()).unwrap();
        assert_eq!(config.listen.as_str(), "127.0.0.1:8080");
        assert_eq!(config.store, StoreUrl::Memory);
        assert_eq!(config.agent, AgentName::Demo);
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
            gemini_key: Secret(Some("s3cret".to_owned())),
            ..Settings::default()
        };
        assert!(!format!("{settings:?} {settings:#?}").contains("s3cret"));
    }

    #[test]
    fn what_is_not_built_is_refused() {
        let line = refusal(Settings::default(), &[("ADK_STREAM_AGENT", "openai")], "");
        assert_eq!(
            line,
            "adk-stream: the agent openai is not available yet in this version"
        );
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
            ["ADK_STREAM_LISTNE is set, but means nothing to this version"]
        );
    }
}
