//! Runs as agents that speak AG-UI send them.

use serde_json::{Value, json};

/// A call of `pay`, with the amount 5.
pub(crate) fn call(id: &str) -> Vec<Value> {
    call_of(id, "pay", json!({"amount": 5}))
}

pub(crate) fn call_of(id: &str, tool: &str, input: Value) -> Vec<Value> {
    vec![
        json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": tool, "parentMessageId": "m1"}),
        json!({"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": input.to_string()}),
        json!({"type": "TOOL_CALL_END", "toolCallId": id}),
    ]
}

pub(crate) fn result(call: &str, content: &str) -> Value {
    let id = format!("result-of-{call}");
    json!({"type": "TOOL_CALL_RESULT", "messageId": id, "toolCallId": call, "content": content, "role": "tool"})
}

pub(crate) fn text(id: &str, words: &str) -> Vec<Value> {
    vec![
        json!({"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": words}),
        json!({"type": "TEXT_MESSAGE_END", "messageId": id}),
    ]
}

/// A run with an outcome.
pub(crate) fn run_to(events: impl IntoIterator<Item = Value>, outcome: Value) -> Vec<Value> {
    let start = json!({"type": "RUN_STARTED", "threadId": "chat", "runId": "r"});
    let mut finish = json!({"type": "RUN_FINISHED", "threadId": "chat", "runId": "r"});
    if !outcome.is_null() {
        finish["outcome"] = outcome;
    }
    [start].into_iter().chain(events).chain([finish]).collect()
}

pub(crate) fn run(events: impl IntoIterator<Item = Value>) -> Vec<Value> {
    run_to(events, json!({"type": "success"}))
}

/// A run that says something.
pub(crate) fn saying(words: &str) -> Vec<Value> {
    run(text("m2", words))
}

/// What pydantic-ai asks about a call.
pub(crate) fn interrupt(call: &str) -> Value {
    json!({
        "id": format!("int-{call}"),
        "reason": "tool_call",
        "message": "Approve pay?",
        "toolCallId": call,
        "responseSchema": {
            "type": "object",
            "properties": {
                "approved": {"type": "boolean"},
                "editedArgs": {"type": "object"},
                "reason": {"type": "string"},
            },
            "required": ["approved"],
        },
    })
}

pub(crate) fn interrupted(events: Vec<Value>, interrupts: Vec<Value>) -> Vec<Value> {
    run_to(
        events,
        json!({"type": "interrupt", "interrupts": interrupts}),
    )
}

/// A run that asks whether a call may run.
pub(crate) fn asking(id: &str) -> Vec<Value> {
    interrupted(call(id), vec![interrupt(id)])
}

/// A run that begins with results, and then says something.
pub(crate) fn results_and(results: Vec<Value>, words: &str) -> Vec<Value> {
    run(results.into_iter().chain(text("m2", words)))
}
