//! The crash simulator: servers that die, stores that lie and people who click twice, in virtual
//! time, on one thread, from a seed.
//!
//! A schedule is one chat on two or three servers over one store. The decisions are those of the
//! real [`turn::Chat`], and which turn needs somebody is what the store's own
//! [`Standing`](::store::index::Standing) says; around them stands a small model of what the engine does with them: read, claim, decide,
//! append, act; hold leases; take over; carry errands to the owner. Every store operation is a
//! place where other things happen first, where it fails, where it is done and fails all the same,
//! or where the server dies. The world outside is a ledger of what was really executed, and when
//! everything is healed and quiet, a judge compares it with the journal and with what people were
//! told.
//!
//! A seed is a whole schedule: the same seed tells the same story. `simulate --seed N` prints it.
//!
//! # Layout
//!
//! - `world`: time, and what goes wrong; `schedule`: what is yet to happen.
//! - `server`: what the engine does with a chat; `beat`: by itself; `errand`: with what is
//!   asked of it; `model` and `task`: the model and the tools that it runs.
//! - `store`: the journal and the lease; `person`: who writes, answers, stops and tries again.
//! - `tool`: the tools, and the ledger; `judge`: what must hold; `chance`: the dice.

mod beat;
mod chance;
mod errand;
mod judge;
mod model;
mod person;
mod schedule;
mod server;
mod store;
mod task;
mod tool;
mod world;

use self::world::World;

/// A mistake that can be planted, to see that it is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// Acts before the journal says so.
    EffectBeforeJournal,
    /// Tells people that they were heard before the journal says so.
    AnswerBeforeJournal,
    /// After a crash, runs tools again that did not declare that they may be.
    RunAgain,
    /// Acts although somebody else was first.
    ConflictIgnored,
    /// After a conflict, takes in a message without a look at whether it came meanwhile.
    StaleIntake,
    /// Hears tools that were let go, and leaves them running when they are run again.
    StaleWork,
    /// Never looks whether others wrote to the journal of a chat that it has the lease of. Rare: it
    /// takes tens of thousands of seeds.
    BlindOwner,
    /// Takes a lease that could not be had for a failure of what is in the journal already. As rare.
    LeaseFailsTheWork,
}

impl Bug {
    /// All of them, with their names on the command line.
    pub const ALL: [(&'static str, Self); 8] = [
        ("effect-before-journal", Self::EffectBeforeJournal),
        ("answer-before-journal", Self::AnswerBeforeJournal),
        ("run-again", Self::RunAgain),
        ("conflict-ignored", Self::ConflictIgnored),
        ("stale-intake", Self::StaleIntake),
        ("stale-work", Self::StaleWork),
        ("blind-owner", Self::BlindOwner),
        ("lease-fails-the-work", Self::LeaseFailsTheWork),
    ];
}

/// What a schedule came to.
#[derive(Debug, Clone, Default)]
pub struct Story {
    /// What did not hold, as sentences.
    pub faults: Vec<String>,
    /// All that happened, in order, if it was to be told.
    pub lines: Vec<String>,
    /// How much happened.
    pub tally: Tally,
}

/// How much happened in a schedule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Entries in the journal.
    pub entries: u64,
    /// Servers that died.
    pub crashes: u64,
    /// Appends that came late.
    pub conflicts: u64,
    /// Appends that were stored, and whose server was told that they were not.
    pub doubtful: u64,
    /// Turns that were claimed.
    pub claims: u64,
    /// Errands that were carried to another server.
    pub carried: u64,
    /// What tools did outside.
    pub executions: u64,
    /// Calls whose outcome is called unknown.
    pub unknown: u64,
    /// Answers that people were told of.
    pub acknowledged: u64,
    /// Answers to gates that were closed otherwise.
    pub contradicted: u64,
}

impl Tally {
    /// Adds another schedule's.
    pub fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.crashes += other.crashes;
        self.conflicts += other.conflicts;
        self.doubtful += other.doubtful;
        self.claims += other.claims;
        self.carried += other.carried;
        self.executions += other.executions;
        self.unknown += other.unknown;
        self.acknowledged += other.acknowledged;
        self.contradicted += other.contradicted;
    }
}

/// Plays the schedule of a seed to its end.
pub fn play(seed: u64, bug: Option<Bug>) -> Story {
    World::new(seed, bug, false).play()
}

/// The same, and tells all that happens.
pub fn tell(seed: u64, bug: Option<Bug>) -> Story {
    World::new(seed, bug, true).play()
}
