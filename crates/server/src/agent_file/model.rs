//! The model of an agent: by its kind and name, or one under `[models]`.

use std::ops::Range;

use agents::anthropic::{self, Anthropic};
use agents::gemini::Key;
use agents::gemini_live::{self, Modality};
use agents::openai::{self, OpenAi};
use agents::{Gemini, GeminiLive, gemini};

use super::Entry;
use super::agent::{Builder, Written};
use super::at::At;
use super::mcp_server::values;
use super::source::nearest;
use super::spec::{AgentSpec, ApiSpec, ModelKind, ModelSpec};
use crate::config::Remote;
use crate::environment::{ANTHROPIC_KEY, GOOGLE_KEYS, OPENAI_KEY};
use crate::gemini_settings::Thinking;
use crate::model_probe::{Probe, Shows};

/// A model as it is asked for: what is said of it, and where.
struct Wanted<'a> {
    kind: ModelKind,
    name: &'a str,
    spec: Option<&'a ModelSpec>,
    source: usize,
    span: Range<usize>,
}

/// The model of an agent, and how to try it.
pub(super) fn build<'a>(
    builder: &mut Builder<'a>,
    entry: &Entry<AgentSpec>,
    model: &'a At<String>,
    instruction: Option<&str>,
) -> Option<(Remote, Written<Probe>)> {
    let wanted = wanted(builder, entry, model)?;
    misplaced(builder, &wanted)?;
    let made = match wanted.kind {
        ModelKind::Gemini => {
            let (config, probe) = of_gemini(builder, &wanted, instruction)?;
            Gemini::new(config).map(|model| (Remote::Gemini(model), probe))
        }
        ModelKind::GeminiLive => {
            let (mut common, probe) = of_gemini(builder, &wanted, instruction)?;
            if wanted.spec.is_none_or(|spec| spec.thinking.is_none()) {
                // Not every live model accepts the setting.
                common.thinking = None;
            }
            let config = gemini_live::Config {
                modality: Modality::default(),
                behavior: None,
                voice: None,
                common,
            };
            GeminiLive::new(config).map(|model| (Remote::GeminiLive(model), probe))
        }
        ModelKind::OpenAi => {
            let (config, probe) = of_openai(builder, &wanted, instruction)?;
            OpenAi::new(config).map(|model| (Remote::OpenAi(model), probe))
        }
        ModelKind::Anthropic => {
            let (config, probe) = of_anthropic(builder, &wanted, instruction)?;
            Anthropic::new(config).map(|model| (Remote::Anthropic(model), probe))
        }
    };
    let (remote, probe) = builder.note_at(wanted.source, &wanted.span, made)?;
    let base_url = wanted.spec.and_then(|spec| spec.base_url.as_ref());
    let place = base_url.map_or(&wanted.span, |url| &url.span);
    Some((remote, builder.written(wanted.source, place, probe)))
}

/// Refuses what a table says that its kind has no use for.
fn misplaced(builder: &mut Builder<'_>, wanted: &Wanted<'_>) -> Option<()> {
    let spec = match wanted.spec {
        Some(spec) => spec,
        None => return Some(()),
    };
    let is_openai = wanted.kind == ModelKind::OpenAi;
    if let Some(api) = spec.api.as_ref().filter(|_| !is_openai) {
        builder.problem(
            wanted.source,
            &api.span,
            "api is for models of kind openai only",
        );
        return None;
    }
    let has_headers = is_openai || wanted.kind == ModelKind::Anthropic;
    if let Some(header) = spec.headers.values().next().filter(|_| !has_headers) {
        let message = "headers are for models of kind openai and anthropic only";
        builder.problem(wanted.source, &header.span, message);
        return None;
    }
    Some(())
}

/// The headers that a table names.
fn headers(builder: &mut Builder<'_>, wanted: &Wanted<'_>) -> Option<Vec<(String, String)>> {
    match wanted.spec {
        Some(spec) => {
            let values = values(builder, wanted.source, &spec.headers)?;
            Some(values.into_iter().collect())
        }
        None => Some(Vec::new()),
    }
}

/// Which model is asked for.
fn wanted<'a>(
    builder: &mut Builder<'a>,
    entry: &Entry<AgentSpec>,
    model: &'a At<String>,
) -> Option<Wanted<'a>> {
    let file = builder.file;
    if let Some(found) = file.models.get(model.as_str()) {
        return Some(Wanted {
            kind: found.spec.kind,
            name: &found.spec.model,
            spec: Some(&found.spec),
            source: found.source,
            span: found.spec.model.span.clone(),
        });
    }
    let message = match model.split_once(':') {
        Some((kind, name)) => match kind_of(kind) {
            Some(kind) => {
                return Some(Wanted {
                    kind,
                    name,
                    spec: None,
                    source: entry.source,
                    span: model.span.clone(),
                });
            }
            None => format!(
                "`{kind}` is no kind of model; expected gemini, gemini-live, openai or anthropic"
            ),
        },
        None => {
            let meant = nearest(model, file.models.keys().map(String::as_str));
            let meant = meant.map(|meant| format!("did you mean `{meant}`?"));
            let meant = meant.unwrap_or_else(|| {
                "expected KIND:NAME as in gemini:gemini-flash-latest, or one under [models]"
                    .to_owned()
            });
            format!("`{}` is no model; {meant}", model.value)
        }
    };
    builder.problem(entry.source, &model.span, message);
    None
}

fn kind_of(text: &str) -> Option<ModelKind> {
    match text {
        "gemini" => Some(ModelKind::Gemini),
        "gemini-live" => Some(ModelKind::GeminiLive),
        "openai" => Some(ModelKind::OpenAi),
        "anthropic" => Some(ModelKind::Anthropic),
        _ => None,
    }
}

/// The key of a model: where its table says, or in the variables of its provider. A provider's own
/// service needs one; a server of the operator's own may not.
fn key(
    builder: &mut Builder<'_>,
    wanted: &Wanted<'_>,
    variables: &[&str],
) -> Option<Option<String>> {
    if let Some(reference) = wanted.spec.and_then(|spec| spec.key.as_ref()) {
        return builder
            .secret(wanted.source, &reference.span, &reference.value)
            .map(Some);
    }
    let own_server = wanted.spec.is_some_and(|spec| spec.base_url.is_some());
    if own_server && wanted.kind != ModelKind::Gemini && wanted.kind != ModelKind::GeminiLive {
        // The provider's key is for the provider.
        return Some(None);
    }
    let found = variables
        .iter()
        .find_map(|name| builder.environment.any(name));
    if found.is_none() {
        let message = format!(
            "the variable {} is not set, and the model needs a key",
            variables[0]
        );
        builder.problem(wanted.source, &wanted.span, message);
        return None;
    }
    Some(found)
}

/// Where a model is: where its table says, or where a variable of ours says for all of its kind.
fn base_url(builder: &Builder<'_>, wanted: &Wanted<'_>, variable: &str, default: &str) -> String {
    let given = wanted.spec.and_then(|spec| spec.base_url.as_ref());
    let given = given.map(|url| url.value.clone());
    let given = given.or_else(|| builder.environment.any(variable));
    given.unwrap_or_else(|| default.to_owned())
}

fn temperature(wanted: &Wanted<'_>) -> Option<f64> {
    wanted.spec?.temperature.as_ref().map(|one| one.value)
}

fn max_tokens(wanted: &Wanted<'_>) -> Option<u64> {
    wanted
        .spec?
        .max_output_tokens
        .as_ref()
        .map(|one| one.value.into())
}

fn of_gemini(
    builder: &mut Builder<'_>,
    wanted: &Wanted<'_>,
    instruction: Option<&str>,
) -> Option<(gemini::Config, Probe)> {
    let secret = key(builder, wanted, &GOOGLE_KEYS)??;
    let key = builder.note_at(wanted.source, &wanted.span, Key::new(secret.clone()))?;
    let defaults = gemini::Config::new(key);
    let base = base_url(
        builder,
        wanted,
        "ADK_STREAM_GEMINI_BASE_URL",
        &defaults.base_url,
    );
    let thinking = match wanted.spec.and_then(|spec| spec.thinking.as_ref()) {
        Some(text) => builder.note_at(wanted.source, &text.span, text.parse::<Thinking>())?,
        None => Thinking::default(),
    };
    let probe = Probe {
        url: format!(
            "{}/v1beta/models/{}",
            base.trim_end_matches('/'),
            wanted.name
        ),
        headers: vec![("x-goog-api-key".to_owned(), secret)],
        shows: Shows::Model,
    };
    let config = gemini::Config {
        model: wanted.name.to_owned(),
        base_url: base,
        temperature: temperature(wanted),
        max_output_tokens: max_tokens(wanted),
        thinking: thinking.0,
        system_instruction: instruction.map(str::to_owned),
        ..defaults
    };
    Some((config, probe))
}

fn of_openai(
    builder: &mut Builder<'_>,
    wanted: &Wanted<'_>,
    instruction: Option<&str>,
) -> Option<(openai::Config, Probe)> {
    let secret = key(builder, wanted, &[OPENAI_KEY])?;
    let mut config = openai::Config::new(wanted.name);
    config.base_url = base_url(
        builder,
        wanted,
        "ADK_STREAM_OPENAI_BASE_URL",
        openai::DEFAULT_BASE_URL,
    );
    config.instruction = instruction.map(str::to_owned);
    config.temperature = temperature(wanted);
    config.max_tokens = max_tokens(wanted);
    if let Some(effort) = wanted.spec.and_then(|spec| spec.thinking.as_ref()) {
        let known = ["none", "minimal", "low", "medium", "high"];
        if !known.contains(&effort.as_str()) {
            let message = format!(
                "`{}` is no effort; expected {}",
                effort.value,
                known.join(", ")
            );
            builder.problem(wanted.source, &effort.span, message);
            return None;
        }
        config.reasoning_effort = Some(effort.value.clone());
    }
    if let Some(secret) = &secret {
        config.key = Some(builder.note_at(wanted.source, &wanted.span, Key::new(secret))?);
    }
    config.headers = headers(builder, wanted)?;
    config.api = match wanted.spec.and_then(|spec| spec.api.as_deref()) {
        None | Some(ApiSpec::Auto) => openai::Api::Auto,
        Some(ApiSpec::ChatCompletions) => openai::Api::ChatCompletions,
        Some(ApiSpec::Responses) => openai::Api::Responses,
    };
    let bearer = secret.map(|secret| ("authorization".to_owned(), format!("Bearer {secret}")));
    let probe = Probe {
        url: format!("{}/models", config.base_url.trim_end_matches('/')),
        headers: bearer
            .into_iter()
            .chain(config.headers.iter().cloned())
            .collect(),
        shows: Shows::Models,
    };
    Some((config, probe))
}

fn of_anthropic(
    builder: &mut Builder<'_>,
    wanted: &Wanted<'_>,
    instruction: Option<&str>,
) -> Option<(anthropic::Config, Probe)> {
    let secret = key(builder, wanted, &[ANTHROPIC_KEY])?;
    let mut config = anthropic::Config::new(wanted.name);
    config.base_url = base_url(
        builder,
        wanted,
        "ADK_STREAM_ANTHROPIC_BASE_URL",
        anthropic::DEFAULT_BASE_URL,
    );
    config.instruction = instruction.map(str::to_owned);
    config.temperature = temperature(wanted);
    config.max_tokens = max_tokens(wanted);
    if let Some(budget) = wanted.spec.and_then(|spec| spec.thinking.as_ref()) {
        let tokens = match budget.as_str() {
            "none" | "off" => Ok(None),
            text => text.parse().map(Some),
        };
        let tokens = tokens.map_err(|_| "expected none, or a number of tokens");
        config.thinking_budget = builder.note_at(wanted.source, &budget.span, tokens)?;
    }
    if let Some(secret) = &secret {
        config.key = Some(builder.note_at(wanted.source, &wanted.span, Key::new(secret))?);
    }
    config.headers = headers(builder, wanted)?;
    let key = secret.map(|secret| ("x-api-key".to_owned(), secret));
    let version = ("anthropic-version".to_owned(), "2023-06-01".to_owned());
    let own = config.headers.iter().cloned();
    let probe = Probe {
        url: format!("{}/v1/models", config.base_url.trim_end_matches('/')),
        headers: key.into_iter().chain([version]).chain(own).collect(),
        shows: Shows::Models,
    };
    Some((config, probe))
}
