//! The `ADK_STREAM_` variables, and those of others that we know.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;

use crate::error::Error;

const PREFIX: &str = "ADK_STREAM_";
const KNOWN: &[&str] = &[
    "ADK_APP",
    "ADK_HEADERS",
    "ADK_URL",
    "ADVERTISE",
    "AGENT",
    "AGENT_KEY",
    "AGENT_TOOL_TIMEOUT",
    "AG_UI_CLIENT_TOOLS",
    "AG_UI_FORWARD",
    "AG_UI_HEADERS",
    "AG_UI_RERUN",
    "AG_UI_URL",
    "AI_SDK_CLIENT_TOOLS",
    "AI_SDK_FORWARD",
    "AI_SDK_HEADERS",
    "AI_SDK_RERUN",
    "AI_SDK_URL",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_HEADERS",
    "ANTHROPIC_KEY",
    "ANTHROPIC_MODEL",
    "APPROVAL_TIMEOUT",
    "CLIENT_TIMEOUT",
    "BODY_TIMEOUT",
    "CLUSTER_KEY",
    "CONFIG",
    "CONTENT_SECURITY_POLICY",
    "DEMO_TOOLS",
    "DRAIN",
    "FRAME_ANCESTORS",
    "GEMINI_BASE_URL",
    "GEMINI_KEY",
    "GEMINI_MODEL",
    "HEADER_TIMEOUT",
    "INSECURE",
    "KEEP_ALIVE",
    "KEYS",
    "KEYS_FILE",
    "LEASE",
    "LINGER",
    "LISTEN",
    "LIVE_MODALITY",
    "LIVE_TOOLS",
    "LIVE_VOICE",
    "LOG",
    "LOG_FORMAT",
    "MAX_BODY_BYTES_PER_SECOND",
    "MAX_CONNECTIONS",
    "MAX_CONNECTIONS_PER_ADDRESS",
    "MAX_EVENT_STREAMS",
    "MAX_OPEN_APPROVALS",
    "MAX_OPEN_CHATS",
    "MAX_OUTPUT_TOKENS",
    "MAX_REQUESTS_IN_FLIGHT",
    "MAX_REQUESTS_PER_SECOND",
    "METRICS_KEY",
    "METRICS_LISTEN",
    "ON_ABORT",
    "OPENAI_API",
    "OPENAI_BASE_URL",
    "OPENAI_HEADERS",
    "OPENAI_KEY",
    "OPENAI_MODEL",
    "ORIGINS",
    "OTLP_CONTENTS",
    "OTLP_ENDPOINT",
    "OTLP_HEADERS",
    "OTLP_SAMPLING",
    "OTLP_SERVICE_NAME",
    "PACE",
    "PAGE",
    "RESTING_MEMORY",
    "SAFETY",
    "STORE",
    "SYSTEM_INSTRUCTION",
    "TEMPERATURE",
    "THINKING",
    "TLS_CERT",
    "TLS_KEY",
    "TOKEN_PRICES",
    "WRITE_TIMEOUT",
];

/// The variables in which Google's own SDKs expect a key, in the order in which we read them.
pub(crate) const GOOGLE_KEYS: [&str; 2] = ["GEMINI_API_KEY", "GOOGLE_API_KEY"];

/// Where OpenAI's own SDKs look for a key.
pub(crate) const OPENAI_KEY: &str = "OPENAI_API_KEY";

/// Where Anthropic's own SDKs look for a key.
pub(crate) const ANTHROPIC_KEY: &str = "ANTHROPIC_API_KEY";

/// The variables, taken once at the start: ours by their names without the prefix.
#[derive(Clone, Default)]
pub struct Environment {
    ours: BTreeMap<String, OsString>,
    provider_keys: BTreeMap<String, OsString>,
    /// All others, for the secrets that a file names.
    others: BTreeMap<String, OsString>,
}

impl Environment {
    /// The variables of this process.
    pub fn of_process() -> Self {
        std::env::vars_os().collect()
    }

    /// A variable by its name without the prefix. An empty one counts as unset: that is how
    /// compose files and shells pass on what they do not have.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Error> {
        text(self.ours.get(name), || variable(name))
    }

    /// A key from the variables of Google's own SDKs, and the name of the variable.
    pub(crate) fn google_key(&self) -> Result<Option<(&'static str, String)>, Error> {
        for name in GOOGLE_KEYS {
            if let Some(key) = text(self.provider_keys.get(name), || name.to_owned())? {
                return Ok(Some((name, key)));
            }
        }
        Ok(None)
    }

    /// A key where a provider's own SDKs look for one.
    pub(crate) fn provider_key(&self, name: &str) -> Result<Option<String>, Error> {
        text(self.provider_keys.get(name), || name.to_owned())
    }

    /// Any variable by its whole name, as a file names it. An empty one counts as unset.
    pub(crate) fn any(&self, name: &str) -> Option<String> {
        let ours = name
            .strip_prefix(PREFIX)
            .and_then(|name| self.ours.get(name));
        let found = ours.or_else(|| self.provider_keys.get(name));
        let found = found.or_else(|| self.others.get(name));
        found
            .and_then(|value| value.to_str())
            .filter(|value| !value.is_empty())
            .map(str::to_owned)
    }

    /// Unknown variables with our prefix: misspelled, most likely.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = String> {
        self.ours
            .keys()
            .filter(|name| !KNOWN.contains(&name.as_str()))
            .map(|name| variable(name))
    }
}

fn text(value: Option<&OsString>, name: impl FnOnce() -> String) -> Result<Option<String>, Error> {
    match value.filter(|value| !value.is_empty()) {
        None => Ok(None),
        Some(value) => value
            .to_str()
            .map(|text| Some(text.to_owned()))
            .ok_or_else(|| Error::Setting {
                origin: name(),
                problem: "the value is not valid UTF-8".to_owned(),
            }),
    }
}

/// The names alone: some of the values are keys.
impl fmt::Debug for Environment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.ours.keys().chain(self.provider_keys.keys());
        out.debug_set().entries(names).finish()
    }
}

/// The variables that are known, without the prefix.
#[cfg(test)]
pub(crate) fn known() -> &'static [&'static str] {
    KNOWN
}

/// The whole name of a variable.
pub(crate) fn variable(name: &str) -> String {
    format!("{PREFIX}{name}")
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> Self {
        let mut environment = Self::default();
        for (name, value) in variables {
            let Some(name) = name.to_str() else {
                continue;
            };
            if let Some(ours) = name.strip_prefix(PREFIX) {
                environment.ours.insert(ours.to_owned(), value);
            } else if GOOGLE_KEYS.contains(&name) || [OPENAI_KEY, ANTHROPIC_KEY].contains(&name) {
                environment.provider_keys.insert(name.to_owned(), value);
            } else {
                environment.others.insert(name.to_owned(), value);
            }
        }
        environment
    }
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

    #[test]
    fn every_variable_that_is_read_is_known() {
        let settings = include_str!("config/settings.rs");
        let read = settings.split("environment.text(\"").skip(1);
        let read: Vec<_> = read.filter_map(|rest| rest.split('"').next()).collect();
        assert!(read.len() > 50, "{read:?}");
        for name in read {
            assert!(KNOWN.contains(&name), "{name}");
        }
    }

    #[test]
    fn an_empty_variable_counts_as_unset() {
        let environment = environment(&[("ADK_STREAM_STORE", ""), ("ADK_STREAM_AGENT", "demo")]);
        assert_eq!(environment.text("STORE").unwrap(), None);
        assert_eq!(environment.text("AGENT").unwrap(), Some("demo".into()));
    }

    #[test]
    fn only_unknown_names_under_our_prefix_are_suspect() {
        let environment = environment(&[
            ("PATH", "/bin"),
            ("ADK_STREAM_LISTNE", "x"),
            ("ADK_STREAM_LOG", "x"),
        ]);
        assert_eq!(
            environment.unknown().collect::<Vec<_>>(),
            ["ADK_STREAM_LISTNE"]
        );
    }

    #[test]
    fn a_key_for_googles_sdks_is_found_and_never_printed() {
        let both = [
            ("GOOGLE_API_KEY", "s3cret-1"),
            ("GEMINI_API_KEY", "s3cret-2"),
        ];
        let found = |variables: &[(&str, &str)]| environment(variables).google_key().unwrap();
        assert_eq!(found(&both), Some(("GEMINI_API_KEY", "s3cret-2".into())));
        let one = found(&[both[0], ("GEMINI_API_KEY", "")]);
        assert_eq!(one, Some(("GOOGLE_API_KEY", "s3cret-1".into())));
        assert_eq!(found(&[("ADK_STREAM_GEMINI_KEY", "x")]), None);
        let others = environment(&[("OPENAI_API_KEY", "s3cret-4"), ("ANTHROPIC_API_KEY", "")]);
        let key = others.provider_key(OPENAI_KEY).unwrap();
        assert_eq!(key.as_deref(), Some("s3cret-4"));
        assert_eq!(others.provider_key(ANTHROPIC_KEY).unwrap(), None);
        assert!(!format!("{others:?}").contains("s3cret"));
        let ours = ("ADK_STREAM_GEMINI_KEY", "s3cret-3");
        let printed = format!("{:?}", environment(&[both[0], both[1], ours]));
        assert!(
            printed.contains("GEMINI_KEY") && !printed.contains("s3cret"),
            "{printed}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_value_that_is_no_text_is_refused_by_name() {
        use std::os::unix::ffi::OsStringExt;
        let value = OsString::from_vec(vec![0xff]);
        let environment: Environment = [("ADK_STREAM_STORE".into(), value)].into_iter().collect();
        let line = environment.text("STORE").unwrap_err().line();
        assert_eq!(
            line,
            "adk-stream: ADK_STREAM_STORE: the value is not valid UTF-8"
        );
    }
}
