//! The JSON Schema of the file, for editors.

use serde_json::Value;

use crate::config::Settings;

/// The schema, as it is published.
pub(crate) fn schema() -> String {
    let mut schema = schemars::schema_for!(Settings).to_value();
    if let Value::Object(map) = &mut schema {
        map.insert("title".to_owned(), "adk-stream.toml".into());
        let description = "Settings of the server, agents, models and tools.";
        map.insert("description".to_owned(), description.into());
    }
    // A value can always be written.
    let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    format!("{text}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_schema_is_current() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/adk-stream.schema.json"
        );
        let published = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            published == schema(),
            "docs/adk-stream.schema.json is out of date: `adk-stream schema > docs/adk-stream.schema.json`"
        );
    }
}
