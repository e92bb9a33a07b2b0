//! How the plain types are read.

use serde_json::{Map, Value};

use super::{DecodeError, Field, Nulls, Path};

impl<T: Field> Field for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn from_value(value: Value, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError> {
        T::from_value(value, path, nulls).map(Some)
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }

    fn read(value: Option<Value>, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError> {
        match value {
            None => Ok(None),
            Some(Value::Null) if nulls == Nulls::Absent && !T::NULL_IS_A_VALUE => Ok(None),
            Some(value) => Self::from_value(value, path, nulls),
        }
    }
}

impl Field for Value {
    const EXPECTED: &'static str = "any value";
    const NULL_IS_A_VALUE: bool = true;

    fn from_value(value: Value, _: Path<'_>, _: Nulls) -> Result<Self, DecodeError> {
        Ok(value)
    }
}

impl Field for String {
    const EXPECTED: &'static str = "a string";

    fn from_value(value: Value, path: Path<'_>, _: Nulls) -> Result<Self, DecodeError> {
        match value {
            Value::String(text) => Ok(text),
            _ => Err(path.expected(Self::EXPECTED)),
        }
    }
}

impl Field for Box<str> {
    const EXPECTED: &'static str = String::EXPECTED;

    fn from_value(value: Value, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError> {
        String::from_value(value, path, nulls).map(Self::from)
    }
}

impl Field for bool {
    const EXPECTED: &'static str = "true or false";

    fn from_value(value: Value, path: Path<'_>, _: Nulls) -> Result<Self, DecodeError> {
        value.as_bool().ok_or_else(|| path.expected(Self::EXPECTED))
    }
}

impl Field for u64 {
    const EXPECTED: &'static str = "a whole number that is not negative";

    fn from_value(value: Value, path: Path<'_>, _: Nulls) -> Result<Self, DecodeError> {
        value.as_u64().ok_or_else(|| path.expected(Self::EXPECTED))
    }
}

impl Field for Map<String, Value> {
    const EXPECTED: &'static str = "an object";

    fn from_value(value: Value, path: Path<'_>, _: Nulls) -> Result<Self, DecodeError> {
        match value {
            Value::Object(map) => Ok(map),
            _ => Err(path.expected(Self::EXPECTED)),
        }
    }
}

impl<T: Field> Field for Vec<T> {
    const EXPECTED: &'static str = "an array";

    fn from_value(value: Value, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError> {
        let Value::Array(items) = value else {
            return Err(path.expected(Self::EXPECTED));
        };
        let items = items.into_iter().enumerate();
        items
            .map(|(index, item)| T::from_value(item, path.index(index), nulls))
            .collect()
    }
}
