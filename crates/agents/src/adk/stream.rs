//! A run, frame by frame: as it comes, or as a session keeps it.

use std::collections::VecDeque;

use reqwest::Response;
use serde_json::Value;
use wire::sse::Decoder;

use super::event::Event;
use super::failure;
use crate::gemini::Failure;

/// How much one event may hold. Images come in one.
const EVENT_BYTES: usize = 64 * 1024 * 1024;

/// A run that is listened to.
pub(super) struct Run {
    /// What came and was not taken yet.
    ready: VecDeque<Event>,
    source: Option<Source>,
}

struct Source {
    response: Response,
    decoder: Decoder,
    /// How many bytes came since the last event.
    pending: usize,
}

impl Run {
    pub(super) fn new(response: Response) -> Self {
        let source = Source {
            response,
            decoder: Decoder::new(),
            pending: 0,
        };
        Self {
            ready: VecDeque::new(),
            source: Some(source),
        }
    }

    /// A run that nobody listened to, as far as its session kept it.
    pub(super) fn stored(events: impl IntoIterator<Item = Event>) -> Self {
        Self {
            ready: events.into_iter().collect(),
            source: None,
        }
    }

    /// Whether it is read from a session.
    pub(super) fn is_stored(&self) -> bool {
        self.source.is_none()
    }

    /// Puts events back that were only looked at.
    pub(super) fn put_back(&mut self, events: impl IntoIterator<Item = Event>) {
        let mut events: VecDeque<_> = events.into_iter().collect();
        events.append(&mut self.ready);
        self.ready = events;
    }

    /// The next event; nothing, at its end.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, Failure> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let Some(source) = &mut self.source else {
                return Ok(None);
            };
            match source.response.chunk().await {
                Ok(Some(bytes)) => {
                    source.pending += bytes.len();
                    for frame in source.decoder.push(&bytes) {
                        source.pending = 0;
                        self.ready.push_back(event(&frame.data)?);
                    }
                    if source.pending > EVENT_BYTES {
                        return Err(failure::unreadable("one event of it has no end"));
                    }
                }
                Ok(None) if source.decoder.is_incomplete() => return Err(failure::cut_off()),
                Ok(None) => return Ok(None),
                Err(error) => {
                    let error = error.without_url();
                    tracing::warn!(?error, "the ADK server hangs up");
                    return Err(failure::cut_off());
                }
            }
        }
    }
}

/// An event, or the bare frame of an error, which is none.
fn event(data: &str) -> Result<Event, Failure> {
    let unreadable = |_| failure::unreadable("an event of it is not as expected");
    let value: Value = serde_json::from_str(data).map_err(unreadable)?;
    if let Some(error) = value.get("error") {
        let said = error.as_str().unwrap_or_default();
        let details = value.get("error_details");
        let kind = details.and_then(|details| details.get("error_type")?.as_str());
        tracing::warn!(said, "the ADK server ends a run with an error");
        let (named, message) = said.split_once(": ").unwrap_or(("", said));
        return Err(failure::of_error(kind.unwrap_or(named), message));
    }
    serde_json::from_value(value).map_err(unreadable)
}
