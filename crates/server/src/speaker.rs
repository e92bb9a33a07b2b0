//! Who is speaking: from the request's key, or, where no keys are configured, from this machine.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, Version};
use turn::Principal;

use crate::api::Api;
use crate::origin::Origins;
use crate::problem::Problem;
use crate::quota::Slot;

/// The principal of all requests where there are no keys.
const LOCAL: &str = "local";

/// Headers that only proxies add to a request, in lower case.
const FORWARDED: [&str; 10] = [
    "cdn-loop",
    "forwarded",
    "front-end-https",
    "true-client-ip",
    "via",
    "x-amzn-trace-id",
    "x-client-ip",
    "x-cloud-trace-context",
    "x-cluster-client-ip",
    "x-real-ip",
];

/// What the names of others begin with: each product has its own.
const FORWARDED_PREFIXES: [&str; 12] = [
    "cf-",
    "cloudfront-",
    "fastly-",
    "fly-",
    "ngrok-",
    "tailscale-",
    "x-appengine-",
    "x-arr-",
    "x-azure-",
    "x-envoy-",
    "x-forwarded",
    "x-original-",
];

/// Whether a proxy has passed a request on, by what it says of its client.
fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| {
        let name = name.as_str();
        let mut prefixes = FORWARDED_PREFIXES.iter();
        FORWARDED.contains(&name) || prefixes.any(|prefix| name.starts_with(prefix))
    })
}

/// The principal of a request.
#[derive(Debug, Clone)]
pub(crate) struct Speaker(pub(crate) Principal);

impl FromRequestParts<Api> for Speaker {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let principal = identify(api, &parts.headers, &parts.extensions)?;
        admit(api, &principal, &parts.extensions)?;
        Ok(Self(principal))
    }
}

/// Lets a request in, as far as quotas go, until its response is written.
pub(crate) fn admit(
    api: &Api,
    principal: &Principal,
    extensions: &Extensions,
) -> Result<(), Problem> {
    match extensions.get::<Slot>() {
        Some(slot) if slot.is_taken() => {}
        Some(slot) => slot.keep(api.quotas.admit(principal)?),
        None => {}
    }
    Ok(())
}

/// The principal of a request, by its headers and by where it came from.
pub(crate) fn identify(
    api: &Api,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> Result<Principal, Problem> {
    if api.keys.is_empty() {
        return match api.insecure {
            true => Ok(Principal::from(LOCAL)),
            false => local(&api.origins, headers, extensions),
        };
    }
    let header = || headers.get("x-api-key")?.to_str().ok();
    let key = bearer(headers).or_else(header);
    let principal = key.and_then(|key| api.keys.principal(key));
    principal.cloned().ok_or_else(Problem::unauthorized)
}

/// The key of a request, as `Authorization: Bearer KEY`.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(key.trim())
}

/// Without keys only this machine is served, as one principal.
///
/// A page of another site may still make a browser here speak to us, under a name that it has made
/// point at this machine: the name that the browser asked for gives it away. A proxy on this machine
/// speaks for anybody: what it says of its client gives it away, or the site that the page came from,
/// or that it speaks HTTP/1.0, as nginx does where nobody has told it otherwise, and no browser.
fn local(
    origins: &Origins,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> Result<Principal, Problem> {
    let is_old = extensions.get::<Version>() == Some(&Version::HTTP_10);
    let origin = headers.get(ORIGIN).map(|origin| origin.to_str());
    let is_foreign = |origin: &str| {
        let site = origin.split_once("://").map(|(_, site)| site);
        !site.is_some_and(is_local_name) && !origins.names(origin)
    };
    if origin.is_some_and(|origin| origin.map_or(true, is_foreign)) || is_forwarded(headers) {
        return Err(Problem::proxied_without_keys());
    }
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    let is_local =
        peer.is_some_and(|ConnectInfo(address)| address.ip().to_canonical().is_loopback());
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    match is_local && host.is_some_and(is_local_name) {
        false => Err(Problem::loopback_only()),
        true if is_old => Err(Problem::proxied_without_keys()),
        true => Ok(Principal::from(LOCAL)),
    }
}

fn is_local_name(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    let address = address.parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    /// The binary does not even listen where others reach it; whoever embeds this may.
    #[test]
    fn without_keys_other_machines_are_not_served_whatever_they_call_this_one() {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("localhost:8080"));
        let served = |peer: Option<&str>| {
            let mut extensions = Extensions::new();
            if let Some(peer) = peer {
                let peer: SocketAddr = peer.parse().unwrap();
                extensions.insert(ConnectInfo(peer));
            }
            local(&Origins::default(), &headers, &extensions).is_ok()
        };
        for peer in ["127.0.0.1:5", "[::1]:5", "[::ffff:127.0.0.1]:5"] {
            assert!(served(Some(peer)), "{peer}");
        }
        for peer in ["192.0.2.7:5", "[2001:db8::7]:5", "[::ffff:192.0.2.7]:5"] {
            assert!(!served(Some(peer)), "{peer}");
        }
        assert!(!served(None));
    }

    #[test]
    fn names_of_this_machine() {
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:1",
            "[::1]:8080",
            "127.0.0.2",
        ] {
            assert!(is_local_name(host), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example:8080",
            "10.0.0.1",
            "",
        ] {
            assert!(!is_local_name(host), "{host}");
        }
    }
}
