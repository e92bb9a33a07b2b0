//! Schemas of a document, as models and validators know them: JSON Schema with its own definitions.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Document, OpenApiError, wrong};

/// How many definitions one operation may need.
const MAX_DEFINITIONS: usize = 200;

/// How large the schema of one input may be.
const MAX_SCHEMA_BYTES: usize = 256 * 1024;

/// How deeply a schema may be nested.
const MAX_DEPTH: usize = 64;

/// What a validator has no use for.
const LEFT_OUT: [&str; 7] = [
    "example",
    "examples",
    "xml",
    "discriminator",
    "externalDocs",
    "deprecated",
    "nullable",
];

/// Collects the definitions that schemas refer to.
pub(super) struct Definitions<'a> {
    document: &'a Document,
    found: BTreeMap<String, Value>,
    size: usize,
}

impl<'a> Definitions<'a> {
    pub(super) fn new(document: &'a Document) -> Self {
        Self {
            document,
            found: BTreeMap::new(),
            size: 0,
        }
    }

    /// A schema without references out of what it will be a part of.
    pub(super) fn schema(&mut self, schema: &Value) -> Result<Value, OpenApiError> {
        let read = self.read(schema, 0)?;
        self.size += read.to_string().len();
        if self.size > MAX_SCHEMA_BYTES {
            return wrong(format!(
                "the input's schema is larger than {MAX_SCHEMA_BYTES} bytes"
            ));
        }
        Ok(read)
    }

    /// The definitions, by their names.
    pub(super) fn into_definitions(self) -> Option<Value> {
        let found: Map<String, Value> = self.found.into_iter().collect();
        (!found.is_empty()).then_some(Value::Object(found))
    }

    fn read(&mut self, schema: &Value, depth: usize) -> Result<Value, OpenApiError> {
        if depth > MAX_DEPTH {
            return wrong(format!("a schema is nested deeper than {MAX_DEPTH} levels"));
        }
        let Value::Object(schema) = schema else {
            return Ok(schema.clone());
        };
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let name = self.define(reference, depth)?;
            return Ok(json!({"$ref": format!("#/$defs/{name}")}));
        }
        let mut read = Map::new();
        for (keyword, inner) in schema {
            if LEFT_OUT.contains(&keyword.as_str()) || keyword.starts_with("x-") {
                continue;
            }
            let inner = match (keyword.as_str(), inner) {
                ("properties" | "patternProperties" | "$defs", Value::Object(all)) => {
                    let all = all.iter().filter(|(_, schema)| !is_read_only(schema));
                    let all = all.map(|(name, schema)| {
                        Ok::<_, OpenApiError>((name.clone(), self.read(schema, depth + 1)?))
                    });
                    Value::Object(all.collect::<Result<_, _>>()?)
                }
                ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(all)) => {
                    let all = all.iter().map(|schema| self.read(schema, depth + 1));
                    Value::Array(all.collect::<Result<_, _>>()?)
                }
                ("items" | "additionalProperties" | "not" | "contains", inner) => {
                    self.read(inner, depth + 1)?
                }
                (_, inner) => inner.clone(),
            };
            read.insert(keyword.clone(), inner);
        }
        if let (Some(Value::Array(required)), Some(Value::Object(properties))) =
            (schema.get("required"), schema.get("properties"))
        {
            let is_sent = |name: &&Value| {
                let name = name.as_str().unwrap_or_default();
                properties
                    .get(name)
                    .is_none_or(|schema| !is_read_only(schema))
            };
            let sent: Vec<Value> = required.iter().filter(is_sent).cloned().collect();
            read.insert("required".to_owned(), sent.into());
        }
        if self.document.is_3_0 {
            of_3_0(schema, &mut read);
        }
        Ok(Value::Object(read))
    }

    fn define(&mut self, reference: &str, depth: usize) -> Result<String, OpenApiError> {
        let short = reference
            .strip_prefix("#/components/schemas/")
            .unwrap_or(reference);
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = short.chars().map(plain).collect();
        if self.found.contains_key(&name) {
            return Ok(name);
        }
        if self.found.len() >= MAX_DEFINITIONS {
            return wrong(format!(
                "an input needs more than {MAX_DEFINITIONS} definitions"
            ));
        }
        let target = self.document.target(reference)?;
        // There before it is read: it may refer to itself.
        self.found.insert(name.clone(), Value::Bool(true));
        let read = self.read(target, depth + 1)?;
        self.size += read.to_string().len();
        self.found.insert(name.clone(), read);
        Ok(name)
    }
}

/// Whether a property is one that only answers have.
fn is_read_only(schema: &Value) -> bool {
    schema.get("readOnly").and_then(Value::as_bool) == Some(true)
}

/// What 3.0 says otherwise than JSON Schema does.
fn of_3_0(schema: &Map<String, Value>, read: &mut Map<String, Value>) {
    for (flag, limit) in [
        ("exclusiveMinimum", "minimum"),
        ("exclusiveMaximum", "maximum"),
    ] {
        match schema.get(flag) {
            Some(Value::Bool(true)) => {
                read.remove(flag);
                if let Some(value) = read.remove(limit) {
                    read.insert(flag.to_owned(), value);
                }
            }
            Some(Value::Bool(false)) => {
                read.remove(flag);
            }
            _ => {}
        }
    }
    if schema.get("nullable").and_then(Value::as_bool) == Some(true) {
        if let Some(Value::String(kind)) = read.get("type").cloned() {
            read.insert("type".to_owned(), json!([kind, "null"]));
        }
        if let Some(Value::Array(values)) = read.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
}
