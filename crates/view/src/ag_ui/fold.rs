//! Events folded into the messages that a client makes of them.

use serde_json::Map;
use turn::metadata::OURS;
use wire::ag_ui::{Content, Event, FunctionCall, Message, MessageCommon, ToolCall, ToolCallKind};

/// Messages, as a client has them that was sent some events.
#[derive(Debug, Default)]
pub(super) struct Fold {
    messages: Vec<Message>,
}

impl Fold {
    pub(super) fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    pub(super) fn apply(&mut self, event: Event) {
        match event {
            Event::TextMessageStart {
                message_id, role, ..
            } => self.messages.push(match role.as_deref() {
                Some("user") => Message::User {
                    id: message_id,
                    content: Content::Text(String::new()),
                    common: MessageCommon::default(),
                },
                _ => assistant(message_id, Some(String::new())),
            }),
            Event::TextMessageContent { delta, .. } => match self.messages.last_mut() {
                Some(Message::Assistant {
                    content: Some(content),
                    ..
                }) => content.push_str(&delta),
                Some(Message::User {
                    content: Content::Text(content),
                    ..
                }) => content.push_str(&delta),
                _ => {}
            },
            Event::ReasoningMessageStart { message_id, .. } => {
                self.messages.push(Message::Reasoning {
                    id: message_id,
                    content: String::new(),
                    common: MessageCommon::default(),
                });
            }
            Event::ReasoningMessageContent { delta, .. } => {
                if let Some(Message::Reasoning { content, .. }) = self.messages.last_mut() {
                    content.push_str(&delta);
                }
            }
            Event::ToolCallStart {
                tool_call_id,
                tool_call_name,
                parent_message_id,
                ..
            } => {
                let parent = parent_message_id.unwrap_or_else(|| tool_call_id.clone());
                let calls = self.calls_of(parent);
                calls.push(ToolCall {
                    id: tool_call_id,
                    kind: ToolCallKind::Function,
                    function: FunctionCall {
                        name: tool_call_name,
                        arguments: String::new(),
                    },
                    encrypted_value: None,
                    rest: Map::new(),
                });
            }
            Event::ToolCallArgs {
                tool_call_id,
                delta,
                ..
            } => {
                if let Some(call) = self.call_mut(&tool_call_id) {
                    call.function.arguments.push_str(&delta);
                }
            }
            Event::ToolCallResult {
                message_id,
                tool_call_id,
                content,
                common,
            } => self.result(message_id, tool_call_id, content, &common.rest),
            _ => {}
        }
    }

    /// The calls of a message, which is there from then on.
    fn calls_of(&mut self, parent: String) -> &mut Vec<ToolCall> {
        let is_parent =
            |message: &Message| matches!(message, Message::Assistant { id, .. } if *id == parent);
        let place = self.messages.iter().rposition(is_parent);
        let place = place.unwrap_or_else(|| {
            self.messages.push(assistant(parent, None));
            self.messages.len() - 1
        });
        match &mut self.messages[place] {
            Message::Assistant { tool_calls, .. } => tool_calls,
            // It was looked for, or made.
            _ => unreachable!("calls belong to an assistant's message"),
        }
    }

    fn call_mut(&mut self, wanted: &str) -> Option<&mut ToolCall> {
        let mut messages = self.messages.iter_mut().rev();
        messages.find_map(|message| match message {
            Message::Assistant { tool_calls, .. } => {
                tool_calls.iter_mut().find(|call| call.id == wanted)
            }
            _ => None,
        })
    }

    /// Places a result behind the message with its call, and behind the results there.
    fn result(
        &mut self,
        id: String,
        call: String,
        content: Content,
        rest: &Map<String, serde_json::Value>,
    ) {
        let makes = |message: &Message| match message {
            Message::Assistant { tool_calls, .. } => tool_calls.iter().any(|made| made.id == call),
            _ => false,
        };
        let place = match self.messages.iter().position(makes) {
            None => self.messages.len(),
            Some(owner) => {
                let behind = self.messages[owner + 1..].iter();
                let is_result = |message: &&Message| matches!(message, Message::Tool { .. });
                owner + 1 + behind.take_while(is_result).count()
            }
        };
        let ours = rest.get("metadata").and_then(|metadata| metadata.get(OURS));
        let is_error = ours.is_some_and(|ours| ours.get("outcome").is_some());
        let error = match &content {
            Content::Text(text) if is_error => Some(text.clone()),
            _ => None,
        };
        let result = Message::Tool {
            id,
            content,
            tool_call_id: call,
            error,
            common: MessageCommon::default(),
        };
        self.messages.insert(place, result);
    }
}

fn assistant(id: String, content: Option<String>) -> Message {
    Message::Assistant {
        id,
        content,
        tool_calls: Vec::new(),
        common: MessageCommon::default(),
    }
}
