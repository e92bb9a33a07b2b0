//! What goes to stderr while the server runs: which lines, and in which format.

use std::str::FromStr;

use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// A library that logs whole messages, contents included, from `info` on.
const VERBOSE: &str = "rmcp";

/// Which lines are logged: a level, or levels by module, as in `info,adk_stream_engine=debug`.
#[derive(Debug, Clone)]
pub(crate) struct LogFilter(Targets);

impl Default for LogFilter {
    fn default() -> Self {
        Self::of(Targets::new().with_default(LevelFilter::INFO))
    }
}

impl LogFilter {
    /// A level for all is no reason to log what people wrote: a library that does is named by its name.
    fn of(targets: Targets) -> Self {
        let is_named = targets
            .iter()
            .any(|(target, _)| target.split("::").next() == Some(VERBOSE));
        Self(match is_named {
            true => targets,
            false => targets.with_target(VERBOSE, LevelFilter::ERROR),
        })
    }
}

impl FromStr for LogFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let targets = text.parse().map_err(|_| {
            format!("`{text}` is not a filter; expected a level such as info, or module=level")
        });
        targets.map(Self::of)
    }
}

/// How a line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: an object on each line.
    Json,
}

impl FromStr for LogFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(format!("`{text}` is neither text nor json")),
        }
    }
}

/// Sends what passes the filter to stderr, from here on.
pub(crate) fn to_stderr(LogFilter(filter): &LogFilter, format: LogFormat) {
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        // Otherwise a closed stderr is reported to stderr, which panics.
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
    let lines = match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_span_list(false)
            .boxed(),
    };
    // A second start in the same process (a test) keeps the first one's log.
    let _ = tracing_subscriber::registry()
        .with(filter.clone())
        .with(lines)
        .try_init();
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    fn filter(text: &str) -> Targets {
        text.parse::<LogFilter>().unwrap().0
    }

    #[test]
    fn it_is_quiet_by_default() {
        let LogFilter(quiet) = LogFilter::default();
        assert!(quiet.would_enable("adk_stream", &Level::INFO));
        assert!(!quiet.would_enable("adk_stream", &Level::DEBUG));
        assert!(!quiet.would_enable("rmcp::service", &Level::INFO));
        let filter = filter("warn,adk_stream=debug");
        assert!(filter.would_enable("adk_stream::serve", &Level::DEBUG));
        assert!(!filter.would_enable("hyper", &Level::INFO));
    }

    #[test]
    fn contents_are_logged_only_where_their_library_is_named() {
        assert!(!filter("trace").would_enable("rmcp::service", &Level::INFO));
        assert!(filter("info,rmcp=debug").would_enable("rmcp::service", &Level::DEBUG));
        let part = filter("info,rmcp::service=debug");
        assert!(part.would_enable("rmcp::service", &Level::DEBUG));
    }

    #[test]
    fn a_level_that_is_none_is_refused() {
        let problem = "adk_stream=loud".parse::<LogFilter>().unwrap_err();
        assert!(problem.starts_with("`adk_stream=loud` is not"), "{problem}");
        let problem = "xml".parse::<LogFormat>().unwrap_err();
        assert_eq!(problem, "`xml` is neither text nor json");
    }
}
