//! Reading JSON with errors that name the path of what is wrong: `messages[2].parts[0].state`.
//!
//! serde's derived decoders lose the path inside tagged enums and drop unknown fields, so every type
//! of this crate is read through [`Fields`] instead: it takes known fields out of an object, one by
//! one, and hands back what is left.

mod field;
mod record;
mod strict;

use std::fmt;

use serde_json::{Map, Value};

pub(crate) use self::record::{names, record};
use self::strict::{DUPLICATE_KEY, Strict};

/// What was wrong with bytes from outside, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    /// The path of the offending value, such as `messages[2].parts[0].state`; empty for the whole.
    pub path: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The bytes are not JSON (or not UTF-8); the parser's own message.
    NotJson(String),
    /// More bytes than the limit.
    TooLarge {
        /// How many bytes are allowed.
        limit: usize,
    },
    /// Nested deeper than the limit.
    TooDeep {
        /// How many levels are allowed.
        limit: usize,
    },
    /// More elements than the limit.
    TooMany {
        /// How many are allowed.
        limit: usize,
    },
    /// A required field is not there.
    Missing,
    /// The value has another type than the one expected.
    WrongType {
        /// What would have been right.
        expected: &'static str,
    },
    /// The value is of the right type, and not one of those known.
    UnknownValue {
        /// What was found, cut short.
        found: String,
        /// What would have been right.
        expected: &'static str,
    },
    /// A field that the strict releases of the SDK refuse.
    UnknownField,
    /// An object that names a key twice; the parser's own message, with the key.
    DuplicateKey(String),
    /// A number that is to run as it is written, and would be rounded; the number, cut short.
    RoundedNumber(String),
    /// An id that is empty, too long, or holds a control character.
    BadId(&'static str),
    /// The same of a chat's id, which has a code of its own.
    BadChatId(&'static str),
}

impl Problem {
    /// A stable code for machines, listed in `docs/errors.md`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotJson(_) => "not_json",
            Self::TooLarge { .. } => "too_large",
            Self::TooDeep { .. } => "too_deep",
            Self::TooMany { .. } => "too_many",
            Self::Missing => "missing_field",
            Self::WrongType { .. } => "wrong_type",
            Self::UnknownValue { .. } => "unknown_value",
            Self::UnknownField => "unknown_field",
            Self::DuplicateKey(_) => "duplicate_key",
            Self::RoundedNumber(_) => "rounded_number",
            Self::BadId(_) => "bad_id",
            Self::BadChatId(_) => "invalid_chat_id",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(why) => write!(out, "not valid JSON: {why}"),
            Self::TooLarge { limit } => write!(out, "larger than {limit} bytes"),
            Self::TooDeep { limit } => write!(out, "nested deeper than {limit} levels"),
            Self::TooMany { limit } => write!(out, "more than {limit} elements"),
            Self::Missing => out.write_str("missing"),
            Self::WrongType { expected } => write!(out, "expected {expected}"),
            Self::UnknownValue { found, expected } => {
                write!(out, "expected {expected}, found {found:?}")
            }
            Self::UnknownField => out.write_str("unknown field"),
            Self::DuplicateKey(what) => out.write_str(what),
            Self::RoundedNumber(number) => write!(
                out,
                "{number} would be rounded: write fewer digits, or a text where one is taken"
            ),
            Self::BadId(why) => write!(out, "not a usable id: {why}"),
            Self::BadChatId(why) => write!(out, "not a usable chat id: {why}"),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            self.problem.fmt(out)
        } else {
            write!(out, "{}: {}", self.path, self.problem)
        }
    }
}

impl std::error::Error for DecodeError {}

/// A path into a JSON value, built on the stack so that only an error pays for it.
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl<'a> Path<'a> {
    pub(crate) fn key(&'a self, key: &'a str) -> Path<'a> {
        Path::Key(self, key)
    }

    pub(crate) fn index(&'a self, index: usize) -> Path<'a> {
        Path::Index(self, index)
    }

    pub(crate) fn error(&self, problem: Problem) -> DecodeError {
        DecodeError {
            path: self.to_string(),
            problem,
        }
    }

    pub(crate) fn expected(&self, expected: &'static str) -> DecodeError {
        self.error(Problem::WrongType { expected })
    }

    pub(crate) fn unknown(&self, found: &str, expected: &'static str) -> DecodeError {
        // What was found comes from outside, and the error may be logged: keep it short.
        let found = found.chars().take(64).collect();
        self.error(Problem::UnknownValue { found, expected })
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Path::Root, key) => out.write_str(key),
            Self::Key(parent, key) => write!(out, "{parent}.{key}"),
            Self::Index(parent, index) => write!(out, "{parent}[{index}]"),
        }
    }
}

/// What `null` means for an optional field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// An error, as it is to the client's schema of chunks.
    Refused,
    /// The same as no field, since clients send such things.
    Absent,
}

/// An object that is being read: known fields are taken out, the rest remains.
pub(crate) struct Fields<'p> {
    map: Map<String, Value>,
    path: Path<'p>,
    nulls: Nulls,
}

impl<'p> Fields<'p> {
    pub(crate) fn of(value: Value, path: Path<'p>, nulls: Nulls) -> Result<Self, DecodeError> {
        match value {
            Value::Object(map) => Ok(Self { map, path, nulls }),
            _ => Err(path.expected("an object")),
        }
    }

    /// Takes a field, read as whatever type the caller needs.
    pub(crate) fn take<T: Field>(&mut self, key: &'static str) -> Result<T, DecodeError> {
        let value = self.map.shift_remove(key);
        T::read(value, self.path.key(key), self.nulls)
    }

    /// What was not taken, in its order.
    pub(crate) fn rest(self) -> Map<String, Value> {
        self.map
    }

    /// Takes what is left.
    pub(crate) fn take_rest(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.map)
    }

    /// Everything must have been taken: what is left is an error.
    pub(crate) fn nothing_left(self) -> Result<(), DecodeError> {
        match self.map.keys().next() {
            Some(key) => Err(self.path.key(key).error(Problem::UnknownField)),
            None => Ok(()),
        }
    }

    pub(crate) fn path(&self) -> Path<'p> {
        self.path
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    pub(crate) fn peek(&self, key: &str) -> Option<&Value> {
        self.map.get(key)
    }
}

/// A type that one field of an object can hold.
pub(crate) trait Field: Sized {
    /// What a value of this type is called in an error.
    const EXPECTED: &'static str;

    /// Whether `null` is a value, as it is where the SDK's schema has `unknown`.
    const NULL_IS_A_VALUE: bool = false;

    fn from_value(value: Value, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError>;

    /// Whether the field is left out when it is written.
    fn is_absent(&self) -> bool {
        false
    }

    /// Reads the field, or returns its default when it is not there.
    fn read(value: Option<Value>, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError> {
        match value {
            Some(value) => Self::from_value(value, path, nulls),
            None => Err(path.error(Problem::Missing)),
        }
    }
}

impl<T: Field> Field for Box<T> {
    const EXPECTED: &'static str = T::EXPECTED;
    const NULL_IS_A_VALUE: bool = T::NULL_IS_A_VALUE;

    fn from_value(value: Value, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError> {
        T::from_value(value, path, nulls).map(Self::new)
    }
}

/// How many bytes an id may have: ids of chats, messages, calls and approvals. A chat that is opened
/// takes a shorter one.
pub const ID_BYTES: usize = 512;

/// An id as it comes from outside: a key of the journal, so it is checked before it is used.
pub(crate) struct Id(pub(crate) String);

impl Id {
    pub(crate) fn check(id: &str, path: Path<'_>) -> Result<(), DecodeError> {
        match Self::problem(id) {
            Some(problem) => Err(path.error(Problem::BadId(problem))),
            None => Ok(()),
        }
    }

    fn problem(id: &str) -> Option<&'static str> {
        if id.is_empty() {
            Some("it is empty")
        } else if id.len() > ID_BYTES {
            Some("it is longer than 512 bytes")
        } else if id.chars().any(char::is_control) {
            Some("it holds a control character")
        } else {
            None
        }
    }
}

impl Field for Id {
    const EXPECTED: &'static str = "an id";

    fn from_value(value: Value, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError> {
        let id = String::from_value(value, path, nulls)?;
        Self::check(&id, path)?;
        Ok(Self(id))
    }
}

/// The id of a chat.
pub(crate) struct ChatId(pub(crate) String);

impl Field for ChatId {
    const EXPECTED: &'static str = Id::EXPECTED;

    fn from_value(value: Value, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError> {
        let id = String::from_value(value, path, nulls)?;
        match Id::problem(&id) {
            Some(problem) => Err(path.error(Problem::BadChatId(problem))),
            None => Ok(Self(id)),
        }
    }
}

/// Parses bytes into a value no deeper than `depth` levels, as leniently as a client does.
///
/// serde_json stops at 128 levels by itself, so a larger `depth` has no effect.
pub(crate) fn json(bytes: &[u8], depth: usize) -> Result<Value, DecodeError> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| unreadable(&error, depth))?;
    within_depth(&value, depth, depth, Path::Root)?;
    Ok(value)
}

/// The same for what a client sends: an object that names a key twice is refused.
pub(crate) fn strict_json(bytes: &[u8], depth: usize) -> Result<Value, DecodeError> {
    let value: Result<Strict, _> = serde_json::from_slice(bytes);
    let Strict(value) = value.map_err(|error| unreadable(&error, depth))?;
    within_depth(&value, depth, depth, Path::Root)?;
    Ok(value)
}

fn unreadable(error: &serde_json::Error, depth: usize) -> DecodeError {
    let words = error.to_string();
    Path::Root.error(if words.starts_with("recursion limit exceeded") {
        Problem::TooDeep { limit: depth }
    } else if words.starts_with(DUPLICATE_KEY) {
        Problem::DuplicateKey(words)
    } else {
        Problem::NotJson(words)
    })
}

fn within_depth(
    value: &Value,
    left: usize,
    limit: usize,
    path: Path<'_>,
) -> Result<(), DecodeError> {
    if !matches!(value, Value::Object(_) | Value::Array(_)) {
        return Ok(());
    }
    let Some(left) = left.checked_sub(1) else {
        return Err(path.error(Problem::TooDeep { limit }));
    };
    match value {
        Value::Object(map) => map
            .iter()
            .try_for_each(|(key, value)| within_depth(value, left, limit, path.key(key))),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, value)| within_depth(value, left, limit, path.index(index))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn error_names_the_path_and_the_problem() {
        let messages = Path::Root.key("messages");
        let third = messages.index(2);
        let parts = third.key("parts");
        let first = parts.index(0);
        let error = first.key("state").unknown("done", "a tool state");
        assert_eq!(
            error.to_string(),
            r#"messages[2].parts[0].state: expected a tool state, found "done""#
        );
        assert_eq!(error.problem.code(), "unknown_value");
    }

    #[test]
    fn depth_counts_objects_and_arrays_and_names_the_level() {
        let bytes = br#"{"a":[{"b":1}]}"#;
        assert_eq!(json(bytes, 3).unwrap(), json!({"a":[{"b":1}]}));
        let error = json(bytes, 2).unwrap_err();
        assert_eq!(error.path, "a[0]");
        assert_eq!(error.problem, Problem::TooDeep { limit: 2 });
    }

    #[test]
    fn key_that_is_given_twice_is_refused_by_name_at_any_depth() {
        for text in [
            r#"{"approved":false,"approved":true}"#,
            r#"[{"a":[{"approved":true,"b":1,"approved":true}]}]"#,
            r#"{"approved":false,"\u0061pproved":true}"#,
        ] {
            let error = strict_json(text.as_bytes(), 64).unwrap_err();
            assert_eq!(error.problem.code(), "duplicate_key", "{text}");
            let message = error.to_string();
            assert!(
                message.starts_with(r#"duplicate key "approved""#),
                "{message}"
            );
        }
    }

    #[test]
    fn strict_reading_reads_the_same_values() {
        let text = r#"{"a":[1,-1,18446744073709551615,0.1,1e20,true,null,"\u00e9"],"b":{"a":{}}}"#;
        let lenient: Value = serde_json::from_str(text).unwrap();
        assert_eq!(strict_json(text.as_bytes(), 64).unwrap(), lenient);
        let bytes = "[".repeat(100_000);
        let error = strict_json(bytes.as_bytes(), 64).unwrap_err();
        assert_eq!(error.problem, Problem::TooDeep { limit: 64 });
        let error = strict_json(b"{", 64).unwrap_err();
        assert_eq!(error.problem.code(), "not_json");
    }

    #[test]
    fn nesting_beyond_the_parser_is_too_deep_and_not_a_crash() {
        let bytes = "[".repeat(100_000);
        let error = json(bytes.as_bytes(), 64).unwrap_err();
        assert_eq!(error.problem, Problem::TooDeep { limit: 64 });
    }

    #[test]
    fn null_is_refused_for_chunks_and_absent_for_messages() {
        let read = |nulls| {
            let mut fields = Fields::of(json!({"title": null}), Path::Root, nulls).unwrap();
            fields.take::<Option<String>>("title")
        };
        assert_eq!(read(Nulls::Absent), Ok(None));
        assert_eq!(read(Nulls::Refused).unwrap_err().path, "title");
    }
}
