//! Whatever Gemini says, and however calls end, the next request has a shape that it accepts.

use gemini::{Content, Data, GenerateContentResponse, Role};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use turn::agent::AgentEvent;
use turn::call::{Outcome, Place, UnknownReason};
use turn::event::{Entry, Finish};
use turn::input::Ids;
use turn::message::{self, Message};
use turn::policy::{PolicyDecision, Verdict};
use turn::{At, Chat, Input, Principal};

use super::contents::contents;
use super::reading::Reading;

/// A part of any kind. All are signed: parts of text that are not are one part, in pieces.
fn part() -> impl Strategy<Value = Value> {
    let data = prop_oneof![
        ".{0,4}".prop_map(|text| json!({"text": text})),
        "[a-z]{1,4}".prop_map(|text| json!({"text": text, "thought": true})),
        ("[a-z]{1,3}", prop::option::of("[a-z]{1,3}")).prop_map(|(name, id)| match id {
            Some(id) => json!({"functionCall": {"id": id, "name": name, "args": {"x": 1.5}}}),
            None => json!({"functionCall": {"name": name, "args": {}}}),
        }),
        Just(json!({"inlineData": {"mimeType": "image/png", "data": "QUI="}})),
        Just(json!({"executableCode": {"code": "1"}})),
        Just(json!({"hologram": {"a_b": null}})),
    ];
    (data, "[A-Za-z0-9+/=_-]{1,8}").prop_map(|(mut part, signature)| {
        part["thoughtSignature"] = json!(signature);
        part
    })
}

fn chunk(parts: &[Value]) -> GenerateContentResponse {
    serde_json::from_value(json!({"candidates": [{"content": {"parts": parts}}]})).unwrap()
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Output { output: json!(1) }),
        Just(Outcome::Denied { reason: None }),
        select(UnknownReason::ALL.to_vec()).prop_map(|reason| Outcome::Unknown { reason }),
    ]
}

/// A chat, with its journal.
#[derive(Default)]
struct Journaled {
    chat: Chat,
    entries: Vec<Entry>,
}

impl Journaled {
    fn perform(&mut self, input: Input) {
        let seq = self.entries.len() as u64 + 1;
        let events = self.chat.handle(input, At(seq)).append;
        self.entries.push(Entry {
            seq,
            at: At(seq),
            actor: "ann".into(),
            events,
        });
        self.chat.appended(seq);
    }

    fn say(&mut self, number: usize) {
        let parts = vec![message::Part::text("go on")];
        self.perform(Input::Message {
            message: Message::new(format!("u{number}"), parts),
            principal: Principal::from("ann"),
            after: self.chat.current().map(|turn| turn.id().clone()),
            page_tools: Vec::new(),
            request: None,
            ids: Ids {
                turn: format!("t{number}").as_str().into(),
                message: format!("m{number}"),
            },
        });
    }

    fn step(&mut self, parts: &[Value]) {
        // As they come: each in a chunk of its own.
        let mut reading = Reading::default();
        let events = parts
            .chunks(1)
            .flat_map(|part| reading.chunk(chunk(part)).unwrap());
        for event in events.collect::<Vec<_>>() {
            self.perform(Input::Agent {
                event,
                policy: Some(PolicyDecision {
                    place: Place::Server,
                    verdict: Verdict::Allow,
                    timeout: None,
                }),
            });
        }
    }

    fn agent(&mut self, event: AgentEvent) {
        self.perform(Input::Agent {
            event,
            policy: None,
        });
    }

    /// The contents that Gemini gets from this process and from the next.
    fn contents(&self) -> Vec<Content> {
        let text = serde_json::to_string(&self.entries).unwrap();
        let entries: Vec<Entry> = serde_json::from_str(&text).unwrap();
        let sent = contents(&self.chat.history());
        assert_eq!(contents(&Chat::replay(&entries).history()), sent);
        sent
    }
}

fn calls(content: &Content) -> usize {
    let is_call = |data: &Data| matches!(data, Data::FunctionCall(_));
    content
        .parts
        .iter()
        .filter(|part| is_call(&part.data))
        .count()
}

fn responses(content: &Content) -> usize {
    let is_response = |data: &Data| matches!(data, Data::FunctionResponse(_));
    content
        .parts
        .iter()
        .filter(|part| is_response(&part.data))
        .count()
}

proptest! {
    #[test]
    fn what_it_said_goes_back_as_it_came(parts in vec(part(), 0..6)) {
        let mut chat = Journaled::default();
        chat.say(1);
        chat.step(&parts);
        chat.agent(AgentEvent::Ended(Finish::Stop));
        let sent = chat.contents();
        let said = sent.iter().find(|content| content.role == Some(Role::Model));
        let said = said.map(|content| json!(content.parts)).unwrap_or(json!([]));
        let has_more_than_thoughts = parts.iter().any(|part| part.get("thought").is_none());
        prop_assert_eq!(said, if has_more_than_thoughts { json!(parts) } else { json!([]) });
    }

    #[test]
    fn responses_follow_their_calls_whatever_happens(
        turns in vec(vec((vec(part(), 0..4), outcome(), any::<bool>()), 1..3), 1..4),
    ) {
        let mut chat = Journaled::default();
        for (number, steps) in turns.into_iter().enumerate() {
            chat.say(number);
            for (parts, outcome, is_cut) in steps {
                chat.step(&parts);
                match is_cut {
                    true => chat.perform(Input::AgentCut),
                    false => chat.agent(AgentEvent::Ended(Finish::Stop)),
                }
                // Some are left open, and the user writes over them.
                let turn = chat.chat.current().unwrap();
                let open = turn.calls().filter(|call| turn.outcome(&call.id).is_none());
                let open: Vec<_> = open.map(|call| call.id.clone()).collect();
                if open.len() < 3 {
                    for call in open {
                        chat.perform(Input::ToolDone { call, outcome: outcome.clone() });
                    }
                }
            }
        }
        chat.say(99);
        let sent = chat.contents();
        prop_assert_eq!(sent.first().and_then(|content| content.role.clone()), Some(Role::User));
        prop_assert_eq!(sent.last().and_then(|content| content.role.clone()), Some(Role::User));
        for (n, content) in sent.iter().enumerate() {
            prop_assert!(!content.parts.is_empty());
            let next = sent.get(n + 1);
            prop_assert_eq!(calls(content), next.map_or(0, responses));
            // A call comes after the user or after responses, and never after the model.
            let before = n.checked_sub(1).and_then(|n| sent[n].role.clone());
            prop_assert!(content.role != Some(Role::Model) || before == Some(Role::User));
        }
    }
}
