//! The name that the chunks of one block share.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::decode::{DecodeError, Field, Nulls, Path};

/// The id of a text or a reasoning, which every delta of it has.
///
/// On the wire it is a string. The names that a server gives are numbers, and a number needs no memory
/// of its own: a delta is the smallest thing that a server keeps, and there are many.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct BlockId(Name);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Name {
    Number(u32),
    /// Never one that a number could be written as, so that what is equal is found to be.
    Text(Box<str>),
}

impl BlockId {
    /// The id as it is on the wire.
    pub fn to_str(&self) -> Cow<'_, str> {
        match &self.0 {
            Name::Number(number) => number.to_string().into(),
            Name::Text(text) => Cow::Borrowed(text),
        }
    }

    /// Appends the id as JSON text.
    pub(super) fn write_json(&self, out: &mut Vec<u8>) {
        // Writing to memory can't fail.
        let _ = match &self.0 {
            Name::Number(number) => {
                out.push(b'"');
                let written = serde_json::to_writer(&mut *out, number);
                out.push(b'"');
                written
            }
            Name::Text(text) => serde_json::to_writer(out, text),
        };
    }
}

impl From<u32> for BlockId {
    fn from(number: u32) -> Self {
        Self(Name::Number(number))
    }
}

impl From<String> for BlockId {
    fn from(text: String) -> Self {
        let number = text.parse().ok();
        let number = number.filter(|number: &u32| number.to_string() == text);
        Self(number.map_or_else(|| Name::Text(text.into()), Name::Number))
    }
}

impl From<&str> for BlockId {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Default for BlockId {
    fn default() -> Self {
        Self(Name::Text(Box::default()))
    }
}

impl fmt::Debug for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_str().fmt(f)
    }
}

impl Serialize for BlockId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Name::Number(number) => serializer.collect_str(number),
            Name::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl Field for BlockId {
    const EXPECTED: &'static str = String::EXPECTED;

    fn from_value(value: Value, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError> {
        String::from_value(value, path, nulls).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_same_however_it_was_made() {
        assert_eq!(BlockId::from("42"), BlockId::from(42));
        assert_ne!(BlockId::from("042"), BlockId::from(42));
        for text in [
            "",
            "0",
            "7",
            "042",
            "+1",
            "-1",
            "4294967295",
            "4294967296",
            "b\"1",
            "é",
        ] {
            let id = BlockId::from(text);
            assert_eq!(id.to_str(), text);
            let mut written = Vec::new();
            id.write_json(&mut written);
            assert_eq!(serde_json::from_slice::<String>(&written).unwrap(), text);
        }
    }
}
