//! What a tool can do while it runs.

mod inner;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::oneshot;
use turn::call::Outcome;
use turn::gate::Decision;
use turn::reason::TIMED_OUT;
use turn::turn::{Recorded, RecordedGate};
use turn::{CallId, ChatId, GateId, Principal, TraceContext};

use self::inner::Inner;
use crate::answer;
use crate::fence::Fence;
use crate::tool::ToolError;
use crate::toolset::Tools;
use crate::work::{Ask, ToolDoes, Work, WorkSender};

/// What a tool can do while it runs.
///
/// A tool that waits for a person costs nothing but its memory. If the server stops meanwhile, the
/// function is run again from its start once there is an answer: each question is answered from the
/// journal, and steps under [`Context::once`] give their recorded results. Code outside of
/// `once` and before a question runs again.
#[derive(Clone)]
pub struct Context {
    chat: ChatId,
    /// Which run of the call this is.
    run: u64,
    call: CallId,
    principal: Principal,
    fence: Fence,
    trace: Option<TraceContext>,
    tools: Tools,
    work: WorkSender,
    recorded: Arc<Recorded>,
    /// The gates of an earlier run that this one has asked for again.
    used: Arc<Mutex<Vec<GateId>>>,
    /// The call that an agent makes inside of this one, where this is its context.
    inner: Option<Arc<Inner>>,
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
    /// The question expired.
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
    /// What becomes of a call to which it was said.
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Denied { reason } => Outcome::Denied { reason },
            other => Outcome::Error {
                error: other.to_string(),
            },
        }
    }
}

impl Context {
    /// Of one run of a call: for who runs tools.
    pub fn new(
        chat: ChatId,
        run: u64,
        call: CallId,
        principal: Principal,
        tools: Tools,
        work: WorkSender,
        recorded: Recorded,
    ) -> Self {
        let fence = Fence {
            scope: chat.to_string(),
            epoch: 0,
        };
        Self {
            fence,
            trace: None,
            chat,
            run,
            call,
            principal,
            tools,
            work,
            recorded: Arc::new(recorded),
            used: Arc::default(),
            inner: None,
        }
    }

    /// The same under a claim of the chat: for who runs tools.
    #[must_use]
    pub fn with_fence(mut self, fence: Fence) -> Self {
        self.fence = fence;
        self
    }

    /// The same within a distributed trace: for who runs tools.
    #[must_use]
    pub fn with_trace(mut self, trace: Option<TraceContext>) -> Self {
        self.trace = trace;
        self
    }

    /// The call's span, if the turn is traced: its text is the header `traceparent` for requests that the
    /// tool makes.
    pub fn trace(&self) -> Option<TraceContext> {
        self.trace.clone()
    }

    /// The chat.
    pub fn chat(&self) -> &ChatId {
        &self.chat
    }

    /// The call: a key under which the tool can make itself idempotent.
    pub fn call(&self) -> &CallId {
        self.inner.as_ref().map_or(&self.call, |inner| &inner.id)
    }

    /// Under which claim of the chat this runs: a token with which what the tool changes can refuse a run
    /// that another server has replaced.
    pub fn fence(&self) -> &Fence {
        &self.fence
    }

    /// Who is speaking.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Asks a person, and waits for the answer: a yes, or why not.
    pub async fn approve(&self, question: impl Into<String>) -> Result<(), Refused> {
        self.approve_within(question, None).await
    }

    /// The same with a time limit for the answer.
    pub async fn approve_within(
        &self,
        question: impl Into<String>,
        timeout: impl Into<Option<Duration>>,
    ) -> Result<(), Refused> {
        let (question, timeout) = (question.into(), timeout.into());
        let Some(inner) = &self.inner else {
            let ask = Ask::Approval { question, timeout };
            return approved(self.decision(ask).await?);
        };
        self.approve_within_inner(inner, question, timeout).await
    }

    /// Asks a person for data that fits a JSON Schema, and waits for it. An answer that does not fit is
    /// refused where it is given, so what comes back fits. A person who declines gives
    /// [`Refused::Denied`].
    pub async fn ask(&self, question: impl Into<String>, schema: Value) -> Result<Value, Refused> {
        self.ask_within(question, schema, None).await
    }

    /// The same with a time limit for the answer.
    pub async fn ask_within(
        &self,
        question: impl Into<String>,
        schema: Value,
        timeout: impl Into<Option<Duration>>,
    ) -> Result<Value, Refused> {
        let question = question.into();
        // Before it counts as a question: a run that is repeated refuses it again.
        let checked = answer::check_question(&question, &schema);
        checked.map_err(|why| Refused::Failed(format!("This can't be asked: {why}")))?;
        let ask = Ask::Data {
            question,
            schema,
            path: self.path().to_vec(),
            timeout: timeout.into(),
        };
        match self.ask_somebody(ask).await? {
            Decision::Output { output } => Ok(output),
            other => Err(refused(other)),
        }
    }

    /// Asks a person for a value of a type, whose schema is derived from it.
    pub async fn ask_for<T: JsonSchema + DeserializeOwned>(
        &self,
        question: impl Into<String>,
    ) -> Result<T, ToolError> {
        let schema = schemars::schema_for!(T).to_value();
        let answer = self.ask(question, schema).await?;
        serde_json::from_value(answer)
            .map_err(|error| ToolError::new(format!("The answer is not as expected: {error}")))
    }

    /// Has the page run one of its tools, and waits for the output.
    pub async fn client<O: DeserializeOwned>(
        &self,
        tool: &str,
        input: impl Serialize,
    ) -> Result<O, ToolError> {
        let input = serde_json::to_value(input);
        let input = input.map_err(|error| ToolError::new(error.to_string()))?;
        // Before it counts as a question: a run that is repeated refuses it again.
        let checked = self.tools.check_page_call(tool, &input);
        checked.map_err(|why| ToolError::new(format!("{tool} does not take this input: {why}")))?;
        let ask = Ask::Page {
            tool: tool.to_owned(),
            input,
            timeout: None,
        };
        match self.ask_somebody(ask).await? {
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
        if let Some(value) = self.record(name) {
            return read(value.clone());
        }
        let output = step.await?;
        let value = serde_json::to_value(&output);
        let value = value.map_err(|error| ToolError::new(error.to_string()))?;
        let (done, is_done) = oneshot::channel();
        let record = Work::Record {
            run: self.run,
            call: self.call.clone(),
            name: self.record_name(name),
            value,
            done,
        };
        let sent = self.work.send(record).await;
        sent.map_err(|_| Refused::Cancelled)?;
        is_done.await.map_err(|_| Refused::Cancelled)?;
        Ok(output)
    }

    /// Whether an earlier run has recorded a step of this name.
    pub fn is_recorded(&self, name: &str) -> bool {
        self.record(name).is_some()
    }

    fn record(&self, name: &str) -> Option<&Value> {
        let name = self.record_name(name);
        let mut records = self.recorded.records.iter();
        records
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// Calls inside of one another record under names of their own.
    fn record_name(&self, name: &str) -> String {
        match &self.inner {
            Some(inner) => format!("{}: {name}", inner.call.key),
            None => name.to_owned(),
        }
    }

    /// Shows how far the work has come: an output that is not final.
    pub async fn progress(&self, output: impl Serialize) {
        if let Ok(output) = serde_json::to_value(output) {
            let progress = Work::Tool {
                run: self.run,
                call: self.call.clone(),
                does: ToolDoes::Progress { output },
            };
            // A turn that is over has nobody left to show it to.
            let _ = self.work.send(progress).await;
        }
    }

    /// The gate at which an earlier run asked the same, the first that this run has not asked for yet.
    fn recorded_gate(&self, ask: &Ask) -> Option<&RecordedGate> {
        // Nothing that holds the lock can panic half-way through a change.
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let mut gates = self.recorded.gates.iter();
        let same = gates.find(|gate| ask.is_asked_by(gate) && !used.contains(&gate.id));
        match same {
            Some(gate) => used.push(gate.id.clone()),
            // Nested calls with a recorded result do not ask again.
            None if used.len() < self.recorded.gates.len() && self.inner.is_none() => {
                tracing::warn!(
                    chat = %self.chat, call = %self.call,
                    "tool asked a different question on replay; earlier answer discarded"
                )
            }
            None => {}
        }
        same
    }

    /// What is decided at a gate: one of an earlier run that asked the same, or a new one.
    async fn decision(&self, ask: Ask) -> Result<Decision, Refused> {
        let gate = match self.recorded_gate(&ask) {
            Some(RecordedGate {
                decision: Some(decision),
                ..
            }) => return Ok(decision.clone()),
            recorded => recorded.map(|recorded| recorded.id.clone()),
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

fn approved(decision: Decision) -> Result<(), Refused> {
    match decision {
        Decision::Approved { .. } => Ok(()),
        other => Err(refused(other)),
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
