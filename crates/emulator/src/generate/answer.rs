//! The chunks of an answer in their order, with the faults among them.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};

use super::failed;
use super::render::{Rendered, Renderer};
use crate::refusal::Refusal;
use crate::responder::{Output, OutputStream};
use crate::script::Rule;

/// What is sent.
pub(super) enum Frame {
    /// A chunk.
    Chunk(Value),
    /// Text in place of a chunk, valid or not.
    Raw(String),
    /// It went wrong.
    Error(Refusal),
    /// The connection is cut.
    Cut,
}

/// Where chunks come from.
pub(super) enum Source {
    /// A script.
    Script(VecDeque<Value>),
    /// An agent, whose first output was read already.
    Responder {
        first: Option<Output>,
        output: OutputStream,
    },
}

/// An answer that is being given.
pub(super) struct Answer {
    source: Source,
    pub(super) renderer: Renderer,
    rule: Rule,
    sent: u64,
    is_over: bool,
}

impl Answer {
    pub(super) fn new(source: Source, renderer: Renderer, rule: Rule) -> Self {
        Self {
            source,
            renderer,
            is_over: rule.empty,
            rule,
            sent: 0,
        }
    }

    /// After how many bytes the connection is to be cut.
    pub(super) fn cut_after_bytes(&self) -> Option<u64> {
        self.rule.cut.and_then(|cut| cut.after_bytes)
    }

    /// The next thing that is sent.
    pub(super) async fn next(&mut self) -> Option<Frame> {
        if self.is_over {
            return None;
        }
        if let Some(fault) = self.fault() {
            return Some(fault);
        }
        if let Some(pace) = self.rule.pace_ms.filter(|_| self.sent > 0) {
            tokio::time::sleep(Duration::from_millis(pace)).await;
        }
        let frame = match &mut self.source {
            Source::Script(chunks) => chunks.pop_front().map(|chunk| match chunk {
                Value::String(text) => Frame::Raw(text),
                chunk => Frame::Chunk(chunk),
            }),
            Source::Responder { first, output } => loop {
                let said = match first.take() {
                    Some(said) => said,
                    None => output.next().await,
                };
                break Some(match said {
                    Output::Failed(refusal) => {
                        self.is_over = true;
                        Frame::Error(refusal)
                    }
                    Output::Cut => {
                        self.is_over = true;
                        Frame::Cut
                    }
                    said => match self.renderer.render(said) {
                        Rendered::Chunk(chunk) => Frame::Chunk(json!(chunk)),
                        Rendered::Last(chunk) => {
                            self.is_over = true;
                            Frame::Chunk(json!(chunk))
                        }
                        Rendered::Nothing => continue,
                    },
                });
            },
        };
        self.sent += u64::from(frame.is_some());
        frame
    }

    /// The fault that is due here.
    fn fault(&mut self) -> Option<Frame> {
        let rule = &mut self.rule;
        let sent = self.sent;
        let mut over = |frame| {
            self.is_over = true;
            Some(frame)
        };
        if let Some(reason) = rule.block.take() {
            return over(Frame::Chunk(json!(self.renderer.blocked(&reason))));
        }
        if rule
            .cut
            .is_some_and(|cut| cut.after_bytes.is_none() && cut.after == sent)
        {
            return over(Frame::Cut);
        }
        if let Some(failure) = rule.error.take_if(|failure| failure.after == sent) {
            return over(Frame::Error(failed(&failure)));
        }
        if let Some(finish) = rule.finish.take_if(|finish| finish.after == sent) {
            return over(Frame::Chunk(json!(self.renderer.stopped(&finish.reason))));
        }
        let malformed = rule.malformed.take_if(|malformed| malformed.after == sent);
        malformed.map(|_| Frame::Raw(MALFORMED.to_owned()))
    }
}

/// The beginning of a chunk.
const MALFORMED: &str = r#"{"candidates": [{"content": {"parts": [{"text": "bro"#;
