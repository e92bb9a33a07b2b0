//! A question as an interrupt of a run.

use serde_json::{Value, json};
use turn::{At, CallId};
use wire::ag_ui::Interrupt;
use wire::prototype::without_refused_keys;

use crate::ai_sdk::OpenQuestion;

/// The interrupt of a question. It names a call only where clients were shown it: one that a page is to
/// run is shown when it may. A question that asks for data is about the call that asks.
pub(super) fn of(question: &OpenQuestion, is_shown: impl Fn(&CallId) -> bool) -> Interrupt {
    let OpenQuestion { gate, call } = question;
    let policy = gate.policy(call);
    let input = without_refused_keys(gate.shown_input(call).clone());
    let mut metadata = json!({
        "toolCallId": call.id,
        "toolName": call.tool,
        "input": input,
        "editable": policy.is_editable,
        "digest": gate.digest(call),
    });
    let path = call.path();
    if !path.is_empty() {
        metadata["path"] = json!(path);
    }
    let (reason, about) = match gate.kind.schema() {
        None => ("tool_call", Some(&call.id)),
        Some(_) => ("input_required", call.parent.as_ref()),
    };
    Interrupt {
        id: gate.id.to_string(),
        reason: reason.to_owned(),
        message: gate.kind.question().map(str::to_owned),
        tool_call_id: about.filter(|call| is_shown(call)).map(CallId::to_string),
        response_schema: Some(match gate.kind.schema() {
            None => approval_schema(),
            Some(schema) => schema.clone(),
        }),
        expires_at: gate.expires.map(iso_8601),
        metadata: Some(metadata),
        ..Interrupt::default()
    }
}

/// The schema of a yes or a no.
fn approval_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "approved": {"type": "boolean"},
            "reason": {"type": "string"},
            "digest": {"type": "string"},
        },
        "required": ["approved"],
    })
}

/// A moment as clients compare it with their clocks, such as `2026-01-31T09:30:00.250Z`.
fn iso_8601(at: At) -> String {
    let (seconds, milliseconds) = (at.0 / 1000, at.0 % 1000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

/// The date of a day since 1970, by whole years and months.
fn date(mut days: u64) -> (u64, usize, u64) {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    // 400 years have as many days wherever they begin.
    const CYCLE: u64 = 146_097;
    let mut year = 1970 + 400 * (days / CYCLE);
    days %= CYCLE;
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in months {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_clients_parse_them() {
        for (milliseconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_735_689_599_999, "2024-12-31T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (1_795_000_000_250, "2026-11-18T11:06:40.250Z"),
        ] {
            assert_eq!(iso_8601(At(milliseconds)), expected);
        }
    }
}
