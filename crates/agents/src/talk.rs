//! A conversation with one chat: step after step, over a line that outlives them.

use std::sync::Arc;

use tokio::sync::{Mutex, mpsc};
use turn::agent::{Past, StepRequest};

use crate::agent::{AgentStream, Conversation, Heard};
use crate::event_sender::{EventSender, stream_from_fn};

/// How many pieces of sound may wait for a line to be open: some ten seconds of them.
const SOUNDS: usize = 256;

/// Where a step hears somebody, if its message is speech.
pub(crate) type Ear = Option<mpsc::Receiver<Heard>>;

/// Whom conversations are with.
pub(crate) trait Partner: Send + Sync + 'static {
    /// What outlives a step. A step holds it as long as it is listened to, and the next one waits until
    /// it is let go.
    type Line: Default + Send + 'static;

    /// Whether a turn is stopped by hanging up. The next step is told what was said until then.
    const HANGS_UP: bool;

    /// Runs one step, and then listens on for as long as anybody listens.
    fn step(
        &self,
        request: &StepRequest,
        sender: &EventSender,
        heard: Ear,
        line: &mut Self::Line,
    ) -> impl Future<Output = ()> + Send;
}

/// A conversation with one chat.
pub(crate) struct Talk<P: Partner> {
    partner: Arc<P>,
    line: Arc<Mutex<P::Line>>,
    /// Where the step that listens hears.
    ear: Option<mpsc::Sender<Heard>>,
}

impl<P: Partner> Talk<P> {
    pub(crate) fn new(partner: &Arc<P>) -> Self {
        Self {
            partner: partner.clone(),
            line: Arc::default(),
            ear: None,
        }
    }
}

impl<P: Partner> Conversation for Talk<P> {
    fn step(&mut self, request: StepRequest) -> AgentStream {
        let (ear, heard) = mpsc::channel(SOUNDS);
        let is_spoken = match request.history.last() {
            Some(Past::Message(message)) => message.is_speech(),
            _ => false,
        };
        self.ear = is_spoken.then_some(ear);
        let heard = is_spoken.then_some(heard);
        let (partner, line) = (self.partner.clone(), self.line.clone());
        stream_from_fn(|sender| async move {
            let mut line = line.lock_owned().await;
            partner.step(&request, &sender, heard, &mut line).await;
        })
    }

    fn hear(&mut self, heard: Heard) {
        if let Some(ear) = &self.ear {
            // Who speaks faster than the network takes it is not understood whole.
            let _ = ear.try_send(heard);
        }
    }

    fn stop(&mut self) {
        if P::HANGS_UP {
            *self = Self::new(&self.partner);
        }
    }
}
