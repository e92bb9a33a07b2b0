//! Which sites a browser may come from.
//!
//! A browser lets any site open a WebSocket to us, or send a form, and sends what it knows of the user
//! along. It also reports which site it was.

use std::str::FromStr;

use axum::http::HeaderMap;
use axum::http::header::{AsHeaderName, HOST, ORIGIN};

/// A browser's headers about where a request comes from, which no page can change.
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// Sites that may change something or open a socket, besides the one that is served here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(Vec<String>);

impl Origins {
    /// Whether a request may change something or open a socket. One that names no site is not from a
    /// browser, unless the browser reports at least that it comes from another.
    pub(crate) fn allow(&self, headers: &HeaderMap) -> bool {
        fn text(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
            headers.get(name).map(|value| value.to_str().unwrap_or("?"))
        }
        let fetch_site = text(headers, SEC_FETCH_SITE);
        // No page can set this header: a proxy has renamed the host that the browser asked for.
        if fetch_site == Some("same-origin") {
            return true;
        }
        let Some(origin) = text(headers, ORIGIN) else {
            return fetch_site.is_none_or(|site| site == "none");
        };
        let site = origin.split_once("://").map(|(_, site)| site);
        let is_own = site.is_some() && site == text(headers, HOST);
        is_own || self.names(origin)
    }

    /// Whether the operator named this site.
    pub(crate) fn names(&self, origin: &str) -> bool {
        let mut known = self.0.iter();
        known.any(|known| known.eq_ignore_ascii_case(origin))
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
        match origins.iter().find(|origin| !is_origin(origin)) {
            Some(bad) => Err(format!("`{bad}` is not a site, as in https://example.com")),
            None => Ok(Self(origins)),
        }
    }
}

/// Whether a text is a site: a scheme, a host and perhaps a port.
pub(crate) fn is_origin(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
    match text.split_once("://") {
        Some(("http" | "https", site)) => !site.is_empty() && site.bytes().all(is_plain),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn allows(origins: &str, origin: Option<&'static str>) -> bool {
        allows_from(origins, origin, None)
    }

    fn allows_from(
        origins: &str,
        origin: Option<&'static str>,
        site: Option<&'static str>,
    ) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("here.example:8080"));
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_static(origin));
        }
        if let Some(site) = site {
            headers.insert(SEC_FETCH_SITE, HeaderValue::from_static(site));
        }
        origins.parse::<Origins>().unwrap().allow(&headers)
    }

    #[test]
    fn site_that_hides_its_name_is_still_another() {
        for site in ["cross-site", "same-site", "?"] {
            assert!(!allows_from("", None, Some(site)), "{site}");
        }
        for site in ["same-origin", "none"] {
            assert!(allows_from("", None, Some(site)), "{site}");
        }
        let named = "https://app.example";
        assert!(allows_from(named, Some(named), Some("cross-site")));
        assert!(!allows_from("", Some(named), Some("none")));
        // A proxy that calls us by another name.
        assert!(allows_from("", Some(named), Some("same-origin")));
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
