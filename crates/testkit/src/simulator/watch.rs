//! The windows that people have open, and what they were shown in them.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::checker::{Checker, Kind};
use engine::driver::Opening;
use engine::{Dialect, WindowStream};
use turn::call::Outcome;
use turn::{CallId, TurnId};
use wire::assembler::Sdk;
use wire::tool_part::{ToolPart, ToolState};
use wire::{Chunk, Message, Part};

use super::Bug;
use super::network::Delivery;
use super::person::Order;
use super::world::World;

/// A window that somebody has open.
pub(super) struct Watch {
    server: usize,
    life: u64,
    request: u64,
    turn: TurnId,
    /// The message that the client goes on with, where the window is on another.
    other: Option<String>,
    window: WindowStream,
    client: Checker,
    /// Whether the server said that the turn failed, or went elsewhere.
    has_failed: bool,
}

/// What a window came to.
pub(super) struct Watched {
    pub(super) request: u64,
    pub(super) turn: TurnId,
    /// The message that the client goes on with, where the window is on another.
    pub(super) other: Option<String>,
    /// The client's last message.
    pub(super) message: Option<Message>,
    /// Whether the server closed it, in good order.
    pub(super) is_whole: bool,
    pub(super) findings: Vec<String>,
}

impl World {
    /// Opens a window for who asked for it.
    pub(super) fn watch(&mut self, server: usize, delivery: &Delivery, opening: &Opening) {
        let here = &mut self.servers[server];
        let mut opening = opening.clone();
        if let (Some(Bug::CurrentTurn), Some(shown)) = (self.bug, here.driver.shown())
            && opening.turn != *shown.turn
        {
            opening.turn = shown.turn.clone();
            (opening.position, opening.seen) = (None, None);
        }
        let Some(window) = here.windows.open(&here.driver, &opening) else {
            return;
        };
        // A client that answers goes on with the message that it has.
        let own = delivery.order.messages().last();
        let own = own.filter(|last| last.role == wire::Role::Assistant);
        let own = own.and_then(|last| last.id.clone());
        let is_resumed = matches!(delivery.order, Order::Resume { .. });
        let other = own.filter(|own| !is_resumed && own != window.message_id());
        let sdk = match opening.dialect {
            Dialect::Sdk(wire::Profile::Shared) => Sdk::V6,
            Dialect::Sdk(_) => Sdk::V7,
            Dialect::Legacy | Dialect::AgUi => return,
        };
        let client = Checker::new(sdk).holding(delivery.order.messages().to_vec());
        let mut watch = Watch {
            server,
            life: here.life,
            request: delivery.request,
            turn: opening.turn.clone(),
            other,
            window,
            client,
            has_failed: false,
        };
        match delivery.order {
            Order::Resume { .. } => watch.client.resume(),
            _ => watch.client.open(),
        }
        self.watching.push(watch);
        self.read_windows(server);
    }

    /// Everybody who has a window at a server reads what is there.
    pub(super) fn read_windows(&mut self, server: usize) {
        let mut watching = std::mem::take(&mut self.watching);
        watching.retain_mut(|watch| {
            if watch.server != server {
                return true;
            }
            // The connection is cut with its server.
            if !self.is_alive(server, watch.life) {
                self.close(watch, false);
                return false;
            }
            loop {
                let mut context = Context::from_waker(Waker::noop());
                let next = pin!(watch.window.next()).poll(&mut context);
                match next {
                    Poll::Pending => return true,
                    Poll::Ready(None) => {
                        self.close(watch, true);
                        return false;
                    }
                    Poll::Ready(Some(chunks)) => {
                        for chunk in chunks {
                            self.read(watch, &chunk);
                        }
                    }
                }
            }
        });
        self.watching.append(&mut watching);
    }

    fn read(&mut self, watch: &mut Watch, chunk: &Chunk) {
        let request = watch.request;
        self.trace(|_| format!("request {request} reads {}", chunk.type_name()));
        if let Chunk::Error(_) | Chunk::Abort(_) = chunk {
            watch.has_failed = true;
            return;
        }
        let is_refused = self.people.refused.contains(&request);
        if let (Some(Bug::DeniedUnknown), Chunk::ToolOutputError(error), true) =
            (self.bug, chunk, is_refused)
        {
            let denied = wire::chunk::ToolOutputDenied {
                tool_call_id: error.tool_call_id.clone(),
            };
            return watch.client.feed(&Chunk::ToolOutputDenied(denied));
        }
        watch.client.feed(chunk);
    }

    /// A window is closed, by its server or with it.
    fn close(&mut self, watch: &mut Watch, is_whole: bool) {
        watch.client.close();
        let wrong = [
            Kind::Throws,
            Kind::PartTwice,
            Kind::StateBack,
            Kind::StrictReleases,
        ];
        let findings = watch.client.verdict().into_iter();
        let findings = findings.filter(|finding| {
            // Somebody else may have answered.
            let is_answered = finding.reason.contains("from approval-requested");
            // A denial that is sent again goes by its answer, and ends where it was.
            let is_again = finding
                .reason
                .contains("from output-denied to approval-responded");
            wrong.contains(&finding.kind) && !is_answered && !is_again
        });
        let findings = findings.map(|finding| finding.to_string()).collect();
        let id = watch.window.message_id();
        let shown = watch.client.messages().iter();
        let message = shown
            .rev()
            .find(|message| message.id.as_deref() == Some(id))
            .cloned();
        self.watched.push(Watched {
            request: watch.request,
            turn: watch.turn.clone(),
            other: watch.other.take(),
            message,
            is_whole: is_whole && !watch.has_failed,
            findings,
        });
    }

    /// Closes the windows that are still open.
    pub(super) fn close_windows(&mut self) {
        for mut watch in std::mem::take(&mut self.watching) {
            self.close(&mut watch, false);
        }
    }

    /// What people were shown in windows agrees with the journal.
    pub(super) fn judge_windows(
        &self,
        outcome: impl Fn(&CallId) -> Option<(Outcome, bool)>,
    ) -> Vec<String> {
        let whole = view::ShownChat::replay(&self.store.entries);
        let mut faults = Vec::new();
        for watched in &self.watched {
            let request = watched.request;
            faults.extend(
                watched
                    .findings
                    .iter()
                    .map(|finding| format!("request {request}: {finding}")),
            );
            if let Some(other) = &watched.other {
                let turn = &watched.turn;
                faults.push(format!(
                    "request {request} goes on with message {other}, and got a window on {turn}"
                ));
            }
            let parts = watched.message.iter().flat_map(|message| &message.parts);
            for part in parts.filter_map(Part::as_tool) {
                let call = CallId::from(part.tool_call_id.as_str());
                if let Some((outcome, is_approved)) = outcome(&call)
                    && !agrees(part, &outcome, is_approved)
                {
                    let state = part.state;
                    faults.push(format!(
                        "request {request} was shown {state:?} of {call}, and the journal says {outcome:?}"
                    ));
                }
            }
            // One that saw a turn to its end shows what the journal has.
            let turn = whole
                .turn(&watched.turn)
                .filter(|turn| turn.end().is_some());
            let is_last = self
                .watched
                .iter()
                .rev()
                .find(|last| last.turn == watched.turn);
            let sees_the_end =
                watched.is_whole && is_last.is_some_and(|last| last.request == request);
            if let (Some(turn), Some(message), true) = (turn, &watched.message, sees_the_end) {
                let messages = whole.messages();
                let mut same = messages
                    .iter()
                    .filter(|known| known.id.as_deref() == Some(turn.message_id()));
                if let Some(known) = same.next()
                    && message.id == known.id
                    && is_settled(message)
                    && summary(message) != summary(known)
                {
                    faults.push(format!(
                        "request {request} shows {:?}, and the journal {:?}",
                        summary(message),
                        summary(known)
                    ));
                }
            }
        }
        faults
    }
}

/// Whether what a client shows of a call is what became of it.
fn agrees(part: &ToolPart, outcome: &Outcome, is_approved: bool) -> bool {
    match part.state {
        // To a client that said no it is denied, whatever else ended it, unless another said yes.
        ToolState::OutputDenied => match outcome {
            Outcome::Denied { .. } => true,
            Outcome::Error { .. } | Outcome::Unknown { .. } => !is_approved,
            _ => false,
        },
        // One that was superseded in an earlier step is run by its proxy.
        ToolState::OutputAvailable => {
            part.preliminary == Some(true)
                || part.output == Some(serde_json::json!({"approved": true}))
                || matches!(outcome, Outcome::Output { .. } | Outcome::Pending { .. })
        }
        ToolState::OutputError => matches!(
            outcome,
            Outcome::Error { .. } | Outcome::Unknown { .. } | Outcome::Denied { .. }
        ),
        _ => true,
    }
}

/// Whether nothing of a message is under way.
fn is_settled(message: &Message) -> bool {
    let mut calls = message.parts.iter().filter_map(Part::as_tool);
    calls.all(ToolPart::is_settled)
}

/// What a message says, and what became of its calls.
fn summary(message: &Message) -> (String, Vec<(String, ToolState)>) {
    let calls = message.parts.iter().filter_map(Part::as_tool);
    let calls = calls.map(|part| {
        // A client that saw nobody say no shows a denial as an error.
        let state = match part.state {
            ToolState::OutputDenied => ToolState::OutputError,
            state => state,
        };
        (part.tool_call_id.clone(), state)
    });
    (message.text(), calls.collect())
}
