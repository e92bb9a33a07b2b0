//! What clients of this server, and of others, ask of a chat.

use tools::work::Ask;
use turn::answer::{Answer, GivenTo};
use turn::{Actor, At, Chat, GateId, Principal, Status};
use view::ShownChat;

use super::answering::brought;
use super::sending::Sending;
use super::{Action, Driver, Next, Numbering, Opening, Operation, Reply, Wait};
use crate::chat_id;
use crate::command::{CommandKind, Resuming, View};
use crate::error::EngineError;
use crate::stream::Dialect;

/// A command, and how far it has come.
pub(super) enum CommandState {
    Send(Sending),
    Stop {
        was_open: bool,
    },
    Forget {
        is_stopped: bool,
    },
    Answer(Answer),
    Ask {
        provider_id: String,
        nth: usize,
        ask: Ask,
        /// The last gate before it was asked.
        before: Option<Option<GateId>>,
    },
    PushAudio(Option<agents::AudioInput>),
    /// One that has nothing to remember.
    Plain(CommandKind),
}

impl CommandState {
    pub(super) fn new(principal: &Principal, kind: CommandKind) -> Self {
        match kind {
            CommandKind::Send(sent) => Self::Send(Sending::new(sent)),
            CommandKind::Stop => Self::Stop { was_open: false },
            CommandKind::Forget => Self::Forget { is_stopped: false },
            CommandKind::Answer {
                gate,
                decision,
                digest,
            } => Self::Answer(Answer {
                gate,
                by: principal.clone().into(),
                decision,
                given_to: GivenTo::Question { digest },
            }),
            CommandKind::Ask {
                provider_id,
                nth,
                ask,
            } => Self::Ask {
                provider_id,
                nth,
                ask,
                before: None,
            },
            CommandKind::PushAudio { audio } => Self::PushAudio(Some(audio)),
            kind => Self::Plain(kind),
        }
    }
}

impl Driver {
    /// Whether a command is taken for the first message of a chat, without reading a journal that is
    /// likely to be empty. If it is not, the append conflicts, and nothing has happened.
    pub(super) fn may_open_unread(&self, state: &CommandState) -> bool {
        let CommandState::Send(sending) = state else {
            return false;
        };
        // Among other servers, it has to be looked up all the same whose the chat is.
        let is_alone = self.settings.server.is_none() && !self.is_leaving;
        // An id under which no chat is opened today may be that of an old one.
        let may_be_opened = chat_id::problem(&self.id).is_none();
        sending.is_first() && is_alone && may_be_opened && self.results.is_empty()
    }

    /// Goes on with a command, whose last entry is written if there was one.
    pub(super) fn run_command(
        &mut self,
        principal: &Principal,
        state: &mut CommandState,
        wrote: Option<Option<At>>,
    ) -> Next {
        let next = match state {
            CommandState::Send(sending) => self.send(principal, sending, wrote.is_some()),
            CommandState::Plain(kind) => self.run_plain(principal, kind, wrote.is_some()),
            CommandState::Stop { was_open } => match wrote {
                Some(_) => Ok(Next::Done(Ok(Reply::Stopped(*was_open)))),
                None => self.chat_of(principal).map(|chat| {
                    *was_open = is_open(chat);
                    stop(principal)
                }),
            },
            CommandState::Forget { is_stopped } => match (wrote, *is_stopped) {
                (None, _) => self.chat_of(principal).map(|_| stop(principal)),
                (Some(_), false) => {
                    *is_stopped = true;
                    Ok(Next::Ask(Operation::Delete, Wait::Other))
                }
                (Some(_), true) => {
                    self.results.clear();
                    self.evict(None);
                    Ok(Next::done())
                }
            },
            CommandState::Answer(answer) => self.answer(answer, wrote),
            CommandState::Ask {
                provider_id,
                nth,
                ask,
                before,
            } => self.ask_for_agent(provider_id, *nth, ask, before),
            CommandState::PushAudio(audio) => self.chat_of(principal).map(drop).map(|()| {
                self.actions.extend(audio.take().map(Action::PushAudio));
                Next::done()
            }),
        };
        next.unwrap_or_else(|error| Next::Done(Err(error)))
    }

    fn run_plain(
        &mut self,
        principal: &Principal,
        kind: &CommandKind,
        is_written: bool,
    ) -> Result<Next, EngineError> {
        match kind {
            CommandKind::Resume {
                dialect,
                after,
                resuming,
            } => self.resume(principal, *dialect, *after, resuming),
            CommandKind::SelectBranch { message_id } if !is_written => {
                self.select_branch(principal, message_id)
            }
            CommandKind::Output { call, output } => {
                self.output(principal.clone().into(), call, output, is_written)
            }
            CommandKind::Bring { call, output } => {
                let chat = self.chat.as_deref();
                let call = chat.and_then(|chat| brought(chat, call));
                let call = call.ok_or(EngineError::UnknownCall)?;
                self.output(Actor::Agent, &call, output, is_written)
            }
            _ => self.view_of(principal),
        }
    }

    /// The chat as a page shows it.
    fn view_of(&self, principal: &Principal) -> Result<Next, EngineError> {
        let view = View::of(self.chat_of(principal)?).ok_or(EngineError::UnknownChat)?;
        Ok(Next::Done(Ok(Reply::View(view))))
    }

    /// Makes the branch of a message the one that the chat is on, unless it is.
    fn select_branch(&self, principal: &Principal, message_id: &str) -> Result<Next, EngineError> {
        match self.chat_of(principal)?.branch_of(message_id)? {
            Some(turn) => Ok(Next::Write {
                input: turn::Input::SelectBranch { turn },
                by: Some(principal.clone().into()),
            }),
            None => self.view_of(principal),
        }
    }

    /// The chat, if it is this principal's.
    pub(super) fn chat_of(&self, principal: &Principal) -> Result<&ShownChat, EngineError> {
        let chat = self.chat.as_ref();
        let own = chat.filter(|chat| chat.owner() == Some(principal));
        own.ok_or(EngineError::UnknownChat)
    }

    /// A window on the current turn, from a position on; on the whole of it, if none is given.
    pub(super) fn open(
        &self,
        dialect: Dialect,
        position: Option<usize>,
    ) -> Result<Opening, EngineError> {
        let chat = self.chat.as_ref();
        let current = chat.and_then(ShownChat::current_transcript);
        let current = current.ok_or(EngineError::UnknownChat)?;
        Ok(Opening {
            position,
            ..Opening::new(current.turn().clone(), dialect)
        })
    }

    /// The same, but for one who brings nothing new to a turn that waits: its window says so and closes.
    pub(super) fn within(&self, mut opening: Opening) -> Opening {
        let current = self.chat.as_deref().and_then(Chat::current);
        let waits = current
            .is_some_and(|turn| *turn.id() == opening.turn && turn.status() == Status::Parked);
        if let (true, Some(position)) = (waits, &mut opening.position) {
            *position = (*position).min(self.shown.1.saturating_sub(1));
        }
        opening
    }

    fn resume(
        &self,
        principal: &Principal,
        dialect: Dialect,
        after: Option<u64>,
        resuming: &Resuming,
    ) -> Result<Next, EngineError> {
        // A page that resumes a chat which was never begun has nothing to complain about.
        let Ok(chat) = self.chat_of(principal) else {
            return Ok(Next::Done(Ok(Reply::Window(None))));
        };
        if let Resuming::From(point) = resuming {
            // Its window is read to its end, whatever has come after it in the chat.
            let turn = chat.turn_of_message(&point.message_id);
            let opening = turn.map(|turn| Opening {
                numbering: Numbering::From(point.clone()),
                ..Opening::new(turn.id().clone(), dialect)
            });
            return Ok(Next::Done(Ok(Reply::Window(opening))));
        }
        // It may have ended behind the client's back.
        let is_behind = after.is_some_and(|after| chat.has_news_after(after));
        match is_open(chat) || is_behind && chat.status().is_some() {
            true => self.open(dialect, None).map(|mut opening| {
                if dialect == Dialect::AgUi {
                    opening.history = Some(chat.ag_ui_history(&opening.turn));
                }
                if matches!(resuming, Resuming::Numbered) {
                    opening.numbering = Numbering::Opened;
                }
                Next::window(opening)
            }),
            false => Ok(Next::Done(Ok(Reply::Window(None)))),
        }
    }
}

impl Next {
    pub(super) fn window(opening: Opening) -> Self {
        Self::Done(Ok(Reply::Window(Some(opening))))
    }
}

fn stop(principal: &Principal) -> Next {
    Next::Write {
        input: turn::Input::Stop,
        by: Some(principal.clone().into()),
    }
}

fn is_open(chat: &Chat) -> bool {
    matches!(chat.status(), Some(Status::Running | Status::Parked))
}
