//! Who is speaking: from the request's key, or, where no keys are configured, from this machine.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::header::{AUTHORIZATION, HOST};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use turn::Principal;

use crate::api::Api;
use crate::problem::Problem;

/// The principal of a request.
#[derive(Debug, Clone)]
pub(crate) struct Speaker(pub(crate) Principal);

impl FromRequestParts<Api> for Speaker {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        identify(api, &parts.headers, &parts.extensions).map(Self)
    }
}

/// The principal of a request, by its headers and by where it came from.
pub(crate) fn identify(
    api: &Api,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> Result<Principal, Problem> {
    if api.keys.is_empty() {
        return local(headers, extensions);
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
/// point at this machine: the name that the browser asked for gives it away.
fn local(headers: &HeaderMap, extensions: &Extensions) -> Result<Principal, Problem> {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    let is_local =
        peer.is_some_and(|ConnectInfo(address)| address.ip().to_canonical().is_loopback());
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    if is_local && host.is_none_or(is_local_name) {
        Ok(Principal::from("local"))
    } else {
        Err(Problem::loopback_only())
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
    use super::is_local_name;

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
