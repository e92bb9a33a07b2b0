//! What is kept for a chat.

use std::sync::Arc;

use gemini::FunctionCall;
use tokio::sync::{Mutex, mpsc};
use turn::agent::{Past, StepRequest, is_speech};

use super::Shared;
use super::step::Step;
use super::told::Told;
use super::upstream::Upstream;
use crate::agent::{AgentStream, Conversation, Heard};
use crate::gemini::Failure;
use crate::narrated::narrated;

/// How many pieces of sound may wait for the session to be open: some ten seconds of them.
const SOUNDS: usize = 256;

/// A conversation with one chat.
pub(super) struct Talk {
    shared: Arc<Shared>,
    line: Arc<Mutex<Line>>,
    /// Where the step that listens hears.
    ear: Option<mpsc::Sender<Heard>>,
}

/// What outlives a step: the session, and what it was told. A step holds it as long as it is listened
/// to, and the next one waits until it is let go.
#[derive(Default)]
pub(super) struct Line {
    pub(super) upstream: Option<Upstream>,
    pub(super) told: Option<Told>,
    /// Whether the model is in the middle of an answer that nobody hears any more.
    pub(super) is_talking: bool,
    /// Whether the session was told only a part of what `told` would say: a step was let go of in the
    /// middle of asking.
    pub(super) is_half_told: bool,
    /// Whether the connection will be closed.
    pub(super) is_leaving: bool,
    /// Calls that came when no step was there to make them.
    pub(super) late: Vec<FunctionCall>,
}

impl Line {
    /// The session, which a step has opened.
    pub(super) fn upstream(&mut self) -> Result<&mut Upstream, Failure> {
        self.upstream.as_mut().ok_or_else(Failure::cut_off)
    }
}

impl Talk {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            line: Arc::default(),
            ear: None,
        }
    }
}

impl Conversation for Talk {
    fn step(&mut self, request: StepRequest) -> AgentStream {
        let (ear, heard) = mpsc::channel(SOUNDS);
        let is_spoken = match request.history.last() {
            Some(Past::Message(message)) => is_speech(message),
            _ => false,
        };
        self.ear = is_spoken.then_some(ear);
        let (shared, line) = (self.shared.clone(), self.line.clone());
        narrated(|narrator| async move {
            let mut line = line.lock_owned().await;
            let mut step = Step::new(&shared, &request, &narrator, is_spoken.then_some(heard));
            step.run(&mut line).await;
        })
    }

    fn hear(&mut self, heard: Heard) {
        if let Some(ear) = &self.ear {
            // Who speaks faster than the network takes it is not understood whole.
            let _ = ear.try_send(heard);
        }
    }
}
