//! Keys, each with the name of its principal.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use turn::Principal;

use crate::shared_key::{REPLACE_IT, is_placeholder};

/// How long a key is at least, in characters: shorter ones can be guessed.
const SHORTEST: usize = 16;

/// Keys, each with the name of its principal. They are kept as hashes: what is not here can't leak.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Keys(Vec<(Principal, [u8; 32])>);

impl Keys {
    /// Whether there are none, and so only this machine is served.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The principal of a key. All keys are compared, in constant time.
    pub(crate) fn principal(&self, key: &str) -> Option<&Principal> {
        let hash = hash(key);
        let mut found = None;
        for (principal, known) in &self.0 {
            if bool::from(known.ct_eq(&hash)) {
                found = Some(principal);
            }
        }
        found
    }

    /// Adds `NAME=KEY` or `NAME=sha256:HEX`; an empty text adds none.
    pub(crate) fn add(&mut self, pair: &str) -> Result<(), String> {
        // A key is never quoted back.
        let problem = "expected NAME=KEY or NAME=sha256:HEX, with commas between";
        let pair = pair.trim();
        if pair.is_empty() {
            return Ok(());
        }
        let (name, key) = pair.split_once('=').ok_or(problem)?;
        if name.is_empty() || key.is_empty() {
            return Err(problem.to_owned());
        }
        if name.starts_with('@') {
            return Err(format!("{name}: names that begin with @ are reserved"));
        }
        let hash = match key.strip_prefix("sha256:") {
            Some(hex) => unhex(hex).ok_or("sha256: takes 64 hexadecimal digits")?,
            None if key.chars().count() < SHORTEST => {
                return Err(format!(
                    "the key of {name} is too short: it needs at least {SHORTEST} characters, as \
                     `openssl rand -hex 16` makes them"
                ));
            }
            None if is_placeholder(key) => {
                return Err(format!(
                    "the key of {name} is the text of a sample: {REPLACE_IT}"
                ));
            }
            None => hash(key),
        };
        self.insert(Principal::from(name), hash)
    }

    /// Adds the keys of others.
    pub fn extend(&mut self, others: Self) -> Result<(), String> {
        for (principal, hash) in others.0 {
            self.insert(principal, hash)?;
        }
        Ok(())
    }

    fn insert(&mut self, principal: Principal, hash: [u8; 32]) -> Result<(), String> {
        if self.0.iter().any(|(_, known)| *known == hash) {
            return Err(format!("{principal} has the same key as another"));
        }
        self.0.push((principal, hash));
        Ok(())
    }
}

impl FromStr for Keys {
    type Err = String;

    /// Reads `alice=KEY,bob=sha256:HEX`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut keys = Self::default();
        for pair in text.split(',') {
            keys.add(pair)?;
        }
        Ok(keys)
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|(principal, _)| principal);
        out.debug_list().entries(names).finish()
    }
}

fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

fn unhex(hex: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_its_principal() {
        let keys: Keys = "alice=a-key-of-alices-own, bob=sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
            .parse()
            .unwrap();
        assert_eq!(
            keys.principal("a-key-of-alices-own"),
            Some(&Principal::from("alice"))
        );
        assert_eq!(keys.principal("secret"), Some(&Principal::from("bob")));
        assert_eq!(keys.principal(""), None);
    }

    #[test]
    fn mistakes_are_reported_without_the_key() {
        for text in [
            "secret",
            "=secret",
            "a=",
            "a=sha256:12",
            "a=secret-15-chars",
            "a=replace-this-secret-key",
            "a=secret",
            "@agent=secret-of-sixteen-or-more",
            "a=secret-of-sixteen-or-more,b=secret-of-sixteen-or-more",
        ] {
            let error = text.parse::<Keys>().unwrap_err();
            assert!(!error.contains("secret"), "{error}");
        }
        let keys: Keys = "a=secret-of-sixteen-or-more".parse().unwrap();
        assert_eq!(format!("{keys:?}"), "[Principal(\"a\")]");
    }
}
