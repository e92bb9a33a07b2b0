//! The runtime that the server runs on.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// How often a worker checks for tasks that other threads have woken: after this many tasks that it
/// has run. After every one, those in its own queue would starve under many writers.
const CHECK_INTERVAL: u32 = 3;

/// A runtime as the binary has it, for programs that serve an [`Api`](crate::Api) of their own.
///
/// It checks often for tasks that other threads have woken. One of those reports that an entry is on
/// the disk: its waiter is nearly done, and need not wait behind all that have just begun.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .enable_all()
        .global_queue_interval(CHECK_INTERVAL)
        .build()
}
