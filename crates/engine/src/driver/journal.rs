//! How a chat is read, claimed and appended to. The later append conflicts: the chat is evicted, read
//! again, and what was to be done is decided on again, a bounded number of times.

use store::{Appended, NewEntry, StoreError};
use tools::Fence;
use turn::call::{Outcome, Place, UnknownReason};
use turn::{At, CallId, Chat, Effect, Event, Principal, Turn};
use view::{Closing, ShownChat};

use super::{Action, Driver, Next, Operation, Stored, Task, ToolDoes, ToolRun, handover_notice};
use crate::error::EngineError;

/// What the driver waits for.
pub(super) enum Wait {
    /// The lease, before the chat is read.
    Lease,
    /// The entries.
    Read,
    /// That an entry is stored; then these effects are due.
    Append {
        at: At,
        effects: Vec<Effect>,
        /// Tools whose calls were taken over from another server.
        taken_over: Vec<String>,
        goes_to: To,
    },
    /// The chat's own lease.
    Hold { at: Option<At>, goes_to: To },
    /// The lease, to see who has the chat that could not be held.
    Owner,
    /// Whether the journal has grown.
    Compare,
    /// Something that only has to be done.
    Other,
}

/// The work to resume when the journal's state is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    /// The reading of the chat.
    Load,
    /// What is to be done with it.
    Job,
    /// The same, once another outcome is stored that could not be.
    Unstored,
}

impl Driver {
    pub(super) fn ask(&mut self, operation: Operation, wait: Wait) {
        self.wait = Some(wait);
        self.actions.push(Action::Store(operation));
    }

    /// Reads the chat from its journal, to take it up.
    pub(super) fn load(&mut self) -> Result<(), EngineError> {
        let is_needed_here = !self.unstored.is_empty() || !self.running.tools.is_empty();
        if self.is_leaving && !is_needed_here {
            return Err(EngineError::Closed);
        }
        // Where there are others, one of them may have it.
        match self.settings.server.is_some() {
            true => self.ask(Operation::Lease, Wait::Lease),
            false => self.ask(Operation::Read, Wait::Read),
        }
        Ok(())
    }

    /// Decides, and asks for that to be made durable: then, and only then, it is shown and acted on.
    /// Says whether the store has to be waited for.
    pub(super) fn write(&mut self, input: turn::Input, by: Option<turn::Actor>) -> bool {
        self.decide(input, by, To::Job)
    }

    pub(super) fn decide(
        &mut self,
        input: turn::Input,
        by: Option<turn::Actor>,
        goes_to: To,
    ) -> bool {
        let at = self.now;
        let Some(chat) = &mut self.chat else {
            return false;
        };
        let actor = by.unwrap_or_else(|| chat.actor(&input));
        chat.trace_next(self.job.as_ref().and_then(|job| job.trace.clone()));
        let output = chat.handle(input, at);
        if output.append.is_empty() {
            self.act(output.effects);
            return self.hold(None, goes_to);
        }
        let entry = NewEntry {
            at,
            epoch: chat.epoch(),
            actor,
            events: output.append,
            open: chat.open_turn(),
        };
        let expected = chat.seq();
        let taken_over = match goes_to {
            To::Load => unknown_tools(chat, &entry.events),
            To::Job | To::Unstored => Vec::new(),
        };
        let effects = output.effects;
        let wait = Wait::Append {
            at,
            effects,
            taken_over,
            goes_to,
        };
        self.ask(Operation::Append { expected, entry }, wait);
        true
    }

    /// Continues with the result of the operation.
    pub(super) fn stored(&mut self, stored: Result<Stored, StoreError>) {
        let Some(wait) = self.wait.take() else { return };
        match (wait, stored) {
            (Wait::Lease, Ok(Stored::Lease(lease))) => {
                let others = lease.filter(|lease| {
                    Some(&lease.holder.owner) != self.settings.server.as_ref()
                        && lease.expires > self.now
                });
                match others {
                    Some(lease) => {
                        // Nobody knows how they ended, it says.
                        self.unstored.clear();
                        self.stop_work();
                        self.fail(EngineError::Elsewhere(lease.holder.address));
                    }
                    None => self.ask(Operation::Read, Wait::Read),
                }
                return;
            }
            (Wait::Read, Ok(Stored::Entries(entries))) => {
                if self.take_up(ShownChat::replay(&entries)) {
                    return;
                }
            }
            (
                Wait::Append {
                    at,
                    effects,
                    taken_over,
                    goes_to,
                },
                Ok(Stored::Appended(Appended::Ok { seq })),
            ) => {
                if let Some(chat) = &mut self.chat {
                    chat.appended(seq);
                    if !taken_over.is_empty() && self.settings.server.is_some() {
                        self.actions.push(Action::RaiseFence {
                            tools: taken_over,
                            fence: fence(chat),
                        });
                    }
                }
                self.act(effects);
                // A chat that was just opened has no lease yet.
                if self.hold(Some(at), goes_to) {
                    return;
                }
            }
            (Wait::Append { .. }, Ok(Stored::Appended(Appended::Conflict { .. }))) => {
                self.evict(Some(handover_notice()));
                if let Some(job) = &mut self.job {
                    job.has_conflicted = true;
                }
                self.conflicts += 1;
                if self.conflicts >= self.settings.conflicts {
                    // The next command may try again.
                    self.conflicts = 0;
                    return self.fail(EngineError::Conflict);
                }
            }
            // What came late for a chat that was deleted is over, and not worth another try.
            (Wait::Append { .. }, Err(error @ StoreError::ChatDeleted { .. })) => {
                self.unstored.clear();
                self.evict(None);
                return self.fail(error.into());
            }
            (Wait::Append { goes_to, .. }, Err(error)) => {
                // What the store will never take is not tried for ever.
                if goes_to == To::Unstored && !error.is_temporary() {
                    self.unstored.pop_front();
                }
                let failed = "The journal can't be reached.";
                self.suspend(Some(Closing::failed("store_unavailable", failed)));
                self.actions.push(Action::WakeLater);
                return self.fail(error.into());
            }
            (Wait::Hold { at, goes_to }, Ok(Stored::Held(true))) => {
                self.is_held = true;
                self.wrote(at, goes_to);
            }
            (Wait::Hold { .. }, Ok(_)) => {
                return self.ask(Operation::Lease, Wait::Owner);
            }
            // What is stored is done, lease or not.
            (Wait::Hold { at, goes_to }, Err(error)) => {
                tracing::warn!(chat = %self.id, %error, "lease not acquired");
                self.wrote(at, goes_to);
            }
            (Wait::Owner, stored) => {
                self.unstored.clear();
                self.evict(Some(handover_notice()));
                let address = match stored {
                    Ok(Stored::Lease(Some(lease))) => lease.holder.address,
                    _ => String::new(),
                };
                return self.fail(EngineError::Elsewhere(address));
            }
            (Wait::Compare, Ok(stored)) => {
                if let Stored::Outdated(true) = stored {
                    self.evict(Some(handover_notice()));
                }
                self.wrote(None, To::Job);
            }
            (Wait::Other, Ok(_)) => self.wrote(None, To::Job),
            (_, Err(error)) => return self.fail(error.into()),
            // The store has answered something else than it was asked.
            (_, Ok(_)) => return self.fail(EngineError::Conflict),
        }
        self.advance();
    }

    /// Takes up a chat that was read: it is this process that goes on with it. Nothing of it runs here but
    /// tools that went on while the store was away. Says whether the store has to be waited for.
    fn take_up(&mut self, mut chat: ShownChat) -> bool {
        chat.limit_client_calls(self.settings.client_timeout);
        chat.take_injections(self.settings.takes_injections);
        // What went on in another process has ended with it, and nobody knows how.
        let mut lost = chat.awaited_results();
        lost.retain(|call| {
            let is_here = self.results.iter().any(|(here, _)| here == call);
            !is_here && !self.running.later.contains(call)
        });
        let reason = UnknownReason::ServerStopped;
        let lost = lost
            .into_iter()
            .map(|call| (call, Outcome::Unknown { reason }));
        self.results.extend(lost);
        for call in self.running.calls_at_work() {
            if !chat.is_at_work(&call) {
                self.end_tool(&call);
            }
        }
        let recover = turn::Input::Recover {
            idempotent: self.idempotent_calls(&chat),
            here: self.calls_here(),
            by: self.settings.server.clone(),
        };
        self.chat = Some(chat);
        self.show();
        self.decide(recover, None, To::Load)
    }

    /// Calls whose tools run here, or have returned here what is not stored yet.
    fn calls_here(&self) -> Vec<CallId> {
        let mut calls = self.running.calls_at_work();
        calls.extend(self.unstored.iter().map(|(call, _)| call.clone()));
        if let Some(Task::Tool { call, does, .. }) = self.job.as_ref().map(|job| &job.task)
            && matches!(does, ToolDoes::Return { .. })
        {
            calls.push(call.clone());
        }
        calls
    }

    fn idempotent_calls(&self, chat: &Chat) -> Vec<CallId> {
        let calls = chat.current().into_iter().flat_map(Turn::calls);
        let tools = &self.settings.tools;
        let is_idempotent = |name: &str| tools.get(name).is_some_and(|tool| tool.is_idempotent());
        calls
            .filter(|call| is_idempotent(&call.tool))
            .map(|call| call.id.clone())
            .collect()
    }

    /// Takes the chat's lease, where there are other servers and it is not taken yet. Says whether the
    /// store has to be waited for.
    fn hold(&mut self, at: Option<At>, goes_to: To) -> bool {
        let has_others = self.settings.server.is_some();
        let chat = self.chat.as_ref().filter(|chat| chat.seq() > 0);
        match chat.filter(|_| has_others && !self.is_held) {
            Some(chat) => {
                let epoch = chat.epoch();
                self.ask(Operation::Hold { epoch }, Wait::Hold { at, goes_to });
                true
            }
            None => {
                self.wrote(at, goes_to);
                false
            }
        }
    }

    fn wrote(&mut self, at: Option<At>, goes_to: To) {
        match (goes_to, &mut self.job) {
            (To::Job, Some(job)) => {
                job.wrote = Some(at);
                if at.is_some() {
                    self.conflicts = 0;
                }
            }
            (To::Unstored, _) => {
                self.unstored.pop_front();
            }
            (To::Load | To::Job, _) => {}
        }
    }

    /// What was to be done can't be done.
    fn fail(&mut self, error: EngineError) {
        if let Some(job) = self.job.take() {
            self.keep_outcome(&job.task, &error);
            self.finish(&job, Err(error));
        }
        self.advance();
    }

    /// What a tool has done is not forgotten because the store can't take it now. A tool that asked for
    /// something else does not wait for it.
    fn keep_outcome(&mut self, task: &Task, error: &EngineError) {
        let Task::Tool {
            run, call, does, ..
        } = task
        else {
            return;
        };
        match does {
            ToolDoes::Return { outcome } => {
                self.running.end_tool(call);
                if matches!(error, EngineError::Store(error) if error.is_temporary()) {
                    self.unstored.push_back((call.clone(), outcome.clone()));
                }
            }
            ToolDoes::Progress { .. } => {}
            _ if self.running.is_current_tool(call, *run) => self.end_tool(call),
            _ => {}
        }
    }

    /// Forgets the chat as it was thought to be: the journal says otherwise, or says nothing. It is
    /// read again when it is needed; windows close, and their clients come back.
    pub(super) fn evict(&mut self, closing: Option<Closing>) {
        self.stop_work();
        self.forget(closing);
    }

    /// The same where the store can't be written to: tools that run go on, and what comes of them is
    /// stored when it can be.
    fn suspend(&mut self, closing: Option<Closing>) {
        let kept = self.running.calls_at_work();
        self.stop_work_but(kept);
        self.forget(closing);
    }

    fn forget(&mut self, closing: Option<Closing>) {
        let shown = self.shown();
        let shown = shown.map(|shown| (shown.turn.clone(), shown.lines.to_vec()));
        self.is_held = false;
        self.chat = None;
        self.actions.push(Action::Evicted { shown, closing });
    }

    /// Looks whether somebody else wrote to the journal. A lease that ran out may have gone to another
    /// server and come back under the same epoch, and nothing else would tell.
    pub(super) fn compare(&self) -> Next {
        match &self.chat {
            Some(chat) => Next::Ask(Operation::Compare { seq: chat.seq() }, Wait::Compare),
            None => Next::done(),
        }
    }

    /// Hands the chat over: others take it up.
    pub(super) fn give_back(&mut self) -> Next {
        let epoch = self.chat.as_deref().map(Chat::epoch);
        self.evict(Some(handover_notice()));
        match epoch {
            Some(epoch) => Next::Ask(Operation::GiveBack { epoch }, Wait::Other),
            None => Next::done(),
        }
    }

    /// Does what follows from an entry that is stored: all that was said may be shown now.
    fn act(&mut self, effects: Vec<Effect>) {
        self.show();
        for effect in effects {
            match effect {
                // The server that takes the chat up calls it.
                Effect::CallModel if self.is_leaving => {}
                Effect::CallModel => self.call_model(),
                Effect::RunTool(call) => self.run_tool(&call),
                Effect::WakeTool {
                    gate,
                    call,
                    decision,
                } => {
                    // A tool that ran in an earlier process is run again, and finds the answer
                    // recorded. One that runs, and does not wait at the gate any more, goes on without
                    // it; and one at the agent asks again.
                    let chat = self.chat.as_deref();
                    let made = chat.and_then(|chat| chat.call(&call));
                    let is_ours = made.is_some_and(|(_, call)| call.place == Place::Server);
                    if self.running.wake(&gate) {
                        self.actions.push(Action::Answer { gate, decision });
                    } else if is_ours && !self.running.tools.contains_key(&call) {
                        self.run_tool(&call);
                    }
                }
                Effect::SetTimer { gate, at } => {
                    self.actions.push(Action::SetDeadline { gate, at });
                }
                Effect::StopWork => self.stop_work(),
            }
        }
    }

    fn call_model(&mut self) {
        let tools = self.tools().declarations();
        let Some(chat) = &mut self.chat else { return };
        let history = chat.shared_history();
        let Some(turn) = chat.current() else { return };
        let request = turn::agent::StepRequest {
            chat: self.id.clone(),
            turn: turn.id().clone(),
            principal: speaker(chat),
            history,
            tools,
            session: chat.session().cloned(),
            own: turn.own_calls(),
            is_again: turn.is_asked_again(),
            trace: turn.step_trace(),
        };
        let run = self.running.call_model();
        let request = Box::new(request);
        self.actions.push(Action::CallModel { run, request });
    }

    fn run_tool(&mut self, call: &CallId) {
        let Some(chat) = self.chat.as_deref() else {
            return;
        };
        let turn = chat.current().filter(|turn| turn.outcome(call).is_none());
        let made = turn.and_then(|turn| Some((turn.call(call)?, turn.effective_input(call)?)));
        let (Some(turn), Some((made, input))) = (turn, made) else {
            return;
        };
        let mut due = ToolRun {
            run: 0,
            call: call.clone(),
            tool: made.tool.clone(),
            input: input.clone(),
            principal: speaker(chat),
            fence: fence(chat),
            recorded: turn.recorded(call),
            trace: turn.call_trace(call),
        };
        // What an earlier run of it still says is dropped, so it had better say nothing.
        self.end_tool(call);
        due.run = self.running.run_tool(call);
        self.due.push(due);
    }

    /// Stops a tool.
    pub(super) fn end_tool(&mut self, call: &CallId) {
        self.due.retain(|due| due.call != *call);
        if self.running.end_tool(call) {
            self.actions.push(Action::EndTool(call.clone()));
        }
    }

    pub(super) fn stop_work(&mut self) {
        self.stop_work_but(Vec::new());
    }

    /// Stops the agent, and all tools but those of these calls.
    fn stop_work_but(&mut self, kept: Vec<CallId>) {
        self.running.stop(&kept);
        self.due.retain(|due| kept.contains(&due.call));
        self.actions.push(Action::StopWork { kept });
    }
}

/// This server's claim of a chat.
fn fence(chat: &Chat) -> Fence {
    // The id of a chat may be used again after it was deleted, that of a turn may not.
    let first = chat.turns().next();
    Fence {
        scope: first.map(|turn| turn.id().to_string()).unwrap_or_default(),
        epoch: chat.epoch(),
    }
}

/// Tools whose calls these events settle as unknown, since their server stopped.
fn unknown_tools(chat: &Chat, events: &[Event]) -> Vec<String> {
    let is_lost = |outcome: &Outcome| {
        let reason = UnknownReason::ServerStopped;
        *outcome == Outcome::Unknown { reason }
    };
    let calls = events.iter().filter_map(|event| match event {
        Event::CallSettled { call, outcome, .. } if is_lost(outcome) => chat.call(call),
        _ => None,
    });
    calls.map(|(_, call)| call.tool.clone()).collect()
}

/// Who speaks in a chat.
fn speaker(chat: &Chat) -> Principal {
    let owner = chat.owner().cloned();
    owner.unwrap_or_else(|| Principal::from("nobody"))
}
