//! Rounds of the other servers over the store: each tells the others which history of the database it has
//! seen, so that one which starts late, or was cut off, does not use a former primary.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{MissedTickBehavior, timeout};

use crate::engine::Engine;
use crate::replica::Replica;

/// How many servers are asked in one round after the first. What one has learned it passes on.
const ASKED: usize = 8;

/// How long a round may take: one that is frozen keeps the others from nothing.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// The addresses of the other servers, in the order in which they are asked.
#[derive(Debug, Default)]
pub(crate) struct Round {
    /// As they were when the store was last there.
    addresses: Vec<String>,
    next: usize,
}

impl Engine {
    /// Compares what is known of the database with the other servers, as often as leases are renewed.
    pub(crate) async fn compare_with_peers(&self) {
        let Some(replica) = &self.shared.replica else {
            return;
        };
        let mut tick = tokio::time::interval(replica.lease / 4);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut round = Round::default();
        loop {
            tick.tick().await;
            self.ask_peers(replica, &mut round, ASKED).await;
        }
    }

    /// The same once, with all of them, before anything is begun.
    pub(crate) async fn meet_peers(&self) {
        if let Some(replica) = &self.shared.replica {
            let all = usize::MAX;
            self.ask_peers(replica, &mut Round::default(), all).await;
        }
    }

    async fn ask_peers(&self, replica: &Replica, round: &mut Round, count: usize) {
        // Where the store is away, they are where they were.
        let addresses = timeout(TIME_LIMIT, self.shared.journal.addresses()).await;
        if let Ok(Ok(mut addresses)) = addresses {
            addresses.retain(|address| *address != replica.holder.address);
            addresses.sort_unstable();
            round.addresses = addresses;
        }
        let asked = round.take(count);
        let asked = asked.iter().map(|address| replica.peers.compare(address));
        // One that does not answer is asked again in the next round.
        let _ = timeout(TIME_LIMIT, join_all(asked)).await;
    }
}

impl Round {
    /// The next of them, each once.
    fn take(&mut self, count: usize) -> Vec<String> {
        let all = self.addresses.len();
        let count = count.min(all);
        let start = self.next.checked_rem(all).unwrap_or_default();
        self.next = start + count;
        let taken = self.addresses.iter().cycle().skip(start).take(count);
        taken.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_asked_in_turn() {
        let mut round = Round::default();
        assert!(round.take(2).is_empty());
        round.addresses = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(round.take(2), ["a", "b"]);
        assert_eq!(round.take(2), ["c", "a"]);
        assert_eq!(round.take(usize::MAX), ["b", "c", "a"]);
        round.addresses.truncate(1);
        assert_eq!(round.take(2), ["a"]);
    }
}
