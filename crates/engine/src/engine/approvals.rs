//! Approvals: which wait, and how they are answered.

use store::{Closed, GatePage, GatePlace, GateRecord, OpenGate};
use turn::gate::Decision;
use turn::{Event, GateId, Principal};

use super::Engine;
use crate::command::{CommandKind, Reply};
use crate::error::EngineError;

/// How many approvals are read at once where all are wanted.
const PAGE: usize = 200;

/// An approval, open or closed.
#[derive(Debug, Clone)]
pub struct Approval {
    /// What was asked, of which call.
    pub asked: OpenGate,
    /// How it was closed; nothing as long as it is open.
    pub closed: Option<Closed>,
}

/// What became of an answer.
#[derive(Debug, Clone)]
pub struct Answered {
    /// What was decided, by whom and when.
    pub closed: Closed,
    /// Whether that is what was answered here.
    pub agrees: bool,
}

impl Engine {
    /// The approvals that wait for a principal, oldest first: all of them, however many there are.
    /// A server that answers others reads them with [`Engine::approvals_page`].
    pub async fn approvals(&self, principal: &Principal) -> Result<Vec<OpenGate>, EngineError> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = self.approvals_page(principal, after, PAGE).await?;
            all.extend(page.gates);
            after = page.next;
            if after.is_none() {
                return Ok(all);
            }
        }
    }

    /// At most `limit` approvals that wait for a principal, from a position in the list on. A
    /// page may hold fewer though there are more: those that only pages answer are left out.
    pub async fn approvals_page(
        &self,
        principal: &Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Result<GatePage, EngineError> {
        let journal = &self.shared.journal;
        let mut page = journal.open_gates(principal, after, limit).await?;
        page.gates.retain(|open| open.gate.is_question());
        Ok(page)
    }

    /// One approval, open or closed. Only the owner of its chat may see it.
    pub async fn approval(
        &self,
        principal: &Principal,
        gate: &GateId,
    ) -> Result<Approval, EngineError> {
        let record = self.approval_record(principal, gate).await?;
        let entries = self.shared.journal.read(&record.chat, 0).await?;
        let events = entries.iter().flat_map(|entry| &entry.events);
        let mut calls = events.flat_map(Event::calls);
        let call = calls.find(|call| call.id == record.gate.call);
        let asked = OpenGate {
            call: call.cloned().ok_or(EngineError::UnknownApproval)?,
            chat: record.chat,
            turn: record.turn,
            gate: record.gate,
            asked: record.asked,
        };
        let closed = record.closed;
        Ok(Approval { asked, closed })
    }

    async fn approval_record(
        &self,
        principal: &Principal,
        gate: &GateId,
    ) -> Result<GateRecord, EngineError> {
        let record = self.shared.journal.gate(gate).await?;
        let record =
            record.filter(|record| record.gate.is_question() && record.owner == *principal);
        record.ok_or(EngineError::UnknownApproval)
    }

    /// Answers an approval, from anywhere. The first answer wins.
    pub async fn answer(
        &self,
        principal: &Principal,
        gate: &GateId,
        decision: Decision,
    ) -> Result<Answered, EngineError> {
        self.answer_to(principal, gate, decision, None).await
    }

    /// The same with the digest of what the person was shown, where it is known: the answer then counts
    /// only if that is what is asked.
    pub async fn answer_to(
        &self,
        principal: &Principal,
        gate: &GateId,
        decision: Decision,
        digest: Option<String>,
    ) -> Result<Answered, EngineError> {
        let chat = match self.shared.approvals.chat_of(gate) {
            Some(chat) => chat,
            None => self.approval_record(principal, gate).await?.chat,
        };
        let kind = CommandKind::Answer {
            gate: gate.clone(),
            decision: decision.clone(),
            digest,
        };
        match self.ask(principal, &chat, kind).await {
            Ok(Reply::Closed(closed)) => Ok(Answered {
                closed,
                agrees: true,
            }),
            // Somebody else was first, or it was done elsewhere: the journal says by whom and when.
            Ok(reply) => {
                let record = self.shared.journal.gate(gate).await?;
                let closed = record.and_then(|record| record.closed);
                let closed = closed.ok_or(EngineError::UnknownApproval)?;
                let agrees = match reply {
                    Reply::Taken(agrees) => agrees,
                    // A server of an older version does not say.
                    _ => closed.decision.approved() == decision.approved(),
                };
                Ok(Answered { closed, agrees })
            }
            // An approval of somebody else's chat is as unknown as one that was never asked for.
            Err(EngineError::UnknownChat) => Err(EngineError::UnknownApproval),
            Err(error) => Err(error),
        }
    }
}
