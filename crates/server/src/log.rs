//! What goes to stderr while the server runs.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::environment;
use crate::error::Error;

/// Reads `ADK_STREAM_LOG`: a level, or levels by module, as in `info,adk_stream=debug`.
pub(crate) fn filter(text: Option<&str>) -> Result<Targets, Error> {
    match text {
        None => Ok(Targets::new().with_default(LevelFilter::INFO)),
        Some(text) => text.parse().map_err(|_| Error::Setting {
            origin: environment::variable("LOG"),
            problem: format!(
                "`{text}` is not a filter; expected a level such as info, or module=level"
            ),
        }),
    }
}

/// Sends what passes the filter to stderr, from here on.
pub(crate) fn to_stderr(filter: &Targets) {
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        // Otherwise a closed stderr is reported to stderr, which panics.
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
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

    #[test]
    fn it_is_quiet_until_told() {
        let quiet = filter(None).unwrap();
        assert!(quiet.would_enable("adk_stream", &Level::INFO));
        assert!(!quiet.would_enable("adk_stream", &Level::DEBUG));
        let told = filter(Some("warn,adk_stream=debug")).unwrap();
        assert!(told.would_enable("adk_stream::serve", &Level::DEBUG));
        assert!(!told.would_enable("hyper", &Level::INFO));
    }

    #[test]
    fn a_level_that_is_none_is_refused() {
        let line = filter(Some("adk_stream=loud")).unwrap_err().line();
        assert!(
            line.starts_with("adk-stream: ADK_STREAM_LOG: `adk_stream=loud` is not"),
            "{line}"
        );
    }
}
