//! Flags and environment laid over each other, and checked.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use adk_stream_emulator::{Builder, Emulator, Frames, Script, Signatures};

use crate::error::Error;

/// Settings as text, as one source gives them: the flags or the environment.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Settings {
    /// Address to listen on, for http, https, ws and wss; port 0 picks a free one [env: GEMINI_EMULATOR_LISTEN] [default: 127.0.0.1:8081]
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// Script to follow, in JSON [env: GEMINI_EMULATOR_SCRIPT] [default: none]
    #[arg(long, value_name = "FILE")]
    script: Option<String>,
    /// Where to write the certificate that clients have to trust, as PEM [env: GEMINI_EMULATOR_CERTIFICATE] [default: nowhere]
    #[arg(long, value_name = "FILE")]
    certificate: Option<String>,
    /// Keys to take, with commas between [env: GEMINI_EMULATOR_KEYS] [default: every key but `bad`]
    #[arg(long, value_name = "KEYS")]
    keys: Option<String>,
    /// Pause between words, in milliseconds [env: GEMINI_EMULATOR_PACE] [default: 0]
    #[arg(long, value_name = "MILLISECONDS")]
    pace: Option<String>,
    /// How live frames are sent [env: GEMINI_EMULATOR_FRAMES] [default: binary]
    #[arg(long, value_name = "binary|text")]
    frames: Option<String>,
    /// Which models give thought signatures and want them back; by-model means from Gemini 3 on [env: GEMINI_EMULATOR_SIGNATURES] [default: by-model]
    #[arg(long, value_name = "by-model|always|never")]
    signatures: Option<String>,
    /// Whether calls have ids in generateContent [env: GEMINI_EMULATOR_CALL_IDS] [default: on]
    #[arg(long, value_name = "on|off")]
    call_ids: Option<String>,
}

/// The settings, checked.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) listen: String,
    pub(crate) builder: Builder,
    pub(crate) certificate: Option<PathBuf>,
}

impl Settings {
    fn of_environment(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, Error> {
        let text = |key: &str| {
            let name = variable_of(key);
            // An empty one counts as unset: compose files and shells pass on so what they lack.
            let value = variable(&name).filter(|value| !value.is_empty());
            let value = value.map(OsString::into_string).transpose();
            value.map_err(|_| Error::Setting {
                origin: name,
                problem: "the value is not valid UTF-8".to_owned(),
            })
        };
        Ok(Self {
            listen: text("listen")?,
            script: text("script")?,
            certificate: text("certificate")?,
            keys: text("keys")?,
            pace: text("pace")?,
            frames: text("frames")?,
            signatures: text("signatures")?,
            call_ids: text("call-ids")?,
        })
    }
}

/// The variable of a flag.
fn variable_of(key: &str) -> String {
    let name = key.to_uppercase().replace('-', "_");
    format!("GEMINI_EMULATOR_{name}")
}

impl Config {
    /// Lays flags over the environment over the defaults.
    pub(crate) fn load(
        flags: Settings,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, Error> {
        let layers = Layers {
            variables: Settings::of_environment(variable)?,
            flags,
        };
        let listen: Option<String> = layers.pick("listen", |it| &it.listen)?;
        let listen = listen.unwrap_or_else(|| "127.0.0.1:8081".to_owned());
        let mut builder = Emulator::builder().listen(listen.as_str());
        if let Some(Milliseconds(pace)) = layers.pick("pace", |it| &it.pace)? {
            builder = builder.pace(pace);
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
    Script::from_json(&text).map_err(|source| Error::Script { path, source })
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
        let variable = variable_of(key);
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

struct Milliseconds(Duration);

impl FromStr for Milliseconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let millis = text.parse().map(Duration::from_millis);
        let problem = |_| format!("`{text}` is not a number of milliseconds, as in 15");
        millis.map(Self).map_err(problem)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn load(flags: Settings, variables: &[(&str, &str)]) -> Result<Config, String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        Config::load(flags, variable).map_err(|error| error.line())
    }

    #[test]
    fn a_flag_beats_a_variable() {
        let variables = [("GEMINI_EMULATOR_LISTEN", "127.0.0.1:2")];
        let flags = Settings {
            listen: Some("127.0.0.1:1".to_owned()),
            ..Settings::default()
        };
        let listen = |flags, variables| load(flags, variables).unwrap().listen;
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
            "gemini-emulator: --call-ids: `maybe` is neither on nor off"
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
            let name = format!("GEMINI_EMULATOR_{variable}");
            let line = load(Settings::default(), &[(name.as_str(), value)]).unwrap_err();
            assert_eq!(line, format!("gemini-emulator: {name}: {problem}"));
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
