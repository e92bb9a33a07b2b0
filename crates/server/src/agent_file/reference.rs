//! Values that stand elsewhere: in a file beside, in the environment, and never in the file itself.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::source::Source;
use crate::environment::Environment;

/// What is said to who writes a secret into the file. It does not quote what was written.
pub(crate) const LITERAL_SECRET: &str =
    "a secret must not be written in the file; write env:NAME or file:PATH";

/// A secret by where it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SecretRef {
    /// In a variable of the environment.
    Environment(String),
    /// In a file, relative to the one that names it.
    File(String),
}

impl SecretRef {
    /// Reads a reference; nothing, if it is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_name = |name: &&str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let variable = text.strip_prefix("env:").filter(is_name);
        let variable = variable.map(|name| Self::Environment(name.to_owned()));
        let path = text.strip_prefix("file:").filter(|path| !path.is_empty());
        variable.or_else(|| path.map(|path| Self::File(path.to_owned())))
    }

    /// The secret, from where it is kept. It is not quoted, whatever is wrong with it.
    pub(crate) fn read(
        &self,
        source: &Source,
        environment: &Environment,
    ) -> Result<String, String> {
        let secret = match self {
            Self::Environment(name) => environment
                .any(name)
                .ok_or_else(|| format!("the variable {name} is not set"))?,
            Self::File(path) => source.read_beside(path)?,
        };
        let secret = secret.trim();
        match secret.is_empty() || secret.chars().any(char::is_control) {
            true => Err("the secret is empty, or holds control characters".to_owned()),
            false => Ok(secret.to_owned()),
        }
    }
}

impl<'de> Deserialize<'de> for SecretRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(LITERAL_SECRET))
    }
}

impl JsonSchema for SecretRef {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SecretRef".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^(env:[A-Za-z0-9_]+|file:.+)$",
            "description": "A secret by where it is kept: env:NAME, or file:PATH relative to this file."
        })
    }
}

/// A JSON Schema: written here, or `@FILE` in JSON beside the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SchemaRef {
    /// In a file.
    File(String),
    /// Here.
    Inline(Value),
}

impl<'de> Deserialize<'de> for SchemaRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl<'de> Visitor<'de> for Read {
            type Value = SchemaRef;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a JSON Schema as a table, or @FILE")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<SchemaRef, E> {
                match text.strip_prefix('@').filter(|path| !path.is_empty()) {
                    Some(path) => Ok(SchemaRef::File(path.to_owned())),
                    None => Err(E::custom("expected a JSON Schema as a table, or @FILE")),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SchemaRef, A::Error> {
                let schema = Value::deserialize(MapAccessDeserializer::new(map))?;
                Ok(SchemaRef::Inline(schema))
            }
        }

        deserializer.deserialize_any(Read)
    }
}

impl JsonSchema for SchemaRef {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SchemaRef".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [{"type": "string", "pattern": "^@.+"}, {"type": "object"}],
            "description": "A JSON Schema: a table, or @FILE in JSON, relative to this file."
        })
    }
}

/// Whether a header or variable of this name carries a secret, most likely.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let words = [
        "authorization",
        "cookie",
        "token",
        "secret",
        "password",
        "passwd",
        "credential",
    ];
    let is_key = name == "key" || name.ends_with("_key") || name.ends_with("apikey");
    // An idempotency key is no secret.
    (is_key && !name.contains("idempotency")) || words.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_named_by_where_it_is() {
        let environment = SecretRef::Environment("CRM_TOKEN".to_owned());
        assert_eq!(SecretRef::parse("env:CRM_TOKEN"), Some(environment));
        let file = SecretRef::File("run/secrets/crm".to_owned());
        assert_eq!(SecretRef::parse("file:run/secrets/crm"), Some(file));
        for bad in ["sk-12345", "env:", "env:a b", "file:", ""] {
            assert_eq!(SecretRef::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn names_of_secrets_are_known() {
        for name in [
            "Authorization",
            "X-Api-Key",
            "Cookie",
            "CRM_TOKEN",
            "DB_PASSWORD",
            "apikey",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "X-Team",
            "Accept",
            "Idempotency-Key",
            "KEYBOARD",
            "LOG_LEVEL",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
