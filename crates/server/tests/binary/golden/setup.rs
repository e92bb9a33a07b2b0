//! Who answers in the golden chats, and the server in front of it, which can be killed.

#[path = "../../adk/fake/mod.rs"]
#[expect(dead_code, reason = "the tests of the ADK agent use the rest")]
mod fake;
mod tools;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use self::fake::Fake;
use super::person::{AGENT_KEY, key};
use crate::emulated::Gemini;
use crate::process::{Server, adk_stream};

/// Who answers. Each has a store of its own, since a server has one agent, and takes up every turn
/// that it finds running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agent {
    /// The binary's demo.
    Demo,
    /// The demo with tools that no binary has, behind the library's front door.
    Tools,
    /// The binary, with the emulator as its Gemini.
    Gemini,
    /// The same over Live.
    GeminiLive,
    /// The binary, in front of an ADK server that is not the real one.
    Adk,
}

impl Agent {
    /// Its folder.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Demo => "demo",
            Self::Tools => "tools",
            Self::Gemini => "gemini",
            Self::GeminiLive => "gemini-live",
            Self::Adk => "adk",
        }
    }
}

/// Which kind of store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    /// Its name among what is expected.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// A store: a URL, as the binary takes it, and the folder that holds the file, if it is one.
pub(super) struct Store {
    pub(super) url: String,
    folder: tempfile::TempDir,
}

impl Store {
    /// An empty one.
    pub(super) fn empty(kind: Kind) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = match kind {
            Kind::Sqlite => sqlite(&folder.path().join("journals.db")),
            Kind::Postgres => testkit::postgres::database(),
        };
        Self { url, folder }
    }

    /// A copy of what is kept in a folder.
    pub(super) fn copy(kind: Kind, from: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = match kind {
            Kind::Sqlite => {
                let path = folder.path().join("journals.db");
                std::fs::copy(from.join("journals.db"), &path).unwrap();
                sqlite(&path)
            }
            Kind::Postgres => {
                let sql = std::fs::read_to_string(from.join("journals.sql")).unwrap();
                testkit::postgres::loaded(&sql)
            }
        };
        Self { url, folder }
    }

    /// Has payments take so long that a server can be killed in the middle of one.
    pub(super) fn hold_payments(&self, kind: Kind) {
        match kind {
            Kind::Sqlite => self.execute(
                "CREATE TRIGGER hold BEFORE INSERT ON payment BEGIN
                   SELECT count(*) FROM (
                     WITH RECURSIVE number (it) AS (
                       SELECT 1 UNION ALL SELECT it + 1 FROM number WHERE it < 10000000000)
                     SELECT it FROM number);
                 END",
            ),
            Kind::Postgres => {
                let sql = "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql
                             AS 'BEGIN PERFORM pg_sleep(600); RETURN NEW; END';
                           CREATE TRIGGER hold BEFORE INSERT ON adk_stream.payment
                             FOR EACH ROW EXECUTE FUNCTION hold()";
                testkit::postgres::execute(&self.url, sql);
            }
        }
    }

    /// Undoes that. Nobody may have it open.
    pub(super) fn release_payments(&self, kind: Kind) {
        match kind {
            Kind::Sqlite => self.execute("DROP TRIGGER IF EXISTS hold"),
            Kind::Postgres => {
                let sql = "DROP FUNCTION IF EXISTS hold() CASCADE";
                testkit::postgres::execute(&self.url, sql);
            }
        }
    }

    fn execute(&self, sql: &str) {
        let connection = rusqlite::Connection::open(self.path()).unwrap();
        connection.execute_batch(sql).unwrap();
    }

    /// Keeps it in a folder. Nobody may have it open.
    pub(super) fn keep(&self, kind: Kind, to: &Path) {
        match kind {
            Kind::Sqlite => {
                // As docs/operations.md says to back up, and in small pages: most tables are small.
                let connection = rusqlite::Connection::open(self.path()).unwrap();
                let sql = "PRAGMA page_size = 512";
                connection.execute_batch(sql).unwrap();
                let to = to.join("journals.db").display().to_string();
                connection.execute("VACUUM INTO ?1", [to]).unwrap();
            }
            Kind::Postgres => {
                let sql = testkit::postgres::dump(&self.url, "adk_stream");
                std::fs::write(to.join("journals.sql"), sql).unwrap();
            }
        }
    }

    /// The file, if it is one.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("journals.db")
    }
}

fn sqlite(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

/// The agent behind the server, which outlives it.
pub(super) struct Setup {
    agent: Agent,
    /// Whether what can be held is held, so that a server can be killed meanwhile.
    is_held: bool,
    emulator: Option<Gemini>,
    adk: Option<(Runtime, Fake, SocketAddr)>,
}

/// A server. Dropping it kills it.
pub(super) struct Running {
    pub(super) address: SocketAddr,
    _process: Option<Server>,
    here: Option<Runtime>,
}

impl Setup {
    /// Where everything takes as long as it has to, with what an ADK server kept of its sessions.
    pub(super) fn open(agent: Agent, sessions: &Value) -> Self {
        let setup = Self::new(agent, false, "");
        if let Some((_, adk, _)) = &setup.adk {
            adk.set_free();
            adk.remember(sessions);
        }
        setup
    }

    /// Where what can be held is held, with a script for the emulator.
    pub(super) fn holding(agent: Agent, script: &str) -> Self {
        Self::new(agent, true, script)
    }

    fn new(agent: Agent, is_held: bool, script: &str) -> Self {
        let emulator =
            matches!(agent, Agent::Gemini | Agent::GeminiLive).then(|| Gemini::start(script));
        let adk = (agent == Agent::Adk).then(|| {
            let runtime = runtime();
            let fake = Fake::default();
            let address = runtime.block_on(fake.start());
            (runtime, fake, address)
        });
        Self {
            agent,
            is_held,
            emulator,
            adk,
        }
    }

    /// A server over a store, for the owners of these chats.
    /// One of several, where it is a replica.
    pub(super) fn serve(
        &self,
        store: &str,
        chats: &[String],
        arguments: &[&str],
        is_replica: bool,
    ) -> Running {
        if self.agent == Agent::Tools {
            let keys: Vec<_> = chats.iter().map(|it| format!("{it}={}", key(it))).collect();
            let (runtime, keys) = (runtime(), keys.join(","));
            let address = runtime.block_on(tools::serve(store, &keys, self.is_held));
            return Running {
                address,
                _process: None,
                here: Some(runtime),
            };
        }
        let emulator = self.emulator.as_ref().map(|it| it.address);
        let adk = self.adk.as_ref().map(|(_, _, address)| *address);
        let url = emulator.or(adk).map(|it| format!("http://{it}"));
        let url = url.as_deref().unwrap_or_default();
        let agent = self.agent.name();
        let agent: &[&str] = match self.agent {
            Agent::Demo | Agent::Tools => &[],
            Agent::Gemini | Agent::GeminiLive => {
                &["--agent", agent, "--gemini-base-url", url, "--demo-tools"]
            }
            Agent::Adk => &["--agent", agent, "--adk-app", "app", "--adk-url", url],
        };
        let listen = ["serve", "--listen", "127.0.0.1:0"];
        let keys: String = chats
            .iter()
            .map(|it| format!("{it}={}\n", key(it)))
            .collect();
        let server = adk_stream(&[&listen, agent, arguments].concat())
            .variable("ADK_STREAM_STORE", store)
            .variable("ADK_STREAM_KEYS_FILE", "keys")
            .variable("ADK_STREAM_LOG", "error")
            .variable("ADK_STREAM_GEMINI_KEY", "any-key-will-do")
            .file("keys", keys);
        let server = match self.agent {
            Agent::Adk => server.variable("ADK_STREAM_AGENT_KEY", AGENT_KEY),
            _ => server,
        };
        let server = match is_replica {
            true => server.variable("ADK_STREAM_CLUSTER_KEY", "known-to-this-cluster-alone"),
            false => server,
        };
        let server = server.running();
        Running {
            address: server.address,
            _process: Some(server),
            here: None,
        }
    }

    /// Waits until the ADK server holds this many runs.
    pub(super) fn holds(&self, runs: usize) {
        if let Some((runtime, adk, _)) = &self.adk {
            runtime.block_on(adk.until(|adk| adk.held() >= runs));
        }
    }

    /// What the ADK server has kept of its sessions, once it knows that nobody listens any more.
    pub(super) fn sessions(&self, aborted: usize) -> Value {
        let Some((runtime, adk, _)) = &self.adk else {
            return Value::Null;
        };
        runtime.block_on(adk.until(|adk| adk.aborted() >= aborted));
        adk.kept()
    }

    /// How often the ADK server was asked something in a chat.
    pub(super) fn adk_runs(&self, chat: &str) -> usize {
        let runs = self.adk.as_ref().map(|(_, adk, _)| adk.runs());
        let runs = runs.into_iter().flatten();
        runs.filter(|run| run["userId"] == chat).count()
    }

    /// How often it has paid in a chat.
    pub(super) fn adk_payments(&self, chat: &str) -> usize {
        self.adk.as_ref().map_or(0, |(_, adk, _)| adk.paid_in(chat))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(runtime) = self.here.take() {
            // As a process that is killed: nothing comes to its end.
            runtime.shutdown_timeout(std::time::Duration::from_secs(5));
        }
    }
}

fn runtime() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().unwrap()
}
