//! What can be done to the live sockets that are open, at once.

use serde::{Deserialize, Serialize};

use crate::script::{Close, GoAway};

/// Something that is done at once to every live socket that is open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Command {
    /// Says that the connection will be closed.
    GoAway(GoAway),
    /// Closes it.
    Close(Close),
    /// Cuts the connection without a close frame.
    Cut {},
    /// Interrupts the answer, as if the user had spoken over it.
    Interrupt {},
    /// Takes back the calls that are open.
    CancelCalls {},
}
