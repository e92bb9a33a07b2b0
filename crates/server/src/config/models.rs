//! The configuration of models with OpenAI's or Anthropic's API.

use agents::openai::{Api, Key};
use agents::{Anthropic, OpenAi, anthropic, openai};

use super::settings::Secret;
use super::{Origin, Settings, adk, find, pick};
use crate::environment::{self, Environment};
use crate::error::Error;
use crate::gemini_settings::{Instruction, Temperature, Tokens};

/// Under which names a provider's settings are found.
struct Provider {
    agent: &'static str,
    model: (&'static str, fn(&Settings) -> Option<&str>),
    base_url: (&'static str, fn(&Settings) -> Option<&str>),
    key: (&'static str, fn(&Settings) -> &Secret),
    headers: (&'static str, fn(&Settings) -> Option<&str>),
    /// Where its own SDKs look for a key.
    variable: &'static str,
}

const OPENAI: Provider = Provider {
    agent: "the agent openai",
    model: ("openai-model", |layer| layer.openai_model.as_deref()),
    base_url: ("openai-base-url", |layer| layer.openai_base_url.as_deref()),
    key: ("openai-key", |layer| &layer.openai_key),
    headers: ("openai-headers", |layer| layer.openai_headers.0.as_deref()),
    variable: environment::OPENAI_KEY,
};

const ANTHROPIC: Provider = Provider {
    agent: "the agent anthropic",
    model: ("anthropic-model", |layer| layer.anthropic_model.as_deref()),
    base_url: ("anthropic-base-url", |layer| {
        layer.anthropic_base_url.as_deref()
    }),
    key: ("anthropic-key", |layer| &layer.anthropic_key),
    headers: ("anthropic-headers", |layer| {
        layer.anthropic_headers.0.as_deref()
    }),
    variable: environment::ANTHROPIC_KEY,
};

/// The settings that all models have.
struct Common {
    model: String,
    base_url: Option<String>,
    key: Option<Key>,
    headers: Vec<(String, String)>,
    instruction: Option<String>,
    temperature: Option<f64>,
    max_tokens: Option<u64>,
}

/// A model that speaks OpenAI's API, as the layers tell it.
pub(super) fn openai(
    layers: &[(Origin, Settings)],
    environment: &Environment,
) -> Result<OpenAi, Error> {
    let api: Api = pick(layers, "openai-api", |layer| layer.openai_api.as_deref())?;
    let thinking = find(layers, "thinking", |layer| layer.thinking.as_deref());
    let effort = match thinking {
        None => None,
        Some((_, "auto" | "none")) => None,
        Some((_, "off")) => Some("none".to_owned()),
        Some((_, effort @ ("minimal" | "low" | "medium" | "high"))) => Some(effort.to_owned()),
        Some((origin, other)) => {
            let problem = format!(
                "`{other}` is not a way to think for the agent openai; expected auto, none, off, \
                 minimal, low, medium or high"
            );
            return Err(Error::Setting { origin, problem });
        }
    };
    let common = OPENAI.common(layers, environment)?;
    let defaults = openai::Config::new(common.model);
    let config = openai::Config {
        base_url: common.base_url.unwrap_or(defaults.base_url),
        key: common.key,
        headers: common.headers,
        instruction: common.instruction,
        temperature: common.temperature,
        max_tokens: common.max_tokens,
        reasoning_effort: effort,
        api,
        ..defaults
    };
    OpenAi::new(config).map_err(|error| OPENAI.refused(layers, &error))
}

/// A model that speaks Anthropic's API, as the layers tell it.
pub(super) fn anthropic(
    layers: &[(Origin, Settings)],
    environment: &Environment,
) -> Result<Anthropic, Error> {
    let thinking = find(layers, "thinking", |layer| layer.thinking.as_deref());
    let thinking_budget = match thinking {
        None => None,
        Some((_, "auto" | "none" | "off")) => None,
        Some((origin, text)) => match text.parse::<u32>() {
            // Anthropic's own limit.
            Ok(tokens) if tokens >= 1024 => Some(tokens.into()),
            _ => {
                let problem = format!(
                    "`{text}` is not a way to think for the agent anthropic; expected auto, none, \
                     off or a number of tokens, 1024 or more"
                );
                return Err(Error::Setting { origin, problem });
            }
        },
    };
    let common = ANTHROPIC.common(layers, environment)?;
    let defaults = anthropic::Config::new(common.model);
    let config = anthropic::Config {
        base_url: common.base_url.unwrap_or(defaults.base_url),
        key: common.key,
        headers: common.headers,
        instruction: common.instruction,
        temperature: common.temperature,
        max_tokens: common.max_tokens,
        thinking_budget,
        ..defaults
    };
    Anthropic::new(config).map_err(|error| ANTHROPIC.refused(layers, &error))
}

impl Provider {
    fn common(
        &self,
        layers: &[(Origin, Settings)],
        environment: &Environment,
    ) -> Result<Common, Error> {
        let Some((_, model)) = find(layers, self.model.0, self.model.1) else {
            let name = self.model.0;
            let variable = environment::variable(&name.to_uppercase().replace('-', "_"));
            return Err(Error::Setting {
                origin: self.agent.to_owned(),
                problem: format!("it needs a model: --{name} NAME, or {variable}"),
            });
        };
        let base_url = find(layers, self.base_url.0, self.base_url.1);
        let key = self.key(layers, environment)?;
        if key.is_none() && base_url.is_none() {
            return Err(Error::Setting {
                origin: self.variable.to_owned(),
                problem: format!("not set, and {} needs a key", self.agent),
            });
        }
        let headers = match find(layers, self.headers.0, self.headers.1) {
            None => Vec::new(),
            Some((origin, lines)) => {
                let wrong = || Error::Setting {
                    origin,
                    problem: agents::Error::Header.to_string(),
                };
                adk::headers(lines).ok_or_else(wrong)?
            }
        };
        let temperature: Temperature =
            pick(layers, "temperature", |layer| layer.temperature.as_deref())?;
        let tokens: Tokens = pick(layers, "max-output-tokens", |layer| {
            layer.max_output_tokens.as_deref()
        })?;
        let instruction: Instruction = pick(layers, "system-instruction", |layer| {
            layer.system_instruction.as_deref()
        })?;
        Ok(Common {
            model: model.to_owned(),
            base_url: base_url.map(|(_, url)| url.to_owned()),
            key,
            headers,
            instruction: instruction.0,
            temperature: temperature.0,
            max_tokens: tokens.0,
        })
    }

    /// The key: ours first, and then where the provider's own SDKs look.
    fn key(
        &self,
        layers: &[(Origin, Settings)],
        environment: &Environment,
    ) -> Result<Option<Key>, Error> {
        let ours = layers.iter().find_map(|(origin, layer)| {
            let key = (self.key.1)(layer).0.clone()?;
            Some((origin.name(self.key.0), key))
        });
        let found = match ours {
            Some(found) => Some(found),
            None => {
                let key = environment.provider_key(self.variable)?;
                key.map(|key| (self.variable.to_owned(), key))
            }
        };
        let key = |(origin, key): (String, String)| {
            Key::new(key).map_err(|error| Error::Setting {
                origin,
                problem: error.to_string(),
            })
        };
        found.map(key).transpose()
    }

    /// Why an agent can't be made, under the name of the setting that is to blame.
    fn refused(&self, layers: &[(Origin, Settings)], error: &agents::Error) -> Error {
        let given = match error {
            agents::Error::BaseUrl(_) => find(layers, self.base_url.0, self.base_url.1),
            agents::Error::Model(_) => find(layers, self.model.0, self.model.1),
            agents::Error::Header => find(layers, self.headers.0, self.headers.1),
            _ => None,
        };
        let origin = given.map(|(origin, _)| origin);
        Error::Setting {
            origin: origin.unwrap_or_else(|| self.agent.to_owned()),
            problem: error.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Remote};
    use super::*;

    fn load(variables: &[(&str, &str)], file: &str) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("adk-stream.toml"), file).unwrap();
        let all = variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        let all: Environment = all.collect();
        let loaded = Config::load(Settings::default(), None, &all, folder.path());
        let path = format!("{}/", folder.path().display());
        loaded.map_err(|error| error.line().replace(&path, ""))
    }

    #[test]
    fn a_model_needs_its_name_and_a_key_unless_it_is_elsewhere() {
        for (agent, key, prefix) in [
            ("openai", "OPENAI_API_KEY", "ADK_STREAM_OPENAI"),
            ("anthropic", "ANTHROPIC_API_KEY", "ADK_STREAM_ANTHROPIC"),
        ] {
            let agent_variable = ("ADK_STREAM_AGENT", agent);
            let model = (&*format!("{prefix}_MODEL"), "m");
            let refused = load(&[agent_variable], "").unwrap_err();
            assert_eq!(
                refused,
                format!(
                    "adk-stream: the agent {agent}: it needs a model: --{agent}-model NAME, or {prefix}_MODEL"
                )
            );
            let refused = load(&[agent_variable, model], "").unwrap_err();
            assert_eq!(
                refused,
                format!("adk-stream: {key}: not set, and the agent {agent} needs a key")
            );
            let elsewhere = (&*format!("{prefix}_BASE_URL"), "http://127.0.0.1:1");
            let ours = (&*format!("{prefix}_KEY"), "s3cret");
            for one in [(key, "s3cret"), elsewhere, ours] {
                let config = load(&[agent_variable, model, one], "").unwrap();
                assert!(matches!(
                    config.remote,
                    Some(Remote::OpenAi(_) | Remote::Anthropic(_))
                ));
                assert!(!format!("{config:?}").contains("s3cret"));
            }
        }
    }

    #[test]
    fn bad_settings_are_refused_under_their_names_and_without_secrets() {
        for (agent, name, value, line) in [
            (
                "openai",
                "OPENAI_API_KEY",
                "s3cret s3cret",
                "OPENAI_API_KEY: not a key",
            ),
            (
                "openai",
                "ADK_STREAM_OPENAI_BASE_URL",
                "https://h?key=s3cret",
                "ADK_STREAM_OPENAI_BASE_URL: not a base URL",
            ),
            (
                "openai",
                "ADK_STREAM_OPENAI_API",
                "completions",
                "ADK_STREAM_OPENAI_API: `completions` is not an API",
            ),
            (
                "openai",
                "ADK_STREAM_OPENAI_HEADERS",
                "s3cret",
                "ADK_STREAM_OPENAI_HEADERS: not a header",
            ),
            (
                "openai",
                "ADK_STREAM_THINKING",
                "2048",
                "ADK_STREAM_THINKING: `2048` is not a way to think",
            ),
            (
                "anthropic",
                "ADK_STREAM_THINKING",
                "high",
                "ADK_STREAM_THINKING: `high` is not a way to think",
            ),
            (
                "anthropic",
                "ADK_STREAM_ANTHROPIC_HEADERS",
                "a b: s3cret",
                "ADK_STREAM_ANTHROPIC_HEADERS: not a header",
            ),
            (
                "anthropic",
                "ADK_STREAM_TEMPERATURE",
                "hot",
                "ADK_STREAM_TEMPERATURE: `hot` is not",
            ),
        ] {
            let variables = [
                ("ADK_STREAM_AGENT", agent),
                ("ADK_STREAM_OPENAI_MODEL", "m"),
                ("ADK_STREAM_ANTHROPIC_MODEL", "m"),
                ("ADK_STREAM_OPENAI_KEY", "s3cret"),
                ("ANTHROPIC_API_KEY", "s3cret"),
                (name, value),
            ];
            // Ours would count first.
            let variables = variables
                .iter()
                .filter(|(other, _)| name != "OPENAI_API_KEY" || *other != "ADK_STREAM_OPENAI_KEY");
            let variables: Vec<_> = variables.copied().collect();
            let refused = load(&variables, "").unwrap_err();
            assert!(
                refused.starts_with(&format!("adk-stream: {line}")),
                "{refused}"
            );
            assert!(!refused.contains("s3cret"), "{refused}");
        }
    }
}
