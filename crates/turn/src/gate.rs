//! A gate: a question that holds a call, and what was decided.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{CallId, GateId};
use crate::time::At;

/// A question that holds a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    /// Its id.
    pub id: GateId,
    /// The call that it holds.
    pub call: CallId,
    /// What is asked.
    pub kind: GateKind,
    /// When nobody need answer any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<At>,
    /// What an agent that asks wants back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Value>,
}

impl Gate {
    /// Whether somebody in the middle of the call's work asks.
    pub(crate) fn is_within(&self) -> bool {
        matches!(self.kind, GateKind::Approval { within: true, .. })
    }
}

/// What a gate asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum GateKind {
    /// A person says yes or no.
    Approval {
        /// What the person is asked.
        question: String,
        /// Whether the tool itself asks, in the middle of its work.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        within: bool,
    },
    /// A page runs the call and sends the output.
    ClientCall,
}

/// What was decided at a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "kebab-case")]
pub enum Decision {
    /// Yes.
    Approved {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The input that the approver put in place of the model's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Value>,
    },
    /// No.
    Denied {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The page ran the call.
    Output {
        /// What came of it.
        output: Value,
    },
    /// The page could not run the call.
    Failed {
        /// Why.
        error: String,
    },
    /// Nobody answered in time.
    TimedOut,
    /// The person wrote something else instead.
    Superseded,
    /// The turn was stopped, the model took the call back, or the tool that asked went on without it.
    Cancelled,
}

impl Decision {
    /// Yes or no, for an approval that was answered.
    pub fn approved(&self) -> Option<bool> {
        match self {
            Self::Approved { .. } => Some(true),
            Self::Denied { .. } | Self::Superseded => Some(false),
            _ => None,
        }
    }
}
