//! Each model by its API, and answers in it.

use std::time::Duration;

use adk_stream_agents::openai::{Api, Key, Retries};
use adk_stream_agents::{Anthropic, OpenAi, anthropic, openai};
use serde_json::{Value, json};
use turn::agent::AgentEvent;

use crate::scripted::{Dialogue, KEY};
use crate::server::{Answer, Server};

/// An API that a model is asked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spoken {
    Chat,
    Responses,
    Anthropic,
}

pub(crate) const ALL: [Spoken; 3] = [Spoken::Chat, Spoken::Responses, Spoken::Anthropic];

fn retries() -> Retries {
    Retries {
        first: Duration::from_millis(1),
        ..Retries::default()
    }
}

pub(crate) fn openai(server: &Server, api: Api) -> openai::Config {
    openai::Config {
        base_url: format!("{}/v1", server.url),
        key: Some(Key::new(KEY).unwrap()),
        retries: retries(),
        api,
        ..openai::Config::new("m-1")
    }
}

pub(crate) fn anthropic(server: &Server) -> anthropic::Config {
    anthropic::Config {
        base_url: server.url.clone(),
        key: Some(Key::new(KEY).unwrap()),
        retries: retries(),
        ..anthropic::Config::new("m-1")
    }
}

impl Spoken {
    /// A chat that opens with a prompt.
    pub(crate) fn dialogue(self, server: &Server, prompt: &str) -> Dialogue {
        self.dialogue_with(server, prompt, |_, _| {})
    }

    /// The same, with other retries and time limits.
    pub(crate) fn dialogue_with(
        self,
        server: &Server,
        prompt: &str,
        change: impl FnOnce(&mut Retries, &mut openai::Timeouts),
    ) -> Dialogue {
        let mut dialogue = match self {
            Self::Chat | Self::Responses => {
                let api = match self {
                    Self::Chat => Api::ChatCompletions,
                    _ => Api::Responses,
                };
                let mut config = openai(server, api);
                change(&mut config.retries, &mut config.timeouts);
                Dialogue::new(OpenAi::new(config).unwrap())
            }
            Self::Anthropic => {
                let mut config = anthropic(server);
                change(&mut config.retries, &mut config.timeouts);
                Dialogue::new(Anthropic::new(config).unwrap())
            }
        };
        dialogue.say(prompt);
        dialogue
    }

    /// A whole answer of these words.
    pub(crate) fn saying(self, text: &str) -> Answer {
        self.ended(text, None)
    }

    /// The same, which ends for a reason.
    pub(crate) fn ended(self, text: &str, reason: Option<&str>) -> Answer {
        let mut events = self.half(text);
        events.extend(self.end(reason));
        stream(&events)
    }

    /// The events of an answer that has not ended.
    pub(crate) fn half(self, text: &str) -> Vec<Value> {
        match self {
            Self::Chat => vec![
                json!({"model": "m-1-001", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}),
                json!({"model": "m-1-001", "choices": [{"index": 0, "delta": {"content": text}}]}),
            ],
            Self::Responses => vec![
                json!({"type": "response.created", "response": {"model": "m-1-001"}}),
                json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message"}}),
                json!({"type": "response.output_text.delta", "output_index": 0, "delta": text}),
            ],
            Self::Anthropic => vec![
                json!({"type": "message_start", "message": {"model": "m-1-001", "usage": {"input_tokens": 7, "output_tokens": 1}}}),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                json!({"type": "ping"}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
                json!({"type": "content_block_stop", "index": 0}),
            ],
        }
    }

    /// What ends an answer.
    pub(crate) fn end(self, reason: Option<&str>) -> Vec<Value> {
        match self {
            Self::Chat => vec![
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason.unwrap_or("stop")}]}),
                json!({"choices": [], "usage": {
                    "prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12,
                    "prompt_tokens_details": {"cached_tokens": 3},
                    "completion_tokens_details": {"reasoning_tokens": 2},
                }}),
            ],
            Self::Responses => {
                let kind = match reason {
                    None => "response.completed",
                    Some(_) => "response.incomplete",
                };
                vec![json!({"type": kind, "response": {
                    "model": "m-1-001",
                    "incomplete_details": reason.map(|reason| json!({"reason": reason})),
                    "usage": {
                        "input_tokens": 7, "output_tokens": 5, "total_tokens": 12,
                        "input_tokens_details": {"cached_tokens": 3},
                        "output_tokens_details": {"reasoning_tokens": 2},
                    },
                }})]
            }
            Self::Anthropic => vec![
                json!({"type": "message_delta", "delta": {"stop_reason": reason.unwrap_or("end_turn")}, "usage": {"output_tokens": 5}}),
                json!({"type": "message_stop"}),
            ],
        }
    }

    /// An answer that makes calls: the id, the tool and the text of the arguments of each.
    pub(crate) fn calling(self, calls: &[(&str, &str, &str)]) -> Answer {
        stream(&self.calls(calls))
    }

    /// The events of an answer that makes calls.
    pub(crate) fn calls(self, calls: &[(&str, &str, &str)]) -> Vec<Value> {
        let calls = calls.iter().enumerate();
        let mut events: Vec<Value> = match self {
            Self::Chat => calls
                .flat_map(|(index, (id, tool, arguments))| {
                    let piece = |piece: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [piece]}}]});
                    [
                        piece(json!({"index": index, "id": id, "type": "function", "function": {"name": tool, "arguments": ""}})),
                        piece(json!({"index": index, "function": {"arguments": arguments}})),
                    ]
                })
                .collect(),
            Self::Responses => calls
                .map(|(index, (id, tool, arguments))| {
                    json!({"type": "response.output_item.done", "output_index": index, "item": {
                        "type": "function_call", "id": format!("fc_{index}"), "call_id": id,
                        "name": tool, "arguments": arguments, "status": "completed",
                    }})
                })
                .collect(),
            Self::Anthropic => calls
                .flat_map(|(index, (id, tool, arguments))| {
                    [
                        json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": id, "name": tool, "input": {}}}),
                        json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": arguments}}),
                        json!({"type": "content_block_stop", "index": index}),
                    ]
                })
                .collect(),
        };
        let reason = match self {
            Self::Chat => Some("tool_calls"),
            Self::Responses => None,
            Self::Anthropic => Some("tool_use"),
        };
        events.extend(self.end(reason));
        events
    }

    /// The calls and results in a request, as (id, name, arguments) and (id, text).
    pub(crate) fn calls_in(self, body: &Value) -> (Vec<[String; 3]>, Vec<[String; 2]>) {
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        match self {
            Self::Chat => {
                for message in list(&body["messages"]) {
                    for call in list(&message["tool_calls"]) {
                        let function = &call["function"];
                        calls.push(
                            [&call["id"], &function["name"], &function["arguments"]].map(text),
                        );
                    }
                    if message["role"] == "tool" {
                        results.push([&message["tool_call_id"], &message["content"]].map(text));
                    }
                }
            }
            Self::Responses => {
                for item in list(&body["input"]) {
                    if item["type"] == "function_call" {
                        calls.push([&item["call_id"], &item["name"], &item["arguments"]].map(text));
                    }
                    if item["type"] == "function_call_output" {
                        results.push([&item["call_id"], &item["output"]].map(text));
                    }
                }
            }
            Self::Anthropic => {
                for block in list(&body["messages"])
                    .iter()
                    .flat_map(|m| list(&m["content"]))
                {
                    if block["type"] == "tool_use" {
                        let input = block["input"].to_string();
                        calls.push([text(&block["id"]), text(&block["name"]), input]);
                    }
                    if block["type"] == "tool_result" {
                        results.push([&block["tool_use_id"], &block["content"]].map(text));
                    }
                }
            }
        }
        (calls, results)
    }
}

/// Events as a stream that ends.
pub(crate) fn stream(events: &[Value]) -> Answer {
    let mut body = String::new();
    for event in events {
        if let Some(kind) = event["type"].as_str() {
            body.push_str(&format!("event: {kind}\n"));
        }
        body.push_str(&format!("data: {event}\n\n"));
    }
    Answer::Body(body.into_bytes())
}

/// The words that a page is shown.
pub(crate) fn text(events: &[AgentEvent]) -> String {
    let words = events.iter().filter_map(|event| match event {
        AgentEvent::Text { delta, .. } => Some(delta.as_str()),
        _ => None,
    });
    words.collect()
}

/// What the message's metadata says.
pub(crate) fn metadata(events: &[AgentEvent]) -> Value {
    let metadata = events.iter().find_map(|event| match event {
        AgentEvent::Metadata(metadata) => Some(metadata.clone()),
        _ => None,
    });
    metadata.unwrap_or_default()
}
