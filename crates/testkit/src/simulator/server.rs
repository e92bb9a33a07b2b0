//! What the engine does with a chat, in small: read, claim, decide, append, act; hold the lease; take
//! over; run errands, or say where they are to be run.
//!
//! The names are those of `engine::actor`, so that the two can be read side by side.

use turn::call::Outcome;
use turn::input::Ids;
use turn::{CallId, Chat, Effect, GateId, Input, Principal, Status};

use super::Bug;
use super::model::Said;
use super::person::Errand;
use super::schedule::Happening;
use super::task::Tasks;
use super::tool::Tool;
use super::world::{LEASE, World};

/// How often a decision is made again because somebody else wrote to the journal.
pub(super) const CONFLICTS: usize = 16;

/// Why something could not be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The server died over it.
    Died,
    /// Another server has the chat.
    Elsewhere(usize),
    /// The store says that it failed; whether it did is another question.
    Store,
    /// It makes no sense as the chat stands.
    Refused,
    /// Too many conflicts.
    Closed,
}

/// Something that reaches the task of a chat.
pub(super) enum Command {
    /// Somebody asks for something.
    Errand(Errand),
    /// A gate's time is up.
    TimedOut { gate: GateId },
    /// Reads the journal, and takes up what it finds.
    Wake,
    /// The chat is somebody else's now.
    Lost,
    /// Looks whether somebody else wrote to the journal of a chat that is held here.
    Compare,
    /// The model says something.
    Agent { run: u64, said: Said },
    /// A tool asks somebody.
    Ask {
        run: u64,
        call: CallId,
        /// The gate, if it was opened before the tool was run again.
        gate: Option<GateId>,
        of_page: bool,
    },
    /// A tool records a step.
    Record {
        run: u64,
        call: CallId,
        name: &'static str,
    },
    /// A tool is done.
    Done {
        run: u64,
        call: CallId,
        outcome: Outcome,
    },
    /// A long-running call is done.
    Result { call: CallId, outcome: Outcome },
}

/// One server.
pub(super) struct Server {
    /// How often it was started: what an earlier life foresaw does not happen.
    pub(super) life: u64,
    pub(super) is_up: bool,
    /// Whether the chat's task is in the middle of something.
    pub(super) is_busy: bool,
    /// How far its clock is ahead, a lease being right.
    pub(super) skew: u64,
    pub(super) cut_until: u64,
    pub(super) chat: Option<Chat>,
    /// The epoch of the lease that it has.
    pub(super) held: Option<u64>,
    /// Whether the chat was let go in the middle of something because the store was away.
    pub(super) was_left: bool,
    /// When something last happened to the chat.
    pub(super) active: u64,
    /// Results of long-running calls that wait for the turn to end.
    results: Vec<(CallId, Outcome)>,
    pub(super) tasks: Tasks,
    /// What it makes of the journal by reading along.
    pub(super) reader: Chat,
}

impl Server {
    pub(super) fn new(skew: u64) -> Self {
        Self {
            life: 0,
            is_up: true,
            is_busy: false,
            skew: if skew == 0 { LEASE } else { skew },
            cut_until: 0,
            chat: None,
            held: None,
            was_left: false,
            active: 0,
            results: Vec::new(),
            tasks: Tasks::default(),
            reader: Chat::default(),
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        let status = self.chat.as_ref().and_then(Chat::status);
        status != Some(Status::Running) && self.tasks.is_quiet() && self.results.is_empty()
    }
}

impl World {
    pub(super) fn name(&self, server: usize) -> String {
        format!("server-{server}.{}", self.servers[server].life)
    }

    /// Brings something to the task of the chat.
    pub(super) fn bring(&mut self, server: usize, command: Command) {
        let life = self.servers[server].life;
        let delay = self.chance.between(1, 30);
        let what = Happening::Command {
            server,
            life,
            command,
        };
        self.after(delay, what);
    }

    pub(super) fn command(&mut self, server: usize, life: u64, command: Command) {
        if !self.is_alive(server, life) {
            self.nobody_there(command);
            return;
        }
        if self.servers[server].is_busy {
            self.bring(server, command);
            return;
        }
        self.servers[server].is_busy = true;
        self.servers[server].active = self.now;
        self.obey(server, command);
        if self.is_alive(server, life) {
            self.servers[server].is_busy = false;
        }
    }

    fn obey(&mut self, server: usize, command: Command) {
        // What nobody waits to hear is not told to anybody.
        let done = match command {
            Command::Errand(errand) => return self.run_errand(server, errand),
            Command::TimedOut { gate } => self.perform(server, Input::TimedOut { gate }),
            Command::Wake => self.chat(server),
            Command::Lost => {
                self.let_go(server);
                Ok(())
            }
            Command::Compare => self.compare(server),
            Command::Agent { run, said } => self.agent_says(server, run, said),
            Command::Ask {
                run,
                call,
                gate,
                of_page,
            } => self.tool_asks(server, run, call, gate, of_page),
            Command::Record { run, call, name } => self.tool_records(server, run, call, name),
            Command::Done { run, call, outcome } => self.tool_done(server, run, call, outcome),
            Command::Result { call, outcome } => {
                self.servers[server].tasks.later_done(&call);
                self.servers[server].results.push((call, outcome));
                Ok(())
            }
        };
        if done == Err(Trouble::Died) {
            return;
        }
        let opened = self.open_result(server);
        if [done, opened].contains(&Err(Trouble::Store)) {
            self.servers[server].was_left = true;
        }
    }

    /// Reads the chat where it is not at hand, and goes on with it.
    pub(super) fn chat(&mut self, server: usize) -> Result<(), Trouble> {
        if self.servers[server].chat.is_some() {
            return Ok(());
        }
        self.require_free(server)?;
        self.reach_store(server)?;
        let chat = Chat::replay(&self.store.entries);
        self.tell(|_| format!("server {server} reads {} entries", chat.seq()));
        self.pause(server)?;
        let idempotent = self.idempotent_calls(&chat);
        let awaited = chat.awaited_results();
        self.servers[server].chat = Some(chat);
        let by = Some(self.name(server));
        self.perform(server, Input::Recover { idempotent, by })?;
        self.hold(server)?;
        let here = &self.servers[server];
        let is_here = |call: &CallId| {
            here.tasks.goes_on(call) || here.results.iter().any(|(waiting, _)| waiting == call)
        };
        let lost: Vec<_> = awaited
            .into_iter()
            .filter(|call| !is_here(call))
            .map(|call| (call, Outcome::Unknown))
            .collect();
        self.servers[server].results.extend(lost);
        self.open_result(server)
    }

    fn idempotent_calls(&self, chat: &Chat) -> Vec<CallId> {
        let calls = chat.current().into_iter().flat_map(turn::Turn::calls);
        let is_idempotent = |tool: &str| {
            let tool = Tool::named(tool);
            self.bug == Some(Bug::RunAgain) || tool.is_some_and(Tool::is_idempotent)
        };
        calls
            .filter(|call| is_idempotent(&call.tool))
            .map(|call| call.id.clone())
            .collect()
    }

    /// Decides, makes durable, acts: in this order. After a conflict, again.
    pub(super) fn perform(&mut self, server: usize, input: Input) -> Result<(), Trouble> {
        // What the agent says is not said again: should it conflict, the step is run again. Nor is what
        // a tool asks or records: should it conflict, the tool is let go.
        let is_of_task = match &input {
            Input::Agent { .. } => true,
            Input::ToolAsks { .. } | Input::ToolCalls { .. } | Input::ToolRecords { .. } => {
                self.bug != Some(Bug::StaleWork)
            }
            _ => false,
        };
        let again = (!is_of_task).then(|| input.clone());
        let mut next = Some(input);
        for _ in 0..CONFLICTS {
            self.chat(server)?;
            let Some(input) = next.take() else {
                return Ok(());
            };
            if self.attempt(server, input)? {
                return Ok(());
            }
            next = again.clone();
        }
        Err(Trouble::Closed)
    }

    /// Decides, makes durable, acts, and says whether nobody else was first.
    pub(super) fn attempt(&mut self, server: usize, input: Input) -> Result<bool, Trouble> {
        let now = self.clock(server);
        let Some(chat) = &mut self.servers[server].chat else {
            return Ok(false);
        };
        let output = chat.handle(input, now);
        let (expected, owner) = (chat.seq(), chat.owner().cloned());
        if self.bug == Some(Bug::EffectBeforeJournal) {
            self.act(server, output.effects.clone());
        }
        if !output.append.is_empty() {
            let actor = owner.unwrap_or_else(|| Principal::from("engine"));
            let stored = self.append(server, expected, actor, output.append);
            match stored {
                Ok(Some(seq)) => {
                    if let Some(chat) = &mut self.servers[server].chat {
                        chat.appended(seq);
                    }
                }
                Ok(None) => {
                    self.tally.conflicts += 1;
                    if self.bug == Some(Bug::ConflictIgnored) {
                        self.act(server, output.effects);
                        return Ok(true);
                    }
                    self.let_go(server);
                    return Ok(false);
                }
                Err(Trouble::Died) => return Err(Trouble::Died),
                Err(trouble) => {
                    self.let_go(server);
                    self.servers[server].was_left = true;
                    return Err(trouble);
                }
            }
            self.pause(server)?;
        }
        if self.bug != Some(Bug::EffectBeforeJournal) {
            self.act(server, output.effects);
        }
        match self.hold(server) {
            Err(Trouble::Died) => Err(Trouble::Died),
            Err(trouble) if self.bug == Some(Bug::LeaseFailsTheWork) => Err(trouble),
            // It is in the journal: a lease is a hint.
            _ => Ok(true),
        }
    }

    fn append(
        &mut self,
        server: usize,
        expected: u64,
        actor: Principal,
        events: Vec<turn::Event>,
    ) -> Result<Option<u64>, Trouble> {
        self.reach_store(server)?;
        let at = self.clock(server);
        let kind = match self.is_told() {
            true => store::index::kind(&events),
            false => String::new(),
        };
        let is_claim = |event: &turn::Event| matches!(event, turn::Event::TurnClaimed { .. });
        let claims = events.iter().any(is_claim);
        let stored = self.store.append(expected, at, actor, events);
        self.tell(|_| match stored {
            Some(seq) => format!("server {server} appends {seq}: {kind}"),
            None => format!("server {server} is late with {}: {kind}", expected + 1),
        });
        if stored.is_some() {
            self.tally.claims += u64::from(claims);
            self.ring();
            if self.is_doubtful() {
                self.tell(|_| format!("server {server} is told that this failed"));
                self.tally.doubtful += 1;
                return Err(Trouble::Store);
            }
        }
        Ok(stored)
    }

    /// Forgets the chat as it was thought to be.
    pub(super) fn let_go(&mut self, server: usize) {
        self.stop_work(server);
        let server = &mut self.servers[server];
        server.held = None;
        server.chat = None;
    }

    fn act(&mut self, server: usize, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::CallModel => self.call_model(server),
                Effect::RunTool(call) => self.run_tool(server, &call),
                Effect::WakeTool {
                    gate,
                    call,
                    decision,
                } => {
                    // A tool that ran in an earlier process is run again, and finds the answer.
                    // One that runs, and does not wait any more, goes on without it.
                    let was_told = self.wake(server, &gate, &decision);
                    if !was_told && !self.servers[server].tasks.is_running(&call) {
                        self.run_tool(server, &call);
                    }
                }
                Effect::SetTimer { gate, at } => self.set_timer(server, gate, at),
                Effect::StopWork => self.stop_work(server),
            }
        }
    }

    /// The results of long-running calls open turns, one after the other, while no other is open.
    fn open_result(&mut self, server: usize) -> Result<(), Trouble> {
        while let Some((call, outcome)) = self.servers[server].results.first().cloned() {
            match self.chat(server) {
                // Whoever has it now has called them unknown.
                Err(Trouble::Elsewhere(_)) => {
                    self.servers[server].results.clear();
                    return Ok(());
                }
                read => read?,
            }
            let status = self.servers[server].chat.as_ref().and_then(Chat::status);
            if matches!(status, Some(Status::Running | Status::Parked)) {
                return Ok(());
            }
            let (ids, result) = (self.fresh(), call.clone());
            let input = Input::Result {
                call: result,
                outcome,
                ids,
            };
            self.perform(server, input)?;
            let results = &mut self.servers[server].results;
            results.retain(|(waiting, _)| *waiting != call);
        }
        Ok(())
    }

    pub(super) fn fresh(&mut self) -> Ids {
        let number = self.people.fresh();
        Ids {
            turn: format!("t{number}").into(),
            message: format!("m{number}"),
        }
    }
}
