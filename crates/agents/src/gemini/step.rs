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
use super::reading::Reading;

/// How much one event may hold. Images come in one.
const EVENT_BYTES: usize = 64 * 1024 * 1024;

/// How long to wait for the rest once the model has said why it stopped. The rest is tokens.
const AFTERMATH: Duration = Duration::from_secs(2);

/// The events of a step. Nothing is sent before the first is wanted, and when the stream is dropped,
/// so is the connection.
pub(super) fn stream(http: Http, body: Vec<u8>) -> impl Stream<Item = AgentEvent> + Send + 'static {
    let step = Step {
        http,
        stage: Stage::Asking(body),
        events: VecDeque::new(),
    };
    unfold(step, async |mut step| {
        let event = step.next().await?;
        Some((event, step))
    })
}

struct Step {
    http: Http,
    stage: Stage,
    events: VecDeque<AgentEvent>,
}

enum Stage {
    Asking(Vec<u8>),
    Answering(Box<Answer>),
    Over,
}

impl Step {
    async fn next(&mut self) -> Option<AgentEvent> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            match &mut self.stage {
                Stage::Asking(body) => match self.http.ask(body).await {
                    Ok((response, first)) => {
                        let answer = Answer::new(response, first);
                        self.stage = Stage::Answering(Box::new(answer));
                    }
                    Err(failure) => {
                        self.events.push_back(failure.into());
                        self.stage = Stage::Over;
                    }
                },
                Stage::Answering(answer) => {
                    if !answer.read(&self.http, &mut self.events).await {
                        self.stage = Stage::Over;
                    }
                }
                Stage::Over => return None,
            }
        }
    }
}

/// An answer that comes.
struct Answer {
    response: Response,
    /// The first bytes, until they are read.
    first: Option<Vec<u8>>,
    decoder: Decoder,
    reading: Reading,
    /// How many bytes have come since the last event.
    bytes: usize,
}

impl Answer {
    fn new(response: Response, first: Vec<u8>) -> Self {
        Self {
            response,
            first: Some(first),
            decoder: Decoder::new(),
            reading: Reading::default(),
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
            Ok(Err(_)) => Err(Failure::cut_off()),
            Err(_) => Err(Failure::timed_out()),
        };
        self.over(come, events)
    }

    /// Nothing more is to come.
    fn over(&mut self, come: Result<(), Failure>, events: &mut VecDeque<AgentEvent>) -> bool {
        let reading = std::mem::take(&mut self.reading);
        events.extend(reading.end(come));
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
            let told = self.reading.take(&event.data, http)?;
            events.extend(told);
        }
        match self.bytes > EVENT_BYTES {
            true => Err(Failure::unreadable("one event of it has no end")),
            false => Ok(()),
        }
    }

    /// The end of the body, which may stand where a blank line should.
    fn end(&mut self, http: &Http, events: &mut VecDeque<AgentEvent>) -> Result<(), Failure> {
        if !self.decoder.is_incomplete() {
            return Ok(());
        }
        match self.take(b"\n\n", http, events) {
            Err(failure) if failure.code == "agent_unreadable" => Err(Failure::cut_off()),
            result => result,
        }
    }
}
