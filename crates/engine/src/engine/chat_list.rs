//! The chats of a principal: listing, naming, archiving and deleting them.

use store::{ApprovalIdPage, ChangeFeed, ChatPage, ChatQuery, GatePlace, LabelChange, ListedChat};
use turn::{ChatId, GateId, Principal};

use super::Engine;
use crate::command::CommandKind;
use crate::error::EngineError;

impl Engine {
    /// A part of the list of a principal's chats, newest first.
    pub async fn chats_page(
        &self,
        principal: &Principal,
        query: &ChatQuery,
    ) -> Result<ChatPage, EngineError> {
        Ok(self.shared.journal.chats(principal, query).await?)
    }

    /// Names or archives a chat. Only its owner may.
    pub async fn relabel(
        &self,
        principal: &Principal,
        chat: &ChatId,
        change: &LabelChange,
    ) -> Result<ListedChat, EngineError> {
        let listed = self.shared.journal.relabel(principal, chat, change).await?;
        listed.ok_or(EngineError::UnknownChat)
    }

    /// Deletes a chat for good, after it has stopped its turn. Only its owner may.
    pub async fn forget(&self, principal: &Principal, chat: &ChatId) -> Result<(), EngineError> {
        self.ask(principal, chat, CommandKind::Forget).await?;
        tracing::info!(%chat, %principal, "chat deleted");
        Ok(())
    }

    /// Which chats change from now on, whosever they are and by whichever server.
    pub fn chat_changes(&self) -> ChangeFeed {
        self.shared.journal.changes()
    }

    /// Those of the chats that exist, whosever they are.
    pub async fn listed_chats(&self, chats: &[ChatId]) -> Result<Vec<ListedChat>, EngineError> {
        Ok(self.shared.journal.listed(chats).await?)
    }

    /// Those of the chats that were deleted, with their owners.
    pub async fn deleted_chats(
        &self,
        chats: &[ChatId],
    ) -> Result<Vec<(ChatId, Principal)>, EngineError> {
        Ok(self.shared.journal.deleted(chats).await?)
    }

    /// The approvals that wait in these chats.
    pub async fn open_approvals(
        &self,
        chats: &[ChatId],
    ) -> Result<Vec<(ChatId, GateId)>, EngineError> {
        Ok(self.shared.journal.open_approvals(chats).await?)
    }

    /// At most `limit` of the approvals that wait for a principal, oldest first, by their ids: little is
    /// read of each, however large its input is.
    pub async fn approval_ids(
        &self,
        principal: &Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Result<ApprovalIdPage, EngineError> {
        let journal = &self.shared.journal;
        Ok(journal.approval_ids(principal, after, limit).await?)
    }
}
