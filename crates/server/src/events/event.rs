//! One change in the lists of a principal.

use axum::body::Bytes;
use serde_json::{Value, json};
use store::ListedChat;
use turn::{ChatId, GateId};

use crate::chats;

/// What changed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// Changes may have been missed: read the lists.
    Reset,
    /// A chat is new, or its row in the list is another.
    Chat(Box<ListedChat>),
    /// A chat is gone.
    ChatDeleted(ChatId),
    /// An approval waits.
    ApprovalOpened(ChatId, GateId),
    /// An approval waits no more.
    ApprovalClosed(ChatId, GateId),
}

impl Change {
    fn name(&self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Chat(_) => "chat",
            Self::ChatDeleted(_) => "chat-deleted",
            Self::ApprovalOpened(..) => "approval-opened",
            Self::ApprovalClosed(..) => "approval-closed",
        }
    }

    fn data(&self) -> Value {
        match self {
            Self::Reset => json!({}),
            Self::Chat(chat) => json!(chats::row(chat)),
            Self::ChatDeleted(chat) => json!({"id": chat}),
            Self::ApprovalOpened(chat, gate) | Self::ApprovalClosed(chat, gate) => {
                json!({"approvalId": gate, "chatId": chat})
            }
        }
    }
}

/// A change as streams send it: made once, however many read it.
pub(super) fn event(id: &str, change: &Change) -> Bytes {
    let (name, data) = (change.name(), change.data());
    format!("id: {id}\nevent: {name}\ndata: {data}\n\n").into()
}
