//! The configuration of an ADK server.

use agents::adk;
use agents::gemini_live::Modality;
use agents::{Adk, AdkLive};

use super::{Origin, Settings, find, pick};
use crate::error::Error;
use crate::shared_key::SharedKey;

/// Where `adk api_server` listens by itself.
pub(super) const DEFAULT_URL: &str = "http://127.0.0.1:8000";

/// The ADK server, as the layers tell it.
pub(super) fn of(layers: &[(Origin, Settings)]) -> Result<Adk, Error> {
    configured(layers, Adk::new)
}

/// The same, live.
pub(super) fn live(layers: &[(Origin, Settings)]) -> Result<AdkLive, Error> {
    let modality: Modality = pick(layers, "live-modality", |layer| {
        layer.live_modality.as_deref()
    })?;
    configured(layers, |config| AdkLive::new(config, modality))
}

fn configured<A>(
    layers: &[(Origin, Settings)],
    make: impl FnOnce(adk::Config) -> Result<A, agents::Error>,
) -> Result<A, Error> {
    let url = find(layers, "adk-url", |layer| layer.adk_url.as_deref());
    let app = find(layers, "adk-app", |layer| layer.adk_app.as_deref());
    let Some((app_origin, app)) = app else {
        return Err(Error::Setting {
            origin: "the agent adk".to_owned(),
            problem: "it needs the name of an app: --adk-app NAME, or ADK_STREAM_ADK_APP"
                .to_owned(),
        });
    };
    let headers = find(layers, "adk-headers", |layer| {
        layer.adk_headers.0.as_deref()
    });
    let mut config = adk::Config::new(url.as_ref().map_or(DEFAULT_URL, |(_, url)| url), app);
    if let Some((origin, lines)) = &headers {
        config.headers =
            self::headers(lines).ok_or_else(|| wrong(origin, &agents::Error::Header))?;
    }
    make(config).map_err(|error| {
        let origin = match &error {
            agents::Error::App(_) => Some(&app_origin),
            agents::Error::Header => headers.as_ref().map(|(origin, _)| origin),
            _ => url.as_ref().map(|(origin, _)| origin),
        };
        wrong(origin.map_or("the agent adk", String::as_str), &error)
    })
}

/// What tools at the agent are known by, if they may ask.
pub(super) fn agent_key(layers: &[(Origin, Settings)]) -> Result<Option<SharedKey>, Error> {
    let key = find(layers, "agent-key", |layer| layer.agent_key.0.as_deref());
    key.map(|(origin, key)| {
        SharedKey::new(key).map_err(|problem| Error::Setting { origin, problem })
    })
    .transpose()
}

fn wrong(origin: &str, error: &agents::Error) -> Error {
    Error::Setting {
        origin: origin.to_owned(),
        problem: error.to_string(),
    }
}

/// Headers, one a line.
pub(super) fn headers(lines: &str) -> Option<Vec<(String, String)>> {
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.trim().to_owned(), value.trim().to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_stand_one_a_line() {
        let headers = headers("Authorization: Bearer a:b\n\n X-Team : blue ").unwrap();
        let headers: Vec<_> = headers
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        assert_eq!(
            headers,
            [("Authorization", "Bearer a:b"), ("X-Team", "blue")]
        );
        assert!(self::headers("no header").is_none());
    }
}
