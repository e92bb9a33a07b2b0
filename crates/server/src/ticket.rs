//! Tickets: short-lived passes for a WebSocket, since a page can't set headers on one.
//!
//! A ticket names its principal and its expiry, and is signed with a secret of this process, or of its
//! cluster. It is good for opening a socket and nothing else, for a minute, and once: what is seen in
//! a log or a referrer has been used.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

    pub(crate) fn issue(&self, principal: &Principal) -> String {
        self.issue_until(principal, now() + LIFE)
    }

    fn issue_until(&self, principal: &Principal, until: Duration) -> String {
        let until = until.as_millis();
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
        nonces: &dyn Nonces,
    ) -> Result<Option<Principal>, StoreError> {
        let Some(claim) = self.check(ticket) else {
            return Ok(None);
        };
        let now = u64::try_from(now().as_millis()).unwrap_or(u64::MAX);
        let is_new = nonces.spend(claim.nonce, At(now), claim.until).await?;
        Ok(is_new.then_some(claim.principal))
    }

    fn check<'a>(&self, ticket: &'a str) -> Option<Claim<'a>> {
        let (claim, seal) = ticket.rsplit_once('.')?;
        self.sign(claim).verify_slice(&unhex(seal)?).ok()?;
        let (until, rest) = claim.split_once('.')?;
        let (nonce, name) = rest.split_once('.')?;
        let until = until.parse().ok()?;
        let is_good = u128::from(until) > now().as_millis();
        let name = String::from_utf8(unhex(name)?).ok()?;
        is_good.then(|| Claim {
            principal: Principal::from(name),
            nonce,
            until: At(until),
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

fn now() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
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
    use super::*;

    #[tokio::test]
    async fn ticket_names_its_principal_and_is_good_once() {
        let nonces = store::memory::MemoryJournal::default();
        let secret = Secret::fresh();
        let ann = Principal::from("Ann Ø.");
        let (ticket, other) = (secret.issue(&ann), secret.issue(&ann));
        let stranger = Secret::fresh().redeem(&ticket, &nonces).await;
        assert_eq!(stranger, Ok(None));
        let redeemed = secret.redeem(&ticket, &nonces).await;
        assert_eq!(redeemed, Ok(Some(ann.clone())));
        assert_eq!(secret.redeem(&ticket, &nonces).await, Ok(None));
        assert_eq!(secret.redeem(&other, &nonces).await, Ok(Some(ann)));
    }

    #[tokio::test]
    async fn ticket_is_good_for_a_minute() {
        let nonces = store::memory::MemoryJournal::default();
        let secret = Secret::fresh();
        let ann = Principal::from("ann");
        let before = now();
        let Claim { until, .. } = secret.check(&secret.issue(&ann)).unwrap();
        let life = Duration::from_millis(until.0) - before;
        assert!(life <= LIFE + (now() - before), "{life:?}");
        assert_eq!(LIFE, Duration::from_secs(60));
        let late = secret.issue_until(&ann, now());
        assert_eq!(secret.redeem(&late, &nonces).await, Ok(None));
        let soon = secret.issue_until(&ann, now() + LIFE);
        assert_eq!(secret.redeem(&soon, &nonces).await, Ok(Some(ann)));
    }

    #[test]
    fn ticket_can_not_be_changed() {
        let secret = Secret::fresh();
        let ticket = secret.issue(&Principal::from("ann"));
        assert!(secret.check(&ticket).is_some());
        let later = ticket.replacen('1', "9", 1);
        assert!(secret.check(&later).is_none());
        for bad in ["", ".", "..", "1.2", "1.zz.zz", "1.2.zz.zz", "é.é.é"] {
            assert!(secret.check(bad).is_none(), "{bad}");
        }
    }
}
