//! Why an emulator could not be started, or a script not be read.

use std::{fmt, io};

/// Why an emulator could not be started, or a script not be read.
#[derive(Debug)]
pub enum Error {
    /// The address can't be listened on.
    Listen(io::Error),
    /// There is no certificate.
    Certificate(String),
    /// The script is not one.
    Script(String),
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(source) => write!(out, "can't listen: {source}"),
            Self::Certificate(problem) => write!(out, "can't make a certificate: {problem}"),
            Self::Script(problem) => write!(out, "the script is wrong: {problem}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Listen(source) => Some(source),
            Self::Certificate(_) | Self::Script(_) => None,
        }
    }
}
