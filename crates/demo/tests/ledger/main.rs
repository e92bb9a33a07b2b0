//! The demo's wallets, on every store.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod checks;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use adk_stream_demo::{Ledger, Payment, ledger};
use store::{Location, PostgresUrl};
use tempfile::TempDir;
use testkit::postgres::Cluster;
use tokio::sync::watch;
use turn::At;

/// The wallets of a store, which is opened first, as the server does.
async fn open(location: Location) -> Arc<dyn Ledger> {
    store::open(location.clone()).await.unwrap();
    ledger::open(location).await.unwrap()
}

fn file(folder: &Path) -> Location {
    Location::Sqlite(folder.join("chats.db"))
}

fn database(url: &str) -> Location {
    Location::Postgres(Box::new(url.parse().unwrap()))
}

/// A test of every check.
macro_rules! checks {
    ($open:path; $($check:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                let (ledger, _kept) = $open().await;
                crate::checks::$check(ledger).await;
            }
        )*
    };
    ($open:path) => {
        checks! { $open;
            everybody_starts_with_the_same
            a_transaction_is_paid_once
            a_lower_epoch_is_refused
            two_transactions_of_one_call_are_two_payments
            too_little_is_refused_and_stays_refused
            payments_at_once_never_overdraw
            one_transaction_many_times_at_once_is_paid_once
        }
    };
}

mod memory {
    use super::*;

    async fn empty() -> (Arc<dyn Ledger>, ()) {
        (open(Location::Memory).await, ())
    }

    checks!(empty);
}

mod sqlite {
    use super::*;

    async fn empty() -> (Arc<dyn Ledger>, TempDir) {
        let folder = TempDir::new().unwrap();
        (open(file(folder.path())).await, folder)
    }

    checks!(empty);
}

mod postgres {
    use super::*;

    async fn empty() -> (Arc<dyn Ledger>, ()) {
        (open(database(&testkit::postgres::database())).await, ())
    }

    checks!(empty);
}

/// What a wallet holds that somebody paid 12.50 from, and another server sees.
async fn pay_at_two(location: Location) {
    let here = open(location.clone()).await;
    let there = open(location).await;
    let ann = "ann".into();
    let paid = here.pay(&ann, checks::payment("1", 1_250)).await;
    assert_eq!(paid, Ok(checks::paid(98_750)));
    assert_eq!(there.wallet(&ann).await.unwrap().balance_cents, 98_750);
    let again = there.pay(&ann, checks::payment("1", 1_250)).await;
    assert_eq!(again, paid);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_over_one_store_share_the_wallets() {
    let folder = TempDir::new().unwrap();
    pay_at_two(file(folder.path())).await;
    pay_at_two(database(&testkit::postgres::database())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_start_at_once_create_the_tables_once() {
    let location = database(&testkit::postgres::database());
    store::open(location.clone()).await.unwrap();
    let mut opening = tokio::task::JoinSet::new();
    for _ in 0..8 {
        opening.spawn(ledger::open(location.clone()));
    }
    for opened in opening.join_all().await {
        opened.map(drop).unwrap();
    }
}

#[tokio::test]
async fn a_wallet_survives_a_restart() {
    let folder = TempDir::new().unwrap();
    let paid = {
        let ledger = open(file(folder.path())).await;
        ledger.pay(&"ann".into(), checks::payment("1", 5_000)).await
    };
    let ledger = open(file(folder.path())).await;
    let again = ledger.pay(&"ann".into(), checks::payment("1", 5_000)).await;
    assert_eq!(again, paid);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_whose_answer_was_lost_is_paid_once() {
    let cluster = Cluster::start();
    // Longer than anything here takes.
    let url: PostgresUrl = cluster.database("chats").parse().unwrap();
    let url = url.with_time_limit(Duration::from_secs(60));
    let ledger = open(Location::Postgres(Box::new(url))).await;
    let paid = watch::Sender::new(0_u64);
    let mut paid_count = paid.subscribe();
    let payer = {
        let ledger = Arc::clone(&ledger);
        tokio::spawn(async move {
            for n in 0..100_u64 {
                let payment = Payment {
                    transaction: n.to_string(),
                    call: "c".into(),
                    recipient: "Hanako".into(),
                    cents: 10,
                    description: "rent".into(),
                    at: At(n),
                    fence: None,
                };
                // As a tool does that may run again under the same key.
                while ledger.pay(&"ann".into(), payment.clone()).await.is_err() {}
                paid.send_replace(n + 1);
            }
        })
    };
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = 'adk-stream'";
    for killed in 1..10 {
        paid_count
            .wait_for(|paid| *paid >= killed * 10)
            .await
            .unwrap();
        tokio::task::block_in_place(|| cluster.sql("chats", kill));
    }
    payer.await.unwrap();
    let wallet = ledger.wallet(&"ann".into()).await.unwrap();
    assert_eq!((wallet.balance_cents, wallet.payments.len()), (99_000, 100));
}
