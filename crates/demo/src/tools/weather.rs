//! The weather, from a fixed table: the demo has no network.

use serde_json::{Value, json};

/// The weather of a city.
pub(super) fn of(location: &str) -> Value {
    let (temperature, condition, humidity) = match location.to_lowercase().as_str() {
        "tokyo" => (18, "Cloudy", 65),
        "san francisco" => (15, "Foggy", 80),
        "london" => (12, "Rainy", 85),
        "new york" => (10, "Sunny", 50),
        _ => {
            return json!({
                "temperature": 20,
                "condition": "Unknown",
                "humidity": 60,
                "location": location,
                "note": format!("The demo has no weather for {location}."),
            });
        }
    };
    json!({
        "temperature": temperature,
        "condition": condition,
        "humidity": humidity,
        "location": location,
    })
}
