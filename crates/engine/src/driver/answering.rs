//! Answers that come by themselves: an approval is closed, or a call's output is taken in.

use serde_json::Value;
use store::Closed;
use tools::answer::check_answer;
use turn::answer::{Answer, Reception};
use turn::call::{Call, Place};
use turn::gate::Decision;
use turn::refusal::RefusalCode;
use turn::{At, CallId, Chat, GateId, Principal, Turn};

use super::Driver;
use super::job::Next;
use super::reply::Reply;
use crate::error::EngineError;

impl Driver {
    /// Closes an approval, and says how, unless somebody else was first.
    pub(super) fn answer(
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
            Err(refusal) if refusal.code == RefusalCode::UnknownApproval => {
                return Err(EngineError::UnknownApproval);
            }
            Err(refusal) => return Err(refusal.into()),
        }
        if let Some(input) = answer.decision.input()
            && let Some((turn, asked, _)) = chat.gate(&answer.gate)
            && let Some(call) = turn.call(&asked.call)
        {
            let checked = self.tools().check(&call.tool, input, principal);
            checked.map_err(EngineError::InvalidInput)?;
        }
        self.check_outputs(&[(answer.gate.clone(), answer.decision.clone())])?;
        Ok(Next::Write {
            input: turn::Input::Answer {
                gate: answer.gate.clone(),
                decision: answer.decision.clone(),
            },
            by: Some(principal.clone().into()),
        })
    }

    pub(super) fn output(
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

    /// Refuses outputs that are not what their tools declare, and answers that are not what was asked
    /// for. Nothing of the request is then taken.
    pub(super) fn check_outputs(&self, answers: &[(GateId, Decision)]) -> Result<(), EngineError> {
        for (gate, decision) in answers {
            let Decision::Output { output } = decision else {
                continue;
            };
            let chat = self.chat.as_ref();
            let asked = chat.and_then(|chat| chat.gate(gate));
            if let Some(schema) = asked.and_then(|(_, gate, _)| gate.kind.schema()) {
                check_answer(schema, output).map_err(EngineError::InvalidAnswer)?;
                continue;
            }
            let call = chat.and_then(|chat| chat.call_of_answer(gate, answers));
            if let Some(call) = call {
                let checked = self.tools().check_output(&call.tool, output);
                checked.map_err(EngineError::InvalidOutput)?;
            }
        }
        Ok(())
    }
}

/// The call that the agent's side has done: the last that is to be done outside under an id of the
/// agent's, or the one of that id.
pub(super) fn brought(chat: &Chat, id: &str) -> Option<CallId> {
    let calls = chat.path().flat_map(Turn::calls);
    let is_meant = |call: &&Call| call.provider_id.as_deref() == Some(id);
    let outside = calls.filter(|call| is_meant(call) && call.place == Place::Client);
    let ours = || Some(chat.call(&CallId::from(id))?.1);
    outside.last().or_else(ours).map(|call| call.id.clone())
}
