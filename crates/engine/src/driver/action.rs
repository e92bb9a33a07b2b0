//! What a driver wants done in the world.

use agents::AudioInput;
use serde_json::Value;
use tools::Fence;
use turn::agent::StepRequest;
use turn::gate::Decision;
use turn::turn::Recorded;
use turn::{At, CallId, GateId, Principal, TraceContext, TurnId};
use view::{Closing, Line};

use super::operation::Operation;
use super::reply::Reply;
use crate::command::CommandKind;
use crate::error::EngineError;

/// Something to be done in the world.
#[derive(Debug)]
pub enum Action {
    /// Run the store operation, and pass its result.
    Store(Operation),
    /// Send the reply to the command.
    Reply(Result<Reply, EngineError>),
    /// Give the command again once the turn does not run any more: what came with it goes first.
    Postpone(CommandKind),
    /// Tell the tool that asked what was decided.
    Decided(Decision),
    /// Have the tool that asked wait at a gate, in the place of who waited there before.
    Wait(GateId),
    /// Tell who waits at a gate what was decided.
    Answer {
        /// The gate.
        gate: GateId,
        /// What was decided.
        decision: Decision,
    },
    /// Tell the tool that its step is recorded.
    Recorded,
    /// Ask the agent for a step. An earlier one is not listened to any more.
    CallModel {
        /// The number under which its words are to be brought.
        run: u64,
        /// What it is asked.
        request: Box<StepRequest>,
    },
    /// Run a tool.
    RunTool(Box<ToolRun>),
    /// Have tools refuse what an earlier owner still does, before anything else is done: the outcomes
    /// of its calls are unknown.
    RaiseFence {
        /// The tools.
        tools: Vec<String>,
        /// This server's claim.
        fence: Fence,
    },
    /// End what runs for a call.
    EndTool(CallId),
    /// End the agent's step and all tools but these; nobody waits at gates any more.
    StopWork {
        /// The calls whose tools continue.
        kept: Vec<CallId>,
    },
    /// Bring [`Input::TimedOut`](super::Input::TimedOut) at a time, unless the gate is closed before.
    SetDeadline {
        /// The gate.
        gate: GateId,
        /// When.
        at: At,
    },
    /// Send transient data to the open windows.
    Signal {
        /// What kind of thing.
        name: String,
        /// What.
        data: Value,
    },
    /// Send audio to the agent.
    PushAudio(AudioInput),
    /// The chat was evicted: its windows close.
    Evicted {
        /// The current turn, and all of it that may be shown.
        shown: Option<(TurnId, Vec<Line>)>,
        /// What windows close with, if anything is to be said.
        closing: Option<Closing>,
    },
    /// Bring [`Input::Wake`](super::Input::Wake) in a while: the store failed in the middle of something.
    WakeLater,
    /// An error for which no caller waits. It goes into the log.
    Failed(EngineError),
    /// Nothing of the chat runs any more, and the server is shutting down.
    Left,
}

/// A tool, ready to be run.
#[derive(Debug)]
pub struct ToolRun {
    /// The number under which what it does is to be brought.
    pub run: u64,
    /// The call.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
    /// Who is speaking.
    pub principal: Principal,
    /// This server's claim of the chat.
    pub fence: Fence,
    /// What earlier runs recorded and asked.
    pub recorded: Recorded,
    /// The call's span, if the turn is traced.
    pub trace: Option<TraceContext>,
}
