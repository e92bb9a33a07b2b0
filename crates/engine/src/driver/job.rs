//! What a driver is in the middle of, and what it does next.

use tools::work::ToolDoes;
use turn::{At, CallId, GateId, Principal, TraceContext};

use super::commands::CommandState;
use super::journal::Wait;
use super::operation::Operation;
use super::reply::Reply;
use super::work::Agent;
use crate::command::CommandKind;
use crate::error::EngineError;

/// What the driver is in the middle of.
pub(super) struct Job {
    pub(super) task: Task,
    /// Whether somebody else was first.
    pub(super) has_conflicted: bool,
    /// Whether what was to be written last is written, and when, if there was anything to write.
    pub(super) wrote: Option<Option<At>>,
    /// Where the request that asks for it belongs in a distributed trace.
    pub(super) trace: Option<TraceContext>,
}

impl Job {
    pub(super) fn new(task: Task) -> Self {
        Self {
            task,
            has_conflicted: false,
            wrote: None,
            trace: None,
        }
    }
}

/// What is to be done with the chat.
pub(super) enum Task {
    Command {
        principal: Principal,
        state: Box<CommandState>,
    },
    TimedOut {
        gate: GateId,
    },
    Wake,
    Compare,
    Agent(Agent),
    Tool {
        run: u64,
        call: CallId,
        does: ToolDoes,
        /// The last gate before the tool asked.
        before: Option<Option<GateId>>,
    },
    OpenResults,
    GiveBack,
    Release,
}

/// What a task does next.
#[expect(
    clippy::large_enum_variant,
    reason = "it is looked at at once, and nearly always something to write"
)]
pub(super) enum Next {
    /// Decides on an input, and makes that durable.
    Write {
        input: turn::Input,
        by: Option<turn::Actor>,
    },
    /// Asks the store for something else.
    Ask(Operation, Wait),
    /// Reads the chat first.
    Load,
    /// Nothing more.
    Done(Result<Reply, EngineError>),
    /// Nothing more before the turn has come to rest.
    Postpone(CommandKind),
}

impl Next {
    pub(super) fn done() -> Self {
        Self::Done(Ok(Reply::Done))
    }
}
