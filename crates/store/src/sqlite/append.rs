//! The two things that change a journal: an append, and forgetting the chat.

use rusqlite::params;
use turn::ChatId;

use super::index::{self, Source};
use super::read;
use super::write_connection::{Head, WriteConnection};
use super::writer::{Notification, Written};
use crate::error::StoreError;
use crate::journal::{Appended, NewEntry};
use crate::json::encode;
use crate::number::{from_at, from_seq};
use turn::index::{kind, turn};

/// An append, ready to run.
pub(super) struct Append {
    chat: ChatId,
    expected_seq: u64,
    entry: NewEntry,
    /// Written by the caller, so that the one thread that writes does nothing but that.
    events: String,
}

impl Append {
    pub(super) fn new(
        chat: ChatId,
        expected_seq: u64,
        entry: NewEntry,
    ) -> Result<Self, StoreError> {
        let events = encode("the events of an entry", &entry.events)?;
        Ok(Self {
            chat,
            expected_seq,
            entry,
            events,
        })
    }

    pub(super) fn run(
        &self,
        connection: &mut WriteConnection,
    ) -> Result<Written<Appended>, StoreError> {
        let mut head = connection.take_head(&self.chat);
        // A chat that is new to the caller most often is new: that its first entry has no place is
        // seen when it is written.
        if head.is_none() && self.expected_seq > 0 {
            head = read::head(connection, &self.chat)?;
        }
        let last = head.as_ref().map_or(0, |head| head.seq);
        if last != self.expected_seq {
            return Ok(conflict(connection, &self.chat, head));
        }
        let seq = last + 1;
        let entry = &self.entry;
        let sql = "INSERT INTO entry (chat, seq, turn, kind, actor, events, at, epoch)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING";
        let written = connection.prepare_cached(sql)?.execute(params![
            self.chat.as_str(),
            from_seq(seq),
            turn(&entry.events).map(turn::TurnId::as_str),
            kind(&entry.events),
            entry.actor.to_string(),
            self.events,
            from_at(entry.at),
            from_seq(entry.epoch),
        ])?;
        if written == 0 {
            let head = read::head(connection, &self.chat)?;
            return Ok(conflict(connection, &self.chat, head));
        }
        let source = Source {
            chat: &self.chat,
            seq,
            at: entry.at,
            actor: &entry.actor,
            events: &entry.events,
            open: entry.open.as_ref(),
        };
        let head = index::apply(connection, &source, head)?;
        connection.keep_head(&self.chat, head);
        Ok(Written {
            value: Appended::Ok { seq },
            notification: Notification::Grew(self.chat.clone()),
        })
    }
}

/// The answer to an append that does not follow the last entry.
fn conflict(
    connection: &mut WriteConnection,
    chat: &ChatId,
    head: Option<Head>,
) -> Written<Appended> {
    let seq = head.as_ref().map_or(0, |head| head.seq);
    if let Some(head) = head {
        connection.keep_head(chat, head);
    }
    Written {
        value: Appended::Conflict { seq },
        notification: Notification::Nothing,
    }
}

/// Forgets a chat, and returns whether there was one.
pub(super) fn delete(
    connection: &mut WriteConnection,
    chat: &ChatId,
) -> Result<Written<bool>, StoreError> {
    connection.take_head(chat);
    // Its gates and calls go with it, by their foreign keys.
    let sql = "DELETE FROM chat WHERE id = ?1";
    connection.prepare_cached(sql)?.execute([chat.as_str()])?;
    let sql = "DELETE FROM label WHERE chat = ?1";
    connection.prepare_cached(sql)?.execute([chat.as_str()])?;
    let sql = "DELETE FROM entry WHERE chat = ?1";
    let was_there = connection.prepare_cached(sql)?.execute([chat.as_str()])? > 0;
    Ok(Written {
        value: was_there,
        notification: match was_there {
            true => Notification::Deleted(chat.clone()),
            false => Notification::Nothing,
        },
    })
}
