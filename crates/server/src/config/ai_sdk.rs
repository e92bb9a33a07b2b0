//! A route of the AI SDK's, as the settings say.

use agents::{AiSdk, ai_sdk};

use super::keys::Switch;
use super::{Origin, Settings, adk, find, pick};
use crate::error::Error;

/// The agent, as the layers say.
pub(super) fn of(layers: &[(Origin, Settings)]) -> Result<AiSdk, Error> {
    let url = find(layers, "ai-sdk-url", |layer| layer.ai_sdk_url.as_deref());
    let Some((url_origin, url)) = url else {
        return Err(Error::Setting {
            origin: "the agent ai-sdk".to_owned(),
            problem: "it needs an address: --ai-sdk-url URL, or ADK_STREAM_AI_SDK_URL".to_owned(),
        });
    };
    let headers = find(layers, "ai-sdk-headers", |layer| {
        layer.ai_sdk_headers.0.as_deref()
    });
    let wrong = |origin: &str, error: &agents::Error| Error::Setting {
        origin: origin.to_owned(),
        problem: error.to_string(),
    };
    let mut config = ai_sdk::Config::new(url);
    if let Some((origin, lines)) = &headers {
        let headers = adk::headers(lines);
        config.headers = headers.ok_or_else(|| wrong(origin, &agents::Error::Header))?;
    }
    let client_tools = find(layers, "ai-sdk-client-tools", |layer| {
        layer.ai_sdk_client_tools.as_deref()
    });
    config.client_tools = client_tools.map(|(_, names)| {
        let names = names.split(',').map(str::trim);
        let names = names.filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    });
    let Switch(reruns) = pick(layers, "ai-sdk-rerun", |layer| {
        layer.ai_sdk_rerun.as_deref()
    })?;
    config.reruns = reruns;
    AiSdk::new(config).map_err(|error| {
        let origin = match (&error, &headers) {
            (agents::Error::Header, Some((origin, _))) => origin,
            _ => &url_origin,
        };
        wrong(origin, &error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(settings: Settings) -> [(Origin, Settings); 1] {
        [(Origin::Flags, settings)]
    }

    fn refusal(settings: Settings) -> String {
        of(&layers(settings)).unwrap_err().line()
    }

    #[test]
    fn agent_needs_an_address() {
        let refused = refusal(Settings::default());
        assert!(refused.contains("--ai-sdk-url URL"), "{refused}");
        let refused = refusal(Settings {
            ai_sdk_url: Some("app.example".to_owned()),
            ..Settings::default()
        });
        assert!(
            refused.contains("--ai-sdk-url: not a base URL"),
            "{refused}"
        );
    }

    #[test]
    fn headers_that_can_not_be_sent_are_refused_without_their_values() {
        let refused = refusal(Settings {
            ai_sdk_url: Some("http://127.0.0.1:1/api/chat".to_owned()),
            ai_sdk_headers: super::super::settings::Secret(Some("s3cret".to_owned())),
            ..Settings::default()
        });
        assert!(
            refused.contains("ai-sdk-headers: not a header"),
            "{refused}"
        );
        assert!(!refused.contains("s3cret"), "{refused}");
    }
}
