//! How an engine is made: all that it has to know is said before it starts.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agents::Agent;
use store::Journal;

use crate::approval_index::ApprovalIndex;
use crate::clock::Clock;
use crate::deadlines::Deadlines;
use crate::driver::{CONFLICTS, Settings};
use crate::engine::{Engine, Shared};
use crate::error::EngineError;
use crate::id;
use crate::maintenance::RetryQueue;
use crate::replica::{LeasedChats, Replica};
use crate::resting::{MEMORY, Resting};
use tools::Tools;

/// An engine that is about to start: [`Engine::builder`].
pub struct EngineBuilder {
    journal: Arc<dyn Journal>,
    agent: Arc<dyn Agent>,
    settings: Settings,
    agent_name: Option<String>,
    idle: Duration,
    resting_memory: usize,
    replica: Option<Replica>,
    clock_ahead: Duration,
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
            supports_audio: agent.supports_audio(),
            takes_injections: agent.takes_injections(),
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
            agent_name: None,
            idle: Duration::from_secs(30),
            resting_memory: MEMORY,
            replica: None,
            clock_ahead: Duration::ZERO,
        }
    }
}

impl EngineBuilder {
    /// Shows people this name of the agent: the agent's own, which says what kind it is, if nothing is
    /// said.
    #[must_use]
    pub fn agent_name(mut self, name: impl Into<String>) -> Self {
        self.agent_name = Some(name.into());
        self
    }

    /// Evicts chats once nothing has happened to them for so long, and with them what an agent keeps
    /// open for them: 30 seconds, if nothing is said.
    #[must_use]
    pub fn idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// Limits the memory of idle chats to this many bytes, by estimate; the least recently used are
    /// evicted first. The default is 64 MB.
    #[must_use]
    pub fn resting_memory(mut self, bytes: usize) -> Self {
        self.resting_memory = bytes;
        self
    }

    /// Default timeout for questions from agents that run their own tools, and for approvals of tools
    /// without a timeout of their own. Default: none.
    #[must_use]
    pub fn approval_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.settings.approval_timeout = timeout;
        self
    }

    /// Default timeout for calls that a page runs. Default: none.
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

    /// Has the clock of this machine be ahead: for tests of what a wrong clock does.
    #[doc(hidden)]
    #[must_use]
    pub fn clock_ahead(mut self, by: Duration) -> Self {
        self.clock_ahead = by;
        self
    }

    /// Starts the engine: it resumes turns that were running when an earlier process ended, and begins
    /// its background maintenance.
    pub async fn start(self) -> Result<Engine, EngineError> {
        let engine = self.build();
        engine.compare_clocks().await?;
        engine.meet_peers().await;
        engine.recover().await?;
        tokio::spawn(engine.clone().keep());
        Ok(engine)
    }

    /// The engine without what it does by itself: for tests, which do it step by step.
    #[doc(hidden)]
    pub fn build(self) -> Engine {
        let shared = Shared {
            journal: self.journal,
            agent_name: match self.agent_name {
                Some(name) => name,
                None => self.agent.name().to_owned(),
            },
            agent: self.agent,
            settings: Arc::new(self.settings),
            idle: self.idle,
            replica: self.replica,
            leased: LeasedChats::default(),
            approvals: ApprovalIndex::default(),
            clock: Clock::new(self.clock_ahead),
            deadlines: Deadlines::default(),
            resting: Resting::new(self.resting_memory),
            retries: RetryQueue::default(),
            is_leaving: AtomicBool::new(false),
            chats: Mutex::default(),
            viewers: Mutex::default(),
        };
        Engine {
            shared: Arc::new(shared),
        }
    }
}
