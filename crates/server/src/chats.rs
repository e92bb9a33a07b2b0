//! The list of a principal's chats over HTTP.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use engine::Engine;
use store::{ChatQuery, LabelChange, ListedChat, TitleChange};
use turn::{ChatId, title};
use wire::ChatUpdate;

use crate::api::{Api, fresh};
use crate::body::read;
use crate::caller::Caller;
#[cfg(feature = "cli")]
use crate::document::{ChatListQuery, ChatPath};
use crate::paging;
use crate::path_id::PathId;
use crate::problem::Problem;
use crate::reads::Reads;
use crate::replies::{ChatList, ChatRow};
use crate::request_context::note_chat;

/// How many chats a page of the list holds, unless the client asks for more or fewer.
const PAGE: usize = 50;

/// How many it may ask for.
const MOST: usize = 200;

/// How many characters a title may have.
const TITLE: usize = 200;

/// The chats of the principal, newest first.
#[cfg_attr(feature = "cli", utoipa::path(
    get, path = "/api/chats", tag = "Chats", operation_id = "listChats",
    params(ChatListQuery),
    responses(
        (status = 200, description = "A page of the list.", body = ChatList),
        (status = 400, description = "bad_request"),
    )
))]
pub(crate) async fn list(
    State(engine): State<Engine>,
    State(reads): State<Reads>,
    Caller(principal): Caller,
    uri: Uri,
) -> Result<Response, Problem> {
    let is_archived = match paging::parameter(&uri, "archived") {
        None => None,
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(_) => return Err(Problem::bad_request("archived: expected true or false")),
    };
    let search = paging::text(&uri, "q")?;
    if search.as_ref().is_some_and(|q| q.chars().count() > TITLE) {
        let message = format!("q: longer than {TITLE} characters");
        return Err(Problem::bad_request(message));
    }
    let query = ChatQuery {
        after: paging::chat_cursor(&uri)?,
        is_archived,
        search: search.filter(|q| !q.is_empty()),
        limit: paging::limit(&uri, PAGE, MOST)?,
    };
    let _turn = reads.turn(&principal).await?;
    let page = engine.chats_page(&principal, &query).await?;
    Ok(fresh(ChatList {
        chats: page.chats.iter().map(row).collect(),
        next_cursor: page.next.as_ref().map(paging::encode_chat),
    }))
}

/// A chat as the list shows it.
pub(crate) fn row(chat: &ListedChat) -> ChatRow {
    ChatRow {
        id: chat.id.to_string(),
        title: chat.title.clone(),
        status: chat.status.into(),
        waiting: chat.open_gates,
        archived: chat.is_archived,
        created_at: chat.opened.0,
        updated_at: chat.updated.0,
        active_at: chat.active.0,
    }
}

/// Names a chat, or archives it.
#[cfg_attr(feature = "cli", utoipa::path(
    patch, path = "/api/chats/{id}", tag = "Chats", operation_id = "updateChat",
    params(ChatPath),
    request_body(content = ref("#/components/schemas/ChatUpdate"), content_type = "application/json"),
    responses(
        (status = 200, description = "The chat's row of the list.", body = ChatRow),
        (status = 404, description = "unknown_chat"),
    )
))]
pub(crate) async fn update(
    State(api): State<Api>,
    Caller(principal): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let body = read(&api, Some(&principal), &headers, body).await?;
    let limits = api.limits;
    let parse = move |bytes: &[u8]| Ok(ChatUpdate::from_slice(bytes, &limits)?);
    let (update, _room) = body.parse(parse).await?;
    let title = match update.title {
        None => TitleChange::Keep,
        Some(title) => match title::one_line(&title) {
            title if title.is_empty() => TitleChange::FromMessage,
            title if title.chars().count() > TITLE => {
                let message = format!("title: longer than {TITLE} characters");
                return Err(Problem::bad_request(message));
            }
            title => TitleChange::Set(title),
        },
    };
    let change = LabelChange {
        title,
        is_archived: update.archived,
    };
    let chat = ChatId::from(id);
    note_chat(&chat);
    let listed = api.engine.relabel(&principal, &chat, &change).await?;
    Ok(fresh(row(&listed)))
}

/// Deletes a chat for good: its journal, and everything derived from it.
#[cfg_attr(feature = "cli", utoipa::path(
    delete, path = "/api/chats/{id}", tag = "Chats", operation_id = "deleteChat",
    params(ChatPath),
    responses(
        (status = 204, description = "It is deleted."),
        (status = 404, description = "unknown_chat"),
    )
))]
pub(crate) async fn delete(
    State(engine): State<Engine>,
    Caller(principal): Caller,
    PathId(id): PathId,
) -> Result<StatusCode, Problem> {
    let chat = ChatId::from(id);
    note_chat(&chat);
    engine.forget(&principal, &chat).await?;
    Ok(StatusCode::NO_CONTENT)
}
