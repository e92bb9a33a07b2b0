//! The windows on a chat: what a driver shows goes into the log of its turn, which they read from.

use std::sync::Arc;

use serde_json::Value;
use turn::TurnId;
use view::{Closing, Line};
use wire::chunk::Data;

use crate::driver::{Driver, Opening};
use crate::log::Log;
use crate::stream::WindowStream;

/// The windows on a chat.
#[derive(Debug, Default)]
pub struct Windows {
    /// What windows on the current turn read from.
    current: Option<(TurnId, Arc<Log>)>,
}

impl Windows {
    /// Shows what may be shown since.
    pub fn publish(&mut self, driver: &Driver) {
        let Some((turn, message_id, lines)) = driver.shown() else {
            return;
        };
        match &self.current {
            Some((current, log)) if current == turn => log.follow(lines),
            old => {
                let chat = driver.chat();
                if let Some((old, log)) = old
                    && let Some(older) = chat.and_then(|chat| chat.transcript(old))
                {
                    log.follow(older.lines());
                }
                self.current = Some((turn.clone(), Arc::new(Log::new(message_id, lines))));
            }
        }
    }

    /// Keeps of a turn that is over what those need who come to it later. Windows that are open read on
    /// in what they have.
    pub fn compact(&mut self, driver: &mut Driver) {
        if driver.compact()
            && let Some((turn, message_id, lines)) = driver.shown()
        {
            self.current = Some((turn.clone(), Arc::new(Log::new(message_id, lines))));
        }
    }

    /// Shows something to those who watch just now.
    pub fn signal(&self, name: String, data: Value) {
        if let Some((_, log)) = &self.current {
            log.signal(Data {
                name,
                data,
                transient: Some(true),
                ..Data::default()
            });
        }
    }

    /// Opens a window, if there is anything to see.
    pub fn open(&self, driver: &Driver, opening: &Opening) -> Option<WindowStream> {
        let current = self.current.as_ref();
        let current = current.filter(|(turn, _)| *turn == opening.turn);
        let log = match current {
            Some((_, log)) => log.clone(),
            None => {
                let shown = driver.chat()?.transcript(&opening.turn)?;
                // Nothing more is said in it: its window closes where it ends.
                Arc::new(Log::new(shown.message_id(), shown.lines()))
            }
        };
        let window = match opening.position {
            Some(position) => WindowStream::continuing(log, opening.speech, position),
            None => WindowStream::replaying(log, opening.speech),
        };
        Some(match &opening.seen {
            Some(message) => window.with_client_state(message),
            None => window,
        })
    }

    /// Closes all windows, as the chat is let go, once they have what may be shown.
    pub fn close(&mut self, shown: Option<(TurnId, Vec<Line>)>, closing: Option<Closing>) {
        let Some((turn, log)) = self.current.take() else {
            return;
        };
        if let Some((_, lines)) = shown.filter(|(current, _)| *current == turn) {
            log.follow(&lines);
        }
        if let Some(closing) = closing {
            log.push(Line::Close(closing));
        }
    }
}
