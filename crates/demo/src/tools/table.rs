//! A table at a restaurant: asks for data by a schema.

use std::time::Duration;

use engine::{Context, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::payment::random;

/// Takes nothing: the person says the rest.
#[derive(Deserialize, JsonSchema)]
pub(super) struct BookTable {}

/// Asks when and for how many, and books.
pub(super) async fn book(context: &Context, timeout: Option<Duration>) -> Result<Value, ToolError> {
    let question = "When, and for how many?";
    let mut table = context.ask_within(question, schema(), timeout).await?;
    let reservation = context
        .once("reservation", async { Ok(random("table_")) })
        .await?;
    table["reservation"] = reservation.into();
    table["success"] = true.into();
    Ok(table)
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "date": {"type": "string", "format": "date", "pattern": r"^\d{4}-\d{2}-\d{2}$", "title": "Date"},
            "time": {"type": "string", "enum": ["18:00", "19:00", "20:00", "21:00"], "title": "Time"},
            "people": {"type": "integer", "minimum": 1, "maximum": 12, "title": "People"},
            "outside": {"type": "boolean", "title": "Outside", "description": "If the weather holds."},
            "contact": {
                "type": "object",
                "title": "Contact",
                "properties": {
                    "name": {"type": "string", "minLength": 1, "maxLength": 80, "title": "Name"},
                    "phone": {"type": "string", "maxLength": 40, "title": "Phone"},
                },
                "required": ["name"],
            },
            "note": {"type": "string", "maxLength": 200, "title": "Note"},
        },
        "required": ["date", "time", "people", "contact"],
    })
}
