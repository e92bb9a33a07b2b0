//! What the chat's own tasks bring: the agent, tools, long-running work.

use std::vec::IntoIter;

use serde_json::{Map, Value};
use tools::answer::check_question;
use turn::agent::{AgentEvent, Asking, CompactEvent};
use turn::call::Place;
use turn::policy::{PolicyDecision, Verdict};
use turn::{At, CallId, Chat, GateId, Status};

use super::{Action, Ask, Driver, Next, ToolDoes};

/// A batch of the agent's events.
pub(super) struct Agent {
    run: u64,
    events: IntoIter<CompactEvent>,
    /// Whether the stream ended after them without an event that says so.
    is_cut: bool,
}

impl Agent {
    pub(super) fn new(run: u64, events: Vec<CompactEvent>, is_over: bool) -> Self {
        // A failure ends the stream, and is an event that says so.
        let is_failure = |event: &CompactEvent| match event {
            CompactEvent::Event(event) => matches!(**event, AgentEvent::Failed { .. }),
            _ => false,
        };
        let is_cut = is_over && !events.last().is_some_and(is_failure);
        Self {
            run,
            events: events.into_iter(),
            is_cut,
        }
    }
}

impl Driver {
    /// Takes in deltas that lead a batch, and says whether there was nothing else in it. Nearly all
    /// batches are that, and need none of what follows for the others.
    pub(super) fn push_deltas(&mut self, agent: &mut Agent) -> bool {
        let chat = self.chat.as_mut();
        let Some(chat) = chat.filter(|_| self.running.is_current(agent.run)) else {
            return false;
        };
        chat.push_deltas(&mut agent.events);
        let is_all = agent.events.as_slice().is_empty() && !agent.is_cut;
        if is_all {
            self.show();
        }
        is_all
    }

    pub(super) fn handle_events(&mut self, agent: &mut Agent) -> Next {
        // A batch may end with what makes the chat stop the agent.
        while self.running.is_current(agent.run) {
            let Some(chat) = &mut self.chat else { break };
            chat.push_deltas(&mut agent.events);
            let Some(event) = agent.events.next() else {
                self.show();
                // An agent that said that it has ended may end.
                if !std::mem::take(&mut agent.is_cut) {
                    break;
                }
                return Next::Write {
                    input: turn::Input::AgentCut,
                    by: None,
                };
            };
            let event = AgentEvent::from(event);
            if is_delta(&event) {
                let policy = None;
                let output = chat.handle(turn::Input::Agent { event, policy }, At(0));
                debug_assert_eq!(output, turn::Output::default());
                continue;
            }
            // Deltas that came before do not wait for what has to be stored.
            self.show();
            if let AgentEvent::Signal { name, data } = event {
                self.actions.push(Action::Signal { name, data });
                continue;
            }
            return self.handle_event(event);
        }
        Next::done()
    }

    fn handle_event(&mut self, mut event: AgentEvent) -> Next {
        if matches!(event, AgentEvent::Ended(_) | AgentEvent::Failed { .. }) {
            self.running.is_speaking = false;
        }
        // Models leave the input out where a tool takes nothing.
        if let AgentEvent::Call { input, .. } = &mut event
            && input.is_null()
        {
            *input = Value::Object(Map::new());
        }
        let policy = match (&event, self.chat.as_deref().and_then(Chat::owner)) {
            (AgentEvent::Call { tool, input, .. }, Some(owner)) => {
                let policy = self.tools().rule(tool, input, owner);
                Some(self.with_deadline(policy))
            }
            // It runs the call, and asks, by itself: only how long is for us to say.
            (AgentEvent::OwnCall { place, .. }, _) => Some(self.agents_own(*place)),
            (AgentEvent::Asks { asking, .. }, _) => Some(PolicyDecision {
                verdict: askable(asking),
                ..self.agents_own(Place::Agent)
            }),
            _ => None,
        };
        Next::Write {
            input: turn::Input::Agent { event, policy },
            by: None,
        }
    }

    /// The same, with a limit to how long a person may take, where the tool sets none.
    fn with_deadline(&self, policy: PolicyDecision) -> PolicyDecision {
        let is_asked = matches!(policy.verdict, Verdict::Ask { .. });
        let limit = self.settings.approval_timeout.filter(|_| is_asked);
        PolicyDecision {
            timeout: policy.timeout.or(limit),
            ..policy
        }
    }

    /// The same, with that limit for a call of an agent that runs as a tool: its policy asks.
    fn within_time(&self, mut ask: Ask) -> Ask {
        if let Ask::Inner { timeout, .. } = &mut ask {
            *timeout = timeout.or(self.settings.approval_timeout);
        }
        ask
    }

    fn agents_own(&self, place: Place) -> PolicyDecision {
        PolicyDecision {
            place,
            verdict: Verdict::Allow,
            timeout: self.settings.approval_timeout,
        }
    }

    pub(super) fn handle_tool(
        &mut self,
        run: u64,
        call: &CallId,
        does: &mut ToolDoes,
        before: &mut Option<Option<GateId>>,
        wrote: Option<Option<At>>,
    ) -> Next {
        let is_done = wrote.is_some();
        if let ToolDoes::Return { outcome } = does {
            return match is_done {
                true => self.tool_returned(call),
                // It was stopped, and what it was doing was decided on without it.
                false if before.is_none() && !self.running.is_current_tool(call, run) => {
                    Next::done()
                }
                false => {
                    self.running.end_tool(call);
                    // Its result counts, though its run is over: also after a conflict.
                    *before = Some(None);
                    Next::Write {
                        input: turn::Input::ToolDone {
                            call: call.clone(),
                            outcome: outcome.clone(),
                        },
                        by: None,
                    }
                }
            };
        }
        // The chat may have been evicted over it, and the tool stopped.
        if self.chat.is_none() || !self.running.is_current_tool(call, run) {
            return Next::done();
        }
        let call = call.clone();
        let input = match does {
            ToolDoes::Ask { gate, ask } => {
                let gate = match (gate.take(), before.take()) {
                    (Some(gate), _) => Some(gate),
                    (None, Some(before)) => {
                        let opened = self.last_gate();
                        opened.filter(|gate| Some(gate) != before.as_ref())
                    }
                    (None, None) => {
                        *before = Some(self.last_gate());
                        let input = asks(call, self.within_time(ask.clone()));
                        return Next::Write { input, by: None };
                    }
                };
                if let Some(gate) = gate {
                    self.wait_at(gate, run);
                }
                return Next::done();
            }
            ToolDoes::Record { .. } if is_done => {
                // The tool continues only once it is recorded.
                self.actions.push(Action::Recorded);
                return Next::done();
            }
            ToolDoes::Progress { .. } | ToolDoes::Settle { .. } if is_done => return Next::done(),
            ToolDoes::Settle { key, outcome } => turn::Input::InnerSettles {
                call,
                key: std::mem::take(key),
                outcome: outcome.clone(),
            },
            ToolDoes::Record { name, value } => turn::Input::ToolRecords {
                call,
                name: std::mem::take(name),
                value: value.take(),
            },
            ToolDoes::Progress { output } => turn::Input::ToolProgress {
                call,
                output: output.take(),
            },
            ToolDoes::Return { .. } => return Next::done(),
        };
        Next::Write { input, by: None }
    }

    /// After a conflict it may have been run again before this result came.
    fn tool_returned(&mut self, call: &CallId) -> Next {
        let turn = self.chat.as_deref().and_then(Chat::current);
        if turn.is_some_and(|turn| turn.outcome(call).is_some()) {
            self.end_tool(call);
        }
        Next::done()
    }

    fn wait_at(&mut self, gate: GateId, run: u64) {
        let found = self.chat.as_deref().and_then(|chat| chat.gate(&gate));
        match found {
            Some((_, _, Some(decision))) => {
                let decision = decision.clone();
                self.actions.push(Action::Decided(decision));
            }
            Some((_, _, None)) => {
                self.running.wait(gate.clone(), Some(run));
                self.actions.push(Action::Wait(gate));
            }
            None => {}
        }
    }

    pub(super) fn last_gate(&self) -> Option<GateId> {
        let turn = self.chat.as_deref().and_then(Chat::current)?;
        turn.last_gate().map(|gate| gate.id.clone())
    }

    /// The results of long-running calls open turns, one after the other, while no other is open.
    pub(super) fn open_result(&mut self, is_opened: bool) -> Next {
        if is_opened {
            // Not before: what is not in the journal yet is not called unknown while it waits here.
            self.results.pop_front();
        }
        let status = self.chat.as_deref().and_then(Chat::status);
        if matches!(status, Some(Status::Running | Status::Parked)) {
            return Next::done();
        }
        let Some((call, outcome)) = self.results.front().cloned() else {
            return Next::done();
        };
        let ids = (self.settings.ids)();
        Next::Write {
            input: turn::Input::Result { call, outcome, ids },
            by: None,
        }
    }
}

/// Whether somebody can be asked what an agent asks: the schema of an answer is the agent's own.
fn askable(asking: &Asking) -> Verdict {
    let schema = asking.schema.as_ref();
    let checked = schema.map(|schema| check_question(&asking.question, schema));
    match checked {
        Some(Err(error)) => Verdict::Invalid { error },
        Some(Ok(())) | None => Verdict::Allow,
    }
}

/// What a tool asks, as something that happens to its call.
pub(super) fn asks(call: CallId, ask: Ask) -> turn::Input {
    match ask {
        Ask::Approval { question, timeout } => turn::Input::ToolAsks {
            call,
            question,
            timeout,
        },
        Ask::Data {
            question,
            schema,
            path,
            timeout,
        } => turn::Input::ToolQuestion {
            call,
            question,
            schema,
            path,
            timeout,
        },
        Ask::Inner {
            call: inner,
            question,
            timeout,
        } => turn::Input::InnerAsks {
            call,
            inner,
            question,
            timeout,
        },
        Ask::Page {
            tool,
            input,
            timeout,
        } => turn::Input::ToolCalls {
            call,
            tool,
            input,
            timeout,
        },
    }
}

/// Whether an event is a delta or the end of a part: it needs no entry, has no effect, and is shown with
/// the rest of its batch.
fn is_delta(event: &AgentEvent) -> bool {
    matches!(
        event,
        AgentEvent::Text { .. } | AgentEvent::Reasoning { .. } | AgentEvent::PartEnd
    )
}
