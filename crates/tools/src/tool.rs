//! A tool: a typed function with a schema, a policy and a place where it runs.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use turn::Principal;
use turn::agent::Behavior;
use turn::call::{Outcome, Place, UnknownReason};
use turn::policy::Verdict;

use crate::context::{Context, Refused};
use crate::fence::Fence;
use crate::schema::Schema;

/// A future that a tool returns.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
/// The function of a tool.
pub type Run = Arc<dyn Fn(Context, Value) -> BoxFuture<Returned> + Send + Sync>;
/// What is done when another server has taken a call over.
pub type TakenOver = Arc<dyn Fn(Fence) -> BoxFuture<Result<(), ToolError>> + Send + Sync>;
type Policy<I> = Arc<dyn Fn(&I, &Principal) -> Verdict + Send + Sync>;
type Judge = Policy<Value>;

/// What a tool's function came to.
pub enum Returned {
    /// It is done.
    Done(Outcome),
    /// Something for now, and the work that continues.
    Later(Value, BoxFuture<Outcome>),
}

#[cfg(feature = "mcp")]
impl Returned {
    /// It failed; the model and the page get the reason.
    pub(crate) fn failed(error: String) -> Self {
        Self::Done(Outcome::Error { error })
    }
}

/// A tool whose input is an `I`.
///
/// ```
/// use adk_stream_tools::{Context, ToolError, tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Greet { name: String }
///
/// let greet = tool("greet", "Greets somebody", async |_: Context, input: Greet| {
///     Ok::<_, ToolError>(format!("Hello, {}", input.name))
/// });
/// ```
pub struct Tool<I> {
    name: String,
    description: String,
    place: Place,
    policy: Policy<I>,
    timeout: Option<Duration>,
    is_idempotent: bool,
    behavior: Behavior,
    /// The input's schema, where it is not the type's own.
    input_schema: Option<Value>,
    output_schema: Option<Value>,
    run: Option<Run>,
    taken_over: Option<TakenOver>,
    input: PhantomData<fn(I)>,
}

/// A tool that runs here.
pub fn tool<I, O, F, Fut>(name: &str, description: &str, function: F) -> Tool<I>
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize,
    F: Fn(Context, I) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
{
    let run = move |context: Context, input: Value| -> BoxFuture<Returned> {
        match serde_json::from_value(input) {
            Ok(input) => {
                let work = function(context, input);
                Box::pin(async move { Returned::Done(outcome(work.await)) })
            }
            Err(error) => Box::pin(async move { Returned::Done(invalid(&error)) }),
        }
    };
    Tool::new(name, description, Place::Server, Some(Arc::new(run)))
}

/// A tool that the page runs. It is declared here so that the model knows it.
pub fn client_tool<I: JsonSchema>(name: &str, description: &str) -> Tool<I> {
    Tool::new(name, description, Place::Client, None)
}

/// A tool that gives a pending result at once, and the real one later, as a turn of its own.
pub fn long_running<I, O, F, Fut>(name: &str, description: &str, function: F) -> Tool<I>
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize,
    F: Fn(Context, I) -> Later<Fut> + Send + Sync + 'static,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
{
    let run = move |context: Context, input: Value| -> BoxFuture<Returned> {
        let returned = match serde_json::from_value(input) {
            Ok(input) => {
                let later = function(context, input);
                let work = async move { outcome(later.work.await) };
                Returned::Later(later.pending, Box::pin(work))
            }
            Err(error) => Returned::Done(invalid(&error)),
        };
        Box::pin(std::future::ready(returned))
    };
    Tool::new(name, description, Place::Server, Some(Arc::new(run)))
}

/// What a [`long_running`] tool gives: something for now, and the work that continues.
pub struct Later<Fut> {
    /// What the model gets meanwhile.
    pub pending: Value,
    /// The work.
    pub work: Fut,
}

impl<I> Tool<I> {
    fn new(name: &str, description: &str, place: Place, run: Option<Run>) -> Self {
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            place,
            policy: Arc::new(|_, _| Verdict::Allow),
            timeout: None,
            is_idempotent: false,
            behavior: Behavior::Blocking,
            input_schema: None,
            output_schema: None,
            run,
            taken_over: None,
            input: PhantomData,
        }
    }

    /// Asks a person before every call.
    #[must_use]
    pub fn ask(self, question: impl Fn(&I) -> String + Send + Sync + 'static) -> Self {
        self.policy(move |input, _| Verdict::Ask {
            question: question(input),
        })
    }

    /// Decides by the input and by who is speaking: allow, ask or deny.
    #[must_use]
    pub fn policy(
        mut self,
        policy: impl Fn(&I, &Principal) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        self.policy = Arc::new(policy);
        self
    }

    /// How long a gate of this tool waits. Without it, for ever.
    #[must_use]
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.timeout = timeout.into();
        self
    }

    /// Declares that the tool may run again under the same call id, after a crash in the middle.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.is_idempotent = true;
        self
    }

    /// Does something when this server has taken over a chat in which a call of this tool was at work, and
    /// its outcome is *unknown*: the tool has what it changes refuse lower epochs than this one, so
    /// that the first server changes nothing any more if it was only frozen. The turn goes on when this is
    /// done, or has failed, or has taken too long.
    #[must_use]
    pub fn on_takeover<F, Fut>(mut self, function: F) -> Self
    where
        F: Fn(Fence) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), ToolError>> + Send + 'static,
    {
        self.taken_over = Some(Arc::new(move |fence| Box::pin(function(fence))));
        self
    }

    /// Declares what a page that runs the tool gives: any other output is refused, and the call stays
    /// open.
    #[must_use]
    pub fn output<O: JsonSchema>(mut self) -> Self {
        self.output_schema = Some(schemars::schema_for!(O).to_value());
        self
    }

    /// Declares the input by a JSON Schema that is known only at run time: of a tool over MCP, or of a
    /// file. It replaces the schema of `I`, which is then most often [`Value`].
    #[must_use]
    pub fn input_schema(mut self, schema: Value) -> Self {
        self.input_schema = Some(schema);
        self
    }

    /// Declares by a JSON Schema what a page that runs the tool gives, as [`Tool::output`] does by a type.
    #[must_use]
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// Lets a live model continue to speak while a call of this tool waits or runs.
    #[must_use]
    pub fn non_blocking(mut self) -> Self {
        self.behavior = Behavior::NonBlocking;
        self
    }
}

/// A tool whose input's type is forgotten: what the engine keeps.
#[derive(Clone)]
pub struct AnyTool {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) input_schema: Value,
    pub(crate) place: Place,
    pub(crate) timeout: Option<Duration>,
    is_idempotent: bool,
    pub(crate) behavior: Behavior,
    run: Option<Run>,
    taken_over: Option<TakenOver>,
    input: Schema,
    output: Option<Schema>,
    judge: Judge,
}

impl AnyTool {
    /// A tool of which nothing is known but its function, for a call that was decided on already. It is
    /// never offered, and takes no new call.
    #[cfg(feature = "mcp")]
    pub(crate) fn awaited(name: &str, run: Run) -> Self {
        let tool: Tool<Value> = Tool::new(name, "", Place::Server, Some(run));
        tool.policy(|_, _| Verdict::Deny {
            reason: "The tool is not there yet.".to_owned(),
        })
        .into()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The description that a model gets.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Where it runs.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The JSON Schema of its input.
    pub fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    /// Whether it may run again under the same call id, after a crash in the middle.
    pub fn is_idempotent(&self) -> bool {
        self.is_idempotent
    }

    /// Why none of its calls could be checked, if its input's schema is none.
    pub fn schema_error(&self) -> Option<&str> {
        self.input.error()
    }

    /// Its function, if it runs here.
    pub fn function(&self) -> Option<Run> {
        self.run.clone()
    }

    /// What is done when a call of it was taken over, if anything is.
    pub fn taken_over(&self) -> Option<TakenOver> {
        self.taken_over.clone()
    }

    /// What the tool's policy says of an input, or what is wrong with it.
    pub(crate) fn judge(&self, input: &Value, principal: &Principal) -> Verdict {
        match self.input.check_input(input) {
            Ok(()) => (self.judge)(input, principal),
            Err(error) => Verdict::Invalid { error },
        }
    }

    /// What is wrong with an input, whatever the policy says of it.
    pub(crate) fn check_input(&self, input: &Value) -> Result<(), String> {
        self.input.check_input(input)
    }

    /// What is wrong with what a page gives as the tool's output.
    pub(crate) fn check_output(&self, output: &Value) -> Result<(), String> {
        let declared = self.output.as_ref();
        declared.map_or(Ok(()), |declared| declared.check_output(output))
    }
}

impl fmt::Debug for AnyTool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Tool")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl<I: DeserializeOwned + JsonSchema + 'static> From<Tool<I>> for AnyTool {
    fn from(tool: Tool<I>) -> Self {
        let policy = tool.policy;
        let own_schema = || schemars::schema_for!(I).to_value();
        let input_schema = tool.input_schema.unwrap_or_else(own_schema);
        Self {
            name: tool.name,
            description: tool.description,
            input: Schema::of_input(&input_schema),
            output: tool.output_schema.map(Schema::of_output),
            input_schema,
            place: tool.place,
            timeout: tool.timeout,
            is_idempotent: tool.is_idempotent,
            behavior: tool.behavior,
            run: tool.run,
            taken_over: tool.taken_over,
            judge: Arc::new(move |input, principal| match I::deserialize(input) {
                Ok(input) => policy(&input, principal),
                Err(error) => Verdict::Invalid {
                    error: error.to_string(),
                },
            }),
        }
    }
}

/// Why a tool gives no output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolError {
    /// It failed; the model and the page get the reason.
    Failed(String),
    /// A person refused, in the middle of its work.
    Refused(Refused),
    /// It can't tell whether it has happened: a request went out and its answer was lost. The outcome is
    /// *unknown*, and the call is never run again.
    Unknown,
}

impl ToolError {
    /// It failed.
    pub fn new(why: impl Into<String>) -> Self {
        Self::Failed(why.into())
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(why) => out.write_str(why),
            Self::Refused(refused) => refused.fmt(out),
            Self::Unknown => out.write_str(turn::reason::unknown(UnknownReason::AnswerLost)),
        }
    }
}

impl std::error::Error for ToolError {}

impl From<Refused> for ToolError {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

fn outcome<O: Serialize>(result: Result<O, ToolError>) -> Outcome {
    match result {
        Ok(output) => match serde_json::to_value(output) {
            Ok(output) => Outcome::Output { output },
            Err(error) => Outcome::Error {
                error: format!("The tool's output is not JSON: {error}"),
            },
        },
        Err(ToolError::Failed(error)) => Outcome::Error { error },
        Err(ToolError::Refused(refused)) => refused.outcome(),
        Err(ToolError::Unknown) => Outcome::Unknown {
            reason: UnknownReason::AnswerLost,
        },
    }
}

fn invalid(error: &serde_json::Error) -> Outcome {
    Outcome::Error {
        error: error.to_string(),
    }
}
