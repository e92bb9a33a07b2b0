//! What the model knows of a chat, and what it is owed.

use std::hash::{DefaultHasher, Hash, Hasher};

use gemini::live::{ClientContent, ToolResponse};
use gemini::{ClientMessage, FunctionCall, FunctionResponse, Scheduling};
use serde_json::{Map, Value, json};
use turn::agent::{Behavior, Past};

use crate::gemini::{contents, response};

/// What a session was told, by its place in the history, and what it waits for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    /// How much of the history it was told.
    items: usize,
    /// What the last of that was.
    last: u64,
    /// The calls that it has made, and has had no result of.
    pub(super) calls: Vec<Owed>,
    /// The handle by which a session can be gone on with that knows just this.
    pub(super) handle: Option<String>,
}

/// A call that the model has had no result of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Owed {
    pub(super) id: Option<String>,
    pub(super) tool: String,
    pub(super) behavior: Behavior,
}

impl Told {
    /// All of a history.
    pub(super) fn all(history: &[Past]) -> Self {
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
            Some(Owed {
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
            let mut told = Map::from_iter([("tool".to_owned(), json!(call.tool))]);
            if let Some(id) = &call.id {
                told.insert("id".to_owned(), json!(id));
            }
            if call.behavior == Behavior::NonBlocking {
                told.insert("nonBlocking".to_owned(), json!(true));
            }
            Value::Object(told)
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

    /// What the model is owed so that it knows all of a history; nothing, if what it knows is
    /// something else, or if it has answered all of it already.
    pub(super) fn owes(&self, history: &[Past]) -> Option<Vec<ClientMessage>> {
        let is_the_same = match self.items {
            0 => true,
            items => history.get(items - 1).map(digest) == Some(self.last),
        };
        let rest = history.get(self.items..).filter(|_| is_the_same)?;
        let mut owed = self.calls.clone();
        let mut responses = Vec::new();
        let mut turns = Vec::new();
        for (place, past) in rest.iter().enumerate() {
            match past {
                // Its own answer to what it was told last.
                Past::Step { results, .. } if place == 0 => {
                    for result in results {
                        let id = &result.call.provider_id;
                        let index = owed.iter().position(|owed| owed.id == *id)?;
                        let call = owed.remove(index);
                        responses.push(call.answered(response::of(result)));
                    }
                }
                // Somebody else went on with the chat.
                Past::Step { .. } => return None,
                Past::Message(message) if message.is_speech() => {}
                Past::Message(_) | Past::Result { .. } => {
                    turns.extend(contents(std::slice::from_ref(past)));
                }
            }
        }
        if rest.is_empty() {
            return None;
        }
        // Calls that nobody made in the end: the turn was stopped before.
        responses.extend(owed.into_iter().map(|call| call.answered(stopped())));
        // The model is to speak of them once, when it knows them all.
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

impl Owed {
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

    /// That nobody will do what a call asks for.
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

/// What became of a call whose turn was stopped before it was made.
fn stopped() -> FunctionResponse {
    let error = json!("The turn was stopped.");
    FunctionResponse {
        response: Some(Map::from_iter([("error".to_owned(), error)])),
        ..FunctionResponse::default()
    }
}

/// The whole history, for a session that knows nothing of it. It is to be answered, unless somebody
/// is about to speak.
pub(super) fn seed(history: &[Past]) -> Option<ClientMessage> {
    let (spoken, before) = match history.split_last() {
        Some((Past::Message(message), before)) if message.is_speech() => (true, before),
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

/// What an item of the history was. Another build may see it differently, and then seeds anew.
fn digest(past: &Past) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{past:?}").hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use turn::agent::{CallResult, Part};
    use turn::call::{Call, Outcome, Place};
    use turn::message::{self, Message};
    use turn::{CallId, TurnId};

    fn message(text: &str) -> Past {
        let part = message::Part::text(text);
        Past::Message(Message::new(text, vec![part]))
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

    fn step(text: &str, calls: &[&str]) -> Past {
        let result = |id: &&str| CallResult {
            call: call(id),
            edited_input: None,
            outcome: Outcome::Output { output: json!(id) },
        };
        Past::Step {
            parts: vec![Part::Text {
                text: text.to_owned(),
                provider_metadata: None,
            }],
            results: calls.iter().map(result).collect(),
        }
    }

    fn owed(id: &str, behavior: Behavior) -> Owed {
        Owed {
            id: Some(id.to_owned()),
            tool: "pay".to_owned(),
            behavior,
        }
    }

    fn told(history: &[Past], calls: Vec<Owed>) -> Told {
        Told {
            calls,
            handle: Some("h".to_owned()),
            ..Told::all(history)
        }
    }

    fn json_of(messages: Option<Vec<ClientMessage>>) -> Value {
        serde_json::to_value(messages).unwrap()
    }

    #[test]
    fn what_is_new_is_owed() {
        let told = told(&[message("a")], vec![]);
        let history = [message("a"), step("b", &[]), message("c")];
        let turn = json!({"role": "user", "parts": [{"text": "c"}]});
        assert_eq!(
            json_of(told.owes(&history)),
            json!([{"clientContent": {"turns": [turn], "turnComplete": true}}])
        );
        // An answer that was stopped before it said a word is not in the history.
        let history = [message("a"), message("c")];
        assert_eq!(told.owes(&history).map(|owed| owed.len()), Some(1));
    }

    #[test]
    fn results_are_owed_to_the_calls_that_wait_for_them() {
        let calls = vec![
            owed("1", Behavior::Blocking),
            owed("2", Behavior::NonBlocking),
        ];
        let told = told(&[message("a")], calls);
        let history = [message("a"), step("", &["2", "1"])];
        assert_eq!(
            json_of(told.owes(&history)),
            json!([{"toolResponse": {"functionResponses": [
                {"id": "2", "name": "pay", "response": {"output": "2"},
                 "scheduling": "SILENT", "willContinue": false},
                {"id": "1", "name": "pay", "response": {"output": "1"}},
            ]}}])
        );
        // The turn was stopped before its calls were made.
        let history = [message("a"), message("b")];
        let owed = json_of(told.owes(&history));
        let lost = &owed[0]["toolResponse"]["functionResponses"];
        assert_eq!(lost.as_array().map(Vec::len), Some(2));
        assert_eq!(lost[0]["response"]["error"], "The turn was stopped.");
        assert!(owed[1]["clientContent"].is_object());
    }

    #[test]
    fn a_history_that_went_another_way_is_told_anew() {
        let told = told(&[message("a"), step("b", &[]), message("c")], vec![]);
        for history in [
            // Regenerated: it has answered that already.
            vec![message("a"), step("b", &[]), message("c")],
            // Edited, before or at the end.
            vec![message("x")],
            vec![message("a"), step("b", &[]), message("x"), step("d", &[])],
            // Gone on elsewhere.
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
            assert_eq!(told.owes(&history), None, "{history:?}");
        }
    }

    #[test]
    fn what_is_noted_in_the_journal_is_read_back() {
        let calls = vec![
            owed("1", Behavior::Blocking),
            owed("2", Behavior::NonBlocking),
        ];
        let told = told(&[message("a")], calls);
        let session = told.to_session("seeded");
        assert_eq!(session["opened"], "seeded");
        assert_eq!(Told::from_session(&session), Some(told));
        assert_eq!(Told::from_session(&json!({"handle": "h"})), None);
        let nowhere = Told::all(&[message("a")]);
        let session = nowhere.to_session("kept");
        assert_eq!(session.get("handle"), None);
        assert_eq!(Told::from_session(&session), Some(nowhere));
    }

    #[test]
    fn a_seed_is_answered_unless_somebody_is_about_to_speak() {
        let speech = message::Part::Data {
            name: message::SPEECH.to_owned(),
            fields: Map::new(),
        };
        let spoken = Past::Message(Message::new("s", vec![speech]));
        let complete = |history: &[Past]| {
            let seed = seed(history)?.client_content?;
            seed.turn_complete
        };
        assert_eq!(complete(&[message("a")]), Some(true));
        assert_eq!(complete(&[message("a"), spoken.clone()]), Some(false));
        assert_eq!(complete(&[spoken]), None);
    }
}
