//! Columns of JSON, as text: what leaves is byte for byte what came, which no database's own type for
//! JSON promises.

use serde::de::DeserializeOwned;
use serde::ser::Serialize;

use crate::error::StoreError;

/// Writes a value for a column of JSON.
pub(crate) fn encode(what: &str, value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| malformed(what, &error))
}

/// Reads a column of JSON.
pub(crate) fn decode<T: DeserializeOwned>(what: &str, json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|error| malformed(what, &error))
}

fn malformed(what: &str, error: &serde_json::Error) -> StoreError {
    StoreError::Malformed {
        what: what.to_owned(),
        problem: error.to_string(),
    }
}
