//! The list of a principal's chats over HTTP.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use engine::Engine;
use serde_json::{Value, json};
use store::{ChatQuery, LabelChange, ListedChat, TitleChange};
use turn::{ChatId, Status, title};
use wire::ChatUpdate;

use crate::api::{Api, fresh};
use crate::body::read;
use crate::caller::Caller;
use crate::paging;
use crate::problem::Problem;
use crate::reads::Reads;
use crate::request_context::note_chat;

/// How many chats a page of the list holds, unless the client asks for more or fewer.
const PAGE: usize = 50;

/// How many it may ask for.
const MOST: usize = 200;

/// How many characters a title may have.
const TITLE: usize = 200;

/// The chats of the principal, newest first:
/// `?limit=N&cursor=CURSOR&q=WORDS&archived=true`.
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
    let chats: Vec<Value> = page.chats.iter().map(row).collect();
    let mut body = json!({"chats": chats});
    if let Some(next) = page.next {
        body["nextCursor"] = paging::encode_chat(&next).into();
    }
    Ok(fresh(body))
}

/// A chat as the list shows it.
pub(crate) fn row(chat: &ListedChat) -> Value {
    json!({
        "id": chat.id,
        "title": chat.title,
        "status": status(chat.status),
        "waiting": chat.open_gates,
        "archived": chat.is_archived,
        "createdAt": chat.opened,
        "updatedAt": chat.updated,
        "activeAt": chat.active,
    })
}

/// A status as clients read it.
pub(crate) fn status(status: Status) -> &'static str {
    match status {
        Status::Running => "running",
        Status::Parked => "parked",
        Status::Finished => "finished",
        Status::Failed => "failed",
        Status::Stopped => "stopped",
    }
}

/// Names a chat, or archives it.
pub(crate) async fn update(
    State(api): State<Api>,
    Caller(principal): Caller,
    Path(id): Path<String>,
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

/// Deletes a chat for good.
pub(crate) async fn delete(
    State(engine): State<Engine>,
    Caller(principal): Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let chat = ChatId::from(id);
    note_chat(&chat);
    engine.forget(&principal, &chat).await?;
    Ok(StatusCode::NO_CONTENT)
}
