//! A call: one use of a tool by the model, and what became of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::CallId;
use crate::metadata::{OURS, PATH};

/// One use of a tool, with the input that the model gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// The id that the provider gave it, if any, to be sent back with the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The tool.
    pub tool: String,
    /// The input.
    pub input: Value,
    /// Where it runs.
    pub place: Place,
    /// The call whose tool made this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CallId>,
    /// What the provider says of it, to be sent back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<Value>,
}

impl Call {
    /// The agents from the first to the one that made it, where the agent has others inside.
    pub fn path(&self) -> Vec<&str> {
        let ours = self
            .provider_metadata
            .as_ref()
            .and_then(|all| all.get(OURS));
        let path = ours.and_then(|ours| ours.get(PATH)?.as_array());
        let path = path.into_iter().flatten();
        path.filter_map(Value::as_str).collect()
    }

    /// Why a page would not show its input as it runs, if so.
    pub(crate) fn unshowable(&self) -> Option<&'static str> {
        match &self.input {
            // Nothing is shown as nothing.
            Value::Null => None,
            Value::Object(_) if has_hidden_key(&self.input) => {
                Some("its input holds keys that pages can't show, such as __proto__")
            }
            Value::Object(_) if has_rounded_number(&self.input) => Some(
                "its input holds a number that may have been rounded, which is beyond 64-bit integers",
            ),
            Value::Object(_) => None,
            _ => Some("its input is not an object with named fields"),
        }
    }
}

/// Whether a value has a key, anywhere in it, that JavaScript takes for a prototype: pages drop it.
pub fn has_hidden_key(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_hidden_key),
        Value::Object(map) => map.iter().any(|(key, value)| {
            key == "__proto__"
                || key == "constructor" && value.get("prototype").is_some()
                || has_hidden_key(value)
        }),
        _ => false,
    }
}

/// Whether a value has a number, anywhere in it, that may be another one than was written: an integer
/// beyond 64 bits is read as the nearest double, and who runs the call may hold all of its digits.
pub fn has_rounded_number(value: &Value) -> bool {
    /// From here on, doubles leave integers out.
    const FIRST_ROUNDED: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Array(items) => items.iter().any(has_rounded_number),
        Value::Object(map) => map.values().any(has_rounded_number),
        Value::Number(number) if number.is_f64() => number
            .as_f64()
            .is_some_and(|double| double.abs() >= FIRST_ROUNDED),
        _ => false,
    }
}

/// A call that an agent makes inside of a call: an agent that another one uses as a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InnerCall {
    /// Which of the calls inside it is. A run that is repeated gives the same.
    pub key: String,
    /// The tool.
    pub tool: String,
    /// The input.
    pub input: Value,
    /// The agents from the first to the one that makes it.
    pub path: Vec<String>,
}

/// Where a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Here.
    Server,
    /// In a page: a client call.
    Client,
    /// At the agent, which runs it and reports the outcome.
    Agent,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// It has an output.
    Output {
        /// The output.
        output: Value,
    },
    /// It failed.
    Error {
        /// Why.
        error: String,
    },
    /// The model's input was not one that the tool takes.
    Invalid {
        /// What is wrong with it.
        error: String,
    },
    /// It was refused.
    Denied {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// It was started, and its outcome is unknown.
    Unknown {
        /// Why it is unknown.
        #[serde(default, skip_serializing_if = "UnknownReason::is_unrecorded")]
        reason: UnknownReason,
    },
    /// It continues in the background, and its result will open a turn of its own.
    Pending {
        /// What to tell the model meanwhile.
        output: Value,
    },
}

/// Why the outcome of a call is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownReason {
    /// The journal is of a version that did not say why.
    #[default]
    Unrecorded,
    /// The server that ran it, or that listened to the agent which did, stopped.
    ServerStopped,
    /// Its turn was stopped while it ran.
    TurnStopped,
    /// The agent's server can't say whether it has taken the answer that lets the call run.
    AnswerUnclear,
    /// The connection to the agent was cut while the agent ran it.
    ConnectionCut,
    /// The agent failed while the call ran.
    AgentFailed,
    /// The agent went on, or ended, and never gave a result.
    NoResult,
    /// A tool sent its request to another service, and the answer was lost.
    AnswerLost,
}

impl UnknownReason {
    fn is_unrecorded(&self) -> bool {
        *self == Self::Unrecorded
    }

    /// Every reason that is recorded.
    pub const ALL: [Self; 7] = [
        Self::ServerStopped,
        Self::TurnStopped,
        Self::AnswerUnclear,
        Self::ConnectionCut,
        Self::AgentFailed,
        Self::NoResult,
        Self::AnswerLost,
    ];
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::reason::unknown;

    #[test]
    fn unknown_outcome_of_an_old_journal_reads_as_it_did() {
        let stored = json!({"outcome": "unknown"});
        let old: Outcome = serde_json::from_value(stored.clone()).unwrap();
        let reason = UnknownReason::Unrecorded;
        assert_eq!(old, Outcome::Unknown { reason });
        assert_eq!(serde_json::to_value(&old).unwrap(), stored);
        assert_eq!(unknown(reason), unknown(UnknownReason::ServerStopped));
    }

    #[test]
    fn every_reason_is_stored_and_has_a_sentence_of_its_own() {
        let mut sentences = std::collections::HashSet::new();
        for reason in UnknownReason::ALL {
            let outcome = Outcome::Unknown { reason };
            let stored = serde_json::to_value(&outcome).unwrap();
            assert_eq!(stored["reason"], json!(reason));
            assert_eq!(serde_json::from_value::<Outcome>(stored).unwrap(), outcome);
            assert!(unknown(reason).starts_with("The outcome is unknown: "));
            assert!(sentences.insert(unknown(reason)));
        }
    }
}
