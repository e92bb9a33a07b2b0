//! Why the binary could not start, as its operator reads it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use adk_stream_emulator as emulator;

/// Why the binary could not start.
#[derive(Debug)]
pub(crate) enum Error {
    /// The command line is not valid: clap's message.
    Usage(String),
    /// A setting has a value that it can't have.
    Setting {
        /// The flag or the variable.
        origin: String,
        problem: String,
    },
    FileUnreadable {
        path: PathBuf,
        source: io::Error,
    },
    FileUnwritable {
        path: PathBuf,
        source: io::Error,
    },
    Script {
        path: PathBuf,
        source: emulator::Error,
    },
    Listen {
        listen: String,
        source: io::Error,
    },
    Emulator(emulator::Error),
    /// The system refused something that every start needs.
    System {
        attempt: &'static str,
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn system(attempt: &'static str, source: io::Error) -> Self {
        Self::System { attempt, source }
    }

    /// The error as exactly one line, under the name of the program.
    pub(crate) fn line(&self) -> String {
        let text = format!("gemini-emulator: {self}");
        // A parser's message or a hostile argument may hold line breaks.
        text.chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // clap's first paragraph; usage and a hint at help follow it.
            Self::Usage(text) => {
                let problem = text.lines().next().unwrap_or_default();
                write!(f, "{}", problem.trim_start_matches("error: "))
            }
            Self::Setting { origin, problem } => write!(f, "{origin}: {problem}"),
            Self::FileUnreadable { path, source } => {
                write!(f, "can't read {}: {source}", path.display())
            }
            Self::FileUnwritable { path, source } => {
                write!(f, "can't write {}: {source}", path.display())
            }
            Self::Script { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Listen { listen, source } => write!(f, "can't listen on {listen}: {source}"),
            Self::Emulator(source) => write!(f, "{source}"),
            Self::System { attempt, source } => write!(f, "can't {attempt}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::FileUnreadable { source, .. }
            | Self::FileUnwritable { source, .. }
            | Self::Listen { source, .. }
            | Self::System { source, .. } => Some(source),
            Self::Script { source, .. } | Self::Emulator(source) => Some(source),
            Self::Usage(_) | Self::Setting { .. } => None,
        }
    }
}
