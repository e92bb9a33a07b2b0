//! What is yet to happen, in its order.

use std::cmp::Ordering;

use turn::{CallId, GateId};

use engine::driver::{Input, Operation, Stored};
use store::StoreError;

use super::network::Delivery;
use super::person::{Request, Response};
use super::server::Waiting;
use super::world::{LEASE, World};

/// Something that is yet to happen.
pub(super) enum Happening {
    /// A server renews its leases and looks for turns that nobody runs.
    Maintenance(usize),
    /// Something reaches a chat's task; if its server has died since, nobody.
    Arrive {
        server: usize,
        life: u64,
        input: Box<Input>,
        waiting: Waiting,
    },
    /// An operation reaches the store.
    Reach {
        server: usize,
        life: u64,
        number: u64,
        operation: Box<Operation>,
    },
    /// A server gets the result of an operation.
    Stored {
        server: usize,
        life: u64,
        number: u64,
        stored: Result<Stored, StoreError>,
    },
    /// A gate's time is up.
    Deadline {
        server: usize,
        life: u64,
        gate: GateId,
    },
    /// A server that looks for who has the chat tries again.
    Again(Delivery),
    /// A tool does what comes next.
    Tool { server: usize, life: u64, run: u64 },
    /// A long-running call is done.
    Later {
        server: usize,
        life: u64,
        call: CallId,
    },
    /// A server learns that the journal has grown.
    Notified { server: usize, life: u64 },
    /// A person looks at the chat, and does something.
    Person,
    /// A client sends, or sends again.
    Send(Request),
    /// A client gets the response to a request.
    Reply { request: u64, response: Response },
    /// A client has waited long enough for a reply to one of its tries.
    TimeLimit { request: u64, tries: u32 },
    /// A server dies.
    Crash(usize),
    /// A server starts again.
    Restart(usize),
    /// A server can't reach the store for a while.
    CutFromStore { server: usize, until: u64 },
    /// A server gets no answer from the store for a while.
    Silence { server: usize, until: u64 },
    /// What a server reads is old for a while.
    Lag { server: usize, until: u64, lag: u64 },
    /// What a server reads comes from a primary that was, for a while.
    OldPrimary { server: usize, until: u64 },
    /// Some servers write to a primary of their own, for a while.
    TwoPrimaries { servers: Vec<bool>, until: u64 },
    /// The primary of their own is gone, with what was written there.
    OnePrimary,
    /// The clock of a server jumps.
    ClockJumps { server: usize, skew: u64 },
    /// Two servers can't reach each other for a while.
    CutPeers { between: (usize, usize), until: u64 },
    /// Nothing goes wrong from here on.
    Heal,
}

/// Something, and when it is due.
pub(super) struct Due {
    pub(super) at: u64,
    /// What is due at the same time happens in the order in which it was foreseen.
    order: u64,
    pub(super) what: Happening,
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    // The heap gives its greatest first, and that is to be the next.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl World {
    /// Foresees the maintenance, the people, and the great misfortunes.
    pub(super) fn foresee(&mut self, count: usize) {
        for server in 0..count {
            let first = self.chance.below(LEASE / 4);
            self.after(first, Happening::Maintenance(server));
        }
        let length = self.chance.between(2_000, 30_000);
        let misfortunes = self.chance.below(5);
        for _ in 0..misfortunes {
            let at = self.chance.below(length);
            let server = self.chance.index(count);
            let until = self.now + at + self.chance.between(100, 3 * LEASE);
            let what = match self.chance.below(12) {
                0 | 1 => Happening::CutFromStore { server, until },
                2..=4 => Happening::Crash(server),
                5 => Happening::Silence { server, until },
                6 => {
                    let lag = self.chance.between(20, 2 * LEASE);
                    Happening::Lag { server, until, lag }
                }
                7 => Happening::OldPrimary { server, until },
                8 => Happening::ClockJumps {
                    server,
                    skew: 1 + self.chance.below(20 * LEASE),
                },
                9 if self.chance.one_in(4) => {
                    let servers = (0..count).map(|other| other == server).collect();
                    Happening::TwoPrimaries { servers, until }
                }
                _ => {
                    let between = (server, (server + 1) % count);
                    Happening::CutPeers { between, until }
                }
            };
            self.after(at, what);
        }
        self.after(0, Happening::Person);
        self.after(length, Happening::Heal);
    }

    /// Schedules something, this many milliseconds from now.
    pub(super) fn after(&mut self, delay: u64, what: Happening) {
        if !matches!(what, Happening::Maintenance(_)) {
            self.pending += 1;
        }
        self.foreseen += 1;
        self.queue.push(Due {
            at: self.now + delay,
            order: self.foreseen,
            what,
        });
    }

    /// Foresees something that has to travel: it may be late, and so come after what was sent later.
    pub(super) fn travel(&mut self, what: Happening) {
        let delay = match self.is_late() {
            true => self.chance.between(100, 2 * LEASE),
            false => self.chance.between(1, 20),
        };
        self.after(delay, what);
    }
}
