//! What can happen to a chat, and what follows from it.

use std::time::Duration;

use serde_json::Value;

use crate::agent::AgentEvent;
use crate::call::{InnerCall, Outcome};
use crate::event::Event;
use crate::gate::Decision;
use crate::id::{CallId, GateId, Principal, TurnId};
use crate::message::Message;
use crate::page_tool::PageTool;
use crate::policy::PolicyDecision;
use crate::queue::Placement;
use crate::time::At;

/// Something that happens to a chat.
#[derive(Debug, Clone)]
pub enum Input {
    /// A user message opens a turn. What is open before it is given up.
    Message {
        /// The message.
        message: Message,
        /// Who it is from.
        principal: Principal,
        /// The turn to follow; what came after it is cut off. Nothing means that the chat starts over.
        after: Option<TurnId>,
        /// The tools that the page declared with it, as far as the agent takes them.
        page_tools: Vec<PageTool>,
        /// The request that brings it, under an id of the client's own, if that has one.
        request: Option<Box<str>>,
        /// Ids for the turn and for its assistant message.
        ids: Ids,
    },
    /// A user message waits for the open turn, or for its next step. The engine brings it when a turn is
    /// open.
    Queue {
        /// The message, with an id that no other has.
        message: Message,
        /// What it waits for.
        placement: Placement,
        /// The tools that the page declared with it, as far as the agent takes them.
        page_tools: Vec<PageTool>,
        /// Ids for the turn that it may open, and for its assistant message.
        ids: Ids,
    },
    /// Turns that were cut off become those of the chat again. The engine brings it when no turn is open.
    SelectBranch {
        /// The last of them.
        turn: TurnId,
    },
    /// The result of a long-running call opens a turn. The engine brings it when no turn is open.
    Result {
        /// The call.
        call: CallId,
        /// What became of it.
        outcome: Outcome,
        /// Ids for the turn and for its assistant message.
        ids: Ids,
    },
    /// The agent says something.
    Agent {
        /// What.
        event: AgentEvent,
        /// For a call: what the tools and policies say of it.
        policy: Option<PolicyDecision>,
    },
    /// The agent's stream ended without saying that the step is over.
    AgentCut,
    /// A gate is answered.
    Answer {
        /// The gate.
        gate: GateId,
        /// What was decided.
        decision: Decision,
    },
    /// A gate's time is up.
    TimedOut {
        /// The gate.
        gate: GateId,
    },
    /// A tool asks for an approval in the middle of its work.
    ToolAsks {
        /// The call.
        call: CallId,
        /// What is asked.
        question: String,
        /// How long to wait.
        timeout: Option<Duration>,
    },
    /// A tool asks a person for data in the middle of its work.
    ToolQuestion {
        /// The call.
        call: CallId,
        /// What is asked.
        question: String,
        /// What an answer has to be.
        schema: Value,
        /// The agents from the first to the one that asks, where an agent inside of the call does.
        path: Vec<String>,
        /// How long to wait.
        timeout: Option<Duration>,
    },
    /// An agent that runs as a tool asks for an approval of a call that it makes.
    InnerAsks {
        /// The call in which the agent runs.
        call: CallId,
        /// The call that it makes.
        inner: Box<InnerCall>,
        /// What is asked.
        question: String,
        /// How long to wait.
        timeout: Option<Duration>,
    },
    /// A call that was asked about with [`Input::InnerAsks`] is over.
    InnerSettles {
        /// The call in which the agent runs.
        call: CallId,
        /// Which of the calls inside.
        key: String,
        /// What became of it.
        outcome: Outcome,
    },
    /// A tool asks a page to run something in the middle of its work.
    ToolCalls {
        /// The call.
        call: CallId,
        /// The page's tool.
        tool: String,
        /// Its input.
        input: Value,
        /// How long to wait.
        timeout: Option<Duration>,
    },
    /// A tool records the result of one of its steps.
    ToolRecords {
        /// The call.
        call: CallId,
        /// The step's name.
        name: String,
        /// Its result.
        value: Value,
    },
    /// A tool says how far it has come.
    ToolProgress {
        /// The call.
        call: CallId,
        /// An output that is not final.
        output: Value,
    },
    /// A tool is done.
    ToolDone {
        /// The call.
        call: CallId,
        /// What came of it.
        outcome: Outcome,
    },
    /// Somebody stops the turn. Messages that wait for it are withdrawn.
    Stop,
    /// The chat was read back from its journal, and nothing of it runs in this process but what is said
    /// here.
    Recover {
        /// Calls that may be run again under the same id.
        idempotent: Vec<CallId>,
        /// Calls whose tools went on in this process, or have returned here, while the store could not
        /// be written to. They are left as they are.
        here: Vec<CallId>,
        /// The server that takes it up, where there are others that might.
        by: Option<String>,
    },
}

/// Ids that the engine brings, since the turn knows no randomness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ids {
    /// For the turn.
    pub turn: TurnId,
    /// For its assistant message.
    pub message: String,
}

/// What follows from an input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Output {
    /// When it was decided.
    pub at: At,
    /// What the journal must say before anything else happens; one entry, or nothing.
    pub append: Vec<Event>,
    /// What is to be done then.
    pub effects: Vec<Effect>,
}

/// Something to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Ask the agent for the next step of the current turn.
    CallModel,
    /// Run a call here. One that was started before gets what it recorded.
    RunTool(CallId),
    /// Tell a tool that waits at a gate what was decided.
    WakeTool {
        /// The gate.
        gate: GateId,
        /// The call whose tool waits.
        call: CallId,
        /// What was decided.
        decision: Decision,
    },
    /// Bring [`Input::TimedOut`] at a time.
    SetTimer {
        /// The gate.
        gate: GateId,
        /// When.
        at: At,
    },
    /// Stop the model and all tools of the turn.
    StopWork,
}
