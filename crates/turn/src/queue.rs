//! Messages that came while a turn was open, and wait: for its end, or for its next step.
//!
//! One that waits has the ids of the turn that it will open. If it is given to the agent before a step of a
//! turn that runs, that turn is never opened.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::chat::Chat;
use crate::event::{Cause, Event};
use crate::id::TurnId;
use crate::input::{Ids, Output};
use crate::item::Item;
use crate::message::Message;
use crate::page_tool::PageTool;
use crate::time::At;
use crate::trace::TraceContext;
use crate::turn::Turn;

/// How many messages of a chat may wait.
pub const MAX_QUEUED: usize = 16;

/// What a message waits for that comes while a turn is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// For the end of the turn: then it opens one of its own.
    Queue,
    /// For the next step, before which it is given to the agent. If the turn ends without another step,
    /// it opens one of its own.
    Inject,
}

/// A message that waits.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedMessage {
    /// The message. It has an id.
    pub message: Message,
    /// What it waits for.
    pub placement: Placement,
    /// The turn that it will open.
    pub opens: TurnId,
    /// The id of the assistant message that this turn will stream.
    pub message_id: String,
    /// When it came.
    pub at: At,
    /// The tools that the page declared with it, as far as the agent takes them.
    pub(crate) page_tools: Vec<PageTool>,
    /// Where its turn belongs in a distributed trace, if it is traced.
    pub(crate) trace: Option<TraceContext>,
}

/// The messages of a chat that wait, and those that were withdrawn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Queue {
    waiting: Vec<QueuedMessage>,
    withdrawn: HashSet<String>,
    /// Whether the agent takes messages between the steps of a turn.
    takes_injections: bool,
}

impl Queue {
    fn remove(&mut self, id: &str) -> Option<QueuedMessage> {
        let place = self.place(id)?;
        Some(self.waiting.remove(place))
    }

    fn place(&self, id: &str) -> Option<usize> {
        let mut waiting = self.waiting.iter();
        waiting.position(|queued| queued.message.id.as_deref() == Some(id))
    }
}

/// What became of a message that waits or has waited.
#[derive(Debug, Clone, Copy)]
pub enum QueueState<'a> {
    /// It waits.
    Waiting(&'a QueuedMessage),
    /// It was given to the agent before a step of this turn.
    Injected(&'a Turn, &'a Message),
    /// It was withdrawn.
    Withdrawn,
}

impl Chat {
    /// Says whether the agent takes messages between the steps of a turn.
    pub fn take_injections(&mut self, takes_injections: bool) {
        self.queue.takes_injections = takes_injections;
    }

    /// The messages that wait, in the order in which they came.
    pub fn queued(&self) -> &[QueuedMessage] {
        &self.queue.waiting
    }

    /// What became of a message that waits, or that opened no turn of its own, by its id.
    pub fn queue_state(&self, id: &str) -> Option<QueueState<'_>> {
        if let Some(place) = self.queue.place(id) {
            return Some(QueueState::Waiting(&self.queue.waiting[place]));
        }
        let mut turns = self.turns().rev();
        let injected = turns.find_map(|turn| Some((turn, turn.injected(id)?)));
        if let Some((turn, message)) = injected {
            return Some(QueueState::Injected(turn, message));
        }
        let is_withdrawn = self.queue.withdrawn.contains(id);
        is_withdrawn.then_some(QueueState::Withdrawn)
    }

    /// Whether the message that was to open a turn was given to another.
    pub fn is_injected(&self, opens: &TurnId) -> bool {
        let mut injected = self.turns().flat_map(|turn| &turn.injected);
        injected.any(|injected| injected.opens == *opens)
    }

    /// Has a message wait for the open turn.
    pub(crate) fn enqueue(
        &mut self,
        output: &mut Output,
        message: Message,
        placement: Placement,
        page_tools: Vec<PageTool>,
        ids: Ids,
    ) {
        let open = self.current().filter(|turn| turn.end().is_none());
        let Some(turn) = open.map(|turn| turn.id().clone()) else {
            return;
        };
        let event = Event::MessageQueued {
            turn,
            message,
            placement,
            opens: ids.turn,
            message_id: ids.message,
            page_tools,
            trace: self.next_trace.take(),
        };
        self.decide(output, [event]);
    }

    /// Gives the agent the messages that wait for a step, before it is asked for one.
    pub(crate) fn inject(&mut self, output: &mut Output) {
        if self.queue.waiting.is_empty() || !self.queue.takes_injections {
            return;
        }
        let Some(turn) = self.current().map(|turn| turn.id().clone()) else {
            return;
        };
        let waiting = self.queue.waiting.iter();
        let waiting = waiting.filter(|queued| queued.placement == Placement::Inject);
        let injected = waiting.filter_map(|queued| {
            Some(Event::MessageInjected {
                turn: turn.clone(),
                message: queued.message.id.clone()?,
            })
        });
        let injected: Vec<_> = injected.collect();
        self.decide(output, injected);
    }

    /// Opens the turn of the message that has waited longest, once no other is open.
    pub(crate) fn open_queued(&mut self, output: &mut Output) {
        let Some(next) = self.queue.waiting.first().cloned() else {
            return;
        };
        let opened = Event::TurnOpened {
            turn: next.opens,
            message_id: next.message_id,
            cause: Cause::Message {
                message: next.message,
            },
            after: self.current().map(|turn| turn.id().clone()),
            page_tools: next.page_tools,
            trace: next.trace,
            // A message that waited is known by its id.
            request: None,
        };
        self.open(output, opened);
    }

    /// Withdraws all messages that wait.
    pub(crate) fn withdraw_queued(&mut self, output: &mut Output) {
        let Some(turn) = self.current().map(|turn| turn.id().clone()) else {
            return;
        };
        let waiting = self.queue.waiting.iter();
        let withdrawn = waiting.filter_map(|queued| {
            Some(Event::MessageWithdrawn {
                turn: turn.clone(),
                message: queued.message.id.clone()?,
            })
        });
        let withdrawn: Vec<_> = withdrawn.collect();
        if !withdrawn.is_empty() {
            self.decide(output, withdrawn);
        }
    }

    /// Takes in an event about a message that waits.
    pub(crate) fn apply_queued(&mut self, event: &Event, at: At) {
        match event {
            Event::MessageQueued {
                message,
                placement,
                opens,
                message_id,
                page_tools,
                trace,
                ..
            } => self.queue.waiting.push(QueuedMessage {
                message: message.clone(),
                placement: *placement,
                opens: opens.clone(),
                message_id: message_id.clone(),
                at,
                page_tools: page_tools.clone(),
                trace: trace.clone(),
            }),
            Event::MessageInjected { turn, message } => {
                if let Some(queued) = self.queue.remove(message) {
                    self.apply_injected(turn, queued);
                }
            }
            Event::MessageWithdrawn { message, .. } => {
                let removed = self.queue.remove(message);
                self.queue
                    .withdrawn
                    .extend(removed.map(|_| message.clone()));
            }
            Event::TurnOpened { turn, cause, .. } => {
                self.queue.waiting.retain(|queued| queued.opens != *turn);
                if !self.queue.withdrawn.is_empty()
                    && let Cause::Message { message } = cause
                    && let Some(id) = &message.id
                {
                    self.queue.withdrawn.remove(id);
                }
            }
            _ => {}
        }
    }
}

/// A message that was given to the agent in the middle of a turn.
#[derive(Debug, Clone)]
pub(crate) struct InjectedMessage {
    /// How many steps the turn had before it.
    pub(crate) after_steps: usize,
    /// The turn that it would have opened.
    opens: TurnId,
    pub(crate) message: Message,
}

impl Turn {
    /// A message that was given to the agent in the middle of this turn, by its id.
    fn injected(&self, id: &str) -> Option<&Message> {
        let mut injected = self.injected.iter().map(|injected| &injected.message);
        injected.find(|message| message.id.as_deref() == Some(id))
    }

    /// Takes in a message that is given to the agent before its next step.
    pub(crate) fn apply_injected(&mut self, queued: QueuedMessage) {
        let QueuedMessage { message, opens, .. } = queued;
        self.push_item(Item::MessageInjected(Box::new(message.clone())));
        self.injected.push(InjectedMessage {
            after_steps: self.steps.len(),
            opens,
            message,
        });
    }
}
