//! Who sends a request.
//!
//! The binary knows people by keys ([`KeyIdentity`]). An application that mounts the routes in a server
//! of its own knows them by its own sessions: it implements [`Identity`] and hands that to
//! [`Api::with_identity`](crate::Api::with_identity).

use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use axum::extract::ConnectInfo;
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, StatusCode, Version};
use turn::Principal;

use crate::keys::Keys;
use crate::origin::Origins;
use crate::problem::Problem;

/// Identifies the sender of a request: from a session cookie, a token, a header that a proxy sets.
///
/// It is called for every request but those that bring a ticket, which [`Api`](crate::Api) has issued
/// to a principal that was identified. That principal may read and answer everything that belongs to it.
pub trait Identity: Send + Sync + 'static {
    /// The principal of a request, or why there is none.
    fn identify(
        &self,
        request: &Parts,
    ) -> impl Future<Output = Result<Principal, Unidentified>> + Send;
}

/// Why a request has no principal. The client gets a status and a code.
#[derive(Debug)]
pub struct Unidentified(Problem);

impl Unidentified {
    /// No user is signed in: 401 `unauthorized`. Clients may come back with a key or a session.
    pub fn unauthorized() -> Self {
        Self(Problem::unauthorized())
    }

    /// A user is signed in who may not use this: 403 `forbidden`, with a message for them.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self(Problem::new(StatusCode::FORBIDDEN, "forbidden", message))
    }

    /// Who it is can't be found out just now: 503 `identity_unavailable`. Clients may try again.
    pub fn unavailable() -> Self {
        let message = "the user of this request can't be identified at the moment";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Self(Problem::new(status, "identity_unavailable", message))
    }
}

impl From<Unidentified> for Problem {
    fn from(Unidentified(problem): Unidentified) -> Self {
        problem
    }
}

type Identified<'a> = Pin<Box<dyn Future<Output = Result<Principal, Unidentified>> + Send + 'a>>;

/// [`Identity`] as a trait object.
trait DynIdentity: Send + Sync {
    fn identify<'a>(&'a self, request: &'a Parts) -> Identified<'a>;
}

impl<I: Identity> DynIdentity for I {
    fn identify<'a>(&'a self, request: &'a Parts) -> Identified<'a> {
        Box::pin(Identity::identify(self, request))
    }
}

/// An [`Identity`] of any type.
#[derive(Clone)]
pub struct AnyIdentity(Arc<dyn DynIdentity>);

impl AnyIdentity {
    /// Who sends a request. Names that begin with `@` sign what the agent, tools and clocks do, and are
    /// nobody's.
    pub(crate) async fn identify(&self, request: &Parts) -> Result<Principal, Problem> {
        let principal = self.0.identify(request).await?;
        match principal.as_str() {
            "" => Err(Problem::unauthorized()),
            name if name.starts_with('@') => {
                Err(Unidentified::forbidden("names that begin with @ are reserved").into())
            }
            _ => Ok(principal),
        }
    }
}

impl<I: Identity> From<I> for AnyIdentity {
    fn from(identity: I) -> Self {
        Self(Arc::new(identity))
    }
}

impl fmt::Debug for AnyIdentity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("AnyIdentity")
    }
}

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

/// Whether a proxy has passed a request on, by its forwarding headers.
fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| {
        let name = name.as_str();
        let mut prefixes = FORWARDED_PREFIXES.iter();
        FORWARDED.contains(&name) || prefixes.any(|prefix| name.starts_with(prefix))
    })
}

/// Knows people by keys, and where there are none, this machine as one principal, `local`.
#[derive(Debug, Clone, Default)]
pub struct KeyIdentity {
    /// The keys.
    pub keys: Keys,
    /// Whether everybody is served as `local` where there are no keys, and not this machine alone.
    pub insecure: bool,
    /// The sites whose pages may be served without keys, besides this machine's own.
    pub origins: Arc<Origins>,
}

impl Identity for KeyIdentity {
    async fn identify(&self, request: &Parts) -> Result<Principal, Unidentified> {
        let (headers, extensions) = (&request.headers, &request.extensions);
        if self.keys.is_empty() {
            return match self.insecure {
                true => Ok(Principal::from(LOCAL)),
                false => local(&self.origins, headers, extensions).map_err(Unidentified),
            };
        }
        let header = || headers.get("x-api-key")?.to_str().ok();
        let key = bearer(headers).or_else(header);
        let principal = key.and_then(|key| self.keys.principal(key));
        principal.cloned().ok_or_else(Unidentified::unauthorized)
    }
}

/// The key of a request, as `Authorization: Bearer KEY`.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(key.trim())
}

/// Without keys only this machine is served, as one principal.
fn local(
    origins: &Origins,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> Result<Principal, Problem> {
    match check_local(origins, headers, extensions) {
        Ok(()) => Ok(Principal::from(LOCAL)),
        Err(NotLocal::Proxied) => Err(Problem::proxied_without_keys()),
        Err(NotLocal::Elsewhere) => Err(Problem::loopback_only()),
    }
}

/// Why a request is not taken for one of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotLocal {
    /// A proxy has passed it on.
    Proxied,
    /// It is from another machine, or for one.
    Elsewhere,
}

/// Whether a request is of this machine.
///
/// A page of another site may still make a browser here send requests to us, under a name that it has
/// made point at this machine: the name that the browser asked for gives it away. A proxy on this machine
/// may pass on anybody's requests: its forwarding headers give it away, or the site that the page came
/// from, or HTTP/1.0, which nginx uses by default, and no browser does.
pub(crate) fn check_local(
    origins: &Origins,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> Result<(), NotLocal> {
    let is_old = extensions.get::<Version>() == Some(&Version::HTTP_10);
    let origin = headers.get(ORIGIN).map(|origin| origin.to_str());
    let is_foreign = |origin: &str| {
        let site = origin.split_once("://").map(|(_, site)| site);
        !site.is_some_and(is_local_name) && !origins.names(origin)
    };
    if origin.is_some_and(|origin| origin.map_or(true, is_foreign)) || is_forwarded(headers) {
        return Err(NotLocal::Proxied);
    }
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    let is_local =
        peer.is_some_and(|ConnectInfo(address)| address.ip().to_canonical().is_loopback());
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    match is_local && host.is_some_and(is_local_name) {
        false => Err(NotLocal::Elsewhere),
        true if is_old => Err(NotLocal::Proxied),
        true => Ok(()),
    }
}

/// Whether a `Host` names this machine.
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
    use axum::http::{HeaderValue, Request};

    use super::*;

    /// Takes whatever name a header gives.
    struct Believer;

    impl Identity for Believer {
        async fn identify(&self, request: &Parts) -> Result<Principal, Unidentified> {
            let name = request
                .headers
                .get("name")
                .ok_or_else(Unidentified::unavailable)?;
            Ok(Principal::from(name.to_str().unwrap()))
        }
    }

    #[tokio::test]
    async fn nobody_speaks_as_the_agent_or_as_no_one() {
        let any = AnyIdentity::from(Believer);
        let of = |name: &str| Request::builder().header("name", name).body(()).unwrap();
        let identified = |name: &str| {
            let (parts, ()) = of(name).into_parts();
            let any = any.clone();
            async move { any.identify(&parts).await.ok().map(|it| it.to_string()) }
        };
        assert_eq!(identified("ann").await.as_deref(), Some("ann"));
        for name in ["", "@agent", "@clock", "@tool/pay"] {
            assert_eq!(identified(name).await, None, "{name}");
        }
    }

    /// The binary does not even listen where others reach it; an application that embeds this may.
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
