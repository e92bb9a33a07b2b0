//! Answers that come by themselves: an approval is closed, or a call's output is taken in.

use serde_json::Value;
use store::Closed;
use tools::answer::check_answer;
use turn::answer::{Answer, Reception, Requirement};
use turn::call::{Call, Place};
use turn::gate::Decision;
use turn::refusal::{Refusal, RefusalCode};
use turn::{Actor, At, CallId, Chat, GateId, Turn};

use super::Driver;
use super::job::Next;
use super::reply::Reply;
use crate::error::EngineError;

impl Driver {
    /// Closes an approval, and says how, unless somebody else was first.
    pub(super) fn answer(
        &mut self,
        answer: &Answer,
        wrote: Option<Option<At>>,
    ) -> Result<Next, EngineError> {
        let by = answer.by.clone();
        let given = (answer.gate.clone(), answer.decision.clone());
        if let Some(at) = wrote {
            let (_, decision) = given;
            let closed = at.map(|at| Closed { decision, by, at });
            return Ok(Next::Done(Ok(
                closed.map_or(Reply::Taken(true), Reply::Closed)
            )));
        }
        let chat = self.chat.as_ref().ok_or(EngineError::UnknownApproval)?;
        match chat.receive(answer).map_err(not_found)? {
            Reception::Counts => self.check_requirements(std::slice::from_ref(&given))?,
            late => return Ok(Next::Done(Ok(Reply::Taken(late == Reception::Agrees)))),
        }
        let (gate, decision) = given;
        let input = turn::Input::Answer { gate, decision };
        Ok(Next::Write {
            input,
            by: Some(by),
        })
    }

    pub(super) fn output(
        &mut self,
        by: Actor,
        call: &CallId,
        output: &Result<Value, String>,
        is_written: bool,
    ) -> Result<Next, EngineError> {
        if is_written {
            return Ok(Next::Done(Ok(Reply::Taken(true))));
        }
        let chat = self.chat.as_ref().ok_or(EngineError::UnknownCall)?;
        let taken = chat.take_output(&by, call, output.clone());
        let taken = taken.map_err(not_found)?;
        self.check_requirements(taken.as_slice())?;
        Ok(match taken {
            Some((gate, decision)) => Next::Write {
                input: turn::Input::Answer { gate, decision },
                by: Some(by),
            },
            // Somebody else was first.
            None => Next::Done(Ok(Reply::Taken(false))),
        })
    }

    /// Refuses answers that do not fit what their tools declare, or what was asked for. Nothing of the
    /// request is then taken.
    pub(super) fn check_requirements(
        &self,
        answers: &[(GateId, Decision)],
    ) -> Result<(), EngineError> {
        let Some(chat) = &self.chat else {
            return Ok(());
        };
        for (gate, decision) in answers {
            match chat.requirement((gate, decision), answers) {
                None => {}
                Some(Requirement::Input { tool, input }) => {
                    let owner = chat.owner().ok_or(EngineError::UnknownChat)?;
                    let checked = self.tools().check(tool, input, owner);
                    checked.map_err(EngineError::InvalidInput)?;
                }
                Some(Requirement::Output { tool, output }) => {
                    let checked = self.tools().check_output(tool, output);
                    checked.map_err(EngineError::InvalidOutput)?;
                }
                Some(Requirement::Data { schema, output }) => {
                    check_answer(schema, output).map_err(EngineError::InvalidAnswer)?;
                }
            }
        }
        Ok(())
    }
}

/// What is named by itself, and is not there, is not found.
fn not_found(refusal: Refusal) -> EngineError {
    match refusal.code {
        RefusalCode::UnknownApproval => EngineError::UnknownApproval,
        RefusalCode::UnknownCall => EngineError::UnknownCall,
        _ => refusal.into(),
    }
}

/// The call whose result the agent's side sends: the last client call with this id of the agent's, or
/// else the call with this id.
pub(super) fn brought(chat: &Chat, id: &str) -> Option<CallId> {
    let calls = chat.path().flat_map(Turn::calls);
    let is_meant = |call: &&Call| call.provider_id.as_deref() == Some(id);
    let outside = calls.filter(|call| is_meant(call) && call.place == Place::Client);
    let ours = || Some(chat.call(&CallId::from(id))?.1);
    outside.last().or_else(ours).map(|call| call.id.clone())
}
