//! What Gemini wants back unchanged, as provider metadata under `google`.
//!
//! It is the part as it came, without what the journal holds elsewhere: its text, the call's name
//! and input, the file. Mostly that is a thought signature; fields of tomorrow are among it.

use gemini::{Data, Part};
use serde_json::{Map, Value, json};

/// The provider's name in the metadata.
const GOOGLE: &str = "google";

/// Puts away what is left of a part and of its data; nothing, if nothing is.
pub(super) fn of(part: Part, left: Data) -> Option<Value> {
    let is_empty = match serde_json::to_value(Part::from(left.clone())) {
        Ok(Value::Object(map)) => map.values().all(|value| *value == json!({})),
        _ => true,
    };
    let part = Part {
        data: if is_empty { Data::Unknown } else { left },
        // Kept as the kind of the part.
        thought: None,
        ..part
    };
    (part != Part::default()).then(|| whole(&part))
}

/// Puts a whole part away.
pub(super) fn whole(part: &Part) -> Value {
    Value::Object(Map::from_iter([(GOOGLE.to_owned(), json!(part))]))
}

/// The part that was put away; an empty one, if none was, or by another provider.
pub(super) fn part(metadata: Option<&Value>) -> Part {
    let kept = metadata.and_then(|metadata| metadata.get(GOOGLE));
    let part = kept.and_then(|kept| serde_json::from_value(kept.clone()).ok());
    part.unwrap_or_default()
}
