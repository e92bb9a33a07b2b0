//! An emulator, from its start to its end.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use agents::Agent;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::certificate::Certificate;
use crate::closing::Closing;
use crate::command::Command;
use crate::core::Core;
use crate::error::Error;
use crate::log::Entry;
use crate::options::{Frames, Keys, Options};
use crate::responder::Responder;
use crate::script::Script;
use crate::signature::Signatures;
use crate::stats::Stats;
use crate::{listener, routes};

/// A Gemini on loopback. It ends when this is dropped.
pub struct Emulator {
    core: Arc<Core>,
    address: SocketAddr,
    certificate: String,
    closing: watch::Sender<bool>,
    server: JoinHandle<()>,
}

/// How an emulator is to be.
#[derive(Debug, Clone)]
pub struct Builder {
    options: Options,
    listen: String,
}

impl Emulator {
    /// An emulator as it is by default: on a free port of 127.0.0.1, with the demo as its responder.
    pub fn builder() -> Builder {
        Builder {
            options: Options::default(),
            listen: "127.0.0.1:0".to_owned(),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its base URL, for clients that do without TLS.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its base URL, for clients that trust [`Emulator::certificate`].
    pub fn secure_url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The URL of Live, without TLS.
    pub fn live_url(&self) -> String {
        format!("ws://{}{}", self.address, crate::live::PATH)
    }

    /// What a client has to trust, as PEM.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Follows this script from now on, and no other.
    pub fn set_script(&self, script: impl Into<Script>) -> Result<(), Error> {
        let script = script.into();
        script.check()?;
        self.core.playbook.replace(script);
        Ok(())
    }

    /// Adds to the script.
    pub fn add_script(&self, script: impl Into<Script>) -> Result<(), Error> {
        let script = script.into();
        script.check()?;
        self.core.playbook.extend(script);
        Ok(())
    }

    /// Does something to the live sockets that are open: to how many.
    pub fn command(&self, command: Command) -> usize {
        // No socket is open: nothing to do.
        self.core.commands.send(command).unwrap_or(0)
    }

    /// The requests and responses so far.
    pub fn log(&self) -> Vec<Entry> {
        self.core.log.after(0)
    }

    /// Clears the log.
    pub fn clear_log(&self) {
        self.core.log.clear();
    }

    /// Waits until something was written down, also if it was before: the first that is so.
    pub async fn logged(&self, mut is_so: impl FnMut(&Entry) -> bool) -> Entry {
        let mut watch = self.core.log.watch();
        let mut after = 0;
        loop {
            watch.mark_unchanged();
            for entry in self.core.log.after(after) {
                after = entry.seq;
                if is_so(&entry) {
                    return entry;
                }
            }
            if watch.changed().await.is_err() {
                // The log lives as long as the emulator does.
                std::future::pending::<()>().await;
            }
        }
    }

    /// What is open now, and what ever was.
    pub fn stats(&self) -> Stats {
        *self.core.counters.watch().borrow()
    }

    /// Waits until the counts are so.
    pub async fn counted(&self, is_so: impl FnMut(&Stats) -> bool) -> Stats {
        let mut watch = self.core.counters.watch();
        match watch.wait_for(is_so).await {
            Ok(stats) => *stats,
            Err(_) => self.stats(),
        }
    }

    /// Ends, once the answers under way have ended, or after this time. Live sockets are closed.
    pub async fn shut_down(mut self, grace: Duration) {
        self.closing.send_replace(true);
        let ended = async {
            let _ = (&mut self.server).await;
            // Sockets hold on to it, too.
            self.core
                .counters
                .watch()
                .wait_for(|stats| stats.sockets_open == 0)
                .await
                .is_ok()
        };
        let _ = tokio::time::timeout(grace, ended).await;
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.closing.send_replace(true);
        self.server.abort();
    }
}

impl fmt::Debug for Emulator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Emulator({})", self.url())
    }
}

impl Builder {
    /// Listens here: `HOST:PORT`, where port 0 means any that is free.
    #[must_use]
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.listen = address.into();
        self
    }

    /// Takes these keys, and no others. By default every key is taken but `bad`.
    #[must_use]
    pub fn keys(mut self, keys: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.options.keys = Keys::Only(keys.into_iter().map(Into::into).collect());
        self
    }

    /// Answers with this agent, in place of the demo.
    #[must_use]
    pub fn agent(mut self, agent: Arc<dyn Agent>) -> Self {
        self.options.responder = Responder {
            parallel: agent.clone(),
            one_by_one: agent,
        };
        self
    }

    /// Answers with the demo, with this pause between its words.
    #[must_use]
    pub fn pace(mut self, pace: Duration) -> Self {
        self.options.responder = Options::demo(pace);
        self
    }

    /// How live frames are sent.
    #[must_use]
    pub fn frames(mut self, frames: Frames) -> Self {
        self.options.frames = frames;
        self
    }

    /// Which models give thought signatures, and want them back.
    #[must_use]
    pub fn signatures(mut self, signatures: Signatures) -> Self {
        self.options.signatures = signatures;
        self
    }

    /// Whether calls have ids in generateContent. In Live they always have.
    #[must_use]
    pub fn call_ids(mut self, call_ids: bool) -> Self {
        self.options.call_ids = call_ids;
        self
    }

    /// How long a live connection lasts; `goAway` comes a minute before its end, or at half of it.
    #[must_use]
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.options.lifetime = lifetime;
        self
    }

    /// Follows this script from the start.
    #[must_use]
    pub fn script(mut self, script: impl Into<Script>) -> Self {
        self.options.script = script.into();
        self
    }

    /// Starts it. It serves as long as what is returned lives.
    pub async fn start(self) -> Result<Emulator, Error> {
        self.options.script.check()?;
        let host = self.listen.rsplit_once(':').map_or("", |(host, _)| host);
        let certificate = Certificate::new(host.trim_matches(['[', ']']))?;
        let listener = TcpListener::bind(&self.listen)
            .await
            .map_err(Error::Listen)?;
        let address = listener.local_addr().map_err(Error::Listen)?;
        let (closing, is_closing) = Closing::new();
        let core = Arc::new(Core::new(self.options, is_closing.clone()));
        let router = routes::router(core.clone());
        let server = listener::serve(listener, certificate.acceptor, router, is_closing);
        Ok(Emulator {
            core,
            address,
            certificate: certificate.pem,
            closing,
            server: tokio::spawn(server),
        })
    }
}
