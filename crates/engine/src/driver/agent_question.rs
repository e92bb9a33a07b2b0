//! A question of a tool that the agent runs by itself.

use tools::answer::check_question;
use tools::work::Ask;
use turn::gate::Decision;
use turn::refusal::{Refusal, RefusalCode};
use turn::turn::RecordedGate;
use turn::{Chat, GateId};

use super::job::Next;
use super::reply::{QuestionState, Reply};
use super::{Driver, work};
use crate::error::EngineError;

impl Driver {
    /// Asks somebody for a tool that the agent runs by itself. A question that was asked before is
    /// the same question.
    pub(super) fn ask_for_agent(
        &mut self,
        provider_id: &str,
        nth: usize,
        ask: &Ask,
        before: &mut Option<Option<GateId>>,
    ) -> Result<Next, EngineError> {
        if let Ask::Data {
            question, schema, ..
        } = ask
        {
            let checked = check_question(question, schema);
            checked.map_err(|why| {
                let message = format!("This can't be asked: {why}");
                EngineError::Refused(Refusal::new(RefusalCode::BadRequest, message))
            })?;
        }
        let turn = self.chat.as_deref().and_then(Chat::current);
        let call = turn.and_then(|turn| turn.call_of_agent(provider_id));
        let (Some(turn), Some(call)) = (turn, call) else {
            return Err(EngineError::UnknownCall);
        };
        let decided = |decision| Ok(Next::asked(QuestionState::Decided(decision)));
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
                        if let Ask::Approval { timeout, .. } | Ask::Data { timeout, .. } = &mut ask
                        {
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
                Ok(Next::asked(QuestionState::Waits(gate)))
            }
            None => Ok(Next::asked(QuestionState::Again)),
        }
    }
}

impl Next {
    fn asked(asked: QuestionState) -> Self {
        Self::Done(Ok(Reply::Asked(asked)))
    }
}
