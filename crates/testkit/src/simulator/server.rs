//! One server: the shipped driver of the chat, and what carries its actions out here, where the task of
//! a chat does it for real (`engine::actor`).

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use engine::Windows;
use engine::driver::{Action, CONFLICTS, Driver, Input, Settings, ToolDoes};
use engine::{Tools, client_tool, tool};
use serde_json::{Value, json};
use store::Holder;
use turn::call::Outcome;
use turn::gate::Decision;
use turn::input::Ids;
use turn::{CallId, GateId};
use view::ShownChat;

use super::Bug;
use super::network::Delivery;
use super::run::Run;
use super::schedule::Happening;
use super::store::Way;
use super::tool::Tool;
use super::world::{LEASE, World};

/// Who waits for what comes of an input.
pub(super) enum Waiting {
    Nobody,
    Person(Delivery),
    /// A run of a tool.
    Run(u64),
}

/// One server.
pub(super) struct Server {
    /// How often it was started: what an earlier life foresaw does not happen.
    pub(super) life: u64,
    pub(super) is_up: bool,
    /// How far its clock is ahead, a lease being right.
    pub(super) skew: u64,
    pub(super) way: Way,
    settings: Arc<Settings>,
    pub(super) driver: Driver,
    /// Whether the driver is done with once the lease is given back.
    is_retiring: bool,
    pub(super) windows: Windows,
    /// What has reached the chat's task while it was busy.
    inbox: VecDeque<(Input, Waiting)>,
    waiting: Waiting,
    /// Commands that wait for the turn to come to rest.
    postponed: Vec<Delivery>,
    /// How often somebody else was first since the chat's task was last at rest.
    pub(super) conflicts: usize,
    /// The number of the last operation that the store was asked for.
    pub(super) operation: u64,
    /// The model call that speaks.
    pub(super) model: Option<u64>,
    pub(super) runs: Vec<Run>,
    /// Runs that wait at gates.
    pub(super) at_gates: BTreeMap<GateId, u64>,
    /// Gates whose time may come.
    pub(super) deadlines: BTreeMap<GateId, u64>,
    /// Whether the chat was evicted in the middle of something because the store was away.
    pub(super) was_left: bool,
    /// When something last happened to the chat.
    pub(super) active: u64,
    /// When it was first seen that nobody has the turn.
    pub(super) suspected: Option<u64>,
    /// What it makes of the journal by reading along.
    pub(super) reader: ShownChat,
}

/// The tools, with time limits or without; with all of them idempotent, if that is the mistake.
static TOOLS: LazyLock<[Tools; 4]> = LazyLock::new(|| {
    [(false, false), (true, false), (false, true), (true, true)].map(|(is_limited, is_again)| {
        Tool::ALL.iter().fold(Tools::new(), |tools, (name, kind)| {
            let timeout = is_limited.then(|| Duration::from_secs(6));
            if kind.is_of_page() {
                let mut page = client_tool::<Value>(name, "Runs in a page").timeout(timeout);
                if kind.is_asked_about() {
                    page = page.ask(|_| "May it?".to_owned());
                }
                return tools.with(page);
            }
            let mut ours = tool(name, "Runs here", async |_, _: Value| Ok(json!({})));
            ours = ours.timeout(timeout);
            if kind.is_asked_about() {
                ours = ours.ask(|_| "May it?".to_owned());
            }
            if kind.is_idempotent() || is_again {
                ours = ours.idempotent();
            }
            tools.with(ours)
        })
    })
});

impl Server {
    pub(super) fn new(
        index: usize,
        life: u64,
        skew: u64,
        bug: Option<Bug>,
        ids: &Arc<AtomicU64>,
    ) -> Self {
        let is_limited = (index as u64 + life) % 2;
        let is_again = u64::from(bug == Some(Bug::RunAgain));
        let tools = usize::try_from(is_limited + 2 * is_again).unwrap_or_default();
        let ids = ids.clone();
        let settings = Settings {
            tools: TOOLS[tools].clone(),
            supports_audio: false,
            takes_injections: true,
            approval_timeout: None,
            client_timeout: (is_limited == 1).then(|| Duration::from_secs(9)),
            server: Some(name(index, life)),
            conflicts: match bug {
                Some(Bug::EndlessRetry) => usize::MAX,
                _ => CONFLICTS,
            },
            ids: Box::new(move || {
                let number = ids.fetch_add(1, Ordering::Relaxed);
                Ids {
                    turn: format!("t{number}").into(),
                    message: format!("m{number}"),
                }
            }),
        };
        let settings = Arc::new(settings);
        Self {
            life,
            is_up: true,
            skew: if skew == 0 { LEASE } else { skew },
            way: Way::default(),
            driver: Driver::new("c".into(), settings.clone(), false),
            settings,
            is_retiring: false,
            windows: Windows::default(),
            inbox: VecDeque::new(),
            waiting: Waiting::Nobody,
            postponed: Vec::new(),
            conflicts: 0,
            operation: 0,
            model: None,
            runs: Vec::new(),
            at_gates: BTreeMap::new(),
            deadlines: BTreeMap::new(),
            was_left: false,
            active: 0,
            suspected: None,
            reader: ShownChat::default(),
        }
    }

    /// Whether nothing of the chat goes on here.
    pub(super) fn is_idle(&self) -> bool {
        let has_input = !self.inbox.is_empty() || !self.postponed.is_empty();
        self.driver.is_idle() && !has_input && !self.windows.has_waiting()
    }

    /// All requests that would fail if the server died.
    pub(super) fn deliveries(&mut self) -> Vec<Delivery> {
        let waiting = std::mem::replace(&mut self.waiting, Waiting::Nobody);
        let inbox = self.inbox.drain(..).map(|(_, waiting)| waiting);
        let waiting = inbox.chain([waiting]).filter_map(|waiting| match waiting {
            Waiting::Person(delivery) => Some(delivery),
            _ => None,
        });
        let waiting: Vec<_> = waiting.collect();
        waiting
            .into_iter()
            .chain(self.postponed.drain(..))
            .collect()
    }
}

fn name(server: usize, life: u64) -> String {
    format!("server-{server}.{life}")
}

impl World {
    pub(super) fn holder(&self, server: usize) -> Holder {
        Holder {
            owner: name(server, self.servers[server].life),
            address: server.to_string(),
        }
    }

    /// Brings something to the task of the chat, a little later.
    pub(super) fn bring(&mut self, server: usize, input: Input, waiting: Waiting) {
        let life = self.servers[server].life;
        let delay = self.chance.between(1, 30);
        let what = Happening::Arrive {
            server,
            life,
            input: Box::new(input),
            waiting,
        };
        self.after(delay, what);
    }

    /// Something reaches the task of the chat.
    pub(super) fn arrive(&mut self, server: usize, life: u64, input: Input, waiting: Waiting) {
        if !self.is_alive(server, life) {
            return self.nobody_there(waiting);
        }
        self.servers[server].active = self.now;
        self.servers[server].inbox.push_back((input, waiting));
        self.next_input(server);
    }

    /// Brings the driver what waits for it, one after the other.
    fn next_input(&mut self, server: usize) {
        while !self.servers[server].driver.is_busy()
            && let Some((input, waiting)) = self.servers[server].inbox.pop_front()
        {
            if !self.is_worth_bringing(server, &input) {
                continue;
            }
            self.servers[server].waiting = waiting;
            self.drive(server, input);
        }
    }

    /// Whether the run that brings something is still there.
    fn is_worth_bringing(&self, server: usize, input: &Input) -> bool {
        match input {
            Input::Agent { run, .. } => self.servers[server].model == Some(*run),
            _ => true,
        }
    }

    /// Brings the driver an input, and carries out what it wants.
    pub(super) fn drive(&mut self, server: usize, input: Input) {
        self.steps += 1;
        if !matches!(input, Input::Stored(_)) {
            self.trace(|_| {
                let input: String = format!("{input:?}").chars().take(120).collect();
                format!("server {server} takes {input}")
            });
        }
        let clock = self.clock(server);
        let here = &mut self.servers[server];
        let actions = here.driver.handle(input, clock);
        here.windows.publish(&here.driver);
        for action in actions {
            self.carry_out(server, action);
        }
        let here = &mut self.servers[server];
        if !here.driver.is_busy() {
            if std::mem::take(&mut here.is_retiring) {
                here.driver = Driver::new("c".into(), here.settings.clone(), false);
                here.windows = Windows::default();
            }
            here.conflicts = 0;
            here.windows.compact(&mut here.driver);
            here.waiting = Waiting::Nobody;
            if !here.driver.is_running() {
                for delivery in std::mem::take(&mut here.postponed) {
                    self.deliver(server, delivery);
                }
            }
        }
        self.read_windows(server);
        self.next_input(server);
    }

    /// Nothing has happened to the chat for a while: its task ends.
    pub(super) fn retire(&mut self, server: usize) {
        self.servers[server].is_retiring = true;
        self.drive(server, Input::Retire);
    }

    fn waiting(&mut self, server: usize) -> Waiting {
        std::mem::replace(&mut self.servers[server].waiting, Waiting::Nobody)
    }

    fn carry_out(&mut self, server: usize, action: Action) {
        match action {
            Action::Store(operation) => self.ask_store(server, operation),
            Action::Reply(reply) => {
                if let Waiting::Person(delivery) = self.waiting(server) {
                    self.replied(server, delivery, reply);
                }
            }
            Action::Postpone(_) => {
                if let Waiting::Person(delivery) = self.waiting(server) {
                    self.servers[server].postponed.push(delivery);
                }
            }
            Action::Decided(decision) => {
                if let Waiting::Run(run) = self.waiting(server) {
                    self.answered(server, run, &decision);
                }
            }
            Action::Wait(gate) => {
                if let Waiting::Run(run) = self.waiting(server) {
                    self.servers[server].at_gates.insert(gate, run);
                }
            }
            Action::Answer { gate, decision } => {
                let run = self.servers[server].at_gates.remove(&gate);
                if let Some(run) = run {
                    self.answered(server, run, &decision);
                }
            }
            Action::Recorded => {
                if let Waiting::Run(run) = self.waiting(server) {
                    self.recorded(server, run);
                }
            }
            Action::CallModel { run, request } => self.call_model(server, run, &request),
            Action::RunTool(run) => self.run_tool(server, *run),
            Action::EndTool(call) => self.end_tool(server, &call),
            Action::StopWork { kept } => self.stop_work(server, &kept),
            Action::SetDeadline { gate, at } => self.set_deadline(server, gate, at),
            Action::Evicted { shown, closing } => {
                let here = &mut self.servers[server];
                here.deadlines.clear();
                here.windows.close(shown, closing);
            }
            Action::WakeLater => self.servers[server].was_left = true,
            Action::Failed(error) => {
                self.trace(|_| format!("server {server} can't go on: {error}"));
            }
            Action::Signal { .. }
            | Action::PushAudio(_)
            | Action::RaiseFence { .. }
            | Action::Left => {}
        }
    }

    /// A gate's time is up at a moment of a server's clock.
    fn set_deadline(&mut self, server: usize, gate: GateId, at: turn::At) {
        let life = self.servers[server].life;
        let delay = at.0.saturating_sub(self.clock(server).0);
        let due = self.now + delay;
        self.servers[server].deadlines.insert(gate.clone(), due);
        self.after(delay, Happening::Deadline { server, life, gate });
    }

    pub(super) fn deadline(&mut self, server: usize, life: u64, gate: GateId) {
        if self.is_alive(server, life) && self.servers[server].deadlines.remove(&gate).is_some() {
            self.bring(server, Input::TimedOut { gate }, Waiting::Nobody);
        }
    }

    /// A tool does something.
    pub(super) fn bring_work(&mut self, server: usize, run: u64, call: CallId, does: ToolDoes) {
        let waiting = match does {
            ToolDoes::Ask { .. } | ToolDoes::Record { .. } => Waiting::Run(run),
            ToolDoes::Progress { .. } | ToolDoes::Settle { .. } | ToolDoes::Return { .. } => {
                Waiting::Nobody
            }
        };
        self.bring(server, Input::Tool { run, call, does }, waiting);
    }

    /// A long-running call is done.
    pub(super) fn bring_result(&mut self, server: usize, call: CallId) {
        let output = json!("delivered");
        let outcome = Outcome::Output { output };
        self.bring(server, Input::Result { call, outcome }, Waiting::Nobody);
    }

    /// Whether a decision lets a tool go on.
    pub(super) fn is_yes(decision: &Decision) -> bool {
        matches!(
            decision,
            Decision::Approved { .. } | Decision::Output { .. }
        )
    }
}
