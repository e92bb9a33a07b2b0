//! What a turn has said and done, as typed items, in order. `view` shows them to clients; whether they
//! were said just now or are read back from the journal, they are the same.

use std::sync::Arc;

use serde_json::Value;

use crate::agent::Part;
use crate::call::{Call, Outcome};
use crate::event::{End, Finish};
use crate::gate::{Decision, Gate};
use crate::id::{CallId, GateId};
use crate::message::Message;

/// Something that a turn has said or done.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// The model begins a step.
    StepBegun,
    /// A text begins.
    TextBegun {
        /// What the provider says of it.
        provider_metadata: Option<Value>,
    },
    /// A reasoning begins.
    ReasoningBegun {
        /// What the provider says of it.
        provider_metadata: Option<Value>,
    },
    /// More of the text or reasoning that is open.
    Delta(String),
    /// The text or reasoning that is open is over.
    BlockEnded,
    /// A file, a source or data.
    Part(Box<Part>),
    /// The model ended the step.
    StepEnded {
        /// Why.
        finish: Finish,
        /// Usage, model version and the like.
        metadata: Option<Value>,
    },
    /// A call was made.
    CallMade {
        /// The call.
        call: Box<Call>,
        /// The step that it belongs to; none for one that a tool asked for.
        step: Option<usize>,
        /// Whether it is not announced with its step: see [`Part::Call`].
        is_held: bool,
        /// Whether it is not shown with its step at all.
        is_open: bool,
    },
    /// A call is about to run.
    CallStarted(CallId),
    /// A tool says how far it has come.
    CallProgressed {
        /// The call.
        call: CallId,
        /// An output that is not final.
        output: Value,
    },
    /// A call is over.
    CallSettled {
        /// The call.
        call: CallId,
        /// What became of it.
        outcome: Arc<Outcome>,
    },
    /// A gate was opened.
    GateOpened(Box<Gate>),
    /// A gate was closed.
    GateClosed {
        /// The gate.
        gate: GateId,
        /// What was decided.
        decision: Decision,
    },
    /// A user's message that came while the turn was open was given to the agent.
    MessageInjected(Box<Message>),
    /// All that one entry says was said.
    EntryEnded {
        /// Whether the turn waits at gates.
        is_parked: bool,
    },
    /// The turn is over.
    Ended(End),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items are handed on by value, a few for every entry.
    #[test]
    fn an_item_is_not_large() {
        let bytes = size_of::<Item>();
        assert!(bytes <= 128, "an item takes {bytes} bytes");
    }
}
