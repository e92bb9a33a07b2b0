//! Agents of somebody else's that answer a POST with a stream, as the settings say: a route of the AI SDK's,
//! and an agent that speaks AG-UI.

use agents::ai_sdk::Config;
use agents::{AgUi, AiSdk};

use super::keys::Switch;
use super::{Origin, Settings, adk, find, pick};
use crate::duration::TimeLimit;
use crate::error::Error;

/// A setting of a layer.
type Setting = fn(&Settings) -> Option<&str>;

/// The settings of one kind of agent.
struct Kind {
    /// What it is called, and its settings begin with.
    name: &'static str,
    url: Setting,
    headers: Setting,
    client_tools: Setting,
    rerun: Setting,
    forward: Setting,
}

const AI_SDK: Kind = Kind {
    name: "ai-sdk",
    url: |layer| layer.ai_sdk_url.as_deref(),
    headers: |layer| layer.ai_sdk_headers.0.as_deref(),
    client_tools: |layer| layer.ai_sdk_client_tools.as_deref(),
    rerun: |layer| layer.ai_sdk_rerun.as_deref(),
    forward: |layer| layer.ai_sdk_forward.as_deref(),
};

const AG_UI: Kind = Kind {
    name: "ag-ui",
    url: |layer| layer.ag_ui_url.as_deref(),
    headers: |layer| layer.ag_ui_headers.0.as_deref(),
    client_tools: |layer| layer.ag_ui_client_tools.as_deref(),
    rerun: |layer| layer.ag_ui_rerun.as_deref(),
    forward: |layer| layer.ag_ui_forward.as_deref(),
};

/// A route of the AI SDK's, as the layers say.
pub(super) fn ai_sdk(layers: &[(Origin, Settings)]) -> Result<AiSdk, Error> {
    AI_SDK.agent(layers, AiSdk::new)
}

/// An agent that speaks AG-UI, as the layers say.
pub(super) fn ag_ui(layers: &[(Origin, Settings)]) -> Result<AgUi, Error> {
    AG_UI.agent(layers, AgUi::new)
}

/// How long tools may take that such an agent runs by itself.
pub(super) fn tool_timeout(layers: &[(Origin, Settings)]) -> Result<TimeLimit, Error> {
    pick(layers, "agent-tool-timeout", |layer| {
        layer.agent_tool_timeout.as_deref()
    })
}

impl Kind {
    fn agent<A>(
        &self,
        layers: &[(Origin, Settings)],
        new: fn(Config) -> Result<A, agents::Error>,
    ) -> Result<A, Error> {
        let name = self.name;
        let key = |setting: &str| format!("{name}-{setting}");
        let Some((url_origin, url)) = find(layers, &key("url"), self.url) else {
            let variable = name.to_uppercase().replace('-', "_");
            return Err(Error::Setting {
                origin: format!("the agent {name}"),
                problem: format!(
                    "it needs an address: --{name}-url URL, or ADK_STREAM_{variable}_URL"
                ),
            });
        };
        let wrong = |origin: &str, error: &agents::Error| Error::Setting {
            origin: origin.to_owned(),
            problem: error.to_string(),
        };
        let mut config = Config::new(url);
        let headers = find(layers, &key("headers"), self.headers);
        if let Some((origin, lines)) = &headers {
            let headers = adk::headers(lines);
            config.headers = headers.ok_or_else(|| wrong(origin, &agents::Error::Header))?;
        }
        let client_tools = find(layers, &key("client-tools"), self.client_tools);
        config.client_tools = client_tools.map(|(_, text)| names(text));
        let forward = find(layers, &key("forward"), self.forward);
        config.forward = forward
            .as_ref()
            .map_or_else(Vec::new, |(_, text)| names(text));
        let Switch(reruns) = pick(layers, &key("rerun"), self.rerun)?;
        config.reruns = reruns;
        config.tool_timeout = tool_timeout(layers)?.or(config.tool_timeout);
        new(config).map_err(|error| {
            let origin = match (&error, &headers) {
                (agents::Error::Header, Some((origin, _))) => origin,
                (agents::Error::BodyField(_), _) => {
                    forward.as_ref().map_or(&url_origin, |(origin, _)| origin)
                }
                _ => &url_origin,
            };
            wrong(origin, &error)
        })
    }
}

/// Names with commas between.
fn names(text: &str) -> Vec<String> {
    let names = text.split(',').map(str::trim);
    let names = names.filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::super::settings::Secret;
    use super::*;

    /// What each kind says of settings with this address and these headers.
    fn refusals(url: Option<&str>, headers: Option<&str>) -> [(&'static str, String); 2] {
        let (url, headers) = (url.map(str::to_owned), headers.map(str::to_owned));
        let settings = Settings {
            ai_sdk_url: url.clone(),
            ai_sdk_headers: Secret(headers.clone()),
            ag_ui_url: url,
            ag_ui_headers: Secret(headers),
            ..Settings::default()
        };
        let layers = [(Origin::Flags, settings)];
        [
            ("ai-sdk", ai_sdk(&layers).unwrap_err().line()),
            ("ag-ui", ag_ui(&layers).unwrap_err().line()),
        ]
    }

    #[test]
    fn agent_needs_an_address() {
        for (kind, refused) in refusals(None, None) {
            assert!(refused.contains(&format!("--{kind}-url URL")), "{refused}");
        }
        for (kind, refused) in refusals(Some("app.example"), None) {
            let expected = format!("--{kind}-url: not a base URL");
            assert!(refused.contains(&expected), "{refused}");
        }
    }

    #[test]
    fn field_with_a_meaning_of_its_own_is_not_forwarded() {
        let settings = Settings {
            ag_ui_url: Some("http://127.0.0.1:1/agent".to_owned()),
            ag_ui_forward: Some("model, messages".to_owned()),
            ..Settings::default()
        };
        let refused = ag_ui(&[(Origin::Flags, settings)]).unwrap_err().line();
        let expected = "--ag-ui-forward: `messages` is not a field";
        assert!(refused.contains(expected), "{refused}");
    }

    #[test]
    fn tools_have_as_long_as_the_settings_say() {
        let agents = |limit: Option<&str>| {
            let url = Some("http://127.0.0.1:1/agent".to_owned());
            let settings = Settings {
                ai_sdk_url: url.clone(),
                ag_ui_url: url,
                agent_tool_timeout: limit.map(str::to_owned),
                ..Settings::default()
            };
            let layers = [(Origin::Flags, settings)];
            let (route, agent) = (ai_sdk(&layers)?, ag_ui(&layers)?);
            Ok::<_, Error>([format!("{route:?}"), format!("{agent:?}")])
        };
        for (limit, expected) in [
            (None, "tool_timeout: Some(3600s)"),
            (Some("0.5"), "tool_timeout: Some(500ms)"),
            (Some("never"), "tool_timeout: None"),
        ] {
            for agent in agents(limit).unwrap() {
                assert!(agent.contains(expected), "{agent}");
            }
        }
        let refused = agents(Some("0")).unwrap_err().line();
        assert!(refused.contains("--agent-tool-timeout: `0`"), "{refused}");
    }

    #[test]
    fn headers_that_can_not_be_sent_are_refused_without_their_values() {
        for (kind, refused) in refusals(Some("http://127.0.0.1:1/agent"), Some("s3cret")) {
            let expected = format!("{kind}-headers: not a header");
            assert!(refused.contains(&expected), "{refused}");
            assert!(!refused.contains("s3cret"), "{refused}");
        }
    }
}
