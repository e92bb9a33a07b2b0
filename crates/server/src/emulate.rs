//! `adk-stream emulate-gemini`: a Gemini on loopback, for tests.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use emulator::{Emulator, Frames, Script, Signatures};
use tracing::{info, warn};

use crate::duration::Milliseconds;
use crate::environment::{self, Environment};
use crate::error::Error;
use crate::listen_address::ListenAddress;
use crate::{serve, signals};

/// How long answers under way may take to end.
const GRACE: Duration = Duration::from_secs(2);

/// Settings as text, as one source gives them: the flags or the environment.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Settings {
    /// Address to listen on, for http, https, ws and wss; port 0 picks a free one [env: ADK_STREAM_EMULATOR_LISTEN] [default: 127.0.0.1:8081]
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// Script to follow, in JSON [env: ADK_STREAM_EMULATOR_SCRIPT] [default: none]
    #[arg(long, value_name = "FILE")]
    script: Option<String>,
    /// Where to write the certificate that clients have to trust, as PEM [env: ADK_STREAM_EMULATOR_CERTIFICATE] [default: nowhere]
    #[arg(long, value_name = "FILE")]
    certificate: Option<String>,
    /// Keys to take, with commas between [env: ADK_STREAM_EMULATOR_KEYS] [default: every key but `bad`]
    #[arg(long, value_name = "KEYS")]
    keys: Option<String>,
    /// Pause between words, in milliseconds [env: ADK_STREAM_EMULATOR_PACE] [default: 0]
    #[arg(long, value_name = "MILLISECONDS")]
    pace: Option<String>,
    /// How live frames are sent [env: ADK_STREAM_EMULATOR_FRAMES] [default: binary]
    #[arg(long, value_name = "binary|text")]
    frames: Option<String>,
    /// Which models give thought signatures and want them back; by-model means from Gemini 3 on [env: ADK_STREAM_EMULATOR_SIGNATURES] [default: by-model]
    #[arg(long, value_name = "by-model|always|never")]
    signatures: Option<String>,
    /// Whether calls have ids in generateContent [env: ADK_STREAM_EMULATOR_CALL_IDS] [default: on]
    #[arg(long, value_name = "on|off")]
    call_ids: Option<String>,
}

/// What an emulator was told, checked.
#[derive(Debug)]
pub(crate) struct Config {
    listen: ListenAddress,
    builder: emulator::Builder,
    certificate: Option<PathBuf>,
}

impl Settings {
    fn of_environment(environment: &Environment) -> Result<Self, Error> {
        let text = |name: &str| environment.text(&format!("EMULATOR_{name}"));
        Ok(Self {
            listen: text("LISTEN")?,
            script: text("SCRIPT")?,
            certificate: text("CERTIFICATE")?,
            keys: text("KEYS")?,
            pace: text("PACE")?,
            frames: text("FRAMES")?,
            signatures: text("SIGNATURES")?,
            call_ids: text("CALL_IDS")?,
        })
    }
}

impl Config {
    /// Lays flags over the environment over the defaults.
    pub(crate) fn load(flags: Settings, environment: &Environment) -> Result<Self, Error> {
        let layers = Layers {
            variables: Settings::of_environment(environment)?,
            flags,
        };
        let listen: Option<ListenAddress> = layers.pick("listen", |it| &it.listen)?;
        let listen = listen.unwrap_or(ListenAddress::on_port(8081));
        let mut builder = Emulator::builder().listen(listen.as_str());
        if let Some(pace) = layers.pick::<Milliseconds>("pace", |it| &it.pace)? {
            builder = builder.pace(pace.0);
        }
        if let Some(Keys(keys)) = layers.pick("keys", |it| &it.keys)? {
            builder = builder.keys(keys);
        }
        if let Some(FrameForm(frames)) = layers.pick("frames", |it| &it.frames)? {
            builder = builder.frames(frames);
        }
        if let Some(Signing(signatures)) = layers.pick("signatures", |it| &it.signatures)? {
            builder = builder.signatures(signatures);
        }
        if let Some(Switch(call_ids)) = layers.pick("call-ids", |it| &it.call_ids)? {
            builder = builder.call_ids(call_ids);
        }
        if let Some(path) = layers.pick::<PathBuf>("script", |it| &it.script)? {
            builder = builder.script(read_script(path)?);
        }
        let certificate = layers.pick("certificate", |it| &it.certificate)?;
        Ok(Self {
            listen,
            builder,
            certificate,
        })
    }
}

fn read_script(path: PathBuf) -> Result<Script, Error> {
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(source) => return Err(Error::FileUnreadable { path, source }),
    };
    Script::from_json(&text).map_err(|error| Error::FileMalformed {
        path,
        line: None,
        problem: error.to_string(),
    })
}

struct Layers {
    flags: Settings,
    variables: Settings,
}

impl Layers {
    /// A setting, from the first layer that has it.
    fn pick<T: FromStr>(
        &self,
        key: &str,
        of: fn(&Settings) -> &Option<String>,
    ) -> Result<Option<T>, Error>
    where
        T::Err: ToString,
    {
        let name = key.to_uppercase().replace('-', "_");
        let variable = environment::variable(&format!("EMULATOR_{name}"));
        let found = of(&self.flags)
            .as_ref()
            .map(|text| (format!("--{key}"), text));
        let found = found.or_else(|| of(&self.variables).as_ref().map(|text| (variable, text)));
        let Some((origin, text)) = found else {
            return Ok(None);
        };
        text.parse()
            .map(Some)
            .map_err(|problem: T::Err| Error::Setting {
                origin,
                problem: problem.to_string(),
            })
    }
}

struct Keys(Vec<String>);

impl FromStr for Keys {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let keys: Vec<_> = text.split(',').map(|key| key.trim().to_owned()).collect();
        if keys.iter().any(String::is_empty) {
            return Err("a key is empty; expected KEY,KEY,…".to_owned());
        }
        Ok(Self(keys))
    }
}

struct FrameForm(Frames);

impl FromStr for FrameForm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "binary" => Ok(Self(Frames::Binary)),
            "text" => Ok(Self(Frames::Text)),
            _ => Err(format!("`{text}` is neither binary nor text")),
        }
    }
}

struct Signing(Signatures);

impl FromStr for Signing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "by-model" => Ok(Self(Signatures::ByModel)),
            "always" => Ok(Self(Signatures::Always)),
            "never" => Ok(Self(Signatures::Never)),
            _ => Err(format!("`{text}` is none of by-model, always and never")),
        }
    }
}

struct Switch(bool);

impl FromStr for Switch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "on" => Ok(Self(true)),
            "off" => Ok(Self(false)),
            _ => Err(format!("`{text}` is neither on nor off")),
        }
    }
}

/// Emulates until a signal says stop.
pub(crate) fn run(config: Config) -> Result<(), Error> {
    serve::on_runtime(start(config))
}

async fn start(config: Config) -> Result<(), Error> {
    let Config {
        listen,
        builder,
        certificate,
    } = config;
    // Before the address is told: whoever reads it may signal at once.
    let mut signals = signals::listen().map_err(|source| Error::System {
        attempt: "listen for signals",
        source,
    })?;
    let emulator = builder.start().await.map_err(|error| match error {
        emulator::Error::Listen(source) => Error::Listen {
            address: listen,
            source,
        },
        other => Error::Emulator(other),
    })?;
    if let Some(path) = certificate {
        let written = std::fs::write(&path, emulator.certificate());
        written.map_err(|source| Error::FileUnwritable { path, source })?;
    }
    serve::announce(emulator.address());
    let signal = signals.recv().await.unwrap_or("no signal");
    info!(
        "{signal}: answers under way have {} s to end",
        GRACE.as_secs()
    );
    tokio::select! {
        () = emulator.shut_down(GRACE) => {}
        signal = signals.recv() => warn!("{}: cut what was open", signal.unwrap_or("no signal")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(flags: Settings, variables: &[(&str, &str)]) -> Result<Config, String> {
        let environment = variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        Config::load(flags, &environment).map_err(|error| error.line())
    }

    #[test]
    fn a_flag_beats_a_variable() {
        let variables = [("ADK_STREAM_EMULATOR_LISTEN", "127.0.0.1:2")];
        let flags = Settings {
            listen: Some("127.0.0.1:1".to_owned()),
            ..Settings::default()
        };
        let listen = |flags, variables| load(flags, variables).unwrap().listen.to_string();
        assert_eq!(listen(flags, &variables), "127.0.0.1:1");
        assert_eq!(listen(Settings::default(), &variables), "127.0.0.1:2");
        assert_eq!(listen(Settings::default(), &[]), "127.0.0.1:8081");
    }

    #[test]
    fn a_bad_value_is_refused_under_the_name_it_was_given_by() {
        let flags = Settings {
            call_ids: Some("maybe".to_owned()),
            ..Settings::default()
        };
        assert_eq!(
            load(flags, &[]).unwrap_err(),
            "adk-stream: --call-ids: `maybe` is neither on nor off"
        );
        for (variable, value, problem) in [
            ("CALL_IDS", "1", "`1` is neither on nor off"),
            ("FRAMES", "x", "`x` is neither binary nor text"),
            (
                "SIGNATURES",
                "x",
                "`x` is none of by-model, always and never",
            ),
            ("PACE", "x", "`x` is not a number of milliseconds, as in 15"),
            ("KEYS", "a,,b", "a key is empty; expected KEY,KEY,…"),
        ] {
            let name = format!("ADK_STREAM_EMULATOR_{variable}");
            let line = load(Settings::default(), &[(name.as_str(), value)]).unwrap_err();
            assert_eq!(line, format!("adk-stream: {name}: {problem}"));
        }
    }

    #[test]
    fn a_wrong_script_is_refused_by_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script.json");
        std::fs::write(&path, r#"{"rules": [{"statuz": 1}]}"#).unwrap();
        let flags = || Settings {
            script: Some(path.display().to_string()),
            ..Settings::default()
        };
        let line = load(flags(), &[]).unwrap_err();
        assert!(
            line.contains("script.json: the script is wrong: unknown field `statuz`"),
            "{line}"
        );
        std::fs::remove_file(&path).unwrap();
        assert!(load(flags(), &[]).unwrap_err().contains("can't read"));
    }
}
