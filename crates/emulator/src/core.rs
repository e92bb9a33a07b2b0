//! What all connections of an emulator share.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::broadcast;

use crate::closing::Closing;
use crate::command::Command;
use crate::log::{Happening, Log};
use crate::options::Options;
use crate::playbook::Playbook;
use crate::resumption::Handles;
use crate::stats::Counters;

/// What all connections of an emulator share.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) options: Options,
    pub(crate) playbook: Playbook,
    pub(crate) log: Log,
    pub(crate) counters: Counters,
    pub(crate) handles: Handles,
    /// What is to be done to the sockets that are open.
    pub(crate) commands: broadcast::Sender<Command>,
    /// That the emulator ends.
    pub(crate) closing: Closing,
    /// Names differ from those of other emulators.
    salt: u32,
    names: AtomicU64,
}

/// A request or a socket, as it is written down.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    core: Arc<Core>,
    id: u64,
}

impl Core {
    pub(crate) fn new(options: Options, closing: Closing) -> Self {
        Self {
            playbook: Playbook::new(options.script.clone()),
            options,
            log: Log::new(),
            counters: Counters::new(),
            handles: Handles::default(),
            commands: broadcast::Sender::new(64),
            closing,
            salt: RandomState::new().hash_one(()) as u32,
            names: AtomicU64::new(0),
        }
    }

    /// A name that was not given before.
    pub(crate) fn name(&self, kind: &str) -> String {
        let number = self.names.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{kind}-{:08x}-{number}", self.salt)
    }
}

impl Exchange {
    pub(crate) fn new(core: &Arc<Core>) -> Self {
        Self {
            id: core.log.exchange(),
            core: core.clone(),
        }
    }

    /// Writes down what happens.
    pub(crate) fn write(&self, happening: Happening) {
        self.core.log.write(self.id, happening);
    }
}
