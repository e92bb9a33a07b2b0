//! Time, and what goes wrong.

use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use turn::At;

use super::chance::Chance;
use super::person::People;
use super::schedule::{Due, Happening};
use super::server::{Server, Waiting};
use super::store::{Store, Way};
use super::tool::{ACT, Ledger};
use super::watch::{Watch, Watched};
use super::{Bug, Story, Tally};

/// How long a server that gives no sign of life counts as alive, in milliseconds.
pub(super) const LEASE: u64 = 4_000;

/// How long the world may take to become quiet once it is healed. Clocks may be wrong by a lease, a
/// chat that nothing happens to is evicted after a while, and people wait for a while.
const RECOVERY: u64 = 240_000;

/// How many inputs the chat may take in all: one that goes round in circles takes more.
const STEPS: u64 = 20_000;

/// How often each fault happens in a schedule: once in this many times, or never.
struct Odds {
    crash: u64,
    crashes_left: u64,
    store: u64,
    doubt: u64,
    wire: u64,
    late: u64,
}

/// A schedule as it happens.
pub(super) struct World {
    pub(super) chance: Chance,
    pub(super) bug: Option<Bug>,
    pub(super) now: u64,
    pub(super) store: Store,
    pub(super) ledger: Ledger,
    pub(super) servers: Vec<Server>,
    pub(super) people: People,
    pub(super) tally: Tally,
    pub(super) faults: Vec<String>,
    pub(super) queue: BinaryHeap<Due>,
    pub(super) foreseen: u64,
    /// How much of what is foreseen is more than maintenance.
    pub(super) pending: usize,
    pub(super) is_healed: bool,
    /// Where there are two primaries: the other one, and who reaches it.
    pub(super) fork: Option<(Store, Vec<bool>)>,
    /// Whether anything was written to a primary that is gone: then nothing can be promised but an end.
    pub(super) has_lost_writes: bool,
    /// The windows that are open, and those that were.
    pub(super) watching: Vec<Watch>,
    pub(super) watched: Vec<Watched>,
    /// How many inputs were taken in.
    pub(super) steps: u64,
    ids: Arc<AtomicU64>,
    odds: Odds,
    cut_peers: Vec<((usize, usize), u64)>,
    lines: Option<Vec<String>>,
}

impl World {
    pub(super) fn new(seed: u64, bug: Option<Bug>, is_recorded: bool) -> Self {
        let mut chance = Chance::new(seed);
        let count = if chance.one_in(3) { 3 } else { 2 };
        let is_skewed = chance.one_in(3);
        let ids = Arc::new(AtomicU64::new(1));
        let servers = (0..count).map(|index| {
            let skew = if is_skewed {
                chance.below(2 * LEASE)
            } else {
                0
            };
            Server::new(index, 0, skew, bug, &ids)
        });
        let servers = servers.collect();
        let odds = Odds {
            crash: *chance.pick(&[0, 6, 20, 60]),
            crashes_left: chance.below(4),
            store: *chance.pick(&[0, 0, 12, 40]),
            doubt: *chance.pick(&[0, 8, 30]),
            wire: *chance.pick(&[0, 6, 20]),
            late: *chance.pick(&[0, 3, 10]),
        };
        let people = People::new(&mut chance);
        let mut world = Self {
            chance,
            bug,
            now: 100_000,
            store: Store::default(),
            ledger: Ledger::default(),
            servers,
            people,
            tally: Tally::default(),
            faults: Vec::new(),
            queue: BinaryHeap::new(),
            foreseen: 0,
            pending: 0,
            is_healed: false,
            fork: None,
            has_lost_writes: false,
            watching: Vec::new(),
            watched: Vec::new(),
            steps: 0,
            ids,
            odds,
            cut_peers: Vec::new(),
            lines: is_recorded.then(Vec::new),
        };
        world.foresee(count);
        world
    }

    pub(super) fn is_late(&mut self) -> bool {
        !self.is_healed && self.chance.one_in(self.odds.late)
    }

    /// Whether something that travels is lost, or comes twice: who asks knows which.
    pub(super) fn is_mishandled(&mut self) -> bool {
        !self.is_healed && self.chance.one_in(self.odds.wire)
    }

    /// Records what happens, if that is wanted.
    pub(super) fn trace(&mut self, line: impl FnOnce(&Self) -> String) {
        if self.lines.is_some() {
            let line = format!("{:>7} {}", self.now - 100_000, line(self));
            if let Some(lines) = &mut self.lines {
                lines.push(line);
            }
        }
    }

    /// The time by the clock of a server.
    pub(super) fn clock(&self, server: usize) -> At {
        At(self.now + self.servers[server].skew - LEASE)
    }

    pub(super) fn play(mut self) -> Story {
        // A panic is a fault like any other, and its seed is to be named.
        let held = catch_unwind(AssertUnwindSafe(|| {
            self.run();
            self.judge();
        }));
        if held.is_err() {
            self.fault("somebody panicked".to_owned());
        }
        self.tally.entries = self.store.entries.len() as u64;
        Story {
            faults: self.faults,
            lines: self.lines.unwrap_or_default(),
            tally: self.tally,
        }
    }

    pub(super) fn fault(&mut self, fault: String) {
        self.trace(|_| format!("fault: {fault}"));
        self.faults.push(fault);
    }

    fn run(&mut self) {
        let mut end = u64::MAX;
        while let Some(due) = self.queue.peek() {
            if self.is_healed {
                end = end.min(self.now + RECOVERY);
                let is_quiet = self.pending == 0 && !self.store.is_running();
                if is_quiet || due.at > end {
                    break;
                }
            }
            if self.steps > STEPS {
                return self.fault("the chat goes round in circles".to_owned());
            }
            self.next();
        }
    }

    /// Lets happen what comes next.
    fn next(&mut self) {
        let Some(due) = self.queue.pop() else { return };
        self.now = self.now.max(due.at);
        if !matches!(due.what, Happening::Maintenance(_)) {
            self.pending -= 1;
        }
        match due.what {
            Happening::Maintenance(server) => self.maintain(server),
            Happening::Arrive {
                server,
                life,
                input,
                waiting,
            } => self.arrive(server, life, *input, waiting),
            Happening::Reach {
                server,
                life,
                number,
                operation,
            } => self.reach(server, life, number, *operation),
            Happening::Stored {
                server,
                life,
                number,
                stored,
            } => self.stored(server, life, number, stored),
            Happening::Deadline { server, life, gate } => self.deadline(server, life, gate),
            Happening::Again(delivery) => {
                let (front, life) = (delivery.front, delivery.life);
                self.deliver_to(front, life, delivery);
            }
            // What an earlier life of a server foresaw does not happen.
            Happening::Tool { server, life, .. }
            | Happening::Later { server, life, .. }
            | Happening::Notified { server, life }
                if !self.is_alive(server, life) => {}
            Happening::Tool { server, run, .. } => self.tool_goes_on(server, run),
            Happening::Later { server, call, .. } => {
                self.trace(|_| format!("server {server}: {call} is done at last"));
                self.ledger.execute(&call, ACT);
                self.bring_result(server, call);
            }
            Happening::Notified { server, .. } => self.catch_up(server),
            Happening::Person => self.person(),
            Happening::Send(request) => self.send(request),
            Happening::Reply { request, response } => self.receive_response(request, response),
            Happening::TimeLimit { request, tries } => self.reach_time_limit(request, tries),
            Happening::Crash(server) => self.crash(server),
            Happening::Restart(server) => self.restart(server),
            Happening::OnePrimary => self.join(),
            Happening::Heal => self.heal(),
            what if !self.is_healed => self.befall(what),
            _ => {}
        }
    }

    /// Something goes wrong for a while.
    fn befall(&mut self, what: Happening) {
        match what {
            Happening::CutFromStore { server, until } => {
                self.trace(|_| format!("server {server} is cut from the store"));
                self.servers[server].way.cut_until = until;
            }
            Happening::Silence { server, until } => {
                self.trace(|_| format!("the store is silent to server {server}"));
                self.servers[server].way.silent_until = until;
            }
            Happening::Lag { server, until, lag } => {
                self.trace(|_| format!("server {server} reads what is {lag} ms old"));
                self.servers[server].way.lags = (until, lag);
            }
            Happening::OldPrimary { server, until } => {
                self.trace(|_| format!("server {server} reads from a primary that was"));
                let length = self.store.entries.len();
                self.servers[server].way.reads_old = Some((until, length));
            }
            Happening::TwoPrimaries { servers, until } if self.fork.is_none() => {
                self.trace(|_| format!("there are two primaries: {servers:?}"));
                self.tally.two_primaries += 1;
                self.fork = Some((self.store.clone(), servers));
                self.after(until - self.now, Happening::OnePrimary);
            }
            Happening::ClockJumps { server, skew } => {
                self.trace(|_| format!("the clock of server {server} jumps"));
                self.tally.clock_jumps += 1;
                self.servers[server].skew = skew;
            }
            Happening::CutPeers { between, until } => {
                self.trace(|_| format!("servers {between:?} are cut from each other"));
                self.cut_peers.push((between, until));
            }
            _ => {}
        }
    }

    fn heal(&mut self) {
        self.trace(|_| "all is healed".to_owned());
        self.join();
        self.is_healed = true;
        self.cut_peers.clear();
        for server in 0..self.servers.len() {
            self.servers[server].way = Way::default();
            self.restart(server);
        }
    }

    /// Whether a life of a server goes on.
    pub(super) fn is_alive(&self, server: usize, life: u64) -> bool {
        let server = &self.servers[server];
        server.is_up && server.life == life
    }

    pub(super) fn can_reach(&self, from: usize, to: usize) -> bool {
        let is_cut = self.cut_peers.iter().any(|(between, until)| {
            let is_meant = *between == (from, to) || *between == (to, from);
            is_meant && *until > self.now
        });
        self.servers[to].is_up && (from == to || !is_cut)
    }

    pub(super) fn crash(&mut self, server: usize) {
        if self.is_healed || !self.servers[server].is_up {
            return;
        }
        self.trace(|_| format!("server {server} dies"));
        self.tally.crashes += 1;
        let (life, skew) = (self.servers[server].life + 1, self.servers[server].skew);
        let mut dead = std::mem::replace(
            &mut self.servers[server],
            Server::new(server, life, skew, self.bug, &self.ids),
        );
        self.servers[server].is_up = false;
        self.servers[server].way = dead.way.clone();
        for delivery in dead.deliveries() {
            self.nobody_there(Waiting::Person(delivery));
        }
        self.read_windows(server);
        let rest = self.chance.between(10, 2 * LEASE);
        self.after(rest, Happening::Restart(server));
    }

    fn restart(&mut self, server: usize) {
        if !self.servers[server].is_up {
            self.trace(|_| format!("server {server} starts again"));
            self.servers[server].is_up = true;
            // What an earlier process left is looked for at once.
            self.look_around(server);
        }
    }

    /// A server may die wherever it waits.
    pub(super) fn maybe_crash(&mut self, server: usize) {
        if !self.is_healed && self.odds.crashes_left > 0 && self.chance.one_in(self.odds.crash) {
            self.odds.crashes_left -= 1;
            self.crash(server);
        }
    }

    pub(super) fn is_store_failing(&mut self) -> bool {
        !self.is_healed && self.chance.one_in(self.odds.store)
    }

    /// Whether the store's word that an entry is stored gets lost.
    pub(super) fn is_doubtful(&mut self) -> bool {
        !self.is_healed && self.chance.one_in(self.odds.doubt)
    }

    /// The journal has grown: each server is notified, or not, or twice.
    pub(super) fn notify(&mut self) {
        for server in 0..self.servers.len() {
            let life = self.servers[server].life;
            let times = match self.is_mishandled() {
                true => *self.chance.pick(&[0, 2]),
                false => 1,
            };
            for _ in 0..times {
                self.travel(Happening::Notified { server, life });
            }
        }
    }
}
