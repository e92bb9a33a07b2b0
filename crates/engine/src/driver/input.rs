//! What reaches a chat.

use store::StoreError;
use tools::work::ToolDoes;
use turn::agent::CompactEvent;
use turn::call::Outcome;
use turn::{CallId, GateId, Principal, TraceContext};

use super::operation::Stored;
use crate::command::CommandKind;

/// Something that reaches a chat.
#[derive(Debug)]
pub enum Input {
    /// Somebody gives a command, and waits for [`Action::Reply`](super::Action::Reply).
    Command {
        /// Who.
        principal: Principal,
        /// What is to be done.
        kind: CommandKind,
        /// Where the request belongs in a distributed trace, if it is traced.
        trace: Option<TraceContext>,
    },
    /// A gate's time is up.
    TimedOut {
        /// The gate.
        gate: GateId,
    },
    /// The chat has to be maintained here: it is read, and its turn resumed.
    Wake,
    /// The chat is another server's now.
    Lost,
    /// Somebody else may have written to the journal.
    Compare,
    /// The server is about to end: the chat is handed over as soon as nothing of it is at work.
    Leave,
    /// Nothing has happened for a while: the chat's lease is given back. The driver is done with then.
    Retire,
    /// A batch of the agent's events, and whether its stream has ended.
    Agent {
        /// Which of the chat's model calls they are from: one that was stopped is ignored.
        run: u64,
        /// The events.
        events: Vec<CompactEvent>,
        /// Whether that is all.
        is_over: bool,
    },
    /// A tool does something.
    Tool {
        /// Which of the chat's runs of tools: one that was stopped is ignored.
        run: u64,
        /// The call that it runs for.
        call: CallId,
        /// What it does.
        does: ToolDoes,
    },
    /// A long-running call is done.
    Result {
        /// The call.
        call: CallId,
        /// What came of it.
        outcome: Outcome,
    },
    /// What came of the operation that the driver waits for.
    Stored(Result<Stored, StoreError>),
}
