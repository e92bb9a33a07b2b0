//! A gate: a question that holds a call, and what was decided.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::{Call, Place};
use crate::id::{CallId, GateId};
use crate::limits::{self, MAX_OPEN_GATES};
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
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<At>,
    /// What an agent that asks wants back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Value>,
    /// The input that the call runs with, where an approver has put it in place of the model's before
    /// this was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Whether as many gates of its turn as may be were open before it: nobody is asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_excess: bool,
}

impl Gate {
    /// The input that the person who is asked is shown: the one that its call runs with.
    pub fn shown_input<'a>(&'a self, call: &'a Call) -> &'a Value {
        self.input.as_ref().unwrap_or(&call.input)
    }

    /// Whether a person is asked: for a yes or a no, or for data.
    pub fn is_question(&self) -> bool {
        self.kind.question().is_some()
    }

    /// Whether a person is asked for a yes or a no.
    pub fn is_approval(&self) -> bool {
        self.kind.approval().is_some()
    }

    /// Whether its call is one that pages are given to settle: to run it, or to have a person fill in
    /// what it asks for.
    pub fn is_page_call(&self) -> bool {
        matches!(self.kind, GateKind::ClientCall | GateKind::Question { .. })
    }

    /// Whether the agent asks, or a tool that it runs by itself, of whose input nothing was checked here.
    fn is_agents(&self, call: &Call) -> bool {
        call.place == Place::Agent || self.token.is_some()
    }

    /// What is decided without asking anybody, since too much is asked already, or what would be shown is
    /// less than what would run. Tools here refuse such inputs before anything is asked; an agent with
    /// tools of its own may not.
    pub fn refusal(&self, call: &Call) -> Option<Decision> {
        let is_checked = match self.kind {
            GateKind::Approval { .. } => false,
            // It runs already, with an input that was checked.
            GateKind::ToolApproval { .. } => call.place == Place::Server,
            GateKind::ClientCall => call.parent.is_none(),
            // What is shown is the question and its schema.
            GateKind::Question { .. } => false,
        };
        let why = if self.is_excess {
            format!("{MAX_OPEN_GATES} questions and calls of this turn wait already")
        } else if is_checked {
            return None;
        } else if let Some(why) = call.unshowable() {
            why.to_owned()
        } else if self.is_approval() && self.is_agents(call) {
            limits::exceeded(&call.input)?
        } else {
            return None;
        };
        let why = format!("Nobody was asked: {why}.");
        Some(match self.is_question() {
            true => Decision::Denied { reason: Some(why) },
            false => Decision::Failed { error: why },
        })
    }
}

/// What a gate asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredKind", into = "StoredKind")]
pub enum GateKind {
    /// A person says yes or no before the call runs: a policy asks, or the agent.
    Approval {
        /// What the person is asked.
        question: String,
    },
    /// A person says yes or no while the call runs: its tool asks.
    ToolApproval {
        /// What the person is asked.
        question: String,
    },
    /// A person gives data that fits a JSON Schema, or declines. The call is one of the tool
    /// [`ASK_USER`], made for it.
    Question {
        /// What the person is asked.
        question: String,
        /// What an answer has to be.
        schema: Value,
    },
    /// A page runs the call and sends the output.
    ClientCall,
}

/// The tool of calls by which pages are shown a question that asks for data. Their input holds the
/// question and the schema, their output is the answer.
pub const ASK_USER: &str = "ask_user";

impl GateKind {
    /// What a person is asked; nothing, where a page is to run something.
    pub fn question(&self) -> Option<&str> {
        match self {
            Self::Approval { question }
            | Self::ToolApproval { question }
            | Self::Question { question, .. } => Some(question),
            Self::ClientCall => None,
        }
    }

    /// What a person is asked for a yes or a no.
    pub fn approval(&self) -> Option<&str> {
        match self {
            Self::Approval { question } | Self::ToolApproval { question } => Some(question),
            Self::Question { .. } | Self::ClientCall => None,
        }
    }

    /// What the answer has to be, where data is asked for.
    pub fn schema(&self) -> Option<&Value> {
        match self {
            Self::Question { schema, .. } => Some(schema),
            Self::Approval { .. } | Self::ToolApproval { .. } | Self::ClientCall => None,
        }
    }

    /// Whether a decision is one that a person can give here.
    pub(crate) fn takes(&self, decision: &Decision) -> bool {
        match self {
            Self::Approval { .. } | Self::ToolApproval { .. } => decision.approved().is_some(),
            Self::Question { .. } => {
                matches!(decision, Decision::Output { .. } | Decision::Denied { .. })
            }
            Self::ClientCall => decision.approved().is_none(),
        }
    }
}

/// A gate's kind as journals have it.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum StoredKind {
    Approval {
        question: String,
        /// Whether the tool itself asks.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        within: bool,
    },
    Question {
        question: String,
        schema: Value,
    },
    ClientCall,
}

impl From<StoredKind> for GateKind {
    fn from(stored: StoredKind) -> Self {
        match stored {
            StoredKind::Approval {
                question,
                within: true,
            } => Self::ToolApproval { question },
            StoredKind::Approval { question, .. } => Self::Approval { question },
            StoredKind::Question { question, schema } => Self::Question { question, schema },
            StoredKind::ClientCall => Self::ClientCall,
        }
    }
}

impl From<GateKind> for StoredKind {
    fn from(kind: GateKind) -> Self {
        let within = matches!(kind, GateKind::ToolApproval { .. });
        match kind {
            GateKind::Approval { question } | GateKind::ToolApproval { question } => {
                Self::Approval { question, within }
            }
            GateKind::Question { question, schema } => Self::Question { question, schema },
            GateKind::ClientCall => Self::ClientCall,
        }
    }
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
    /// No; to a question that asks for data, that the person declines to give it.
    Denied {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The page ran the call, or the person gave the data that was asked for.
    Output {
        /// What came of it.
        output: Value,
    },
    /// The page could not run the call.
    Failed {
        /// Why.
        error: String,
    },
    /// It expired.
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
