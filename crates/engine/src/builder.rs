//! How an engine is made: all that it has to know is said before it starts.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agents::Agent;
use store::Journal;

use crate::asked::Asked;
use crate::deadlines::Deadlines;
use crate::driver::{CONFLICTS, Settings};
use crate::engine::{Engine, Shared};
use crate::error::EngineError;
use crate::id;
use crate::maintenance::Left;
use crate::replica::{Held, Replica};
use crate::resting::{MEMORY, Resting};
use crate::tools::Tools;

/// An engine that is about to start: [`Engine::builder`].
pub struct EngineBuilder {
    journal: Arc<dyn Journal>,
    agent: Arc<dyn Agent>,
    settings: Settings,
    idle: Duration,
    resting_memory: usize,
    replica: Option<Replica>,
}

impl Engine {
    /// An engine over a journal, with an agent and the tools that it may call.
    pub fn builder(
        journal: Arc<dyn Journal>,
        agent: Arc<dyn Agent>,
        tools: Tools,
    ) -> EngineBuilder {
        let settings = Settings {
            tools,
            hears: agent.hears(),
            approval_timeout: None,
            client_timeout: None,
            server: None,
            conflicts: CONFLICTS,
            ids: Box::new(id::fresh),
        };
        EngineBuilder {
            journal,
            agent,
            settings,
            idle: Duration::from_secs(30),
            resting_memory: MEMORY,
            replica: None,
        }
    }
}

impl EngineBuilder {
    /// Lets chats go once nothing has happened to them for so long, and with them what an agent keeps
    /// open for them: 30 seconds, if nothing is said.
    #[must_use]
    pub fn idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// Keeps chats that nothing happens to at hand within so many bytes, by estimate, the least recently
    /// used let go first: 64 MB, if nothing is said.
    #[must_use]
    pub fn resting_memory(mut self, bytes: usize) -> Self {
        self.resting_memory = bytes;
        self
    }

    /// Takes questions of an agent that runs its tools by itself back after so long, where it says
    /// nothing of it: never, if nothing is said.
    #[must_use]
    pub fn approval_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.settings.approval_timeout = timeout;
        self
    }

    /// Gives pages so long for a call that says nothing of it: for ever, if nothing is said.
    #[must_use]
    pub fn client_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.settings.client_timeout = timeout;
        self
    }

    /// Makes it one of several servers over one store.
    #[must_use]
    pub fn replica(mut self, replica: Replica) -> Self {
        self.settings.server = Some(replica.holder.owner.clone());
        self.replica = Some(replica);
        self
    }

    /// Starts it: turns that were running when an earlier process ended are taken up, and from now on
    /// whatever needs going on with is gone on with.
    pub async fn start(self) -> Result<Engine, EngineError> {
        let engine = self.build();
        engine.recover().await?;
        tokio::spawn(engine.clone().keep());
        Ok(engine)
    }

    /// The engine without what it does by itself: for tests, which do it step by step.
    #[doc(hidden)]
    pub fn build(self) -> Engine {
        let shared = Shared {
            journal: self.journal,
            agent: self.agent,
            settings: Arc::new(self.settings),
            idle: self.idle,
            replica: self.replica,
            held: Held::default(),
            asked: Asked::default(),
            deadlines: Deadlines::default(),
            resting: Resting::new(self.resting_memory),
            left: Left::default(),
            is_leaving: AtomicBool::new(false),
            chats: Mutex::default(),
            attending: Mutex::default(),
        };
        Engine {
            shared: Arc::new(shared),
        }
    }
}
