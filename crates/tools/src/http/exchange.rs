//! One call: a request, its answer, and what is done where the answer is lost.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::{sleep, timeout};

use super::client::{Client, refused_address};
use super::request::Request;
use super::response::{Answer, read};
use super::template::{Template, Values};
use super::{HttpTool, Limits, Repeat};
use crate::context::Context;
use crate::fence::Fence;
use crate::tool::ToolError;

/// Under which name the journal has that the request of a call may have gone out.
const SENT: &str = "http-request";

/// How many calls of one tool are distinguished by what they record.
const NONCE_BYTES: usize = 12;

/// Sends the requests of one tool.
#[derive(Debug)]
pub(crate) struct Exchange {
    name: String,
    request: Request,
    repeat: Repeat,
    client: Client,
    lookup: Option<(Request, Client)>,
    on_takeover: Option<(Request, Client)>,
    limits: Limits,
}

/// How one attempt ended.
enum Attempt {
    /// The server said so.
    Answered(Answer),
    /// Nothing was sent.
    NotSent { error: String, is_final: bool },
    /// The answer did not come, or not whole.
    Lost { error: String },
}

impl Exchange {
    pub(crate) fn new(
        tool: HttpTool,
        client: Client,
        (lookup, on_takeover): (Option<Client>, Option<Client>),
    ) -> Self {
        let request = match &tool.repeat {
            // The name was checked when the tool was declared, and a header that is none is refused
            // by every request.
            Repeat::Keyed(header) => {
                let key = Template(vec![super::template::Piece::Call]);
                let plain = tool.request.clone();
                tool.request.with_header(header, key).unwrap_or(plain)
            }
            _ => tool.request,
        };
        Self {
            name: tool.name,
            request,
            repeat: tool.repeat,
            client,
            lookup: tool.lookup.map(|lookup| lookup.request).zip(lookup),
            on_takeover: tool.on_takeover.zip(on_takeover),
            limits: tool.limits,
        }
    }

    /// Carries out a call.
    pub(crate) async fn run(&self, context: &Context, input: &Value) -> Result<Value, ToolError> {
        let Some(input) = input.as_object() else {
            return Err(ToolError::new("the input must be an object"));
        };
        let (call, trace) = (context.call().to_string(), context.trace());
        let values = Values {
            input,
            call: &call,
            fence: Some(context.fence()),
            trace: trace.as_ref(),
        };
        // Before anything is recorded: it says the same again.
        self.request.prepare(values).map_err(ToolError::Failed)?;
        let was_sent = match (&self.repeat, &self.lookup) {
            // What changes nothing may be lost; what can't be run again is not.
            (Repeat::Safe, _) | (Repeat::Never, None) => false,
            _ => self.was_sent(context).await?,
        };
        if was_sent {
            tracing::warn!(
                tool = self.name,
                call,
                "HTTP tool resumes a call after a restart"
            );
        }
        match was_sent && self.repeat == Repeat::Never {
            true => self.look_up(values, Certainty::Cut).await,
            false => self.send(values, was_sent.then_some(Certainty::Cut)).await,
        }
    }

    /// Whether an earlier run of this call, in a process that died, may have sent the request. The
    /// journal says so: without it, a server that can't be reached now would make a failure of what
    /// has happened.
    async fn was_sent(&self, context: &Context) -> Result<bool, ToolError> {
        let mut nonce = [0_u8; NONCE_BYTES];
        if getrandom::fill(&mut nonce).is_err() {
            return Err(ToolError::new("the operating system gives no randomness"));
        }
        let own: String = nonce.iter().map(|byte| format!("{byte:02x}")).collect();
        let recorded: String = context.once(SENT, async { Ok(own.clone()) }).await?;
        Ok(recorded != own)
    }

    /// Sends until it is answered or nothing more is tried. `unclear` says whether an attempt may have
    /// had an effect.
    async fn send(
        &self,
        values: Values<'_>,
        mut unclear: Option<Certainty>,
    ) -> Result<Value, ToolError> {
        let mut sent = 0;
        loop {
            let attempt = self.attempt(&self.request, &self.client, values).await;
            sent += 1;
            let is_last = sent >= self.limits.attempts.max(1);
            let may_repeat = self.repeat != Repeat::Never;
            let wait = match attempt {
                Attempt::Answered(Answer::Output(output)) => return Ok(output),
                Attempt::Answered(Answer::Refused { error, .. }) => match self.repeat {
                    // What is gone because it was deleted a moment ago is not a failure.
                    Repeat::Idempotent => return self.give_up(values, unclear, error).await,
                    _ => return Err(ToolError::Failed(error)),
                },
                Attempt::Answered(Answer::Busy { error, wait, .. }) => {
                    if is_last || !may_repeat {
                        return self.give_up(values, unclear, error).await;
                    }
                    wait
                }
                Attempt::NotSent { error, is_final } => {
                    if is_final || is_last {
                        return self.give_up(values, unclear, error).await;
                    }
                    None
                }
                Attempt::Answered(Answer::Failed { error }) => {
                    // A server that has answered is done with the request.
                    unclear.get_or_insert(Certainty::Answered);
                    if is_last || !may_repeat {
                        return self.give_up(values, unclear, error).await;
                    }
                    None
                }
                Attempt::Lost { error } => {
                    unclear = Some(Certainty::Cut);
                    if is_last || !may_repeat {
                        return self.give_up(values, unclear, error).await;
                    }
                    None
                }
            };
            sleep(wait.unwrap_or_else(|| self.pause(sent))).await;
        }
    }

    fn pause(&self, sent: u32) -> Duration {
        self.limits.pause * 2_u32.saturating_pow(sent.saturating_sub(1).min(6))
    }

    /// What is said when nothing more is tried.
    async fn give_up(
        &self,
        values: Values<'_>,
        unclear: Option<Certainty>,
        error: String,
    ) -> Result<Value, ToolError> {
        let Some(certainty) = unclear.filter(|_| self.repeat != Repeat::Safe) else {
            return Err(ToolError::Failed(error));
        };
        if self.lookup.is_some() {
            return self.look_up(values, certainty).await;
        }
        tracing::warn!(
            tool = self.name,
            call = values.call,
            error,
            "outcome of an HTTP tool is unknown"
        );
        Err(ToolError::Unknown)
    }

    /// Asks what became of a call.
    async fn look_up(&self, values: Values<'_>, certainty: Certainty) -> Result<Value, ToolError> {
        let Some((request, client)) = &self.lookup else {
            return Err(ToolError::Unknown);
        };
        let attempts = self.limits.attempts.max(1);
        for asked in 1..=attempts {
            match self.attempt(request, client, values).await {
                Attempt::Answered(Answer::Output(output)) => return Ok(output),
                Attempt::Answered(Answer::Refused { status: 404, .. })
                    if certainty == Certainty::Answered =>
                {
                    let not = "The server failed, and the call had no effect.";
                    return Err(ToolError::new(not));
                }
                // The request may still be under way, so that it is not there says little.
                _ if asked < attempts => sleep(self.pause(asked)).await,
                _ => {}
            }
        }
        tracing::warn!(
            tool = self.name,
            call = values.call,
            "look-up did not find an outcome"
        );
        Err(ToolError::Unknown)
    }

    /// Tells the server under which claim a chat is now, so that it refuses what comes under an earlier
    /// one. Every call says the same, so that sending it twice changes nothing.
    pub(crate) async fn raise(&self, fence: &Fence) -> Result<(), ToolError> {
        let Some((request, client)) = &self.on_takeover else {
            return Ok(());
        };
        let values = Values {
            input: &Map::new(),
            call: "",
            fence: Some(fence),
            trace: None,
        };
        let mut sent = 0;
        loop {
            sent += 1;
            let error = match self.attempt(request, client, values).await {
                Attempt::Answered(Answer::Output(_)) => return Ok(()),
                Attempt::Answered(Answer::Refused { error, .. }) => {
                    return Err(ToolError::Failed(error));
                }
                Attempt::Answered(Answer::Busy { error, .. } | Answer::Failed { error })
                | Attempt::NotSent { error, .. }
                | Attempt::Lost { error } => error,
            };
            if sent >= self.limits.attempts.max(1) {
                return Err(ToolError::Failed(error));
            }
            sleep(self.pause(sent)).await;
        }
    }

    async fn attempt(&self, request: &Request, client: &Client, values: Values<'_>) -> Attempt {
        let prepared = match request.prepare(values) {
            Ok(prepared) => prepared,
            Err(error) => {
                return Attempt::NotSent {
                    error,
                    is_final: true,
                };
            }
        };
        let secrets = request.secrets();
        let exchange = async {
            let response = client.send(prepared).await?;
            read(response, self.limits.response_bytes, &secrets).await
        };
        match timeout(self.limits.timeout, exchange).await {
            Ok(Ok(answer)) => Attempt::Answered(answer),
            Ok(Err(error)) => self.failed(error),
            Err(_) => Attempt::Lost {
                error: "The server did not answer in time.".to_owned(),
            },
        }
    }

    fn failed(&self, error: reqwest::Error) -> Attempt {
        if let Some(refused) = refused_address(&error) {
            tracing::warn!(tool = self.name, refused, "a request was not sent");
            let error = "This tool may not connect to the server's address.".to_owned();
            return Attempt::NotSent {
                error,
                is_final: true,
            };
        }
        let is_sent = !error.is_connect() && !error.is_builder();
        // The words of the library may hold the URL, and that a secret.
        let why = error.without_url();
        tracing::warn!(tool = self.name, is_sent, error = ?why, "HTTP tool request failed");
        match is_sent {
            true => Attempt::Lost {
                error: "The connection was cut before the answer was whole.".to_owned(),
            },
            false => Attempt::NotSent {
                error: "The server can't be reached.".to_owned(),
                is_final: false,
            },
        }
    }
}

/// How much is known of a request without an answer that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Certainty {
    /// The server has answered, so that it does nothing more.
    Answered,
    /// The server may still be at it.
    Cut,
}
