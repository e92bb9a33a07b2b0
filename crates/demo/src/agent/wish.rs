//! What a person wants done: one call of a tool.

use serde_json::{Number, Value, json};

/// One call that a person wants.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wish {
    /// Send money.
    Payment {
        amount: f64,
        currency: &'static str,
        recipient: String,
        description: Option<String>,
    },
    /// Tell the weather of a place.
    Weather { place: String },
    /// Tell where the person is.
    Location,
    /// Play a track.
    Track { track: f64 },
    /// Book a flight.
    Flight { destination: String },
    /// Set the mood of a place.
    Mood { place: String },
    /// Write a report, which takes its time.
    Report { topic: String },
}

/// What a person left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// How much to pay.
    Amount,
    /// Whom to pay.
    Recipient,
    /// Which track to play.
    Track,
    /// Whose weather.
    City,
    /// Where to fly.
    Destination,
    /// Which place's mood.
    Mood,
    /// What to write about.
    Topic,
}

impl Wish {
    /// The tool that does it.
    pub(super) fn tool(&self) -> &'static str {
        match self {
            Self::Payment { .. } => "process_payment",
            Self::Weather { .. } => "get_weather",
            Self::Location => "get_location",
            Self::Track { .. } => "change_bgm",
            Self::Flight { .. } => "book_flight",
            Self::Mood { .. } => "set_mood",
            Self::Report { .. } => "write_report",
        }
    }

    /// The tool's input.
    pub(super) fn input(&self) -> Value {
        match self {
            Self::Payment {
                amount,
                currency,
                recipient,
                description,
            } => {
                let mut input = json!({
                    "amount": number(*amount), "recipient": recipient, "currency": currency,
                });
                if let Some(description) = description {
                    input["description"] = description.as_str().into();
                }
                input
            }
            Self::Weather { place } | Self::Mood { place } => json!({"location": place}),
            Self::Location => json!({}),
            Self::Track { track } => json!({"track": number(*track)}),
            Self::Flight { destination } => json!({"destination": destination}),
            Self::Report { topic } => json!({"topic": topic}),
        }
    }
}

/// A number as JSON, an integer where it is whole.
fn number(value: f64) -> Number {
    /// Up to here every integer is a double.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        return Number::from(value as i64);
    }
    Number::from_f64(value).unwrap_or_else(|| Number::from(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_amounts_are_integers_and_descriptions_stand_only_where_given() {
        let payment = |amount, description: Option<&str>| Wish::Payment {
            amount,
            currency: "USD",
            recipient: "Sam".to_owned(),
            description: description.map(str::to_owned),
        };
        assert_eq!(
            payment(20.0, None).input().to_string(),
            r#"{"amount":20,"recipient":"Sam","currency":"USD"}"#
        );
        assert_eq!(
            payment(12.5, Some("lunch")).input().to_string(),
            r#"{"amount":12.5,"recipient":"Sam","currency":"USD","description":"lunch"}"#
        );
    }
}
