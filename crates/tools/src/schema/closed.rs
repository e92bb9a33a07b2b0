//! Schemas that declare everything: what is not named in them is refused.
//!
//! In JSON Schema an object may hold any key that is not forbidden. Here a tool that lists properties
//! means those. A schema that says `additionalProperties` or `unevaluatedProperties` itself is left as
//! it is, and so is an inner object that lists none: that is how free-form data is declared.

use std::fmt;

use serde_json::{Map, Value};

/// Keywords whose schemas are about the same value as the schema that they stand in.
const IN_PLACE: [&str; 6] = ["allOf", "anyOf", "oneOf", "if", "then", "else"];

/// How many references are followed from one schema: one that refers to itself would have no end.
const MAX_REFERENCES: usize = 64;

/// The schema with everything refused that it does not declare.
pub(super) fn closed(declared: &Value) -> Value {
    let mut schema = declared.clone();
    // An input without a field is closed too: a tool that takes nothing is given nothing.
    close(&mut schema, declared, Position::Root);
    schema
}

/// The schema with one of the two ways in which an object is closed, to be compared with another.
pub(super) fn with_one_keyword(schema: Value) -> Value {
    match schema {
        Value::Object(map) => {
            let pairs = map.into_iter().map(|(key, value)| {
                let is_closed = key == "additionalProperties" && value == Value::Bool(false);
                let key = match is_closed {
                    true => "unevaluatedProperties".to_owned(),
                    false => key,
                };
                (key, with_one_keyword(value))
            });
            Value::Object(pairs.collect())
        }
        Value::Array(items) => items.into_iter().map(with_one_keyword).collect(),
        other => other,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// The schema of the whole input.
    Root,
    /// The schema of a value inside of it.
    Inner,
    /// A schema beside others that are about the same value: the outermost is the one to close.
    InPlace,
}

fn close(schema: &mut Value, root: &Value, position: Position) {
    let is_open = match position {
        Position::Root => true,
        Position::Inner => in_place(schema, root)
            .iter()
            .any(|schema| schema.contains_key("properties")),
        Position::InPlace => false,
    };
    let Value::Object(schema) = schema else {
        return;
    };
    for (keyword, inner) in schema.iter_mut() {
        match (keyword.as_str(), inner) {
            ("properties" | "patternProperties", Value::Object(inner)) => {
                let inner = inner.values_mut();
                inner.for_each(|schema| close(schema, root, Position::Inner));
            }
            ("items" | "additionalProperties" | "unevaluatedProperties" | "contains", inner) => {
                close(inner, root, Position::Inner);
            }
            ("prefixItems", Value::Array(inner)) => {
                let inner = inner.iter_mut();
                inner.for_each(|schema| close(schema, root, Position::Inner));
            }
            // They are closed where they are referred to, since others may stand beside them there.
            ("$defs" | "definitions" | "dependentSchemas", Value::Object(inner)) => {
                let inner = inner.values_mut();
                inner.for_each(|schema| close(schema, root, Position::InPlace));
            }
            (keyword, Value::Array(inner)) if IN_PLACE.contains(&keyword) => {
                let inner = inner.iter_mut();
                inner.for_each(|schema| close(schema, root, Position::InPlace));
            }
            (keyword, inner) if IN_PLACE.contains(&keyword) => {
                close(inner, root, Position::InPlace);
            }
            _ => {}
        }
    }
    let says_itself = ["additionalProperties", "unevaluatedProperties"]
        .iter()
        .any(|keyword| schema.contains_key(*keyword));
    if is_open && !says_itself {
        schema.insert("unevaluatedProperties".to_owned(), false.into());
    }
}

/// A schema, and all others that are about the same value.
fn in_place<'a>(schema: &'a Value, root: &'a Value) -> Vec<&'a Map<String, Value>> {
    let mut found: Vec<&Map<String, Value>> = Vec::new();
    let mut waiting = vec![schema];
    let mut references = 0;
    while let Some(next) = waiting.pop() {
        let Value::Object(schema) = next else {
            continue;
        };
        found.push(schema);
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str)
            && references < MAX_REFERENCES
        {
            references += 1;
            let pointer = reference.strip_prefix('#').unwrap_or_default();
            waiting.extend(root.pointer(pointer).filter(|_| !pointer.is_empty()));
        }
        for keyword in IN_PLACE {
            match schema.get(keyword) {
                Some(Value::Array(all)) => waiting.extend(all),
                Some(one) => waiting.push(one),
                None => {}
            }
        }
    }
    found
}

/// One step from a value to one inside of it.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    /// By the key of an object.
    Key(&'a str),
    /// By the place in an array.
    Item(usize),
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(out, "/{key}"),
            Self::Item(n) => write!(out, "/{n}"),
        }
    }
}

/// Whether a schema says itself how long a string may be.
pub(super) fn declares_length(root: &Value, at: &[Step<'_>]) -> bool {
    let mut schemas = vec![root];
    for step in at {
        let here = schemas
            .iter()
            .flat_map(|schema| in_place(schema, root))
            .collect::<Vec<_>>();
        schemas = here
            .iter()
            .filter_map(|schema| inner(schema, *step))
            .collect();
    }
    let mut here = schemas.iter().flat_map(|schema| in_place(schema, root));
    here.any(|schema| schema.contains_key("maxLength"))
}

/// The schema of a value inside of those that a schema is about.
fn inner<'a>(schema: &'a Map<String, Value>, step: Step<'_>) -> Option<&'a Value> {
    match step {
        Step::Key(key) => {
            let declared = schema.get("properties").and_then(|all| all.get(key));
            declared.or_else(|| schema.get("additionalProperties"))
        }
        Step::Item(n) => {
            let first = schema.get("prefixItems").and_then(|all| all.get(n));
            first.or_else(|| schema.get("items"))
        }
    }
}
