//! What comes from the agent's side: questions of tools that it runs by itself, and outputs of what they
//! have begun.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use tools::work::Ask;
use turn::gate::Decision;
use turn::{CallId, ChatId, Principal};

use super::Engine;
use crate::command::{CommandKind, Reply};
use crate::error::EngineError;

/// Who gives commands for the agent's side. No chat is its own, and the journal names the agent.
const AGENT: &str = "agent";

/// What a tool that the agent runs by itself asks.
#[derive(Debug, Clone)]
pub struct Question {
    /// The id that the agent gave the call.
    pub call: String,
    /// How many questions the tool has asked before this one: one that is asked again is the same.
    pub nth: usize,
    /// Whom, and what.
    pub ask: Ask,
}

impl Engine {
    /// The same from the agent's side, as by a worker that does what one of its tools has begun. It
    /// may bring an output to any chat. Where it names the chat, the call may also be named by the id
    /// that the agent gave it.
    pub async fn output_of_agent(
        &self,
        chat: Option<ChatId>,
        call: &str,
        output: Result<Value, String>,
    ) -> Result<bool, EngineError> {
        let chat = match chat {
            Some(chat) => Some(chat),
            None => self.shared.journal.call(&CallId::from(call)).await?,
        };
        let chat = chat.ok_or(EngineError::UnknownCall)?;
        let call = call.to_owned();
        let kind = CommandKind::Bring { call, output };
        self.settle(&Principal::from(AGENT), chat, kind).await
    }

    /// A tool that the agent runs by itself asks somebody, in the middle of its work: what was
    /// decided, if that happens within a time limit. Who waits longer asks the same again.
    pub async fn ask_for_agent(
        &self,
        chat: &ChatId,
        question: Question,
        time_limit: Duration,
    ) -> Result<Option<Decision>, EngineError> {
        // The tool may be faster than the stream that tells of its call.
        let late = Instant::now() + time_limit;
        loop {
            let kind = CommandKind::Ask {
                provider_id: question.call.clone(),
                nth: question.nth,
                ask: question.ask.clone(),
            };
            match self.ask(&Principal::from(AGENT), chat, kind).await {
                Ok(Reply::Asked(deciding)) => return Ok(deciding.within(time_limit).await),
                Err(EngineError::UnknownCall) if Instant::now() < late => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                Ok(_) => return Err(EngineError::Closed),
                Err(error) => return Err(error),
            }
        }
    }
}
