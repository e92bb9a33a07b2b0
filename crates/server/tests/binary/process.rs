//! The binary, started by the launcher of the tests.

use std::ops::{Deref, DerefMut};

use testkit::launcher::{self, Process};

/// A start of the binary, which becomes a [`Server`].
pub(crate) type Start = launcher::Start<Server>;

/// A running server, killed when it is dropped.
pub(crate) struct Server(Process);

impl From<Process> for Server {
    fn from(process: Process) -> Self {
        Self(process)
    }
}

impl Deref for Server {
    type Target = Process;

    fn deref(&self) -> &Process {
        &self.0
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut Process {
        &mut self.0
    }
}

/// How often a race or a kill is repeated: a few times in `make test`, many times in `make test-long`.
pub(crate) fn repetitions(few: usize, many: usize) -> usize {
    let is_long = std::env::var("TEST_LONG").is_ok_and(|value| value == "1");
    if is_long { many } else { few }
}

/// `adk-stream ARGUMENTS`, in an empty folder.
pub(crate) fn adk_stream(arguments: &[&str]) -> Start {
    Start::new(env!("CARGO_BIN_EXE_adk-stream"), arguments)
        // Tests ask as fast as they can until something has happened.
        .variable("ADK_STREAM_MAX_REQUESTS_PER_SECOND", "none")
}

/// A server on a free port.
pub(crate) fn serve() -> Server {
    adk_stream(&["serve", "--listen", "127.0.0.1:0"]).running()
}
