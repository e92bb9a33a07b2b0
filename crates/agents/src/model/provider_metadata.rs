//! What a provider wants back unchanged, under its name.

use serde_json::{Map, Value};

/// Puts away what a provider says of a part; nothing, if it says nothing.
pub(crate) fn of(provider: &str, kept: Map<String, Value>) -> Option<Value> {
    (!kept.is_empty()).then(|| whole(provider, Value::Object(kept)))
}

/// Puts anything of a provider away.
pub(crate) fn whole(provider: &str, kept: Value) -> Value {
    Value::Object(Map::from_iter([(provider.to_owned(), kept)]))
}

/// What a provider has put away; nothing, if another has.
pub(crate) fn get<'a>(
    provider: &str,
    metadata: Option<&'a Value>,
) -> Option<&'a Map<String, Value>> {
    metadata?.get(provider)?.as_object()
}
