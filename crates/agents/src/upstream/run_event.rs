//! What an agent says in a run, whatever protocol it speaks.

use serde_json::Value;
use turn::agent::{AgentEvent, Asking};
use turn::call::Outcome;
use turn::event::Finish;

/// What an agent says in a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RunEvent {
    /// Words, a file, data: what belongs to a step and is no call.
    Output(AgentEvent),
    /// A call, whole.
    Call(ProposedCall),
    /// The whole input of a call, of which less was known.
    Input {
        /// The call.
        id: String,
        /// The input.
        input: Value,
    },
    /// What a call shows before it is over: the agent runs it.
    Progress {
        /// The call.
        id: String,
        /// What it shows.
        output: Value,
    },
    /// What became of a call.
    Result {
        /// The call.
        id: String,
        /// What became of it.
        outcome: Outcome,
    },
    /// A person is to be asked about a call.
    Ask {
        /// The call.
        id: String,
        /// What is asked, and what the agent wants back.
        asking: Asking,
        /// To be kept with the call.
        metadata: Value,
    },
    /// The model has ended its step, and the results of all calls that the agent runs are in.
    StepEnd,
    /// The calls of the step are taken back, before anything became of them.
    Retract,
    /// A call is taken back, before anything became of it: the agent will make it again.
    Withdraw(String),
    /// The agent has said how the run ends.
    Finish(Finish),
}

/// A call that the agent makes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProposedCall {
    /// The id that the agent gave it.
    pub(crate) id: String,
    /// The tool.
    pub(crate) tool: String,
    /// The input.
    pub(crate) input: Value,
    /// What the agent says of it, to be sent back.
    pub(crate) metadata: Value,
    /// Whether it is certain that no page runs it.
    pub(crate) is_agents: bool,
    /// What it has shown last, before its step was over.
    pub(crate) shown: Option<Value>,
    /// What is known of it.
    pub(crate) state: CallState,
}

/// What is known of a call whose step is not over.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CallState {
    /// Nothing.
    Open,
    /// A person is to be asked about it.
    Asked(Asking),
    /// What became of it.
    Settled(Outcome),
}
