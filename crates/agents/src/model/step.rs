//! A step: asked, answered, and read as it comes.

use std::collections::VecDeque;
use std::time::Duration;

use futures_core::Stream;
use futures_util::stream::unfold;
use reqwest::Response;
use tokio::time::timeout;
use turn::agent::AgentEvent;
use wire::sse::Decoder;

use super::failure::Failure;
use super::http::Http;

/// Reads an answer as it comes.
pub(crate) trait Reading: Send + 'static {
    /// Whether the model has said why it stopped.
    fn has_finished(&self) -> bool;

    /// Reads the data of one event.
    fn take(&mut self, data: &str) -> Result<Vec<AgentEvent>, Failure>;

    /// What is left to say when nothing more comes, given how it ended.
    fn end(&mut self, come: Result<(), Failure>) -> Vec<AgentEvent>;
}

/// How much one event may hold. Images come in one.
const EVENT_BYTES: usize = 64 * 1024 * 1024;

/// How long to wait for the rest once the model has said why it stopped. The rest is tokens.
const AFTERMATH: Duration = Duration::from_secs(2);

/// The events of a step. Nothing is sent before the first is wanted, and when the stream is dropped,
/// so is the connection.
pub(crate) fn stream<R: Reading>(
    http: Http,
    body: Vec<u8>,
    reading: R,
) -> impl Stream<Item = AgentEvent> + Send + 'static {
    let step = Step {
        http,
        stage: Stage::Asking(body, reading),
        events: VecDeque::new(),
    };
    unfold(step, async |mut step: Step<R>| {
        let event = step.next().await?;
        Some((event, step))
    })
}

struct Step<R> {
    http: Http,
    stage: Stage<R>,
    events: VecDeque<AgentEvent>,
}

enum Stage<R> {
    Asking(Vec<u8>, R),
    Answering(Box<Answer<R>>),
    Over,
}

impl<R: Reading> Step<R> {
    async fn next(&mut self) -> Option<AgentEvent> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            self.stage = match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Asking(body, reading) => match self.http.ask(&body).await {
                    Ok((response, first)) => {
                        Stage::Answering(Box::new(Answer::new(response, first, reading)))
                    }
                    Err(failure) => {
                        self.events.push_back(failure.into());
                        Stage::Over
                    }
                },
                Stage::Answering(mut answer) => {
                    match answer.read(&self.http, &mut self.events).await {
                        true => Stage::Answering(answer),
                        false => Stage::Over,
                    }
                }
                Stage::Over => return None,
            };
        }
    }
}

/// An answer that comes.
struct Answer<R> {
    response: Response,
    /// The first bytes, until they are read.
    first: Option<Vec<u8>>,
    decoder: Decoder,
    reading: R,
    /// How many bytes have come since the last event.
    bytes: usize,
}

impl<R: Reading> Answer<R> {
    fn new(response: Response, first: Vec<u8>, reading: R) -> Self {
        Self {
            response,
            first: Some(first),
            decoder: Decoder::new(),
            reading,
            bytes: 0,
        }
    }

    /// Reads on, and says whether there is more to come.
    async fn read(&mut self, http: &Http, events: &mut VecDeque<AgentEvent>) -> bool {
        if let Some(first) = self.first.take() {
            return match self.take(&first, http, events) {
                Ok(()) => true,
                Err(failure) => self.over(Err(failure), events),
            };
        }
        let has_finished = self.reading.has_finished();
        let time_limit = match has_finished {
            true => AFTERMATH.min(http.timeouts.idle),
            false => http.timeouts.idle,
        };
        let come = match timeout(time_limit, self.response.chunk()).await {
            Ok(Ok(Some(bytes))) => match self.take(&bytes, http, events) {
                Ok(()) => return true,
                Err(failure) => Err(failure),
            },
            Ok(Ok(None)) => self.end(http, events),
            // It has said why it stopped: what happens to the connection is all the same.
            _ if has_finished => Ok(()),
            Ok(Err(_)) => Err(http.provider.cut_off()),
            Err(_) => Err(http.provider.timed_out()),
        };
        self.over(come, events)
    }

    /// Nothing more is to come.
    fn over(&mut self, come: Result<(), Failure>, events: &mut VecDeque<AgentEvent>) -> bool {
        events.extend(self.reading.end(come));
        false
    }

    fn take(
        &mut self,
        bytes: &[u8],
        http: &Http,
        events: &mut VecDeque<AgentEvent>,
    ) -> Result<(), Failure> {
        self.bytes += bytes.len();
        for event in self.decoder.push(bytes) {
            self.bytes = 0;
            let read = self.reading.take(&event.data)?;
            events.extend(read);
        }
        match self.bytes > EVENT_BYTES {
            true => Err(http.provider.unreadable("one event of it has no end")),
            false => Ok(()),
        }
    }

    /// The end of the body, which may stand where a blank line should.
    fn end(&mut self, http: &Http, events: &mut VecDeque<AgentEvent>) -> Result<(), Failure> {
        if !self.decoder.is_incomplete() {
            return Ok(());
        }
        match self.take(b"\n\n", http, events) {
            Err(failure) if failure.code == "agent_invalid_response" => {
                Err(http.provider.cut_off())
            }
            result => result,
        }
    }
}
