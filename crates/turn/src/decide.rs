//! Decisions: what follows from an input, given the state of the chat.
//!
//! A decision is a list of events. They are applied here at once; the engine makes them durable
//! before it acts on the effects or shows anybody what was said. If it can't, it forgets this chat
//! and reads the journal again.

mod step;

use serde_json::{Value, json};

use crate::call::{Call, InnerCall, Outcome, Place, UnknownReason};
use crate::chat::Chat;
use crate::event::{Cause, End, Event};
use crate::failure::FailureCode;
use crate::gate::{ASK_USER, Decision, Gate, GateKind};
use crate::id::{CallId, GateId};
use crate::input::{Effect, Input, Output};
use crate::item::Item;
use crate::metadata::{OURS, PATH};
use crate::reason;
use crate::time::At;
use crate::turn::{Status, Turn};

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
            Input::ToolAsks {
                call,
                question,
                timeout,
            } => {
                let kind = GateKind::ToolApproval { question };
                let expires = timeout.map(|timeout| now + timeout);
                if let Some(turn) = self.at_work(&call) {
                    let state = turn.call_state(&call);
                    let gate = Gate {
                        input: state.and_then(|state| state.edited_input.clone()),
                        ..gate(turn, call, kind, expires)
                    };
                    self.open_gate(&mut output, gate);
                }
            }
            Input::ToolCalls {
                call,
                tool,
                input,
                timeout,
            } => {
                let expires = self.client_deadline(timeout, now);
                if let Some(turn) = self.at_work(&call) {
                    let nested = nested(turn, call, tool, input);
                    let gate = gate(turn, nested.id.clone(), GateKind::ClientCall, expires);
                    self.open_nested(&mut output, nested, gate);
                }
            }
            Input::ToolQuestion {
                call,
                question,
                schema,
                path,
                timeout,
            } => {
                let expires = timeout.map(|timeout| now + timeout);
                if let Some(turn) = self.at_work(&call) {
                    let mut nested = question_call(turn, call, &question, &schema);
                    if !path.is_empty() {
                        nested.provider_metadata = Some(json!({OURS: {PATH: path}}));
                    }
                    let kind = GateKind::Question { question, schema };
                    let gate = gate(turn, nested.id.clone(), kind, expires);
                    self.open_nested(&mut output, nested, gate);
                }
            }
            Input::InnerAsks {
                call,
                inner,
                question,
                timeout,
            } => {
                let expires = timeout.map(|timeout| now + timeout);
                if let Some(turn) = self.at_work(&call) {
                    let nested = inner_call(turn, call, *inner);
                    let kind = GateKind::ToolApproval { question };
                    let gate = gate(turn, nested.id.clone(), kind, expires);
                    self.open_nested(&mut output, nested, gate);
                }
            }
            Input::InnerSettles { call, key, outcome } => {
                let turn = self.at_work(&call);
                if let Some(inner) = turn.and_then(|turn| turn.inner_call(&call, &key)) {
                    self.settle_call(&mut output, inner, outcome);
                }
            }
            Input::ToolRecords { call, name, value } => {
                if let Some(turn) = self.at_work(&call) {
                    let turn = turn.id().clone();
                    let event = Event::CallRecorded {
                        turn,
                        call,
                        name,
                        value,
                    };
                    self.decide(&mut output, [event]);
                }
            }
            Input::ToolProgress {
                call,
                output: shown,
            } => {
                if self.at_work(&call).is_some()
                    && let Some(turn) = self.current_mut()
                {
                    turn.push_item(Item::CallProgressed {
                        call,
                        output: shown,
                    });
                }
            }
            Input::ToolDone { call, outcome } => {
                if self.at_work(&call).is_some() {
                    self.cancel_questions(&mut output, &call);
                    self.settle_inner_calls(&mut output, &call);
                    self.settle_call(&mut output, call, outcome);
                    self.advance(&mut output);
                }
            }
            Input::Stop => {
                self.withdraw_queued(&mut output);
                self.give_up(&mut output, Decision::Cancelled);
            }
            Input::Recover { idempotent, by } => {
                self.recover(&mut output, &idempotent, by);
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

    /// The current turn, if a call of it is under way and may still do something.
    fn at_work(&self, call: &CallId) -> Option<&Turn> {
        let turn = self.current()?;
        let state = turn.call_state(call)?;
        (state.is_under_way() && turn.end().is_none()).then_some(turn)
    }

    /// Makes a call of a page's inside of another, and asks for its output.
    fn open_nested(&mut self, output: &mut Output, call: Call, gate: Gate) {
        let Some(turn) = self.current() else { return };
        let turn = turn.id().clone();
        self.decide(output, [Event::CallNested { turn, call }]);
        self.open_gate(output, gate);
    }

    fn open_gate(&mut self, output: &mut Output, gate: Gate) {
        let Some(turn) = self.current().map(|turn| turn.id().clone()) else {
            return;
        };
        let call = self.call(&gate.call).map(|(_, call)| call);
        let refusal = call.and_then(|call| gate.refusal(call));
        let (id, expires) = (gate.id.clone(), gate.expires);
        self.decide(output, [Event::GateOpened { turn, gate }]);
        match (refusal, expires) {
            // In the same entry: nobody sees it open.
            (Some(decision), _) => self.answer(output, &id, decision, At(0)),
            (None, Some(at)) => output.effects.push(Effect::SetTimer { gate: id, at }),
            (None, None) => {}
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

    /// Settles what an agent inside of a call was let do, and said nothing of since.
    fn settle_inner_calls(&mut self, output: &mut Output, call: &CallId) {
        let Some(turn) = self.current() else { return };
        let left: Vec<CallId> = turn.open_inner_calls(call).cloned().collect();
        for inner in left {
            let reason = UnknownReason::NoResult;
            self.settle_call(output, inner, Outcome::Unknown { reason });
        }
    }

    /// Closes what a call asked in the middle of its work: one that is over waits for no answer.
    fn cancel_questions(&mut self, output: &mut Output, call: &CallId) {
        let Some(turn) = self.current() else { return };
        let gates = turn.gates_of(call).cloned().collect();
        self.withdraw(output, gates, Some(call));
    }

    /// Closes gates that nobody waits at any more, and settles the pages' calls that tools asked for;
    /// but not the one that is being settled.
    fn withdraw(&mut self, output: &mut Output, gates: Vec<Gate>, settling: Option<&CallId>) {
        let Some(id) = self.current().map(|turn| turn.id().clone()) else {
            return;
        };
        for gate in gates {
            let closed = Event::GateClosed {
                turn: id.clone(),
                gate: gate.id,
                decision: Decision::Cancelled,
            };
            self.decide(output, [closed]);
            let made = self.call(&gate.call).map(|(_, made)| made);
            if made.is_some_and(|made| made.parent.is_some() && Some(&made.id) != settling) {
                let error = reason::NOT_NEEDED.to_owned();
                self.settle_call(output, gate.call, Outcome::Error { error });
            }
        }
    }

    /// Asks the agent again, once every call of the step is settled, or is its own to go on with.
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

    /// Ends the current turn, whatever it waits for or does.
    fn give_up(&mut self, output: &mut Output, decision: Decision) {
        let Some(turn) = self.current().filter(|turn| turn.end().is_none()) else {
            return;
        };
        let id = turn.id().clone();
        let gates: Vec<GateId> = turn.open_gates().map(|gate| gate.id.clone()).collect();
        let at_work: Vec<CallId> = turn
            .calls_at_work()
            .map(|state| state.call.id.clone())
            .collect();
        let calls: Vec<CallId> = turn
            .calls
            .iter()
            .filter(|state| !state.is_settled())
            .map(|state| state.call.id.clone())
            .collect();
        for gate in gates {
            let (turn, decision) = (id.clone(), decision.clone());
            self.decide(
                output,
                [Event::GateClosed {
                    turn,
                    gate,
                    decision,
                }],
            );
        }
        for call in calls {
            let outcome = match decision {
                // What it was doing when it was stopped may have been done.
                _ if at_work.contains(&call) => Outcome::Unknown {
                    reason: UnknownReason::TurnStopped,
                },
                Decision::Superseded => Outcome::Denied {
                    reason: Some(reason::SUPERSEDED.to_owned()),
                },
                _ => Outcome::Error {
                    error: "The turn was stopped.".to_owned(),
                },
            };
            self.settle_call(output, call, outcome);
        }
        self.keep_what_was_said(output);
        let end = End::Stopped;
        self.decide(output, [Event::TurnEnded { turn: id, end }]);
        output.effects.push(Effect::StopWork);
    }

    /// Closes a gate. One that is closed already stays as it is: the first answer wins.
    fn answer(&mut self, output: &mut Output, id: &GateId, decision: Decision, now: At) {
        let Some(turn) = self.current() else { return };
        let Some((gate, None)) = turn.gate(id) else {
            return;
        };
        let (gate, turn) = (gate.clone(), turn.id().clone());
        let Some((_, call)) = self.call(&gate.call) else {
            return;
        };
        let (place, parent) = (call.place, call.parent.clone());
        let closed = Event::GateClosed {
            turn: turn.clone(),
            gate: id.clone(),
            decision: decision.clone(),
        };
        self.decide(output, [closed]);
        match gate.kind {
            GateKind::ToolApproval { .. } => {
                // A call of an agent inside that may not run is over. One that may is for the agent to
                // run, which says what came of it.
                if parent.is_some() && decision.approved() != Some(true) {
                    self.settle_call(output, gate.call.clone(), outcome(decision.clone()));
                }
                output.effects.push(Effect::WakeTool {
                    gate: gate.id,
                    call: parent.unwrap_or(gate.call),
                    decision,
                });
            }
            GateKind::Approval { .. } => match decision {
                Decision::Approved { .. } if place == Place::Server => {
                    output.effects.push(Effect::RunTool(gate.call.clone()));
                    let call = gate.call;
                    self.decide(output, [Event::CallStarted { turn, call }]);
                }
                // The agent gets the answers once all are there.
                Decision::Approved { .. } if place == Place::Agent => {}
                Decision::Approved { .. } => {
                    // The time that the person took is not the page's.
                    let wait = self.client_deadline(gate.expires.map(|_| PAGE_TIMEOUT), now);
                    if let Some(turn) = self.current() {
                        let gate = self::gate(turn, gate.call, GateKind::ClientCall, wait);
                        self.open_gate(output, gate);
                    }
                }
                decision => self.settle_call(output, gate.call, outcome(decision)),
            },
            kind @ (GateKind::ClientCall | GateKind::Question { .. }) => {
                let outcome = match (&decision, kind) {
                    (Decision::TimedOut, GateKind::Question { .. }) => Outcome::Error {
                        error: reason::QUESTION_TIMED_OUT.to_owned(),
                    },
                    (Decision::TimedOut, _) => Outcome::Error {
                        error: reason::PAGE_TIMED_OUT.to_owned(),
                    },
                    // Nothing was to run: the question has no answer.
                    (Decision::Denied { reason }, GateKind::Question { .. }) => Outcome::Error {
                        error: reason::declined(reason.as_deref()),
                    },
                    _ => outcome(decision.clone()),
                };
                self.settle_call(output, gate.call.clone(), outcome);
                let is_agents = gate.token.is_some();
                if let Some(call) = parent.clone().filter(|_| is_agents) {
                    // The agent gets the answers once all are there. Without one, the call that it
                    // asked about does not run.
                    if !matches!(decision, Decision::Output { .. }) {
                        self.settle_call(output, call, self::outcome(decision));
                    }
                } else if let Some(call) = parent {
                    output.effects.push(Effect::WakeTool {
                        gate: gate.id,
                        call,
                        decision,
                    });
                }
            }
        }
        self.advance(output);
    }

    /// The open questions about calls that have not begun which nobody should be asked.
    fn refused_questions(&self) -> Vec<(GateId, Decision)> {
        let turn = self.current().into_iter();
        let gates = turn.flat_map(|turn| turn.open_gates().map(move |gate| (turn, gate)));
        let refused = gates.filter_map(|(turn, gate)| {
            let is_question = matches!(gate.kind, GateKind::Approval { .. });
            let call = turn.call(&gate.call).filter(|_| is_question)?;
            Some((gate.id.clone(), gate.refusal(call)?))
        });
        refused.collect()
    }

    /// Takes up a turn that another process left.
    fn recover(&mut self, output: &mut Output, idempotent: &[CallId], by: Option<String>) {
        let Some(turn) = self.current().filter(|turn| turn.end().is_none()) else {
            return self.open_queued(output);
        };
        if let Some(by) = by.filter(|_| turn.status() == Status::Running) {
            let (turn, epoch) = (turn.id().clone(), self.epoch() + 1);
            self.decide(output, [Event::TurnClaimed { turn, epoch, by }]);
        }
        // Asked by a version that did not look whether what it showed was what would run.
        for (gate, decision) in self.refused_questions() {
            self.answer(output, &gate, decision, At(0));
        }
        if output.effects.contains(&Effect::CallModel) {
            return;
        }
        let Some(turn) = self.current() else { return };
        let timers = turn.open_gates().filter_map(|gate| {
            let at = gate.expires?;
            let gate = gate.id.clone();
            Some(Effect::SetTimer { gate, at })
        });
        output.effects.extend(timers);
        let at_work: Vec<CallId> = turn
            .calls_at_work()
            .filter(|state| state.call.place == Place::Server)
            .map(|state| state.call.id.clone())
            .collect();
        if turn.is_model_due() {
            return self.ask_agent(output);
        }
        // A tool of the agent's that asked is gone with the server that listened.
        let orphans = turn.gates_within_own_calls().cloned().collect();
        self.withdraw(output, orphans, None);
        if self.current().is_some_and(Turn::is_agent_busy) {
            self.ask_agent(output);
        }
        for call in at_work {
            if idempotent.contains(&call) {
                output.effects.push(Effect::RunTool(call));
            } else {
                let reason = UnknownReason::ServerStopped;
                self.settle_call(output, call, Outcome::Unknown { reason });
            }
        }
        self.advance(output);
    }
}

/// How long a page has for a call whose approval had a deadline.
const PAGE_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);

/// The turn's next call, which a tool asks a page to run in the middle of another.
fn nested(turn: &Turn, parent: CallId, tool: String, input: Value) -> Call {
    Call {
        id: CallId::of(turn.id(), turn.calls.len()),
        provider_id: None,
        tool,
        input,
        place: Place::Client,
        parent: Some(parent),
        provider_metadata: None,
    }
}

/// The turn's next call, which an agent makes in the middle of another.
fn inner_call(turn: &Turn, parent: CallId, inner: InnerCall) -> Call {
    Call {
        provider_id: Some(inner.key),
        place: Place::Server,
        provider_metadata: Some(json!({OURS: {PATH: inner.path}})),
        ..nested(turn, parent, inner.tool, inner.input)
    }
}

/// The turn's next call, by which pages are shown what a call asks for.
fn question_call(turn: &Turn, parent: CallId, question: &str, schema: &Value) -> Call {
    let input = json!({"question": question, "schema": schema});
    let path = turn.call(&parent).map(Call::path).unwrap_or_default();
    // Who asks is shown with the question.
    let path = (!path.is_empty()).then(|| json!({OURS: {PATH: path}}));
    Call {
        provider_metadata: path,
        ..nested(turn, parent, ASK_USER.to_owned(), input)
    }
}

/// The turn's next gate.
fn gate(turn: &Turn, call: CallId, kind: GateKind, expires: Option<At>) -> Gate {
    Gate {
        id: GateId::of(turn.id(), turn.gates.len()),
        call,
        kind,
        expires,
        token: None,
        input: None,
    }
}

/// What becomes of a call whose gate was closed so.
fn outcome(decision: Decision) -> Outcome {
    match decision {
        Decision::Output { output } => Outcome::Output { output },
        Decision::Failed { error } => Outcome::Error { error },
        Decision::Denied { reason } => Outcome::Denied { reason },
        Decision::Superseded => Outcome::Denied {
            reason: Some(reason::SUPERSEDED.to_owned()),
        },
        Decision::TimedOut => Outcome::Error {
            error: reason::TIMED_OUT.to_owned(),
        },
        Decision::Cancelled => Outcome::Error {
            error: reason::CANCELLED.to_owned(),
        },
        Decision::Approved { .. } => Outcome::Output {
            output: Value::Null,
        },
    }
}
