//! A journal whose entries become spans once they are stored.
//!
//! So a span is exported once, by the server that stored its end, also after a conflict or a takeover; and
//! nothing is done for each delta.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::origin;
use opentelemetry_sdk::trace::SpanData;
use store::{Appended, Journal, Layer, NewEntry, Reply};
use turn::{Chat, ChatId, Entry, Event, Status};

use super::fact::{Contents, Fact};
use super::queue::Queue;
use super::turn_spans::{After, Stored, Traced, TurnSpans};

/// How many open turns are followed at once. A turn beyond them has no more spans from this server.
const FOLLOWED: usize = 65_536;

/// A journal that is traced.
pub(super) struct TracedJournal {
    pub(super) journal: Arc<dyn Journal>,
    pub(super) traced: Traced,
    pub(super) contents: Contents,
    pub(super) queue: Queue,
    pub(super) turns: Turns,
}

/// The open turns that are recorded, each with the place in its journal up to which it is known.
#[derive(Default)]
pub(super) struct Turns(Mutex<HashMap<ChatId, (u64, TurnSpans)>>);

impl Turns {
    fn lock(&self) -> MutexGuard<'_, HashMap<ChatId, (u64, TurnSpans)>> {
        // Nothing that holds the lock can panic half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TracedJournal {
    /// An entry is stored: what ended with it is exported.
    fn stored(&self, chat: &ChatId, seq: u64, mut entry: Stored<'_>) {
        let mut spans = Vec::new();
        let mut turns = self.turns.lock();
        // Of a turn that is given up for another one, the entry has the end before the other's opening.
        let opened = entry
            .facts
            .iter()
            .position(|fact| matches!(fact, Fact::Opened { .. }));
        if let Some(place) = opened {
            let mut rest = entry.facts.split_off(place);
            if let Some((_, mut before)) = turns.remove(chat) {
                let given_up = Stored {
                    after: After::Over,
                    ..entry
                };
                before.take(given_up, &mut spans);
            }
            let at = entry.at;
            let Some(mut turn) = rest
                .first_mut()
                .and_then(|fact| TurnSpans::open(chat, at, fact))
            else {
                drop(turns);
                return self.queue.push(spans);
            };
            let (after, request, traced) = (entry.after, None, entry.traced);
            let facts = rest;
            let opening = Stored {
                at,
                facts,
                after,
                request,
                traced,
            };
            turn.take(opening, &mut spans);
            if after != After::Over {
                insert(&mut turns, chat, seq, turn);
            }
        } else if let Some((known, turn)) = turns.get_mut(chat) {
            let is_over = entry.after == After::Over;
            *known = seq;
            turn.take(entry, &mut spans);
            if is_over {
                turns.remove(chat);
            }
        }
        drop(turns);
        self.queue.push(spans);
    }

    /// A chat was read: its open turn, if it is recorded, is followed from here on.
    async fn was_read(&self, chat: &ChatId, entries: &[Entry]) {
        let Some(last) = entries.last() else { return };
        let is_known = |turns: &HashMap<_, (u64, _)>| {
            let known: Option<&(u64, _)> = turns.get(chat);
            known.is_some_and(|(seq, _)| *seq >= last.seq)
        };
        if !is_open_and_recorded(entries) || is_known(&self.turns.lock()) {
            return;
        }
        let Some(mut turn) = self.replay(chat, entries) else {
            return;
        };
        // Entries have the times of this clock. If the store is away by now, what runs again began behind
        // the last entry.
        turn.resume(self.journal.time().await.unwrap_or(last.at));
        let mut turns = self.turns.lock();
        if !is_known(&turns) {
            insert(&mut turns, chat, last.seq, turn);
        }
    }

    fn replay(&self, chat: &ChatId, entries: &[Entry]) -> Option<TurnSpans> {
        let (mut folded, mut turn) = (Chat::default(), None::<TurnSpans>);
        // The servers that stored them have exported them.
        let mut exported: Vec<SpanData> = Vec::new();
        for entry in entries {
            folded.append(entry);
            folded.take_items(|_, _| {});
            let mut facts = self.contents.facts(&entry.events);
            let opened = facts
                .iter()
                .position(|fact| matches!(fact, Fact::Opened { .. }));
            if let Some(place) = opened {
                facts.drain(..place);
                turn = TurnSpans::open(chat, entry.at, &mut facts[0]);
            }
            let after = match folded.status() {
                Some(Status::Running) => After::Running,
                Some(Status::Parked) => After::Parked,
                _ => After::Over,
            };
            let Some(turn) = &mut turn else { continue };
            let stored = Stored {
                at: entry.at,
                facts,
                after,
                request: None,
                traced: &self.traced,
            };
            turn.take(stored, &mut exported);
            exported.clear();
        }
        turn
    }
}

/// Whether the last turn is open and recorded: most that are read are not.
fn is_open_and_recorded(entries: &[Entry]) -> bool {
    for event in entries
        .iter()
        .rev()
        .flat_map(|entry| entry.events.iter().rev())
    {
        match event {
            Event::TurnEnded { .. } => return false,
            Event::TurnOpened { trace, .. } => {
                return trace.as_ref().is_some_and(|trace| trace.is_sampled);
            }
            _ => {}
        }
    }
    false
}

fn insert(turns: &mut HashMap<ChatId, (u64, TurnSpans)>, chat: &ChatId, seq: u64, turn: TurnSpans) {
    if turns.len() < FOLLOWED || turns.contains_key(chat) {
        turns.insert(chat.clone(), (seq, turn));
    }
}

impl Layer for TracedJournal {
    fn inner(&self) -> &dyn Journal {
        &*self.journal
    }

    fn append<'a>(
        &'a self,
        chat: &'a ChatId,
        expected_seq: u64,
        entry: NewEntry,
    ) -> Reply<'a, Appended> {
        let after = match &entry.open {
            Some(open) if open.is_running => After::Running,
            Some(_) => After::Parked,
            None => After::Over,
        };
        let (at, facts) = (entry.at, self.contents.facts(&entry.events));
        Box::pin(async move {
            let stored = Stored {
                at,
                facts,
                after,
                // Where this is awaited: the engine scopes that.
                request: origin::current().trace,
                traced: &self.traced,
            };
            let appended = self.journal.append(chat, expected_seq, entry).await?;
            match appended {
                Appended::Ok { seq } => self.stored(chat, seq, stored),
                // It is another server's, or is read again.
                Appended::Conflict { .. } => drop(self.turns.lock().remove(chat)),
            }
            Ok(appended)
        })
    }

    fn read<'a>(&'a self, chat: &'a ChatId, after: u64) -> Reply<'a, Vec<Entry>> {
        Box::pin(async move {
            let entries = self.journal.read(chat, after).await?;
            if after == 0 {
                self.was_read(chat, &entries).await;
            }
            Ok(entries)
        })
    }

    fn before_delete(&self, chat: &ChatId) {
        self.turns.lock().remove(chat);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use serde_json::json;
    use store::Location;
    use turn::{At, OpenTurn};

    use super::*;
    use crate::metrics::Metrics;

    #[tokio::test(start_paused = true)]
    async fn step_that_runs_again_begins_by_the_clock_of_the_store() {
        let journal = store::open(Location::Memory).await.unwrap().journal;
        let (queue, mut spans) = Queue::new(Metrics::new());
        let server = || TracedJournal {
            journal: journal.clone(),
            traced: Traced {
                agent: "agent".to_owned(),
                kind: "openai".to_owned(),
                model: None,
            },
            contents: Contents::Withheld,
            queue: queue.clone(),
            turns: Turns::default(),
        };
        let entry = async |open: bool, events| NewEntry {
            at: journal.time().await.unwrap(),
            epoch: 0,
            actor: "ann".into(),
            events: serde_json::from_value(events).unwrap(),
            open: open.then(|| OpenTurn {
                id: "t".into(),
                is_running: true,
            }),
        };
        let chat = ChatId::from("c");
        let trace = "00-0000000000000000000000000000000a-0000000000000000-01";
        let message = json!({"id": "m", "role": "user", "parts": []});
        let opened = json!([
            {"event": "chat-opened", "owner": "ann"},
            {"event": "turn-opened", "turn": "t", "messageId": "a", "trace": trace,
             "cause": {"cause": "message", "message": message}},
        ]);
        let opened = entry(true, opened).await;
        assert_eq!(
            Layer::append(&server(), &chat, 0, opened).await,
            Ok(Appended::Ok { seq: 1 })
        );
        // Another server takes it up, whose machine's clock is behind the store's.
        tokio::time::advance(Duration::from_secs(3600)).await;
        let other = server();
        Layer::read(&other, &chat, 0).await.unwrap();
        let began = journal.time().await.unwrap();
        tokio::time::advance(Duration::from_secs(2)).await;
        let ended = json!([
            {"event": "step-ended", "turn": "t", "parts": [], "finish": "stop"},
            {"event": "turn-ended", "turn": "t", "end": "finished"},
        ]);
        let ended = entry(false, ended).await;
        let ended = Layer::append(&other, &chat, 1, ended).await;
        assert_eq!(ended, Ok(Appended::Ok { seq: 2 }));
        let step = spans.recv().await.unwrap();
        let millis = |time: std::time::SystemTime| {
            let since = time.duration_since(UNIX_EPOCH).unwrap();
            At(u64::try_from(since.as_millis()).unwrap())
        };
        assert_eq!(millis(step.start_time), began);
        assert_eq!(millis(step.end_time), began + Duration::from_secs(2));
    }
}
