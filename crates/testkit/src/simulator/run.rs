//! What a server runs for the chat: the model, and tools.

use engine::Ask;
use engine::driver::{Input, ToolDoes, ToolRun};
use serde_json::json;
use turn::CallId;
use turn::agent::{AgentEvent, Asking, CompactEvent, HistoryItem, StepRequest};
use turn::call::{Outcome, Place};
use turn::event::Finish;
use turn::gate::Decision;
use turn::turn::{Recorded, RecordedGate};

use super::Bug;
use super::schedule::Happening;
use super::server::Waiting;
use super::tool::{ACT, Deed, REMOTE, Tool};
use super::world::World;

/// The tool of calls that the agent runs by itself without asking.
const LOOK_UP: &str = "look-up";

/// What the agent says of a call of its own that it has not asked about.
fn asks_or_settles(provider_id: String, tool: &str) -> AgentEvent {
    if tool == LOOK_UP {
        return settled(provider_id, "found");
    }
    let asking = Asking {
        question: "May I?".to_owned(),
        token: Some(json!(provider_id)),
        ..Asking::default()
    };
    AgentEvent::Asks {
        provider_id,
        asking,
    }
}

fn settled(provider_id: String, output: &str) -> AgentEvent {
    let output = json!(output);
    AgentEvent::Settled {
        provider_id,
        outcome: Outcome::Output { output },
    }
}

/// One run of a tool.
pub(super) struct Run {
    id: u64,
    pub(super) call: CallId,
    tool: Tool,
    recorded: Recorded,
    /// How many of its deeds are done.
    done: usize,
    /// How often it has asked.
    asked: usize,
}

impl World {
    /// The model is asked for a step: it says something, and wants a few tools.
    pub(super) fn call_model(&mut self, server: usize, run: u64, request: &StepRequest) {
        let mut events = Vec::new();
        if !self.go_on_with_own(server, request, &mut events) {
            events.push(AgentEvent::Ended(Finish::Stop).into());
            return self.stream(server, run, events);
        }
        let said = request.history.iter().rev();
        let steps = said
            .take_while(|past| matches!(past, HistoryItem::Step { .. }))
            .count();
        if steps < 3 && self.chance.one_in(6) {
            self.own_step(&mut events);
            return self.stream(server, run, events);
        }
        let calls: Vec<&'static str> = match steps {
            0..3 if !self.chance.one_in(if steps == 0 { 8 } else { 2 }) => {
                let count = *self.chance.pick(&[1, 1, 2, 3]);
                (0..count).map(|_| Tool::any(&mut self.chance).0).collect()
            }
            _ => Vec::new(),
        };
        self.trace(|_| format!("server {server} asks the model, which wants {calls:?}"));
        let is_cut = !self.is_healed && self.chance.one_in(40);
        let words = CompactEvent::Text("Well.".to_owned());
        let calls = calls.into_iter().map(|name| {
            CompactEvent::from(AgentEvent::Call {
                provider_id: None,
                tool: name.to_owned(),
                input: json!({}),
                provider_metadata: None,
            })
        });
        let end = (!is_cut).then(|| AgentEvent::Ended(Finish::Stop).into());
        events.extend([words].into_iter().chain(calls).chain(end));
        self.stream(server, run, events);
    }

    /// A step of calls that the agent runs by itself, and what it says of them after it.
    fn own_step(&mut self, events: &mut Vec<CompactEvent>) {
        let (mut after, step) = (Vec::new(), self.steps);
        let count = *self.chance.pick(&[1, 2, 2, 3]);
        for n in 0..count {
            let provider_id = format!("own-{step}-{n}");
            let (input, provider_metadata) = (json!({}), None);
            let tool = match self.chance.one_in(4) {
                true => LOOK_UP.to_owned(),
                false => REMOTE.to_owned(),
            };
            after.push(asks_or_settles(provider_id.clone(), &tool));
            events.push(CompactEvent::from(AgentEvent::OwnCall {
                provider_id,
                tool,
                input,
                provider_metadata,
                place: Place::Agent,
                asks: None,
            }));
        }
        events.push(AgentEvent::Ended(Finish::Stop).into());
        events.extend(after.into_iter().map(CompactEvent::from));
    }

    /// The agent says of calls of its own what has become of them since, and whether it may speak: it
    /// waits for no answer.
    fn go_on_with_own(
        &mut self,
        server: usize,
        request: &StepRequest,
        events: &mut Vec<CompactEvent>,
    ) -> bool {
        let mut may_speak = true;
        for own in request.own.iter().filter(|own| own.outcome.is_none()) {
            let id = own.call.provider_id.clone().unwrap_or_default();
            let event = match &own.asked {
                Some(asked) => match &asked.decision {
                    Some(Decision::Approved { .. }) => {
                        // It knows what it has done, also when another server asks again.
                        if self.ledger.times(&own.call.id, ACT) == 0 {
                            self.execute(server, &own.call.id, ACT);
                        }
                        settled(id, "paid")
                    }
                    _ => {
                        may_speak = false;
                        continue;
                    }
                },
                None => asks_or_settles(id, &own.call.tool),
            };
            may_speak &= matches!(event, AgentEvent::Settled { .. });
            events.push(event.into());
        }
        may_speak
    }

    /// The model says something, all at once, or word by word.
    fn stream(&mut self, server: usize, run: u64, said: Vec<CompactEvent>) {
        self.servers[server].model = Some(run);
        let parts: Vec<Vec<CompactEvent>> = match self.chance.one_in(2) {
            true => vec![said],
            false => said.into_iter().map(|said| vec![said]).collect(),
        };
        let (mut delay, count, life) = (0, parts.len(), self.servers[server].life);
        for (place, events) in parts.into_iter().enumerate() {
            delay += self.chance.between(1, 30);
            let is_over = place + 1 == count;
            let input = Box::new(Input::Agent {
                run,
                events,
                is_over,
            });
            let waiting = Waiting::Nobody;
            let what = Happening::Arrive {
                server,
                life,
                input,
                waiting,
            };
            self.after(delay, what);
        }
    }

    /// Stops the model and all tools.
    pub(super) fn stop_work(&mut self, server: usize, kept: &[CallId]) {
        let here = &mut self.servers[server];
        here.model = None;
        here.at_gates.clear();
        if self.bug != Some(Bug::StaleWork) {
            here.runs.retain(|run| kept.contains(&run.call));
        }
    }

    pub(super) fn end_tool(&mut self, server: usize, call: &CallId) {
        if self.bug != Some(Bug::StaleWork) {
            let here = &mut self.servers[server];
            here.runs.retain(|run| run.call != *call);
        }
    }

    pub(super) fn run_tool(&mut self, server: usize, due: ToolRun) {
        let Some(tool) = Tool::named(&due.tool) else {
            return;
        };
        let (id, call) = (due.run, due.call);
        self.trace(|_| format!("server {server} runs {call}, {tool:?}"));
        self.end_tool(server, &call);
        if self.bug == Some(Bug::StaleWork) {
            // Those that were stopped speak as if they were this one.
            for run in &mut self.servers[server].runs {
                if run.call == call {
                    run.id = id;
                }
            }
        }
        self.servers[server].runs.push(Run {
            id,
            call,
            tool,
            recorded: due.recorded,
            done: 0,
            asked: 0,
        });
        self.step_tool(server, id);
    }

    fn step_tool(&mut self, server: usize, run: u64) {
        let life = self.servers[server].life;
        let delay = self.chance.between(1, 60);
        self.after(delay, Happening::Tool { server, life, run });
    }

    fn run_of(&mut self, server: usize, id: u64) -> Option<&mut Run> {
        let mut runs = self.servers[server].runs.iter_mut();
        runs.find(|run| run.id == id)
    }

    /// A tool does what comes next.
    pub(super) fn tool_goes_on(&mut self, server: usize, id: u64) {
        let Some(run) = self.run_of(server, id) else {
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
                let (name, value) = (name.to_owned(), json!(true));
                self.bring_work(server, id, call, ToolDoes::Record { name, value });
            }
            Deed::Ask | Deed::Page => {
                let asked = run.asked;
                run.asked += 1;
                let gate = match run.recorded.gates.get(asked) {
                    Some(RecordedGate {
                        decision: Some(decision),
                        ..
                    }) => {
                        let decision = decision.clone();
                        return self.answered(server, id, &decision);
                    }
                    recorded => recorded.map(|recorded| recorded.id.clone()),
                };
                let timeout = self
                    .chance
                    .one_in(3)
                    .then(|| std::time::Duration::from_secs(6));
                let ask = match deed {
                    Deed::Page => Ask::Page {
                        tool: "play".to_owned(),
                        input: json!({}),
                        timeout,
                    },
                    _ => Ask::Approval {
                        question: "Shall I?".to_owned(),
                        timeout,
                    },
                };
                self.bring_work(server, id, call, ToolDoes::Ask { gate, ask });
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
        self.trace(|_| format!("server {server}: {call} executes {deed}"));
        self.tally.executions += 1;
        self.ledger.execute(call, deed);
    }

    fn return_from(&mut self, server: usize, id: u64, outcome: Outcome) {
        let runs = &mut self.servers[server].runs;
        if let Some(index) = runs.iter().position(|run| run.id == id) {
            let call = runs.swap_remove(index).call;
            self.bring_work(server, id, call, ToolDoes::Return { outcome });
        }
    }

    /// A step is recorded: the tool goes on.
    pub(super) fn recorded(&mut self, server: usize, id: u64) {
        if let Some(run) = self.run_of(server, id) {
            run.done += 1;
            self.step_tool(server, id);
        }
    }

    /// A tool that asked gets the decision.
    pub(super) fn answered(&mut self, server: usize, id: u64, decision: &Decision) {
        let Some(run) = self.run_of(server, id) else {
            return;
        };
        if Self::is_yes(decision) {
            run.done += 1;
            return self.step_tool(server, id);
        }
        let outcome = match decision {
            Decision::Denied { reason } => Outcome::Denied {
                reason: reason.clone(),
            },
            _ => Outcome::Error {
                error: "The turn was stopped.".to_owned(),
            },
        };
        self.return_from(server, id, outcome);
    }
}
