//! Who writes, answers, stops, and tries again; and the replies that they got.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use engine::Dialect;
use engine::command::{CommandKind, Resuming, SendCommand};
use serde_json::{Value, json};
use turn::gate::Decision;
use turn::queue::Placement;
use turn::{CallId, GateId, Status};
use wire::tool_part::ToolState;
use wire::{Message, Part, Profile, Role, Trigger};

use super::chance::Chance;
use super::network::Delivery;
use super::schedule::Happening;
use super::tool::ACT;
use super::world::{LEASE, World};

/// The one who speaks.
pub(super) const ANN: &str = "ann";

/// How often a client tries before it gives up.
const TRIES: u32 = 6;

/// What is asked of a chat.
#[derive(Debug, Clone)]
pub(super) enum Order {
    /// Sends a message of its own.
    Say {
        message: Box<Message>,
        profile: Profile,
        /// What it waits for while a turn is open; nothing, if it interrupts the turn.
        while_running: Option<Placement>,
    },
    /// Makes another branch the one that the chat is on.
    Select { message_id: String },
    /// Closes an approval.
    Answer { gate: GateId, approved: bool },
    /// Sends the history with answers in it, as a page does, and maybe a new message behind them.
    Send {
        messages: Vec<Message>,
        answers: Vec<(GateId, bool)>,
        profile: Profile,
        while_running: Option<Placement>,
    },
    /// Says something differently, or wants another answer: what came after it is cut off.
    Cut {
        trigger: Trigger,
        message_id: Option<String>,
        messages: Vec<Message>,
        profile: Profile,
    },
    /// Takes in what a page ran.
    Output { call: CallId },
    /// Stops the turn.
    Stop,
    /// Opens a window: a page is reloaded, and shows what it has read.
    Resume {
        messages: Vec<Message>,
        profile: Profile,
    },
}

impl Order {
    /// The order as a command for the chat.
    pub(super) fn command(&self) -> CommandKind {
        let send = |messages: &[Message], profile: &Profile| SendCommand {
            trigger: Trigger::SubmitMessage,
            message_id: None,
            messages: messages.to_vec(),
            dialect: Dialect::Sdk(*profile),
            page_tools: Value::Null,
            request: None,
            while_running: None,
        };
        match self {
            Self::Say {
                message,
                profile,
                while_running,
            } => CommandKind::Send(SendCommand {
                while_running: *while_running,
                ..send(std::slice::from_ref(message), profile)
            }),
            Self::Select { message_id } => CommandKind::SelectBranch {
                message_id: message_id.clone(),
            },
            Self::Send {
                messages,
                profile,
                while_running,
                ..
            } => CommandKind::Send(SendCommand {
                while_running: *while_running,
                ..send(messages, profile)
            }),
            Self::Cut {
                trigger,
                message_id,
                messages,
                profile,
            } => CommandKind::Send(SendCommand {
                trigger: *trigger,
                message_id: message_id.clone(),
                ..send(messages, profile)
            }),
            Self::Answer { gate, approved } => {
                let (reason, input) = (None, None);
                CommandKind::Answer {
                    gate: gate.clone(),
                    decision: match approved {
                        true => Decision::Approved { reason, input },
                        false => Decision::Denied { reason },
                    },
                    digest: None,
                }
            }
            Self::Output { call } => CommandKind::Output {
                call: call.clone(),
                output: Ok(json!("from the page")),
            },
            Self::Stop => CommandKind::Stop,
            Self::Resume { profile, .. } => CommandKind::Resume {
                dialect: Dialect::Sdk(*profile),
                after: None,
                resuming: Resuming::Whole,
            },
        }
    }

    /// The messages that its client shows.
    pub(super) fn messages(&self) -> &[Message] {
        match self {
            Self::Say { message, .. } => std::slice::from_ref(&**message),
            Self::Send { messages, .. }
            | Self::Cut { messages, .. }
            | Self::Resume { messages, .. } => messages,
            _ => &[],
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Say {
                message,
                while_running,
                ..
            } => {
                let id = message.id.as_deref().unwrap_or_default();
                write!(out, "message {id}, {while_running:?}")
            }
            Self::Select { message_id } => write!(out, "branch of {message_id}"),
            Self::Answer { gate, approved } => write!(out, "{gate} approved {approved}"),
            Self::Send {
                messages, answers, ..
            } => write!(out, "{} messages with {answers:?}", messages.len()),
            Self::Cut {
                trigger,
                message_id,
                messages,
                ..
            } => write!(
                out,
                "{trigger:?} of {message_id:?} with {} messages",
                messages.len()
            ),
            Self::Output { call } => write!(out, "output of {call}"),
            Self::Stop => write!(out, "stop"),
            Self::Resume { .. } => write!(out, "resume"),
        }
    }
}

/// What a client asks for, until it gets a response.
#[derive(Debug, Clone)]
pub(super) struct Request {
    id: u64,
    order: Order,
    tries: u32,
}

/// What a client gets as a reply.
#[derive(Debug, Clone)]
pub(super) enum Response {
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
    /// Decisions that people got as replies.
    pub(super) decided: Vec<(GateId, bool)>,
    /// The ids of messages that were acknowledged.
    pub(super) acknowledged: Vec<String>,
    /// The ids of messages that were said differently, or answered again.
    pub(super) repeated: BTreeSet<String>,
    /// Requests in which somebody said no.
    pub(super) refused: BTreeSet<u64>,
    /// Gates whose answers were taken in, first or not.
    pub(super) closed: Vec<GateId>,
    /// Calls whose outputs were acknowledged.
    pub(super) taken: Vec<CallId>,
    /// Whether they answer all that is asked, in the end.
    is_diligent: bool,
}

impl People {
    pub(super) fn new(chance: &mut Chance) -> Self {
        Self {
            messages_left: chance.between(1, 4),
            looks_left: chance.between(4, 24),
            numbers: 0,
            open: BTreeMap::new(),
            decided: Vec::new(),
            acknowledged: Vec::new(),
            repeated: BTreeSet::new(),
            refused: BTreeSet::new(),
            closed: Vec::new(),
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
                2 | 3 => self.resume(),
                4 => self.cut(),
                5 => self.say_and_wait(),
                6 if self.chance.one_in(4) => self.select(),
                _ => self.answer_something(),
            },
            Some(_) if self.chance.one_in(4) => self.cut(),
            Some(_) if self.chance.one_in(8) => self.select(),
            _ => self.say(),
        }
    }

    fn profile(&mut self) -> Profile {
        *self.chance.pick(&[Profile::Shared, Profile::V7])
    }

    fn message(&mut self) -> Message {
        let id = format!("u{}", self.people.fresh());
        Message::new(id, Role::User, vec![Part::text("Pay, please.")])
    }

    fn say(&mut self) {
        if self.people.messages_left == 0 {
            return;
        }
        self.people.messages_left -= 1;
        let (message, profile) = (Box::new(self.message()), self.profile());
        self.ask(Order::Say {
            message,
            profile,
            while_running: None,
        });
    }

    /// Sends a message that waits while a turn is open.
    fn say_and_wait(&mut self) {
        if self.people.messages_left == 0 {
            return;
        }
        self.people.messages_left -= 1;
        let (message, profile) = (Box::new(self.message()), self.profile());
        let while_running = Some(self.placement());
        self.ask(Order::Say {
            message,
            profile,
            while_running,
        });
    }

    fn placement(&mut self) -> Placement {
        *self
            .chance
            .pick(&[Placement::Queue, Placement::Inject, Placement::Inject])
    }

    /// Goes back to a branch that an edit or a regeneration cut off, or to the one that is there.
    fn select(&mut self) {
        let truth = &self.store.truth;
        let ids: Vec<_> = truth
            .turns()
            .map(|turn| turn.message_id().to_owned())
            .collect();
        if !ids.is_empty() {
            let message_id = self.chance.pick(&ids).clone();
            self.ask(Order::Select { message_id });
        }
    }

    /// Edits a message, by its id or by a history that ends before it, or has it answered again.
    fn cut(&mut self) {
        let mut messages = self.store.truth.messages();
        let users = messages.iter().enumerate();
        let users = users.filter(|(_, message)| message.role == Role::User);
        let places: Vec<usize> = users.map(|(place, _)| place).collect();
        if self.people.messages_left == 0 || places.is_empty() {
            return;
        }
        self.people.messages_left -= 1;
        let place = *self.chance.pick(&places);
        messages.truncate(place + 1);
        let id = messages[place].id.clone();
        let (mut trigger, mut message_id) = (Trigger::SubmitMessage, None);
        match self.chance.below(3) {
            // As assistant-ui edits: the message is new, and its place says what it is for.
            0 => messages[place] = self.message(),
            1 => {
                let words = format!("Pay again, please: {}.", self.people.fresh());
                messages[place].parts = vec![Part::text(words)];
                message_id.clone_from(&id);
            }
            _ => trigger = Trigger::RegenerateMessage,
        }
        self.people.repeated.extend(id);
        let profile = self.profile();
        self.ask(Order::Cut {
            trigger,
            message_id,
            messages,
            profile,
        });
    }

    fn resume(&mut self) {
        let (messages, profile) = (self.store.truth.messages(), self.profile());
        self.ask(Order::Resume { messages, profile });
    }

    /// Sends the page's messages, with answers to what they ask, and now and then a new one behind them.
    fn send_answers(&mut self, answers: Vec<(GateId, bool)>) {
        let mut messages = self.store.truth.messages();
        let parts = messages.last_mut().map(|message| &mut message.parts);
        let mut given = Vec::new();
        for part in parts.into_iter().flatten().filter_map(Part::as_tool_mut) {
            let Some(approval) = &mut part.approval else {
                continue;
            };
            let answer = answers
                .iter()
                .find(|(gate, _)| gate.as_str() == approval.id);
            if let (ToolState::ApprovalRequested, Some((gate, approved))) = (part.state, answer) {
                part.state = ToolState::ApprovalResponded;
                approval.approved = Some(*approved);
                given.push((gate.clone(), *approved));
            }
        }
        if given.is_empty() {
            return;
        }
        let mut while_running = None;
        if self.people.messages_left > 0 && self.chance.one_in(6) {
            self.people.messages_left -= 1;
            messages.push(self.message());
            while_running = self.chance.one_in(3).then(|| self.placement());
        }
        let profile = self.profile();
        self.ask(Order::Send {
            messages,
            answers: given,
            profile,
            while_running,
        });
    }

    /// Answers a gate, or all that are open; now and then two people at once, and contrarily.
    fn answer_something(&mut self) {
        let Some(turn) = self.store.truth.current() else {
            return;
        };
        let (mut approvals, mut calls) = (Vec::new(), Vec::new());
        for gate in turn.open_gates() {
            match gate.is_approval() {
                true => approvals.push(gate.id.clone()),
                false => calls.push(gate.call.clone()),
            }
        }
        if !calls.is_empty() && (approvals.is_empty() || self.chance.one_in(2)) {
            let call = self.chance.pick(&calls).clone();
            self.trace(|_| format!("a page runs {call}"));
            self.ledger.execute(&call, ACT);
            return self.ask(Order::Output { call });
        }
        if approvals.is_empty() {
            return;
        }
        if self.chance.one_in(3) {
            let answers = approvals.into_iter();
            let answers = answers.map(|gate| (gate, !self.chance.one_in(4))).collect();
            return self.send_answers(answers);
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
        if let Order::Send { answers, .. } = &order
            && answers.iter().any(|(_, approved)| !approved)
        {
            self.people.refused.insert(id);
        }
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
            let delivery = Delivery {
                request: id,
                order: request.order.clone(),
                front,
                life,
                until: self.now + 2 * LEASE,
            };
            let order = &request.order;
            self.trace(|_| format!("request {id} to server {front}: {order}"));
            self.deliver_to(front, life, delivery);
        }
        self.people.open.insert(id, request);
        let time_limit = self.chance.between(LEASE / 2, 4 * LEASE);
        let request = id;
        self.after(time_limit, Happening::TimeLimit { request, tries });
    }

    /// A client gets the response to a request.
    pub(super) fn receive_response(&mut self, request: u64, response: Response) {
        match response {
            Response::Failed => self.try_again(request),
            Response::Done | Response::Decided(_) => {
                self.people.open.remove(&request);
            }
        }
    }

    pub(super) fn reach_time_limit(&mut self, request: u64, tries: u32) {
        let open = self.people.open.get(&request);
        if open.is_some_and(|open| open.tries == tries) {
            self.try_again(request);
        }
    }

    fn try_again(&mut self, request: u64) {
        let Some(open) = self.people.open.remove(&request) else {
            return;
        };
        // A stop or an edit is meant for what one sees, and not for what comes later.
        let is_worth_it = !matches!(
            open.order,
            Order::Stop | Order::Resume { .. } | Order::Cut { .. } | Order::Select { .. }
        );
        if open.tries < TRIES && is_worth_it {
            let delay = self.chance.between(50, 1_000);
            self.after(delay, Happening::Send(open));
        }
    }

    /// A server has said that it was done: from here on it must be so.
    pub(super) fn acknowledge(&mut self, delivery: &Delivery, response: &Response) {
        self.trace(|_| format!("request {} gets {response:?}", delivery.request));
        match (&delivery.order, response) {
            (_, Response::Decided(decided)) => {
                for (gate, approved) in decided {
                    self.tally.acknowledged += 1;
                    let wanted = match &delivery.order {
                        Order::Answer { approved, .. } => Some(*approved),
                        _ => None,
                    };
                    let is_contradicted = wanted.is_some_and(|wanted| wanted != *approved);
                    self.tally.contradicted += u64::from(is_contradicted);
                    self.people.decided.push((gate.clone(), *approved));
                }
            }
            (Order::Say { message, .. }, Response::Done) => {
                self.people.acknowledged.extend(message.id.clone());
            }
            (
                Order::Send {
                    messages, answers, ..
                },
                Response::Done,
            ) => {
                let last = messages.last().filter(|last| last.role == Role::User);
                self.people
                    .acknowledged
                    .extend(last.and_then(|last| last.id.clone()));
                let gates = answers.iter().map(|(gate, _)| gate.clone());
                self.people.closed.extend(gates);
            }
            (Order::Cut { messages, .. }, Response::Done) => {
                self.tally.cuts += 1;
                let last = messages.last().and_then(|last| last.id.clone());
                self.people.acknowledged.extend(last);
            }
            (Order::Select { .. }, Response::Done) => self.tally.selections += 1,
            (Order::Output { call }, Response::Done) => self.people.taken.push(call.clone()),
            _ => {}
        }
    }
}
