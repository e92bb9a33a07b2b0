//! Servers over one PostgreSQL whose clocks disagree: the database's counts.

use std::time::Duration;

use store::Location;

use crate::replicas::Cluster;

const MINUTE: Duration = Duration::from_secs(60);

async fn cluster() -> Cluster {
    let mut cluster = Cluster::new().await;
    let url = testkit::postgres::database().parse().unwrap();
    let stores = store::open(Location::Postgres(Box::new(url))).await;
    cluster.journal = stores.unwrap().journal;
    cluster
}

impl Cluster {
    /// When the lease of the chat ends.
    async fn lease_ends(&self) -> turn::At {
        let lease = self.journal.lease(&self.chat).await.unwrap();
        lease.unwrap().expires
    }

    /// Waits until the server that has the chat has looked around once more.
    async fn until_maintained(&self) {
        // Leases are renewed at the beginning of it.
        for _ in 0..2 {
            let before = self.lease_ends().await;
            while self.lease_ends().await == before {
                tokio::task::yield_now().await;
            }
        }
    }
}

#[tokio::test]
async fn a_server_whose_clock_is_ahead_does_not_close_the_questions_of_others() {
    let mut cluster = cluster().await;
    cluster.lease = Duration::from_secs(2);
    cluster.timeout = Some(MINUTE / 2);
    let right = cluster.server("right");
    cluster.say(&right).await;
    cluster.clock_ahead = MINUTE;
    let ahead = cluster.server("ahead");
    // As it does before it starts.
    ahead.compare_clocks().await.unwrap();
    let asked = std::mem::replace(&mut cluster.chat, "chat-2".into());
    cluster.say(&ahead).await;
    cluster.until_maintained().await;
    let open = ahead.approvals(&cluster.ann).await.unwrap();
    assert!(open.iter().any(|open| open.chat == asked), "{open:?}");
    // Nor are its own questions open for longer.
    let deadlines: Vec<_> = open.iter().filter_map(|open| open.gate.expires).collect();
    let now = cluster.journal.time().await.unwrap();
    assert!(
        deadlines.iter().all(|at| *at <= now + MINUTE / 2),
        "{deadlines:?} at {now:?}"
    );
}

#[tokio::test]
async fn the_lease_of_a_dead_server_whose_clock_was_ahead_ends_in_time() {
    let mut cluster = cluster().await;
    cluster.lease = Duration::from_secs(1);
    let right = cluster.server("right");
    cluster.clock_ahead = MINUTE;
    let ahead = cluster.server("ahead");
    cluster.say(&ahead).await;
    drop(ahead);
    cluster.kill("ahead");
    let now = cluster.journal.time().await.unwrap();
    assert!(cluster.lease_ends().await <= now + cluster.lease);
    assert!(cluster.approve(&right).await);
    cluster.until_finished(&right).await;
}
