//! The crash simulator: servers that die, stores that lie and people who click twice, in virtual
//! time, on one thread, from a seed.
//!
//! A schedule is one chat on two or three servers over one store. Each server runs the shipped
//! [`engine::driver::Driver`]; what carries its actions out here is small: operations that
//! reach the store late, fail, are done and fail all the same, or are never answered; tools that write
//! into a ledger; people who get replies. Servers die, clocks jump, reads lag, and there may be two
//! primaries. When everything is healed and quiet, a judge compares the journal with the ledger, with
//! the replies that people got, and with what every window showed, as the real client would show it.
//!
//! A seed is a whole schedule: the same seed tells the same story. `simulate --seed N` prints it.
//!
//! # Layout
//!
//! - `world`: time, and what goes wrong; `schedule`: what is yet to happen.
//! - `server`: a server, which carries out what its driver wants; `run`: the model and tools that it
//!   runs; `maintenance`: what it does by itself; `network`: how commands reach who has the chat.
//! - `store`: the journal and the lease, and the way there; `person`: who writes, answers, stops and
//!   tries again; `watch`: the windows that they have open.
//! - `tool`: the tools, and the ledger; `judge`: what must hold; `chance`: the dice.

mod chance;
mod judge;
mod maintenance;
mod network;
mod person;
mod run;
mod schedule;
mod server;
mod store;
mod tool;
mod watch;
mod world;

use self::world::World;

/// A mistake that can be planted in what carries a driver's actions out, to see that it is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// Says that an entry is stored before it is.
    EffectBeforeJournal,
    /// Acknowledges a message before the journal has it.
    AnswerBeforeJournal,
    /// After a crash, runs tools again that did not declare that they may be.
    RunAgain,
    /// Takes a conflict for success.
    ConflictIgnored,
    /// Leaves tools running after their chat was evicted, and takes their results.
    StaleWork,
    /// Tells somebody who said no that the call was denied, whatever became of it.
    DeniedUnknown,
    /// Tries again for ever where a journal keeps conflicting.
    EndlessRetry,
    /// Opens a window on the current turn for a client that goes on with an older one.
    CurrentTurn,
    /// Never looks whether others wrote to the journal of a chat that it has the lease of. Rare: it
    /// takes thousands of seeds.
    BlindOwner,
    /// Takes a turn for running once a question of an agent is answered, though the agent waits for the
    /// answers to others.
    AnsweredRuns,
}

impl Bug {
    /// All of them, with their names on the command line.
    pub const ALL: [(&'static str, Self); 10] = [
        ("effect-before-journal", Self::EffectBeforeJournal),
        ("answer-before-journal", Self::AnswerBeforeJournal),
        ("run-again", Self::RunAgain),
        ("conflict-ignored", Self::ConflictIgnored),
        ("stale-work", Self::StaleWork),
        ("denied-unknown", Self::DeniedUnknown),
        ("endless-retry", Self::EndlessRetry),
        ("current-turn", Self::CurrentTurn),
        ("blind-owner", Self::BlindOwner),
        ("answered-runs", Self::AnsweredRuns),
    ];
}

/// What a schedule came to.
#[derive(Debug, Clone, Default)]
pub struct Story {
    /// What did not hold, as sentences.
    pub faults: Vec<String>,
    /// All that happened, in order, if it was to be recorded.
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
    /// Appends that were stored, and whose server got an error.
    pub doubtful: u64,
    /// Turns that were claimed.
    pub claims: u64,
    /// Commands that were forwarded to another server.
    pub carried: u64,
    /// What tools did outside.
    pub executions: u64,
    /// Calls whose outcome is called unknown.
    pub unknown: u64,
    /// Answers that were acknowledged.
    pub acknowledged: u64,
    /// Answers to gates that were closed otherwise.
    pub contradicted: u64,
    /// Reads that gave a journal as it was, while it had grown.
    pub old_reads: u64,
    /// Operations to which the store said nothing.
    pub unanswered: u64,
    /// Times in which there were two primaries.
    pub two_primaries: u64,
    /// Clocks that jumped.
    pub clock_jumps: u64,
    /// Edits and regenerations that opened a turn.
    pub cuts: u64,
    /// Messages that waited, and then opened a turn.
    pub queued: u64,
    /// Messages that waited, and were given to the agent in the middle of a turn.
    pub injected: u64,
    /// Messages that waited, and were withdrawn.
    pub withdrawn: u64,
    /// Branches that were selected, or were there already.
    pub selections: u64,
    /// Calls that the agent ran by itself, and asked about.
    pub own_questions: u64,
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
        self.old_reads += other.old_reads;
        self.unanswered += other.unanswered;
        self.two_primaries += other.two_primaries;
        self.clock_jumps += other.clock_jumps;
        self.cuts += other.cuts;
        self.queued += other.queued;
        self.injected += other.injected;
        self.withdrawn += other.withdrawn;
        self.selections += other.selections;
        self.own_questions += other.own_questions;
    }
}

/// Plays the schedule of a seed to its end.
pub fn play(seed: u64, bug: Option<Bug>) -> Story {
    World::new(seed, bug, false).play()
}

/// The same, and records all that happens.
pub fn play_traced(seed: u64, bug: Option<Bug>) -> Story {
    World::new(seed, bug, true).play()
}
