//! What is asked of a chat from outside.

use agents::Heard;
use serde_json::Value;
use tokio::sync::oneshot;
use turn::gate::Decision;
use turn::{CallId, GateId, Principal};

use crate::engine::{Request, View};
use crate::error::EngineError;
use crate::stream::{Speech, WindowStream};

type Reply<T> = oneshot::Sender<Result<T, EngineError>>;

/// Something that is asked of a chat from outside.
pub(crate) enum Command {
    Send {
        principal: Principal,
        request: Request,
        speech: Speech,
        reply: Reply<WindowStream>,
    },
    Resume {
        principal: Principal,
        speech: Speech,
        reply: Reply<Option<WindowStream>>,
    },
    Stop {
        principal: Principal,
        reply: Reply<bool>,
    },
    View {
        principal: Principal,
        reply: Reply<View>,
    },
    Forget {
        principal: Principal,
        reply: Reply<()>,
    },
    Answer {
        principal: Principal,
        gate: GateId,
        decision: Decision,
        reply: Reply<()>,
    },
    /// A page ran a call, and says so by itself.
    Output {
        principal: Principal,
        call: CallId,
        output: Result<Value, String>,
        reply: Reply<()>,
    },
    /// Somebody speaks.
    Hear {
        principal: Principal,
        heard: Heard,
        reply: Reply<()>,
    },
    TimedOut {
        gate: GateId,
    },
    /// Reads the journal, and takes up what it finds.
    Wake,
}
