//! The key.

use std::fmt;

use reqwest::header::HeaderValue;

use crate::error::Error;

/// A key of a model's API. It goes into one header, and nowhere else: it can't be shown.
#[derive(Clone)]
pub struct Key(String);

impl Key {
    /// Takes a key; spaces and line ends around it, as files and shells leave them, do not count.
    pub fn new(key: impl AsRef<str>) -> Result<Self, Error> {
        let key = key.as_ref().trim();
        let is_plain = key.bytes().all(|byte| byte.is_ascii_graphic());
        if key.is_empty() || !is_plain {
            return Err(Error::Key);
        }
        Ok(Self(key.to_owned()))
    }

    /// The value of the header, marked so that HTTP libraries do not log it.
    pub(crate) fn header(&self) -> Result<HeaderValue, Error> {
        let mut value = HeaderValue::from_str(&self.0).map_err(|_| Error::Key)?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// The value of a header that carries it as a bearer token.
    pub(crate) fn bearer(&self) -> Result<HeaderValue, Error> {
        let mut value =
            HeaderValue::from_str(&format!("Bearer {}", self.0)).map_err(|_| Error::Key)?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// The key itself, for those who take it out of texts.
    pub(crate) fn secret(&self) -> String {
        self.0.clone()
    }

    /// A text from outside, without the key if it holds it.
    pub(crate) fn redact(&self, text: &str) -> String {
        text.replace(&self.0, "…")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Key")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_can_be_used_and_not_be_seen() {
        let key = Key::new(" s3cret\n").unwrap();
        assert_eq!(key.header().unwrap(), "s3cret");
        assert!(key.header().unwrap().is_sensitive());
        assert_eq!(key.bearer().unwrap(), "Bearer s3cret");
        assert!(key.bearer().unwrap().is_sensitive());
        assert_eq!(format!("{key:?} {key:#?}"), "Key Key");
        assert_eq!(key.redact("bad key s3cret!"), "bad key …!");
    }

    #[test]
    fn what_no_header_can_carry_is_no_key() {
        for text in ["", " ", "a b", "a\nb", "schlüssel"] {
            let error = Key::new(text).unwrap_err();
            assert!(text.trim().is_empty() || !error.to_string().contains(text));
        }
    }
}
