//! Tickets: short-lived passes for a WebSocket, since a page can't set headers on one.
//!
//! A ticket names its principal and its expiry, and is signed with a secret of this process, or of its
//! cluster. It is good for opening a socket and nothing else, for a minute, and once: what is seen in
//! a log or a referrer has been used. The minute is one of the store's clock, which all servers go by.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use store::{Nonces, StoreError};
use turn::{At, Principal};

use crate::shared_key::SharedKey;

/// How long a ticket is good for.
pub(crate) const LIFE: Duration = Duration::from_secs(60);

/// What tickets are signed with.
#[derive(Clone)]
pub struct Secret([u8; 64]);

impl Secret {
    /// A fresh one. Tickets of another process are not good here.
    pub fn fresh() -> Self {
        let mut bytes = [0; 64];
        // Without randomness there would be no TLS on this machine either.
        if getrandom::fill(&mut bytes).is_err() {
            tracing::error!("no randomness from the operating system: tickets can be guessed");
        }
        Self(bytes)
    }

    /// One that all servers of a cluster have: a ticket of any is good at all.
    pub fn of(key: &SharedKey) -> Self {
        Self(key.derive("tickets"))
    }

    pub(crate) fn issue(&self, principal: &Principal, now: At) -> String {
        let At(until) = now + LIFE;
        let mut nonce = [0; 16];
        if getrandom::fill(&mut nonce).is_err() {
            tracing::error!("no randomness from the operating system: tickets are refused");
        }
        let name = hex(principal.as_str().as_bytes());
        let claim = format!("{until}.{}.{name}", hex(&nonce));
        let seal = hex(&self.sign(&claim).finalize().into_bytes());
        format!("{claim}.{seal}")
    }

    /// Uses a ticket: its principal, if it is valid and was not used before.
    pub(crate) async fn redeem(
        &self,
        ticket: &str,
        now: At,
        nonces: &dyn Nonces,
    ) -> Result<Option<Principal>, StoreError> {
        let Some(claim) = self.check(ticket, now) else {
            return Ok(None);
        };
        let is_new = nonces.spend(claim.nonce, now, claim.until).await?;
        Ok(is_new.then_some(claim.principal))
    }

    fn check<'a>(&self, ticket: &'a str, now: At) -> Option<Claim<'a>> {
        let (claim, seal) = ticket.rsplit_once('.')?;
        self.sign(claim).verify_slice(&unhex(seal)?).ok()?;
        let (until, rest) = claim.split_once('.')?;
        let (nonce, name) = rest.split_once('.')?;
        let until = At(until.parse().ok()?);
        let name = String::from_utf8(unhex(name)?).ok()?;
        (until > now).then(|| Claim {
            principal: Principal::from(name),
            nonce,
            until,
        })
    }

    fn sign(&self, claim: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new(&self.0.into());
        mac.update(claim.as_bytes());
        mac
    }
}

/// The content of a ticket.
struct Claim<'a> {
    principal: Principal,
    nonce: &'a str,
    until: At,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    let digits = (0..text.len()).step_by(2);
    digits
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::Router;
    use axum::body::Body;
    use axum::http::Request;
    use engine::{Engine, Tools};
    use hyper::service::Service as _;
    use hyper_util::service::TowerToHyperService;

    use super::*;
    use crate::api::Api;
    use crate::identity::KeyIdentity;

    const NOW: At = At(1_700_000_000_000);

    #[tokio::test]
    async fn ticket_names_its_principal_and_is_good_once() {
        let nonces = store::memory::MemoryJournal::default();
        let secret = Secret::fresh();
        let ann = Principal::from("Ann Ø.");
        let (ticket, other) = (secret.issue(&ann, NOW), secret.issue(&ann, NOW));
        let stranger = Secret::fresh().redeem(&ticket, NOW, &nonces).await;
        assert_eq!(stranger, Ok(None));
        let redeemed = secret.redeem(&ticket, NOW, &nonces).await;
        assert_eq!(redeemed, Ok(Some(ann.clone())));
        assert_eq!(secret.redeem(&ticket, NOW, &nonces).await, Ok(None));
        assert_eq!(secret.redeem(&other, NOW, &nonces).await, Ok(Some(ann)));
    }

    #[tokio::test]
    async fn ticket_is_good_for_a_minute() {
        let nonces = store::memory::MemoryJournal::default();
        let secret = Secret::fresh();
        let ann = Principal::from("ann");
        let ticket = secret.issue(&ann, NOW);
        let is_over = NOW + Duration::from_secs(60);
        assert_eq!(secret.redeem(&ticket, is_over, &nonces).await, Ok(None));
        let soon = At(is_over.0 - 1);
        assert_eq!(secret.redeem(&ticket, soon, &nonces).await, Ok(Some(ann)));
    }

    #[tokio::test(start_paused = true)]
    async fn ticket_goes_by_the_clock_of_the_store_and_not_by_that_of_this_machine() {
        let stores = store::open(store::Location::Memory).await.unwrap();
        let server = async |ahead| {
            let demo = Arc::new(demo::Demo::new());
            let engine = Engine::builder(stores.journal.clone(), demo, Tools::new());
            let engine = engine.clock_ahead(ahead).build();
            engine.compare_clocks().await.unwrap();
            let nonces = stores.nonces.clone();
            let insecure = true;
            let identity = KeyIdentity {
                insecure,
                ..KeyIdentity::default()
            }
            .into();
            Api {
                nonces,
                identity,
                ..Api::new(engine)
            }
        };
        let right = server(Duration::ZERO).await;
        let mut ahead = server(10 * LIFE).await;
        ahead.secret = right.secret.clone();
        let servers = [right, ahead].map(Api::router);
        // This machine's clock is now behind the store's by an hour.
        tokio::time::advance(Duration::from_secs(3600)).await;
        for (issuing, opening) in [(0, 1), (1, 0), (1, 1)] {
            let (issuing, opening) = (&servers[issuing], &servers[opening]);
            let ticket = issue(issuing).await;
            // It is taken, and then the request is none for a socket.
            assert_eq!(open(opening, &ticket).await, 426);
            // A server that redeems one forgets what has expired.
            for other in &servers {
                assert_eq!(open(other, &issue(other).await).await, 426);
                assert_eq!(open(other, &ticket).await, 401);
            }
            let late = issue(issuing).await;
            tokio::time::advance(LIFE).await;
            assert_eq!(open(opening, &late).await, 401);
        }
    }

    async fn issue(server: &Router) -> String {
        let request = Request::post("/api/ticket").body(Body::empty()).unwrap();
        let answer = TowerToHyperService::new(server.clone())
            .call(request)
            .await
            .unwrap();
        let body = axum::body::to_bytes(answer.into_body(), 1024)
            .await
            .unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&body).unwrap();
        answer["ticket"].as_str().unwrap().to_owned()
    }

    async fn open(server: &Router, ticket: &str) -> u16 {
        let path = format!("/live?ticket={ticket}");
        let request = Request::get(path).body(Body::empty()).unwrap();
        let answer = TowerToHyperService::new(server.clone())
            .call(request)
            .await
            .unwrap();
        answer.status().as_u16()
    }

    #[test]
    fn ticket_can_not_be_changed() {
        let secret = Secret::fresh();
        let ticket = secret.issue(&Principal::from("ann"), NOW);
        assert!(secret.check(&ticket, NOW).is_some());
        let later = ticket.replacen('1', "9", 1);
        assert!(secret.check(&later, NOW).is_none());
        for bad in ["", ".", "..", "1.2", "1.zz.zz", "1.2.zz.zz", "é.é.é"] {
            assert!(secret.check(bad, NOW).is_none(), "{bad}");
        }
    }
}
