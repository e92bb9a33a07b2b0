//! How much of a chat a session holds, and how a new one gets the history.

use gemini::{Content, Data, Part, Role};
use serde_json::{Value, json};
use turn::agent::{HistoryItem, StepRequest};
use turn::call::Place;

use super::super::run_input::{events, history_contents, result};
use crate::model::history::digest;

/// In place of an unknown answer of the model, so that the history has one.
const SILENCE: &str = "…";

/// The message to the model when its calls are settled in a session that it did not make them in.
const GO_ON: &str = "Please go on.";

/// How much of a chat's history a session holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SyncedHistory {
    items: usize,
    last: u64,
}

impl SyncedHistory {
    /// All of a history.
    pub(super) fn all(history: &[HistoryItem]) -> Self {
        Self {
            items: history.len(),
            last: history.last().map_or(0, digest),
        }
    }

    /// The frames that a session with this history still needs; none, if its history differs from the
    /// chat's.
    pub(super) fn missing(&self, history: &[HistoryItem]) -> Option<Vec<Value>> {
        let last = history.get(self.items.checked_sub(1)?)?;
        let rest = history
            .get(self.items..)
            .filter(|_| digest(last) == self.last)?;
        match rest {
            [HistoryItem::Step { results, .. }] => {
                let brought = results.iter();
                let brought = brought.filter(|result| result.call.place == Place::Client);
                let parts: Vec<_> = brought.map(result).collect();
                let synced = (!parts.is_empty()).then(|| frame(&Content::user(parts)));
                Some(synced.into_iter().collect())
            }
            [message @ HistoryItem::Message(_)]
            | [HistoryItem::Step { .. }, message @ HistoryItem::Message(_)] => {
                Some(asked(message).into_iter().collect())
            }
            _ => None,
        }
    }
}

/// How a session with a history is made: the events that it is made with, and the frames that follow.
#[derive(Debug, PartialEq)]
pub(super) struct InitialHistory {
    pub(super) events: Vec<Value>,
    pub(super) frames: Vec<Value>,
}

impl InitialHistory {
    /// ADK answers a history at once that does not end with the model. So it is made to
    /// end so.
    pub(super) fn of(request: &StepRequest, root: &str) -> Self {
        let history = &request.history;
        let mut contents = history_contents(history);
        let mut message = match history.last() {
            Some(HistoryItem::Step { .. }) | None => Some(Content::user(vec![Part::text(GO_ON)])),
            Some(_) => contents.pop(),
        };
        if history.last().is_some_and(is_spoken) {
            message = None;
        }
        // Messages without an answer are sent again.
        while let Some((last, asked)) = contents.last().zip(message.as_mut())
            && last.role == Some(Role::User)
            && let (Some(before), Some(text)) = (text(last), text(asked))
        {
            *asked = Content::user(vec![Part::text(format!("{before}\n\n{text}"))]);
            contents.pop();
        }
        if contents
            .last()
            .is_some_and(|last| last.role != Some(Role::Model))
        {
            contents.push(Content::model(vec![Part::text(SILENCE)]));
        }
        Self {
            events: events(&contents, root),
            frames: message.iter().map(frame).collect(),
        }
    }
}

/// A message as a frame, unless it is spoken and comes as audio.
fn asked(message: &HistoryItem) -> Option<Value> {
    if is_spoken(message) {
        return None;
    }
    history_contents(std::slice::from_ref(message))
        .first()
        .map(frame)
}

fn is_spoken(past: &HistoryItem) -> bool {
    matches!(past, HistoryItem::Message(message) if message.is_speech())
}

/// Text in one part: newer models take nothing else in the middle of a conversation.
fn frame(content: &Content) -> Value {
    match text(content) {
        Some(text) => json!({"content": Content::user(vec![Part::text(text)])}),
        None => json!({"content": content}),
    }
}

/// The text of a content, if it is text only.
fn text(content: &Content) -> Option<String> {
    let texts = content.parts.iter().map(|part| match &part.data {
        Data::Text(text) => Some(text.as_str()),
        _ => None,
    });
    Some(texts.collect::<Option<Vec<_>>>()?.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use turn::agent::{self, CallResult};
    use turn::call::{Call, Outcome};
    use turn::message::{self, Message};
    use turn::{CallId, ChatId, Principal, TurnId};

    fn message(text: &str) -> HistoryItem {
        HistoryItem::Message(Message::new(text, vec![message::Part::text(text)]))
    }

    fn spoken() -> HistoryItem {
        let part = message::Part::Data {
            name: message::SPEECH.to_owned(),
            fields: serde_json::Map::new(),
        };
        HistoryItem::Message(Message::new("s", vec![part]))
    }

    fn step(text: &str, calls: &[(&str, Place)]) -> HistoryItem {
        let said = agent::Part::Text {
            text: text.to_owned(),
            provider_metadata: None,
        };
        let made = calls.iter().map(|(id, place)| Call {
            id: CallId::of(&TurnId::from("t"), 0),
            provider_id: Some((*id).to_owned()),
            tool: "play".to_owned(),
            input: json!({}),
            place: *place,
            parent: None,
            provider_metadata: None,
        });
        let made: Vec<_> = made.collect();
        let results = made.iter().map(|call| CallResult {
            call: call.clone(),
            edited_input: None,
            outcome: Outcome::Output {
                output: json!({"ok": true}),
            },
        });
        let parts = made.iter().map(|call| agent::Part::Call {
            call: call.clone(),
            held: false,
            open: false,
        });
        let said = (!text.is_empty()).then_some(said);
        HistoryItem::Step {
            parts: said.into_iter().chain(parts).collect(),
            results: results.collect(),
        }
    }

    fn history_events(history: &[HistoryItem]) -> (Vec<String>, Vec<String>) {
        let request = StepRequest {
            chat: ChatId::from("c"),
            turn: TurnId::from("t"),
            principal: Principal::from("ann"),
            history: history.to_vec().into(),
            tools: Vec::new(),
            session: None,
            own: Vec::new(),
            is_again: false,
            trace: None,
        };
        let InitialHistory { events, frames } = InitialHistory::of(&request, "root");
        let short = |event: &Value| {
            let author = event["author"].as_str().unwrap_or("me");
            let part = &event["content"]["parts"][0];
            let text = part["text"].as_str().map(str::to_owned);
            let kind = || part.as_object().unwrap().keys().next().unwrap().clone();
            format!("{author}: {}", text.unwrap_or_else(kind))
        };
        let short = |all: &[Value]| all.iter().map(short).collect();
        (short(&events), short(&frames))
    }

    #[test]
    fn open_session_gets_what_is_new() {
        let history = [message("Hi"), step("Hello.", &[]), message("Weather?")];
        let synced = SyncedHistory::all(&history[..1]);
        let pending = synced.missing(&history).unwrap();
        assert_eq!(
            pending,
            [json!({"content": {"role": "user", "parts": [{"text": "Weather?"}]}})]
        );
        let mut spoken_history = history.to_vec();
        spoken_history[2] = spoken();
        assert_eq!(
            synced.missing(&spoken_history).unwrap(),
            Vec::<Value>::new()
        );
    }

    #[test]
    fn session_of_another_conversation_is_not_continued() {
        let synced = SyncedHistory::all(&[message("Hi")]);
        let edited = [message("Hello"), step("Hello.", &[]), message("Weather?")];
        assert_eq!(synced.missing(&edited), None);
        // Regenerated.
        assert_eq!(synced.missing(&[message("Hi")]), None);
        // Another server continued the chat.
        let hi = || [message("Hi"), step("Hello.", &[])];
        let elsewhere = [&hi()[..], &hi()[..], &[message("Weather?")]].concat();
        assert_eq!(synced.missing(&elsewhere), None);
    }

    #[test]
    fn results_of_pages_are_sent_and_those_of_adk_are_known() {
        let calls = [("1", Place::Agent), ("2", Place::Client)];
        let history = [message("Music"), step("", &calls)];
        let pending = SyncedHistory::all(&history[..1]).missing(&history).unwrap();
        assert_eq!(pending.len(), 1);
        let parts = pending[0]["content"]["parts"].as_array().unwrap();
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0]["functionResponse"]["id"], "2");
        let history = [message("Weather"), step("", &calls[..1])];
        let pending = SyncedHistory::all(&history[..1]).missing(&history).unwrap();
        assert_eq!(pending, Vec::<Value>::new());
    }

    #[test]
    fn new_session_knows_what_was_said_and_ends_with_the_model() {
        let hi = [message("Hi"), step("Hello.", &[])];
        let (events, frames) = history_events(&[&hi[..], &[message("Weather?")]].concat());
        assert_eq!(events, ["user: Hi", "root: Hello."]);
        assert_eq!(frames, ["me: Weather?"]);
        let (events, frames) = history_events(&[&hi[..], &[spoken()]].concat());
        assert_eq!(events, ["user: Hi", "root: Hello."]);
        assert_eq!(frames, [""; 0]);
        let (events, frames) = history_events(&[message("Hi")]);
        assert_eq!((events.len(), frames.len()), (0, 1));
    }

    #[test]
    fn what_was_never_answered_is_asked_with_what_is_new() {
        let (events, frames) = history_events(&[message("Hi"), message("Weather?")]);
        assert_eq!(events, [""; 0]);
        assert_eq!(frames, ["me: Hi\n\nWeather?"]);
        let (events, frames) = history_events(&[message("Hi"), spoken()]);
        assert_eq!(events, ["user: Hi", "root: …"]);
        assert_eq!(frames, [""; 0]);
    }

    #[test]
    fn settled_calls_of_a_lost_session_are_continued_from() {
        let paid = [message("Pay"), step("", &[("1", Place::Agent)])];
        let (events, frames) = history_events(&paid);
        let calls = [
            "user: Pay",
            "root: functionCall",
            "root: functionResponse",
            "root: …",
        ];
        assert_eq!(events, calls);
        assert_eq!(frames, ["me: Please go on."]);
        let (events, frames) = history_events(&[&paid[..], &[message("And?")]].concat());
        assert_eq!(events, calls);
        assert_eq!(frames, ["me: And?"]);
    }
}
