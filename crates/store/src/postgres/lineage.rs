//! Which history of a database a server follows, so that one which was replaced is not used again.
//!
//! A promotion begins a new timeline. A former primary that comes back unaware of it is on the old
//! one, takes writes, and has not seen what was written since: a client that uses it loses answers. So
//! everything that was opened with one URL remembers the newest timeline that it has seen, and
//! nothing older is used any more: no new connection, and no connection that was there before.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use tokio::sync::watch;

use crate::error::StoreError;

/// The history that a PostgreSQL server follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lineage {
    /// What a cluster and its copies have in common, given when it was created.
    pub system_identifier: u64,
    /// How often one of the copies was promoted, plus one.
    pub timeline: u32,
}

impl fmt::Display for Lineage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.system_identifier, self.timeline)
    }
}

impl FromStr for Lineage {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let parts = text.split_once('/').and_then(|(system, timeline)| {
            let system_identifier = system.parse().ok()?;
            let timeline = timeline.parse().ok()?;
            Some(Self {
                system_identifier,
                timeline,
            })
        });
        parts.ok_or_else(|| StoreError::Malformed {
            what: "a timeline".to_owned(),
            problem: "expected SYSTEM_IDENTIFIER/TIMELINE".to_owned(),
        })
    }
}

/// What was learned of the servers of a URL, known to everything that was opened with it or with a
/// clone of it.
#[derive(Clone)]
pub(super) struct KnownServers {
    known: Arc<watch::Sender<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    newest: Option<Lineage>,
    /// What was refused last.
    refused: Option<Lineage>,
    /// How often each host was given up, by its place in the URL.
    given_up: Vec<u64>,
}

/// The server that a connection was opened to, and what was known of it then.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionOrigin {
    /// Unknown where a service does not let it be read: then it is not compared.
    pub(super) lineage: Option<Lineage>,
    host: usize,
    given_up: u64,
}

impl Default for KnownServers {
    fn default() -> Self {
        let known = Arc::new(watch::Sender::new(Known::default()));
        Self { known }
    }
}

impl KnownServers {
    /// The newest history that was seen.
    pub(super) fn newest(&self) -> Option<Lineage> {
        self.known.borrow().newest
    }

    /// Takes note of the history that is followed at a place, or says why it is not to be used.
    pub(super) fn observe(&self, found: Lineage, place: &str) -> Result<(), StoreError> {
        let mut refused = None;
        self.known.send_if_modified(|known| {
            let reason = match known.newest {
                Some(newest) if newest.system_identifier != found.system_identifier => format!(
                    "system identifier {}, expected {}",
                    found.system_identifier, newest.system_identifier
                ),
                Some(newest) if newest.timeline > found.timeline => {
                    format!(
                        "timeline {}, newest seen {}",
                        found.timeline, newest.timeline
                    )
                }
                Some(newest) if newest == found => return false,
                newest => {
                    if let Some(newest) = newest {
                        let (from, to) = (newest.timeline, found.timeline);
                        tracing::info!(place, from, to, "PostgreSQL has failed over");
                    }
                    known.newest = Some(found);
                    known.refused = None;
                    return true;
                }
            };
            // It is asked again and again, and said once.
            if known.refused.replace(found) != Some(found) {
                tracing::warn!(place, "PostgreSQL refused: {reason}");
            }
            refused = Some(format!("{place}: PostgreSQL refused: {reason}"));
            false
        });
        match refused {
            Some(problem) => Err(StoreError::Unavailable { problem }),
            None => Ok(()),
        }
    }

    /// The origin of a connection that is opened to a host now.
    pub(super) fn origin(&self, host: usize) -> SessionOrigin {
        SessionOrigin {
            lineage: None,
            host,
            given_up: self.known.borrow().given_up(host),
        }
    }

    /// Gives up all connections to a host that are there now, since one of them was silent.
    pub(super) fn give_up(&self, origin: SessionOrigin) {
        self.known.send_if_modified(|known| {
            // Of several that are silent, one is enough.
            if known.given_up(origin.host) != origin.given_up {
                return false;
            }
            if known.given_up.len() <= origin.host {
                known.given_up.resize(origin.host + 1, 0);
            }
            known.given_up[origin.host] += 1;
            true
        });
    }

    /// Why a connection is not to be used any more.
    pub(super) fn objection(&self, origin: SessionOrigin) -> Option<StoreError> {
        self.known.borrow().objection(origin)
    }

    /// Waits until a connection is not to be used any more.
    pub(super) async fn lost(&self, origin: SessionOrigin) -> StoreError {
        let mut known = self.known.subscribe();
        loop {
            if let Some(objection) = known.borrow_and_update().objection(origin) {
                return objection;
            }
            // The sender is in `self`, and so can't be gone.
            let _ = known.changed().await;
        }
    }
}

impl Known {
    fn given_up(&self, host: usize) -> u64 {
        self.given_up.get(host).copied().unwrap_or_default()
    }

    fn objection(&self, origin: SessionOrigin) -> Option<StoreError> {
        let is_replaced = match (origin.lineage, self.newest) {
            (Some(own), Some(newest)) => own != newest,
            _ => false,
        };
        let problem = match is_replaced {
            true => "another server has been promoted",
            false if self.given_up(origin.host) != origin.given_up => "it does not answer",
            false => return None,
        };
        let problem = problem.to_owned();
        Some(StoreError::Unavailable { problem })
    }
}

// What was seen of a database is no part of its address.
impl PartialEq for KnownServers {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for KnownServers {}

#[cfg(test)]
mod tests {
    use super::*;

    fn lineage(system_identifier: u64, timeline: u32) -> Lineage {
        Lineage {
            system_identifier,
            timeline,
        }
    }

    #[test]
    fn older_timeline_and_another_cluster_are_refused() {
        let servers = KnownServers::default();
        servers.observe(lineage(7, 3), "chats").unwrap();
        servers.observe(lineage(7, 4), "chats").unwrap();
        servers.observe(lineage(7, 4), "chats").unwrap();
        let refused = |found| servers.observe(found, "chats").unwrap_err().to_string();
        let older = "the database is away: chats: PostgreSQL refused: timeline 3, newest seen 4";
        assert_eq!(refused(lineage(7, 3)), older);
        let other =
            "the database is away: chats: PostgreSQL refused: system identifier 8, expected 7";
        assert_eq!(refused(lineage(8, 9)), other);
        assert_eq!(servers.newest(), Some(lineage(7, 4)));
    }

    #[tokio::test]
    async fn connection_is_lost_when_a_newer_timeline_is_seen() {
        let servers = KnownServers::default();
        servers.observe(lineage(7, 1), "chats").unwrap();
        let mut origin = servers.origin(0);
        origin.lineage = Some(lineage(7, 1));
        let unknown = servers.origin(0);
        assert_eq!(servers.objection(origin), None);
        let waiting = tokio::spawn({
            let servers = servers.clone();
            async move { servers.lost(origin).await }
        });
        servers.observe(lineage(7, 2), "chats").unwrap();
        let problem = "another server has been promoted".to_owned();
        assert_eq!(waiting.await.unwrap(), StoreError::Unavailable { problem });
        assert_eq!(servers.objection(unknown), None);
    }

    #[test]
    fn host_that_is_given_up_loses_the_connections_that_it_had() {
        let servers = KnownServers::default();
        let (first, second) = (servers.origin(0), servers.origin(1));
        servers.give_up(second);
        servers.give_up(second);
        assert_eq!(servers.objection(first), None);
        assert!(servers.objection(second).is_some());
        let again = servers.origin(1);
        assert_eq!(servers.objection(again), None);
        // Who notices late that the old connection is silent says nothing of the new one.
        servers.give_up(second);
        assert_eq!(servers.objection(again), None);
    }

    #[test]
    fn lineage_is_written_and_read() {
        let text = "7709295786837351920/12";
        assert_eq!(text.parse::<Lineage>().unwrap().to_string(), text);
        for bad in ["", "7", "7/", "/7", "-7/1", "7/1/1", "x/1"] {
            assert!(bad.parse::<Lineage>().is_err(), "{bad}");
        }
    }
}
