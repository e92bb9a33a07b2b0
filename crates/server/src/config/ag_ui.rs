//! An agent that speaks AG-UI, as the settings say.

use agents::{AgUi, ag_ui};

use super::keys::Switch;
use super::{Origin, Settings, adk, find, pick};
use crate::error::Error;

/// The agent, as the layers say.
pub(super) fn of(layers: &[(Origin, Settings)]) -> Result<AgUi, Error> {
    let url = find(layers, "ag-ui-url", |layer| layer.ag_ui_url.as_deref());
    let Some((url_origin, url)) = url else {
        return Err(Error::Setting {
            origin: "the agent ag-ui".to_owned(),
            problem: "it needs an address: --ag-ui-url URL, or ADK_STREAM_AG_UI_URL".to_owned(),
        });
    };
    let headers = find(layers, "ag-ui-headers", |layer| {
        layer.ag_ui_headers.0.as_deref()
    });
    let wrong = |origin: &str, error: &agents::Error| Error::Setting {
        origin: origin.to_owned(),
        problem: error.to_string(),
    };
    let mut config = ag_ui::Config::new(url);
    if let Some((origin, lines)) = &headers {
        let headers = adk::headers(lines);
        config.headers = headers.ok_or_else(|| wrong(origin, &agents::Error::Header))?;
    }
    let client_tools = find(layers, "ag-ui-client-tools", |layer| {
        layer.ag_ui_client_tools.as_deref()
    });
    config.client_tools = client_tools.map(|(_, names)| {
        let names = names.split(',').map(str::trim);
        let names = names.filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    });
    let Switch(reruns) = pick(layers, "ag-ui-rerun", |layer| layer.ag_ui_rerun.as_deref())?;
    config.reruns = reruns;
    AgUi::new(config).map_err(|error| {
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
        assert!(refused.contains("--ag-ui-url URL"), "{refused}");
        let refused = refusal(Settings {
            ag_ui_url: Some("app.example".to_owned()),
            ..Settings::default()
        });
        assert!(refused.contains("--ag-ui-url: not a base URL"), "{refused}");
    }

    #[test]
    fn headers_that_can_not_be_sent_are_refused_without_their_values() {
        let refused = refusal(Settings {
            ag_ui_url: Some("http://127.0.0.1:1/agent".to_owned()),
            ag_ui_headers: super::super::settings::Secret(Some("s3cret".to_owned())),
            ..Settings::default()
        });
        assert!(refused.contains("ag-ui-headers: not a header"), "{refused}");
        assert!(!refused.contains("s3cret"), "{refused}");
    }
}
