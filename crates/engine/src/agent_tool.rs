//! An agent that another one uses as a tool: a model with an instruction and tools of its own, which works
//! inside of one call.
//!
//! The call records each step of the agent and each result of its tools, and is run again after a crash:
//! what is recorded is not done again. A tool that was at work has an unknown outcome, unless it may run
//! twice. What the policies of its tools ask is asked of the same people, at calls of their own inside of
//! the call, with the path of who asks.

mod step;

use std::sync::Arc;

use agents::Agent;
use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::task::JoinSet;
use tools::tool::Returned;
use tools::{AnyTool, Context, Refused, ToolError, Tools, Verdict, tool};
use turn::agent::{CallResult, HistoryItem, StepRequest};
use turn::call::{Call, InnerCall, Outcome, Place, UnknownReason};
use turn::message::{Message, Part};

use self::step::InnerStep;

/// An agent that asks its model more often than this for one call is not going anywhere.
const MAX_STEPS: usize = 32;

/// An agent that others may use as a tool.
pub struct InnerAgent {
    /// Its name, which is the tool's.
    pub name: String,
    /// What it does, for the agent that uses it.
    pub description: String,
    /// Its model.
    pub agent: Arc<dyn Agent>,
    /// Its tools, with their policies.
    pub tools: Tools,
}

/// What an agent is asked.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Request {
    /// What it is to do, with everything that it needs to know: it sees nothing else of the conversation.
    request: String,
}

impl InnerAgent {
    /// The tool by which an agent of this name uses it.
    pub fn tool_of(self, caller: &str) -> AnyTool {
        let (name, description) = (self.name.clone(), self.description.clone());
        let inner = Arc::new(self);
        let caller: Arc<str> = caller.into();
        let run = move |context: Context, request: Request| {
            let (inner, caller) = (inner.clone(), caller.clone());
            async move { inner.run(&caller, context, request).await }
        };
        // What it does is recorded, so the call may be run again.
        tool(&name, &description, run).idempotent().into()
    }

    async fn run(
        self: Arc<Self>,
        caller: &str,
        context: Context,
        request: Request,
    ) -> Result<Value, ToolError> {
        let mut path = context.path().to_vec();
        if path.is_empty() {
            path.push(caller.to_owned());
        }
        path.push(self.name.clone());
        let asked = Message::new("request", vec![Part::text(request.request)]);
        let mut history = vec![HistoryItem::Message(asked)];
        for n in 0..MAX_STEPS {
            let request = self.request(&context, &history);
            let step = InnerStep::run(&self.name, &*self.agent, request);
            let step: InnerStep = context.once(&format!("step {n}"), step).await?;
            let calls: Vec<Call> = step.calls(&context, n).collect();
            if calls.is_empty() {
                return Ok(step.text().into());
            }
            let results = calls
                .iter()
                .enumerate()
                .map(|(i, call)| self.call(&context, format!("{n}.{i}"), &path, call));
            let results: Result<Vec<Outcome>, ToolError> =
                join_all(results).await.into_iter().collect();
            let results = calls.into_iter().zip(results?);
            let results = results.map(|(call, outcome)| CallResult {
                call,
                edited_input: None,
                outcome,
            });
            let results = results.collect();
            let parts = step.into_parts(&context, n);
            history.push(HistoryItem::Step { parts, results });
        }
        let name = &self.name;
        Err(ToolError::new(format!(
            "{name} asked for more than {MAX_STEPS} steps."
        )))
    }

    fn request(&self, context: &Context, history: &[HistoryItem]) -> StepRequest {
        StepRequest {
            chat: context.chat().clone(),
            turn: context.call().as_str().into(),
            principal: context.principal().clone(),
            history: Arc::new(history.to_vec()),
            tools: self.tools.declarations(),
            session: None,
            own: Vec::new(),
            is_again: false,
            trace: context.trace(),
        }
    }

    /// What becomes of a call of the agent's.
    async fn call(
        &self,
        context: &Context,
        key: String,
        path: &[String],
        call: &Call,
    ) -> Result<Outcome, ToolError> {
        let made = InnerCall {
            key,
            tool: call.tool.clone(),
            input: call.input.clone(),
            path: path.to_vec(),
        };
        let inner = context.inner(made, self.tools.clone());
        let outcome = inner.once("result", self.decide(&inner, call)).await?;
        inner.settle_inner(outcome.clone()).await;
        Ok(outcome)
    }

    async fn decide(&self, context: &Context, call: &Call) -> Result<Outcome, ToolError> {
        let policy = self
            .tools
            .rule(&call.tool, &call.input, context.principal());
        match policy.verdict {
            Verdict::Invalid { error } => return Ok(Outcome::Invalid { error }),
            Verdict::Deny { reason } => {
                let reason = Some(reason);
                return Ok(Outcome::Denied { reason });
            }
            Verdict::Ask { question } => {
                match context.approve_inner(question, policy.timeout).await {
                    Ok(()) => {}
                    Err(Refused::Cancelled) => return Err(Refused::Cancelled.into()),
                    Err(refused) => return Ok(refused.outcome()),
                }
            }
            Verdict::Allow => {}
        }
        match policy.place {
            Place::Client => self.run_in_page(context, call).await,
            Place::Server | Place::Agent => self.run_here(context, call).await,
        }
    }

    async fn run_in_page(&self, context: &Context, call: &Call) -> Result<Outcome, ToolError> {
        let output: Result<Value, ToolError> = context.client(&call.tool, &call.input).await;
        Ok(match output {
            Ok(output) => match self.tools.check_output(&call.tool, &output) {
                Ok(()) => Outcome::Output { output },
                Err(why) => Outcome::Error {
                    error: format!("The page's output is not as declared: {why}"),
                },
            },
            Err(ToolError::Refused(Refused::Cancelled)) => return Err(Refused::Cancelled.into()),
            Err(error) => Outcome::Error {
                error: error.to_string(),
            },
        })
    }

    async fn run_here(&self, context: &Context, call: &Call) -> Result<Outcome, ToolError> {
        let failed = |error: String| Ok(Outcome::Error { error });
        let tool = match self.tools.find_to_run(&call.tool) {
            Ok(tool) => tool,
            Err(error) => return failed(error),
        };
        let Some(function) = tool.function() else {
            return failed(format!("{} does not run here.", call.tool));
        };
        let was_started = context.is_recorded("started");
        if was_started && !tool.is_idempotent() && !context.was_asking() {
            let reason = UnknownReason::ServerStopped;
            return Ok(Outcome::Unknown { reason });
        }
        let _: bool = context.once("started", async { Ok(true) }).await?;
        let (inside, input) = (context.clone(), call.input.clone());
        // In a set, so that the tool ends with this call, and a panic of it does not.
        let mut running = JoinSet::new();
        running.spawn(async move {
            match function(inside, input).await {
                Returned::Done(outcome) => outcome,
                // The agent has nothing to do meanwhile.
                Returned::Later(_, rest) => rest.await,
            }
        });
        match running.join_next().await {
            Some(Ok(outcome)) => Ok(outcome),
            Some(Err(_)) | None => failed("The tool crashed.".to_owned()),
        }
    }
}

/// Models leave the input out where a tool takes nothing.
fn named_fields(input: Value) -> Value {
    match input {
        Value::Null => Value::Object(Map::new()),
        input => input,
    }
}
