//! The events of a run.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::input::RunAgentInput;
use super::message::{Content, Message};
use super::outcome::{Outcome, TokenUsage};

/// What every event may have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Common {
    /// The invocation of a subagent that it is of, or that it tells of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_run_id: Option<String>,
    /// All other fields: the time, metadata, the framework's own event.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// One event of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "SCREAMING_SNAKE_CASE",
    rename_all_fields = "camelCase"
)]
pub enum Event {
    /// A run begins.
    RunStarted {
        /// The conversation.
        thread_id: String,
        /// The run.
        run_id: String,
        /// The version of the protocol that the agent speaks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        protocol_version: Option<String>,
        /// The run that it follows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_run_id: Option<String>,
        /// What began it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Box<RunAgentInput>>,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A run ends, and did not fail.
    RunFinished {
        /// Why it ends; success, without.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<Outcome>,
        /// What came of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<Value>,
        /// The tokens that it took, of each model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Vec<TokenUsage>>,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A run failed.
    RunError {
        /// What went wrong.
        message: String,
        /// The agent's code for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// The tokens that it took, of each model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Vec<TokenUsage>>,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A step of the framework's begins.
    StepStarted {
        /// Its name.
        step_name: String,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A step of the framework's ends.
    StepFinished {
        /// Its name.
        step_name: String,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A text begins.
    TextMessageStart {
        /// The message.
        message_id: String,
        /// Who it is from; the assistant, without.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// More of a text.
    TextMessageContent {
        /// The message.
        message_id: String,
        /// The words.
        delta: String,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A text ends.
    TextMessageEnd {
        /// The message.
        message_id: String,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A piece of a text without a begin or end event.
    TextMessageChunk {
        /// The message; the one before, without.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
        /// Who it is from; the assistant, without.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
        /// The words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delta: Option<String>,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A span of reasoning begins.
    ReasoningStart {
        /// The span.
        message_id: String,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A reasoning begins.
    ReasoningMessageStart {
        /// The message.
        message_id: String,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// More of a reasoning.
    ReasoningMessageContent {
        /// The message.
        message_id: String,
        /// The words.
        delta: String,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A reasoning ends.
    ReasoningMessageEnd {
        /// The message.
        message_id: String,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A piece of a reasoning without a begin or end event.
    ReasoningMessageChunk {
        /// The message; the one before, without.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
        /// The words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delta: Option<String>,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A span of reasoning ends.
    ReasoningEnd {
        /// The span.
        message_id: String,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// Something that only the agent understands, to be sent back with a message or call.
    ReasoningEncryptedValue {
        /// Whose it is: `message` or `tool-call`.
        subtype: String,
        /// The id of that message or call.
        entity_id: String,
        /// What it is.
        encrypted_value: String,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A call begins.
    ToolCallStart {
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_call_name: String,
        /// The message that makes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_message_id: Option<String>,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// More of a call's arguments, as JSON text.
    ToolCallArgs {
        /// The call.
        tool_call_id: String,
        /// The text.
        delta: String,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A call's arguments are complete.
    ToolCallEnd {
        /// The call.
        tool_call_id: String,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A piece of a call without a begin or end event.
    ToolCallChunk {
        /// The call; the one before, without.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<String>,
        /// The tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_name: Option<String>,
        /// The message that makes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_message_id: Option<String>,
        /// More of its arguments.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delta: Option<String>,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// What came of a call: a message of its own.
    ToolCallResult {
        /// The message.
        message_id: String,
        /// The call.
        tool_call_id: String,
        /// What came of it.
        content: Content,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// The agent's whole state.
    StateSnapshot {
        /// The state.
        snapshot: Value,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A change of the agent's state, as JSON Patch.
    StateDelta {
        /// The operations.
        delta: Vec<Value>,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// The whole conversation, as the agent has it.
    MessagesSnapshot {
        /// The messages.
        messages: Vec<Message>,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// Progress that is no part of the conversation.
    ActivitySnapshot {
        /// The activity.
        message_id: String,
        /// What kind of activity it is.
        activity_type: String,
        /// What it shows.
        content: Value,
        /// Whether it replaces what is there; yes, without.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replace: Option<bool>,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A change of an activity, as JSON Patch.
    ActivityDelta {
        /// The activity.
        message_id: String,
        /// What kind of activity it is.
        activity_type: String,
        /// The operations.
        patch: Vec<Value>,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A subagent begins. The common field has the invocation.
    SubagentStarted {
        /// Its name.
        name: String,
        /// The invocation that began it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_subagent_run_id: Option<String>,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A subagent ends, or waits.
    SubagentFinished {
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// A subagent failed.
    SubagentError {
        /// What went wrong.
        message: String,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// An event of the framework's, as it is.
    Raw {
        /// The event.
        event: Value,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// An event of the application's own.
    Custom {
        /// Its name.
        name: String,
        /// What it holds.
        value: Value,
        /// What every event may have.
        #[serde(flatten)]
        common: Common,
    },
    /// An event that is not known, or does not fit its type, whole.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

impl Event {
    /// The type of an event that is not known, or does not fit it.
    pub fn other_type(&self) -> Option<&str> {
        match self {
            Self::Other(fields) => fields.get("type").and_then(Value::as_str),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// One event of each type, with every field that 1.0 has.
    fn specimens() -> Vec<Value> {
        let text = include_str!("specimens.jsonl");
        let lines = text.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn every_event_is_known_and_written_as_it_came() {
        let all = specimens();
        let mut kinds = std::collections::BTreeSet::new();
        for specimen in all {
            let event: Event = serde_json::from_value(specimen.clone()).unwrap();
            assert!(!matches!(event, Event::Other(_)), "{specimen}");
            assert_eq!(serde_json::to_value(&event).unwrap(), specimen);
            kinds.insert(specimen["type"].as_str().unwrap().to_owned());
        }
        assert_eq!(kinds.len(), 31);
    }

    #[test]
    fn event_that_is_not_known_or_does_not_fit_is_kept_whole() {
        for odd in [
            json!({"type": "HOLOGRAM", "of": "a cat"}),
            json!({"type": "TEXT_MESSAGE_CONTENT", "delta": 5}),
            json!({"no": "type"}),
        ] {
            let event: Event = serde_json::from_value(odd.clone()).unwrap();
            assert!(matches!(event, Event::Other(_)), "{event:?}");
            assert_eq!(event.other_type(), odd.get("type").and_then(Value::as_str));
            assert_eq!(serde_json::to_value(&event).unwrap(), odd);
        }
    }

    #[test]
    fn null_is_what_is_not_there() {
        let finished = json!({"type": "RUN_FINISHED", "outcome": null, "usage": null});
        let event: Event = serde_json::from_value(finished).unwrap();
        assert!(matches!(
            event,
            Event::RunFinished {
                outcome: None,
                usage: None,
                ..
            }
        ));
    }
}
