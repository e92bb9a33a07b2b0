//! What a turn has said, placed in the message that clients hold: one transcript, whichever window they
//! use, with marks where a window closes. [`super::window`] turns a stretch of it into what one client is
//! sent; `place` says where questions stand.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use turn::call::{Call, Outcome, Place};
use turn::event::{End, Finish as Finished};
use turn::gate::{Decision, Gate};
use turn::said::Item;
use turn::{CallId, GateId};
use wire::Chunk;
use wire::chunk::{BlockDelta, Error, Finish, FinishReason};

use super::chunks;
use crate::weight::Weight;

/// What a line takes that says nothing.
const LINE: usize = 200;

/// What a turn has said.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    lines: Vec<Line>,
    /// Whether it is inside of a step.
    in_step: bool,
    /// How many steps clients were shown: those of the model, and those that a question needed.
    pub(super) steps: usize,
    /// How many texts, reasonings and sources it has.
    blocks: u32,
    /// The text or reasoning that is open.
    open: Option<Block>,
    metadata: Option<Value>,
    /// Why the model ended its last step.
    finish: Option<Finished>,
    is_over: bool,
    pub(super) is_parked: bool,
    /// Calls in the order in which they were made.
    pub(super) calls: Vec<ShownCall>,
    index: HashMap<CallId, usize>,
    pub(super) gates: Vec<ShownGate>,
    /// Denials that wait for a page's output: told earlier, no client would ever send that output.
    deferred: Vec<Chunk>,
    /// Whether it was drawn together.
    is_compact: bool,
    /// How many bytes it takes, once it is over.
    weight: Option<usize>,
}

/// One line of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// A chunk, in the newest client's words; a window narrows it to what its client knows.
    ///
    /// Shared, since the transcript and all who read along keep it, and a chunk is large.
    Chunk(Arc<Chunk>),
    /// Nothing more can happen without a client, or at all: windows close here.
    Close(Closing),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Text,
    Reasoning,
}

/// A call, and where clients find it.
#[derive(Debug, Clone)]
pub(super) struct ShownCall {
    pub(super) call: Call,
    /// The model's step that it belongs to; none for one that a tool asked for.
    pub(super) step: Option<usize>,
    pub(super) is_announced: bool,
    /// Whether it is not announced with its step: a page's call that waits for an approval, or one
    /// whose input is invalid.
    pub(super) is_held: bool,
    /// Whether its step was shown without it.
    pub(super) is_hidden: bool,
    /// The step, among those that clients were shown, in which they find it.
    pub(super) shown_in: usize,
    /// Whether clients find in another step what stands for it, and nothing more of it in its own.
    pub(super) is_left_behind: bool,
    pub(super) is_settled: bool,
}

/// A gate, and where clients find it.
#[derive(Debug, Clone)]
pub(super) struct ShownGate {
    pub(super) gate: Gate,
    pub(super) decision: Option<Decision>,
    /// The step, among those that clients were shown, in which they find it last, if they do.
    pub(super) shown_in: Option<usize>,
    /// Whether they find it at its call.
    pub(super) is_at_call: bool,
    /// How many calls they were shown that stand for its own.
    pub(super) proxy_calls: usize,
}

impl Transcript {
    /// What it has said so far.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// How many bytes it takes, by estimate.
    pub(crate) fn weight(&self) -> usize {
        // What is over is weighed once.
        self.weight.unwrap_or_else(|| {
            let mut weight = Weight(LINE * self.lines.len());
            for line in &self.lines {
                if let Line::Chunk(chunk) = line {
                    weight.add(|out| serde_json::to_writer(out, &**chunk));
                }
            }
            weight.0
        })
    }

    /// Whether clients run a proxy in the place of a call.
    pub(crate) fn is_left_behind(&self, call: &CallId) -> bool {
        self.shown(call).is_some_and(|shown| shown.is_left_behind)
    }

    /// Takes in what was said or done.
    pub fn take(&mut self, item: Item) {
        match item {
            Item::StepBegun => self.enter_step(),
            Item::TextBegun { provider_metadata } => {
                let start = self.begin(Block::Text, provider_metadata.as_ref());
                self.say(Chunk::TextStart(start));
            }
            Item::ReasoningBegun { provider_metadata } => {
                let start = self.begin(Block::Reasoning, provider_metadata.as_ref());
                self.say(Chunk::ReasoningStart(start));
            }
            Item::Words(words) => self.words(words),
            Item::BlockEnded => {
                let end = self.open.take().map(|open| match open {
                    Block::Text => chunks::text_end(self.blocks),
                    Block::Reasoning => chunks::reasoning_end(self.blocks),
                });
                self.say_all(end);
            }
            Item::Part(part) => {
                let chunk = chunks::part(&part, &mut self.blocks);
                self.say_all(chunk);
            }
            Item::StepEnded { finish, metadata } => {
                self.finish = Some(finish);
                if let Some(metadata) = metadata {
                    turn::live::merge(&mut self.metadata, metadata);
                }
            }
            Item::CallMade {
                call,
                step,
                is_held,
                is_open,
            } => self.call_made(*call, step, is_held, is_open),
            Item::CallStarted(call) => self.announce(&call),
            Item::CallProgressed { call, output } => {
                let chunk = self.call(&call).map(|call| chunks::progress(call, &output));
                self.say_all(chunk);
            }
            Item::CallSettled { call, outcome } => self.settle_call(&call, &outcome),
            Item::GateOpened(gate) => {
                self.gates.push(ShownGate {
                    gate: (*gate).clone(),
                    decision: None,
                    shown_in: None,
                    is_at_call: false,
                    proxy_calls: 0,
                });
                self.show_at_call(&gate);
            }
            Item::GateClosed { gate, decision } => self.close_gate(&gate, &decision),
            Item::EntryEnded { is_parked } => self.end_entry(is_parked),
            Item::Ended(end) => self.end(&end),
        }
    }

    /// Makes room for so many words.
    pub fn reserve(&mut self, words: usize) {
        self.lines.reserve(words);
    }

    /// More of the text or reasoning that is open. Nearly all that is said is this.
    #[inline]
    pub fn words(&mut self, words: String) {
        let chunk = match self.open {
            Some(Block::Text) => Chunk::TextDelta(chunks::delta(self.blocks, words)),
            Some(Block::Reasoning) => Chunk::ReasoningDelta(chunks::delta(self.blocks, words)),
            None => return,
        };
        self.say(chunk);
    }

    /// Draws the words of each block together, once the turn is over: as many chunks as there were
    /// words are worth keeping only for those who read along. Says whether there was anything to do.
    pub fn compact(&mut self) -> bool {
        if !self.is_over || self.is_compact {
            return false;
        }
        self.is_compact = true;
        compact(&mut self.lines);
        self.weight = Some(self.weight());
        true
    }

    fn begin(
        &mut self,
        block: Block,
        provider_metadata: Option<&Value>,
    ) -> wire::chunk::BlockStart {
        self.blocks += 1;
        self.open = Some(block);
        chunks::block_start(self.blocks, provider_metadata)
    }

    fn call_made(&mut self, call: Call, step: Option<usize>, is_held: bool, is_open: bool) {
        let id = call.id.clone();
        self.index.insert(id.clone(), self.calls.len());
        let start = (!is_open).then(|| chunks::input_start(&call));
        self.calls.push(ShownCall {
            call,
            step,
            is_announced: false,
            is_held,
            is_hidden: is_open,
            shown_in: self.steps,
            is_left_behind: false,
            is_settled: false,
        });
        self.say_all(start);
        if !is_held && !is_open {
            self.announce(&id);
        }
    }

    fn settle_call(&mut self, id: &CallId, outcome: &Outcome) {
        let Some(index) = self.index.get(id).copied() else {
            return;
        };
        let shown = &mut self.calls[index];
        shown.is_settled = true;
        if shown.is_left_behind || shown.call.parent.is_some() && shown.is_hidden {
            // What stands for it has said so; or it was never shown, and need not be any more.
            return;
        }
        self.show(id);
        let shown = &self.calls[index];
        let is_output = matches!(outcome, Outcome::Output { .. });
        // Announced in a later step, it would be shown twice.
        let is_held = shown.is_held && (!is_output || shown.shown_in != self.steps);
        if !matches!(outcome, Outcome::Invalid { .. }) && !is_held {
            self.announce(id);
        }
        let shown = &self.calls[index];
        let step = shown.step;
        let chunk = match outcome {
            // What a tool says that was told no is for the model: clients show no output behind a no.
            Outcome::Output { .. } | Outcome::Denied { .. } if self.is_refused(id) => {
                chunks::denied(&shown.call)
            }
            outcome => chunks::outcome(&shown.call, outcome),
        };
        if matches!(chunk, Chunk::ToolOutputDenied(_)) && self.page_may_still_answer(step) {
            self.deferred.push(chunk);
            return;
        }
        self.say(chunk);
        if !self.page_may_still_answer(step) {
            let deferred = std::mem::take(&mut self.deferred);
            self.say_all(deferred);
        }
    }

    fn close_gate(&mut self, id: &GateId, decision: &Decision) {
        let Some(shown) = self.gates.iter_mut().find(|shown| shown.gate.id == *id) else {
            return;
        };
        shown.decision = Some(decision.clone());
        let (gate, is_shown) = (shown.gate.clone(), shown.shown_in.is_some());
        if gate.is_question() && is_shown {
            self.say_all(chunks::approval_response(&gate, decision));
        }
        self.settle_proxy_calls(&gate, decision);
        self.show_pages_beside(&gate);
    }

    /// Whether clients show a call with a no: only then do they accept a denial as such.
    fn is_refused(&self, id: &CallId) -> bool {
        let mut gates = self.gates.iter().rev();
        let last = gates
            .find(|shown| shown.gate.call == *id && shown.gate.is_question() && shown.is_at_call);
        let decision = last.and_then(|shown| shown.decision.as_ref());
        decision.and_then(Decision::approved) == Some(false)
    }

    /// Whether a page's call of the step, held for an approval, is not settled.
    fn page_may_still_answer(&self, step: Option<usize>) -> bool {
        let mut calls = self.calls.iter();
        calls.any(|shown| {
            let is_page = shown.call.place == Place::Client;
            shown.step == step && shown.is_held && is_page && !shown.is_settled
        })
    }

    fn end_entry(&mut self, is_parked: bool) {
        self.is_parked = is_parked;
        if !self.is_over {
            self.show_rest();
        }
        let is_closed = matches!(self.lines.last(), Some(Line::Close(_)));
        if is_parked && !is_closed {
            self.leave_step();
            self.lines.push(Line::Close(Closing::Parked));
        }
    }

    fn end(&mut self, end: &End) {
        self.is_over = true;
        let deferred = std::mem::take(&mut self.deferred);
        self.say_all(deferred);
        if *end == End::Stopped {
            // A client that finds settled calls in the last step would send them.
            self.enter_step();
        }
        self.leave_step();
        let closing = match end {
            End::Finished => Closing::Finished {
                reason: self.finish.map_or(FinishReason::Stop, finish_reason),
                metadata: self.metadata.clone().map(Box::new),
            },
            End::Failed { code, message, .. } => Closing::failed(code, message),
            End::Stopped => Closing::Stopped,
        };
        self.lines.push(Line::Close(closing));
    }

    /// Whether it is inside of a step.
    pub(super) fn is_in_step(&self) -> bool {
        self.in_step
    }

    pub(super) fn enter_step(&mut self) {
        self.leave_step();
        self.in_step = true;
        self.steps += 1;
        self.say(Chunk::StartStep);
    }

    fn leave_step(&mut self) {
        if std::mem::take(&mut self.in_step) {
            self.say(Chunk::FinishStep);
        }
    }

    pub(super) fn call(&self, id: &CallId) -> Option<&Call> {
        self.shown(id).map(|shown| &shown.call)
    }

    pub(super) fn shown(&self, id: &CallId) -> Option<&ShownCall> {
        self.index.get(id).map(|index| &self.calls[*index])
    }

    pub(super) fn shown_mut(&mut self, id: &CallId) -> Option<&mut ShownCall> {
        self.index.get(id).map(|index| &mut self.calls[*index])
    }

    pub(super) fn say(&mut self, chunk: Chunk) {
        self.lines.push(Line::Chunk(Arc::new(chunk)));
    }

    pub(super) fn say_all(&mut self, chunks: impl IntoIterator<Item = Chunk>) {
        chunks.into_iter().for_each(|chunk| self.say(chunk));
    }
}

fn finish_reason(finish: Finished) -> FinishReason {
    match finish {
        Finished::Stop => FinishReason::Stop,
        Finished::Length => FinishReason::Length,
        Finished::ContentFilter => FinishReason::ContentFilter,
        Finished::Error => FinishReason::Error,
        Finished::Cut | Finished::Other => FinishReason::Other,
    }
}

/// Why windows close.
#[derive(Debug, Clone, PartialEq)]
pub enum Closing {
    /// The turn waits at gates.
    Parked,
    /// The turn is over.
    Finished {
        /// Why the model stopped.
        reason: FinishReason,
        /// Usage and the like. Boxed, since every word stands in an item, and few items close.
        metadata: Option<Box<Value>>,
    },
    /// The turn failed. Boxed as well.
    Failed(Box<Failure>),
    /// The turn was stopped.
    Stopped,
}

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// A stable code.
    pub code: String,
    /// What to tell the user.
    pub message: String,
}

impl Closing {
    /// A turn that failed.
    pub fn failed(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Failed(Box::new(Failure {
            code: code.into(),
            message: message.into(),
        }))
    }

    /// Whether nothing follows.
    pub fn is_final(&self) -> bool {
        *self != Self::Parked
    }

    /// The chunk that ends a window here.
    ///
    /// It always carries metadata: clients see a step's start only with the next thing that is
    /// written, and one that does not see the last step takes the calls before it for unsent.
    pub fn chunk(&self) -> Chunk {
        let (reason, status, metadata) = match self {
            Self::Parked => (FinishReason::ToolCalls, "parked", None),
            Self::Finished { reason, metadata } => (*reason, "finished", metadata.as_deref()),
            Self::Stopped => (FinishReason::Interrupted, "stopped", None),
            Self::Failed(failure) => {
                return Chunk::Error(Error {
                    error_text: format!("{}: {}", failure.code, failure.message),
                });
            }
        };
        let mut all = Map::new();
        all.insert("turn".to_owned(), json!(status));
        if let Some(Value::Object(metadata)) = metadata {
            all.extend(metadata.clone());
        }
        Chunk::from(Finish {
            finish_reason: Some(reason),
            message_metadata: Some(Value::Object(all)),
        })
    }
}

/// Draws together the deltas of each block that follow each other, as they are told when a turn is
/// read back from its journal.
fn compact(transcript: &mut Vec<Line>) {
    let mut compact = Vec::new();
    let mut lines = transcript.drain(..);
    while let Some(mut line) = lines.next() {
        if let Line::Chunk(first) = &mut line
            && let Some((text, count)) = whole(first, lines.as_slice())
            && let Chunk::TextDelta(delta) | Chunk::ReasoningDelta(delta) = Arc::make_mut(first)
        {
            delta.delta = text.into();
            lines.by_ref().take(count).for_each(drop);
        }
        compact.push(line);
    }
    drop(lines);
    compact.shrink_to_fit();
    *transcript = compact;
}

/// A delta with those that follow it and are of the same block, if there are any, and how many.
fn whole(first: &Chunk, rest: &[Line]) -> Option<(String, usize)> {
    let more = || {
        rest.iter().map_while(|line| match line {
            Line::Chunk(next) => of_one_block(first, next),
            Line::Close(_) => None,
        })
    };
    let (head, _) = more().next()?;
    // Counted first, so that the text need not be moved while it grows.
    let length: usize = more().map(|(_, next)| next.delta.len()).sum();
    let mut text = String::with_capacity(head.delta.len() + length);
    text.push_str(&head.delta);
    let mut count = 0;
    for (_, next) in more() {
        text.push_str(&next.delta);
        count += 1;
    }
    Some((text, count))
}

/// Two deltas, if they are of one block.
fn of_one_block<'a>(first: &'a Chunk, next: &'a Chunk) -> Option<(&'a BlockDelta, &'a BlockDelta)> {
    match (first, next) {
        (Chunk::TextDelta(first), Chunk::TextDelta(next))
        | (Chunk::ReasoningDelta(first), Chunk::ReasoningDelta(next)) => {
            let is_one = first.id == next.id && first.provider_metadata == next.provider_metadata;
            is_one.then_some((first, next))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A transcript holds a line for every word, and so does each log of it.
    #[test]
    fn a_line_is_not_large() {
        let bytes = size_of::<Line>();
        assert!(bytes <= 16, "a line takes {bytes} bytes");
    }

    #[test]
    fn words_of_a_block_are_drawn_together_and_nothing_else() {
        let chunk = |value| Line::Chunk(Chunk::decode(value).unwrap().into());
        let delta = |kind: &str, id: &str, delta: &str| {
            chunk(json!({"type": kind, "id": id, "delta": delta}))
        };
        let mut transcript = vec![
            chunk(json!({"type": "start-step"})),
            delta("reasoning-delta", "1", "a"),
            delta("reasoning-delta", "1", "b"),
            delta("text-delta", "2", "c"),
            delta("text-delta", "2", "d"),
            delta("text-delta", "2", "e"),
            delta("text-delta", "3", "f"),
            Line::Close(Closing::Parked),
            delta("text-delta", "3", "g"),
        ];
        let first = transcript[1].clone();
        compact(&mut transcript);
        let expected = [
            chunk(json!({"type": "start-step"})),
            delta("reasoning-delta", "1", "ab"),
            delta("text-delta", "2", "cde"),
            delta("text-delta", "3", "f"),
            Line::Close(Closing::Parked),
            delta("text-delta", "3", "g"),
        ];
        assert_eq!(transcript, expected);
        // Whoever reads along keeps what was said as it was said.
        assert_eq!(first, delta("reasoning-delta", "1", "a"));
    }
}
