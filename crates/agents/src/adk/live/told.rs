//! What a session knows of a chat, and how a new one is told.

use std::hash::{DefaultHasher, Hash, Hasher};

use gemini::{Content, Data, Part, Role};
use serde_json::{Value, json};
use turn::agent::{Past, StepRequest};
use turn::call::Place;

use super::super::telling::{events, result, said};

/// What is said for a model whose words are not known, so that nobody answers for it.
const SILENCE: &str = "…";

/// What the model is told when its calls are settled in a session that it did not make them in.
const GO_ON: &str = "Please go on.";

/// How much of a chat a session was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    items: usize,
    last: u64,
}

impl Told {
    /// All of a history.
    pub(super) fn all(history: &[Past]) -> Self {
        Self {
            items: history.len(),
            last: history.last().map_or(0, digest),
        }
    }

    /// What a session that knows this has to be told besides, in frames; nothing, if it knows
    /// something else.
    pub(super) fn owes(&self, history: &[Past]) -> Option<Vec<Value>> {
        let last = history.get(self.items.checked_sub(1)?)?;
        let rest = history
            .get(self.items..)
            .filter(|_| digest(last) == self.last)?;
        match rest {
            [Past::Step { results, .. }] => {
                let brought = results.iter();
                let brought = brought.filter(|result| result.call.place == Place::Client);
                let parts: Vec<_> = brought.map(result).collect();
                let told = (!parts.is_empty()).then(|| frame(&Content::user(parts)));
                Some(told.into_iter().collect())
            }
            [message @ Past::Message(_)] | [Past::Step { .. }, message @ Past::Message(_)] => {
                Some(asked(message).into_iter().collect())
            }
            _ => None,
        }
    }
}

/// How a session is made that is to know a chat: what it is made with, and what it is told then.
#[derive(Debug, PartialEq)]
pub(super) struct Retelling {
    pub(super) events: Vec<Value>,
    pub(super) frames: Vec<Value>,
}

impl Retelling {
    /// ADK has a history answered at once that does not end with the model's words. So it is made to
    /// end so.
    pub(super) fn of(request: &StepRequest, root: &str) -> Self {
        let history = &request.history;
        let mut contents = said(history);
        let mut message = match history.last() {
            Some(Past::Step { .. }) | None => Some(Content::user(vec![Part::text(GO_ON)])),
            Some(_) => contents.pop(),
        };
        if history.last().is_some_and(is_spoken) {
            message = None;
        }
        // What was not answered is said again.
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

/// What somebody says, unless it is spoken and comes as sound.
fn asked(message: &Past) -> Option<Value> {
    if is_spoken(message) {
        return None;
    }
    said(std::slice::from_ref(message)).first().map(frame)
}

fn is_spoken(past: &Past) -> bool {
    matches!(past, Past::Message(message) if message.is_speech())
}

/// Words in one part: newer models take nothing else in the middle of a conversation.
fn frame(content: &Content) -> Value {
    match text(content) {
        Some(text) => json!({"content": Content::user(vec![Part::text(text)])}),
        None => json!({"content": content}),
    }
}

/// What is said, if it is words only.
fn text(content: &Content) -> Option<String> {
    let texts = content.parts.iter().map(|part| match &part.data {
        Data::Text(text) => Some(text.as_str()),
        _ => None,
    });
    Some(texts.collect::<Option<Vec<_>>>()?.join("\n\n"))
}

fn digest(past: &Past) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{past:?}").hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use turn::agent::{self, CallResult};
    use turn::call::{Call, Outcome};
    use turn::message::{self, Message};
    use turn::{CallId, ChatId, Principal, TurnId};

    fn message(text: &str) -> Past {
        Past::Message(Message::new(text, vec![message::Part::text(text)]))
    }

    fn spoken() -> Past {
        let part = message::Part::Data {
            name: message::SPEECH.to_owned(),
            fields: serde_json::Map::new(),
        };
        Past::Message(Message::new("s", vec![part]))
    }

    fn step(text: &str, calls: &[(&str, Place)]) -> Past {
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
        Past::Step {
            parts: said.into_iter().chain(parts).collect(),
            results: results.collect(),
        }
    }

    fn retold(history: &[Past]) -> (Vec<String>, Vec<String>) {
        let request = StepRequest {
            chat: ChatId::from("c"),
            turn: TurnId::from("t"),
            principal: Principal::from("ann"),
            history: history.to_vec().into(),
            tools: Vec::new(),
            session: None,
            own: Vec::new(),
            is_again: false,
        };
        let Retelling { events, frames } = Retelling::of(&request, "root");
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
    fn session_that_was_there_is_told_what_is_new() {
        let history = [message("Hi"), step("Hello.", &[]), message("Weather?")];
        let told = Told::all(&history[..1]);
        let owed = told.owes(&history).unwrap();
        assert_eq!(
            owed,
            [json!({"content": {"role": "user", "parts": [{"text": "Weather?"}]}})]
        );
        let mut heard = history.to_vec();
        heard[2] = spoken();
        assert_eq!(told.owes(&heard).unwrap(), Vec::<Value>::new());
    }

    #[test]
    fn session_of_another_conversation_is_not_gone_on_with() {
        let told = Told::all(&[message("Hi")]);
        let edited = [message("Hello"), step("Hello.", &[]), message("Weather?")];
        assert_eq!(told.owes(&edited), None);
        // Answered anew.
        assert_eq!(told.owes(&[message("Hi")]), None);
        // Somebody else went on with it.
        let hi = || [message("Hi"), step("Hello.", &[])];
        let elsewhere = [&hi()[..], &hi()[..], &[message("Weather?")]].concat();
        assert_eq!(told.owes(&elsewhere), None);
    }

    #[test]
    fn results_of_pages_are_told_and_those_of_adk_are_known() {
        let calls = [("1", Place::Agent), ("2", Place::Client)];
        let history = [message("Music"), step("", &calls)];
        let owed = Told::all(&history[..1]).owes(&history).unwrap();
        assert_eq!(owed.len(), 1);
        let parts = owed[0]["content"]["parts"].as_array().unwrap();
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0]["functionResponse"]["id"], "2");
        let history = [message("Weather"), step("", &calls[..1])];
        let owed = Told::all(&history[..1]).owes(&history).unwrap();
        assert_eq!(owed, Vec::<Value>::new());
    }

    #[test]
    fn new_session_knows_what_was_said_and_ends_with_the_model() {
        let hi = [message("Hi"), step("Hello.", &[])];
        let (events, frames) = retold(&[&hi[..], &[message("Weather?")]].concat());
        assert_eq!(events, ["user: Hi", "root: Hello."]);
        assert_eq!(frames, ["me: Weather?"]);
        let (events, frames) = retold(&[&hi[..], &[spoken()]].concat());
        assert_eq!(events, ["user: Hi", "root: Hello."]);
        assert_eq!(frames, [""; 0]);
        let (events, frames) = retold(&[message("Hi")]);
        assert_eq!((events.len(), frames.len()), (0, 1));
    }

    #[test]
    fn what_was_never_answered_is_asked_with_what_is_new() {
        let (events, frames) = retold(&[message("Hi"), message("Weather?")]);
        assert_eq!(events, [""; 0]);
        assert_eq!(frames, ["me: Hi\n\nWeather?"]);
        let (events, frames) = retold(&[message("Hi"), spoken()]);
        assert_eq!(events, ["user: Hi", "root: …"]);
        assert_eq!(frames, [""; 0]);
    }

    #[test]
    fn settled_calls_of_a_lost_session_are_gone_on_from() {
        let paid = [message("Pay"), step("", &[("1", Place::Agent)])];
        let (events, frames) = retold(&paid);
        let calls = [
            "user: Pay",
            "root: functionCall",
            "root: functionResponse",
            "root: …",
        ];
        assert_eq!(events, calls);
        assert_eq!(frames, ["me: Please go on."]);
        let (events, frames) = retold(&[&paid[..], &[message("And?")]].concat());
        assert_eq!(events, calls);
        assert_eq!(frames, ["me: And?"]);
    }
}
