//! The store of one chat: its journal and its lease, and what goes wrong on the way to it.

use store::{Appended, Holder, Lease, NewEntry, StoreError};
use turn::{At, Chat, Entry, Event, OpenTurn};
use view::ShownChat;

use engine::driver::{CONFLICTS, Input, Operation, Stored};

use super::Bug;
use super::schedule::Happening;
use super::world::{LEASE, World};

/// How long a server waits for a store that is silent.
const TIMEOUT: u64 = 5_000;

/// The journal and the lease of one chat.
#[derive(Clone, Default)]
pub(super) struct Store {
    pub(super) entries: Vec<Entry>,
    /// When each of them was stored.
    stored: Vec<u64>,
    /// The turn that is open, as it was handed over with the last entry.
    open: Option<OpenTurn>,
    lease: Option<Lease>,
    /// The lease that was there before.
    lease_before: Option<Lease>,
    /// The journal as it is, folded entry by entry: what a page sees that sees everything.
    pub(super) truth: ShownChat,
}

/// What the way from a server to the store is like.
#[derive(Clone, Default)]
pub(super) struct Way {
    /// Nothing gets through until then, and the server gets an error at once.
    pub(super) cut_until: u64,
    /// Nothing is answered until then; what was sent may arrive.
    pub(super) silent_until: u64,
    /// What is read is old until then, by so much.
    pub(super) lags: (u64, u64),
    /// What is read comes from a former primary until then: its journal has this many entries.
    pub(super) reads_old: Option<(u64, usize)>,
}

impl Store {
    /// Appends behind the last entry that the caller has seen; nothing, if that is not the last.
    fn append(&mut self, now: u64, expected: u64, mut entry: NewEntry) -> Appended {
        let seq = self.entries.len() as u64;
        if seq != expected {
            return Appended::Conflict { seq };
        }
        let seq = seq + 1;
        let open = entry.open.take();
        let entry = Entry {
            seq,
            at: entry.at,
            actor: entry.actor,
            events: entry.events,
        };
        self.open = open;
        self.truth.append(&entry);
        self.entries.push(entry);
        self.stored.push(now);
        Appended::Ok { seq }
    }

    /// Takes or renews the lease, and says whether it was to be had.
    pub(super) fn hold(&mut self, holder: Holder, epoch: u64, now: At, expires: At) -> bool {
        let lease = self.lease.as_ref();
        let is_free = lease.is_none_or(|lease| lease.yields_to(&holder.owner, epoch, now));
        let is_had = is_free && !self.entries.is_empty();
        if is_had {
            self.lease_before = self.lease.replace(Lease {
                chat: "c".into(),
                epoch,
                holder,
                expires,
            });
        }
        is_had
    }

    fn release(&mut self, owner: &str) {
        let lease = self.lease.take_if(|lease| lease.holder.owner == owner);
        self.lease_before = lease.or(self.lease_before.take());
    }

    /// Whether the turn needs somebody, and nobody's lease covers it.
    pub(super) fn is_orphaned(&self, now: At) -> bool {
        let is_covered = self.lease.as_ref().is_some_and(|lease| lease.expires > now);
        self.is_running() && !is_covered
    }

    pub(super) fn has_lease(&self) -> bool {
        self.lease.is_some()
    }

    pub(super) fn is_running(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.is_running)
    }

    /// Whether an entry closes a question of an agent about a call that it runs by itself.
    fn answers_agent(&self, events: &[Event]) -> bool {
        events.iter().any(|event| match event {
            Event::GateClosed { gate, .. } => {
                let gate = self.truth.gate(gate);
                gate.is_some_and(|(_, gate, _)| gate.token.is_some())
            }
            _ => false,
        })
    }

    /// The entries as they were some time ago, or as an old primary has them.
    fn seen(&self, now: u64, way: &Way) -> &[Entry] {
        let (lags_until, lag) = way.lags;
        let mut length = self.entries.len();
        if let Some((_, old)) = way.reads_old.filter(|(until, _)| *until > now) {
            length = length.min(old);
        }
        if lags_until > now {
            let fresh = self.stored.iter().rev();
            length =
                length.min(self.stored.len() - fresh.take_while(|at| **at + lag > now).count());
        }
        &self.entries[..length]
    }
}

impl World {
    /// The store that a server reaches: where there are two primaries, maybe the wrong one.
    pub(super) fn store_of(&mut self, server: usize) -> &mut Store {
        match &mut self.fork {
            Some((fork, servers)) if servers[server] => fork,
            _ => &mut self.store,
        }
    }

    /// Sends an operation to the store.
    pub(super) fn ask_store(&mut self, server: usize, operation: Operation) {
        self.servers[server].operation += 1;
        let (life, number) = (self.servers[server].life, self.servers[server].operation);
        let way = self.servers[server].way.clone();
        let answer = |stored| Happening::Stored {
            server,
            life,
            number,
            stored,
        };
        let reach = Happening::Reach {
            server,
            life,
            number,
            operation: Box::new(operation),
        };
        if way.silent_until > self.now {
            self.trace(|_| format!("server {server} gets no answer from the store"));
            self.tally.unanswered += 1;
            if self.chance.one_in(2) {
                let late = way.silent_until - self.now + self.chance.between(1, 50);
                self.after(late, reach);
            }
            return self.after(TIMEOUT, answer(Err(away())));
        }
        if way.cut_until > self.now || self.is_store_failing() {
            self.trace(|_| format!("server {server} can't reach the store"));
            let soon = self.chance.between(1, 20);
            return self.after(soon, answer(Err(away())));
        }
        let soon = self.chance.between(1, 6);
        if let (Some(Bug::EffectBeforeJournal), Happening::Reach { operation, .. }) =
            (self.bug, &reach)
            && let Operation::Append { expected, .. } = **operation
        {
            let seq = expected + 1;
            self.after(0, answer(Ok(Stored::Appended(Appended::Ok { seq }))));
        }
        self.after(soon, reach);
    }

    /// An operation reaches the store. It may, though its server has died since.
    pub(super) fn reach(&mut self, server: usize, life: u64, number: u64, operation: Operation) {
        self.maybe_crash(server);
        if !self.is_alive(server, life) && self.chance.one_in(2) {
            return;
        }
        let mut stored = self.operate(server, operation);
        if let Ok(Stored::Appended(Appended::Ok { seq })) = stored {
            self.notify();
            if self.is_doubtful() {
                self.trace(|_| format!("server {server} gets an error for {seq}"));
                self.tally.doubtful += 1;
                stored = Err(away());
            }
        }
        let soon = self.chance.between(1, 6);
        self.after(
            soon,
            Happening::Stored {
                server,
                life,
                number,
                stored,
            },
        );
    }

    fn operate(&mut self, server: usize, operation: Operation) -> Result<Stored, StoreError> {
        let (now, clock) = (self.now, self.clock(server));
        let way = self.servers[server].way.clone();
        let holder = self.holder(server);
        let bug = self.bug;
        Ok(match operation {
            Operation::Lease => {
                let is_old = way.lags.0 > now;
                let store = self.store_of(server);
                Stored::Lease(match is_old {
                    true => store.lease_before.clone(),
                    false => store.lease.clone(),
                })
            }
            Operation::Read => {
                let store = self.store_of(server);
                let (entries, length) = (store.seen(now, &way).to_vec(), store.entries.len());
                self.tally.old_reads += u64::from(entries.len() < length);
                self.trace(|_| format!("server {server} reads {} entries", entries.len()));
                Stored::Entries(entries)
            }
            Operation::Append {
                expected,
                mut entry,
            } => {
                let kind = turn::index::kind(&entry.events);
                let is_claim = |event: &Event| matches!(event, Event::TurnClaimed { .. });
                let claims = entry.events.iter().any(is_claim);
                let store = self.store_of(server);
                if bug == Some(Bug::AnsweredRuns)
                    && store.answers_agent(&entry.events)
                    && let Some(open) = &mut entry.open
                {
                    open.is_running = true;
                }
                let mut appended = store.append(now, expected, entry);
                let (handed, folded) = (store.open.clone(), store.truth.open_turn());
                // With two primaries, a server may write behind entries that it has never read; also later,
                // where what it has read was lost with one of them.
                if handed != folded && self.fork.is_none() && !self.has_lost_writes {
                    self.fault(format!(
                        "the store is handed {handed:?}, and the journal says {folded:?}"
                    ));
                }
                self.trace(|_| match appended {
                    Appended::Ok { seq } => format!("server {server} appends {seq}: {kind}"),
                    Appended::Conflict { .. } => {
                        format!("server {server} is late with {}: {kind}", expected + 1)
                    }
                });
                match appended {
                    Appended::Ok { .. } => self.tally.claims += u64::from(claims),
                    Appended::Conflict { .. } => {
                        self.tally.conflicts += 1;
                        self.servers[server].conflicts += 1;
                        if self.servers[server].conflicts == 4 * CONFLICTS {
                            self.fault(format!("server {server} tries again for ever"));
                        }
                        if bug == Some(Bug::ConflictIgnored) {
                            appended = Appended::Ok { seq: expected + 1 };
                        }
                    }
                }
                Stored::Appended(appended)
            }
            Operation::Hold { epoch } => {
                let expires = At(clock.0 + LEASE);
                let store = self.store_of(server);
                Stored::Held(store.hold(holder, epoch, clock, expires))
            }
            Operation::Compare { seq } => {
                let seen = self.store_of(server).seen(now, &way);
                Stored::Outdated(seen.len() as u64 != seq)
            }
            Operation::GiveBack { epoch } => {
                self.store_of(server).hold(holder, epoch, clock, clock);
                Stored::Done
            }
            Operation::Release => {
                self.store_of(server).release(&holder.owner);
                Stored::Done
            }
            Operation::Delete => Stored::Done,
        })
    }

    /// A server gets the result of an operation.
    pub(super) fn stored(
        &mut self,
        server: usize,
        life: u64,
        number: u64,
        stored: Result<Stored, StoreError>,
    ) {
        self.maybe_crash(server);
        if self.is_alive(server, life) && self.servers[server].operation == number {
            self.drive(server, Input::Stored(stored));
        }
    }

    /// Where there were two primaries, one of them is gone, with what was written there. Who wrote there
    /// starts again: what it holds in memory never was.
    pub(super) fn join(&mut self) {
        let Some((fork, servers)) = self.fork.take() else {
            return;
        };
        self.trace(|_| "there is one primary again".to_owned());
        let is_known = self.store.entries.starts_with(&fork.entries);
        if !is_known {
            self.has_lost_writes = true;
            for server in (0..servers.len()).filter(|server| servers[*server]) {
                self.crash(server);
            }
        }
    }

    /// The chat as the store has it.
    pub(super) fn truth(&self) -> &Chat {
        &self.store.truth
    }
}

fn away() -> StoreError {
    StoreError::Unavailable {
        problem: "simulated".to_owned(),
    }
}
