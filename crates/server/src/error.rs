//! Why the binary could not start or continue, as its operator reads it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use engine::EngineError;
use store::StoreError;

use crate::listen_address::ListenAddress;

/// Why the binary could not start or continue.
#[derive(Debug)]
pub enum Error {
    /// The command line makes no sense.
    Usage(String),
    /// A setting has a value that it can't have.
    Setting {
        /// Where the value was given: a flag, a variable, or a file and a key.
        origin: String,
        /// What is wrong with it, and what would be right.
        problem: String,
    },
    /// Something that this binary was built without.
    LeftOut(&'static str),
    /// The configuration file can't be read.
    FileUnreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The configuration file can't be written.
    FileUnwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The configuration file is not what it should be.
    FileMalformed {
        /// The file.
        path: PathBuf,
        /// The line of the first mistake, from 1, where it is known.
        line: Option<usize>,
        /// The column in that line, from 1, where it is known.
        column: Option<usize>,
        /// What is wrong there.
        problem: String,
    },
    /// `check` found this many problems, and has reported them.
    Unsound(usize),
    /// `healthcheck` got no response, or one that is no success.
    Unhealthy {
        /// What was asked.
        url: String,
        /// What came of it.
        reason: String,
    },
    /// The address can't be listened on.
    Listen {
        /// The address that was asked for.
        address: ListenAddress,
        /// What the system said.
        source: io::Error,
    },
    /// Other machines could reach the server, and there are no keys.
    Exposed(ListenAddress),
    /// The store can't be opened.
    Store(StoreError),
    /// What an earlier process left can't be taken up.
    Recover(EngineError),
    /// The system refused something that every start needs.
    System {
        /// What was tried.
        attempt: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// The exit code of the process.
    pub fn code(&self) -> u8 {
        match self {
            Self::Unsound(_) | Self::Unhealthy { .. } => 1,
            _ => 2,
        }
    }

    /// The error as exactly one line, under the name of the program.
    pub fn line(&self) -> String {
        let text = format!("adk-stream: {self}");
        // A parser's message or a hostile argument may hold line breaks.
        text.chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(problem) => write!(f, "{problem}"),
            Error::Setting { origin, problem } => write!(f, "{origin}: {problem}"),
            Error::LeftOut(what) => write!(f, "{what}: this binary was built without the demo"),
            Error::FileUnreadable { path, source } => {
                write!(f, "can't read {}: {source}", path.display())
            }
            Error::FileUnwritable { path, source } => {
                write!(f, "can't write {}: {source}", path.display())
            }
            Error::FileMalformed {
                path,
                line,
                column,
                problem,
            } => {
                write!(f, "{}", path.display())?;
                if let Some(line) = line {
                    write!(f, ", line {line}")?;
                }
                if let Some(column) = column {
                    write!(f, ", column {column}")?;
                }
                write!(f, ": {problem}")
            }
            Error::Unsound(1) => write!(f, "1 problem"),
            Error::Unsound(count) => write!(f, "{count} problems"),
            Error::Unhealthy { url, reason } => write!(f, "{url}: {reason}"),
            Error::Listen { address, source } => write!(f, "can't listen on {address}: {source}"),
            Error::Exposed(address) => write!(
                f,
                "{address} can be reached from other machines, and no keys are configured: set \
                 ADK_STREAM_KEYS or --keys-file, or --insecure to serve everybody as one principal"
            ),
            Error::Store(source) => write!(f, "{source}"),
            Error::Recover(source) => write!(f, "{source}"),
            Error::System { attempt, source } => write!(f, "can't {attempt}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::FileUnreadable { source, .. }
            | Error::FileUnwritable { source, .. }
            | Error::Listen { source, .. }
            | Error::System { source, .. } => Some(source),
            Error::Store(source) => Some(source),
            Error::Recover(source) => Some(source),
            Error::Usage(_)
            | Error::Setting { .. }
            | Error::Exposed(_)
            | Error::LeftOut(_)
            | Error::Unsound(_)
            | Error::Unhealthy { .. }
            | Error::FileMalformed { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_whatever_it_quotes() {
        let error = Error::Usage("unexpected argument 'a\nb\u{1b}[31m'".into());
        assert_eq!(error.line(), "adk-stream: unexpected argument 'a b [31m'");
    }

    #[test]
    fn a_mistake_in_a_file_is_named_with_its_line() {
        let error = Error::FileMalformed {
            path: "adk-stream.toml".into(),
            line: Some(3),
            column: Some(7),
            problem: "unknown field `colour`".into(),
        };
        assert_eq!(
            error.line(),
            "adk-stream: adk-stream.toml, line 3, column 7: unknown field `colour`"
        );
    }
}
