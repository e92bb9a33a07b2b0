//! What the tools of a chat bring to it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use turn::call::{InnerCall, Outcome};
use turn::gate::Decision;
use turn::turn::{AskedOf, RecordedGate};
use turn::{CallId, GateId};

/// The way of a chat's tasks to the chat.
///
/// A queue holds room for many before anything is in it: boxed, they cost a chat that is only open
/// next to nothing.
#[derive(Debug, Clone)]
pub struct WorkSender(mpsc::Sender<Box<Work>>);

/// The chat's end of it.
pub type WorkReceiver = mpsc::Receiver<Box<Work>>;

/// The chat is gone.
#[derive(Debug)]
pub struct Gone;

impl WorkSender {
    /// A channel with this capacity.
    pub fn new(room: usize) -> (Self, WorkReceiver) {
        let (sender, receiver) = mpsc::channel(room);
        (Self(sender), receiver)
    }

    /// Brings something, once there is room for it.
    pub async fn send(&self, work: Work) -> Result<(), Gone> {
        self.0.send(Box::new(work)).await.map_err(|_| Gone)
    }
}

/// What a tool does while it runs.
#[derive(Debug)]
pub enum ToolDoes {
    /// It asks somebody, and waits for the decision.
    Ask {
        /// The gate, if it was opened before the tool was run again.
        gate: Option<GateId>,
        /// Whom, and what.
        ask: Ask,
    },
    /// It records a step, and waits for it to be stored.
    Record {
        /// The step's name.
        name: String,
        /// Its result.
        value: Value,
    },
    /// It shows how far it has come.
    Progress {
        /// An output that is not final.
        output: Value,
    },
    /// A call that an agent makes inside of it, and that somebody was asked about, is over.
    Settle {
        /// Which of the calls inside.
        key: String,
        /// What became of it.
        outcome: Outcome,
    },
    /// It is done.
    Return {
        /// What came of it.
        outcome: Outcome,
    },
}

/// Something that a task of a chat brings.
#[derive(Debug)]
pub enum Work {
    /// A tool does something, and does not wait.
    Tool {
        /// Which run of the call.
        run: u64,
        /// The call.
        call: CallId,
        /// What it does.
        does: ToolDoes,
    },
    /// A tool asks somebody.
    Ask {
        /// Which run of the call.
        run: u64,
        /// The call.
        call: CallId,
        /// The gate, if it was opened before the tool was run again.
        gate: Option<GateId>,
        /// Whom, and what.
        ask: Ask,
        /// Where the decision goes.
        answer: oneshot::Sender<Decision>,
    },
    /// A tool records a step.
    Record {
        /// Which run of the call.
        run: u64,
        /// The call.
        call: CallId,
        /// The step's name.
        name: String,
        /// Its result.
        value: Value,
        /// Notified when it is stored.
        done: oneshot::Sender<()>,
    },
    /// A long-running call is done.
    Result {
        /// The call.
        call: CallId,
        /// What came of it.
        outcome: Outcome,
    },
}

impl Ask {
    /// Whether a gate of an earlier run asked the same.
    pub fn is_asked_by(&self, recorded: &RecordedGate) -> bool {
        match (self, &recorded.asked) {
            (Self::Approval { question, .. }, Some(AskedOf::Person { question: before })) => {
                question == before
            }
            (
                Self::Page { tool, input, .. },
                Some(AskedOf::Page {
                    tool: before,
                    input: with,
                }),
            ) => tool == before && input == with,
            (
                Self::Data {
                    question, schema, ..
                },
                Some(AskedOf::Data {
                    question: before,
                    schema: by,
                }),
            ) => question == before && schema == by,
            (
                Self::Inner { call, question, .. },
                Some(AskedOf::Inner {
                    key,
                    question: before,
                }),
            ) => call.key == *key && question == before,
            _ => false,
        }
    }
}

/// Whom a tool asks, in the middle of its work.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ask {
    /// A person: yes or no.
    Approval {
        /// What is asked.
        question: String,
        /// How long to wait.
        timeout: Option<Duration>,
    },
    /// A person, for data.
    Data {
        /// What is asked.
        question: String,
        /// What an answer has to be.
        schema: Value,
        /// The agents from the first to the one that asks, where one inside of the call does.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        path: Vec<String>,
        /// How long to wait.
        timeout: Option<Duration>,
    },
    /// A person: whether an agent that runs as a tool may make a call.
    Inner {
        /// The call.
        call: Box<InnerCall>,
        /// What is asked.
        question: String,
        /// How long to wait.
        timeout: Option<Duration>,
    },
    /// A page, to run one of its tools.
    Page {
        /// The tool.
        tool: String,
        /// Its input.
        input: Value,
        /// How long to wait.
        timeout: Option<Duration>,
    },
}
