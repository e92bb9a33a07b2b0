//! Texts with parameters: `{name}` is a field of the input, `{$call}` the id of the call.

use std::fmt::Write;

use serde_json::{Map, Value};
use turn::TraceContext;

use super::HttpError;
use super::secret::Secret;
use crate::fence::Fence;

/// A text with parameters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template(pub(crate) Vec<Piece>);

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Field(String),
    Call,
    Secret(Secret),
}

/// What a template is filled with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Values<'a> {
    pub(crate) input: &'a Map<String, Value>,
    pub(crate) call: &'a str,
    /// Under which claim of the chat the call runs; nothing before anything runs.
    pub(crate) fence: Option<&'a Fence>,
    /// The call's span, if the turn is traced.
    pub(crate) trace: Option<&'a TraceContext>,
}

impl Template {
    /// Reads a template.
    pub fn parse(text: &str) -> Result<Self, HttpError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(open);
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            let name = from.strip_prefix('{').and_then(|name| name.split_once('}'));
            let Some((name, after)) = name else {
                return Err(HttpError(format!("`{text}` has an unmatched brace")));
            };
            let is_name = |c: char| c.is_alphanumeric() || "_-.$".contains(c);
            pieces.push(match name {
                "$call" => Piece::Call,
                name if name.is_empty() || name.starts_with('$') || !name.chars().all(is_name) => {
                    return Err(HttpError(format!("`{{{name}}}` is no parameter's name")));
                }
                name => Piece::Field(name.to_owned()),
            });
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Self(pieces))
    }

    /// A text without parameters.
    pub fn literal(text: &str) -> Self {
        Self(vec![Piece::Text(text.to_owned())])
    }

    /// One field of the input.
    pub fn field(name: &str) -> Self {
        Self(vec![Piece::Field(name.to_owned())])
    }

    /// The same with a secret at its end.
    #[must_use]
    pub fn with_secret(mut self, secret: Secret) -> Self {
        self.0.push(Piece::Secret(secret));
        self
    }

    /// The fields that it needs.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Field(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Whether it is the same for every call.
    pub(crate) fn is_plain(&self) -> bool {
        let varies = |piece: &Piece| matches!(piece, Piece::Field(_) | Piece::Call);
        !self.0.iter().any(varies)
    }

    /// Its secrets.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Secret(secret) => Some(secret),
            _ => None,
        })
    }

    /// The field, if it is that and nothing else.
    pub(crate) fn only_field(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Piece::Field(name)] => Some(name),
            _ => None,
        }
    }

    /// The text; nothing, where a field is missing.
    pub(crate) fn fill(&self, values: Values<'_>) -> Result<Option<String>, String> {
        self.fill_with(values, str::to_owned)
    }

    /// The same with everything encoded that is not written in the template itself.
    pub(crate) fn fill_encoded(&self, values: Values<'_>) -> Result<Option<String>, String> {
        self.fill_with(values, encode)
    }

    fn fill_with(
        &self,
        values: Values<'_>,
        write: impl Fn(&str) -> String,
    ) -> Result<Option<String>, String> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Call => text.push_str(&write(values.call)),
                Piece::Secret(secret) => text.push_str(&write(secret.expose())),
                Piece::Field(name) => match values.input.get(name) {
                    None | Some(Value::Null) => return Ok(None),
                    Some(value) => text.push_str(&write(&scalar(name, value)?)),
                },
            }
        }
        Ok(Some(text))
    }
}

/// A value as text.
pub(crate) fn scalar(name: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(is_true) => Ok(is_true.to_string()),
        _ => Err(format!("{name} must be a text, a number, true or false")),
    }
}

/// Everything percent-encoded but what may stand anywhere in a URL.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => {
                // Writing to a string does not fail.
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_have_to_match_and_to_name_something() {
        for bad in ["{", "}", "a{b", "a}b", "{}", "{a b}", "{$key}", "{a{b}}"] {
            assert!(Template::parse(bad).is_err(), "{bad}");
        }
        let template = Template::parse("a{b}c{$call}").unwrap();
        assert_eq!(template.fields().collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn nothing_but_unreserved_characters_is_left_as_it_is() {
        assert_eq!(encode("a-b_c.d~9"), "a-b_c.d~9");
        assert_eq!(encode("/?#%&=+ \r\n"), "%2F%3F%23%25%26%3D%2B%20%0D%0A");
        assert_eq!(encode("é"), "%C3%A9");
    }
}
