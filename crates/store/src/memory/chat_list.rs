//! The list of chats, in memory.

use std::ops::Bound;

use turn::{At, ChatId, GateId, Principal};

use super::{Chat, MemoryJournal, State, lock};
use crate::change_feed::ChangeFeed;
use crate::chat_list::{
    ApprovalIdPage, ChatList, ChatPage, ChatQuery, LabelChange, ListedChat, TitleChange, status,
};
use crate::journal::{GatePlace, Reply};

impl State {
    fn listed(&self, id: &ChatId, chat: &Chat) -> ListedChat {
        let label = self.labels.get(id);
        let renamed = label.and_then(|label| label.title.clone());
        let is_running = chat.open.as_ref().map(|open| open.is_running);
        let gates = self.gates.values().map(|asked| &asked.record);
        let is_open = |record: &&crate::GateRecord| record.chat == *id && record.closed.is_none();
        ListedChat {
            id: id.clone(),
            owner: chat.owner.clone(),
            title: renamed.or_else(|| chat.title.clone()),
            is_archived: label.is_some_and(|label| label.is_archived),
            opened: chat.opened,
            updated: chat.updated,
            active: chat.active,
            status: match chat.ended {
                Some(ended) if is_running.is_none() => ended,
                _ => status(is_running, None),
            },
            open_gates: gates.filter(is_open).count(),
        }
    }

    fn chats(&self, owner: &Principal, query: &ChatQuery) -> ChatPage {
        let own = self.chats.iter().filter(|(_, chat)| chat.owner == *owner);
        let mut rows: Vec<_> = own.map(|(id, chat)| self.listed(id, chat)).collect();
        rows.sort_by(|a, b| (b.active, &b.id).cmp(&(a.active, &a.id)));
        rows.retain(|row| {
            let is_behind = query
                .after
                .as_ref()
                .is_none_or(|after| (row.active, &row.id) < (after.active, &after.chat));
            let is_wanted = query
                .is_archived
                .is_none_or(|wanted| row.is_archived == wanted);
            is_behind && is_wanted
        });
        rows.truncate(query.rows());
        ChatPage::of(rows, query)
    }

    fn relabel(
        &mut self,
        owner: &Principal,
        id: &ChatId,
        change: &LabelChange,
    ) -> Option<ListedChat> {
        self.chats.get(id).filter(|chat| chat.owner == *owner)?;
        let label = self.labels.entry(id.clone()).or_default();
        match &change.title {
            TitleChange::Keep => {}
            TitleChange::FromMessage => label.title = None,
            TitleChange::Set(title) => label.title = Some(title.clone()),
        }
        label.is_archived = change.is_archived.unwrap_or(label.is_archived);
        let chat = self.chats.get(id)?;
        Some(self.listed(id, chat))
    }
}

impl ChatList for MemoryJournal {
    fn chats<'a>(&'a self, owner: &'a Principal, query: &'a ChatQuery) -> Reply<'a, ChatPage> {
        Box::pin(async move { Ok(lock(&self.state).chats(owner, query)) })
    }

    fn listed<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<ListedChat>> {
        Box::pin(async move {
            let state = lock(&self.state);
            let listed = chats.iter().filter_map(|id| {
                let chat = state.chats.get(id)?;
                Some(state.listed(id, chat))
            });
            Ok(listed.collect())
        })
    }

    fn deleted<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<(ChatId, Principal)>> {
        Box::pin(async move {
            let state = lock(&self.state);
            let deleted = chats
                .iter()
                .filter_map(|id| Some((id.clone(), state.tombstones.get(id)?.clone())));
            Ok(deleted.collect())
        })
    }

    fn open_approvals<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<(ChatId, GateId)>> {
        Box::pin(async move {
            let state = lock(&self.state);
            let records = state.gates.values().map(|asked| &asked.record);
            let open = records.filter(|record| {
                record.closed.is_none() && record.gate.is_question() && chats.contains(&record.chat)
            });
            let open = open.map(|record| (record.chat.clone(), record.gate.id.clone()));
            Ok(open.collect())
        })
    }

    fn approval_ids<'a>(
        &'a self,
        owner: &'a Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Reply<'a, ApprovalIdPage> {
        Box::pin(async move {
            let state = lock(&self.state);
            let start = after.map_or(Bound::Unbounded, Bound::Excluded);
            let open = state.open.get(owner).into_iter();
            let open = open.flat_map(|open| open.range((start, Bound::Unbounded)));
            let rows = open.filter_map(|(place, id)| {
                let record = &state.gates.get(id)?.record;
                let is_asked = record.gate.is_question();
                let ids = || (record.chat.clone(), record.gate.id.clone());
                Some((*place, is_asked.then(ids)))
            });
            let rows = rows.take(limit.saturating_add(1)).collect();
            Ok(ApprovalIdPage::of(rows, limit))
        })
    }

    fn relabel<'a>(
        &'a self,
        owner: &'a Principal,
        chat: &'a ChatId,
        change: &'a LabelChange,
    ) -> Reply<'a, Option<ListedChat>> {
        Box::pin(async move {
            let listed = lock(&self.state).relabel(owner, chat, change);
            if listed.is_some() {
                self.notifier.relabelled(chat);
            }
            Ok(listed)
        })
    }

    fn delete_for_good<'a>(&'a self, chat: &'a ChatId, _at: At) -> Reply<'a, bool> {
        Box::pin(async move {
            let mut state = lock(&self.state);
            let owner = state.chats.get(chat).map(|chat| chat.owner.clone());
            let was_there = state.delete(chat);
            if let Some(owner) = owner {
                state.tombstones.insert(chat.clone(), owner);
                self.notifier.end(chat);
            }
            Ok(was_there)
        })
    }

    fn changes(&self) -> ChangeFeed {
        self.notifier.listen_to_all()
    }
}
