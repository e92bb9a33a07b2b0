//! The runtime that the server runs on.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// A runtime as the binary has it, for programs that serve an [`Api`](crate::Api) of their own.
///
/// What comes from other threads goes before what waits in a worker's own queue. From there comes that
/// an entry is on the disk: whoever waits for it has nearly done, and those behind it have just begun.
/// They are not held up for long, since it is they who write entries.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .enable_all()
        .global_queue_interval(1)
        .build()
}
