//! The headers that restrict what browsers let the served page do, and who may frame it.
//!
//! They are on every response of a route, errors and streams included: a browser that is led to any
//! path of this server gets the same rules. Those of `connection::refusal`, without a route, have their own.

use std::str::FromStr;

use axum::http::header::{
    CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;

use crate::origin::is_origin;

/// What the built page needs, and nothing else. Attachments, and media that agents send, are shown
/// from `data:` and `blob:` URLs; everything else comes from this server.
const PAGE: &str = "default-src 'self'; img-src 'self' data: blob:; media-src 'self' data: blob:; \
                    base-uri 'none'; object-src 'none'; form-action 'self'";

/// The directives that are `'none'` in every policy that does not name them. `default-src` does not stand for
/// the first, and a policy of one's own need not have that at all.
const ALWAYS: [&str; 2] = ["base-uri", "object-src"];

/// What the page may ask of the browser: the two that its tools use.
const PERMISSIONS: &str = "microphone=(self), geolocation=(self), autoplay=(self), camera=(), \
                           display-capture=(), payment=(), usb=(), serial=(), hid=(), midi=(), \
                           publickey-credentials-get=(), screen-wake-lock=()";

/// The sites that may show the page in a frame; none unless named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrameAncestors(Vec<String>);

impl FromStr for FrameAncestors {
    type Err = String;

    /// Reads `https://intranet.example,https://other.example:8443`.
    fn from_str(text: &str) -> Result<Self, String> {
        let sites = text.split(',').map(str::trim);
        let sites: Vec<String> = sites
            .filter(|site| !site.is_empty())
            .map(str::to_owned)
            .collect();
        match sites.iter().find(|site| !is_origin(site)) {
            Some(bad) => Err(format!("`{bad}` is not a site, as in https://example.com")),
            None => Ok(Self(sites)),
        }
    }
}

/// The content security policy of the page, without who may frame it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PagePolicy(String);

impl Default for PagePolicy {
    fn default() -> Self {
        Self(PAGE.to_owned())
    }
}

impl FromStr for PagePolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim().trim_end_matches(';');
        let mut directives = text.split(';').map(str::trim_start);
        if directives.any(|directive| {
            directive
                .to_ascii_lowercase()
                .starts_with("frame-ancestors")
        }) {
            return Err("frame-ancestors has a setting of its own".to_owned());
        }
        if text.is_empty() || HeaderValue::from_str(text).is_err() {
            return Err("expected directives, as in default-src 'self'".to_owned());
        }
        let mut policy = text.to_owned();
        for always in ALWAYS {
            let is_named = text.split(';').any(|directive| {
                let name = directive.split_ascii_whitespace().next();
                name.is_some_and(|name| name.eq_ignore_ascii_case(always))
            });
            if !is_named {
                policy = format!("{policy}; {always} 'none'");
            }
        }
        Ok(Self(policy))
    }
}

/// The headers that every response carries.
#[derive(Clone, Debug)]
pub(crate) struct SecurityHeaders(Vec<(HeaderName, HeaderValue)>);

impl SecurityHeaders {
    /// The headers for a page with this policy, framed by these sites.
    pub(crate) fn new(policy: &PagePolicy, ancestors: &FrameAncestors) -> Self {
        let sites = match ancestors.0.as_slice() {
            [] => "'none'".to_owned(),
            sites => format!("'self' {}", sites.join(" ")),
        };
        let mut headers = vec![
            (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
            (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
            (
                HeaderName::from_static("cross-origin-opener-policy"),
                HeaderValue::from_static("same-origin"),
            ),
            (
                HeaderName::from_static("cross-origin-resource-policy"),
                HeaderValue::from_static("same-origin"),
            ),
            (
                HeaderName::from_static("permissions-policy"),
                HeaderValue::from_static(PERMISSIONS),
            ),
        ];
        let policy = format!("{}; frame-ancestors {sites}", policy.0);
        // Sites and directives were checked when they were read; should one not fit into a header
        // all the same, nothing may be framed and nothing is loaded from elsewhere.
        let policy = HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static(
            "default-src 'self'; frame-ancestors 'none'",
        ));
        headers.push((CONTENT_SECURITY_POLICY, policy));
        if ancestors.0.is_empty() {
            headers.push((X_FRAME_OPTIONS, HeaderValue::from_static("DENY")));
        }
        Self(headers)
    }

    /// The response, with these headers.
    pub(crate) fn apply(&self, mut response: Response) -> Response {
        let headers: &mut HeaderMap = response.headers_mut();
        headers.reserve(self.0.len());
        for (name, value) in &self.0 {
            headers.insert(name, value.clone());
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy_of(ancestors: &str) -> (String, Option<String>) {
        let headers = SecurityHeaders::new(&PagePolicy::default(), &ancestors.parse().unwrap());
        let response = headers.apply(Response::default());
        let text = |name: HeaderName| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        (
            text(CONTENT_SECURITY_POLICY).unwrap(),
            text(X_FRAME_OPTIONS),
        )
    }

    #[test]
    fn only_named_sites_may_frame_the_page() {
        let (policy, frame_options) = policy_of("");
        assert!(policy.ends_with("; frame-ancestors 'none'"), "{policy}");
        assert_eq!(frame_options.as_deref(), Some("DENY"));

        let (policy, frame_options) = policy_of("https://a.example, https://b.example:8443");
        let sites = "; frame-ancestors 'self' https://a.example https://b.example:8443";
        assert!(policy.ends_with(sites), "{policy}");
        assert_eq!(frame_options, None);
    }

    #[test]
    fn sites_and_policies_that_make_no_sense_are_refused() {
        for text in ["*", "example.com", "https://a/b", "https://a; script-src *"] {
            assert!(text.parse::<FrameAncestors>().is_err(), "{text}");
        }
        for text in ["", " ; ", "default-src 'self'; Frame-Ancestors *", "a\nb"] {
            assert!(text.parse::<PagePolicy>().is_err(), "{text}");
        }
    }

    #[test]
    fn policy_of_ones_own_keeps_what_it_does_not_name() {
        let policy = |text: &str| text.parse::<PagePolicy>().unwrap().0;
        assert_eq!(
            policy("default-src 'self' https://cdn.example; "),
            "default-src 'self' https://cdn.example; base-uri 'none'; object-src 'none'"
        );
        assert_eq!(
            policy("img-src *;object-src 'self'"),
            "img-src *;object-src 'self'; base-uri 'none'"
        );
        let all = "default-src 'self'; Base-URI 'self'; OBJECT-SRC data:";
        assert_eq!(policy(all), all);
        // A name inside of another directive, or of another one, is none.
        assert_eq!(
            policy("script-src base-uri; object-src-elem x"),
            "script-src base-uri; object-src-elem x; base-uri 'none'; object-src 'none'"
        );
    }
}
