//! One call of a tool at an MCP server.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::catalog::{RemoteTool, shorten};
use super::connection::{Call, CallFailure, Elicitation, Elicited, Event, Progress};
use super::link::Link;
use super::output::output;
use crate::context::{Context, Refused};
use crate::tool::ToolError;

/// How much of a message beside progress is shown.
const MAX_PROGRESS_BYTES: usize = 1024;

/// How much of what a server asks a person is shown.
const MAX_QUESTION_BYTES: usize = 4096;

/// The record of a call whose server has asked a person.
const ELICITED: &str = "mcp elicitation";

/// How much of what a server says of a refusal is passed on.
const MAX_REFUSAL_BYTES: usize = 2048;

/// Runs a call: within its time, with its progress shown, and cancelled at the server if it is dropped.
pub(super) async fn run(
    link: Arc<Link>,
    tool: Arc<RemoteTool>,
    context: Context,
    input: Value,
) -> Result<Value, ToolError> {
    // The server that waited for the answer of a person is gone with the process that asked.
    if context.is_recorded(ELICITED) && !tool.is_idempotent {
        return Err(ToolError::Unknown);
    }
    let limit = link.config.call_timeout;
    let mut deadline = Instant::now() + limit;
    // The tool may have another schema than when the call was approved.
    let checked = tool.check_input(&input);
    checked.map_err(|why| ToolError::new(format!("{} has changed: {why}", tool.name)))?;
    let Ok(permit) = timeout_at(deadline, link.calls.acquire()).await else {
        let (name, limit) = (&link.config.name, seconds(limit));
        return Err(ToolError::new(format!(
            "The call was not made: the MCP server {name} was busy with others for {limit}."
        )));
    };
    let ready = link.ready(deadline).await;
    let peer = ready.map_err(|why| ToolError::new(format!("The call was not made. {why}")))?;
    let Value::Object(arguments) = input else {
        return Err(ToolError::new("The input is not an object."));
    };
    let mut call = peer
        .call(&tool.remote_name, arguments, context.trace())
        .await
        .map_err(|why| {
            link.suspicion.notify_one();
            not_sent(&link, &why)
        })?;
    let mut shown: Option<Instant> = None;
    let answer = loop {
        match timeout_at(deadline, call.next()).await {
            Ok(Event::Answer(answer)) => break answer,
            Ok(Event::Progress(progress)) => {
                let interval = link.config.limits.progress_interval;
                if shown.is_none_or(|shown| shown.elapsed() >= interval) {
                    shown = Some(Instant::now());
                    // A chat that does not take it must not hold the call up.
                    let _ = timeout_at(deadline, context.progress(preliminary(&progress))).await;
                }
            }
            Ok(Event::Elicitation(asked)) => {
                let began = Instant::now();
                let answer = elicit(&link, &context, &mut call, asked).await;
                // The time that the person took is not the server's.
                deadline += began.elapsed();
                if let Some(answer) = answer {
                    break answer;
                }
            }
            Err(_) => {
                call.cancel("timeout");
                break Err(CallFailure::Lost(format!(
                    "no answer within {}",
                    seconds(limit)
                )));
            }
        }
    };
    drop(permit);
    match answer {
        Ok(answer) => {
            let config = &link.config;
            output(&answer, tool.output.as_ref(), &config.limits, config.media)
        }
        Err(CallFailure::Refused(why)) => Err(ToolError::new(shorten(&why, MAX_REFUSAL_BYTES))),
        Err(CallFailure::NotSent(why)) => {
            link.suspicion.notify_one();
            Err(not_sent(&link, &why))
        }
        Err(CallFailure::Lost(why)) => {
            link.suspicion.notify_one();
            Err(lost(&link, &tool, &context, &why))
        }
    }
}

/// Asks the person whose call it is for what the server wants to know. Gives the answer of the call, if
/// that comes first.
async fn elicit(
    link: &Link,
    context: &Context,
    call: &mut Call,
    asked: Elicitation,
) -> Option<Result<Value, CallFailure>> {
    let Elicitation {
        message,
        schema,
        answer,
    } = asked;
    let mut asking = std::pin::pin!(async {
        // Before anybody is asked: see `run`.
        if context.once(ELICITED, async { Ok(true) }).await.is_err() {
            return Elicited::Cancelled;
        }
        // Who asks is the server, and nobody else.
        let message = shorten(&message, MAX_QUESTION_BYTES);
        let question = format!("The MCP server {} asks: {message}", link.config.name);
        let timeout = link.config.approval_timeout;
        match context.ask_within(question, schema, timeout).await {
            Ok(answer) => Elicited::Accepted(answer),
            Err(Refused::Denied { .. }) => Elicited::Declined,
            Err(refused) => {
                tracing::debug!(server = %link.config.name, why = %refused, "MCP elicitation cancelled");
                Elicited::Cancelled
            }
        }
    });
    loop {
        tokio::select! {
            elicited = &mut asking => {
                // A server that is gone has no use for it.
                let _ = answer.send(elicited);
                return None;
            }
            event = call.next() => {
                if let Event::Answer(answer) = event {
                    return Some(answer);
                }
            }
        }
    }
}

/// The error of a call that the server never got.
fn not_sent(link: &Link, why: &str) -> ToolError {
    let name = &link.config.name;
    ToolError::new(format!(
        "The call was not made: the MCP server {name} can't be reached ({why})."
    ))
}

/// The error of a call that the server got, and did not answer.
fn lost(link: &Link, tool: &RemoteTool, context: &Context, why: &str) -> ToolError {
    tracing::warn!(
        server = %link.config.name, tool = %tool.name, chat = %context.chat(), call = %context.call(),
        why, "MCP call without an answer"
    );
    match tool.is_idempotent {
        true => ToolError::new(format!(
            "The call got no answer: {why}. It may be made again."
        )),
        false => ToolError::Unknown,
    }
}

fn preliminary(progress: &Progress) -> Value {
    let mut shown = json!({ "progress": progress.progress });
    if let Some(total) = progress.total {
        shown["total"] = json!(total);
    }
    if let Some(message) = &progress.message {
        shown["message"] = json!(shorten(message, MAX_PROGRESS_BYTES));
    }
    shown
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}
