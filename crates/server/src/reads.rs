//! Reading what may be large, a chat or a part of its journal, and writing it as JSON: a few at a time.
//!
//! It takes several times the bytes of what is read, and a client may ask for as much as often as it
//! likes. Nothing waits for a client here: what was made is the connection's to bound.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use turn::Principal;

use crate::quota::Refusal;
use crate::shares::Shares;

/// How many are made at once.
const AT_ONCE: usize = 4;

/// How many of them are one principal's.
const SHARE: usize = 2;

/// How many recordings one principal may be sent at once: each holds the chat for as long as it lasts.
const RECORDINGS: usize = 4;

/// How long a request waits for its turn.
const WAIT: Duration = Duration::from_secs(30);

/// Gives turns. Cloning it is cheap, and gives the same turns.
#[derive(Clone)]
pub struct Reads {
    all: Arc<Semaphore>,
    shares: Arc<Shares>,
    recordings: Arc<Shares>,
    clearings: Arc<Shares>,
}

impl Default for Reads {
    fn default() -> Self {
        Self {
            all: Arc::new(Semaphore::new(AT_ONCE)),
            shares: Arc::new(Shares::new(SHARE)),
            recordings: Arc::new(Shares::new(RECORDINGS)),
            clearings: Arc::new(Shares::new(1)),
        }
    }
}

/// A turn, until it is dropped.
pub(crate) struct Turn {
    _share: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl Reads {
    /// Waits for a turn.
    pub(crate) async fn turn(&self, principal: &Principal) -> Result<Turn, Refusal> {
        let given = async {
            let share = self.shares.of(principal).acquire_owned().await.ok()?;
            let all = self.all.clone().acquire_owned().await.ok()?;
            Some(Turn {
                _share: share,
                _all: all,
            })
        };
        let given = tokio::time::timeout(WAIT, given).await;
        given.ok().flatten().ok_or(TOO_MANY)
    }

    /// Waits until nothing else clears the sessions of a principal, until what is returned is dropped.
    pub(crate) async fn clearing(
        &self,
        principal: &Principal,
    ) -> Result<OwnedSemaphorePermit, Refusal> {
        let given = self.clearings.of(principal).acquire_owned();
        let given = tokio::time::timeout(WAIT, given).await;
        given.ok().and_then(Result::ok).ok_or(TOO_MANY)
    }

    /// Lets one more recording begin, until what is returned is dropped.
    pub(crate) fn recording(&self, principal: &Principal) -> Result<OwnedSemaphorePermit, Refusal> {
        let given = self.recordings.of(principal).try_acquire_owned();
        given.map_err(|_| TOO_MANY)
    }
}

const TOO_MANY: Refusal = Refusal {
    code: "too_many_requests_in_flight",
    message: "too many chats are being read at once",
    wait: Duration::from_secs(1),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn few_are_made_at_once_and_fewer_of_one_principal() {
        let reads = Reads::default();
        let names: [Principal; 3] = ["ann", "bob", "cyd"].map(Principal::from);
        let mut turns = Vec::new();
        for _ in 0..SHARE {
            turns.push(reads.turn(&names[0]).await.unwrap());
        }
        assert_eq!(reads.turn(&names[0]).await.err(), Some(TOO_MANY));
        // No other request waits for what she has.
        let began = tokio::time::Instant::now();
        for _ in 0..AT_ONCE - SHARE {
            turns.push(reads.turn(&names[1]).await.unwrap());
        }
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert_eq!(reads.turn(&names[2]).await.err(), Some(TOO_MANY));
        turns.pop();
        assert!(reads.turn(&names[2]).await.is_ok());
    }
}
