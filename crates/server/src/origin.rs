//! Which sites a browser may come from.
//!
//! A browser lets any site open a WebSocket to us, and sends what it knows of the user along. It also
//! says which site it was.

use std::str::FromStr;

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};

/// Sites that may open a socket, besides the one that is served here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(Vec<String>);

impl Origins {
    /// Whether a request may open a socket. One that names no site is not from a browser.
    pub(crate) fn allow(&self, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let Some(origin) = text(ORIGIN) else {
            return true;
        };
        let site = origin.split_once("://").map(|(_, site)| site);
        let is_own = site.is_some() && site == text(HOST);
        is_own
            || self
                .0
                .iter()
                .any(|known| known.eq_ignore_ascii_case(origin))
    }
}

impl FromStr for Origins {
    type Err = String;

    /// Reads `https://example.com,https://other.example:8443`.
    fn from_str(text: &str) -> Result<Self, String> {
        let origins = text
            .split(',')
            .map(str::trim)
            .filter(|origin| !origin.is_empty());
        let origins: Vec<String> = origins.map(str::to_owned).collect();
        let is_origin = |origin: &String| match origin.split_once("://") {
            Some(("http" | "https", site)) => !site.is_empty() && !site.contains('/'),
            _ => false,
        };
        match origins.iter().find(|origin| !is_origin(origin)) {
            Some(bad) => Err(format!("`{bad}` is not a site, as in https://example.com")),
            None => Ok(Self(origins)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn allows(origins: &str, origin: Option<&'static str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("here.example:8080"));
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_static(origin));
        }
        origins.parse::<Origins>().unwrap().allow(&headers)
    }

    #[test]
    fn own_site_and_named_ones_may() {
        assert!(allows("", None));
        assert!(allows("", Some("http://here.example:8080")));
        assert!(!allows("", Some("https://evil.example")));
        assert!(!allows("", Some("null")));
        assert!(allows("https://app.example", Some("https://app.example")));
        assert!(!allows(
            "https://app.example",
            Some("https://app.example.evil")
        ));
    }

    #[test]
    fn what_is_no_site_is_refused() {
        for text in ["example.com", "https://", "https://a/b", "ftp://a"] {
            assert!(text.parse::<Origins>().is_err(), "{text}");
        }
    }
}
