//! What comes to the task of a chat from outside.

use tokio::sync::oneshot;
use turn::{GateId, Principal};

use crate::errand::{Done, Order};
use crate::error::EngineError;

/// Something that comes to the task of a chat from outside.
pub(crate) enum Command {
    /// Somebody asks for something.
    Errand {
        principal: Principal,
        order: Order,
        reply: oneshot::Sender<Result<Done, EngineError>>,
    },
    /// A gate's time is up.
    TimedOut { gate: GateId },
    /// Reads the journal, and takes up what it finds.
    Wake,
    /// The chat is somebody else's now.
    Lost,
    /// Looks whether somebody else wrote to the journal.
    Compare,
    /// The server leaves: the chat is let go as soon as nothing of it is at work. What is sent is
    /// dropped then.
    Leave { done: oneshot::Sender<()> },
}
