//! Why an agent can't be made.

use std::fmt;

/// Why an agent can't be made. What goes wrong later is an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The key has characters that no header can carry, or none at all.
    Key,
    /// The base URL is none.
    BaseUrl(&'static str),
    /// A header can't be sent. It may be secret, and is not quoted.
    Header,
    /// The app's name is none.
    App(String),
    /// The model's name is none.
    Model(String),
    /// A field of a page's request can't be forwarded under this name.
    BodyField(String),
    /// The HTTP client could not be made.
    Client(String),
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Not even a wrong key is quoted: it may be a right one with a letter too many.
            Self::Key => out.write_str("not a key: it is empty, or holds spaces or odd characters"),
            Self::BaseUrl(why) => write!(
                out,
                "not a base URL: {why}; expected one as https://HOST or http://HOST:PORT/PATH"
            ),
            Self::Header => out.write_str("not a header; expected one as `Name: value`"),
            Self::App(name) => write!(
                out,
                "`{name}` is not an app; expected the name that `adk api_server` knows it by"
            ),
            Self::Model(name) => {
                write!(
                    out,
                    "`{name}` is not a model; expected a name, such as gemini-flash-latest"
                )
            }
            Self::BodyField(name) => write!(
                out,
                "`{name}` is not a field that can be forwarded: it has a meaning of its own"
            ),
            Self::Client(why) => write!(out, "can't make an HTTP client: {why}"),
        }
    }
}

impl std::error::Error for Error {}
