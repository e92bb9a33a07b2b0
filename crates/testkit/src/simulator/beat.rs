//! What a server does by itself, beat by beat, and whose the chat is: `engine::beat` and
//! `engine::actor::lease`, in small.

use super::Bug;
use super::schedule::Happening;
use super::server::{Command, Trouble};
use super::world::{LEASE, World};

/// How long a chat that nothing happens to is kept.
const IDLE: u64 = 5_000;

/// How late a timer must be for its server to be taken for dead.
const LATE: u64 = 2_000;

impl World {
    /// Renews the lease, and looks for what others left: `Engine::keep`.
    pub(super) fn beat(&mut self, server: usize) {
        let late = match self.is_mishandled() {
            true => self.chance.between(LEASE / 4, 3 * LEASE),
            false => 0,
        };
        self.after(LEASE / 4 + late, Happening::Beat(server));
        let is_cut = self.servers[server].cut_until > self.now;
        if !self.servers[server].is_up || is_cut {
            return;
        }
        let now = self.clock(server);
        if let Some(epoch) = self.servers[server].held {
            let name = self.name(server);
            let expires = turn::At(now.0 + LEASE);
            if !self.store.hold(&name, server, epoch, now, expires) {
                self.bring(server, Command::Lost);
            } else if self.bug != Some(Bug::BlindOwner) && self.is_behind(server) {
                self.bring(server, Command::Compare);
            }
        }
        if std::mem::take(&mut self.servers[server].was_left) {
            self.bring(server, Command::Wake);
        }
        self.look_around(server);
        self.catch_up(server);
        let idle = &self.servers[server];
        let is_old = idle.active + IDLE < self.now;
        if idle.chat.is_some() && !idle.is_busy && is_old && idle.is_idle() {
            self.tell(|_| format!("server {server} lets the idle chat go"));
            self.servers[server].chat = None;
            if self.servers[server].held.take().is_some() {
                let name = self.name(server);
                self.store.release(&name);
            }
        }
    }

    fn is_behind(&self, server: usize) -> bool {
        let chat = self.servers[server].chat.as_ref();
        chat.is_some_and(|chat| chat.seq() < self.store.entries.len() as u64)
    }

    /// A lease may have come from one who lives, and who wrote once more before it knew.
    pub(super) fn compare(&mut self, server: usize) -> Result<(), Trouble> {
        self.reach_store(server)?;
        if self.is_behind(server) {
            self.let_go(server);
        }
        self.chat(server)
    }

    /// Takes up turns that nobody runs, and timers of servers that died.
    pub(super) fn look_around(&mut self, server: usize) {
        let now = self.clock(server);
        if self.store.is_ownerless(now) {
            self.bring(server, Command::Wake);
        }
        let turn = self.store.truth.current();
        let turn = turn.filter(|turn| turn.end().is_none());
        let late = turn.and_then(|turn| {
            turn.open_gates().find_map(|gate| {
                let is_late = gate.expires.is_some_and(|at| at.0 + LATE < now.0);
                is_late.then(|| gate.id.clone())
            })
        });
        if let Some(gate) = late {
            self.bring(server, Command::TimedOut { gate });
        }
    }

    /// Reads what the journal has beyond what was read.
    pub(super) fn catch_up(&mut self, server: usize) {
        let reader = &mut self.servers[server].reader;
        let start = usize::try_from(reader.seq()).unwrap_or(usize::MAX);
        let rest = self.store.entries.get(start..).unwrap_or_default();
        rest.iter().for_each(|entry| reader.append(entry));
    }

    pub(super) fn require_free(&mut self, server: usize) -> Result<(), Trouble> {
        self.reach_store(server)?;
        let (name, now) = (self.name(server), self.clock(server));
        let lease = self.store.lease.as_ref();
        match lease.filter(|lease| lease.owner != name && lease.expires > now) {
            Some(lease) => Err(Trouble::Elsewhere(lease.server)),
            None => Ok(()),
        }
    }

    pub(super) fn hold(&mut self, server: usize) -> Result<(), Trouble> {
        let Some(chat) = &self.servers[server].chat else {
            return Ok(());
        };
        let epoch = chat.epoch();
        if chat.seq() == 0 || self.servers[server].held.is_some() {
            return Ok(());
        }
        self.reach_store(server)?;
        let (name, now) = (self.name(server), self.clock(server));
        let expires = turn::At(now.0 + LEASE);
        if self.store.hold(&name, server, epoch, now, expires) {
            self.servers[server].held = Some(epoch);
            return Ok(());
        }
        let owner = self.store.lease.as_ref().map(|lease| lease.server);
        self.let_go(server);
        Err(Trouble::Elsewhere(owner.unwrap_or(server)))
    }
}
