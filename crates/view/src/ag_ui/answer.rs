//! The payload with which an interrupt is answered.

use serde_json::Value;
use turn::gate::{Decision, GateKind};

/// What a payload says.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) decision: Decision,
    /// The digest of what was shown.
    pub(crate) digest: Option<String>,
    /// The input that the client means: one that is not the one that was asked about is refused, and never
    /// taken for a yes to that.
    pub(crate) input: Option<Value>,
}

/// Reads a payload as the interrupt's schema has it: as data where the gate asks for data, and else as yes or
/// no. `digest` came beside it.
pub(crate) fn read(
    kind: &GateKind,
    payload: Value,
    digest: Option<String>,
) -> Result<Given, String> {
    if kind.schema().is_some() {
        return Ok(Given {
            decision: Decision::Output { output: payload },
            digest,
            input: None,
        });
    }
    let field = |key: &str| payload.get(key);
    let text = |key: &str| field(key).and_then(Value::as_str).map(str::to_owned);
    let approved = payload.as_bool();
    let approved = approved.or_else(|| field("approved")?.as_bool());
    let reason = text("reason");
    let decision = match approved {
        Some(true) => Decision::Approved {
            reason,
            input: None,
        },
        Some(false) => Decision::Denied { reason },
        None => return Err("payload: expected {\"approved\": true} or false".to_owned()),
    };
    let digest = field("digest")
        .map(|digest| match digest {
            Value::String(digest) => digest.clone(),
            // It matches nothing.
            other => other.to_string(),
        })
        .or(digest);
    Ok(Given {
        decision,
        digest,
        input: field("input").or(field("editedArgs")).cloned(),
    })
}
