//! JSON Patch (RFC 6902), by which agents tell of changes of their state.

use std::fmt;

use serde_json::{Map, Value};

/// A patch that does not fit what it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatchError;

impl fmt::Display for PatchError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a change does not fit what it changes")
    }
}

impl std::error::Error for PatchError {}

/// Carries out the operations of a patch: all of them, or none.
pub fn apply(target: &mut Value, patch: &[Value]) -> Result<(), PatchError> {
    let mut changed = target.clone();
    for operation in patch {
        perform(&mut changed, operation).ok_or(PatchError)?;
    }
    *target = changed;
    Ok(())
}

/// Carries out one operation; nothing, if it does not fit.
fn perform(target: &mut Value, operation: &Value) -> Option<()> {
    let text = |field: &str| operation.get(field)?.as_str();
    let value = || operation.get("value").cloned();
    let path = text("path")?;
    match text("op")? {
        "add" => insert(target, path, value()?),
        "remove" => remove(target, path).map(drop),
        "replace" => {
            *target.pointer_mut(path)? = value()?;
            Some(())
        }
        "move" => {
            let moved = remove(target, text("from")?)?;
            insert(target, path, moved)
        }
        "copy" => {
            let copied = target.pointer(text("from")?)?.clone();
            insert(target, path, copied)
        }
        "test" => (*target.pointer(path)? == value()?).then_some(()),
        _ => None,
    }
}

fn insert(target: &mut Value, path: &str, value: Value) -> Option<()> {
    let Some((parent, key)) = split(path) else {
        *target = value;
        return Some(());
    };
    match target.pointer_mut(parent)? {
        Value::Object(fields) => {
            fields.insert(key, value);
        }
        Value::Array(items) => {
            let place = match key.as_str() {
                "-" => items.len(),
                key => key.parse().ok().filter(|place| *place <= items.len())?,
            };
            items.insert(place, value);
        }
        // A state that does not exist yet is an object.
        parent @ Value::Null => *parent = Value::Object(Map::from_iter([(key, value)])),
        _ => return None,
    }
    Some(())
}

fn remove(target: &mut Value, path: &str) -> Option<Value> {
    let Some((parent, key)) = split(path) else {
        return Some(target.take());
    };
    match target.pointer_mut(parent)? {
        Value::Object(fields) => fields.shift_remove(&key),
        Value::Array(items) => {
            let place = key.parse().ok().filter(|place| *place < items.len())?;
            Some(items.remove(place))
        }
        _ => None,
    }
}

/// A pointer as that of what holds it and its key there; nothing, for the whole.
fn split(path: &str) -> Option<(&str, String)> {
    let (parent, key) = path.rsplit_once('/')?;
    Some((parent, key.replace("~1", "/").replace("~0", "~")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_operation_is_carried_out() {
        let mut state = json!({"a": [1, 3], "b": {"c/d": 1}});
        let patch = [
            json!({"op": "add", "path": "/a/1", "value": 2}),
            json!({"op": "add", "path": "/a/-", "value": 4}),
            json!({"op": "replace", "path": "/b/c~1d", "value": 2}),
            json!({"op": "copy", "from": "/a/0", "path": "/e"}),
            json!({"op": "move", "from": "/b", "path": "/f"}),
            json!({"op": "remove", "path": "/a/0"}),
            json!({"op": "test", "path": "/e", "value": 1}),
        ];
        apply(&mut state, &patch).unwrap();
        assert_eq!(state, json!({"a": [2, 3, 4], "e": 1, "f": {"c/d": 2}}));
        apply(
            &mut state,
            &[json!({"op": "replace", "path": "", "value": 7})],
        )
        .unwrap();
        assert_eq!(state, json!(7));
    }

    #[test]
    fn patch_that_does_not_fit_changes_nothing() {
        for odd in [
            json!({"op": "replace", "path": "/x", "value": 1}),
            json!({"op": "remove", "path": "/a/9"}),
            json!({"op": "add", "path": "/a/9", "value": 1}),
            json!({"op": "add", "path": "/n/x", "value": 1}),
            json!({"op": "test", "path": "/n", "value": 2}),
            json!({"op": "shake"}),
        ] {
            let mut state = json!({"a": [1], "n": 1});
            let add = json!({"op": "add", "path": "/b", "value": 1});
            assert_eq!(apply(&mut state, &[add, odd]), Err(PatchError));
            assert_eq!(state, json!({"a": [1], "n": 1}));
        }
    }
}
