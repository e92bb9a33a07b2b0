//! What can be done to the live sockets that are open, at once.

use serde::{Deserialize, Serialize};

use crate::script::{Close, GoAway};

/// Something that is done at once to every live socket that is open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Act {
    /// Says that the connection will be closed.
    GoAway(GoAway),
    /// Closes it.
    Close(Close),
    /// Cuts it, without a farewell.
    Cut {},
    /// Breaks off what the model says, as if the user had spoken over it.
    Interrupt {},
    /// Takes back the calls that are open.
    CancelCalls {},
}
