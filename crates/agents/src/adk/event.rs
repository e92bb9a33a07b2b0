//! ADK's events, of a run and of a session.

use gemini::live::Transcription;
use gemini::{Content, Data, FunctionCall, FunctionResponse, UsageMetadata};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The tool by which ADK asks for a confirmation of another.
pub(super) const CONFIRMATION: &str = "adk_request_confirmation";

/// The name under which a run carries its purpose.
pub(super) const MARK: &str = "adk_stream";

/// One event. Fields that are of no use here are left out.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Event {
    pub(super) id: Option<String>,
    pub(super) author: Option<String>,
    /// The path to its author, of agents that run side by side: `parallel.left`.
    pub(super) branch: Option<String>,
    /// The path to its author, where models hand over to each other.
    pub(super) node_info: Option<NodeInfo>,
    pub(super) content: Option<Content>,
    pub(super) partial: Option<bool>,
    pub(super) finish_reason: Option<String>,
    pub(super) error_code: Option<String>,
    pub(super) error_message: Option<String>,
    pub(super) usage_metadata: Option<UsageMetadata>,
    pub(super) model_version: Option<String>,
    pub(super) long_running_tool_ids: Option<Vec<String>>,
    pub(super) actions: Option<Actions>,
    pub(super) custom_metadata: Option<Value>,
    /// Of a live run: the transcript of the user's speech.
    pub(super) input_transcription: Option<Transcription>,
    /// The transcript of the model's speech.
    pub(super) output_transcription: Option<Transcription>,
    /// Whether the model was interrupted.
    pub(super) interrupted: Option<bool>,
    /// Whether it hands over.
    pub(super) turn_complete: Option<bool>,
    /// Whether it will continue by itself though it hands over.
    pub(super) interaction_status: Option<String>,
    /// Which session with the model it is of.
    pub(super) live_session_id: Option<String>,
}

/// Where in an app an event comes from.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct NodeInfo {
    /// The path, each agent with how often it ran: `root@1/helper@1`. Often empty.
    pub(super) path: Option<String>,
}

/// What an event does besides.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Actions {
    pub(super) state_delta: Option<Map<String, Value>>,
    pub(super) artifact_delta: Option<Map<String, Value>>,
    pub(super) requested_tool_confirmations: Option<Map<String, Value>>,
    pub(super) transfer_to_agent: Option<String>,
}

/// A session, as the server keeps it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Session {
    pub(super) events: Vec<Event>,
    pub(super) state: Map<String, Value>,
}

impl Event {
    pub(super) fn is_partial(&self) -> bool {
        self.partial == Some(true)
    }

    pub(super) fn is_from_user(&self) -> bool {
        self.author.as_deref() == Some("user")
    }

    fn data(&self) -> impl Iterator<Item = &Data> {
        let parts = self.content.iter().flat_map(|content| &content.parts);
        parts.map(|part| &part.data)
    }

    /// The calls of the agent's tools.
    pub(super) fn calls(&self) -> impl Iterator<Item = &FunctionCall> {
        self.all_calls()
            .filter(|call| call.name.as_deref() != Some(CONFIRMATION))
    }

    /// Calls, with those by which ADK asks.
    pub(super) fn all_calls(&self) -> impl Iterator<Item = &FunctionCall> {
        self.data().filter_map(|data| match data {
            Data::FunctionCall(call) => Some(call),
            _ => None,
        })
    }

    pub(super) fn responses(&self) -> impl Iterator<Item = &FunctionResponse> {
        self.data().filter_map(|data| match data {
            Data::FunctionResponse(response) => Some(response),
            _ => None,
        })
    }

    /// Whether a call's result comes from outside.
    pub(super) fn is_long_running(&self, call: &FunctionCall) -> bool {
        let ids = self.long_running_tool_ids.as_deref().unwrap_or_default();
        call.id.as_ref().is_some_and(|id| ids.contains(id))
    }

    /// Whether it has calls whose results do not come from outside.
    pub(super) fn has_others(&self) -> bool {
        self.calls().any(|call| !self.is_long_running(call))
    }

    /// Whether the response to a call only reports that a person is asked.
    pub(super) fn is_placeholder(&self, response: &FunctionResponse) -> bool {
        let asked = self.actions.as_ref();
        let asked = asked.and_then(|actions| actions.requested_tool_confirmations.as_ref());
        let id = response.id.as_ref();
        asked.is_some_and(|asked| id.is_some_and(|id| asked.contains_key(id)))
    }

    /// Whether it contains output of the model, or calls.
    pub(super) fn is_said(&self) -> bool {
        let is_asking = self.all_calls().next().is_some() && self.calls().next().is_none();
        let mut data = self.data();
        !self.is_from_user()
            && !is_asking
            && (data.any(|data| !matches!(data, Data::FunctionResponse(_)))
                || self.error_code.is_some())
    }

    /// Whether it reports that the reader has disconnected.
    pub(super) fn is_aborted(&self) -> bool {
        self.error_code.as_deref() == Some("INVOCATION_ABORTED")
    }

    /// The purpose of the run, if the server has stored it: with the event, or, of a message,
    /// in what it does to the state.
    pub(super) fn mark(&self) -> Option<RunOrigin> {
        let kept = self
            .custom_metadata
            .as_ref()
            .and_then(|kept| kept.get(MARK));
        let state = self.actions.as_ref().filter(|_| self.is_from_user());
        let state = || state?.state_delta.as_ref()?.get(MARK);
        let mark = kept.or_else(state)?;
        Some(RunOrigin {
            turn: mark.get("turn")?.as_str()?.to_owned(),
            step: mark.get("step")?.as_u64()?,
        })
    }
}

/// For what a run was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RunOrigin {
    /// The turn.
    pub(super) turn: String,
    /// The step that it began with.
    pub(super) step: u64,
}
