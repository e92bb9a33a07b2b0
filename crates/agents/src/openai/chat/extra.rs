//! Fields that nothing here reads, put together from the pieces in which they come.

use serde_json::{Map, Value};

/// Fields whose pieces are words that follow each other, also where two pieces are the same.
const WORDS: [&str; 5] = ["text", "summary", "content", "data", "thinking"];

/// Lays the fields of a piece over those of the pieces before it.
pub(super) fn merge_fields(fields: &mut Map<String, Value>, more: Map<String, Value>) {
    for (name, value) in more {
        if value.is_null() {
            continue;
        }
        match fields.get_mut(&name) {
            Some(known) => merge(&name, known, value),
            None => drop(fields.insert(name, value)),
        }
    }
}

fn merge(name: &str, known: &mut Value, more: Value) {
    match (known, more) {
        (Value::Object(known), Value::Object(more)) => merge_fields(known, more),
        (Value::Array(known), Value::Array(more)) => {
            more.into_iter().for_each(|item| merge_item(known, item));
        }
        // A name that is repeated with every piece is still one.
        (Value::String(known), Value::String(more)) if WORDS.contains(&name) || *known != more => {
            known.push_str(&more);
        }
        (known, more) => *known = more,
    }
}

/// An item that continues another has its index.
fn merge_item(items: &mut Vec<Value>, item: Value) {
    let index = item.get("index").cloned();
    let same = |known: &&mut Value| index.is_some() && known.get("index") == index.as_ref();
    match (items.iter_mut().find(same), item) {
        (Some(Value::Object(known)), Value::Object(item)) => merge_fields(known, item),
        (_, item) => items.push(item),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_become_what_they_are_pieces_of() {
        let pieces = [
            json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "ha"}], "x": null}),
            json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "ha"}]}),
            json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "signature": "s"}]}),
            json!({"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "e"}]}),
            json!({"x": {"a": 1}}),
            json!({"x": {"a": 2, "b": "c"}}),
        ];
        let mut fields = Map::new();
        for piece in pieces {
            merge_fields(&mut fields, piece.as_object().unwrap().clone());
        }
        assert_eq!(
            Value::Object(fields),
            json!({
                "reasoning_details": [
                    {"type": "reasoning.text", "index": 0, "text": "haha", "signature": "s"},
                    {"type": "reasoning.encrypted", "index": 1, "data": "e"},
                ],
                "x": {"a": 2, "b": "c"},
            })
        );
    }
}
