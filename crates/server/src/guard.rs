//! What is refused before anything of a request is looked at: requests that another site makes a
//! browser send, requests that name two hosts, and guesses at keys. Some refusals are sent late, so that a
//! client that does not wait, as it was asked to, costs others little.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{AUTHORIZATION, CONNECTION, HOST, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::clock::Clock;
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter};
use tokio::sync::Semaphore;

use crate::cluster;
use crate::connection::network;
use crate::live::TICKET_PROTOCOL;
use crate::origin::Origins;
use crate::problem::Problem;
use crate::quota::Slot;

/// How many wrong keys an address may send at once, and how many a minute after that.
const WRONG_KEYS: NonZeroU32 = NonZeroU32::new(20).unwrap();

/// Once a second.
const ONCE: NonZeroU32 = NonZeroU32::MIN;

/// How long a refusal takes that is sent late.
const DELAY: Duration = Duration::from_millis(250);

/// How many refusals are delayed at once: each holds a connection.
const DELAYED: usize = 256;

/// How many addresses are remembered.
const ADDRESSES: usize = 10_000;

/// Represents all addresses beyond those.
const OTHERS: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

/// Checks before the API.
#[derive(Clone)]
pub(crate) struct Guard(Arc<Inner>);

struct Inner {
    origins: Arc<Origins>,
    wrong_keys: DefaultKeyedRateLimiter<IpAddr>,
    /// Addresses that have sent too many, until they may send one more.
    slowed: Mutex<HashMap<IpAddr, Instant>>,
    delayed: Semaphore,
    /// When addresses were forgotten that have sent nothing for a while.
    swept: DefaultDirectRateLimiter,
    /// When the log said that there were too many wrong keys.
    logged: DefaultDirectRateLimiter,
}

impl Guard {
    pub(crate) fn new(origins: Arc<Origins>) -> Self {
        Self(Arc::new(Inner {
            origins,
            wrong_keys: RateLimiter::keyed(Quota::per_minute(WRONG_KEYS)),
            slowed: Mutex::default(),
            delayed: Semaphore::new(DELAYED),
            swept: RateLimiter::direct(Quota::per_second(ONCE)),
            logged: RateLimiter::direct(Quota::per_second(ONCE)),
        }))
    }

    /// Counts a wrong key; returns how long the address has to wait, if it has sent too many.
    fn wrong_key(&self, address: IpAddr) -> Result<(), Duration> {
        let limiter = &self.0.wrong_keys;
        // It visits all entries, so it is not done each time.
        if limiter.len() >= ADDRESSES && self.0.swept.check().is_ok() {
            limiter.retain_recent();
        }
        let address = self.counted_as(address);
        let wait = |until: governor::NotUntil<_>| until.wait_time_from(limiter.clock().now());
        let counted = limiter.check_key(&address).map_err(wait);
        if let Err(wait) = counted {
            let now = Instant::now();
            let mut slowed = self.slowed();
            if slowed.len() >= ADDRESSES {
                slowed.retain(|_, until| now < *until);
            }
            if slowed.len() < ADDRESSES {
                slowed.insert(address, now + wait);
            }
        }
        counted
    }

    /// Whether an address has sent too many wrong keys just now.
    fn is_slowed(&self, address: IpAddr) -> bool {
        let address = self.counted_as(address);
        let mut slowed = self.slowed();
        let until = slowed.get(&address).copied();
        let is_slowed = until.is_some_and(|until| Instant::now() < until);
        if until.is_some() && !is_slowed {
            slowed.remove(&address);
        }
        is_slowed
    }

    /// The address that wrong keys are counted for: an owner of many shares one count.
    fn counted_as(&self, address: IpAddr) -> IpAddr {
        match self.0.wrong_keys.len() < ADDRESSES {
            true => network(address),
            false => OTHERS,
        }
    }

    fn slowed(&self) -> MutexGuard<'_, HashMap<IpAddr, Instant>> {
        self.0.slowed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a wrong key: after too many of them another one.
    fn refuse(&self, address: IpAddr, response: Response) -> Response {
        let Err(wait) = self.wrong_key(address) else {
            return response;
        };
        if self.0.logged.check().is_ok() {
            let seconds = wait.as_secs_f32();
            tracing::warn!(%address, seconds, "too many wrong keys");
        }
        Problem::too_many_wrong_keys(wait).into_response()
    }

    /// Waits before a refusal is sent, or a guess is looked at, unless too many wait already.
    async fn delay(&self) {
        if let Ok(_place) = self.0.delayed.try_acquire() {
            tokio::time::sleep(DELAY).await;
        }
    }
}

/// Lets a request pass, or refuses it.
pub(crate) async fn check(
    State(guard): State<Guard>,
    mut request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    if let Err(problem) = one_host(request.uri(), headers) {
        return problem.into_response();
    }
    let changes = !matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    if (changes || is_upgrade(headers)) && !guard.0.origins.allow(headers) {
        return Problem::foreign_origin().into_response();
    }
    let has_key = has_key(request.uri(), headers);
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let address = peer.map(|ConnectInfo(address)| address.ip());
    let version = request.version();
    request.extensions_mut().insert(version);
    let slot = Slot::of(&mut request);
    // After too many guesses, the next one is looked at late: a right key is then late too, and not refused,
    // since all clients of a proxy have its address.
    let is_slowed = has_key && address.is_some_and(|address| guard.is_slowed(address));
    if is_slowed {
        guard.delay().await;
    }
    let response = slot.hold(next.run(request).await);
    match (response.status(), address) {
        (StatusCode::UNAUTHORIZED, Some(address)) if has_key => {
            let refused = guard.refuse(address, response);
            if !is_slowed {
                guard.delay().await;
            }
            refused
        }
        // Where a quota is used up, a client that asks again at once would take the time of others: the
        // refusal of a request costs nearly as much as a small request.
        (StatusCode::TOO_MANY_REQUESTS, _) => {
            guard.delay().await;
            response
        }
        _ => response,
    }
}

/// A request names one host: where two are named, the one that is checked may not be the one that
/// a proxy on the way has checked.
fn one_host(uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next();
    let is_other =
        |authority: &str| host.is_none_or(|host| host.as_bytes() != authority.as_bytes());
    if hosts.next().is_some()
        || uri
            .authority()
            .is_some_and(|named| is_other(named.as_str()))
    {
        return Err(Problem::bad_request("host: the request names two hosts"));
    }
    Ok(())
}

fn is_upgrade(headers: &HeaderMap) -> bool {
    headers.contains_key(UPGRADE) && headers.contains_key(CONNECTION)
}

/// Whether a request has something that may be a guess.
fn has_key(uri: &Uri, headers: &HeaderMap) -> bool {
    let query = uri.query().unwrap_or_default();
    let protocols = headers.get(SEC_WEBSOCKET_PROTOCOL);
    let protocols = protocols.and_then(|names| names.to_str().ok());
    headers.contains_key(AUTHORIZATION)
        || headers.contains_key("x-api-key")
        || headers.contains_key(cluster::HEADER)
        || protocols.is_some_and(|names| names.contains(TICKET_PROTOCOL))
        || query.split('&').any(|pair| pair.starts_with("ticket="))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn address_that_guesses_is_slowed_down_and_others_are_not() {
        let guard = Guard::new(Arc::default());
        let (guesser, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        for _ in 0..WRONG_KEYS.get() {
            assert_eq!(guard.wrong_key(guesser), Ok(()));
        }
        let wait = guard.wrong_key(guesser).unwrap_err();
        assert!(
            wait > Duration::ZERO && wait <= Duration::from_secs(3),
            "{wait:?}"
        );
        assert!(guard.is_slowed(guesser) && !guard.is_slowed(other));
        assert_eq!(guard.wrong_key(other), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn refusal_for_a_quota_is_sent_late_and_everything_else_at_once() {
        use axum::Router;
        use axum::body::Body;
        use axum::middleware::from_fn_with_state;
        use axum::routing::get;
        use hyper::service::Service;
        use hyper_util::service::TowerToHyperService;

        let router = Router::new()
            .route("/used-up", get(async || StatusCode::TOO_MANY_REQUESTS))
            .route("/well", get(async || StatusCode::OK))
            .layer(from_fn_with_state(Guard::new(Arc::default()), check));
        let service = TowerToHyperService::new(router);
        let took = async |path: &str| {
            let began = tokio::time::Instant::now();
            let request = Request::get(path).header(HOST, "localhost");
            let response = service.call(request.body(Body::empty()).unwrap()).await;
            (response.unwrap().status().as_u16(), began.elapsed())
        };
        assert_eq!(took("/well").await, (200, Duration::ZERO));
        // The clock of a runtime counts whole milliseconds.
        let (status, elapsed) = took("/used-up").await;
        assert_eq!(status, 429);
        assert!(elapsed >= DELAY && elapsed <= DELAY * 2, "{elapsed:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn guesses_wait_also_when_there_are_too_many_and_then_before_they_are_compared() {
        use axum::Router;
        use axum::body::Body;
        use axum::middleware::from_fn_with_state;
        use axum::routing::get;
        use hyper::service::Service;
        use hyper_util::service::TowerToHyperService;
        use tokio::time::Instant;

        let compared = Arc::new(Mutex::new(Instant::now()));
        let compare = {
            let compared = compared.clone();
            async move |headers: HeaderMap| {
                *compared.lock().unwrap() = Instant::now();
                match headers["x-api-key"] == "right" {
                    true => StatusCode::OK,
                    false => StatusCode::UNAUTHORIZED,
                }
            }
        };
        let router = Router::new()
            .route("/", get(compare))
            .layer(from_fn_with_state(Guard::new(Arc::default()), check));
        let service = TowerToHyperService::new(router);
        // The status, after how long the key was compared, and after how long the answer came.
        let send = async |address: [u8; 4], key: &'static str| {
            let began = Instant::now();
            let request = Request::get("/")
                .header(HOST, "localhost")
                .header("x-api-key", key)
                .extension(ConnectInfo(SocketAddr::from((address, 1))));
            let response = service.call(request.body(Body::empty()).unwrap()).await;
            let looked_at = compared.lock().unwrap().duration_since(began);
            (
                response.unwrap().status().as_u16(),
                looked_at,
                began.elapsed(),
            )
        };
        let guesser = [192, 0, 2, 1];
        let mut guesses = 0;
        let (status, looked_at, took) = loop {
            let (status, looked_at, took) = send(guesser, "wrong").await;
            if status != 401 || guesses == 1_000 {
                break (status, looked_at, took);
            }
            assert_eq!(looked_at, Duration::ZERO);
            assert!(took >= DELAY, "guess {guesses} took {took:?}");
            guesses += 1;
        };
        assert_eq!(status, 429, "after {guesses} guesses");
        assert_eq!(looked_at, Duration::ZERO);
        assert!(took >= DELAY, "{took:?}");
        // From here on, every key waits before it is compared, and no longer than that.
        for (key, expected) in [("wrong", 429), ("right", 200)] {
            let (status, looked_at, took) = send(guesser, key).await;
            assert_eq!(status, expected, "{key}");
            assert!(looked_at >= DELAY, "{key}: {looked_at:?}");
            assert!(took < DELAY * 2, "{key}: {took:?}");
        }
        let (status, _, took) = send([192, 0, 2, 2], "right").await;
        assert_eq!((status, took), (200, Duration::ZERO));
    }

    #[test]
    fn only_what_may_be_a_key_is_a_guess() {
        let is_guess = |uri: &str, protocol: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(protocol));
            has_key(&uri.parse().unwrap(), &headers)
        };
        assert!(is_guess("/live", "chat, adk-stream.ticket.1.2.3"));
        assert!(is_guess("/live?a=b&ticket=1.2.3", "chat"));
        assert!(!is_guess("/live?a=b", "chat"));
    }

    #[test]
    fn addresses_are_remembered_up_to_a_number() {
        let guard = Guard::new(Arc::default());
        for number in 0..2 * u32::try_from(ADDRESSES).unwrap() {
            let _ = guard.wrong_key(IpAddr::from(number.to_be_bytes()));
        }
        assert!(guard.0.wrong_keys.len() <= ADDRESSES + 1);
        assert!(guard.slowed().len() <= ADDRESSES);
    }

    #[test]
    fn two_hosts_are_one_too_many() {
        let with = |uri: &str, hosts: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(HOST, HeaderValue::from_static(host));
            }
            one_host(&uri.parse().unwrap(), &headers).is_ok()
        };
        assert!(with("/api/info", &["localhost"]));
        assert!(with("/api/info", &[]));
        assert!(with("http://localhost/api/info", &["localhost"]));
        assert!(!with("/api/info", &["localhost", "localhost"]));
        assert!(!with("http://evil.example/api/info", &["localhost"]));
        assert!(!with("http://localhost/api/info", &[]));
    }
}
