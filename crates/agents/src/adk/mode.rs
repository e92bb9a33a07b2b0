//! How servers differ: by their version, and by what they are seen to do.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

/// What is known of a server. Nothing is assumed but what ADK for Python does today; what a server
/// does differently is detected when it does it, and logged once.
#[derive(Debug, Default)]
pub(super) struct Mode {
    /// The id of a new session is in the path; one in the body is ignored.
    names_by_path: Quirk,
    /// A new session is empty, whatever history it is to be made with.
    drops_history: Quirk,
    /// `customMetadata` is refused.
    refuses_metadata: Quirk,
    /// A question can't be closed by itself.
    refuses_closing: Quirk,
    /// A run that nobody reads any more is ended, and its session records that. Others continue, or are left
    /// with calls that have no result.
    ends_unread_runs: Quirk,
    /// Of agents that run side by side, a result goes to the one that waits for it. Others give it to
    /// all, and fail.
    sorts_results: Quirk,
}

/// One thing that a server does otherwise.
#[derive(Debug, Default)]
struct Quirk(AtomicBool);

impl Quirk {
    fn is_known(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn learn(&self, what: &'static str) {
        if !self.0.swap(true, Ordering::Relaxed) {
            tracing::info!(quirk = what, "ADK server quirk detected");
        }
    }
}

impl Mode {
    /// Takes the response of `GET /version`; none, if the server has no such route.
    pub(super) fn detect_version(&self, version: Option<&Value>) {
        let says = |key: &str| version.and_then(|version| version.get(key)?.as_str());
        let (number, language) = (says("version"), says("language"));
        tracing::info!(
            version = number.unwrap_or("unknown"),
            language = language.unwrap_or("unknown"),
            "ADK server version"
        );
        // Only ADK for Python reports its language.
        match (number, language) {
            (Some(number), Some("python")) => {
                let is_from = |least| is_at_least(number, least);
                self.ends_unread_runs
                    .0
                    .store(is_from(ENDS_UNREAD_RUNS), Ordering::Relaxed);
                let sorts = is_from(SORTS_RESULTS);
                self.sorts_results.0.store(sorts, Ordering::Relaxed);
            }
            (Some(_), None) => self.name_by_path(),
            _ => {}
        }
    }

    /// It ignores the id of a session in the body.
    pub(super) fn name_by_path(&self) {
        self.names_by_path
            .learn("the id of a session is in the path");
    }

    pub(super) fn drop_history(&self) {
        self.drops_history
            .learn("a session can't be made with a history");
    }

    pub(super) fn refuse_metadata(&self) {
        self.refuses_metadata.learn("customMetadata is refused");
    }

    pub(super) fn refuse_closing(&self) {
        self.refuses_closing
            .learn("a question can't be closed by itself");
    }

    pub(super) fn refuses_closing(&self) -> bool {
        self.refuses_closing.is_known()
    }

    pub(super) fn names_by_path(&self) -> bool {
        self.names_by_path.is_known()
    }

    pub(super) fn drops_history(&self) -> bool {
        self.drops_history.is_known()
    }

    pub(super) fn refuses_metadata(&self) -> bool {
        self.refuses_metadata.is_known()
    }

    pub(super) fn ends_unread_runs(&self) -> bool {
        self.ends_unread_runs.is_known()
    }

    pub(super) fn sorts_results(&self) -> bool {
        self.sorts_results.is_known()
    }
}

/// The first tested version that ends a run without a reader, and records it.
const ENDS_UNREAD_RUNS: [u64; 2] = [2, 13];

/// The first tested version that sends a result to the agent that waits for it.
const SORTS_RESULTS: [u64; 2] = [2, 8];

fn is_at_least(version: &str, least: [u64; 2]) -> bool {
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    [0; 2].map(|_: u64| numbers.next().unwrap_or(0)) >= least
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn server_that_does_not_say_its_language_is_not_python() {
        let detected = |version: Value| {
            let mode = Mode::default();
            mode.detect_version(Some(&version));
            (mode.names_by_path(), mode.ends_unread_runs())
        };
        let python = |version: &str| json!({"version": version, "language": "python"});
        assert_eq!(detected(json!({"version": "2.14.0"})), (true, false));
        assert_eq!(detected(python("2.13.0")), (false, true));
        assert_eq!(detected(python("3.0.0")), (false, true));
        assert_eq!(detected(python("2.8.0")), (false, false));
    }

    #[test]
    fn server_without_a_version_may_be_an_old_python() {
        let mode = Mode::default();
        mode.detect_version(None);
        assert!(!mode.names_by_path() && !mode.ends_unread_runs());
    }
}
