//! What clients of this server, and of others, ask of a chat.

use std::collections::VecDeque;

use serde_json::Value;
use store::Closed;
use turn::answer::{Answer, Reception};
use turn::call::{Call, Place};
use turn::gate::Decision;
use turn::refusal::Refusal;
use turn::turn::RecordedGate;
use turn::{At, CallId, Chat, GateId, Principal, Status, Turn, TurnId};
use view::{Intake, ShownChat, legacy};
use wire::{Message, Trigger};

use super::{Action, Asked, Driver, Next, Opening, Operation, Reply, Wait, work};
use crate::chat_id;
use crate::command::{CommandKind, View};
use crate::error::EngineError;
use crate::stream::Speech;
use crate::work::Ask;

/// How many bytes a chat may take, by estimate, to be given another message: all of it is held while it
/// runs, and shown at once. What was said counts twice.
const MAX_CHAT: usize = 64 * 1024 * 1024;

/// A command, and how far it has come.
pub(super) enum Asking {
    Send(Sending),
    Resume {
        speech: Speech,
        after: Option<u64>,
    },
    Stop {
        was_open: bool,
    },
    View,
    Forget {
        is_stopped: bool,
    },
    Answer(Answer),
    Output {
        call: CallId,
        output: Result<Value, String>,
    },
    Bring {
        call: String,
        output: Result<Value, String>,
    },
    Ask {
        provider_id: String,
        nth: usize,
        ask: Ask,
        /// The last gate before it was asked.
        before: Option<Option<GateId>>,
    },
    Hear(Option<agents::Heard>),
}

/// What a client sends, and what of it is in the journal.
pub(super) struct Sending {
    trigger: Trigger,
    message_id: Option<String>,
    messages: Vec<Message>,
    speech: Speech,
    /// Answers that are yet to be written, the next one first.
    answers: VecDeque<(GateId, Decision)>,
    step: Sent,
}

/// How far a message has come.
enum Sent {
    /// It is yet to be seen what is new in it.
    Unread,
    /// The same; and it opens no chat.
    Known,
    /// It is being written; then a window opens on the turn that it opens.
    Opening,
    /// Its answers are being written; then the rest of it is read.
    AnswersFirst,
    /// Its answers are being written; then a window opens on their turn.
    Answering(Opening),
}

impl Asking {
    pub(super) fn new(kind: CommandKind) -> Self {
        match kind {
            CommandKind::Send {
                trigger,
                message_id,
                messages,
                speech,
            } => Self::Send(Sending {
                trigger,
                message_id,
                messages,
                speech,
                answers: VecDeque::new(),
                step: Sent::Unread,
            }),
            CommandKind::Resume { speech, after } => Self::Resume { speech, after },
            CommandKind::Stop => Self::Stop { was_open: false },
            CommandKind::View => Self::View,
            CommandKind::Forget => Self::Forget { is_stopped: false },
            CommandKind::Answer(answer) => Self::Answer(answer),
            CommandKind::Output { call, output } => Self::Output { call, output },
            CommandKind::Bring { call, output } => Self::Bring { call, output },
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
            CommandKind::Hear { heard } => Self::Hear(Some(heard)),
        }
    }
}

impl Driver {
    /// Whether a command is taken for the first message of a chat, without reading a journal that is
    /// likely to be empty. If it is not, the append conflicts, and nothing has happened.
    pub(super) fn may_open_unread(&self, asking: &Asking) -> bool {
        let Asking::Send(sending) = asking else {
            return false;
        };
        let is_first = sending.messages.len() == 1 && matches!(sending.step, Sent::Unread);
        // Among other servers, it has to be looked up all the same whose the chat is.
        let is_alone = self.settings.server.is_none() && !self.is_leaving;
        // An id under which no chat is opened today may be that of an old one.
        let may_be_opened = chat_id::problem(&self.id).is_none();
        is_first && is_alone && may_be_opened && self.results.is_empty()
    }

    /// Goes on with a command, whose last entry is written if there was one.
    pub(super) fn obey(
        &mut self,
        principal: &Principal,
        asking: &mut Asking,
        wrote: Option<Option<At>>,
    ) -> Next {
        let next = match asking {
            Asking::Send(sending) => self.send(principal, sending, wrote.is_some()),
            Asking::Resume { speech, after } => self.resume(principal, *speech, *after),
            Asking::Stop { was_open } => match wrote {
                Some(_) => Ok(Next::Done(Ok(Reply::Stopped(*was_open)))),
                None => self.chat_of(principal).map(|chat| {
                    *was_open = is_open(chat);
                    stop(principal)
                }),
            },
            Asking::View => {
                let view = self.chat_of(principal).and_then(|chat| {
                    let view = View::of(chat);
                    view.ok_or(EngineError::UnknownChat)
                });
                view.map(|view| Next::Done(Ok(Reply::View(view))))
            }
            Asking::Forget { is_stopped } => match (wrote, *is_stopped) {
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
            Asking::Answer(answer) => self.answer(principal, answer, wrote),
            Asking::Output { call, output } => self
                .chat_of(principal)
                .map(drop)
                .and_then(|()| self.output(principal, call, output, wrote.is_some())),
            Asking::Bring { call, output } => self
                .chat
                .as_deref()
                .and_then(|chat| brought(chat, call))
                .ok_or(EngineError::UnknownCall)
                .and_then(|call| self.output(principal, &call, output, wrote.is_some())),
            Asking::Ask {
                provider_id,
                nth,
                ask,
                before,
            } => self.ask_for_agent(provider_id, *nth, ask, before),
            Asking::Hear(heard) => self.chat_of(principal).map(drop).map(|()| {
                self.actions.extend(heard.take().map(Action::Hear));
                Next::done()
            }),
        };
        next.unwrap_or_else(|error| Next::Done(Err(error)))
    }

    /// The chat, if it is this principal's.
    fn chat_of(&self, principal: &Principal) -> Result<&ShownChat, EngineError> {
        let chat = self.chat.as_ref();
        let own = chat.filter(|chat| chat.owner() == Some(principal));
        own.ok_or(EngineError::UnknownChat)
    }

    fn send(
        &mut self,
        principal: &Principal,
        sending: &mut Sending,
        is_written: bool,
    ) -> Result<Next, EngineError> {
        if is_written {
            match &sending.step {
                Sent::Opening => {
                    let opening = self.open(sending.speech, None, Some(0))?;
                    return Ok(Next::window(self.within(opening)));
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
                Sent::AnswersFirst if self.is_running() => {
                    return Ok(Next::Postpone(sending.give_back()));
                }
                Sent::AnswersFirst | Sent::Unread | Sent::Known | Sent::Opening => {}
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
        let taken = sending.take(chat, self.now);
        if is_unread {
            let is_opened = match &taken {
                Ok(Intake::Open { message, .. }) => self.settings.hears || !message.is_speech(),
                _ => false,
            };
            if !is_opened {
                self.chat = None;
                sending.step = Sent::Known;
                return Ok(Some(Next::Load));
            }
            chat.limit_client_calls(self.settings.client_timeout);
            self.shown = (0, 0);
        }
        let chat = self.chat.as_ref().ok_or(EngineError::UnknownChat)?;
        let taken = taken?;
        if let (None, Some(why)) = (chat.owner(), chat_id::problem(&self.id)) {
            return Err(EngineError::InvalidChatId(why));
        }
        match taken {
            Intake::Open { message, .. } if message.is_speech() && !self.settings.hears => {
                Err(EngineError::AudioUnsupported)
            }
            Intake::Open { .. } if chat.weight() > MAX_CHAT => {
                let message = "The chat is too large for another message: begin a new one.";
                Err(EngineError::Refused(Refusal::new(
                    "chat_too_large",
                    message,
                )))
            }
            // Whoever is asked next takes it in.
            Intake::Open { .. } if self.is_leaving => Err(EngineError::Closed),
            Intake::Open { answers, .. } if !answers.is_empty() => {
                self.check_outputs(&answers)?;
                sending.answers = answers.into();
                sending.step = Sent::AnswersFirst;
                Ok(None)
            }
            Intake::Open { message, after, .. } => {
                sending.step = Sent::Opening;
                Ok(Some(Next::Write {
                    input: turn::Input::Message {
                        message,
                        principal: principal.clone(),
                        after,
                        ids: (self.settings.ids)(),
                    },
                    by: Some(principal.clone().into()),
                }))
            }
            Intake::Continue {
                turn,
                answers,
                seen,
            } => {
                let speech = sending.speech;
                // A page of the legacy bridge sends no history: it has seen what led to its question.
                let given = sending.messages.last().map(Message::answers);
                let parked = chat.transcript(&turn).map_or(0, |shown| {
                    legacy::seen(shown.lines(), &given.unwrap_or_default())
                });
                self.check_outputs(&answers)?;
                let opening = match seen {
                    Some((position, message)) => Opening {
                        seen: Some(Box::new(message)),
                        ..self.open(speech, Some(&turn), Some(position))?
                    },
                    None if speech == Speech::Legacy => {
                        self.open(speech, Some(&turn), Some(parked))?
                    }
                    None => self.open(speech, None, None)?,
                };
                sending.answers = answers.into();
                sending.step = Sent::Answering(opening);
                Ok(None)
            }
        }
    }

    /// A window on a turn, the current one if none is named, from a position on; on the whole of it, if
    /// none is given.
    fn open(
        &self,
        speech: Speech,
        turn: Option<&TurnId>,
        position: Option<usize>,
    ) -> Result<Opening, EngineError> {
        let chat = self.chat.as_ref();
        let current = chat.and_then(ShownChat::current_transcript);
        let current = current.ok_or(EngineError::UnknownChat)?;
        Ok(Opening {
            turn: turn.unwrap_or(current.turn()).clone(),
            speech,
            position,
            seen: None,
        })
    }

    /// The same, but for one who brings nothing new to a turn that waits: it is told that it waits.
    fn within(&self, mut opening: Opening) -> Opening {
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
        speech: Speech,
        after: Option<u64>,
    ) -> Result<Next, EngineError> {
        // A page that resumes a chat which was never begun has nothing to complain about.
        let Ok(chat) = self.chat_of(principal) else {
            return Ok(Next::Done(Ok(Reply::Window(None))));
        };
        // It may have ended behind the client's back.
        let is_behind = after.is_some_and(|after| after < chat.seq());
        match is_open(chat) || is_behind && chat.status().is_some() {
            true => self.open(speech, None, None).map(Next::window),
            false => Ok(Next::Done(Ok(Reply::Window(None)))),
        }
    }

    /// Closes an approval, and says how, unless somebody else was first.
    fn answer(
        &mut self,
        principal: &Principal,
        answer: &Answer,
        wrote: Option<Option<At>>,
    ) -> Result<Next, EngineError> {
        if let Some(at) = wrote {
            let closed = at.map(|at| Closed {
                decision: answer.decision.clone(),
                by: principal.clone().into(),
                at,
            });
            return Ok(Next::Done(Ok(closed.map_or(Reply::Done, Reply::Closed))));
        }
        let chat = self.chat_of(principal)?;
        match chat.receive(answer) {
            Ok(Reception::Counts) => {}
            Ok(Reception::Late) => return Ok(Next::done()),
            Err(refusal) if refusal.code == "unknown_approval" => {
                return Err(EngineError::UnknownApproval);
            }
            Err(refusal) => return Err(refusal.into()),
        }
        if let Some(input) = answer.decision.input()
            && let Some((turn, asked, _)) = chat.gate(&answer.gate)
            && let Some(call) = turn.call(&asked.call)
        {
            let checked = self.settings.tools.check(&call.tool, input, principal);
            checked.map_err(EngineError::InvalidInput)?;
        }
        Ok(Next::Write {
            input: turn::Input::Answer {
                gate: answer.gate.clone(),
                decision: answer.decision.clone(),
            },
            by: Some(principal.clone().into()),
        })
    }

    fn output(
        &mut self,
        principal: &Principal,
        call: &CallId,
        output: &Result<Value, String>,
        is_written: bool,
    ) -> Result<Next, EngineError> {
        if is_written {
            return Ok(Next::Done(Ok(Reply::Taken(true))));
        }
        let chat = self.chat.as_ref().ok_or(EngineError::UnknownChat)?;
        let taken = chat.take_output(call, output.clone())?;
        self.check_outputs(taken.as_slice())?;
        Ok(match taken {
            Some((gate, decision)) => Next::Write {
                input: turn::Input::Answer { gate, decision },
                by: Some(principal.clone().into()),
            },
            // Somebody else was first.
            None => Next::Done(Ok(Reply::Taken(false))),
        })
    }

    /// Refuses outputs that are not what their tools declare. Nothing of the request is then taken.
    fn check_outputs(&self, answers: &[(GateId, Decision)]) -> Result<(), EngineError> {
        for (gate, decision) in answers {
            let Decision::Output { output } = decision else {
                continue;
            };
            let chat = self.chat.as_ref();
            let call = chat.and_then(|chat| chat.call_of_answer(gate, answers));
            if let Some(call) = call {
                let checked = self.settings.tools.check_output(&call.tool, output);
                checked.map_err(EngineError::InvalidOutput)?;
            }
        }
        Ok(())
    }

    /// Asks somebody for a tool that the agent runs by itself. A question that was asked before is
    /// the same question.
    fn ask_for_agent(
        &mut self,
        provider_id: &str,
        nth: usize,
        ask: &Ask,
        before: &mut Option<Option<GateId>>,
    ) -> Result<Next, EngineError> {
        let turn = self.chat.as_deref().and_then(Chat::current);
        let call = turn.and_then(|turn| turn.call_of_agent(provider_id));
        let (Some(turn), Some(call)) = (turn, call) else {
            return Err(EngineError::UnknownCall);
        };
        let decided = |decision| Ok(Next::asked(Asked::Decided(decision)));
        let gate = match before.take() {
            Some(before) => self
                .last_gate()
                .filter(|gate| Some(gate) != before.as_ref()),
            None => {
                // One that asks something else under the same number has not asked before.
                let mut asked = turn.recorded(&call).gates.into_iter().skip(nth);
                match asked.find(|gate| ask.is_asked_by(gate)) {
                    Some(RecordedGate {
                        decision: Some(decision),
                        ..
                    }) => return decided(decision),
                    Some(gate) => Some(gate.id),
                    // Nobody waits for a call that is over.
                    None if turn.outcome(&call).is_some() => return decided(Decision::Cancelled),
                    None => {
                        *before = Some(self.last_gate());
                        let mut ask = ask.clone();
                        if let Ask::Approval { timeout, .. } = &mut ask {
                            *timeout = timeout.or(self.settings.approval_timeout);
                        }
                        let input = work::asks(call, ask);
                        return Ok(Next::Write { input, by: None });
                    }
                }
            }
        };
        let chat = self.chat.as_deref();
        let found = gate.and_then(|gate| {
            let (_, _, decision) = chat?.gate(&gate)?;
            Some((gate, decision.cloned()))
        });
        match found {
            Some((_, Some(decision))) => decided(decision),
            Some((gate, None)) => {
                self.running.wait(gate.clone(), None);
                Ok(Next::asked(Asked::Waits(gate)))
            }
            None => Ok(Next::asked(Asked::Again)),
        }
    }
}

impl Sending {
    fn take(&self, chat: &ShownChat, now: At) -> Result<Intake, Refusal> {
        let message_id = self.message_id.as_deref();
        chat.take(self.trigger, message_id, &self.messages, now)
    }

    /// The command again.
    fn give_back(&mut self) -> CommandKind {
        CommandKind::Send {
            trigger: self.trigger,
            message_id: self.message_id.take(),
            messages: std::mem::take(&mut self.messages),
            speech: self.speech,
        }
    }
}

impl Next {
    fn window(opening: Opening) -> Self {
        Self::Done(Ok(Reply::Window(Some(opening))))
    }

    fn asked(asked: Asked) -> Self {
        Self::Done(Ok(Reply::Asked(asked)))
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

/// The call that the agent's side has done: the last that is to be done outside under an id of the
/// agent's, or the one of that id.
fn brought(chat: &Chat, id: &str) -> Option<CallId> {
    let calls = chat.path().flat_map(Turn::calls);
    let is_meant = |call: &&Call| call.provider_id.as_deref() == Some(id);
    let outside = calls.filter(|call| is_meant(call) && call.place == Place::Client);
    let ours = || Some(chat.call(&CallId::from(id))?.1);
    outside.last().or_else(ours).map(|call| call.id.clone())
}
