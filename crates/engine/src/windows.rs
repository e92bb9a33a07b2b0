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
    /// What windows on turns read from that are yet to be opened.
    waiting: Vec<(TurnId, Arc<Log>)>,
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
        let log = Arc::new(Log::new(shown.message_id, shown.lines));
        Self::with_log(shown, log)
    }

    fn with_log(shown: Shown<'_>, log: Arc<Log>) -> Self {
        Self {
            place: shown.place,
            turn: shown.turn.clone(),
            log,
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
                self.current = Some(match self.take_waiting(shown.turn) {
                    Some(log) => {
                        log.begin(shown.lines);
                        Current::with_log(shown, log)
                    }
                    None => Current::new(shown),
                });
            }
        }
        // While the store is waited for, the chat may be ahead of the journal.
        if !self.waiting.is_empty() && !driver.is_busy() {
            self.settle_waiting(driver);
        }
    }

    /// Whether clients wait for turns that are yet to be opened.
    pub fn has_waiting(&self) -> bool {
        let mut waiting = self.waiting.iter();
        waiting.any(|(_, log)| Arc::strong_count(log) > 1)
    }

    fn take_waiting(&mut self, turn: &TurnId) -> Option<Arc<Log>> {
        let place = self.waiting.iter().position(|(id, _)| id == turn)?;
        Some(self.waiting.remove(place).1)
    }

    /// Tells windows that wait for a turn what became of its message.
    fn settle_waiting(&mut self, driver: &Driver) {
        let Some(chat) = driver.chat() else { return };
        let current = self.current.as_ref();
        self.waiting.retain(|(id, log)| {
            if chat.queued().iter().any(|queued| queued.opens == *id) {
                // Nobody may be reading any more.
                return Arc::strong_count(log) > 1;
            }
            match (chat.transcript(id), current) {
                (Some(shown), _) => log.begin(shown.lines()),
                (None, Some(current)) if chat.is_injected(id) => log.replace(&current.log),
                (None, _) => {
                    log.push(Line::Close(withdrawn_notice()));
                    log.begin(&[]);
                }
            }
            false
        });
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
    pub fn open(&mut self, driver: &Driver, opening: &Opening) -> Option<WindowStream> {
        let current = self.current.as_ref();
        let current = current.filter(|current| current.turn == opening.turn);
        let log = match current {
            Some(current) => current.log.clone(),
            None => match driver.chat()?.transcript(&opening.turn) {
                // Nothing more is said in it: its window closes where it ends.
                Some(shown) => Arc::new(Log::new(shown.message_id(), shown.lines())),
                None => self.wait_for(driver, &opening.turn)?,
            },
        };
        let position = opening.position.unwrap_or(0);
        let Opening {
            dialect, numbering, ..
        } = opening;
        let window = WindowStream::continuing(log, *dialect, position, numbering)
            .of_turn(Some(opening.turn.clone()));
        Some(match (&opening.seen, &opening.history) {
            (Some(message), _) => window.with_client_state(message),
            (None, Some(history)) => window.with_history(history.clone()),
            (None, None) => window,
        })
    }

    /// The log of a turn that is yet to be opened.
    fn wait_for(&mut self, driver: &Driver, turn: &TurnId) -> Option<Arc<Log>> {
        if let Some((_, log)) = self.waiting.iter().find(|(id, _)| id == turn) {
            return Some(log.clone());
        }
        let mut queued = driver.chat()?.queued().iter();
        let queued = queued.find(|queued| queued.opens == *turn)?;
        let log = Arc::new(Log::waiting(&queued.message_id));
        self.waiting.push((turn.clone(), log.clone()));
        Some(log)
    }

    /// Closes all windows, as the chat is evicted, once they have what may be shown.
    pub fn close(&mut self, shown: Option<(TurnId, Vec<Line>)>, closing: Option<Closing>) {
        for (_, log) in self.waiting.drain(..) {
            let closing = closing.clone().unwrap_or_else(withdrawn_notice);
            log.push(Line::Close(closing));
            log.begin(&[]);
        }
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

/// Why windows close that waited for a turn which is never opened.
fn withdrawn_notice() -> Closing {
    let message = "The message was withdrawn before its turn began.";
    Closing::failed("message_withdrawn", message)
}
