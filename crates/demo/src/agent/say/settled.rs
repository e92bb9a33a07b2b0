//! A call that is settled, as an answer describes it.

use serde_json::Value;
use turn::agent::CallResult;
use turn::call::Outcome;
use turn::reason::TIMED_OUT;

/// A call that is settled.
#[derive(Debug, Clone, Copy)]
pub(in crate::agent) struct Settled<'r> {
    /// The tool.
    pub(in crate::agent) tool: &'r str,
    /// The input that the agent gave.
    pub(in crate::agent) asked: &'r Value,
    /// The input that the call ran with.
    pub(in crate::agent) input: &'r Value,
    /// What became of it.
    pub(in crate::agent) outcome: &'r Outcome,
}

/// How a call ended, as far as words differ.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ending<'r> {
    Done(&'r Value),
    Failed {
        why: Option<String>,
        output: Option<&'r Value>,
    },
    /// The question expired.
    Unanswered,
    Denied(Option<&'r str>),
    Invalid(&'r str),
    Unknown,
    Pending,
}

/// What an approver changed in an input.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change<'r> {
    pub(super) field: &'r str,
    pub(super) from: Option<&'r Value>,
    pub(super) to: Option<&'r Value>,
}

impl<'r> From<&'r CallResult> for Settled<'r> {
    fn from(result: &'r CallResult) -> Self {
        Self {
            tool: &result.call.tool,
            asked: &result.call.input,
            input: result.edited_input.as_ref().unwrap_or(&result.call.input),
            outcome: &result.outcome,
        }
    }
}

impl<'r> Settled<'r> {
    /// How it ended.
    pub(super) fn ending(&self) -> Ending<'r> {
        match self.outcome {
            Outcome::Output { output } => match failure(output) {
                Some(failed) => Ending::Failed {
                    why: text(failed, "error").or_else(|| text(failed, "message")),
                    output: Some(failed),
                },
                None => Ending::Done(output),
            },
            Outcome::Error { error } if is_unanswered(error) => Ending::Unanswered,
            Outcome::Error { error } => Ending::Failed {
                why: Some(error.clone()).filter(|error| !error.trim().is_empty()),
                output: None,
            },
            Outcome::Denied {
                reason: Some(reason),
            } if is_unanswered(reason) => Ending::Unanswered,
            Outcome::Denied { reason } => {
                let reason = reason.as_deref().map(str::trim);
                Ending::Denied(reason.filter(|reason| !reason.is_empty()))
            }
            Outcome::Invalid { error } => Ending::Invalid(error),
            Outcome::Unknown { .. } => Ending::Unknown,
            Outcome::Pending { .. } => Ending::Pending,
        }
    }

    /// What an approver changed, field by field.
    pub(super) fn changes(&self) -> Vec<Change<'r>> {
        let (Some(asked), Some(input)) = (self.asked.as_object(), self.input.as_object()) else {
            return Vec::new();
        };
        let added = input.keys().filter(|field| !asked.contains_key(*field));
        let fields = asked.keys().chain(added).map(|field| Change {
            field,
            from: asked.get(field),
            to: input.get(field),
        });
        fields.filter(|change| change.from != change.to).collect()
    }

    /// Whether an approver put another input in place of the agent's.
    pub(super) fn is_edited(&self) -> bool {
        self.asked != self.input
    }
}

fn failed(output: &Value) -> bool {
    let success = output.get("success").and_then(Value::as_bool);
    success == Some(false) || success.is_none() && text(output, "error").is_some()
}

/// What failed of an output: all of it, or the payment that it needed.
fn failure(output: &Value) -> Option<&Value> {
    let payment = output.get("payment");
    [Some(output), payment]
        .into_iter()
        .flatten()
        .find(|it| failed(it))
}

/// Whether the call was held by a question that expired.
fn is_unanswered(reason: &str) -> bool {
    reason == TIMED_OUT
}

/// A field that holds text.
pub(super) fn text(value: &Value, field: &str) -> Option<String> {
    let text = value.get(field)?.as_str()?.trim();
    (!text.is_empty()).then(|| shortened(text, 2_000))
}

/// A field that holds a number.
pub(super) fn number(value: &Value, field: &str) -> Option<f64> {
    value.get(field)?.as_f64()
}

/// A value as it is said: text without quotes, whole numbers without a fraction.
pub(super) fn spoken(value: &Value) -> String {
    match value {
        Value::String(text) => shortened(text, 300),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), plain),
        other => shortened(&other.to_string(), 300),
    }
}

/// What an output says, where nothing is known of its form. Nothing where it says nothing.
pub(super) fn facts(output: &Value, input: &Value) -> Option<String> {
    const FIELDS: [&str; 5] = ["report", "text", "summary", "content", "message"];
    if let Some(facts) = FIELDS.iter().find_map(|field| text(output, field)) {
        return Some(facts);
    }
    match output {
        Value::Null => None,
        Value::Object(fields) => {
            let is_news = |field: &str, value: &Value| {
                let is_scalar = !value.is_object() && !value.is_array() && !value.is_null();
                is_scalar && field != "success" && input.get(field) != Some(value)
            };
            let news = fields.iter().filter(|(field, value)| is_news(field, value));
            let facts =
                news.map(|(field, value)| format!("{} {}", field.replace('_', " "), spoken(value)));
            let facts: Vec<_> = facts.take(8).collect();
            (!facts.is_empty()).then(|| facts.join(", "))
        }
        other => Some(spoken(other)).filter(|facts| !facts.is_empty()),
    }
}

/// A number, with separators for thousands and two decimals where it is not whole.
pub(super) fn grouped(value: f64) -> String {
    let digits = if value.fract() == 0.0 {
        format!("{:.0}", value.abs())
    } else {
        format!("{:.2}", value.abs())
    };
    let (whole, decimals) = match digits.split_once('.') {
        Some((whole, decimals)) => (whole, format!(".{decimals}")),
        None => (digits.as_str(), String::new()),
    };
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{grouped}{decimals}")
}

/// A number, as short as it can be said.
pub(super) fn plain(value: f64) -> String {
    format!("{value}")
}

/// A text that is not longer than this many letters.
pub(super) fn shortened(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn money_is_grouped_by_thousands() {
        for (value, said) in [
            (0.0, "0"),
            (20.0, "20"),
            (12.5, "12.50"),
            (999.0, "999"),
            (1_000.0, "1,000"),
            (1_234_567.8, "1,234,567.80"),
            (-5.0, "-5"),
        ] {
            assert_eq!(grouped(value), said);
        }
    }

    #[test]
    fn an_output_that_says_that_it_failed_is_a_failure() {
        assert!(failed(&json!({"success": false})));
        assert!(failed(&json!({"error": "no signal"})));
        assert!(!failed(&json!({"success": true, "error": "none"})));
        assert!(!failed(&json!("error")));
    }

    #[test]
    fn what_could_not_be_paid_failed() {
        let payment = json!({"success": false, "error": "Insufficient funds"});
        let output = json!({"success": true, "payment": payment});
        assert_eq!(failure(&output), Some(&payment));
        assert_eq!(
            failure(&json!({"success": true, "payment": {"success": true}})),
            None
        );
    }

    #[test]
    fn facts_are_what_the_input_did_not_say() {
        let input = json!({"destination": "Oslo"});
        let output =
            json!({"success": true, "destination": "Oslo", "booking_id": "X7", "seats": [1]});
        assert_eq!(facts(&output, &input).as_deref(), Some("booking id X7"));
        assert_eq!(
            facts(&json!({"message": "Done."}), &input).as_deref(),
            Some("Done.")
        );
        assert_eq!(facts(&json!(null), &input), None);
        assert_eq!(facts(&json!(7.0), &input).as_deref(), Some("7"));
    }
}
