//! Streams as AI SDK 6 and 7 send them.

use serde_json::{Value, json};

/// A call of `pay`, with the amount 5.
pub(crate) fn call(id: &str) -> Vec<Value> {
    call_of(id, "pay", json!({"amount": 5}))
}

pub(crate) fn call_of(id: &str, tool: &str, input: Value) -> Vec<Value> {
    vec![
        json!({"type": "tool-input-start", "toolCallId": id, "toolName": tool}),
        json!({"type": "tool-input-delta", "toolCallId": id, "inputTextDelta": input.to_string()}),
        json!({"type": "tool-input-available", "toolCallId": id, "toolName": tool, "input": input}),
    ]
}

pub(crate) fn request(approval: &str, call: &str) -> Value {
    json!({"type": "tool-approval-request", "approvalId": approval, "toolCallId": call})
}

pub(crate) fn output(call: &str, output: Value) -> Value {
    json!({"type": "tool-output-available", "toolCallId": call, "output": output})
}

pub(crate) fn text(words: &str) -> Vec<Value> {
    vec![
        json!({"type": "text-start", "id": "0"}),
        json!({"type": "text-delta", "id": "0", "delta": words}),
        json!({"type": "text-end", "id": "0"}),
    ]
}

/// The start of a message, its chunks, and its end.
pub(crate) fn message(chunks: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let start = json!({"type": "start", "messageId": "answer-1"});
    let finish = json!({"type": "finish", "finishReason": "stop"});
    [start].into_iter().chain(chunks).chain([finish]).collect()
}

/// A step of a message.
pub(crate) fn step(chunks: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let (start, finish) = (
        json!({"type": "start-step"}),
        json!({"type": "finish-step"}),
    );
    [start].into_iter().chain(chunks).chain([finish]).collect()
}

/// A message that says something.
pub(crate) fn saying(words: &str) -> Vec<Value> {
    message(step(text(words)))
}

/// A message that asks whether a call may run.
pub(crate) fn asking(call_id: &str) -> Vec<Value> {
    let asked = [request(&format!("approval-of-{call_id}"), call_id)];
    message(step(call(call_id).into_iter().chain(asked)))
}

/// A message that begins with results, and then says something.
pub(crate) fn results_and(results: Vec<Value>, words: &str) -> Vec<Value> {
    message(results.into_iter().chain(step(text(words))))
}
