//! A session of a real client, played to the checker: `specimens check`.

use crate::Checker;
use serde::Deserialize;
use serde_json::{Value, json};
use wire::assembler::Sdk;

/// What a client did and was sent, in order.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Session {
    sdk: String,
    profile: String,
    #[serde(default)]
    client_tools: Vec<String>,
    script: Vec<Step>,
}

/// One thing that happened.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Step {
    /// The person typed.
    Say(String),
    /// The page sent by hand, about a message.
    SendAbout(String),
    /// The body of a window that answered a request.
    Window(String),
    /// The body of a window that resumed.
    Resume(String),
    /// The person answered an approval.
    Answer(Answer),
    /// The page gave an output.
    Output(Output),
    /// The page said that a call failed.
    OutputError(OutputError),
    /// The page dropped what was cut off of a message, which comes again.
    DropUnfinished(String),
    /// The client forgot its messages from one on, as for an edit or a regeneration.
    Truncate(usize),
    /// A new client took the messages over.
    Messages(Vec<wire::Message>),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    approval_id: String,
    approved: bool,
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    tool_call_id: String,
    #[serde(default)]
    output: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OutputError {
    tool_call_id: String,
    error_text: String,
}

/// Plays a session: what the checker finds, and how many requests it expects of the client.
pub fn check(session: Session) -> Value {
    let sdk = match session.sdk.as_str() {
        "6" => Sdk::V6,
        "7" => Sdk::V7,
        other => panic!("no such SDK: {other}"),
    };
    let mut checker = Checker::new(sdk);
    if session.profile == "shared" {
        checker = checker.strict();
    }
    for name in session.client_tools {
        checker = checker.client_tool(name, None);
    }
    for step in session.script {
        match step {
            Step::Say(text) => checker.say(&text),
            Step::SendAbout(message) => checker.send_about(&message),
            Step::Window(body) => checker.window(body.as_bytes()),
            Step::Resume(body) => {
                checker.resume();
                checker.feed_sse(body.as_bytes());
                checker.close();
            }
            Step::Answer(answer) => {
                checker.answer(
                    &answer.approval_id,
                    answer.approved,
                    answer.reason.as_deref(),
                );
            }
            Step::Output(output) => checker.output(&output.tool_call_id, Ok(output.output)),
            Step::OutputError(error) => {
                checker.output(&error.tool_call_id, Err(error.error_text));
            }
            Step::DropUnfinished(message) => checker.drop_unfinished(&message),
            Step::Truncate(length) => checker.truncate(length),
            Step::Messages(messages) => checker = checker.holding(messages),
        }
    }
    let findings = checker.verdict();
    let findings: Vec<Value> = findings
        .iter()
        .map(|finding| {
            json!({
                "kind": finding.kind.name(),
                "reason": finding.reason,
                "window": finding.window,
                "chunk": finding.chunk,
            })
        })
        .collect();
    json!({"findings": findings, "requests": checker.requests()})
}
