//! A chat together with what clients are shown of it.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;
use std::vec::IntoIter;

use turn::agent::{AgentEvent, CompactEvent, HistoryItem};
use turn::message::Part;
use turn::queue::Placement;
use turn::{At, CallId, Chat, Entry, Input, Output, TraceContext, Turn, TurnId};
use wire::Message;

use crate::ai_sdk::{self, Line, Transcript, user_message};
use crate::weight::Weight;

/// What a chat and its task take that says nothing.
const FIXED: usize = 6_000;

/// What a part of a message takes that says nothing.
const PART: usize = 200;

/// A chat, and the transcripts of its turns. It reads as the chat that it holds.
#[derive(Debug, Clone, Default)]
pub struct ShownChat {
    chat: Chat,
    /// In the order in which the turns were opened.
    transcripts: Vec<Transcript>,
}

impl Deref for ShownChat {
    type Target = Chat;

    fn deref(&self) -> &Chat {
        &self.chat
    }
}

impl ShownChat {
    /// Folds a journal from its start.
    pub fn replay<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut shown = Self {
            chat: Chat::replay(entries),
            transcripts: Vec::new(),
        };
        shown.follow();
        shown
    }

    /// Says where a turn that is opened by what comes next belongs in a distributed trace.
    pub fn trace_next(&mut self, trace: Option<TraceContext>) {
        self.chat.trace_next(trace);
    }

    /// Limits the time that pages have: see [`Chat::limit_client_calls`].
    pub fn limit_client_calls(&mut self, timeout: Option<Duration>) {
        self.chat.limit_client_calls(timeout);
    }

    /// Says whether the agent takes messages in the middle of a turn: see [`Chat::take_injections`].
    pub fn take_injections(&mut self, takes_injections: bool) {
        self.chat.take_injections(takes_injections);
    }

    /// Takes in one more entry.
    pub fn append(&mut self, entry: &Entry) {
        self.chat.append(entry);
        self.follow();
    }

    /// Decides what follows from an input: see [`Chat::handle`].
    pub fn handle(&mut self, input: Input, now: At) -> Output {
        let input = match input {
            Input::Agent {
                event: event @ (AgentEvent::Text { .. } | AgentEvent::Reasoning { .. }),
                policy,
            } => {
                // Nearly all that an agent says is more of what is being said.
                let mut events = vec![CompactEvent::from(event)].into_iter();
                self.push_deltas(&mut events);
                let Some(first) = events.next() else {
                    return Output {
                        at: now,
                        ..Output::default()
                    };
                };
                let event = first.into();
                Input::Agent { event, policy }
            }
            input => input,
        };
        let output = self.chat.handle(input, now);
        self.follow();
        output
    }

    /// Takes in more words of what is being said: see [`Chat::push_deltas`].
    pub fn push_deltas(&mut self, events: &mut IntoIter<CompactEvent>) {
        let Some(transcript) = self.transcripts.last_mut() else {
            return;
        };
        transcript.reserve(events.len());
        self.chat
            .push_deltas(events, |delta| transcript.push_delta(delta));
    }

    /// Notes that what was decided is in the journal: see [`Chat::appended`].
    pub fn appended(&mut self, seq: u64) {
        self.chat.appended(seq);
    }

    /// What was said before the model speaks next: see [`Chat::shared_history`].
    pub fn shared_history(&mut self) -> Arc<Vec<HistoryItem>> {
        self.chat.shared_history()
    }

    /// A turn, with what it has said.
    pub fn transcript(&self, turn: &TurnId) -> Option<ShownTurn<'_>> {
        let place = self.chat.place(turn)?;
        Some(ShownTurn {
            turn: self.chat.turn(turn)?,
            transcript: self.transcripts.get(place)?,
        })
    }

    /// The current turn, with what it has said.
    pub fn current_transcript(&self) -> Option<ShownTurn<'_>> {
        Some(ShownTurn {
            turn: self.chat.current()?,
            transcript: self.transcripts.get(self.chat.current_place()?)?,
        })
    }

    /// How many bytes the chat takes, by estimate: what was said is there twice, as facts and as what
    /// clients are sent.
    pub fn weight(&self) -> usize {
        let asked = self.chat.turns().filter_map(Turn::user_message);
        let queued = self.chat.queued().iter().map(|queued| &queued.message);
        let asked = asked.chain(queued);
        let asked: usize = asked.map(weight_of).sum();
        let said: usize = self.transcripts.iter().map(Transcript::weight).sum();
        FIXED + 2 * asked + 2 * said + self.chat.page_tools_weight()
    }

    /// Draws together what the current turn has said, once it is over: open windows must have
    /// been shown all of it. Says whether there was anything to do.
    pub fn compact(&mut self) -> bool {
        let place = self.chat.current_place();
        let current = place.and_then(|place| self.transcripts.get_mut(place));
        current.is_some_and(Transcript::compact)
    }

    /// The chat as UI messages, as a page shows it.
    pub fn messages(&self) -> Vec<Message> {
        self.messages_of(self.path())
    }

    /// The messages that wait for the turn to end or to go on, as a page shows them.
    pub fn queued_messages(&self) -> Vec<(Placement, Message)> {
        let queued = self.queued().iter();
        let shown = queued.map(|queued| (queued.placement, user_message::show(&queued.message)));
        shown.collect()
    }

    /// What was cut off by edits and regenerations.
    pub fn branches(&self) -> Vec<Branch> {
        let branches = self.chat.branches().into_iter();
        let branches = branches.filter_map(|turns| {
            let first = turns.first()?;
            let after = first.after().and_then(|id| self.turn(id));
            let mut path = self.path();
            let current = path.find(|turn| turn.after() == first.after());
            Some(Branch {
                after: after.map(|turn| turn.message_id().to_owned()),
                opened: first.opened(),
                current: current.map(Turn::opened),
                messages: self.messages_of(turns.into_iter()),
            })
        });
        branches.collect()
    }

    fn messages_of<'a>(&self, turns: impl Iterator<Item = &'a Turn>) -> Vec<Message> {
        let mut messages = Vec::new();
        for turn in turns {
            // Older journals have messages without ids, which no client takes.
            messages.extend(turn.user_message().map(|message| {
                let mut message = user_message::show(message);
                message
                    .id
                    .get_or_insert_with(|| format!("user_{}", turn.id()));
                message
            }));
            let transcript = self.transcript(turn.id());
            let message =
                transcript.map(|shown| ai_sdk::assemble(turn, shown.transcript).complete());
            // A turn that was cut short before it said anything has no message to show.
            messages.extend(message.filter(|message| !message.parts.is_empty()));
        }
        messages
    }

    /// Takes in what was said since.
    fn follow(&mut self) {
        let Self { chat, transcripts } = self;
        chat.take_items(|place, item| {
            if transcripts.is_empty() {
                // Most chats that are open have one turn, and a transcript is large.
                transcripts.reserve_exact(1);
            }
            if transcripts.len() <= place {
                transcripts.resize_with(place + 1, Transcript::default);
            }
            transcripts[place].take(item);
        });
    }
}

/// Messages that an edit or a regeneration cut off.
#[derive(Debug, Clone)]
pub struct Branch {
    /// The id of the agent's message that they follow; nothing where they open the chat.
    pub after: Option<String>,
    /// When the first of them was sent.
    pub opened: At,
    /// When the first of those was sent that the chat has in their place, if it has any.
    pub current: Option<At>,
    /// The messages, in order.
    pub messages: Vec<Message>,
}

/// How many bytes a user's message takes, by estimate.
fn weight_of(message: &turn::Message) -> usize {
    let mut weight = Weight(PART * message.parts.len());
    for part in &message.parts {
        match part {
            // Most are, and a chat may have thousands.
            Part::Text { text, extra } if extra.is_empty() => weight.0 += text.len(),
            part => weight.add(|out| serde_json::to_writer(out, part)),
        }
    }
    if let Some(metadata) = &message.metadata {
        weight.add(|out| serde_json::to_writer(out, metadata));
    }
    if !message.extra.is_empty() {
        weight.add(|out| serde_json::to_writer(out, &message.extra));
    }
    weight.0
}

/// A turn, with what it has said.
#[derive(Debug, Clone, Copy)]
pub struct ShownTurn<'a> {
    turn: &'a Turn,
    transcript: &'a Transcript,
}

impl<'a> ShownTurn<'a> {
    /// The turn.
    pub fn turn(self) -> &'a TurnId {
        self.turn.id()
    }

    /// The id of its assistant message.
    pub fn message_id(self) -> &'a str {
        self.turn.message_id()
    }

    /// What it has said.
    pub fn lines(self) -> &'a [Line] {
        self.transcript.lines()
    }

    /// Whether clients run a proxy in the place of a call.
    pub(crate) fn is_superseded(self, call: &CallId) -> bool {
        self.transcript.is_superseded(call)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};
    use turn::message::File;

    use super::*;

    #[test]
    fn whatever_a_message_holds_is_weighed() {
        let long = "x".repeat(10_000);
        let many = vec![0; 1_000];
        let with = |key: &str, value: Value| Map::from_iter([(key.to_owned(), value)]);
        let file = File {
            url: long.clone(),
            ..File::default()
        };
        for part in [
            Part::text(&long),
            Part::Text {
                text: String::new(),
                extra: with("unknown", json!(long)),
            },
            Part::File(file),
            Part::Data {
                name: "v".to_owned(),
                fields: with("data", json!({"v": long})),
            },
            Part::Other(with("data", json!(many))),
        ] {
            let message = turn::Message::new("u", vec![part]);
            assert!(weight_of(&message) >= 10_000, "{message:?}");
        }
        let mut message = turn::Message::new("u", vec![Part::text("hi")]);
        assert!(weight_of(&message) < 1_000);
        message.metadata = Some(json!({"v": long}));
        assert!(weight_of(&message) >= 10_000);
        message.metadata = None;
        message.extra.insert("v".to_owned(), json!(long));
        assert!(weight_of(&message) >= 10_000);
    }
}
