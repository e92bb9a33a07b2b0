//! Keys that the client's JSON parser refuses, since they reach JavaScript prototypes.
//!
//! One `__proto__` anywhere in a chunk ends the stream, and a model's input or a tool's output may
//! well hold one. The sender of such a value takes the keys out first.

use serde_json::Value;

/// Whether the client's parser refuses the value.
pub fn is_refused(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(is_refused),
        Value::Object(map) => map
            .iter()
            .any(|(key, value)| is_refused_key(key, value) || is_refused(value)),
        _ => false,
    }
}

/// The value without the keys that the client's parser refuses.
pub fn without_refused_keys(mut value: Value) -> Value {
    if is_refused(&value) {
        strip(&mut value);
    }
    value
}

fn is_refused_key(key: &str, value: &Value) -> bool {
    key == "__proto__" || key == "constructor" && value.get("prototype").is_some()
}

fn strip(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Object(map) => {
            map.retain(|key, value| !is_refused_key(key, value));
            map.values_mut().for_each(strip);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_the_parser_refuses_is_taken_out() {
        let value = json!({"a": [{"__proto__": 1, "b": 2}], "constructor": {"prototype": 1}});
        assert!(is_refused(&value));
        assert_eq!(without_refused_keys(value), json!({"a": [{"b": 2}]}));
        let fine = json!({"constructor": "Acme", "proto": {"prototype": 1}});
        assert_eq!(without_refused_keys(fine.clone()), fine);
    }
}
