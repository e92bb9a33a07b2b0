//! A chat's past: its journal as it stands, and the same as a recording that a page can play again.

use std::collections::HashMap;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use engine::Engine;
use serde_json::{Value, json};
use turn::transcript::Item;
use turn::{Chat, ChatId, Entry, Event, Turn, TurnId};
use wire::{Chunk, Profile};

use crate::api::{Asked, fresh};
use crate::problem::Problem;
use crate::speaker::Speaker;

/// The journal, entry by entry.
pub(crate) async fn journal(
    State(engine): State<Engine>,
    Speaker(principal): Speaker,
    Path(id): Path<String>,
    uri: Uri,
) -> Result<Response, Problem> {
    let after = after(&uri)?;
    let chat = ChatId::from(id.as_str());
    let entries = engine.journal(&principal, &chat, after).await?;
    Ok(fresh(json!({"chat": id, "entries": entries})))
}

/// The place after which a client lacks the journal: `?after=SEQ`.
fn after(uri: &Uri) -> Result<u64, Problem> {
    let mut query = uri.query().unwrap_or_default().split('&');
    match query.find_map(|pair| pair.strip_prefix("after=")) {
        None => Ok(0),
        Some(seq) => seq
            .parse()
            .map_err(|_| Problem::bad_request("after: expected the seq of an entry")),
    }
}

/// What clients were told, entry by entry, as chunks.
pub(crate) async fn recording(
    State(engine): State<Engine>,
    Speaker(principal): Speaker,
    Path(id): Path<String>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Problem> {
    let Asked(profile) = Asked::of(&headers, &uri)?;
    let chat = ChatId::from(id.as_str());
    let entries = engine.journal(&principal, &chat, 0).await?;
    Ok(fresh(
        json!({"chat": id, "frames": frames(&entries, profile)}),
    ))
}

/// The journal, told again: of each entry, what it made its turns say.
fn frames(entries: &[Entry], profile: Profile) -> Vec<Value> {
    let mut chat = Chat::default();
    let mut told: HashMap<TurnId, usize> = HashMap::new();
    let mut frames = Vec::new();
    for entry in entries {
        chat.append(entry);
        let mut turns: Vec<&TurnId> = Vec::new();
        for turn in entry.events.iter().filter_map(Event::turn) {
            if !turns.contains(&turn) {
                turns.push(turn);
            }
        }
        for turn in turns.into_iter().filter_map(|id| chat.turn(id)) {
            let said = told.entry(turn.id().clone()).or_default();
            let news = turn.transcript().get(*said..).unwrap_or_default();
            *said = turn.transcript().len();
            let chunks: Vec<_> = news
                .iter()
                .filter_map(|item| match item {
                    Item::Chunk(chunk) => profile.narrow(Chunk::clone(chunk)),
                    Item::Close(closing) => profile.narrow(closing.chunk()),
                })
                .collect();
            let mut frame = json!({
                "seq": entry.seq,
                "at": entry.at,
                "actor": entry.actor,
                "messageId": turn.message_id(),
                "chunks": chunks,
            });
            if is_opened(entry, turn) {
                let after = turn.after().and_then(|id| chat.turn(id));
                frame["opens"] = json!({
                    "message": turn.user_message(),
                    "after": after.map(Turn::message_id),
                });
            }
            frames.push(frame);
        }
    }
    frames
}

/// Whether an entry is the one that opens a turn.
fn is_opened(entry: &Entry, opened: &Turn) -> bool {
    let mut events = entry.events.iter();
    events.any(|event| matches!(event, Event::TurnOpened { turn, .. } if turn == opened.id()))
}
