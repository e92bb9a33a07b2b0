//! What every ledger has to do. Each check takes one that nobody else uses.

use std::sync::Arc;

use tokio::task::JoinSet;
use turn::{At, Principal};

use engine::Fence;

use adk_stream_demo::{Ledger, Paid, Payment, Refused};

pub(crate) fn payment(transaction: &str, cents: u64) -> Payment {
    Payment {
        transaction: transaction.into(),
        call: "c".into(),
        recipient: "Hanako 花子".into(),
        cents,
        description: "rent".into(),
        at: At(7),
        fence: None,
    }
}

pub(crate) fn paid(balance_cents: u64) -> Result<Paid, Refused> {
    Ok(Paid { balance_cents })
}

fn refused(balance_cents: u64) -> Result<Paid, Refused> {
    Err(Refused::InsufficientFunds { balance_cents })
}

/// Every principal starts with 1000.00, in a wallet of their own.
pub(crate) async fn everybody_starts_with_the_same(ledger: Arc<dyn Ledger>) {
    let (ann, bob) = (Principal::from("ann"), Principal::from("bob"));
    let wallet = ledger.wallet(&ann).await.expect("the store works");
    assert_eq!(wallet.balance_cents, 100_000);
    assert_eq!(wallet.payments, []);
    let answer = ledger.pay(&ann, payment("1", 5_000)).await;
    assert_eq!(answer, Ok(paid(95_000)));
    // Bob's transaction of the same name is another.
    let answer = ledger.pay(&bob, payment("1", 1)).await;
    assert_eq!(answer, Ok(paid(99_999)));
    let wallet = ledger.wallet(&ann).await.expect("the store works");
    assert_eq!(wallet.balance_cents, 95_000);
    assert_eq!(wallet.payments, [payment("1", 5_000)]);
}

/// The same transaction again is the same payment, whatever happened since.
pub(crate) async fn a_transaction_is_paid_once(ledger: Arc<dyn Ledger>) {
    let ann = Principal::from("ann");
    assert_eq!(ledger.pay(&ann, payment("1", 100)).await, Ok(paid(99_900)));
    assert_eq!(ledger.pay(&ann, payment("2", 200)).await, Ok(paid(99_700)));
    assert_eq!(ledger.pay(&ann, payment("1", 100)).await, Ok(paid(99_900)));
    assert_eq!(ledger.pay(&ann, payment("1", 999)).await, Ok(paid(99_900)));
    let wallet = ledger.wallet(&ann).await.expect("the store works");
    assert_eq!(wallet.balance_cents, 99_700);
    assert_eq!(wallet.payments, [payment("1", 100), payment("2", 200)]);
}

/// A server that another one has replaced pays nothing any more; what it has paid stays paid.
pub(crate) async fn a_lower_epoch_is_refused(ledger: Arc<dyn Ledger>) {
    let ann = Principal::from("ann");
    let fence = |scope: &str, epoch| Fence {
        scope: scope.into(),
        epoch,
    };
    let under = |transaction: &str, fence| Payment {
        fence: Some(fence),
        ..payment(transaction, 100)
    };
    let first = under("1", fence("chat", 0));
    assert_eq!(ledger.pay(&ann, first.clone()).await, Ok(paid(99_900)));
    assert_eq!(ledger.raise_fence(&fence("chat", 1)).await, Ok(()));
    let late = under("2", fence("chat", 0));
    assert_eq!(ledger.pay(&ann, late).await, Ok(Err(Refused::Fenced)));
    assert_eq!(ledger.pay(&ann, first).await, Ok(paid(99_900)));
    // Its successor, and other chats, pay. A payment raises the fence as well, and nothing lowers it.
    let next = under("3", fence("chat", 2));
    assert_eq!(ledger.pay(&ann, next).await, Ok(paid(99_800)));
    assert_eq!(ledger.raise_fence(&fence("chat", 0)).await, Ok(()));
    let late = under("4", fence("chat", 1));
    assert_eq!(ledger.pay(&ann, late).await, Ok(Err(Refused::Fenced)));
    let other = under("5", fence("other", 0));
    assert_eq!(ledger.pay(&ann, other).await, Ok(paid(99_700)));
    let wallet = ledger.wallet(&ann).await.expect("the store works");
    assert_eq!((wallet.balance_cents, wallet.payments.len()), (99_700, 3));
}

/// How a call that ran twice gives itself away.
pub(crate) async fn two_transactions_of_one_call_are_two_payments(ledger: Arc<dyn Ledger>) {
    let ann = Principal::from("ann");
    let (first, second) = (payment("1", 100), payment("2", 100));
    assert_eq!(first.call, second.call);
    assert_eq!(ledger.pay(&ann, first).await, Ok(paid(99_900)));
    assert_eq!(ledger.pay(&ann, second).await, Ok(paid(99_800)));
}

/// A wallet can be emptied and not more; a refused transaction is not paid later.
pub(crate) async fn too_little_is_refused_and_stays_refused(ledger: Arc<dyn Ledger>) {
    let ann = Principal::from("ann");
    let too_much = [payment("1", 100_001), payment("max", u64::MAX)];
    for payment in too_much {
        assert_eq!(ledger.pay(&ann, payment).await, Ok(refused(100_000)));
    }
    assert_eq!(ledger.pay(&ann, payment("2", 100_000)).await, Ok(paid(0)));
    assert_eq!(ledger.pay(&ann, payment("3", 1)).await, Ok(refused(0)));
    assert_eq!(ledger.pay(&ann, payment("4", 0)).await, Ok(paid(0)));
    let again = ledger.pay(&ann, payment("1", 100_001)).await;
    assert_eq!(again, Ok(refused(100_000)));
    let wallet = ledger.wallet(&ann).await.expect("the store works");
    assert_eq!(wallet.balance_cents, 0);
    assert_eq!(wallet.payments, [payment("2", 100_000), payment("4", 0)]);
}

/// A hundred payments at once of 30.00 each: as many as there is money for.
pub(crate) async fn payments_at_once_never_overdraw(ledger: Arc<dyn Ledger>) {
    let mut payers = JoinSet::new();
    for transaction in 0..100 {
        let ledger = Arc::clone(&ledger);
        payers.spawn(async move {
            let payment = payment(&transaction.to_string(), 3_000);
            ledger.pay(&"ann".into(), payment).await
        });
    }
    let answers = payers.join_all().await;
    let mut balances: Vec<_> = answers
        .into_iter()
        .filter_map(|answer| match answer.expect("the store works") {
            Ok(Paid { balance_cents }) => Some(balance_cents),
            Err(Refused::InsufficientFunds { balance_cents }) => {
                assert!(balance_cents < 3_000);
                None
            }
            Err(Refused::Fenced) => panic!("nobody raised a fence"),
        })
        .collect();
    balances.sort_unstable();
    let expected: Vec<_> = (0..33).map(|paid| 1_000 + paid * 3_000).collect();
    assert_eq!(balances, expected);
    let wallet = ledger.wallet(&"ann".into()).await;
    let wallet = wallet.expect("the store works");
    assert_eq!((wallet.balance_cents, wallet.payments.len()), (1_000, 33));
}

/// One transaction asked for by many at once.
pub(crate) async fn one_transaction_many_times_at_once_is_paid_once(ledger: Arc<dyn Ledger>) {
    let mut payers = JoinSet::new();
    for _ in 0..50 {
        let ledger = Arc::clone(&ledger);
        payers.spawn(async move { ledger.pay(&"ann".into(), payment("1", 100)).await });
    }
    for answer in payers.join_all().await {
        assert_eq!(answer, Ok(paid(99_900)));
    }
    let wallet = ledger.wallet(&"ann".into()).await;
    assert_eq!(wallet.map(|wallet| wallet.payments.len()), Ok(1));
}
