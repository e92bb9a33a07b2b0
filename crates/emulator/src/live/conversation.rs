//! The contents of a live session, and its open calls: what a handle restores.

use gemini::{Content, Data, FunctionCall, FunctionResponse, Part};
use serde_json::json;

/// The contents of a live session, and its open calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conversation {
    /// The contents of both roles.
    pub(super) contents: Vec<Content>,
    /// The calls that wait for their response.
    pub(super) open: Vec<OpenCall>,
    /// The ids of calls that were taken back, or are settled: late responses are no mistake.
    closed: Vec<String>,
    /// The number of utterances.
    pub(super) utterances: usize,
    /// How many messages of the client were taken in.
    pub(super) messages: u64,
}

/// A call that waits for its response.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OpenCall {
    pub(super) id: String,
    pub(super) name: String,
    /// Whether the model waits for it.
    pub(super) is_blocking: bool,
}

impl Conversation {
    /// Adds a content of the user.
    pub(super) fn user(&mut self, parts: Vec<Part>) {
        self.contents.push(Content::user(parts));
    }

    /// Adds a content of the model.
    pub(super) fn model(&mut self, parts: Vec<Part>) {
        if !parts.is_empty() {
            self.contents.push(Content::model(parts));
        }
    }

    /// The model makes calls.
    pub(super) fn calls(&mut self, calls: &[FunctionCall], is_blocking: impl Fn(&str) -> bool) {
        let parts = calls
            .iter()
            .cloned()
            .map(|call| Data::FunctionCall(call).into());
        self.model(parts.collect());
        self.open.extend(calls.iter().map(|call| {
            let name = call.name.clone().unwrap_or_default();
            OpenCall {
                id: call.id.clone().unwrap_or_default(),
                is_blocking: is_blocking(&name),
                name,
            }
        }));
    }

    /// The call that a response answers; nothing, if there never was one.
    pub(super) fn responded_call(&self, response: &FunctionResponse) -> Option<RespondedCall> {
        let name = response.name.as_deref().unwrap_or_default();
        let mut open = self.open.iter();
        let found = match &response.id {
            Some(id) => open.find(|call| call.id == *id),
            None => open.find(|call| call.name == name),
        };
        if let Some(call) = found {
            return Some(RespondedCall::Open(call.clone()));
        }
        let id = response.id.as_ref()?;
        self.closed.contains(id).then_some(RespondedCall::Closed)
    }

    /// A response is here. A call that the model does not wait for stays open while more follow.
    pub(super) fn response(&mut self, call: &OpenCall, mut response: FunctionResponse) {
        response.id = Some(call.id.clone());
        response.name = Some(call.name.clone());
        if call.is_blocking {
            response.will_continue = None;
        }
        if response.will_continue != Some(true) {
            self.open.retain(|open| open.id != call.id);
            self.closed.push(call.id.clone());
        }
        self.user(vec![Data::FunctionResponse(response).into()]);
    }

    /// Takes back the calls that are open, or those of them that the model waits for: their ids.
    pub(super) fn cancel(&mut self, only_blocking: bool) -> Vec<String> {
        let open = std::mem::take(&mut self.open);
        let (cancelled, left): (Vec<_>, Vec<_>) = open
            .into_iter()
            .partition(|call| call.is_blocking || !only_blocking);
        self.open = left;
        for call in &cancelled {
            let response = FunctionResponse {
                id: Some(call.id.clone()),
                name: Some(call.name.clone()),
                response: json!({"error": "The call was cancelled."})
                    .as_object()
                    .cloned(),
                ..FunctionResponse::default()
            };
            self.user(vec![Data::FunctionResponse(response).into()]);
        }
        let ids: Vec<_> = cancelled.into_iter().map(|call| call.id).collect();
        self.closed.extend_from_slice(&ids);
        ids
    }

    /// Whether the model waits for a response.
    pub(super) fn is_blocked(&self) -> bool {
        self.open.iter().any(|call| call.is_blocking)
    }
}

/// The call that a response answers.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RespondedCall {
    /// One that is open.
    Open(OpenCall),
    /// One that was.
    Closed,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, name: &str) -> FunctionCall {
        FunctionCall {
            id: Some(id.to_owned()),
            name: Some(name.to_owned()),
            ..FunctionCall::default()
        }
    }

    fn response(id: &str, will_continue: bool) -> FunctionResponse {
        FunctionResponse {
            id: Some(id.to_owned()),
            will_continue: Some(will_continue),
            ..FunctionResponse::default()
        }
    }

    fn respond(conversation: &mut Conversation, response: FunctionResponse) {
        let Some(RespondedCall::Open(call)) = conversation.responded_call(&response) else {
            panic!("no such call is open");
        };
        conversation.response(&call, response);
    }

    #[test]
    fn a_call_stays_open_while_more_follows() {
        let mut conversation = Conversation::default();
        conversation.calls(&[call("1", "slow")], |_| false);
        respond(&mut conversation, response("1", true));
        assert_eq!(conversation.open.len(), 1);
        respond(&mut conversation, response("1", false));
        assert!(conversation.open.is_empty());
        assert_eq!(
            conversation.responded_call(&response("1", false)),
            Some(RespondedCall::Closed)
        );
        assert_eq!(conversation.responded_call(&response("2", false)), None);
    }

    #[test]
    fn a_call_that_the_model_waits_for_has_one_response() {
        let mut conversation = Conversation::default();
        conversation.calls(&[call("1", "f")], |_| true);
        assert!(conversation.is_blocked());
        respond(&mut conversation, response("1", true));
        assert!(!conversation.is_blocked());
    }

    #[test]
    fn new_input_takes_back_what_the_model_waits_for() {
        let mut conversation = Conversation::default();
        conversation.calls(&[call("1", "f"), call("2", "slow")], |name| name == "f");
        assert_eq!(conversation.cancel(true), ["1"]);
        assert_eq!(conversation.cancel(true), [""; 0]);
        assert_eq!(conversation.cancel(false), ["2"]);
        assert_eq!(
            conversation.responded_call(&response("1", false)),
            Some(RespondedCall::Closed)
        );
    }
}
