//! The chats of an owner, as a list: what each is called, how it is, and whether it was put away.
//!
//! Title, status and open gates come from the entries, by [`turn::index`]. What the owner calls a chat
//! and whether it is archived are the owner's own, in no journal: making the indexes again leaves them.

#[cfg(any(feature = "postgres", feature = "sqlite"))]
use turn::gate::Gate;
use turn::{At, ChatId, GateId, Principal, Status};

use crate::change_feed::ChangeFeed;
use crate::journal::{GatePlace, Reply};

/// How many rows are looked at for one page of a search. A page may end there, and the next continues.
pub(crate) const SCAN: usize = 1000;

/// Lists chats, and deletes them so that they stay deleted. Every [`crate::Journal`] does.
pub trait ChatList: Send + Sync + 'static {
    /// A part of an owner's list, newest first: by the time at which the last turn was opened.
    fn chats<'a>(&'a self, owner: &'a Principal, query: &'a ChatQuery) -> Reply<'a, ChatPage>;

    /// Those of the chats that exist, whosever they are, in no order.
    fn listed<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<ListedChat>>;

    /// Those of the chats that were deleted for good, with their owners, in no order.
    fn deleted<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<(ChatId, Principal)>>;

    /// The approvals that wait in these chats, in no order.
    fn open_approvals<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<(ChatId, GateId)>>;

    /// At most `limit` of the approvals that wait in the chats of an owner, oldest first, from behind a
    /// place on: what each is called, and nothing of what it asks.
    fn approval_ids<'a>(
        &'a self,
        owner: &'a Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Reply<'a, ApprovalIdPage>;

    /// Changes what the owner calls a chat, or whether it is archived, and returns the chat as it is
    /// then; nothing, if this owner has no such chat.
    fn relabel<'a>(
        &'a self,
        owner: &'a Principal,
        chat: &'a ChatId,
        change: &'a LabelChange,
    ) -> Reply<'a, Option<ListedChat>>;

    /// Deletes a chat as [`crate::Journal::delete`] does, and leaves a tombstone: no chat is opened
    /// under its id again ([`crate::StoreError::ChatDeleted`]), so that an append that comes late
    /// does not bring it back. Returns whether there was one.
    fn delete_for_good<'a>(&'a self, chat: &'a ChatId, at: At) -> Reply<'a, bool>;

    /// Which chats change from now on, by whichever server.
    fn changes(&self) -> ChangeFeed;
}

/// A part of an owner's list of approvals that wait, by their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalIdPage {
    /// The approvals, each with its chat.
    pub ids: Vec<(ChatId, GateId)>,
    /// Where the next page begins, if there are more.
    pub next: Option<GatePlace>,
}

impl ApprovalIdPage {
    /// A page of rows that were read one further than the page may hold, to see if there are more. Gates
    /// that nobody is asked at have no ids.
    pub(crate) fn of(mut rows: Vec<(GatePlace, Option<(ChatId, GateId)>)>, limit: usize) -> Self {
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let last = rows.last().map(|(place, _)| *place);
        Self {
            next: last.filter(|_| has_more),
            ids: rows.into_iter().filter_map(|(_, ids)| ids).collect(),
        }
    }
}

/// Which part of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatQuery {
    /// Behind this place; from the start, if there is none.
    pub after: Option<ChatPlace>,
    /// Only those that are archived, or only those that are not.
    pub is_archived: Option<bool>,
    /// Only those whose titles contain this, in upper or lower case.
    pub search: Option<String>,
    /// At most this many.
    pub limit: usize,
}

impl ChatQuery {
    /// How many rows to read: one more than a page holds, to see whether there are more.
    pub(crate) fn rows(&self) -> usize {
        match self.search {
            Some(_) => SCAN.max(self.limit),
            None => self.limit,
        }
        .saturating_add(1)
    }
}

/// A place in an owner's list of chats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatPlace {
    /// When the last turn of the chat there was opened.
    pub active: At,
    /// The chat, by which those of the same millisecond are ordered.
    pub chat: ChatId,
}

/// A part of an owner's list of chats.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatPage {
    /// The chats.
    pub chats: Vec<ListedChat>,
    /// Where the next page begins, if there may be more.
    pub next: Option<ChatPlace>,
}

impl ChatPage {
    /// A page of rows that were read one further than [`ChatQuery::rows`] needs.
    pub(crate) fn of(rows: Vec<ListedChat>, query: &ChatQuery) -> Self {
        let wanted = query.search.as_deref().map(str::to_lowercase);
        let is_wanted = |chat: &ListedChat| {
            let title = chat.title.as_deref().unwrap_or_default();
            let wanted = wanted.as_deref();
            wanted.is_none_or(|wanted| title.to_lowercase().contains(wanted))
        };
        let (scanned, mut chats, mut next) = (query.rows() - 1, Vec::new(), None);
        let count = rows.len();
        for (number, chat) in rows.into_iter().enumerate() {
            let place = chat.place();
            if is_wanted(&chat) {
                chats.push(chat);
            }
            let is_full = chats.len() >= query.limit || number + 1 >= scanned;
            if is_full && number + 1 < count {
                next = Some(place);
                break;
            }
        }
        Self { chats, next }
    }
}

/// A chat as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedChat {
    /// The chat.
    pub id: ChatId,
    /// Whose it is.
    pub owner: Principal,
    /// What its owner calls it, or else the beginning of what was said first; nothing, if nothing was
    /// said in words.
    pub title: Option<String>,
    /// Whether its owner has put it away.
    pub is_archived: bool,
    /// When it was opened.
    pub opened: At,
    /// When its last entry was written.
    pub updated: At,
    /// When its last turn was opened: the order of the list.
    pub active: At,
    /// The status of its last turn.
    pub status: Status,
    /// How many gates wait in it, of either kind.
    pub open_gates: usize,
}

impl ListedChat {
    /// Its place in the list.
    pub fn place(&self) -> ChatPlace {
        ChatPlace {
            active: self.active,
            chat: self.id.clone(),
        }
    }
}

/// What the owner of a chat changes of it in the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelChange {
    /// What it is called from now on.
    pub title: TitleChange,
    /// Whether it is archived from now on; as before, if nothing is said.
    pub is_archived: Option<bool>,
}

/// What becomes of a title.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TitleChange {
    /// It stays.
    #[default]
    Keep,
    /// The beginning of what was said first.
    FromMessage,
    /// This one.
    Set(String),
}

/// The status of a turn that is open, or else of one that ended as the table says. Nothing is said of
/// it where a server of an older version wrote the end.
pub(crate) fn status(is_running: Option<bool>, ended: Option<&str>) -> Status {
    match (is_running, ended) {
        (Some(true), _) => Status::Running,
        (Some(false), _) => Status::Parked,
        (None, Some("failed")) => Status::Failed,
        (None, Some("stopped")) => Status::Stopped,
        (None, _) => Status::Finished,
    }
}

/// The gates at which a person is asked.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn questions(gates: Vec<(ChatId, Gate)>) -> Vec<(ChatId, GateId)> {
    let asked = gates.into_iter().filter(|(_, gate)| gate.is_question());
    asked.map(|(chat, gate)| (chat, gate.id)).collect()
}

/// How a turn ended, for the table.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn ended(status: Status) -> &'static str {
    match status {
        Status::Failed => "failed",
        Status::Stopped => "stopped",
        Status::Running | Status::Parked | Status::Finished => "finished",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(number: usize, title: &str) -> ListedChat {
        ListedChat {
            id: ChatId::from(format!("c{number}")),
            owner: "ann".into(),
            title: Some(title.to_owned()),
            is_archived: false,
            opened: At(1),
            updated: At(1),
            active: At(1),
            status: Status::Finished,
            open_gates: 0,
        }
    }

    #[test]
    fn search_that_finds_little_ends_its_page_and_continues() {
        let query = ChatQuery {
            search: Some("ÄPFEL".to_owned()),
            limit: 2,
            ..ChatQuery::default()
        };
        let rows = |count| -> Vec<_> {
            let title = |number| {
                if number % 600 == 5 {
                    "Fünf äpfel"
                } else {
                    "other"
                }
            };
            (0..count)
                .map(|number| chat(number, title(number)))
                .collect()
        };
        let page = ChatPage::of(rows(SCAN + 1), &query);
        assert_eq!(page.chats.len(), 2);
        assert_eq!(page.next.map(|place| place.chat), Some("c605".into()));
        let page = ChatPage::of(rows(6), &query);
        assert_eq!((page.chats.len(), page.next), (1, None));
        let nothing = ChatPage::of(
            rows(SCAN + 1),
            &ChatQuery {
                search: Some("none".into()),
                ..query
            },
        );
        assert!(nothing.chats.is_empty());
        let last = format!("c{}", SCAN - 1);
        assert_eq!(
            nothing.next.map(|place| place.chat),
            Some(last.as_str().into())
        );
    }
}
