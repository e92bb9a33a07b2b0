//! What must hold once everything is healed and quiet.
//!
//! The judge reads the journal event by event, and not by the fold that made it.

use std::collections::{BTreeMap, BTreeSet};

use turn::agent::Part;
use turn::call::Outcome;
use turn::event::Cause;
use turn::gate::Decision;
use turn::{CallId, Chat, Event, GateId, Status, TurnId};
use view::ShownChat;

use super::tool::{ACT, Deed, Tool};
use super::world::World;

/// A call, as the journal has it.
#[derive(Debug, Default)]
struct Account {
    tool: Option<Tool>,
    is_nested: bool,
    starts: u32,
    records: BTreeSet<String>,
    outcomes: Vec<Outcome>,
    /// Results that opened turns.
    results: Vec<Outcome>,
}

impl Account {
    fn is_unknown(&self) -> bool {
        let is_unknown = |outcome: &Outcome| matches!(outcome, Outcome::Unknown { .. });
        self.outcomes.iter().any(is_unknown) || self.results.iter().any(is_unknown)
    }

    fn is_pending(&self) -> bool {
        let mut outcomes = self.outcomes.iter();
        outcomes.any(|outcome| matches!(outcome, Outcome::Pending { .. }))
    }

    fn has_output(&self) -> bool {
        let is_output = |outcome: &Outcome| matches!(outcome, Outcome::Output { .. });
        self.outcomes.iter().any(is_output) || self.results.iter().any(is_output)
    }
}

/// A message that waited, as the journal's events have it.
#[derive(Debug, Default)]
struct Waited {
    /// How often it was queued.
    times: u32,
    injected: u32,
    withdrawn: u32,
}

/// A journal, as its events have it.
#[derive(Debug, Default)]
struct Books {
    calls: BTreeMap<CallId, Account>,
    /// The call that each gate holds, what it asks, and how it was closed.
    gates: BTreeMap<GateId, (CallId, bool, Vec<Decision>)>,
    /// How often each turn ended.
    turns: Vec<(TurnId, u32)>,
    /// How many turns each message opened.
    messages: BTreeMap<String, u32>,
    /// The messages that waited.
    queued: BTreeMap<String, Waited>,
    faults: Vec<String>,
}

impl Books {
    fn of(world: &World) -> Self {
        let mut books = Self::default();
        let mut epoch = 0;
        for (place, entry) in world.store.entries.iter().enumerate() {
            if entry.seq != place as u64 + 1 {
                books.fault(format!("entry {} stands at place {place}", entry.seq));
            }
            for event in &entry.events {
                if let Event::TurnClaimed { epoch: claimed, .. } = event {
                    if *claimed != epoch + 1 {
                        books.fault(format!("epoch {claimed} follows epoch {epoch}"));
                    }
                    epoch = *claimed;
                }
                books.enter(event);
            }
        }
        books
    }

    fn fault(&mut self, fault: String) {
        self.faults.push(fault);
    }

    fn account(&mut self, call: &CallId) -> &mut Account {
        self.calls.entry(call.clone()).or_default()
    }

    fn enter(&mut self, event: &Event) {
        let last = self.turns.last().cloned();
        let is_over = last
            .as_ref()
            .is_some_and(|(id, ends)| event.turn() == Some(id) && *ends > 0);
        let may_come_late = matches!(
            event,
            Event::SessionNoted { .. } | Event::BranchSelected { .. }
        );
        if is_over && !may_come_late {
            self.fault(format!("{event:?} comes after the end of its turn"));
        }
        match event {
            Event::TurnOpened { turn, cause, .. } => {
                if let Some((open, 0)) = &last {
                    let fault = format!("{turn} was opened before {open} had ended");
                    self.fault(fault);
                }
                self.turns.push((turn.clone(), 0));
                match cause {
                    Cause::Message { message } => {
                        let id = message.id.clone().unwrap_or_default();
                        *self.messages.entry(id).or_default() += 1;
                    }
                    Cause::Result { call, outcome, .. } => {
                        self.account(call).results.push(outcome.clone());
                    }
                }
            }
            Event::StepEnded { parts, .. } => {
                for part in parts {
                    if let Part::Call { call, .. } = part {
                        self.account(&call.id).tool = Tool::named(&call.tool);
                    }
                }
            }
            Event::CallNested { call, .. } => {
                let account = self.account(&call.id);
                account.tool = Tool::named(&call.tool);
                account.is_nested = true;
            }
            Event::GateOpened { gate, .. } => {
                let is_question = gate.is_approval();
                let state = (gate.call.clone(), is_question, Vec::new());
                self.gates.insert(gate.id.clone(), state);
            }
            Event::GateClosed { gate, decision, .. } => match self.gates.get_mut(gate) {
                Some((_, _, decisions)) => decisions.push(decision.clone()),
                None => self.fault(format!("{gate} was closed and never opened")),
            },
            Event::CallStarted { call, .. } => self.account(call).starts += 1,
            Event::CallRecorded { call, name, .. } => {
                self.account(call).records.insert(name.clone());
            }
            Event::CallSettled { call, outcome, .. } => {
                self.account(call).outcomes.push(outcome.clone());
            }
            Event::TurnEnded { turn, .. } => {
                match self.turns.last_mut().filter(|(last, _)| last == turn) {
                    Some((_, ends)) => *ends += 1,
                    None => self.fault(format!("{turn} ended after another was opened")),
                }
            }
            Event::MessageQueued { message, .. } => {
                let id = message.id.clone().unwrap_or_default();
                self.queued.entry(id).or_default().times += 1;
            }
            Event::MessageInjected { message, .. } => match self.queued.get_mut(message) {
                Some(waited) => waited.injected += 1,
                None => self.fault(format!("{message} was injected, and never waited")),
            },
            Event::MessageWithdrawn { message, .. } => match self.queued.get_mut(message) {
                Some(waited) => waited.withdrawn += 1,
                None => self.fault(format!("{message} was withdrawn, and never waited")),
            },
            Event::BranchSelected { turn } => {
                if let Some((open, 0)) = &last {
                    let fault = format!("{turn} was selected before {open} had ended");
                    self.fault(fault);
                }
            }
            Event::ChatOpened { .. } | Event::TurnClaimed { .. } | Event::SessionNoted { .. } => {}
        }
    }
}

impl World {
    /// Finds what does not hold.
    pub(super) fn judge(&mut self) {
        self.close_windows();
        let mut books = Books::of(self);
        let mut faults = std::mem::take(&mut books.faults);
        if self.has_lost_writes {
            // Two primaries: what was written to one of them is gone. All that can be asked for is an end.
            faults.clear();
            self.judge_turns(&books, &mut faults);
            return faults.into_iter().for_each(|fault| self.fault(fault));
        }
        faults.extend(self.judge_windows(|call| {
            let account = books.calls.get(call)?;
            let outcome = account.outcomes.first().cloned()?;
            let mut gates = books.gates.values().filter(|(held, ..)| held == call);
            let is_yes = |decision: &Decision| matches!(decision, Decision::Approved { .. });
            Some((
                outcome,
                gates.any(|(.., decisions)| decisions.iter().any(is_yes)),
            ))
        }));
        self.judge_calls(&books, &mut faults);
        self.judge_answers(&books, &mut faults);
        self.judge_turns(&books, &mut faults);
        self.judge_readers(&mut faults);
        let unknown = books.calls.values().filter(|account| account.is_unknown());
        self.tally.unknown = unknown.count() as u64;
        let own = |account: &&Account| account.tool == Some(Tool::Remote);
        self.tally.own_questions = books.calls.values().filter(own).count() as u64;
        for (message, waited) in &books.queued {
            self.tally.queued += u64::from(books.messages.contains_key(message));
            self.tally.injected += u64::from(waited.injected);
            self.tally.withdrawn += u64::from(waited.withdrawn);
        }
        faults.into_iter().for_each(|fault| self.fault(fault));
    }

    /// The ledger agrees with the journal.
    fn judge_calls(&self, books: &Books, faults: &mut Vec<String>) {
        for (call, deed, times) in self.ledger.all() {
            let Some(account) = books.calls.get(call) else {
                faults.push(format!(
                    "{call} was executed, and the journal has no such call"
                ));
                continue;
            };
            let Some(tool) = account.tool else { continue };
            if tool.is_of_page() {
                continue;
            }
            if account.starts == 0 {
                faults.push(format!("{call} was executed, and never started"));
            }
            if times > 1 && !tool.is_idempotent() {
                faults.push(format!("{call} executed {deed} {times} times"));
            }
            let is_shown = match deed {
                ACT => account.has_output(),
                name => account.records.contains(name),
            };
            let is_settled = !account.outcomes.is_empty();
            if !is_shown && !account.is_unknown() && is_settled && !account.is_pending() {
                faults.push(format!(
                    "{call} executed {deed}, and the journal says {:?}",
                    account.outcomes
                ));
            }
        }
        for (call, account) in &books.calls {
            let Some(tool) = account.tool else { continue };
            self.judge_call(call, account, tool, faults);
        }
    }

    fn judge_call(&self, call: &CallId, account: &Account, tool: Tool, faults: &mut Vec<String>) {
        if account.starts > 1 {
            faults.push(format!("{call} was started {} times", account.starts));
        }
        if account.outcomes.len() > 1 {
            faults.push(format!("{call} was settled as {:?}", account.outcomes));
        }
        if account.results.len() > 1 {
            faults.push(format!("{call} has the results {:?}", account.results));
        }
        if account.has_output() {
            let deeds = tool.deeds().iter().filter_map(|deed| match deed {
                Deed::Act | Deed::Leave => Some(ACT),
                Deed::Once(name) => Some(*name),
                Deed::Ask | Deed::Page => None,
            });
            let deeds = deeds.chain(tool.is_of_page().then_some(ACT));
            for deed in deeds {
                if self.ledger.times(call, deed) == 0 {
                    faults.push(format!("{call} has an output, and never executed {deed}"));
                }
            }
        }
        let last_deed = match tool {
            Tool::Book | Tool::Transfer => "pay",
            Tool::Guide => "show",
            _ => ACT,
        };
        let refused =
            |outcome: &Outcome| matches!(outcome, Outcome::Denied { .. } | Outcome::Error { .. });
        if !tool.is_of_page()
            && account.outcomes.iter().any(refused)
            && self.ledger.times(call, last_deed) > 0
        {
            let said = &account.outcomes;
            faults.push(format!(
                "{call} executed {last_deed}, and is said to be {said:?}"
            ));
        }
    }

    /// The replies that people got are true.
    fn judge_answers(&self, books: &Books, faults: &mut Vec<String>) {
        for (gate, approved) in &self.people.decided {
            let Some((call, _, decisions)) = books.gates.get(gate) else {
                faults.push(format!(
                    "an answer to {gate} was acknowledged, which never was"
                ));
                continue;
            };
            let decided = decisions.first().and_then(Decision::approved);
            if decided != Some(*approved) {
                faults.push(format!(
                    "{approved} was acknowledged at {gate}, and the journal says {decisions:?}"
                ));
                continue;
            }
            let Some(account) = books.calls.get(call) else {
                continue;
            };
            let deed = match account.tool {
                Some(Tool::Pay | Tool::Remind | Tool::Remote) => ACT,
                Some(Tool::Book | Tool::Transfer) => "pay",
                _ => continue,
            };
            let times = self.ledger.times(call, deed);
            let mut gates = books.gates.values().filter(|(held, ..)| held == call);
            let is_yes = |decisions: &[Decision]| {
                decisions.first().and_then(Decision::approved) == Some(true)
            };
            let is_approved = gates.all(|(.., decisions)| is_yes(decisions));
            match approved {
                // The agent gets the answers once all are there: a turn that is stopped before has run
                // nothing, and says so.
                true if account.tool == Some(Tool::Remote) => {}
                true if is_approved && times == 0 && !account.is_unknown() => {
                    faults.push(format!("{call} was approved, and did not happen"));
                }
                false if times > 0 && account.tool != Some(Tool::Remind) => {
                    faults.push(format!("{call} was denied, and happened"));
                }
                _ => {}
            }
        }
        for (gate, (_, _, decisions)) in &books.gates {
            if decisions.len() > 1 {
                faults.push(format!("{gate} was closed as {decisions:?}"));
            }
        }
        for gate in &self.people.closed {
            let closed = books.gates.get(gate);
            if closed.is_none_or(|(_, _, decisions)| decisions.is_empty()) {
                faults.push(format!("an answer to {gate} was taken in, and is lost"));
            }
        }
        for message in &self.people.acknowledged {
            if !books.messages.contains_key(message) && !books.queued.contains_key(message) {
                faults.push(format!("message {message} was acknowledged, and is lost"));
            }
        }
        self.judge_queue(books, faults);
        for (message, turns) in &books.messages {
            if *turns > 1 && !self.people.repeated.contains(message) {
                faults.push(format!("message {message} opened {turns} turns"));
            }
        }
        for call in &self.people.taken {
            let account = books.calls.get(call);
            if account.is_none_or(|account| account.outcomes.is_empty()) {
                faults.push(format!("an output of {call} was acknowledged, and is lost"));
            }
        }
    }

    /// Every message that waited came to one thing, or waits for a turn that waits for people.
    fn judge_queue(&self, books: &Books, faults: &mut Vec<String>) {
        let chat = ShownChat::replay(&self.store.entries);
        let is_open = chat.status() == Some(Status::Parked);
        for (message, waited) in &books.queued {
            let turns = books.messages.get(message).copied().unwrap_or_default();
            // Edits and regenerations open more turns with the same message.
            let turns = match self.people.repeated.contains(message) {
                true => turns.min(1),
                false => turns,
            };
            let ends = turns + waited.injected + waited.withdrawn;
            if waited.times != 1 || ends > 1 || ends == 0 && !is_open {
                faults.push(format!(
                    "message {message} waited as {waited:?}, and opened {turns} turns"
                ));
            }
        }
    }

    /// Every turn has ended, or waits for people.
    fn judge_turns(&self, books: &Books, faults: &mut Vec<String>) {
        for (turn, ends) in &books.turns {
            if *ends > 1 {
                faults.push(format!("{turn} ended {ends} times"));
            }
        }
        let chat = ShownChat::replay(&self.store.entries);
        if chat.status() == Some(Status::Running) || self.store.is_running() {
            faults.push("the turn is stuck".to_owned());
        }
    }

    /// Everybody who reads the journal reads the same.
    fn judge_readers(&mut self, faults: &mut Vec<String>) {
        for server in 0..self.servers.len() {
            self.catch_up(server);
        }
        let whole = ShownChat::replay(&self.store.entries);
        let portrait = portrait(&whole);
        let readers = self.servers.iter().map(|server| &server.reader);
        let at_hand = self
            .servers
            .iter()
            .filter_map(|server| server.driver.chat());
        // A server whose chat is behind learns of it by the next conflict.
        let at_hand = at_hand.filter(|chat| chat.seq() == whole.seq());
        for chat in readers.chain(at_hand.clone()).chain([&self.store.truth]) {
            let seen = self::portrait(chat);
            if seen != portrait {
                faults.push(format!(
                    "somebody reads {seen}, and the journal says {portrait}"
                ));
            }
        }
        let messages = whole.messages();
        if at_hand
            .chain([&self.store.truth])
            .any(|chat| chat.messages() != messages)
        {
            faults.push("somebody shows other messages than the journal has".to_owned());
        }
    }
}

/// What must be the same for all, in words.
fn portrait(chat: &Chat) -> String {
    let turn = chat.current();
    let gates: Vec<_> = turn
        .into_iter()
        .flat_map(turn::Turn::open_gates)
        .map(|gate| &gate.id)
        .collect();
    let outcomes: Vec<_> = turn
        .into_iter()
        .flat_map(|turn| turn.calls().map(|call| turn.outcome(&call.id)))
        .collect();
    let (seq, epoch, status) = (chat.seq(), chat.epoch(), chat.status());
    let path: Vec<_> = chat.path().map(|turn| turn.id()).collect();
    let queued = chat.queued().iter();
    let queued: Vec<_> = queued.map(|queued| &queued.message.id).collect();
    format!("{seq} {epoch} {status:?} {gates:?} {outcomes:?} {path:?} {queued:?}")
}
