//! Records: structs that read any JSON object, in both letter cases, and keep what they do not know.
//!
//! Derived decoders can't do that: an alias for every name, an error for a field of another type
//! than expected, and the loss of what did not fit. So fields are taken out of the object one by
//! one, if they fit, and what was not taken remains.

use std::borrow::Cow;

use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::{Map, Value};

/// A type that a field can hold.
pub(crate) trait Field: Sized + Serialize {
    /// Whether the value can be read, asked first so that a value that does not fit stays as it is.
    fn fits(value: &Value) -> bool;

    /// Reads the value; nothing if it does not fit.
    fn read(value: Value) -> Option<Self>;
}

/// A place of a record, which may be empty.
pub(crate) trait Slot: Sized {
    /// Takes what belongs here out of the object.
    fn take(map: &mut Map<String, Value>, name: &str) -> Self;

    /// Writes it, unless it is absent.
    fn put<M: SerializeMap>(&self, map: &mut M, name: &str) -> Result<(), M::Error>;
}

/// Takes the field with this snake_case name, or its camelCase one, if what it holds fits.
///
/// The first spelling that holds something decides: were the other one taken instead, both would be
/// written under one name.
pub(crate) fn take<T: Field>(map: &mut Map<String, Value>, name: &str) -> Option<T> {
    let spellings = [camel(name), Cow::Borrowed(name)];
    for key in &spellings {
        match map.get(key.as_ref()) {
            Some(Value::Null) => drop(map.shift_remove(key.as_ref())),
            Some(value) if T::fits(value) => {
                return map.shift_remove(key.as_ref()).and_then(T::read);
            }
            Some(_) => return None,
            None => {}
        }
    }
    None
}

impl<T: Field> Slot for Option<T> {
    fn take(map: &mut Map<String, Value>, name: &str) -> Self {
        take(map, name)
    }

    fn put<M: SerializeMap>(&self, map: &mut M, name: &str) -> Result<(), M::Error> {
        match self {
            Some(value) => map.serialize_entry(camel(name).as_ref(), value),
            None => Ok(()),
        }
    }
}

impl<T: Field> Slot for Vec<T> {
    fn take(map: &mut Map<String, Value>, name: &str) -> Self {
        take(map, name).unwrap_or_default()
    }

    fn put<M: SerializeMap>(&self, map: &mut M, name: &str) -> Result<(), M::Error> {
        if self.is_empty() {
            return Ok(());
        }
        map.serialize_entry(camel(name).as_ref(), self)
    }
}

impl<T: Field> Field for Vec<T> {
    fn fits(value: &Value) -> bool {
        matches!(value, Value::Array(items) if items.iter().all(T::fits))
    }

    fn read(value: Value) -> Option<Self> {
        match value {
            Value::Array(items) => items.into_iter().map(T::read).collect(),
            _ => None,
        }
    }
}

impl Field for Value {
    fn fits(_: &Value) -> bool {
        true
    }

    fn read(value: Value) -> Option<Self> {
        Some(value)
    }
}

impl Field for Map<String, Value> {
    fn fits(value: &Value) -> bool {
        value.is_object()
    }

    fn read(value: Value) -> Option<Self> {
        match value {
            Value::Object(map) => Some(map),
            _ => None,
        }
    }
}

impl Field for String {
    fn fits(value: &Value) -> bool {
        value.is_string()
    }

    fn read(value: Value) -> Option<Self> {
        match value {
            Value::String(string) => Some(string),
            _ => None,
        }
    }
}

impl Field for bool {
    fn fits(value: &Value) -> bool {
        value.is_boolean()
    }

    fn read(value: Value) -> Option<Self> {
        value.as_bool()
    }
}

/// The number that a value is, also where protobuf wrote it as a string.
fn number<T: std::str::FromStr>(value: &Value, plain: fn(&Value) -> Option<T>) -> Option<T> {
    plain(value).or_else(|| value.as_str()?.parse().ok())
}

impl Field for u64 {
    fn fits(value: &Value) -> bool {
        number(value, Value::as_u64).is_some()
    }

    fn read(value: Value) -> Option<Self> {
        number(&value, Value::as_u64)
    }
}

impl Field for i64 {
    fn fits(value: &Value) -> bool {
        number(value, Value::as_i64).is_some()
    }

    fn read(value: Value) -> Option<Self> {
        number(&value, Value::as_i64)
    }
}

impl Field for f64 {
    fn fits(value: &Value) -> bool {
        value.is_number()
    }

    fn read(value: Value) -> Option<Self> {
        value.as_f64()
    }
}

/// The camelCase of a snake_case name.
pub(crate) fn camel(snake: &str) -> Cow<'_, str> {
    if !snake.contains('_') {
        return Cow::Borrowed(snake);
    }
    let mut camel = String::with_capacity(snake.len());
    for (index, word) in snake.split('_').enumerate() {
        let (first, others) = word.split_at(usize::from(index > 0 && !word.is_empty()));
        camel.push_str(&first.to_ascii_uppercase());
        camel.push_str(others);
    }
    Cow::Owned(camel)
}

/// Declares records. A field's name on the wire is its own, in either letter case, unless one is
/// given: `kind = "@type"`.
macro_rules! record {
    ($(
        $(#[$attribute:meta])*
        $visibility:vis struct $record:ident {
            $($(#[$note:meta])* $field:ident $(= $name:literal)? : $type:ty,)*
        }
    )+) => {$(
        $(#[$attribute])*
        #[derive(Debug, Clone, Default, PartialEq)]
        $visibility struct $record {
            $($(#[$note])* pub $field: $type,)*
            /// What is not known here, or did not fit, as it came.
            pub rest: serde_json::Map<String, serde_json::Value>,
        }

        impl $crate::record::Field for $record {
            fn fits(value: &serde_json::Value) -> bool {
                value.is_object()
            }

            fn read(value: serde_json::Value) -> Option<Self> {
                #[allow(unused_mut, reason = "some records know no field")]
                let serde_json::Value::Object(mut map) = value else {
                    return None;
                };
                Some(Self {
                    $($field: $crate::record::Slot::take(
                        &mut map,
                        $crate::record::record!(@name $field $($name)?),
                    ),)*
                    rest: map,
                })
            }
        }

        impl serde::Serialize for $record {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                $($crate::record::Slot::put(
                    &self.$field,
                    &mut map,
                    $crate::record::record!(@name $field $($name)?),
                )?;)*
                for (key, value) in &self.rest {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $record {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                $crate::record::Field::read(value)
                    .ok_or_else(|| serde::de::Error::custom("expected an object"))
            }
        }
    )+};
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
}

pub(crate) use record;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    record! {
        /// A record to test records with.
        struct Sample {
            /// Two words.
            two_words: Option<String>,
            /// A number.
            count: Option<u64>,
            /// A list.
            list: Vec<String>,
            /// A name that is no Rust name.
            kind = "@type": Option<String>,
        }
    }

    fn read(value: Value) -> Sample {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn names_are_read_in_both_letter_cases_and_written_in_one() {
        assert_eq!(camel("a_bc_d"), "aBcD");
        assert_eq!(camel("plain"), "plain");
        let written = json!({"twoWords": "x", "@type": "t"});
        for sent in [&written, &json!({"two_words": "x", "@type": "t"})] {
            assert_eq!(serde_json::to_value(read(sent.clone())).unwrap(), written);
        }
    }

    #[test]
    fn what_does_not_fit_stays_as_it_came() {
        let sent = json!({"twoWords": 7, "count": -1, "list": ["a", 1], "other": null});
        let sample = read(sent.clone());
        assert_eq!(sample.two_words, None);
        assert_eq!(Value::Object(sample.rest.clone()), sent);
        assert_eq!(serde_json::to_value(sample).unwrap(), sent);
    }

    #[test]
    fn a_second_spelling_is_not_lost() {
        let sample = read(json!({"two_words": "snake", "twoWords": "camel"}));
        assert_eq!(sample.two_words.as_deref(), Some("camel"));
        assert_eq!(sample.rest["two_words"], "snake");
    }

    #[test]
    fn a_spelling_that_does_not_fit_is_not_written_twice() {
        let sent = json!({"twoWords": 7, "two_words": "snake"});
        assert_eq!(serde_json::to_value(read(sent.clone())).unwrap(), sent);
    }

    #[test]
    fn null_and_an_empty_list_are_absent() {
        assert_eq!(
            read(json!({"twoWords": null, "count": null, "list": []})),
            Sample::default()
        );
    }

    #[test]
    fn a_null_in_one_spelling_does_not_hide_the_other() {
        let sample = read(json!({"two_words": "snake", "twoWords": null}));
        assert_eq!(sample.two_words.as_deref(), Some("snake"));
    }

    #[test]
    fn whole_numbers_may_be_strings() {
        assert_eq!(read(json!({"count": "12"})).count, Some(12));
        assert_eq!(read(json!({"count": 12})).count, Some(12));
        assert_eq!(read(json!({"count": "twelve"})).rest["count"], "twelve");
    }

    #[test]
    fn only_an_object_is_a_record() {
        assert!(serde_json::from_value::<Sample>(json!([])).is_err());
    }
}
