//! The address that the server listens on.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

/// `HOST:PORT`, where the host is an address or a name and port 0 means any free one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenAddress(String);

impl ListenAddress {
    /// Loopback, on this port.
    pub(crate) fn on_port(port: u16) -> Self {
        Self(format!("127.0.0.1:{port}"))
    }

    /// The address as text, ready for the resolver.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for ListenAddress {
    fn default() -> Self {
        Self::on_port(8080)
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = text
            .rsplit_once(':')
            .is_some_and(|(host, port)| is_host_name(host) && port.parse::<u16>().is_ok());
        if named || text.parse::<SocketAddr>().is_ok() {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!(
                "`{text}` is not an address; expected HOST:PORT, as in 127.0.0.1:8080"
            ))
        }
    }
}

/// A name whose last label is a number is a mistyped address: refused here, before a resolver
/// takes seconds to fail.
fn is_host_name(host: &str) -> bool {
    let labels = || host.split('.');
    let well_formed = labels().all(|label| {
        !label.is_empty()
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
    });
    let number = labels()
        .next_back()
        .is_some_and(|label| label.bytes().all(|b| b.is_ascii_digit()));
    well_formed && !number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_loopback() {
        let default: SocketAddr = ListenAddress::default().as_str().parse().unwrap();
        assert!(default.ip().is_loopback());
    }

    #[test]
    fn addresses_and_names_are_taken() {
        for text in [
            "127.0.0.1:0",
            "[::1]:8080",
            "localhost:65535",
            "chat.example-1.org:80",
        ] {
            assert_eq!(text.parse::<ListenAddress>().unwrap().as_str(), text);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "8080",
            ":8080",
            "localhost",
            "localhost:",
            "localhost:65536",
            "127.0.0.1:x",
            "256.0.0.1:80",
            "::1:8080",
            "a b:80",
            "http://localhost:80",
            "a..b:80",
        ] {
            assert!(text.parse::<ListenAddress>().is_err(), "{text}");
        }
    }
}
