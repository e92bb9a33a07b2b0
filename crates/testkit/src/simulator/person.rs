//! Who writes, answers, stops, and tries again; and what they were told.

use std::collections::BTreeMap;
use std::fmt;

use turn::gate::GateKind;
use turn::{CallId, GateId, Status};
use wire::{Message, Part, Role};

use super::chance::Chance;
use super::schedule::Happening;
use super::server::Command;
use super::tool::ACT;
use super::world::{LEASE, World};

/// The one who speaks.
pub(super) const ANN: &str = "ann";

/// How often a client tries before it gives up.
const TRIES: u32 = 6;

/// What is asked of a chat.
#[derive(Debug, Clone)]
pub(super) enum Order {
    /// Takes a message in.
    Say { message: Box<Message> },
    /// Closes an approval.
    Answer { gate: GateId, approved: bool },
    /// Closes several, as a page does that sends once all are decided.
    AnswerAll { answers: Vec<(GateId, bool)> },
    /// Takes in what a page ran.
    Output { call: CallId },
    /// Stops the turn.
    Stop,
    /// Opens a window: a page is reloaded.
    Resume,
}

/// An order on its way through a server.
#[derive(Debug, Clone)]
pub(super) struct Errand {
    pub(super) request: u64,
    pub(super) order: Order,
    /// The server that took it in, and its life.
    pub(super) front: usize,
    pub(super) life: u64,
    /// How long that server looks for who has the chat.
    pub(super) until: u64,
}

impl fmt::Display for Errand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { request, order, .. } = self;
        match order {
            Order::Say { message } => {
                let id = message.id.as_deref().unwrap_or_default();
                write!(out, "request {request}: message {id}")
            }
            Order::Answer { gate, approved } => {
                write!(out, "request {request}: {gate} approved {approved}")
            }
            Order::AnswerAll { answers } => write!(out, "request {request}: {answers:?}"),
            Order::Output { call } => write!(out, "request {request}: output of {call}"),
            Order::Stop => write!(out, "request {request}: stop"),
            Order::Resume => write!(out, "request {request}: resume"),
        }
    }
}

/// What a client asks for, until it hears that it was done.
#[derive(Debug, Clone)]
pub(super) struct Request {
    id: u64,
    order: Order,
    tries: u32,
}

/// What a client is told.
#[derive(Debug, Clone)]
pub(super) enum Told {
    /// It is done.
    Done,
    /// What was decided at the gates: yes or no.
    Decided(Vec<(GateId, bool)>),
    /// Something failed; come again.
    Failed,
}

/// The people of a schedule.
pub(super) struct People {
    messages_left: u64,
    /// How many more times somebody looks at the chat.
    looks_left: u64,
    numbers: u64,
    open: BTreeMap<u64, Request>,
    /// What people were told was decided.
    pub(super) decided: Vec<(GateId, bool)>,
    /// Messages, by their ids, of which people were told that they were taken in.
    pub(super) heard: Vec<String>,
    /// Calls whose outputs were taken in, as pages were told.
    pub(super) taken: Vec<CallId>,
    /// Whether they answer all that is asked, in the end.
    is_diligent: bool,
}

impl People {
    pub(super) fn new(chance: &mut Chance) -> Self {
        Self {
            messages_left: chance.between(1, 3),
            looks_left: chance.between(4, 24),
            numbers: 0,
            open: BTreeMap::new(),
            decided: Vec::new(),
            heard: Vec::new(),
            taken: Vec::new(),
            is_diligent: chance.one_in(2),
        }
    }

    /// A number that nobody had before.
    pub(super) fn fresh(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }
}

impl World {
    /// Somebody looks at the chat, and does something.
    pub(super) fn person(&mut self) {
        let status = self.store.truth.status();
        let is_open = matches!(status, Some(Status::Running | Status::Parked));
        let wants_more = self.is_healed && self.people.is_diligent && is_open;
        if self.people.looks_left == 0 && !wants_more {
            return;
        }
        self.people.looks_left = self.people.looks_left.saturating_sub(1);
        let next = self.chance.between(10, 1_500);
        self.after(next, Happening::Person);
        match status {
            Some(Status::Running | Status::Parked) => match self.chance.below(24) {
                0 => self.ask(Order::Stop),
                1 => self.say(),
                2 | 3 => self.ask(Order::Resume),
                _ => self.answer_something(),
            },
            _ => self.say(),
        }
    }

    fn say(&mut self) {
        if self.people.messages_left == 0 {
            return;
        }
        self.people.messages_left -= 1;
        let id = format!("u{}", self.people.fresh());
        let message = Message::new(id, Role::User, vec![Part::text("Pay, please.")]);
        let message = Box::new(message);
        self.ask(Order::Say { message });
    }

    /// Answers a gate, or all that are open; now and then two people at once, and contrarily.
    fn answer_something(&mut self) {
        let Some(turn) = self.store.truth.current() else {
            return;
        };
        let (mut approvals, mut calls) = (Vec::new(), Vec::new());
        for gate in turn.open_gates() {
            match gate.kind {
                GateKind::Approval { .. } => approvals.push(gate.id.clone()),
                GateKind::ClientCall => calls.push(gate.call.clone()),
            }
        }
        if !calls.is_empty() && (approvals.is_empty() || self.chance.one_in(2)) {
            let call = self.chance.pick(&calls).clone();
            self.tell(|_| format!("a page runs {call}"));
            self.ledger.execute(&call, ACT);
            return self.ask(Order::Output { call });
        }
        if approvals.is_empty() {
            return;
        }
        if self.chance.one_in(3) {
            let answers = approvals.into_iter();
            let answers = answers.map(|gate| (gate, !self.chance.one_in(4))).collect();
            return self.ask(Order::AnswerAll { answers });
        }
        let gate = self.chance.pick(&approvals).clone();
        let approved = !self.chance.one_in(4);
        if self.chance.one_in(4) {
            let (gate, approved) = (gate.clone(), !approved);
            self.ask(Order::Answer { gate, approved });
        }
        self.ask(Order::Answer { gate, approved });
    }

    fn ask(&mut self, order: Order) {
        let id = self.people.fresh();
        self.send(Request {
            id,
            order,
            tries: 0,
        });
    }

    /// A client sends to whichever server the balancer gives it, and waits for so long.
    pub(super) fn send(&mut self, mut request: Request) {
        request.tries += 1;
        let (id, tries) = (request.id, request.tries);
        let times = match self.is_mishandled() {
            true => *self.chance.pick(&[0, 2]),
            false => 1,
        };
        for _ in 0..times {
            let front = self.chance.index(self.servers.len());
            let life = self.servers[front].life;
            let errand = Errand {
                request: id,
                order: request.order.clone(),
                front,
                life,
                until: self.now + 2 * LEASE,
            };
            self.travel(Happening::Command {
                server: front,
                life,
                command: Command::Errand(errand),
            });
        }
        self.people.open.insert(id, request);
        let patience = self.chance.between(LEASE / 2, 4 * LEASE);
        let request = id;
        self.after(patience, Happening::Impatience { request, tries });
    }

    /// A client hears what came of a request.
    pub(super) fn hear(&mut self, request: u64, told: Told) {
        match told {
            Told::Failed => self.try_again(request),
            Told::Done | Told::Decided(_) => {
                self.people.open.remove(&request);
            }
        }
    }

    pub(super) fn lose_patience(&mut self, request: u64, tries: u32) {
        let open = self.people.open.get(&request);
        if open.is_some_and(|open| open.tries == tries) {
            self.try_again(request);
        }
    }

    fn try_again(&mut self, request: u64) {
        let Some(open) = self.people.open.remove(&request) else {
            return;
        };
        // A stop is meant for what one sees, and not for what comes later.
        let is_worth_it = !matches!(open.order, Order::Stop | Order::Resume);
        if open.tries < TRIES && is_worth_it {
            let delay = self.chance.between(50, 1_000);
            self.after(delay, Happening::Send(open));
        }
    }

    /// A server has said that it was done: from here on it must be so.
    pub(super) fn acknowledge(&mut self, errand: &Errand, told: &Told) {
        self.tell(|_| format!("request {} is told {told:?}", errand.request));
        match (&errand.order, told) {
            (_, Told::Decided(decided)) => {
                for (gate, approved) in decided {
                    self.tally.acknowledged += 1;
                    let wanted = match &errand.order {
                        Order::Answer { approved, .. } => Some(*approved),
                        _ => None,
                    };
                    let is_contradicted = wanted.is_some_and(|wanted| wanted != *approved);
                    self.tally.contradicted += u64::from(is_contradicted);
                    self.people.decided.push((gate.clone(), *approved));
                }
            }
            (Order::Say { message }, Told::Done) => {
                self.people.heard.extend(message.id.clone());
            }
            (Order::Output { call }, Told::Done) => self.people.taken.push(call.clone()),
            _ => {}
        }
    }
}
