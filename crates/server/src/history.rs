//! A chat's journal, and the same as a recording that a page can play again.

use std::collections::HashMap;
use std::io;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use engine::Engine;
use futures_util::stream::try_unfold;
use serde_json::{Value, json};
use store::Bounds;
use tokio::sync::OwnedSemaphorePermit;
use turn::{ChatId, Entry, Event, Principal, Turn, TurnId};
use view::ShownChat;
use wire::{BranchSelection, Chunk, Profile};

use crate::api::{Api, RequestedProfile, fresh, shown};
use crate::body::read;
use crate::caller::Caller;
#[cfg(feature = "cli")]
use crate::document::{ChatPath, JournalQuery, ProfileHeader, Profiles, Recorded};
use crate::paging;
use crate::path_id::PathId;
use crate::problem::Problem;
use crate::reads::Reads;
use crate::replies::{Branch, BranchList, JournalPage};
use crate::request_context::note_chat;

/// How many entries are read at once, at most, and how many bytes of events.
const PAGE: Bounds = Bounds {
    entries: 500,
    bytes: 1024 * 1024,
};

/// The least that shows whether there is a journal.
const FIRST: Bounds = Bounds {
    entries: 1,
    bytes: 1,
};

/// The journal of a chat, entry by entry.
#[cfg_attr(feature = "cli", utoipa::path(
    get, path = "/api/chat/{id}/journal", tag = "Chats", operation_id = "readJournal",
    params(ChatPath, JournalQuery),
    responses(
        (status = 200, description = "A page of the journal.", body = JournalPage),
        (status = 400, description = "bad_request"),
        (status = 404, description = "unknown_chat"),
    )
))]
pub(crate) async fn journal(
    State(engine): State<Engine>,
    State(reads): State<Reads>,
    Caller(principal): Caller,
    PathId(id): PathId,
    uri: Uri,
) -> Result<Response, Problem> {
    let after = paging::after(&uri)?.unwrap_or_default();
    let bounds = Bounds {
        entries: paging::limit(&uri, PAGE.entries, PAGE.entries)?,
        ..PAGE
    };
    let chat = ChatId::from(id.as_str());
    let _turn = reads.turn(&principal).await?;
    let page = engine.journal(&principal, &chat, after, bounds).await?;
    Ok(fresh(JournalPage {
        chat: id,
        entries: page.entries,
        next: page.next,
    }))
}

/// What edits and regenerations cut off.
#[cfg_attr(feature = "cli", utoipa::path(
    get, path = "/api/chat/{id}/branches", tag = "Chats", operation_id = "readBranches",
    params(ChatPath),
    responses(
        (status = 200, description = "The branches, oldest first.", body = BranchList),
        (status = 404, description = "unknown_chat"),
    )
))]
pub(crate) async fn branches(
    State(engine): State<Engine>,
    State(reads): State<Reads>,
    Caller(principal): Caller,
    PathId(id): PathId,
) -> Result<Response, Problem> {
    let chat = ChatId::from(id.as_str());
    let _turn = reads.turn(&principal).await?;
    let branches = engine.branches(&principal, &chat).await?;
    let branches = branches.into_iter().map(|branch| Branch {
        after: branch.after,
        opened_at: branch.opened.0,
        current_opened_at: branch.current.map(|at| at.0),
        messages: branch.messages,
    });
    let branches = branches.collect();
    Ok(fresh(BranchList { chat: id, branches }))
}

/// Makes another branch the one that the chat is on.
#[cfg_attr(feature = "cli", utoipa::path(
    post, path = "/api/chat/{id}/branches", tag = "Chats", operation_id = "selectBranch",
    params(ChatPath),
    request_body(content = ref("#/components/schemas/BranchSelection"), content_type = "application/json"),
    responses(
        (status = 200, description = "The chat, on the branch.", body = crate::replies::Chat),
        (status = 400, description = "bad_request"),
        (status = 404, description = "unknown_chat, unknown_message"),
        (status = 409, description = "turn_open"),
    )
))]
pub(crate) async fn select_branch(
    State(api): State<Api>,
    Caller(principal): Caller,
    PathId(id): PathId,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let body = read(&api, Some(&principal), &parts.headers, body).await?;
    let limits = api.limits;
    let parse = move |bytes: &[u8]| Ok(BranchSelection::from_slice(bytes, &limits)?);
    let (selected, _room) = body.parse(parse).await?;
    let chat = ChatId::from(id.as_str());
    note_chat(&chat);
    let _turn = api.reads.turn(&principal).await?;
    let message = &selected.message_id;
    let view = api.engine.select_branch(&principal, &chat, message).await?;
    Ok(fresh(shown(id, view)))
}

/// A chat as a recording: the chunks that clients got, entry by entry.
///
/// A journal may be long: it is read and written in pages, and the body ends early where the store fails.
#[cfg_attr(feature = "cli", utoipa::path(
    get, path = "/api/chat/{id}/recording", tag = "Chats", operation_id = "readRecording",
    params(ChatPath, Profiles, ProfileHeader),
    responses(
        (status = 200, description = "The recording.", body = Recorded),
        (status = 400, description = "bad_request"),
        (status = 404, description = "unknown_chat"),
    )
))]
pub(crate) async fn recording(
    State(engine): State<Engine>,
    State(reads): State<Reads>,
    Caller(principal): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Problem> {
    let RequestedProfile(profile) = RequestedProfile::of(&headers, &uri)?;
    let chat = ChatId::from(id.as_str());
    let place = reads.recording(&principal)?;
    // Whether there is one, and whose, is said before anything of it.
    engine.journal(&principal, &chat, 0, FIRST).await?;
    let recording = Recording {
        engine,
        reads,
        _place: place,
        principal,
        id: chat,
        after: Some(0),
        opening: format!("{{\"chat\":{},\"frames\":[", json!(id)),
        player: Player::new(profile),
    };
    let body = Body::from_stream(try_unfold(recording, Recording::next));
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, body).into_response())
}

/// A recording while it is written.
struct Recording {
    engine: Engine,
    reads: Reads,
    _place: OwnedSemaphorePermit,
    principal: Principal,
    id: ChatId,
    /// Up to where it is written; nothing once the last page was.
    after: Option<u64>,
    /// What comes before the next frame.
    opening: String,
    player: Player,
}

impl Recording {
    /// The next bytes, and what is left.
    async fn next(mut self) -> Result<Option<(Bytes, Self)>, io::Error> {
        let Some(after) = self.after.take() else {
            return Ok(None);
        };
        // Read when its turn has come, so that a client which does not read holds one page alone.
        let turn = self.reads.turn(&self.principal).await;
        let _turn = turn.map_err(|refusal| io::Error::other(refusal.error_text()))?;
        let Self { engine, id, .. } = &self;
        let page = engine.journal(&self.principal, id, after, PAGE).await;
        let page = page.map_err(io::Error::other)?;
        let mut text = String::new();
        for frame in self.player.frames(&page.entries) {
            text.push_str(&std::mem::replace(&mut self.opening, ",".to_owned()));
            text.push_str(&frame.to_string());
        }
        self.after = page.next;
        if self.after.is_none() {
            // A chat that has said nothing has no frame to open with.
            if self.opening != "," {
                text.push_str(&self.opening);
            }
            text.push_str("]}");
        }
        Ok(Some((text.into(), self)))
    }
}

/// The journal as a recording: of each entry, the chunks of its turns.
struct Player {
    chat: ShownChat,
    shown: HashMap<TurnId, usize>,
    profile: Profile,
}

impl Player {
    fn new(profile: Profile) -> Self {
        Self {
            chat: ShownChat::default(),
            shown: HashMap::new(),
            profile,
        }
    }

    /// The chunks of the next entries of the journal.
    fn frames(&mut self, entries: &[Entry]) -> Vec<Value> {
        let Self {
            chat,
            shown,
            profile,
        } = self;
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
                let sent = shown.entry(turn.id().clone()).or_default();
                let lines = chat
                    .transcript(turn.id())
                    .map_or(&[][..], |transcript| transcript.lines());
                let new = lines.get(*sent..).unwrap_or_default();
                *sent = lines.len();
                let chunks: Vec<_> = new
                    .iter()
                    .filter_map(|line| profile.narrow(Chunk::clone(&line.chunk())))
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
}

/// Whether an entry is the one that opens a turn.
fn is_opened(entry: &Entry, opened: &Turn) -> bool {
    let mut events = entry.events.iter();
    events.any(|event| matches!(event, Event::TurnOpened { turn, .. } if turn == opened.id()))
}
