//! What a client sends: what is new in it is written, then a window opens.

use std::collections::VecDeque;

use turn::gate::Decision;
use turn::queue::{MAX_QUEUED, Placement};
use turn::refusal::{Refusal, RefusalCode};
use turn::{At, GateId, PageTool, Principal, TurnId};
use view::{Intake, ShownChat, legacy_client_position};
use wire::Message;

use super::Driver;
use super::job::Next;
use super::reply::{Numbering, Opening};
use crate::chat_id;
use crate::command::{CommandKind, SendCommand};
use crate::error::EngineError;
use crate::stream::Dialect;

/// How many bytes a chat may take, by estimate, to be given another message: all of it is held while it
/// runs, and shown at once. What was said counts twice.
const MAX_CHAT: usize = 64 * 1024 * 1024;

/// What a client sends, and what of it is in the journal.
pub(super) struct Sending {
    sent: SendCommand,
    /// Answers that are yet to be written, the next one first.
    answers: VecDeque<(GateId, Decision)>,
    step: Sent,
}

/// The progress of a message.
enum Sent {
    /// Not yet compared with the journal.
    Unread,
    /// To be compared with the journal, which is read first if the chat is not in memory.
    Known,
    /// Its turn is being written. Then a window opens on that turn.
    Opening,
    /// The queued message is being written. Then a window opens on its future turn.
    Queueing(TurnId),
    /// Its answers are being written. Then the rest is compared with the journal.
    AnswersFirst,
    /// Its answers are being written. Then a window opens on their turn.
    Answering(Opening),
}

impl Sending {
    pub(super) fn new(sent: SendCommand) -> Self {
        Self {
            sent,
            answers: VecDeque::new(),
            step: Sent::Unread,
        }
    }

    fn numbering(&self) -> Numbering {
        match self.sent.request {
            Some(_) => Numbering::Opened,
            None => Numbering::None,
        }
    }

    /// Whether nothing was done about it yet, and it looks like the first message of a chat.
    pub(super) fn is_first(&self) -> bool {
        self.sent.messages.len() == 1 && matches!(self.step, Sent::Unread)
    }

    fn take(&self, principal: &Principal, chat: &ShownChat, now: At) -> Result<Intake, Refusal> {
        let sent = &self.sent;
        let (message_id, request) = (sent.message_id.as_deref(), sent.request.as_deref());
        if let Some(turn) = request.and_then(|request| chat.turn_of_request(request)) {
            return Ok(Intake::known(turn));
        }
        let (trigger, messages) = (sent.trigger, &sent.messages);
        match sent.dialect {
            Dialect::AgUi => chat.take_run(principal, trigger, message_id, messages, now),
            Dialect::Sdk(_) | Dialect::Legacy => {
                chat.take(principal, trigger, message_id, messages, now)
            }
        }
    }
}

impl Driver {
    pub(super) fn send(
        &mut self,
        principal: &Principal,
        sending: &mut Sending,
        is_written: bool,
    ) -> Result<Next, EngineError> {
        if is_written {
            match &sending.step {
                Sent::Opening => {
                    let mut opening = self.open(sending.sent.dialect, Some(0))?;
                    opening.numbering = sending.numbering();
                    if sending.sent.dialect == Dialect::AgUi
                        && let Some(chat) = &self.chat
                        && !chat.has_ag_ui_history(&opening.turn, &sending.sent.messages)
                    {
                        opening.history = Some(chat.ag_ui_history(&opening.turn));
                    }
                    return Ok(Next::window(self.within(opening)));
                }
                Sent::Queueing(turn) => {
                    let turn = turn.clone();
                    return Ok(Next::window(waiting(turn, sending)));
                }
                _ => drop(sending.answers.pop_front()),
            }
        } else if !matches!(sending.step, Sent::Unread | Sent::Known) {
            // Somebody else was first, and may have taken the same in: what is new is seen again.
            sending.step = Sent::Known;
            sending.answers.clear();
        }
        loop {
            if let Some((gate, decision)) = sending.answers.front().cloned() {
                return Ok(Next::Write {
                    input: turn::Input::Answer { gate, decision },
                    by: Some(principal.clone().into()),
                });
            }
            match std::mem::replace(&mut sending.step, Sent::Unread) {
                Sent::Answering(opening) => return Ok(Next::window(self.within(opening))),
                // What was answered runs before it is superseded by what came with it.
                Sent::AnswersFirst if self.is_running() && sending.sent.while_running.is_none() => {
                    return Ok(Next::Postpone(CommandKind::Send(sending.sent.clone())));
                }
                Sent::AnswersFirst
                | Sent::Unread
                | Sent::Known
                | Sent::Opening
                | Sent::Queueing(_) => {}
            }
            if let Some(next) = self.read(principal, sending)? {
                return Ok(next);
            }
        }
    }

    /// Sees what is new in what a client sends, and says what comes next if that is not an answer.
    fn read(
        &mut self,
        principal: &Principal,
        sending: &mut Sending,
    ) -> Result<Option<Next>, EngineError> {
        let is_unread = self.chat.is_none();
        let chat = self.chat.get_or_insert_default();
        if chat.owner().is_some_and(|owner| owner != principal) {
            return Err(EngineError::UnknownChat);
        }
        let taken = sending.take(principal, chat, self.now);
        if is_unread {
            let is_opened = match &taken {
                Ok(Intake::Open { message, .. }) => {
                    self.settings.supports_audio || !message.is_speech()
                }
                _ => false,
            };
            if !is_opened {
                self.chat = None;
                sending.step = Sent::Known;
                return Ok(Some(Next::Load));
            }
            chat.limit_client_calls(self.settings.client_timeout);
            chat.take_injections(self.settings.takes_injections);
            self.shown = (0, 0);
            // A refused message must leave no chat in memory that was not read from the journal.
            if let Err(error) = self.page_tools(sending) {
                self.chat = None;
                return Err(error);
            }
        }
        let chat = self.chat.as_ref().ok_or(EngineError::UnknownChat)?;
        let taken = taken?;
        if let (None, Some(why)) = (chat.owner(), chat_id::problem(&self.id)) {
            return Err(EngineError::InvalidChatId(why));
        }
        match taken {
            Intake::Open { message, .. }
                if message.is_speech() && !self.settings.supports_audio =>
            {
                Err(EngineError::AudioUnsupported)
            }
            Intake::Open { .. } if chat.weight() > MAX_CHAT => {
                let message = "The chat is too large for another message: begin a new one.";
                Err(EngineError::Refused(Refusal::new(
                    RefusalCode::ChatTooLarge,
                    message,
                )))
            }
            // Another server takes it in.
            Intake::Open { .. } if self.is_leaving => Err(EngineError::Closed),
            Intake::Open { answers, .. } if !answers.is_empty() => {
                self.check_requirements(&answers)?;
                // Nothing of the request is taken, if its message can't be.
                self.page_tools(sending)?;
                sending.answers = answers.into();
                sending.step = Sent::AnswersFirst;
                Ok(None)
            }
            Intake::Queued { turn } => Ok(Some(Next::window(waiting(turn, sending)))),
            Intake::Open { message, after, .. } => {
                let placement = self.placement(sending, &message, after.as_ref());
                if placement.is_some() && chat.queued().len() >= MAX_QUEUED {
                    let message = "Too many messages of this chat wait for its turn.";
                    let refusal = Refusal::new(RefusalCode::QueueFull, message);
                    return Err(EngineError::Refused(refusal));
                }
                let page_tools = self.page_tools(sending)?;
                let ids = (self.settings.ids)();
                let input = match placement {
                    Some(placement) => {
                        sending.step = Sent::Queueing(ids.turn.clone());
                        turn::Input::Queue {
                            message,
                            placement,
                            page_tools,
                            ids,
                        }
                    }
                    None => {
                        sending.step = Sent::Opening;
                        turn::Input::Message {
                            message,
                            principal: principal.clone(),
                            after,
                            page_tools,
                            request: sending.sent.request.clone(),
                            ids,
                        }
                    }
                };
                Ok(Some(Next::Write {
                    input,
                    by: Some(principal.clone().into()),
                }))
            }
            Intake::Continue {
                turn,
                answers,
                seen,
            } => {
                self.check_requirements(&answers)?;
                let history =
                    (sending.sent.dialect == Dialect::AgUi).then(|| chat.ag_ui_history(&turn));
                let (position, seen) = match (seen, sending.sent.dialect) {
                    (_, Dialect::AgUi) => (None, None),
                    (Some((position, message)), _) => (Some(position), Some(Box::new(message))),
                    // A page of the legacy bridge sends no history: it has seen what led to its question.
                    (None, Dialect::Legacy) => {
                        let given = sending.sent.messages.last().map(Message::answers);
                        let position = chat.transcript(&turn).map(|shown| {
                            legacy_client_position(shown.lines(), &given.unwrap_or_default())
                        });
                        (position, None)
                    }
                    (None, Dialect::Sdk(_)) => (None, None),
                };
                let opening = Opening {
                    position,
                    seen,
                    history,
                    ..waiting(turn, sending)
                };
                sending.answers = answers.into();
                sending.step = Sent::Answering(opening);
                Ok(None)
            }
        }
    }

    /// What a message waits for, if it does: a turn is open, which it does not rewrite. Speech does not
    /// wait, since speech goes to the agent at once.
    fn placement(
        &self,
        sending: &Sending,
        message: &turn::Message,
        after: Option<&TurnId>,
    ) -> Option<Placement> {
        let open = self.chat.as_deref()?.open_turn()?;
        let follows = after == Some(&open.id) && !message.is_speech();
        sending.sent.while_running.filter(|_| follows)
    }

    /// The tools that the page declares, as far as the agent takes them. They are those of the turn that
    /// is opened: one that goes on has its own.
    fn page_tools(&self, sending: &Sending) -> Result<Vec<PageTool>, EngineError> {
        let accepted = self
            .settings
            .tools
            .accept_page_tools(&sending.sent.page_tools);
        accepted.map_err(EngineError::InvalidPageTool)
    }
}

/// A window on a turn that a message will open which waits.
fn waiting(turn: TurnId, sending: &Sending) -> Opening {
    Opening {
        numbering: sending.numbering(),
        ..Opening::new(turn, sending.sent.dialect)
    }
}
