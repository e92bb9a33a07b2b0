//! How much of a chat the model has, and its pending calls.

use gemini::live::{ClientContent, ToolResponse};
use gemini::{ClientMessage, FunctionCall, FunctionResponse, Scheduling};
use serde_json::{Map, Value, json};
use turn::agent::{Behavior, HistoryItem};

use crate::gemini::{contents, response};
use crate::model::history::digest;

/// How much of the history a session has, and its pending calls.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SyncedHistory {
    /// How many items of the history it has.
    items: usize,
    /// What the last of that was.
    last: u64,
    /// The calls that it has made, and has had no result of.
    pub(super) calls: Vec<PendingCall>,
    /// The handle by which a session with exactly this history can be resumed.
    pub(super) handle: Option<String>,
}

/// A call that the model has had no result of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PendingCall {
    pub(super) id: Option<String>,
    pub(super) tool: String,
    pub(super) behavior: Behavior,
}

impl SyncedHistory {
    /// All of a history.
    pub(super) fn all(history: &[HistoryItem]) -> Self {
        Self {
            items: history.len(),
            last: history.last().map_or(0, digest),
            calls: Vec::new(),
            handle: None,
        }
    }

    /// What was noted in the journal, if this is it.
    pub(super) fn from_session(session: &Value) -> Option<Self> {
        let calls = session.get("calls")?.as_array()?.iter().map(|call| {
            let non_blocking = call.get("nonBlocking") == Some(&Value::Bool(true));
            Some(PendingCall {
                id: call.get("id").and_then(Value::as_str).map(str::to_owned),
                tool: call.get("tool")?.as_str()?.to_owned(),
                behavior: match non_blocking {
                    true => Behavior::NonBlocking,
                    false => Behavior::Blocking,
                },
            })
        });
        let handle = session.get("handle").and_then(Value::as_str);
        Some(Self {
            items: usize::try_from(session.get("items")?.as_u64()?).ok()?,
            last: session.get("last")?.as_str()?.parse().ok()?,
            calls: calls.collect::<Option<_>>()?,
            handle: handle.map(str::to_owned),
        })
    }

    /// What is to be noted in the journal.
    pub(super) fn to_session(&self, opened: &str) -> Value {
        let calls = self.calls.iter().map(|call| {
            let mut synced = Map::from_iter([("tool".to_owned(), json!(call.tool))]);
            if let Some(id) = &call.id {
                synced.insert("id".to_owned(), json!(id));
            }
            if call.behavior == Behavior::NonBlocking {
                synced.insert("nonBlocking".to_owned(), json!(true));
            }
            Value::Object(synced)
        });
        let mut session = json!({
            "items": self.items,
            "last": self.last.to_string(),
            "calls": calls.collect::<Vec<_>>(),
            "opened": opened,
        });
        if let Some(handle) = &self.handle {
            session["handle"] = json!(handle);
        }
        session
    }

    /// What the model lacks to have a whole history; none, if its own history differs, or
    /// if it has answered all of it already.
    pub(super) fn missing(&self, history: &[HistoryItem]) -> Option<Vec<ClientMessage>> {
        let is_the_same = match self.items {
            0 => true,
            items => history.get(items - 1).map(digest) == Some(self.last),
        };
        let rest = history.get(self.items..).filter(|_| is_the_same)?;
        let mut pending = self.calls.clone();
        let mut responses = Vec::new();
        let mut turns = Vec::new();
        for (place, past) in rest.iter().enumerate() {
            match past {
                // Its own answer to the last message.
                HistoryItem::Step { results, .. } if place == 0 => {
                    for result in results {
                        let id = &result.call.provider_id;
                        let index = pending.iter().position(|pending| pending.id == *id)?;
                        let call = pending.remove(index);
                        responses.push(call.answered(response::of(result)));
                    }
                }
                // Another server continued the chat.
                HistoryItem::Step { .. } => return None,
                HistoryItem::Message(message) if message.is_speech() => {}
                HistoryItem::Message(_) | HistoryItem::Result { .. } => {
                    turns.extend(contents(std::slice::from_ref(past)));
                }
            }
        }
        if rest.is_empty() {
            return None;
        }
        // Calls that were never made: the turn was stopped before.
        responses.extend(pending.into_iter().map(|call| call.answered(stopped())));
        // The model is to comment on them once, when it has them all.
        if let Some((_, before)) = responses.split_last_mut() {
            for response in before {
                response.scheduling = response.scheduling.take().map(|_| Scheduling::Silent);
            }
        }
        let mut messages = Vec::new();
        if !responses.is_empty() {
            messages.push(tool_response(responses));
        }
        if !turns.is_empty() {
            messages.push(content(turns, true));
        }
        Some(messages)
    }
}

impl PendingCall {
    /// The last response to the call.
    fn answered(self, response: FunctionResponse) -> FunctionResponse {
        let is_free = self.behavior == Behavior::NonBlocking;
        FunctionResponse {
            id: self.id,
            name: Some(self.tool),
            scheduling: is_free.then_some(Scheduling::WhenIdle),
            will_continue: is_free.then_some(false),
            ..response
        }
    }

    /// The response to a call that will not run.
    pub(super) fn refused(call: FunctionCall) -> FunctionResponse {
        FunctionResponse {
            id: call.id,
            name: call.name,
            ..stopped()
        }
    }

    /// That there will be one.
    pub(super) fn pending(&self) -> FunctionResponse {
        let pending = json!("pending: this waits, and its result will follow");
        FunctionResponse {
            id: self.id.clone(),
            name: Some(self.tool.clone()),
            response: Some(Map::from_iter([("status".to_owned(), pending)])),
            scheduling: Some(Scheduling::Silent),
            will_continue: Some(true),
            ..FunctionResponse::default()
        }
    }
}

/// The response to a call whose turn was stopped before it was made.
fn stopped() -> FunctionResponse {
    let error = json!("The turn was stopped.");
    FunctionResponse {
        response: Some(Map::from_iter([("error".to_owned(), error)])),
        ..FunctionResponse::default()
    }
}

/// The whole history, for a session without one. It is to be answered, unless speech
/// follows.
pub(super) fn initial_history(history: &[HistoryItem]) -> Option<ClientMessage> {
    let (spoken, before) = match history.split_last() {
        Some((HistoryItem::Message(message), before)) if message.is_speech() => (true, before),
        _ => (false, history),
    };
    let turns = contents(before);
    (!turns.is_empty()).then(|| content(turns, !spoken))
}

pub(super) fn tool_response(function_responses: Vec<FunctionResponse>) -> ClientMessage {
    ClientMessage {
        tool_response: Some(ToolResponse {
            function_responses,
            ..ToolResponse::default()
        }),
        ..ClientMessage::default()
    }
}

fn content(turns: Vec<gemini::Content>, is_complete: bool) -> ClientMessage {
    ClientMessage {
        client_content: Some(ClientContent {
            turns,
            turn_complete: Some(is_complete),
            ..ClientContent::default()
        }),
        ..ClientMessage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turn::agent::{CallResult, Part};
    use turn::call::{Call, Outcome, Place};
    use turn::message::{self, Message};
    use turn::{CallId, TurnId};

    fn message(text: &str) -> HistoryItem {
        let part = message::Part::text(text);
        HistoryItem::Message(Message::new(text, vec![part]))
    }

    fn call(id: &str) -> Call {
        Call {
            id: CallId::of(&TurnId::from("t"), 0),
            provider_id: Some(id.to_owned()),
            tool: "pay".to_owned(),
            input: json!({}),
            place: Place::Server,
            parent: None,
            provider_metadata: None,
        }
    }

    fn step(text: &str, calls: &[&str]) -> HistoryItem {
        let result = |id: &&str| CallResult {
            call: call(id),
            edited_input: None,
            outcome: Outcome::Output { output: json!(id) },
        };
        HistoryItem::Step {
            parts: vec![Part::Text {
                text: text.to_owned(),
                provider_metadata: None,
            }],
            results: calls.iter().map(result).collect(),
        }
    }

    fn pending(id: &str, behavior: Behavior) -> PendingCall {
        PendingCall {
            id: Some(id.to_owned()),
            tool: "pay".to_owned(),
            behavior,
        }
    }

    fn synced(history: &[HistoryItem], calls: Vec<PendingCall>) -> SyncedHistory {
        SyncedHistory {
            calls,
            handle: Some("h".to_owned()),
            ..SyncedHistory::all(history)
        }
    }

    fn json_of(messages: Option<Vec<ClientMessage>>) -> Value {
        serde_json::to_value(messages).unwrap()
    }

    #[test]
    fn what_is_new_is_pending() {
        let synced = synced(&[message("a")], vec![]);
        let history = [message("a"), step("b", &[]), message("c")];
        let turn = json!({"role": "user", "parts": [{"text": "c"}]});
        assert_eq!(
            json_of(synced.missing(&history)),
            json!([{"clientContent": {"turns": [turn], "turnComplete": true}}])
        );
        // An answer that was stopped before any output is not in the history.
        let history = [message("a"), message("c")];
        assert_eq!(
            synced.missing(&history).map(|pending| pending.len()),
            Some(1)
        );
    }

    #[test]
    fn results_are_pending_for_the_calls_that_wait_for_them() {
        let calls = vec![
            pending("1", Behavior::Blocking),
            pending("2", Behavior::NonBlocking),
        ];
        let synced = synced(&[message("a")], calls);
        let history = [message("a"), step("", &["2", "1"])];
        assert_eq!(
            json_of(synced.missing(&history)),
            json!([{"toolResponse": {"functionResponses": [
                {"id": "2", "name": "pay", "response": {"output": "2"},
                 "scheduling": "SILENT", "willContinue": false},
                {"id": "1", "name": "pay", "response": {"output": "1"}},
            ]}}])
        );
        // The turn was stopped before its calls were made.
        let history = [message("a"), message("b")];
        let pending = json_of(synced.missing(&history));
        let lost = &pending[0]["toolResponse"]["functionResponses"];
        assert_eq!(lost.as_array().map(Vec::len), Some(2));
        assert_eq!(lost[0]["response"]["error"], "The turn was stopped.");
        assert!(pending[1]["clientContent"].is_object());
    }

    #[test]
    fn a_history_that_differs_is_sent_again() {
        let synced = synced(&[message("a"), step("b", &[]), message("c")], vec![]);
        for history in [
            // Regenerated: it has answered that already.
            vec![message("a"), step("b", &[]), message("c")],
            // Edited, before or at the end.
            vec![message("x")],
            vec![message("a"), step("b", &[]), message("x"), step("d", &[])],
            // Continued elsewhere.
            vec![
                message("a"),
                step("b", &[]),
                message("c"),
                step("d", &[]),
                message("e"),
                step("f", &[]),
                message("g"),
            ],
            // A call that this session never made.
            vec![
                message("a"),
                step("b", &[]),
                message("c"),
                step("d", &["9"]),
            ],
        ] {
            assert_eq!(synced.missing(&history), None, "{history:?}");
        }
    }

    #[test]
    fn what_is_noted_in_the_journal_is_read_back() {
        let calls = vec![
            pending("1", Behavior::Blocking),
            pending("2", Behavior::NonBlocking),
        ];
        let synced = synced(&[message("a")], calls);
        let session = synced.to_session("seeded");
        assert_eq!(session["opened"], "seeded");
        assert_eq!(SyncedHistory::from_session(&session), Some(synced));
        assert_eq!(SyncedHistory::from_session(&json!({"handle": "h"})), None);
        let nowhere = SyncedHistory::all(&[message("a")]);
        let session = nowhere.to_session("kept");
        assert_eq!(session.get("handle"), None);
        assert_eq!(SyncedHistory::from_session(&session), Some(nowhere));
    }

    #[test]
    fn a_seed_is_answered_unless_somebody_is_about_to_speak() {
        let speech = message::Part::Data {
            name: message::SPEECH.to_owned(),
            fields: Map::new(),
        };
        let spoken = HistoryItem::Message(Message::new("s", vec![speech]));
        let complete = |history: &[HistoryItem]| {
            let initial_history = initial_history(history)?.client_content?;
            initial_history.turn_complete
        };
        assert_eq!(complete(&[message("a")]), Some(true));
        assert_eq!(complete(&[message("a"), spoken.clone()]), Some(false));
        assert_eq!(complete(&[spoken]), None);
    }
}
