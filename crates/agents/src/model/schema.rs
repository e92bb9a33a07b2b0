//! Schemas of tools, as models get them.

use serde_json::{Map, Value, json};

/// Takes out what Rust says of its types and models do not know: which JSON Schema it is, and
/// formats of numbers.
pub(crate) fn plain(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.shift_remove("$schema");
            let numbers = ["number", "integer"].map(Value::from);
            let kind = map.get("type");
            let is_number = kind.is_some_and(|kind| match kind {
                Value::Array(kinds) => kinds.iter().any(|kind| numbers.contains(kind)),
                kind => numbers.contains(kind),
            });
            if is_number {
                map.shift_remove("format");
            }
            map.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

/// The schema of an input that is an object, also where a tool takes nothing.
pub(crate) fn object(schema: &Value) -> Value {
    let mut schema = schema.clone();
    plain(&mut schema);
    let mut map = match schema {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    map.entry("type").or_insert_with(|| json!("object"));
    // Some servers refuse an object that does not say which fields it has.
    map.entry("properties").or_insert_with(|| json!({}));
    Value::Object(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_an_objects() {
        let nothing = json!({"type": "object", "properties": {}});
        assert_eq!(object(&json!(true)), nothing);
        assert_eq!(object(&json!({"type": "object", "$schema": "x"})), nothing);
        let some =
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        assert_eq!(object(&some), some);
    }
}
