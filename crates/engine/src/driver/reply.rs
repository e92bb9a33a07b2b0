//! The reply to a command, before windows are opened.

use store::Closed;
use turn::gate::Decision;
use turn::{GateId, TurnId};
use view::ResumePoint;
use wire::{Message, ag_ui};

use crate::command::View;
use crate::stream::Dialect;

/// The reply to a command, before windows are opened.
#[derive(Debug)]
pub enum Reply {
    /// A window is to be opened; none, where there is nothing to see.
    Window(Option<Opening>),
    /// Whether there was a turn to stop.
    Stopped(bool),
    /// The chat as a page shows it.
    View(View),
    /// What an agent's question came to.
    Asked(QuestionState),
    /// This command closed an approval.
    Closed(Closed),
    /// Of an output, whether it counts: no other was first. Of an answer, whether it agrees with the
    /// decision.
    Taken(bool),
    /// It is done, and there is nothing to say of it.
    Done,
}

/// What an agent's question came to.
#[derive(Debug)]
pub enum QuestionState {
    /// It was decided.
    Decided(Decision),
    /// It waits at a gate, in the place of who waited there before.
    Waits(GateId),
    /// Nobody was asked: it is to be asked again.
    Again,
}

/// How a window is to be opened.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The turn.
    pub turn: TurnId,
    /// In which dialect.
    pub dialect: Dialect,
    /// Up to where the client has seen the transcript; nothing, if it wants the whole message.
    pub position: Option<usize>,
    /// The message as the client shows it, where that may differ.
    pub seen: Option<Box<Message>>,
    /// The messages before the turn's own, for a client of AG-UI that is sent all of them first.
    pub history: Option<Vec<ag_ui::Message>>,
    /// Whether its chunks have sequences.
    pub numbering: Numbering,
}

impl Opening {
    /// For a client that has seen nothing.
    pub(super) fn new(turn: TurnId, dialect: Dialect) -> Self {
        Self {
            turn,
            dialect,
            position: None,
            seen: None,
            history: None,
            numbering: Numbering::None,
        }
    }
}

/// Whether the chunks of a window have sequences. Only those of the AI SDK have.
#[derive(Debug, Clone)]
pub enum Numbering {
    /// They have none.
    None,
    /// They have.
    Opened,
    /// They have, and follow those of a window that the client lost.
    From(Box<ResumePoint>),
}
