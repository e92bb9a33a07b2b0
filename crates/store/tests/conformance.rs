//! The stores of this crate, held against the suite that every store passes.

// Helpers of tests stop as tests do.
#![allow(clippy::unwrap_used)]

// The suite is a feature of the crate, and a package can't switch a feature on for its own tests.
// So it is compiled in here, which also proves that it needs nothing that a user's store lacks.
#[path = "../src/conformance/mod.rs"]
#[allow(unreachable_pub)]
mod conformance;

// What the suite knows as its crate.
use adk_stream_store::{
    Appended, Bounds, ChatChange, ChatPage, ChatQuery, Closed, GatePage, GateRecord, Holder,
    Journal, LabelChange, Location, NewEntry, OpenGate, StoreError, Stores, Tail, TitleChange,
    Usage, open,
};

mod memory {
    use super::{Location, Stores, open};

    async fn open_empty() -> (Stores, ()) {
        (open(Location::Memory).await.unwrap(), ())
    }

    crate::conformance!(open_empty);
}

mod sqlite {
    use tempfile::TempDir;

    use super::{Location, Stores, open};

    async fn open_empty() -> (Stores, TempDir) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("chats.db");
        (open(Location::Sqlite(path)).await.unwrap(), folder)
    }

    crate::conformance!(open_empty);
}

mod postgres {
    use super::{Location, Stores, open};

    async fn open_empty() -> (Stores, ()) {
        let url = Box::new(testkit::postgres::database().parse().unwrap());
        (open(Location::Postgres(url)).await.unwrap(), ())
    }

    crate::conformance!(open_empty);
}
