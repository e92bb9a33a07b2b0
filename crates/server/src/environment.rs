//! The `ADK_STREAM_` variables.

use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::error::Error;

const PREFIX: &str = "ADK_STREAM_";
const KNOWN: [&str; 11] = [
    "AGENT",
    "APPROVAL_TIMEOUT",
    "CONFIG",
    "KEYS",
    "LISTEN",
    "LOG",
    "ON_ABORT",
    "ORIGINS",
    "PACE",
    "PAGE",
    "STORE",
];

/// The `ADK_STREAM_` variables, taken once at the start and by their names without the prefix.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, OsString>);

impl Environment {
    /// The variables of this process.
    pub fn of_process() -> Self {
        std::env::vars_os().collect()
    }

    /// A variable by its name without the prefix. An empty one counts as unset: that is how
    /// compose files and shells pass on what they do not have.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Error> {
        match self.0.get(name).filter(|value| !value.is_empty()) {
            None => Ok(None),
            Some(value) => value
                .to_str()
                .map(|text| Some(text.to_owned()))
                .ok_or_else(|| Error::Setting {
                    origin: variable(name),
                    problem: "the value is not valid UTF-8".to_owned(),
                }),
        }
    }

    /// Variables that look like ours and are not: misspelled, most likely.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = String> {
        self.0
            .keys()
            .filter(|name| !KNOWN.contains(&name.as_str()))
            .map(|name| variable(name))
    }
}

/// The whole name of a variable.
pub(crate) fn variable(name: &str) -> String {
    format!("{PREFIX}{name}")
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> Self {
        let ours = variables.into_iter().filter_map(|(name, value)| {
            Some((name.to_str()?.strip_prefix(PREFIX)?.to_owned(), value))
        });
        Self(ours.collect())
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
