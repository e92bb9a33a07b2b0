//! A call as a part of a UI message, in the state in which a client would send it.

use serde_json::{Map, Value, json};
use turn::agent::{CallResult, OwnCall};
use turn::call::{Call, Outcome};
use turn::gate::Decision;
use turn::reason;

use super::KEPT;

/// The fields of a call's chunks that its part has, too, and under which names.
pub(super) const FIELDS: [(&str, &str); 4] = [
    ("title", "title"),
    ("toolMetadata", "toolMetadata"),
    ("providerExecuted", "providerExecuted"),
    ("providerMetadata", "callProviderMetadata"),
];

/// The part of a call. `own` is what is known of it while its step is the last.
pub(super) fn of(call: &Call, result: Option<&CallResult>, own: Option<&OwnCall>) -> Value {
    let kept = call
        .provider_metadata
        .as_ref()
        .and_then(|all| all.get(KEPT));
    let kept = kept.and_then(Value::as_object).cloned().unwrap_or_default();
    let mut part = Map::new();
    if kept.get("dynamic") == Some(&Value::Bool(true)) {
        part.insert("type".to_owned(), json!("dynamic-tool"));
        part.insert("toolName".to_owned(), json!(call.tool));
    } else {
        part.insert("type".to_owned(), json!(format!("tool-{}", call.tool)));
    }
    let id = call
        .provider_id
        .clone()
        .unwrap_or_else(|| call.id.to_string());
    part.insert("toolCallId".to_owned(), json!(id));
    let input = result.and_then(|result| result.edited_input.as_ref());
    part.insert("input".to_owned(), input.unwrap_or(&call.input).clone());
    for (chunk, field) in FIELDS {
        let value = kept
            .get(chunk)
            .map(|value| (field.to_owned(), value.clone()));
        part.extend(value);
    }
    let asked = own.and_then(|own| own.asked.as_ref());
    let token = asked.and_then(|asked| asked.token.as_ref());
    let approval = token.or(kept.get("approval"));
    let answer = Answer {
        approval: approval.and_then(Value::as_object),
        decision: asked.and_then(|asked| asked.decision.as_ref()),
    };
    let outcome = result.map(|result| &result.outcome);
    answer.state(outcome, own.is_some(), &mut part);
    Value::Object(part)
}

/// What the route asked about a call, and what was decided.
struct Answer<'a> {
    approval: Option<&'a Map<String, Value>>,
    decision: Option<&'a Decision>,
}

impl Answer<'_> {
    /// Adds the state of the call, and what belongs to it.
    fn state(&self, outcome: Option<&Outcome>, is_new: bool, part: &mut Map<String, Value>) {
        let mut set = |name: &str, value: Value| {
            part.insert(name.to_owned(), value);
        };
        match outcome {
            // Approved, and the route has not been sent it yet.
            None => {
                let reason = match self.decision {
                    Some(Decision::Approved { reason, .. }) => reason.as_deref(),
                    _ => None,
                };
                set("state", json!("approval-responded"));
                set("approval", self.approval_with(true, reason).into());
            }
            Some(Outcome::Output { output } | Outcome::Pending { output }) => {
                set("state", json!("output-available"));
                set("output", output.clone());
                if self.approval.is_some() {
                    set("approval", self.approval_with(true, None).into());
                }
            }
            Some(Outcome::Denied { reason }) if self.approval.is_some() => {
                // The route says by itself that it was denied, once it has the answer.
                let is_answer = is_new && self.decision.is_some();
                set(
                    "state",
                    json!(match is_answer {
                        true => "approval-responded",
                        false => "output-denied",
                    }),
                );
                let approval = self.approval_with(false, reason.as_deref());
                set("approval", approval.into());
            }
            Some(other) => {
                set("state", json!("output-error"));
                set("errorText", json!(error_text(other)));
            }
        }
    }

    fn approval_with(&self, approved: bool, reason: Option<&str>) -> Map<String, Value> {
        let mut approval = self.approval.cloned().unwrap_or_default();
        approval.insert("approved".to_owned(), json!(approved));
        approval.extend(reason.map(|reason| ("reason".to_owned(), json!(reason))));
        approval
    }
}

/// What is wrong with a call that has no output, for a model.
pub(super) fn error_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Error { error } | Outcome::Invalid { error } => error.clone(),
        Outcome::Denied { reason } => reason::denial(reason.as_deref()),
        Outcome::Unknown { reason } => reason::unknown(*reason).to_owned(),
        Outcome::Output { output } | Outcome::Pending { output } => output.to_string(),
    }
}
