//! What the tools of a chat bring to it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use turn::call::Outcome;
use turn::gate::Decision;
use turn::turn::{AskedOf, RecordedGate};
use turn::{CallId, GateId};

use crate::driver::ToolDoes;

/// The way of a chat's tasks to the chat.
///
/// A queue holds room for many before anything is in it: boxed, they cost a chat that is only open
/// next to nothing.
#[derive(Debug, Clone)]
pub(crate) struct WorkSender(mpsc::Sender<Box<Work>>);

/// The chat's end of it.
pub(crate) type WorkReceiver = mpsc::Receiver<Box<Work>>;

/// The chat is gone.
#[derive(Debug)]
pub(crate) struct Gone;

impl WorkSender {
    /// A way with room for so many.
    pub(crate) fn new(room: usize) -> (Self, WorkReceiver) {
        let (sender, receiver) = mpsc::channel(room);
        (Self(sender), receiver)
    }

    /// Brings something, once there is room for it.
    pub(crate) async fn send(&self, work: Work) -> Result<(), Gone> {
        self.0.send(Box::new(work)).await.map_err(|_| Gone)
    }
}

/// Something that a task of a chat brings.
#[derive(Debug)]
pub(crate) enum Work {
    /// A tool does something, and does not wait.
    Tool {
        run: u64,
        call: CallId,
        does: ToolDoes,
    },
    /// A tool asks somebody.
    Ask {
        run: u64,
        call: CallId,
        /// The gate, if it was opened before the tool was run again.
        gate: Option<GateId>,
        ask: Ask,
        answer: oneshot::Sender<Decision>,
    },
    /// A tool records a step.
    Record {
        run: u64,
        call: CallId,
        name: String,
        value: Value,
        done: oneshot::Sender<()>,
    },
    /// A long-running call is done.
    Result { call: CallId, outcome: Outcome },
}

impl Ask {
    /// Whether a gate of an earlier run asked the same.
    pub(crate) fn is_asked_by(&self, recorded: &RecordedGate) -> bool {
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
