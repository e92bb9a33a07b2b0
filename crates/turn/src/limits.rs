//! How much of a turn may wait for people at once, and how large an input may be that they are asked about.

use serde::Serialize;
use serde_json::Value;

/// How many calls of one step may run here or in a page, after a question or without. What the model
/// calls beyond that does not run, and gets an error that says so. Calls that the agent runs by itself or asks about by
/// itself are not counted.
pub const MAX_CALLS: usize = 32;

/// How many gates of one turn may be open at once. What is asked beyond that is refused, and shown to
/// nobody.
pub const MAX_OPEN_GATES: usize = 128;

/// How large an input may be, as JSON.
pub const MAX_INPUT_BYTES: usize = 256 * 1024;

/// How large a string of an input may be, unless the tool declares a `maxLength` of it.
pub const MAX_STRING_BYTES: usize = 64 * 1024;

/// How large a key of an input may be.
pub const MAX_KEY_BYTES: usize = 256;

/// How deeply an input may be nested.
pub const MAX_DEPTH: usize = 32;

/// Which limit an input exceeds, if any.
pub(crate) fn exceeded(input: &Value) -> Option<String> {
    if let Some(why) = exceeded_at(input, 0) {
        return Some(why);
    }
    let is_larger = json_size(input) > MAX_INPUT_BYTES;
    is_larger.then(|| format!("its input is larger than {MAX_INPUT_BYTES} bytes"))
}

fn exceeded_at(value: &Value, depth: usize) -> Option<String> {
    match value {
        Value::Array(_) | Value::Object(_) if depth >= MAX_DEPTH => Some(format!(
            "its input is nested deeper than {MAX_DEPTH} levels"
        )),
        Value::Array(items) => items.iter().find_map(|item| exceeded_at(item, depth + 1)),
        Value::Object(map) => map.iter().find_map(|(key, value)| {
            if key.len() > MAX_KEY_BYTES {
                return Some(format!(
                    "its input has a key of more than {MAX_KEY_BYTES} bytes"
                ));
            }
            exceeded_at(value, depth + 1)
        }),
        Value::String(text) if text.len() > MAX_STRING_BYTES => Some(format!(
            "its input has a text of more than {MAX_STRING_BYTES} bytes"
        )),
        _ => None,
    }
}

/// How many bytes a value has as JSON.
pub fn json_size(value: &impl Serialize) -> usize {
    let mut size = Size(0);
    // Nothing that is JSON can't be written as JSON.
    let _ = serde_json::to_writer(&mut size, value);
    size.0
}

/// Counts bytes.
struct Size(usize);

impl std::io::Write for Size {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn inputs_up_to_each_limit_are_taken_and_larger_ones_are_not() {
        let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({"a": inner}));
        let text = |length: usize| json!({"note": "x".repeat(length)});
        let key = |length: usize| json!({"x".repeat(length): 1});
        // Five texts, none of which is too large by itself.
        let size = |bytes: usize| {
            let mut texts = vec!["x".repeat(50_000); 5];
            let missing = bytes - json_size(&json!(texts));
            texts[4].push_str(&"x".repeat(missing));
            json!(texts)
        };
        assert_eq!(json_size(&size(MAX_INPUT_BYTES)), MAX_INPUT_BYTES);
        for (within, beyond) in [
            (nested(MAX_DEPTH), nested(MAX_DEPTH + 1)),
            (text(MAX_STRING_BYTES), text(MAX_STRING_BYTES + 1)),
            (key(MAX_KEY_BYTES), key(MAX_KEY_BYTES + 1)),
            (size(MAX_INPUT_BYTES), size(MAX_INPUT_BYTES + 1)),
        ] {
            assert_eq!(exceeded(&within), None);
            assert!(exceeded(&beyond).is_some());
        }
    }
}
