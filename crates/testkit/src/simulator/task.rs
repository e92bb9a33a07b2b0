//! What a server runs for the chat, and its tools above all: `engine::actor::tasks` and
//! `engine::context`, in small.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::json;
use turn::call::Outcome;
use turn::gate::Decision;
use turn::turn::Recorded;
use turn::{CallId, Chat, GateId, Input};

use super::Bug;
use super::schedule::Happening;
use super::server::{Command, Trouble};
use super::tool::{ACT, Deed, Tool};
use super::world::World;

/// What runs for the chat.
#[derive(Default)]
pub(super) struct Tasks {
    /// The model call that is listened to.
    pub(super) model: Option<u64>,
    /// Whether the model has not ended its step yet.
    pub(super) is_speaking: bool,
    runs: Vec<Run>,
    /// The run of each call that can be ended. An earlier one of the same call can't any more.
    handles: BTreeMap<CallId, u64>,
    /// Runs that wait at gates.
    waiting: BTreeMap<GateId, u64>,
    /// Long-running calls that go on, whatever becomes of the turn that made them.
    later: BTreeSet<CallId>,
}

/// One run of a tool.
struct Run {
    id: u64,
    call: CallId,
    tool: Tool,
    recorded: Recorded,
    /// How many of its deeds are done.
    done: usize,
    /// How often it has asked.
    asked: usize,
}

impl Tasks {
    pub(super) fn is_quiet(&self) -> bool {
        !self.is_speaking && self.handles.is_empty() && self.later.is_empty()
    }

    pub(super) fn later_done(&mut self, call: &CallId) {
        self.later.remove(call);
    }

    pub(super) fn goes_on(&self, call: &CallId) -> bool {
        self.later.contains(call)
    }

    pub(super) fn is_running(&self, call: &CallId) -> bool {
        self.handles.contains_key(call)
    }

    fn end(&mut self, call: &CallId) {
        self.handles.remove(call);
        self.runs.retain(|run| run.call != *call);
    }

    fn run(&mut self, id: u64) -> Option<&mut Run> {
        self.runs.iter_mut().find(|run| run.id == id)
    }
}

impl World {
    /// Lets go of the model and of all tools. One that waits and can't be ended hears that it is over.
    pub(super) fn stop_work(&mut self, server: usize) {
        let tasks = &mut self.servers[server].tasks;
        tasks.model = None;
        tasks.is_speaking = false;
        let ended = std::mem::take(&mut tasks.handles);
        tasks
            .runs
            .retain(|run| ended.get(&run.call) != Some(&run.id));
        let waiting = std::mem::take(&mut tasks.waiting);
        for run in waiting.into_values() {
            self.cancel(server, run);
        }
    }

    pub(super) fn run_tool(&mut self, server: usize, call: &CallId) {
        let turn = self.servers[server].chat.as_ref().and_then(Chat::current);
        let turn = turn.filter(|turn| turn.outcome(call).is_none());
        let Some((made, recorded)) =
            turn.and_then(|turn| Some((turn.call(call)?, turn.recorded(call))))
        else {
            return;
        };
        let Some(tool) = Tool::named(&made.tool) else {
            return;
        };
        let id = self.people.fresh();
        self.tell(|_| format!("server {server} runs {call}, {tool:?}"));
        let is_tidy = self.bug != Some(Bug::StaleWork);
        let tasks = &mut self.servers[server].tasks;
        if is_tidy {
            tasks.runs.retain(|run| run.call != *call);
        }
        tasks.runs.push(Run {
            id,
            call: call.clone(),
            tool,
            recorded,
            done: 0,
            asked: 0,
        });
        tasks.handles.insert(call.clone(), id);
        self.step_tool(server, id);
    }

    fn step_tool(&mut self, server: usize, run: u64) {
        let life = self.servers[server].life;
        let delay = self.chance.between(1, 60);
        self.after(delay, Happening::Tool { server, life, run });
    }

    /// Whether a run was let go, so that what it says is not heard.
    fn is_stale(&mut self, server: usize, run: u64) -> bool {
        self.bug != Some(Bug::StaleWork) && self.servers[server].tasks.run(run).is_none()
    }

    /// A tool does what comes next.
    pub(super) fn tool_goes_on(&mut self, server: usize, id: u64) {
        let Some(run) = self.servers[server].tasks.run(id) else {
            return;
        };
        let call = run.call.clone();
        let Some(deed) = run.tool.deeds().get(run.done).copied() else {
            let output = json!("done");
            return self.return_from(server, id, Outcome::Output { output });
        };
        match deed {
            Deed::Act => {
                run.done += 1;
                self.execute(server, &call, ACT);
                self.step_tool(server, id);
            }
            Deed::Once(name) => {
                if run.recorded.records.iter().any(|(known, _)| known == name) {
                    run.done += 1;
                    return self.step_tool(server, id);
                }
                self.execute(server, &call, name);
                let run = id;
                self.bring(server, Command::Record { run, call, name });
            }
            Deed::Ask | Deed::Page => {
                let asked = run.asked;
                run.asked += 1;
                let gate = match run.recorded.gates.get(asked) {
                    Some((_, Some(decision))) => {
                        let decision = decision.clone();
                        return self.answered(server, id, &decision);
                    }
                    Some((gate, None)) => Some(gate.clone()),
                    None => None,
                };
                let ask = Command::Ask {
                    run: id,
                    call,
                    gate,
                    of_page: deed == Deed::Page,
                };
                self.bring(server, ask);
            }
            Deed::Leave => {
                self.servers[server].tasks.later.insert(call.clone());
                let output = json!("on its way");
                self.return_from(server, id, Outcome::Pending { output });
                let life = self.servers[server].life;
                let delay = self.chance.between(50, 3_000);
                self.after(delay, Happening::Later { server, life, call });
            }
        }
    }

    fn execute(&mut self, server: usize, call: &CallId, deed: &'static str) {
        self.tell(|_| format!("server {server}: {call} executes {deed}"));
        self.tally.executions += 1;
        self.ledger.execute(call, deed);
    }

    fn return_from(&mut self, server: usize, id: u64, outcome: Outcome) {
        let runs = &mut self.servers[server].tasks.runs;
        if let Some(index) = runs.iter().position(|run| run.id == id) {
            let call = runs.swap_remove(index).call;
            let run = id;
            self.bring(server, Command::Done { run, call, outcome });
        }
    }

    /// What a tool waits for will not come: the turn is over for it.
    fn cancel(&mut self, server: usize, run: u64) {
        let error = "The turn was stopped.".to_owned();
        self.return_from(server, run, Outcome::Error { error });
    }

    /// A tool that asked hears what was decided.
    fn answered(&mut self, server: usize, id: u64, decision: &Decision) {
        let Some(run) = self.servers[server].tasks.run(id) else {
            return;
        };
        match decision {
            Decision::Approved { .. } | Decision::Output { .. } => {
                run.done += 1;
                self.step_tool(server, id);
            }
            Decision::Denied { reason } => {
                let reason = reason.clone();
                self.return_from(server, id, Outcome::Denied { reason });
            }
            _ => self.cancel(server, id),
        }
    }

    /// Tells a tool what was decided, and says whether there was one to be told.
    pub(super) fn wake(&mut self, server: usize, gate: &GateId, decision: &Decision) -> bool {
        let tasks = &mut self.servers[server].tasks;
        let run = tasks.waiting.remove(gate);
        let Some(run) = run.filter(|run| tasks.run(*run).is_some()) else {
            return false;
        };
        self.answered(server, run, decision);
        true
    }

    pub(super) fn tool_done(
        &mut self,
        server: usize,
        run: u64,
        call: CallId,
        outcome: Outcome,
    ) -> Result<(), Trouble> {
        let is_heard = self.servers[server].tasks.handles.get(&call) == Some(&run);
        if !is_heard && self.bug != Some(Bug::StaleWork) {
            return Ok(());
        }
        self.servers[server].tasks.handles.remove(&call);
        let input = Input::ToolDone {
            call: call.clone(),
            outcome,
        };
        let performed = self.perform(server, input);
        // After a conflict it may have been run again before this was heard.
        let turn = self.servers[server].chat.as_ref().and_then(Chat::current);
        if turn.is_some_and(|turn| turn.outcome(&call).is_some()) {
            self.servers[server].tasks.end(&call);
        }
        performed
    }

    pub(super) fn tool_records(
        &mut self,
        server: usize,
        id: u64,
        call: CallId,
        name: &'static str,
    ) -> Result<(), Trouble> {
        if self.is_stale(server, id) {
            return Ok(());
        }
        let name = name.to_owned();
        let value = json!(true);
        let performed = self.perform(server, Input::ToolRecords { call, name, value });
        match performed {
            Err(Trouble::Died) => {}
            Err(_) => self.cancel(server, id),
            // The tool goes on only once it is recorded.
            Ok(()) => {
                if let Some(run) = self.servers[server].tasks.run(id) {
                    run.done += 1;
                    self.step_tool(server, id);
                }
            }
        }
        performed
    }

    pub(super) fn tool_asks(
        &mut self,
        server: usize,
        id: u64,
        call: CallId,
        gate: Option<GateId>,
        of_page: bool,
    ) -> Result<(), Trouble> {
        if self.is_stale(server, id) {
            return Ok(());
        }
        let asked = self.open_question(server, call, gate, of_page);
        let gate = match asked {
            Err(Trouble::Died) => return Err(Trouble::Died),
            Err(trouble) => {
                self.cancel(server, id);
                return Err(trouble);
            }
            Ok(gate) => gate,
        };
        let chat = self.servers[server].chat.as_ref();
        let state = gate.as_ref().and_then(|gate| chat?.gate(gate));
        match (state.map(|(_, _, decision)| decision.cloned()), gate) {
            (Some(Some(decision)), _) => self.answered(server, id, &decision),
            (Some(None), Some(gate)) => {
                let tasks = &mut self.servers[server].tasks;
                // Whoever waited at it before hears nothing more.
                if let Some(other) = tasks.waiting.insert(gate, id) {
                    self.cancel(server, other);
                }
            }
            _ => self.cancel(server, id),
        }
        Ok(())
    }

    fn open_question(
        &mut self,
        server: usize,
        call: CallId,
        gate: Option<GateId>,
        of_page: bool,
    ) -> Result<Option<GateId>, Trouble> {
        let last_gate = |world: &Self| {
            let turn = world.servers[server].chat.as_ref().and_then(Chat::current);
            turn.and_then(|turn| turn.last_gate().map(|gate| gate.id.clone()))
        };
        let gate = match gate {
            Some(gate) => Some(gate),
            None => {
                let before = last_gate(self);
                let timeout = self.chance.one_in(3).then(|| Duration::from_secs(6));
                let input = match of_page {
                    false => Input::ToolAsks {
                        call,
                        question: "Shall I?".to_owned(),
                        timeout,
                    },
                    true => Input::ToolCalls {
                        call,
                        tool: "play".to_owned(),
                        input: json!({}),
                        timeout,
                    },
                };
                self.perform(server, input)?;
                last_gate(self).filter(|gate| Some(gate) != before.as_ref())
            }
        };
        self.chat(server)?;
        Ok(gate)
    }
}
