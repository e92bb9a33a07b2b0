//! Tickets: short-lived passes for a WebSocket, since a page can't set headers on one.
//!
//! A ticket says whose it is and until when, and is signed with a secret of this process. It is good
//! for opening a socket and nothing else, and for a minute.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use turn::Principal;

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
            tracing::error!("the operating system gives no randomness: tickets can be guessed");
        }
        Self(bytes)
    }

    /// One that all servers of a cluster have: a ticket of any is good at all.
    pub(crate) fn of(key: &SharedKey) -> Self {
        Self(key.derive("tickets"))
    }

    pub(crate) fn issue(&self, principal: &Principal) -> String {
        let until = (now() + LIFE).as_millis();
        let claim = format!("{until}.{}", hex(principal.as_str().as_bytes()));
        let seal = hex(&self.sign(&claim).finalize().into_bytes());
        format!("{claim}.{seal}")
    }

    pub(crate) fn check(&self, ticket: &str) -> Option<Principal> {
        let (claim, seal) = ticket.rsplit_once('.')?;
        self.sign(claim).verify_slice(&unhex(seal)?).ok()?;
        let (until, name) = claim.split_once('.')?;
        let is_good = until.parse::<u128>().ok()? > now().as_millis();
        let name = String::from_utf8(unhex(name)?).ok()?;
        is_good.then(|| Principal::from(name))
    }

    fn sign(&self, claim: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new(&self.0.into());
        mac.update(claim.as_bytes());
        mac
    }
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

    #[test]
    fn ticket_names_its_principal_and_can_not_be_changed() {
        let secret = Secret::fresh();
        let ann = Principal::from("Ann Ø.");
        let ticket = secret.issue(&ann);
        assert_eq!(secret.check(&ticket), Some(ann));
        assert_eq!(Secret::fresh().check(&ticket), None);
        let later = ticket.replacen('1', "9", 1);
        assert_eq!(secret.check(&later), None);
        for bad in ["", ".", "..", "1.2", "1.zz.zz", "é.é.é"] {
            assert_eq!(secret.check(bad), None, "{bad}");
        }
    }
}
