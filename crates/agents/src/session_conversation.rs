//! A conversation with one chat: step after step, with session state that outlives them.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc};
use turn::agent::{HistoryItem, StepRequest};

use crate::agent::{AgentStream, AudioInput, Conversation};
use crate::event_sender::{EventSender, stream_from_fn};

/// How many pieces of audio may wait for a session to be open: some ten seconds of them.
const QUEUED_AUDIO: usize = 256;

/// How long the user's audio may pause before the message is taken to be over.
pub(crate) const AUDIO_PAUSE: Duration = Duration::from_secs(30);

/// Whom conversations are with.
pub(crate) trait Backend: Send + Sync + 'static {
    /// What outlives a step. A step holds it for as long as its stream is read, and the next one waits until
    /// it is released.
    type State: Default + Send + 'static;

    /// Whether stopping a turn closes the session. The next step then sends the history so far.
    const CLOSES_ON_STOP: bool;

    /// Runs one step, and then reads on for as long as its stream is read.
    fn step(
        &self,
        request: &StepRequest,
        sender: &EventSender,
        audio: AudioReceiver,
        state: &mut Self::State,
    ) -> impl Future<Output = ()> + Send;
}

/// A conversation with one chat.
pub(crate) struct SessionConversation<P: Backend> {
    backend: Arc<P>,
    state: Arc<Mutex<P::State>>,
    /// The audio input of the current step.
    audio_sender: Option<mpsc::Sender<AudioInput>>,
}

impl<P: Backend> SessionConversation<P> {
    pub(crate) fn new(backend: &Arc<P>) -> Self {
        Self {
            backend: backend.clone(),
            state: Arc::default(),
            audio_sender: None,
        }
    }
}

impl<P: Backend> Conversation for SessionConversation<P> {
    fn step(&mut self, request: StepRequest) -> AgentStream {
        let (audio_sender, audio) = mpsc::channel(QUEUED_AUDIO);
        let is_spoken = match request.history.last() {
            Some(HistoryItem::Message(message)) => message.is_speech(),
            _ => false,
        };
        self.audio_sender = is_spoken.then_some(audio_sender);
        let audio = AudioReceiver {
            receiver: is_spoken.then_some(audio),
            is_spoken,
            is_sent: false,
        };
        let (backend, state) = (self.backend.clone(), self.state.clone());
        stream_from_fn(|sender| async move {
            let mut state = state.lock_owned().await;
            backend.step(&request, &sender, audio, &mut state).await;
        })
    }

    fn push_audio(&mut self, audio: AudioInput) {
        if let Some(audio_sender) = &self.audio_sender {
            // Audio that comes faster than the network takes it is dropped.
            let _ = audio_sender.try_send(audio);
        }
    }

    fn stop(&mut self) {
        if P::CLOSES_ON_STOP {
            *self = Self::new(&self.backend);
        }
    }
}

/// The user's audio during a step, if its message is speech.
pub(crate) struct AudioReceiver {
    /// While the user speaks.
    receiver: Option<mpsc::Receiver<AudioInput>>,
    is_spoken: bool,
    /// Whether any was sent. Audio that could not be sent had no effect.
    pub(crate) is_sent: bool,
}

/// A piece of the user's audio.
pub(crate) struct AudioChunk {
    pub(crate) mime_type: String,
    pub(crate) pcm: Vec<u8>,
}

impl AudioReceiver {
    /// Whether the message is speech.
    pub(crate) fn is_spoken(&self) -> bool {
        self.is_spoken
    }

    /// Whether the user speaks.
    pub(crate) fn is_open(&self) -> bool {
        self.receiver.is_some()
    }

    /// The user's speech has ended.
    pub(crate) fn close(&mut self) {
        self.receiver = None;
    }

    /// The next piece; none, when the speech has ended. Without speech it waits for ever.
    pub(crate) async fn next(&mut self) -> Option<AudioChunk> {
        let Some(receiver) = &mut self.receiver else {
            return pending().await;
        };
        match receiver.recv().await {
            Some(AudioInput::Sound { pcm, sample_rate }) => {
                let mime_type = format!("audio/pcm;rate={sample_rate}");
                Some(AudioChunk { mime_type, pcm })
            }
            Some(AudioInput::End) | None => None,
        }
    }
}
