//! The configuration of Gemini.

use agents::gemini::Key;
use agents::gemini_live::{self, Modality};
use agents::{Gemini, GeminiLive};

use super::{Origin, Settings, find, pick};
use crate::environment::{self, Environment};
use crate::error::Error;
use crate::gemini_settings::{Instruction, LiveTools, Safety, Temperature, Thinking, Tokens};

/// Gemini, as the layers tell it.
pub(super) fn of(
    layers: &[(Origin, Settings)],
    environment: &Environment,
) -> Result<Gemini, Error> {
    let config = common(layers, environment)?;
    Gemini::new(config).map_err(|error| refused(layers, error))
}

/// Gemini Live, as the layers tell it.
pub(super) fn live(
    layers: &[(Origin, Settings)],
    environment: &Environment,
) -> Result<GeminiLive, Error> {
    let mut common = common(layers, environment)?;
    let is_set = |key, of: fn(&Settings) -> Option<&str>| find(layers, key, of).is_some();
    if !is_set("gemini-model", |layer| layer.gemini_model.as_deref()) {
        common.model = gemini_live::DEFAULT_MODEL.to_owned();
    }
    if !is_set("thinking", |layer| layer.thinking.as_deref()) {
        // Not every live model accepts the setting.
        common.thinking = None;
    }
    let modality: Modality = pick(layers, "live-modality", |layer| {
        layer.live_modality.as_deref()
    })?;
    let tools: LiveTools = pick(layers, "live-tools", |layer| layer.live_tools.as_deref())?;
    let voice = find(layers, "live-voice", |layer| layer.live_voice.as_deref());
    let config = gemini_live::Config {
        modality,
        behavior: tools.0,
        voice: voice.map(|(_, voice)| voice.to_owned()),
        common,
    };
    GeminiLive::new(config).map_err(|error| refused(layers, error))
}

fn wrong(origin: String, error: &agents::Error) -> Error {
    Error::Setting {
        origin,
        problem: error.to_string(),
    }
}

/// Why an agent can't be made, under the name of the setting that is to blame.
fn refused(layers: &[(Origin, Settings)], error: agents::Error) -> Error {
    let given = match error {
        agents::Error::BaseUrl(_) => find(layers, "gemini-base-url", |layer| {
            layer.gemini_base_url.as_deref()
        }),
        agents::Error::Model(_) => find(layers, "gemini-model", |layer| {
            layer.gemini_model.as_deref()
        }),
        _ => None,
    };
    let origin = given.map(|(origin, _)| origin);
    let origin = origin.unwrap_or_else(|| "the agent gemini".to_owned());
    wrong(origin, &error)
}

/// The settings that both APIs have.
fn common(
    layers: &[(Origin, Settings)],
    environment: &Environment,
) -> Result<agents::gemini::Config, Error> {
    let (key_origin, key) = key(layers, environment)?;
    let key = Key::new(key).map_err(|error| wrong(key_origin, &error))?;
    let thinking: Thinking = pick(layers, "thinking", |layer| layer.thinking.as_deref())?;
    let safety: Safety = pick(layers, "safety", |layer| layer.safety.as_deref())?;
    let temperature: Temperature =
        pick(layers, "temperature", |layer| layer.temperature.as_deref())?;
    let tokens: Tokens = pick(layers, "max-output-tokens", |layer| {
        layer.max_output_tokens.as_deref()
    })?;
    let instruction: Instruction = pick(layers, "system-instruction", |layer| {
        layer.system_instruction.as_deref()
    })?;
    let model = find(layers, "gemini-model", |layer| {
        layer.gemini_model.as_deref()
    });
    let base_url = find(layers, "gemini-base-url", |layer| {
        layer.gemini_base_url.as_deref()
    });
    let defaults = agents::gemini::Config::new(key);
    let or = |found: &Option<(String, &str)>, default: String| match found {
        Some((_, text)) => (*text).to_owned(),
        None => default,
    };
    Ok(agents::gemini::Config {
        model: or(&model, defaults.model),
        base_url: or(&base_url, defaults.base_url),
        temperature: temperature.0,
        max_output_tokens: tokens.0,
        thinking: thinking.0,
        safety: safety.0,
        system_instruction: instruction.0,
        ..defaults
    })
}

/// The key for Gemini, and where it was found: ours first, and then where Google's SDKs look.
fn key(
    layers: &[(Origin, Settings)],
    environment: &Environment,
) -> Result<(String, String), Error> {
    let ours = layers
        .iter()
        .find_map(|(origin, layer)| Some((origin.name("gemini-key"), layer.gemini_key.0.clone()?)));
    if let Some(found) = ours {
        return Ok(found);
    }
    match environment.google_key()? {
        Some((name, key)) => Ok((name.to_owned(), key)),
        None => Err(Error::Setting {
            origin: environment::GOOGLE_KEYS[0].to_owned(),
            problem: "not set, and the agent gemini needs a key".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    fn gemini(variables: &[(&str, &str)], file: &str) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("adk-stream.toml"), file).unwrap();
        let mut all = vec![("ADK_STREAM_AGENT", "gemini")];
        all.extend(variables);
        let all = all
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        let all: Environment = all.collect();
        let loaded = Config::load(Settings::default(), None, &all, folder.path());
        let path = format!("{}/", folder.path().display());
        loaded.map_err(|error| error.line().replace(&path, ""))
    }

    #[test]
    fn gemini_needs_a_key_and_nothing_else() {
        for (name, file) in [
            ("ADK_STREAM_GEMINI_KEY", ""),
            ("GEMINI_API_KEY", ""),
            ("GOOGLE_API_KEY", ""),
            ("OUR_KEY", "gemini-key = 'env:OUR_KEY'"),
        ] {
            let config = gemini(&[(name, "s3cret")], file).unwrap();
            assert!(matches!(
                config.remote,
                Some(crate::config::Remote::Gemini(_))
            ));
            assert!(!format!("{config:?}").contains("s3cret"));
        }
        assert_eq!(
            gemini(&[], "").unwrap_err(),
            "adk-stream: GEMINI_API_KEY: not set, and the agent gemini needs a key"
        );
        // Who has a key for something else is not asked for one.
        assert!(gemini(&[("ADK_STREAM_AGENT", "demo")], "").is_ok());
    }

    #[test]
    fn bad_settings_of_gemini_are_refused_under_their_names_and_without_the_key() {
        let key = ("GEMINI_API_KEY", "s3cret");
        for (variable, value, line) in [
            (
                "GEMINI_API_KEY",
                "s3cret s3cret",
                "GEMINI_API_KEY: not a key",
            ),
            (
                "ADK_STREAM_GEMINI_KEY",
                "s3c\nret",
                "ADK_STREAM_GEMINI_KEY: not a key",
            ),
            (
                "ADK_STREAM_GEMINI_BASE_URL",
                "g.example",
                "ADK_STREAM_GEMINI_BASE_URL: not a base URL",
            ),
            (
                "ADK_STREAM_GEMINI_BASE_URL",
                "https://h?key=s3cret",
                "ADK_STREAM_GEMINI_BASE_URL: not a base URL",
            ),
            (
                "ADK_STREAM_GEMINI_MODEL",
                "a b",
                "ADK_STREAM_GEMINI_MODEL: `models/a b` is not a model",
            ),
            (
                "ADK_STREAM_TEMPERATURE",
                "hot",
                "ADK_STREAM_TEMPERATURE: `hot` is not",
            ),
            (
                "ADK_STREAM_THINKING",
                "hard",
                "ADK_STREAM_THINKING: `hard` is not",
            ),
            (
                "ADK_STREAM_SAFETY",
                "none",
                "ADK_STREAM_SAFETY: `none` is no threshold",
            ),
            (
                "ADK_STREAM_MAX_OUTPUT_TOKENS",
                "0",
                "ADK_STREAM_MAX_OUTPUT_TOKENS: `0` is not",
            ),
            (
                "ADK_STREAM_SYSTEM_INSTRUCTION",
                "@/nowhere",
                "ADK_STREAM_SYSTEM_INSTRUCTION: can't read /nowhere",
            ),
        ] {
            let refused = gemini(&[key, (variable, value)], "").unwrap_err();
            assert!(
                refused.starts_with(&format!("adk-stream: {line}")),
                "{refused}"
            );
            assert!(!refused.contains("s3cret"), "{refused}");
        }
        let refused = gemini(&[key], "gemini-model = '..'").unwrap_err();
        assert!(
            refused.starts_with("adk-stream: adk-stream.toml: gemini-model: "),
            "{refused}"
        );
    }
}
