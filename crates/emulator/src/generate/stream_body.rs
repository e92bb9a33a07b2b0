//! The chunks of an answer as the bytes of a body.

use std::io;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::{Value, json};

use super::answer::{Answer, Frame};
use super::{Form, JSON};
use crate::core::{Core, Exchange};
use crate::log::{Happening, json_or_text, without_media};
use crate::stats::Open;

/// A body that is being sent.
struct StreamBody {
    answer: Answer,
    form: Form,
    exchange: Exchange,
    sent: u64,
    is_first: bool,
    state: State,
    _open: Open,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Sending,
    /// All chunks are sent; an array is still to be closed.
    Closing,
    /// The connection is to be cut.
    Cutting,
    Over,
}

/// An answer as a body.
pub(super) fn stream_body(
    core: &Arc<Core>,
    exchange: &Exchange,
    answer: Answer,
    form: Form,
) -> Body {
    let body = StreamBody {
        answer,
        form,
        exchange: exchange.clone(),
        sent: 0,
        is_first: true,
        state: State::Sending,
        _open: core.counters.stream(),
    };
    Body::from_stream(stream::unfold(body, |mut body| async move {
        let bytes = body.next().await?;
        Some((bytes, body))
    }))
}

impl StreamBody {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            match self.state {
                State::Sending => {}
                State::Closing => {
                    self.state = State::Over;
                    self.exchange.write(Happening::Ended { cut: false });
                    if self.form == Form::Array {
                        let open = if self.is_first { "[" } else { "" };
                        return Some(Ok(Bytes::from(format!("{open}\n]\n"))));
                    }
                    return None;
                }
                State::Cutting => {
                    self.state = State::Over;
                    self.exchange.write(Happening::Ended { cut: true });
                    // What was sent so far leaves before the connection breaks.
                    tokio::task::yield_now().await;
                    return Some(Err(io::Error::other("cut by the script")));
                }
                State::Over => return None,
            }
            let text = match self.answer.next().await {
                Some(Frame::Chunk(chunk)) => {
                    let text = chunk.to_string();
                    self.exchange.write(Happening::Chunk {
                        data: without_media(chunk),
                    });
                    text
                }
                Some(Frame::Raw(text)) => {
                    let data = json_or_text(text.as_bytes());
                    self.exchange.write(Happening::Chunk { data });
                    text
                }
                Some(Frame::Error(refusal)) => {
                    let data = refusal.body();
                    let text = data.to_string();
                    self.exchange.write(Happening::Chunk { data });
                    text
                }
                Some(Frame::Cut) => {
                    self.state = State::Cutting;
                    continue;
                }
                None => {
                    self.state = State::Closing;
                    continue;
                }
            };
            return Some(Ok(self.framed(&text)));
        }
    }

    fn framed(&mut self, text: &str) -> Bytes {
        let mut framed = match self.form {
            Form::Sse => format!("data: {text}\r\n\r\n"),
            _ if self.is_first => format!("[{text}"),
            _ => format!("\n,\r\n{text}"),
        }
        .into_bytes();
        self.is_first = false;
        if let Some(limit) = self.answer.cut_after_bytes() {
            let left = usize::try_from(limit - self.sent).unwrap_or(usize::MAX);
            if framed.len() >= left {
                framed.truncate(left);
                self.state = State::Cutting;
            }
        }
        self.sent += framed.len() as u64;
        Bytes::from(framed)
    }
}

impl Drop for StreamBody {
    fn drop(&mut self) {
        if self.state != State::Over {
            self.exchange.write(Happening::Ended { cut: true });
        }
    }
}

/// A body that was to be sent whole, and is cut: after this many bytes, or in the middle.
pub(super) fn cut(exchange: &Exchange, body: &Value, after: Option<u64>) -> Response {
    exchange.write(Happening::Answer {
        status: 200,
        body: json!(null),
    });
    exchange.write(Happening::Ended { cut: true });
    let mut text = format!("{body:#}").into_bytes();
    let middle = text.len() / 2;
    text.truncate(after.map_or(middle, |after| usize::try_from(after).unwrap_or(middle)));
    let pieces = stream::unfold(Some(text), |text| async move {
        match text {
            Some(text) if !text.is_empty() => Some((Ok(Bytes::from(text)), Some(Vec::new()))),
            Some(_) => {
                tokio::task::yield_now().await;
                Some((Err(io::Error::other("cut by the script")), None))
            }
            None => None,
        }
    });
    ([JSON], Body::from_stream(pieces)).into_response()
}
