//! What is asked of a chat, by clients of this server and of others.

use std::sync::Arc;

use agents::Heard;
use serde_json::Value;
use store::Closed;
use tokio::sync::oneshot;
use turn::agent::is_speech;
use turn::call::{Call, Place};
use turn::gate::{Decision, GateKind};
use turn::intake::Intake;
use turn::{CallId, Chat, GateId, Input, Principal, Status, Turn, TurnId, seeds};
use wire::{Message, Trigger};

use super::{Actor, CONFLICTS};
use crate::engine::View;
use crate::errand::{Deciding, Done, Order};
use crate::error::EngineError;
use crate::id;
use crate::log::Log;
use crate::stream::{Speech, WindowStream};
use crate::work::Ask;

impl Actor {
    pub(super) async fn run_errand(
        &mut self,
        principal: &Principal,
        order: Order,
    ) -> Result<Done, EngineError> {
        Ok(match order {
            Order::Send {
                trigger,
                message_id,
                messages,
                speech,
            } => {
                let window = self.send(principal, trigger, message_id, messages, speech);
                Done::Window(Some(window.await?))
            }
            Order::Resume { speech } => Done::Window(self.resume(principal, speech).await?),
            Order::Stop => Done::Stopped(self.stop(principal).await?),
            Order::View => Done::View(self.view(principal).await?),
            Order::Forget => {
                self.forget(principal).await?;
                Done::Done
            }
            Order::Answer { gate, decision } => {
                let closed = self.answer(principal, gate, decision).await?;
                closed.map_or(Done::Done, Done::Closed)
            }
            Order::Output { call, output } => {
                self.chat_of(principal).await?;
                Done::Taken(self.output(principal, &call, output).await?)
            }
            Order::Bring { call, output } => {
                let call = brought(self.chat().await?, &call).ok_or(EngineError::UnknownCall)?;
                Done::Taken(self.output(principal, &call, output).await?)
            }
            Order::Ask {
                provider_id,
                nth,
                ask,
            } => Done::Asked(self.ask_for_agent(&provider_id, nth, ask).await?),
            Order::Hear { heard } => {
                self.hear(principal, heard).await?;
                Done::Done
            }
        })
    }

    /// The chat, if it is this principal's.
    async fn chat_of(&mut self, principal: &Principal) -> Result<&mut Chat, EngineError> {
        let chat = self.chat().await?;
        match chat.owner() {
            Some(owner) if owner == principal => Ok(chat),
            _ => Err(EngineError::UnknownChat),
        }
    }

    async fn send(
        &mut self,
        principal: &Principal,
        trigger: Trigger,
        message_id: Option<String>,
        messages: Vec<Message>,
        speech: Speech,
    ) -> Result<WindowStream, EngineError> {
        let first = self.send_first(principal, trigger, message_id.as_deref(), &messages, speech);
        if let Some(window) = first.await? {
            return Ok(window);
        }
        for _ in 0..CONFLICTS {
            let message_id = message_id.as_deref();
            let sent = self.send_once(principal, trigger, message_id, &messages, speech);
            match sent.await {
                // Somebody else may have taken the same message in: what is new in it is asked again.
                Err(EngineError::Conflict) => {}
                sent => return sent,
            }
        }
        Err(EngineError::Conflict)
    }

    /// Takes in what looks like the first message of a chat, without reading a journal that is
    /// likely to be empty. If it is not, the append conflicts, and nothing has happened: then, and
    /// where anything else is sent, there is no window yet.
    async fn send_first(
        &mut self,
        principal: &Principal,
        trigger: Trigger,
        message_id: Option<&str>,
        messages: &[Message],
        speech: Speech,
    ) -> Result<Option<WindowStream>, EngineError> {
        let may_be_new = self.chat.is_none() && self.results.is_empty() && messages.len() == 1;
        // Among other servers, it has to be looked up all the same whose the chat is.
        let is_alone = self.engine.shared.replica.is_none();
        if !may_be_new || !is_alone || self.engine.is_leaving() {
            return Ok(None);
        }
        let chat = Chat::default();
        let Ok(Intake::Open { message, after }) = chat.take(trigger, message_id, messages) else {
            return Ok(None);
        };
        if is_speech(&message) && !self.engine.hears() {
            return Ok(None);
        }
        self.chat = Some(chat);
        let input = Input::Message {
            message,
            principal: principal.clone(),
            after,
            ids: id::fresh(),
        };
        match self.perform(input, Some(principal)).await {
            // The chat was let go with what was thought of it.
            Err(EngineError::Conflict) => Ok(None),
            done => {
                done?;
                self.window(speech, None, 0).map(Some)
            }
        }
    }

    async fn send_once(
        &mut self,
        principal: &Principal,
        trigger: Trigger,
        message_id: Option<&str>,
        messages: &[Message],
        speech: Speech,
    ) -> Result<WindowStream, EngineError> {
        let chat = self.chat().await?;
        if chat.owner().is_some_and(|owner| owner != principal) {
            return Err(EngineError::UnknownChat);
        }
        match chat.take(trigger, message_id, messages)? {
            Intake::Open { message, .. } if is_speech(&message) && !self.engine.hears() => {
                Err(EngineError::Deaf)
            }
            // Whoever is asked next takes it in.
            Intake::Open { .. } if self.engine.is_leaving() => Err(EngineError::Closed),
            Intake::Open { message, after } => {
                let input = Input::Message {
                    message,
                    principal: principal.clone(),
                    after,
                    ids: id::fresh(),
                };
                self.perform(input, Some(principal)).await?;
                self.window(speech, None, 0)
            }
            Intake::Continue {
                turn,
                answers,
                seen,
            } => {
                // A page of the seeds sends no history: it has seen what led to its question.
                let current = self.chat.as_ref().and_then(Chat::current);
                let given = messages.last().map(Message::answers);
                let given = given.unwrap_or_default();
                let parked = current.map_or(0, |turn| seeds::seen(turn.transcript(), &given));
                for (gate, decision) in answers {
                    let input = Input::Answer { gate, decision };
                    self.perform(input, Some(principal)).await?;
                }
                match seen {
                    Some((position, message)) => {
                        let window = self.window(speech, Some(&turn), position)?;
                        Ok(window.believing(&message))
                    }
                    None if speech == Speech::Seeds => self.window(speech, None, parked),
                    None => self.replay(speech),
                }
            }
        }
    }

    /// A window on a turn, the current one if none is named, from a position on.
    fn window(
        &self,
        speech: Speech,
        turn: Option<&TurnId>,
        position: usize,
    ) -> Result<WindowStream, EngineError> {
        let (current, log) = self.log.as_ref().ok_or(EngineError::UnknownChat)?;
        let older = turn.filter(|turn| *turn != current);
        let log = match older.and_then(|id| self.chat.as_ref()?.turn(id)) {
            // Nothing more is said in it: its window closes where it ends.
            Some(turn) => Arc::new(Log::new(turn.message_id(), turn.transcript())),
            None => log.clone(),
        };
        Ok(WindowStream::continuing(log, speech, position))
    }

    /// A window on the whole of the current turn.
    fn replay(&self, speech: Speech) -> Result<WindowStream, EngineError> {
        let (_, log) = self.log.as_ref().ok_or(EngineError::UnknownChat)?;
        Ok(WindowStream::replaying(log.clone(), speech))
    }

    async fn resume(
        &mut self,
        principal: &Principal,
        speech: Speech,
    ) -> Result<Option<WindowStream>, EngineError> {
        let status = match self.chat_of(principal).await {
            Ok(chat) => chat.status(),
            // A page that resumes a chat which was never begun has nothing to complain about.
            Err(EngineError::UnknownChat) => None,
            Err(error) => return Err(error),
        };
        match status {
            Some(Status::Running | Status::Parked) => self.replay(speech).map(Some),
            _ => Ok(None),
        }
    }

    async fn stop(&mut self, principal: &Principal) -> Result<bool, EngineError> {
        let status = self.chat_of(principal).await?.status();
        let is_open = matches!(status, Some(Status::Running | Status::Parked));
        self.perform(Input::Stop, Some(principal)).await?;
        Ok(is_open)
    }

    async fn view(&mut self, principal: &Principal) -> Result<View, EngineError> {
        let chat = self.chat_of(principal).await?;
        View::of(chat).ok_or(EngineError::UnknownChat)
    }

    async fn forget(&mut self, principal: &Principal) -> Result<(), EngineError> {
        self.chat_of(principal).await?;
        self.perform(Input::Stop, Some(principal)).await?;
        self.engine.shared.journal.delete(&self.id).await?;
        self.engine.shared.held.remove(&self.id);
        self.tasks.stop();
        self.results.clear();
        self.chat = None;
        self.log = None;
        Ok(())
    }

    /// Closes an approval, and says how, unless somebody else was first.
    async fn answer(
        &mut self,
        principal: &Principal,
        gate: GateId,
        decision: Decision,
    ) -> Result<Option<Closed>, EngineError> {
        let chat = self.chat_of(principal).await?;
        let asked = chat.gate(&gate);
        let asked = asked.filter(|(_, gate, _)| matches!(gate.kind, GateKind::Approval { .. }));
        let Some((turn, asked, decided)) = asked else {
            return Err(EngineError::UnknownApproval);
        };
        if decided.is_some() {
            return Ok(None);
        }
        if let Decision::Approved {
            input: Some(input), ..
        } = &decision
        {
            let call = turn.call(&asked.call);
            if call.is_some_and(|call| call.place == Place::Agent) {
                let why =
                    "the agent runs this call by itself, with the input that it was asked about";
                return Err(EngineError::InvalidInput(why.to_owned()));
            }
            let tool = call.map(|call| call.tool.clone());
            let (tool, input) = (tool.unwrap_or_default(), input.clone());
            let checked = self.engine.shared.tools.check(&tool, &input, principal);
            checked.map_err(EngineError::InvalidInput)?;
        }
        let by = principal.clone();
        let input = Input::Answer {
            gate,
            decision: decision.clone(),
        };
        let appended = self.perform(input, Some(principal)).await?;
        Ok(appended.map(|at| Closed { decision, by, at }))
    }

    async fn output(
        &mut self,
        principal: &Principal,
        call: &CallId,
        output: Result<Value, String>,
    ) -> Result<bool, EngineError> {
        let chat = self.chat().await?;
        match chat.take_output(call, output)? {
            Some((gate, decision)) => {
                let input = Input::Answer { gate, decision };
                self.perform(input, Some(principal)).await?;
                Ok(true)
            }
            // Somebody else was first.
            None => Ok(false),
        }
    }

    /// Asks somebody for a tool that the agent runs by itself. A question that was asked before is
    /// the same question.
    async fn ask_for_agent(
        &mut self,
        provider_id: &str,
        nth: usize,
        ask: Ask,
    ) -> Result<Deciding, EngineError> {
        let turn = self.chat().await?.current();
        let call = turn.and_then(|turn| turn.call_of_agent(provider_id));
        let (Some(turn), Some(call)) = (turn, call) else {
            return Err(EngineError::UnknownCall);
        };
        let asked = turn.recorded(&call).gates.into_iter().nth(nth);
        let gate = match asked {
            Some((_, Some(decision))) => return Ok(Deciding::Decided(decision)),
            Some((gate, None)) => Some(gate),
            // Nobody waits for a call that is over.
            None if turn.outcome(&call).is_some() => {
                return Ok(Deciding::Decided(Decision::Cancelled));
            }
            None => None,
        };
        let ask = match ask {
            Ask::Approval { question, timeout } => Ask::Approval {
                question,
                timeout: timeout.or(self.engine.shared.patience),
            },
            page => page,
        };
        let (answer, decided) = oneshot::channel();
        self.tool_asks(None, call, gate, ask, answer).await?;
        Ok(Deciding::Open(decided))
    }

    async fn hear(&mut self, principal: &Principal, heard: Heard) -> Result<(), EngineError> {
        self.chat_of(principal).await?;
        self.tasks.hear(heard);
        Ok(())
    }
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
