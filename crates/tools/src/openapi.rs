//! HTTP tools from an OpenAPI document, 3.0 or 3.1, in YAML or JSON.
//!
//! Parameters in path, query and header and the fields of the body become one input. Only what an
//! operation needs of the document is read, by a walk of our own over JSON: documents in the field hold
//! much that no parser's types expect, and none of it matters to a request.
//!
//! # Layout
//!
//! - [`Document`]: the document, and references within it; `schema`: schemas of it, as models and
//!   validators know them; `security`: how secrets are sent; `operation`: one operation as a request.

mod operation;
mod schema;
mod security;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

pub use self::operation::Operation;
use crate::http::Secret;

/// How large a document may be.
pub const MAX_DOCUMENT_BYTES: usize = 8 * 1024 * 1024;

/// How many references are followed one after the other.
const MAX_REFERENCES: usize = 32;

/// The methods that operations have.
const METHODS: [&str; 6] = ["get", "head", "post", "put", "patch", "delete"];

/// An OpenAPI document.
#[derive(Debug, Clone)]
pub struct Document {
    root: Value,
    is_3_0: bool,
}

/// What an operator says beside the document.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Where the API is, in place of what the document says.
    pub server: Option<String>,
    /// Secrets, by the names of security schemes.
    pub security: BTreeMap<String, Secret>,
}

/// Why a document or an operation of it can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenApiError(pub String);

impl fmt::Display for OpenApiError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for OpenApiError {}

fn wrong<T>(why: impl Into<String>) -> Result<T, OpenApiError> {
    Err(OpenApiError(why.into()))
}

impl Document {
    /// Reads a document.
    pub fn parse(text: &str) -> Result<Self, OpenApiError> {
        if text.len() > MAX_DOCUMENT_BYTES {
            return wrong(format!(
                "the document is larger than {MAX_DOCUMENT_BYTES} bytes"
            ));
        }
        let root: Value = match text.trim_start().starts_with('{') {
            true => serde_json::from_str(text)
                .map_err(|error| OpenApiError(format!("the document is not JSON: {error}")))?,
            false => serde_saphyr::from_str(text)
                .map_err(|error| OpenApiError(format!("the document is not YAML: {error}")))?,
        };
        let version = root
            .get("openapi")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let is_3_0 = version.starts_with("3.0");
        if !is_3_0 && !version.starts_with("3.1") && !version.starts_with("3.2") {
            return wrong("the document is not OpenAPI 3.0 or 3.1");
        }
        Ok(Self { root, is_3_0 })
    }

    /// The operations that have an id.
    pub fn operation_ids(&self) -> Vec<&str> {
        let paths = self.root.get("paths").and_then(Value::as_object);
        let items = paths.into_iter().flat_map(|paths| paths.values());
        let mut ids = Vec::new();
        for item in items {
            let Ok(item) = self.resolve(item) else {
                continue;
            };
            for method in METHODS {
                let id = item
                    .get(method)
                    .and_then(|operation| operation.get("operationId"));
                ids.extend(id.and_then(Value::as_str));
            }
        }
        ids
    }

    /// One operation, as a request.
    pub fn operation(&self, id: &str, settings: &Settings) -> Result<Operation, OpenApiError> {
        let paths = self.root.get("paths").and_then(Value::as_object);
        for (path, item) in paths.into_iter().flatten() {
            let item = self.resolve(item)?;
            for method in METHODS {
                let Some(operation) = item.get(method) else {
                    continue;
                };
                if operation.get("operationId").and_then(Value::as_str) == Some(id) {
                    return operation::read(self, settings, path, item, method, operation);
                }
            }
        }
        wrong(format!("the document has no operation `{id}`"))
    }

    /// What a value refers to, if it is a reference: somewhere in this document.
    fn resolve<'a>(&'a self, mut value: &'a Value) -> Result<&'a Value, OpenApiError> {
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else {
                return Ok(value);
            };
            value = self.target(reference)?;
        }
        wrong("references of the document lead to each other")
    }

    fn target(&self, reference: &str) -> Result<&Value, OpenApiError> {
        let Some(pointer) = reference.strip_prefix('#') else {
            return wrong(format!("`{reference}` leads out of the document"));
        };
        let pointer = pointer.replace("%7B", "{").replace("%7D", "}");
        match self.root.pointer(&pointer) {
            Some(found) => Ok(found),
            None => wrong(format!("`{reference}` leads nowhere")),
        }
    }
}

#[cfg(test)]
mod tests;
