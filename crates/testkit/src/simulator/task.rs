//! The model and the tools that a server runs for the chat: `engine::actor::tasks` and
//! `engine::context`, in small.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use turn::agent::{AgentEvent, Past};
use turn::call::Outcome;
use turn::event::Finish;
use turn::gate::Decision;
use turn::turn::Recorded;
use turn::{CallId, Chat, GateId, Input};

use super::Bug;
use super::server::{Command, Trouble};
use super::tool::{ACT, Deed, Tool};
use super::world::{Happening, World};

/// What the model says at a time.
#[derive(Debug, Clone)]
pub(super) enum Said {
    /// Words and calls.
    More(Vec<&'static str>),
    /// That the step is over.
    Ended,
    /// Nothing: its stream broke.
    Cut,
}

/// What runs for the chat.
#[derive(Default)]
pub(super) struct Tasks {
    /// The model call that is listened to.
    model: Option<u64>,
    /// Whether the model has not ended its step yet.
    is_speaking: bool,
    runs: Vec<Run>,
    /// The run of each call that can be ended. An earlier one of the same call can't any more.
    handles: BTreeMap<CallId, u64>,
    /// Runs that wait at gates.
    waiting: BTreeMap<GateId, u64>,
    /// How many long-running calls go on.
    later: usize,
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
        !self.is_speaking && self.handles.is_empty() && self.later == 0
    }

    pub(super) fn done(&mut self, call: &CallId) {
        self.handles.remove(call);
    }

    pub(super) fn later_done(&mut self) {
        self.later = self.later.saturating_sub(1);
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

    pub(super) fn call_model(&mut self, server: usize) {
        let Some(chat) = &self.servers[server].chat else {
            return;
        };
        let said = chat.history().into_iter().rev();
        let steps = said
            .take_while(|past| matches!(past, Past::Step { .. }))
            .count();
        let calls = match steps {
            0..3 if !self.chance.one_in(if steps == 0 { 8 } else { 2 }) => {
                let count = *self.chance.pick(&[1, 1, 2, 3]);
                (0..count).map(|_| Tool::any(&mut self.chance).0).collect()
            }
            _ => Vec::new(),
        };
        let run = self.people.fresh();
        self.tell(|_| format!("server {server} asks the model, which wants {calls:?}"));
        let tasks = &mut self.servers[server].tasks;
        tasks.model = Some(run);
        tasks.is_speaking = true;
        let said = Said::More(calls);
        self.bring(server, Command::Agent { run, said });
    }

    pub(super) fn agent_says(
        &mut self,
        server: usize,
        run: u64,
        said: Said,
    ) -> Result<(), Trouble> {
        if self.servers[server].tasks.model != Some(run) {
            return Ok(());
        }
        let ruling = None;
        match said {
            Said::More(calls) => {
                let event = AgentEvent::Text {
                    delta: "Well.".to_owned(),
                    provider_metadata: None,
                };
                self.perform(server, Input::Agent { event, ruling })?;
                for name in calls {
                    let timeout = self.chance.one_in(4).then(|| Duration::from_secs(6));
                    let ruling = Tool::named(name).map(|tool| tool.ruling(timeout));
                    let event = AgentEvent::Call {
                        provider_id: None,
                        tool: name.to_owned(),
                        input: json!({}),
                        provider_metadata: None,
                    };
                    self.perform(server, Input::Agent { event, ruling })?;
                }
                let is_cut = !self.is_healed && self.chance.one_in(40);
                let said = if is_cut { Said::Cut } else { Said::Ended };
                self.bring(server, Command::Agent { run, said });
                Ok(())
            }
            Said::Ended => {
                self.servers[server].tasks.is_speaking = false;
                let event = AgentEvent::Ended(Finish::Stop);
                self.perform(server, Input::Agent { event, ruling })
            }
            Said::Cut => self.perform(server, Input::AgentCut),
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
        if tool == Tool::Parcel {
            tasks.later += 1;
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
            self.bring(server, Command::Done { call, outcome });
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
