//! Decisions: what follows from an input, given the state of the chat.
//!
//! A decision is a list of events. They are applied here at once; the engine makes them durable
//! before it acts on the effects or shows anybody what was said. If it can't, it forgets this chat
//! and reads the journal again.

mod ending;
mod gate;
mod own_call;
mod recovery;
mod step;
mod tool;

use crate::call::Outcome;
use crate::chat::Chat;
use crate::event::{Cause, Event};
use crate::failure::FailureCode;
use crate::gate::Decision;
use crate::id::CallId;
use crate::input::{Effect, Input, Output};
use crate::time::At;
use crate::turn::Turn;

/// A turn that asks the model more often than this is not going anywhere.
const MAX_STEPS: usize = 64;

impl Chat {
    /// Decides what follows from an input.
    pub fn handle(&mut self, input: Input, now: At) -> Output {
        let mut output = Output {
            at: now,
            ..Output::default()
        };
        match input {
            Input::Message {
                message,
                principal,
                after,
                page_tools,
                request,
                ids,
            } => {
                if self.owner().is_none() {
                    let owner = principal;
                    self.decide(&mut output, [Event::ChatOpened { owner }]);
                }
                self.give_up(&mut output, Decision::Superseded);
                let opened = Event::TurnOpened {
                    turn: ids.turn,
                    message_id: ids.message,
                    cause: Cause::Message { message },
                    after,
                    page_tools,
                    request,
                    trace: self.next_trace.take(),
                };
                self.open(&mut output, opened);
            }
            Input::Queue {
                message,
                placement,
                page_tools,
                ids,
            } => self.enqueue(&mut output, message, placement, page_tools, ids),
            Input::SelectBranch { turn } => self.select_branch(&mut output, turn),
            Input::Result { call, outcome, ids } => {
                let Some((_, made)) = self.call(&call) else {
                    return output;
                };
                // Another server may have brought it before, or opened a turn.
                if self.has_come(&call) || self.current().is_some_and(|turn| turn.end().is_none()) {
                    return output;
                }
                let tool = made.tool.clone();
                let after = self.current().map(|turn| turn.id().clone());
                let trace = self.trace_of_call(&call);
                let cause = Cause::Result {
                    call,
                    tool,
                    outcome,
                };
                let opened = Event::TurnOpened {
                    turn: ids.turn,
                    message_id: ids.message,
                    cause,
                    after,
                    // No page sent anything: those of the turns before it hold.
                    page_tools: Vec::new(),
                    request: None,
                    trace,
                };
                self.open(&mut output, opened);
            }
            Input::Agent { event, policy } => self.agent_event(&mut output, event, policy, now),
            Input::AgentCut => {
                if self.current().is_some_and(Turn::is_agent_busy) {
                    let message = "The agent's answer was cut off.".to_owned();
                    let code = FailureCode::AgentCutOff.name();
                    self.agent_fails(&mut output, code, message, None);
                }
            }
            Input::Answer { gate, decision } => self.answer(&mut output, &gate, decision, now),
            Input::TimedOut { gate } => self.answer(&mut output, &gate, Decision::TimedOut, now),
            Input::ToolAsks { .. }
            | Input::ToolCalls { .. }
            | Input::ToolQuestion { .. }
            | Input::InnerAsks { .. }
            | Input::InnerSettles { .. }
            | Input::ToolRecords { .. }
            | Input::ToolProgress { .. }
            | Input::ToolDone { .. } => self.tool_input(&mut output, input, now),
            Input::Stop => {
                self.withdraw_queued(&mut output);
                self.give_up(&mut output, Decision::Cancelled);
            }
            Input::Recover {
                idempotent,
                here,
                by,
            } => {
                self.recover(&mut output, &idempotent, &here, by);
                if let Some(turn) = self.current_mut() {
                    turn.is_asked_again = turn.is_agent_asked;
                }
            }
        }
        if !output.append.is_empty() {
            self.end_entry();
        }
        output
    }

    /// Applies events, and notes them for the journal.
    pub(crate) fn decide(&mut self, output: &mut Output, events: impl IntoIterator<Item = Event>) {
        let new = output.append.len();
        output.append.extend(events);
        self.apply(&output.append[new..], output.at);
    }

    pub(crate) fn open(&mut self, output: &mut Output, opened: Event) {
        self.decide(output, [opened]);
        self.ask_agent(output);
    }

    fn ask_agent(&mut self, output: &mut Output) {
        let Some(turn) = self.current() else { return };
        // This request says that it may run them.
        let started = turn.approved_calls().map(|call| Event::CallStarted {
            turn: turn.id().clone(),
            call: call.clone(),
        });
        let started: Vec<_> = started.collect();
        if !started.is_empty() {
            self.decide(output, started);
        }
        self.inject(output);
        if let Some(turn) = self.current_mut() {
            turn.is_agent_asked = true;
            turn.is_asked_again = false;
            output.effects.push(Effect::CallModel);
        }
    }

    fn settle_call(&mut self, output: &mut Output, call: CallId, outcome: Outcome) {
        if let Some((turn, _)) = self.call(&call) {
            let turn = turn.id().clone();
            let event = Event::CallSettled {
                turn,
                call,
                outcome,
            };
            self.decide(output, [event]);
        }
    }

    /// Starts the next step of the agent, once every call of the step is settled, or is approved and run
    /// by the agent itself.
    fn advance(&mut self, output: &mut Output) {
        let Some(turn) = self.current().filter(|turn| turn.is_agent_due()) else {
            return;
        };
        if turn.steps.len() < MAX_STEPS {
            self.ask_agent(output);
        } else {
            let message = format!("The agent asked for more than {MAX_STEPS} steps.");
            self.agent_fails(output, "too_many_steps", message, None);
        }
    }
}

/// The earlier of two deadlines.
fn earliest(one: Option<At>, other: Option<At>) -> Option<At> {
    one.into_iter().chain(other).min()
}
