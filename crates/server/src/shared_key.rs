//! A key that two sides share: the servers of a cluster, or this server and the agent's tools.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// What to do with a key that everybody knows.
pub(crate) const REPLACE_IT: &str = "replace it, as by `openssl rand -hex 16`";

/// Whether a key is what samples have in the place of one. Everybody knows it.
pub(crate) fn is_placeholder(key: &str) -> bool {
    let key = key.to_ascii_lowercase().replace('_', "-");
    let samples = [
        "replace-this",
        "replace-me",
        "change-this",
        "change-me",
        "changeme",
    ];
    samples.iter().any(|sample| key.contains(sample))
}

/// What another side is known by. It is never shown.
#[derive(Clone)]
pub struct SharedKey(Arc<str>);

impl SharedKey {
    /// Takes a key of at least 16 characters that a header can carry.
    pub fn new(key: &str) -> Result<Self, String> {
        let key = key.trim();
        if key.len() < 16 || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("not a key: it needs at least 16 characters, and no spaces".to_owned());
        }
        if is_placeholder(key) {
            return Err(format!("not a key, but the text of a sample: {REPLACE_IT}"));
        }
        Ok(Self(key.into()))
    }

    /// Whether it is the key that was given, in constant time.
    pub(crate) fn is(&self, given: &[u8]) -> bool {
        let digest = |bytes: &[u8]| Sha256::digest(bytes);
        digest(given).ct_eq(&digest(self.0.as_bytes())).into()
    }

    /// The key itself, to be sent to the other side.
    #[cfg(feature = "cluster")]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Bytes that only those who share it have, for a purpose.
    pub(crate) fn derive(&self, purpose: &str) -> [u8; 64] {
        let mut bytes = [0; 64];
        for (half, number) in bytes.chunks_mut(32).zip(0_u8..) {
            let mut digest = Sha256::new();
            digest.update(self.0.as_bytes());
            digest.update([0, number]);
            digest.update(purpose.as_bytes());
            half.copy_from_slice(&digest.finalize());
        }
        bytes
    }
}

impl fmt::Debug for SharedKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SharedKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_long_enough_and_is_known_by_itself_alone() {
        for bad in [
            "short",
            "fifteen-letters",
            "sixteen letters and a space",
            "REPLACE-THIS-CLUSTER-KEY",
            "change_me_change_me",
            "",
        ] {
            assert!(SharedKey::new(bad).is_err(), "{bad}");
        }
        let key = SharedKey::new(" a-key-of-sixteen-and-more\n").unwrap();
        assert!(key.is(b"a-key-of-sixteen-and-more"));
        assert!(!key.is(b"a-key-of-sixteen-and-mor"));
        assert!(!key.is(b""));
        assert_eq!(format!("{key:?}"), "SharedKey");
    }
}
