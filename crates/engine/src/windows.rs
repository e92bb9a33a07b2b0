//! The windows on a chat: what a driver shows goes into the log of its turn, which they read from.

use std::sync::Arc;

use serde_json::Value;
use turn::TurnId;
use view::{Closing, Line};
use wire::chunk::Data;

use crate::driver::{Driver, Opening, Shown};
use crate::log::Log;
use crate::stream::WindowStream;

/// The windows on a chat.
#[derive(Debug, Default)]
pub struct Windows {
    current: Option<Current>,
}

/// What windows on the current turn read from.
#[derive(Debug)]
struct Current {
    /// The turn's place among those of the chat. Compared at every delta, and near at hand.
    place: usize,
    turn: TurnId,
    log: Arc<Log>,
}

impl Current {
    fn new(shown: Shown<'_>) -> Self {
        Self {
            place: shown.place,
            turn: shown.turn.clone(),
            log: Arc::new(Log::new(shown.message_id, shown.lines)),
        }
    }
}

impl Windows {
    /// Shows what may be shown since.
    pub fn publish(&mut self, driver: &Driver) {
        let Some(shown) = driver.shown() else {
            return;
        };
        match &self.current {
            Some(current) if current.place == shown.place => current.log.follow(shown.lines),
            old => {
                let chat = driver.chat();
                if let Some(old) = old
                    && let Some(older) = chat.and_then(|chat| chat.transcript(&old.turn))
                {
                    old.log.follow(older.lines());
                }
                self.current = Some(Current::new(shown));
            }
        }
    }

    /// Keeps of a turn that is over what those need who come to it later. Windows that are open read on
    /// in what they have.
    pub fn compact(&mut self, driver: &mut Driver) {
        if driver.compact()
            && let Some(shown) = driver.shown()
        {
            self.current = Some(Current::new(shown));
        }
    }

    /// Shows something to those who watch just now.
    pub fn signal(&self, name: String, data: Value) {
        if let Some(current) = &self.current {
            current.log.signal(Data {
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
        let current = current.filter(|current| current.turn == opening.turn);
        let log = match current {
            Some(current) => current.log.clone(),
            None => {
                let shown = driver.chat()?.transcript(&opening.turn)?;
                // Nothing more is said in it: its window closes where it ends.
                Arc::new(Log::new(shown.message_id(), shown.lines()))
            }
        };
        let position = opening.position.unwrap_or(0);
        let window = WindowStream::continuing(log, opening.dialect, position);
        Some(match (&opening.seen, &opening.history) {
            (Some(message), _) => window.with_client_state(message),
            (None, Some(history)) => window.with_history(history.clone()),
            (None, None) => window,
        })
    }

    /// Closes all windows, as the chat is evicted, once they have what may be shown.
    pub fn close(&mut self, shown: Option<(TurnId, Vec<Line>)>, closing: Option<Closing>) {
        let Some(Current { turn, log, .. }) = self.current.take() else {
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
