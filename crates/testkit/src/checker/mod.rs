//! Says what the real client would throw at, loop on, or show wrongly.
//!
//! The checker is a client: it holds messages, opens windows, folds chunks into them by the
//! [`Assembler`], and sends by itself when one of the SDK's two stock predicates is true. It is given
//! the chunks, and what the person did. On a corpus of streams it is held against the real `ai@6`
//! and `ai@7`.
//!
//! ```
//! use wire::assembler::Sdk;
//! use adk_stream_testkit::Checker;
//!
//! let mut checker = Checker::new(Sdk::V7);
//! checker.say("hi");
//! checker.window(b"data: {\"type\":\"start\",\"messageId\":\"m1\"}\n\n\
//!                  data: {\"type\":\"text-delta\",\"id\":\"0\",\"delta\":\"Hello\"}\n\n");
//! assert!(checker.verdict()[0].reason.contains("missing text part"));
//! ```

mod end;
mod finding;
mod messages;
mod predicate;
mod valid;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

pub use self::finding::{Finding, Kind};
use wire::assembler::{Applied, Assembler, Sdk};
use wire::chunk::{Chunk, FinishReason};
use wire::message::{Message, Role};
use wire::part::Part;
use wire::profile::Profile;
use wire::prototype;
use wire::sse;
use wire::tool_part::{ToolPart, ToolState};

/// A client that reads a stream.
#[derive(Debug)]
pub struct Checker {
    sdk: Sdk,
    profile: Profile,
    client_tools: HashMap<String, Option<Value>>,
    messages: Vec<Message>,
    window: Option<Window>,
    /// A request that no window has answered yet: the message that its answer belongs to.
    request: Option<Option<String>>,
    requests: usize,
    windows: usize,
    chunks: usize,
    /// Calls that the person answered since the last request, and that nobody settled since.
    unsent: HashSet<String>,
    failed: bool,
    /// Messages whose last window was interrupted: the client never sends for them by itself.
    interrupted: HashSet<Option<String>>,
    answered: HashSet<String>,
    findings: Vec<Finding>,
}

#[derive(Debug)]
struct Window {
    assembler: Assembler,
    /// The message that the request was about, if it was an assistant message.
    original: Option<String>,
    /// Whether that message is not the last one.
    is_earlier: bool,
    /// Whether it is a replay, which starts the message over at its first `start`.
    replays: bool,
    /// Whether a replay has started over.
    has_started: bool,
    /// Where the message is among the client's.
    place: Option<Place>,
    /// Whether `messages` lags behind the assembler.
    is_stale: bool,
}

/// Where a window's message is among the client's.
#[derive(Debug, Clone)]
struct Place {
    index: usize,
    /// The id that the client's copy has. A message that was only pushed is not a copy yet: it
    /// changes its id with the stream.
    copy: Option<Option<String>>,
}

impl Checker {
    /// A client without messages.
    pub fn new(sdk: Sdk) -> Self {
        Self {
            sdk,
            profile: match sdk {
                Sdk::V6 => Profile::Shared,
                Sdk::V7 => Profile::V7,
            },
            client_tools: HashMap::new(),
            messages: Vec::new(),
            window: None,
            request: None,
            requests: 0,
            windows: 0,
            chunks: 0,
            unsent: HashSet::new(),
            failed: false,
            interrupted: HashSet::new(),
            answered: HashSet::new(),
            findings: Vec::new(),
        }
    }

    /// Reports also what only the strict early releases refuse, which a stream for every release
    /// must not hold.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.profile = Profile::Shared;
        self
    }

    /// A tool that the page runs: with an output, as soon as it is called; without, when
    /// [`Checker::output`] says so.
    #[must_use]
    pub fn client_tool(mut self, name: impl Into<String>, output: Option<Value>) -> Self {
        self.client_tools.insert(name.into(), output);
        self
    }

    /// A client that holds messages already, as a page does that was reloaded.
    #[must_use]
    pub fn holding(mut self, messages: Vec<Message>) -> Self {
        self.messages = messages;
        self
    }

    /// The page forgets its messages from one on, as it does before an edit or a regeneration.
    pub fn truncate(&mut self, length: usize) {
        self.messages.truncate(length);
    }

    /// The messages as the page shows them.
    pub fn messages(&mut self) -> &[Message] {
        self.flush();
        &self.messages
    }

    /// How many requests the client has sent.
    pub fn requests(&self) -> usize {
        self.requests
    }

    /// Whether the client has sent a request that no window has answered.
    pub fn is_waiting(&self) -> bool {
        self.request.is_some()
    }

    /// The person types a message, and the client sends it.
    pub fn say(&mut self, text: &str) {
        let id = format!("user-{}", self.messages.len());
        self.messages
            .push(Message::new(id, Role::User, vec![Part::text(text)]));
        self.send(None);
    }

    /// The page sends by hand, about a message that need not be its last.
    pub fn send_about(&mut self, message_id: &str) {
        if self.request.is_none() {
            self.send(Some(message_id.to_owned()));
        }
    }

    /// The person answers an approval.
    pub fn answer(&mut self, approval_id: &str, approved: bool, reason: Option<&str>) {
        let is_asked = |part: &ToolPart| {
            part.state == ToolState::ApprovalRequested
                && part
                    .approval
                    .as_ref()
                    .is_some_and(|asked| asked.id == approval_id)
        };
        self.answered.insert(approval_id.to_owned());
        self.act(is_asked, |part| {
            part.state = ToolState::ApprovalResponded;
            if let Some(approval) = &mut part.approval {
                approval.approved = Some(approved);
                approval.reason = reason.map(str::to_owned);
            }
        });
    }

    /// The page gives a call's output, or why it failed.
    pub fn output(&mut self, tool_call_id: &str, output: Result<Value, String>) {
        let is_call = |part: &ToolPart| part.tool_call_id == tool_call_id;
        let sdk = self.sdk;
        self.act(is_call, |part| {
            // 7 keeps only an approval that was granted.
            let is_kept = |approved: Option<bool>| sdk == Sdk::V6 || approved == Some(true);
            part.approval = part.approval.take().filter(|asked| is_kept(asked.approved));
            give_output(part, &output);
        });
    }

    /// Feeds a whole window as the bytes of an SSE body.
    pub fn window(&mut self, body: &[u8]) {
        self.open();
        self.feed_sse(body);
        self.close();
    }

    /// The server answers the last request.
    pub fn open(&mut self) {
        let about = self.request.take().flatten();
        let index = match &about {
            Some(id) => self
                .messages
                .iter()
                .position(|m| m.id.as_deref() == Some(id)),
            None => None,
        };
        let index = index.or_else(|| self.messages.len().checked_sub(1));
        let message = index.map(|index| &self.messages[index]);
        let continued = message.filter(|message| message.role == Role::Assistant);
        let assembler = match continued {
            Some(message) => Assembler::continuing(self.sdk, message.clone()),
            None => Assembler::new(self.sdk, format!("made-{}", self.windows)),
        };
        self.window = Some(Window {
            original: continued.and_then(|message| message.id.clone()),
            is_earlier: continued.is_some() && index.is_some_and(|i| i + 1 < self.messages.len()),
            assembler,
            replays: false,
            has_started: false,
            place: None,
            is_stale: false,
        });
        self.chunks = 0;
    }

    /// A page that was reloaded, or lost its connection, asks for the running turn.
    pub fn resume(&mut self) {
        // The client keeps a message only if it has calls that the stream may continue with.
        let sdk = self.sdk;
        let goes_on = |part: &ToolPart| match part.state {
            ToolState::InputStreaming => true,
            ToolState::InputAvailable => sdk == Sdk::V7 && part.provider_executed == Some(true),
            ToolState::ApprovalResponded => sdk == Sdk::V7,
            _ => false,
        };
        let last = self.messages.last().filter(|message| {
            let mut calls = message.parts.iter().filter_map(Part::as_tool);
            message.role == Role::Assistant && calls.any(goes_on)
        });
        let assembler = match last {
            Some(message) => Assembler::continuing(self.sdk, message.clone()),
            None => Assembler::new(self.sdk, format!("made-{}", self.windows)),
        };
        self.window = Some(Window {
            assembler,
            original: None,
            is_earlier: false,
            replays: true,
            has_started: false,
            place: None,
            is_stale: false,
        });
        self.chunks = 0;
    }

    /// Feeds bytes of an SSE body that hold whole events.
    pub fn feed_sse(&mut self, bytes: &[u8]) {
        // An event without its blank line is lost on the client, and so it is here.
        for event in sse::Decoder::new().push(bytes) {
            if event.data == sse::DONE {
                continue;
            }
            match serde_json::from_str::<Value>(&event.data) {
                Ok(value) => self.feed_json(value),
                Err(_) => self.throw("json".to_owned()),
            }
        }
    }

    /// Feeds one chunk as JSON, of whatever shape.
    pub fn feed_json(&mut self, value: Value) {
        if self.failed {
            return;
        }
        if prototype::is_refused(&value) {
            return self.throw("json".to_owned());
        }
        match valid::chunk(value, self.sdk) {
            Ok((chunk, unknown_field)) => {
                if let Some(path) = unknown_field {
                    self.strict_releases(format!("unknown field {path}"));
                }
                self.feed(&chunk);
            }
            Err(error) => {
                self.throw("schema".to_owned());
                // The client says no more than that; we do.
                if let Some(finding) = self.findings.last_mut() {
                    finding.reason = format!("schema: {error}");
                }
            }
        }
    }

    /// Feeds one chunk.
    pub fn feed(&mut self, chunk: &Chunk) {
        if self.failed {
            return;
        }
        self.chunks += 1;
        if !self.profile.accepts(chunk) {
            self.strict_releases(format!("{} holds what they do not know", chunk.type_name()));
        }
        if let Chunk::Start(_) = chunk {
            // It may move on to another message, and leave this one as it is.
            self.flush();
        }
        let Some(window) = &mut self.window else {
            return self.find(Kind::Throws, "a chunk outside of a window".to_owned());
        };
        if let Chunk::Start(start) = chunk
            && window.replays
        {
            let id = start.message_id.as_ref();
            let is_other = id.is_some() && id != window.assembler.message().id.as_ref();
            if is_other || !window.has_started {
                window.assembler.reset(id.cloned());
            }
            window.has_started = true;
        }
        let call = called(chunk, &window.assembler);
        let before = call
            .as_ref()
            .and_then(|call| window.assembler.call(call))
            .cloned();
        let applied = match window.assembler.apply(chunk) {
            Ok(applied) => applied,
            Err(error) => return self.throw(error.0),
        };
        if applied == Applied::Quiet {
            return;
        }
        self.place();
        if let (Some(before), Some(call)) = (before, call) {
            self.compare(&before, &call);
        }
        if let (Applied::Called, Chunk::ToolInputAvailable(available)) = (applied, chunk)
            && let Some(Some(output)) = self.client_tools.get(&available.tool_name)
        {
            let output = output.clone();
            self.output(&available.tool_call_id, Ok(output));
        }
    }

    /// The window's body ends.
    pub fn close(&mut self) {
        self.flush();
        self.windows += 1;
        let Some(window) = self.window.take().filter(|_| !self.failed) else {
            return;
        };
        let id = window.assembler.message().id.clone();
        if window.assembler.finish_reason() == Some(FinishReason::Interrupted) {
            self.interrupted.insert(id);
            return;
        }
        self.interrupted.remove(&id);
        if self.sends_by_itself() {
            if self.unsent.is_empty() {
                let reason = "the client sends again though nobody did anything";
                self.find(Kind::Loops, reason.to_owned());
            }
            let last = self.messages.last().and_then(|message| message.id.clone());
            self.send(last);
        }
    }

    fn sends_by_itself(&self) -> bool {
        let last = self.messages.last();
        let is_interrupted = last.is_some_and(|message| self.interrupted.contains(&message.id));
        !is_interrupted && predicate::sends(&self.messages)
    }

    /// All that was found, with what shows only when nothing more comes.
    pub fn verdict(&mut self) -> Vec<Finding> {
        self.flush();
        if self.failed {
            return self.findings.clone();
        }
        let mut findings = std::mem::take(&mut self.findings);
        self.look_at_the_end();
        std::mem::swap(&mut findings, &mut self.findings);
        let at_the_end = findings;
        self.findings.iter().cloned().chain(at_the_end).collect()
    }

    fn send(&mut self, about: Option<String>) {
        self.requests += 1;
        self.unsent.clear();
        self.request = Some(about);
    }

    /// Looks for a call that went back.
    fn compare(&mut self, before: &ToolPart, call: &str) {
        let Some(after) = self.window.as_ref().and_then(|w| w.assembler.call(call)) else {
            return;
        };
        if after.is_settled() {
            self.unsent.remove(call);
        }
        let question = before.approval.as_ref();
        let unanswered = question.is_some_and(|question| !self.answered.contains(&question.id));
        let is_back = match before.state {
            _ if before.is_settled() => {
                before.state != after.state
                    || before.output != after.output
                    || before.error_text != after.error_text
            }
            ToolState::InputAvailable => after.state == ToolState::InputStreaming,
            ToolState::ApprovalRequested => {
                let announced = [ToolState::InputStreaming, ToolState::InputAvailable];
                unanswered && announced.contains(&after.state)
            }
            _ => false,
        };
        if is_back {
            let (from, to) = (before.state.as_str(), after.state.as_str());
            self.find(
                Kind::StateBack,
                format!("call {call} went from {from} to {to}"),
            );
        }
    }

    fn throw(&mut self, reason: String) {
        self.find(Kind::Throws, reason);
        self.failed = true;
    }

    fn strict_releases(&mut self, reason: String) {
        if self.profile == Profile::Shared {
            self.find(Kind::StrictReleases, reason);
        }
    }

    fn find(&mut self, kind: Kind, reason: String) {
        self.findings.push(Finding {
            kind,
            reason,
            window: self.windows,
            chunk: self.chunks,
        });
    }
}

fn give_output(part: &mut ToolPart, output: &Result<Value, String>) {
    match output {
        Ok(output) => {
            part.state = ToolState::OutputAvailable;
            part.output = Some(output.clone());
            part.error_text = None;
        }
        Err(text) => {
            part.state = ToolState::OutputError;
            part.output = None;
            part.error_text = Some(text.clone());
        }
    }
}

/// The call that a chunk is about.
fn called(chunk: &Chunk, assembler: &Assembler) -> Option<String> {
    Some(match chunk {
        Chunk::ToolInputStart(chunk) => chunk.tool_call_id.clone(),
        Chunk::ToolInputDelta(chunk) => chunk.tool_call_id.clone(),
        Chunk::ToolInputAvailable(chunk) => chunk.tool_call_id.clone(),
        Chunk::ToolInputError(chunk) => chunk.tool_call_id.clone(),
        Chunk::ToolApprovalRequest(chunk) => chunk.tool_call_id.clone(),
        Chunk::ToolOutputAvailable(chunk) => chunk.tool_call_id.clone(),
        Chunk::ToolOutputError(chunk) => chunk.tool_call_id.clone(),
        Chunk::ToolOutputDenied(chunk) => chunk.tool_call_id.clone(),
        Chunk::ToolApprovalResponse(chunk) => {
            let mut calls = assembler.message().parts.iter().filter_map(Part::as_tool);
            let is_asked = |part: &&ToolPart| {
                part.approval
                    .as_ref()
                    .is_some_and(|asked| asked.id == chunk.approval_id)
            };
            calls.find(is_asked)?.tool_call_id.clone()
        }
        _ => return None,
    })
}
