//! What the tasks of a chat bring to it: from the agent, from tools, from timers.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::oneshot;
use turn::agent::AgentEvent;
use turn::call::Outcome;
use turn::gate::Decision;
use turn::{CallId, GateId};

/// Something that a task of a chat brings.
#[derive(Debug)]
pub(crate) enum Work {
    /// The agent says something; nothing, when its stream has ended.
    Agent {
        /// Which of the chat's model calls says it: one that was let go is not heard.
        run: u64,
        event: Option<AgentEvent>,
    },
    /// A tool asks somebody.
    Ask {
        /// Which of the chat's runs of tools asks: one that was let go is not heard. So with the rest.
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
    /// A tool shows how far it has come.
    Progress {
        run: u64,
        call: CallId,
        output: Value,
    },
    /// A tool is done.
    Done {
        run: u64,
        call: CallId,
        outcome: Outcome,
    },
    /// A long-running call is done.
    Result { call: CallId, outcome: Outcome },
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
