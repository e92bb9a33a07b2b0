//! The legacy bridge's scenarios: a prompt, what the person answers, and the order of chunks that follows in
//! the legacy bridge's dialect.
//!
//! That order is not the AI SDK's. Each scenario lists by name in what the stock client would be
//! served wrongly by it; pages of the legacy bridge have code of their own that copes.

use crate::checker::{Checker, Kind};
use serde::Deserialize;
use serde_json::{Value, json};
use wire::Chunk;
use wire::assembler::Sdk;

/// One scenario of the legacy bridge.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// `sse` or `bidi`.
    pub transport: String,
    /// What the person types.
    pub prompt: String,
    /// What the person answers to each question: `approve`, `deny`, or `none`.
    pub answers: Vec<String>,
    /// The calls in order.
    pub calls: Vec<Call>,
    /// What failed calls say.
    pub errors: Vec<String>,
    /// The chunks' types in order, deltas of one block merged, with `[DONE]`.
    pub order: Vec<String>,
    /// What the stock client would make of it, by the names of [`Kind`].
    pub departures: Vec<String>,
}

/// A call of a scenario.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
}

/// All scenarios.
pub fn all() -> Vec<Scenario> {
    let text = include_str!("../scenarios/seeds.json");
    serde_json::from_str(text).expect("the scenarios are valid")
}

impl Scenario {
    /// A stream of the scenario's order, with texts of our own; `None` is `[DONE]`.
    pub fn stream(&self) -> Vec<Option<Chunk>> {
        let mut calls = 0;
        let mut outputs = 0;
        let mut approvals = 0;
        let mut errors = self.errors.iter();
        let mut blocks = 0;
        let mut windows = 0;
        let chunks = self.order.iter().map(|kind| {
            if kind == "[DONE]" {
                return None;
            }
            let mut chunk = json!({"type": kind});
            match kind.as_str() {
                "start" => {
                    windows += 1;
                    chunk["messageId"] = format!("message-{windows}").into();
                }
                "finish" => chunk["finishReason"] = "stop".into(),
                "tool-input-start" => {
                    chunk["toolCallId"] = format!("call-{calls}").into();
                    chunk["toolName"] = self.calls[calls].tool.clone().into();
                }
                "tool-input-available" => {
                    chunk["toolCallId"] = format!("call-{calls}").into();
                    chunk["toolName"] = self.calls[calls].tool.clone().into();
                    chunk["input"] = self.calls[calls].input.clone();
                    calls += 1;
                }
                "tool-approval-request" => {
                    chunk["toolCallId"] = format!("call-{approvals}").into();
                    chunk["approvalId"] = format!("approval-{approvals}").into();
                    approvals += 1;
                }
                "tool-output-available" | "tool-output-error" => {
                    chunk["toolCallId"] = format!("call-{outputs}").into();
                    outputs += 1;
                    match kind.as_str() {
                        "tool-output-available" => chunk["output"] = json!({"success": true}),
                        _ => chunk["errorText"] = errors.next().cloned().into(),
                    }
                }
                "text-start" | "reasoning-start" => {
                    blocks += 1;
                    chunk["id"] = blocks.to_string().into();
                }
                "text-delta" | "reasoning-delta" => {
                    chunk["id"] = blocks.to_string().into();
                    chunk["delta"] = "words".into();
                }
                "text-end" | "reasoning-end" => chunk["id"] = blocks.to_string().into(),
                _ => {}
            }
            Some(Chunk::decode(chunk).expect("a scenario's order is made of known chunks"))
        });
        chunks.collect()
    }

    /// What the stock client would make of such a stream, answered as the scenario says: the sorted
    /// names of all that the checker finds, on either major.
    pub fn judge(&self, stream: &[Option<Chunk>]) -> Vec<String> {
        let mut names = Vec::new();
        for sdk in [Sdk::V6, Sdk::V7] {
            let mut checker = Checker::new(sdk).strict();
            checker.say(&self.prompt);
            checker.open();
            let mut is_open = true;
            let mut asked = Vec::new();
            let mut answers = self.answers.iter();
            for chunk in stream {
                if !is_open {
                    checker.open();
                    is_open = true;
                }
                match chunk {
                    Some(chunk) => checker.feed(chunk),
                    None => is_open = false,
                }
                if let Some(Chunk::ToolApprovalRequest(request)) = chunk {
                    asked.push(request.approval_id.clone());
                }
                // a page of the legacy bridge closes its stream at the end of a question's step.
                if matches!(chunk, Some(Chunk::FinishStep)) && !asked.is_empty() {
                    is_open = false;
                }
                if !is_open {
                    checker.close();
                    let mut has_answered = false;
                    for id in asked.drain(..) {
                        let answer = answers.next().map(String::as_str);
                        if let Some(answer @ ("approve" | "deny")) = answer {
                            checker.answer(&id, answer == "approve", None);
                            has_answered = true;
                        }
                    }
                    if has_answered && !checker.is_waiting() {
                        names.push(Kind::Stuck.name().to_owned());
                    }
                }
            }
            names.extend(
                checker
                    .verdict()
                    .iter()
                    .map(|found| found.kind.name().to_owned()),
            );
        }
        names.sort();
        names.dedup();
        names
    }
}
