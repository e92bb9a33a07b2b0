//! The runtime that the server runs on.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// How often a worker looks for what other threads have woken: at every so many tasks that it goes on
/// with. At every one, those in its own queue would starve where a crowd writes.
const LOOK: u32 = 3;

/// A runtime as the binary has it, for programs that serve an [`Api`](crate::Api) of their own.
///
/// It looks often for what other threads have woken. By one of them comes that an entry is on the disk:
/// whoever waits for it has nearly done, and need not wait behind all who have just begun.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .enable_all()
        .global_queue_interval(LOOK)
        .build()
}
