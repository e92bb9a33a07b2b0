//! Names of tools, with a `*` for any characters.

use std::fmt;
use std::str::FromStr;

/// How long a pattern may be.
const MAX_BYTES: usize = 256;

/// A name of a tool, or several: `*` matches any characters, none included.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pattern(String);

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError(String);

impl fmt::Display for PatternError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for PatternError {}

impl Pattern {
    /// A pattern, if it is one.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        if text.is_empty() || text.len() > MAX_BYTES {
            let why = format!("a pattern has 1 to {MAX_BYTES} bytes");
            return Err(PatternError(why));
        }
        if let Some(odd) = text
            .chars()
            .find(|c| c.is_whitespace() || c.is_control() || "?[]{}\\".contains(*c))
        {
            let why = format!("{odd:?} in {text:?}: * is the only wildcard of a pattern");
            return Err(PatternError(why));
        }
        Ok(Self(text.to_owned()))
    }

    /// Whether a name fits.
    pub fn matches(&self, name: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else {
            return self.0 == name;
        };
        let Some(mut name) = name.strip_prefix(first) else {
            return false;
        };
        let mut parts = rest.split('*').peekable();
        while let Some(part) = parts.next() {
            // The last part is at the end; each other one at the earliest place that is left.
            if parts.peek().is_none() {
                return name.ends_with(part);
            }
            match name.find(part) {
                Some(at) => name = &name[at + part.len()..],
                None => return false,
            }
        }
        true
    }

    /// Whether it is one name.
    pub fn is_name(&self) -> bool {
        !self.0.contains('*')
    }

    /// How much of a name it says: patterns that say more go first.
    pub(crate) fn precision(&self) -> (bool, usize) {
        let literal = self.0.bytes().filter(|byte| *byte != b'*').count();
        (self.is_name(), literal)
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_stands_for_any_characters() {
        for (pattern, name, is_match) in [
            ("crm.find", "crm.find", true),
            ("crm.find", "crm.find2", false),
            ("crm.*", "crm.find", true),
            ("crm.*", "crm.", true),
            ("crm.*", "crm", false),
            ("*", "anything", true),
            ("*_secret", "get_secret", true),
            ("*_secret", "get_secrets", false),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "ac", false),
            ("a*a", "a", false),
            ("a*b*b", "ab", false),
            ("**x", "x", true),
        ] {
            let pattern = Pattern::new(pattern).unwrap();
            assert_eq!(pattern.matches(name), is_match, "{pattern} {name}");
        }
    }

    #[test]
    fn other_wildcards_are_refused() {
        for text in ["", "a?", "[ab]", "{a,b}", "a b", "a\\*", "\u{0}"] {
            assert!(Pattern::new(text).is_err(), "{text:?}");
        }
    }
}
