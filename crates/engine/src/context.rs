//! What a tool can do while it runs.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use turn::call::Outcome;
use turn::gate::Decision;
use turn::telling::TIMED_OUT;
use turn::turn::Recorded;
use turn::{CallId, ChatId, Principal};

use crate::tool::ToolError;
use crate::work::{Ask, Work};

/// What a tool can do while it runs.
///
/// A tool that waits for a person costs nothing but its memory. If the server stops meanwhile, the
/// function is run again from its start once there is an answer: each question is answered from the
/// journal, and steps under [`Context::once`] give their recorded results. What stands outside of
/// `once` and before a question runs again.
#[derive(Clone)]
pub struct Context {
    chat: ChatId,
    /// Which run of the call this is.
    run: u64,
    call: CallId,
    principal: Principal,
    work: mpsc::Sender<Work>,
    recorded: Arc<Recorded>,
    asked: Arc<AtomicUsize>,
}

impl fmt::Debug for Context {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Context")
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}

/// Why somebody who was asked did not say yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// A person said no.
    Denied {
        /// Why.
        reason: Option<String>,
    },
    /// Nobody answered in time.
    TimedOut,
    /// The page could not do it.
    Failed(String),
    /// The turn was stopped.
    Cancelled,
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied {
                reason: Some(reason),
            } => write!(out, "Denied: {reason}"),
            Self::Denied { reason: None } => out.write_str("Denied"),
            Self::TimedOut => out.write_str(TIMED_OUT),
            Self::Failed(why) => out.write_str(why),
            Self::Cancelled => out.write_str("The turn was stopped."),
        }
    }
}

impl Refused {
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Denied { reason } => Outcome::Denied { reason },
            other => Outcome::Error {
                error: other.to_string(),
            },
        }
    }
}

impl Context {
    pub(crate) fn new(
        chat: ChatId,
        run: u64,
        call: CallId,
        principal: Principal,
        work: mpsc::Sender<Work>,
        recorded: Recorded,
    ) -> Self {
        Self {
            chat,
            run,
            call,
            principal,
            work,
            recorded: Arc::new(recorded),
            asked: Arc::new(AtomicUsize::new(0)),
        }
    }

    /// The chat.
    pub fn chat(&self) -> &ChatId {
        &self.chat
    }

    /// The call: a key under which the tool can make itself idempotent.
    pub fn call(&self) -> &CallId {
        &self.call
    }

    /// Who is speaking.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Asks a person, and waits for the answer: a yes, or why not.
    pub async fn approve(&self, question: impl Into<String>) -> Result<(), Refused> {
        self.approve_within(question, None).await
    }

    /// The same with a time after which nobody need answer any more.
    pub async fn approve_within(
        &self,
        question: impl Into<String>,
        timeout: impl Into<Option<Duration>>,
    ) -> Result<(), Refused> {
        let ask = Ask::Approval {
            question: question.into(),
            timeout: timeout.into(),
        };
        match self.ask(ask).await? {
            Decision::Approved { .. } => Ok(()),
            other => Err(refused(other)),
        }
    }

    /// Has the page run one of its tools, and waits for the output.
    pub async fn client<O: DeserializeOwned>(
        &self,
        tool: &str,
        input: impl Serialize,
    ) -> Result<O, ToolError> {
        let input = serde_json::to_value(input);
        let ask = Ask::Page {
            tool: tool.to_owned(),
            input: input.map_err(|error| ToolError::new(error.to_string()))?,
            timeout: None,
        };
        match self.ask(ask).await? {
            Decision::Output { output } => serde_json::from_value(output).map_err(|error| {
                ToolError::new(format!("The page's output is not as expected: {error}"))
            }),
            other => Err(refused(other).into()),
        }
    }

    /// Runs a step of the tool's work at most once, whatever happens to the server: its result is
    /// recorded under a name, and given again.
    pub async fn once<O, Fut>(&self, name: &str, step: Fut) -> Result<O, ToolError>
    where
        O: Serialize + DeserializeOwned,
        Fut: Future<Output = Result<O, ToolError>>,
    {
        let recorded = self
            .recorded
            .records
            .iter()
            .find(|(known, _)| known == name);
        if let Some((_, value)) = recorded {
            return read(value.clone());
        }
        let output = step.await?;
        let value = serde_json::to_value(&output);
        let value = value.map_err(|error| ToolError::new(error.to_string()))?;
        let (done, is_done) = oneshot::channel();
        let record = Work::Record {
            run: self.run,
            call: self.call.clone(),
            name: name.to_owned(),
            value,
            done,
        };
        let sent = self.work.send(record).await;
        sent.map_err(|_| Refused::Cancelled)?;
        is_done.await.map_err(|_| Refused::Cancelled)?;
        Ok(output)
    }

    /// Shows how far the work has come: an output that is not final.
    pub async fn progress(&self, output: impl Serialize) {
        if let Ok(output) = serde_json::to_value(output) {
            let (run, call) = (self.run, self.call.clone());
            // A turn that is over has nobody left to show it to.
            let _ = self.work.send(Work::Progress { run, call, output }).await;
        }
    }

    async fn ask(&self, ask: Ask) -> Result<Decision, Refused> {
        let n = self.asked.fetch_add(1, Ordering::Relaxed);
        let gate = match self.recorded.gates.get(n) {
            Some((_, Some(decision))) => return Ok(decision.clone()),
            Some((gate, None)) => Some(gate.clone()),
            None => None,
        };
        let (answer, decided) = oneshot::channel();
        let ask = Work::Ask {
            run: self.run,
            call: self.call.clone(),
            gate,
            ask,
            answer,
        };
        self.work.send(ask).await.map_err(|_| Refused::Cancelled)?;
        decided.await.map_err(|_| Refused::Cancelled)
    }
}

fn read<O: DeserializeOwned>(value: Value) -> Result<O, ToolError> {
    serde_json::from_value(value)
        .map_err(|error| ToolError::new(format!("What was recorded can't be read: {error}")))
}

fn refused(decision: Decision) -> Refused {
    match decision {
        Decision::Denied { reason } => Refused::Denied { reason },
        Decision::TimedOut => Refused::TimedOut,
        Decision::Failed { error } => Refused::Failed(error),
        _ => Refused::Cancelled,
    }
}
