//! What a server does by itself from time to time: the maintenance loop of `engine::maintenance`, for the one
//! chat that there is.

use engine::driver::Input;
use turn::At;

use super::Bug;
use super::schedule::Happening;
use super::server::Waiting;
use super::world::{LEASE, World};

/// How long a chat that nothing happens to is kept.
const IDLE: u64 = 5_000;

/// How late a timer must be for its server to be taken for dead.
const LATE: u64 = 2_000;

impl World {
    /// Renews the lease, and looks for what others left.
    pub(super) fn maintain(&mut self, server: usize) {
        let late = match self.is_mishandled() {
            true => self.chance.between(LEASE / 4, 3 * LEASE),
            false => 0,
        };
        self.after(LEASE / 4 + late, Happening::Maintenance(server));
        let way = &self.servers[server].way;
        let is_away = way.cut_until.max(way.silent_until) > self.now;
        if !self.servers[server].is_up || is_away {
            return;
        }
        let now = self.clock(server);
        if let Some((epoch, seq)) = self.servers[server].driver.held() {
            let holder = self.holder(server);
            let store = self.store_of(server);
            let is_behind = store.entries.len() as u64 != seq;
            if !store.hold(holder, epoch, now, At(now.0 + LEASE)) {
                self.bring(server, Input::Lost, Waiting::Nobody);
            } else if self.bug != Some(Bug::BlindOwner) && is_behind {
                self.bring(server, Input::Compare, Waiting::Nobody);
            }
        }
        if std::mem::take(&mut self.servers[server].was_left) {
            self.bring(server, Input::Wake, Waiting::Nobody);
        }
        self.look_around(server);
        self.catch_up(server);
        let idle = &self.servers[server];
        let is_old = idle.active + IDLE < self.now;
        if idle.driver.chat().is_some() && is_old && idle.is_idle() {
            self.trace(|_| format!("server {server} evicts the idle chat"));
            self.retire(server);
        }
    }

    /// Takes up turns that nobody runs, and timers of servers that died.
    pub(super) fn look_around(&mut self, server: usize) {
        let (clock, now) = (self.clock(server), self.now);
        let store = self.store_of(server);
        let (is_orphaned, was_left) = (store.is_orphaned(clock), store.has_lease());
        let turn = store.truth.current().filter(|turn| turn.end().is_none());
        let late = turn.and_then(|turn| {
            turn.open_gates().find_map(|gate| {
                let is_late = gate.expires.is_some_and(|at| at.0 + LATE < clock.0);
                is_late.then(|| gate.id.clone())
            })
        });
        let here = &mut self.servers[server];
        here.suspected = is_orphaned.then(|| here.suspected.unwrap_or(now));
        // One that never had a lease may have been opened a moment ago.
        if here
            .suspected
            .is_some_and(|since| was_left || since + LEASE / 2 < now)
        {
            self.bring(server, Input::Wake, Waiting::Nobody);
        }
        if let Some(gate) = late {
            self.bring(server, Input::TimedOut { gate }, Waiting::Nobody);
        }
    }

    /// Reads what the journal has beyond what was read.
    pub(super) fn catch_up(&mut self, server: usize) {
        let reader = &mut self.servers[server].reader;
        let start = usize::try_from(reader.seq()).unwrap_or(usize::MAX);
        let rest = self.store.entries.get(start..).unwrap_or_default();
        rest.iter().for_each(|entry| reader.append(entry));
    }
}
