//! One step: the model is told what it is owed, and listened to.

use std::future::pending;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gemini::live::{Activity, RealtimeInput, ServerContent, SessionResumptionUpdate, ToolCall};
use gemini::{Blob, ClientMessage, FunctionCall, ServerMessage};
use tokio::time::{sleep, timeout};
use turn::agent::{AgentEvent, Behavior, StepRequest};
use turn::event::Finish;

use super::Shared;
use super::line::Line;
use super::reading::{self, Reading};
use super::setup::{behavior, setup};
use super::told::{Owed, Told, seed, tool_response};
use super::upstream::Upstream;
use crate::agent::Heard;
use crate::event_sender::EventSender;
use crate::gemini::{Failure, chance};
use crate::speech;
use crate::talk::Ear;

/// How long somebody may say nothing before his message is taken to be over.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a model that does not wait for its calls may say nothing before its step is taken to be
/// over.
const REMARK: Duration = Duration::from_secs(5);

/// How long a model may take to begin to speak of a call before something else is said.
const REACTION: Duration = Duration::from_secs(3);

/// One step.
pub(super) struct Step<'a> {
    shared: &'a Shared,
    request: &'a StepRequest,
    sender: &'a EventSender,
    /// As long as somebody speaks.
    heard: Ear,
    is_spoken: bool,
    reading: Reading,
    /// How the session came to be, for the journal.
    opened: Opened,
    /// Whether a handle was refused, so that the history is told instead.
    is_handle_spent: bool,
    /// Whether what comes belongs to an answer that nobody hears any more.
    is_stale: bool,
    /// Whether the end of such an answer is still to come.
    is_end_owed: bool,
    /// Whether the model has made calls that it does not wait for.
    has_called: bool,
    /// Whether anything was heard of somebody who speaks.
    has_heard: bool,
}

/// How a session came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opened {
    /// It was there.
    Kept,
    /// By a handle.
    Resumed,
    /// With the history told to it.
    Seeded,
}

impl Opened {
    fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Resumed => "resumed",
            Self::Seeded => "seeded",
        }
    }
}

impl<'a> Step<'a> {
    pub(super) fn new(
        shared: &'a Shared,
        request: &'a StepRequest,
        sender: &'a EventSender,
        heard: Ear,
    ) -> Self {
        Self {
            shared,
            request,
            sender,
            is_spoken: heard.is_some(),
            heard,
            reading: Reading::default(),
            opened: Opened::Kept,
            is_handle_spent: false,
            is_stale: false,
            is_end_owed: false,
            has_called: false,
            has_heard: false,
        }
    }

    /// Runs the step, and then listens on for as long as anybody listens.
    pub(super) async fn run(&mut self, line: &mut Line) {
        match self.speak(line).await {
            Ok(()) => self.linger(line).await,
            Err(failure) => {
                line.upstream = None;
                self.sender.send(failure.into());
            }
        }
    }

    /// Asks, and asks again where the session was lost.
    async fn speak(&mut self, line: &mut Line) -> Result<(), Failure> {
        let retries = self.shared.config.common.retries;
        let mut asked = 0;
        loop {
            let before = line.told.clone();
            let Err(failure) = self.attempt(line).await else {
                return Ok(());
            };
            let is_unproven = self.opened == Opened::Resumed && !self.reading.has_begun;
            // A connection that was said to end ends with a code like any other.
            let is_lost = failure.is_transient
                || failure.code == "agent_cut_off"
                || is_unproven
                || line.is_leaving;
            line.upstream = None;
            line.is_half_told = false;
            if is_lost && self.has_called {
                // What was called is called. Asked again, the model would call once more.
                return self.end(line);
            }
            line.told = before;
            asked += 1;
            // What was spoken can't be spoken again.
            if !is_lost || (self.is_spoken && self.heard.is_none()) || asked > retries.limit {
                return Err(failure);
            }
            self.is_handle_spent |= is_unproven;
            tracing::debug!(code = failure.code, "gemini live is asked again");
            let transient = Failure {
                is_transient: true,
                ..failure
            };
            match retries.wait(asked, &transient, chance()) {
                Some(_) if is_unproven || self.reading.has_begun => {}
                Some(wait) => sleep(wait).await,
                None => return Err(transient),
            }
            self.sender.send_all(self.reading.again());
        }
    }

    async fn attempt(&mut self, line: &mut Line) -> Result<(), Failure> {
        let messages = self.session(line).await?;
        self.is_stale = self.opened == Opened::Kept && line.is_talking;
        self.is_end_owed = false;
        // Whoever lets go of the step now leaves a session behind that knows half of it.
        line.is_half_told = true;
        let mut told = Told::all(&self.request.history);
        for (place, message) in messages.iter().enumerate() {
            line.upstream()?.send(message).await?;
            let is_followed = place + 1 < messages.len() || self.heard.is_some();
            if is_followed && message.tool_response.is_some() {
                self.let_react(line, &mut told).await?;
            }
        }
        if self.heard.is_some() {
            line.upstream()?.send(&activity(true)).await?;
        }
        line.told = Some(told);
        line.is_half_told = self.heard.is_some();
        line.is_talking = true;
        let late = std::mem::take(&mut line.late);
        if !late.is_empty() && self.call(line, late).await? {
            return self.end(line);
        }
        loop {
            let message = self.next(line).await?;
            let Some(message) = message else {
                return self.end(line);
            };
            if self.take(line, message).await? {
                return self.end(line);
            }
        }
    }

    /// A model that is told what became of its call speaks of it. When something else is said at once,
    /// that is interrupted; and it is waited for, so that the two answers can be told apart.
    async fn let_react(&mut self, line: &mut Line, told: &mut Told) -> Result<(), Failure> {
        let react = async {
            loop {
                let message = line.upstream()?.next().await?;
                self.reading.usage(message.usage_metadata);
                line.is_leaving |= message.go_away.is_some();
                if let Some(content) = message.server_content {
                    return Ok(!content.turn_complete.unwrap_or_default());
                }
                if let Some(call) = message.tool_call {
                    let lost = call.function_calls.into_iter().map(|call| Owed {
                        id: call.id,
                        tool: call.name.unwrap_or_default(),
                        behavior: Behavior::Blocking,
                    });
                    told.calls.extend(lost);
                    return Ok(false);
                }
            }
        };
        self.is_stale = match timeout(REACTION, react).await {
            Ok(is_talking) => is_talking?,
            Err(_) => false,
        };
        Ok(())
    }

    /// The session, and what it is owed: the one that is there, one that is gone on with, or one that
    /// is told all.
    async fn session(&mut self, line: &mut Line) -> Result<Vec<ClientMessage>, Failure> {
        if std::mem::take(&mut line.is_half_told) {
            line.upstream = None;
            line.told = None;
        }
        let history = &self.request.history;
        let noted = self.request.session.as_ref();
        let told = line.told.clone();
        let told = told.or_else(|| noted.and_then(Told::from_session));
        let owed = told.as_ref().and_then(|told| told.owes(history));
        if line.upstream.is_some()
            && let Some(owed) = owed.clone()
        {
            self.opened = Opened::Kept;
            return Ok(owed);
        }
        line.upstream = None;
        line.is_talking = false;
        line.is_leaving = false;
        line.late.clear();
        let Shared { config, address } = self.shared;
        let tools = &self.request.tools;
        if let (Some(told), Some(owed), false) = (told, owed, self.is_handle_spent)
            && let Some(handle) = &told.handle
        {
            match Upstream::open(address, setup(config, tools, Some(handle))).await {
                Ok(upstream) => {
                    self.opened = Opened::Resumed;
                    line.upstream = Some(upstream);
                    line.told = Some(told);
                    return Ok(owed);
                }
                Err(failure) if failure.is_transient => return Err(failure),
                // The handle is too old, or of another model.
                Err(_) => self.is_handle_spent = true,
            }
        }
        line.upstream = Some(Upstream::open(address, setup(config, tools, None)).await?);
        self.opened = Opened::Seeded;
        line.told = None;
        Ok(seed(history).into_iter().collect())
    }

    /// The next message of the model; nothing, if the step is over without one. What is heard
    /// meanwhile is passed on.
    async fn next(&mut self, line: &mut Line) -> Result<Option<ServerMessage>, Failure> {
        let timeouts = self.shared.config.common.timeouts;
        loop {
            let time_limit = match () {
                () if self.heard.is_some() => IDLE_TIMEOUT,
                () if self.has_called => REMARK,
                () if self.reading.has_begun => timeouts.idle,
                () => timeouts.first_byte,
            };
            let heard = async {
                match &mut self.heard {
                    Some(heard) => heard.recv().await,
                    None => pending().await,
                }
            };
            let is_over = tokio::select! {
                message = timeout(time_limit, line.upstream()?.next()) => match message {
                    Ok(message) => return message.map(Some),
                    Err(_) if self.heard.is_some() => true,
                    Err(_) if self.has_called => return Ok(None),
                    Err(_) => return Err(Failure::timed_out()),
                },
                heard = heard => match heard {
                    Some(Heard::Sound { pcm, sample_rate }) => {
                        line.upstream()?.send(&sound(&pcm, sample_rate)).await?;
                        self.has_heard = true;
                        false
                    }
                    Some(Heard::End) | None => true,
                },
            };
            if is_over && !self.fall_silent(line).await? {
                return Ok(None);
            }
        }
    }

    /// Nobody speaks any more. Says whether anybody has: else there is nothing to answer.
    async fn fall_silent(&mut self, line: &mut Line) -> Result<bool, Failure> {
        self.heard = None;
        line.upstream()?.send(&activity(false)).await?;
        line.is_half_told = false;
        if !self.has_heard && self.is_stale {
            // The end of what was interrupted is on its way, and no step is there to hear it.
            line.upstream = None;
        }
        Ok(self.has_heard)
    }

    /// Takes a message of the model in, and says whether the step is over.
    async fn take(&mut self, line: &mut Line, message: ServerMessage) -> Result<bool, Failure> {
        self.reading.usage(message.usage_metadata);
        line.is_leaving |= message.go_away.is_some();
        if let Some(cancelled) = message.tool_call_cancellation {
            self.cancel(line, cancelled.ids);
        }
        if let Some(content) = message.server_content
            && self.hear(content)
        {
            return Ok(true);
        }
        match message.tool_call {
            Some(ToolCall { function_calls, .. }) if self.is_stale => {
                // It must not wait for what nobody will do.
                let refusals = function_calls.into_iter().map(Owed::refused).collect();
                line.upstream()?.send(&tool_response(refusals)).await?;
                Ok(false)
            }
            Some(ToolCall { function_calls, .. }) => self.call(line, function_calls).await,
            None => Ok(false),
        }
    }

    /// Takes in what the model says, and says whether it hands over.
    fn hear(&mut self, mut content: ServerContent) -> bool {
        let is_interrupted = content.interrupted.take().unwrap_or_default();
        let is_complete = content.turn_complete.take().unwrap_or_default();
        if self.is_stale {
            // An answer that was interrupted says so, and is then complete; one that was complete
            // already says only that.
            self.is_stale = !is_interrupted && !is_complete;
            self.is_end_owed = is_interrupted && !is_complete;
            return false;
        }
        if is_interrupted {
            self.sender.send(speech::interrupted());
        }
        self.sender.send_all(self.reading.content(content));
        if is_complete && self.is_end_owed && !self.reading.has_begun {
            self.is_end_owed = false;
            return false;
        }
        is_complete
    }

    /// Takes calls in, and says whether the model waits for any of them.
    async fn call(&mut self, line: &mut Line, calls: Vec<FunctionCall>) -> Result<bool, Failure> {
        let mut waits = false;
        let mut pending = Vec::new();
        for call in calls {
            let tool = call.name.clone().unwrap_or_default();
            let declared = self.request.tools.iter().find(|known| known.name == tool);
            let behavior = declared.map_or(Behavior::Blocking, |tool| {
                behavior(&self.shared.config, tool)
            });
            let Some(event) = reading::call(call) else {
                continue;
            };
            let AgentEvent::Call { provider_id, .. } = &event else {
                continue;
            };
            let owed = Owed {
                id: provider_id.clone(),
                tool,
                behavior,
            };
            match behavior {
                Behavior::Blocking => waits = true,
                Behavior::NonBlocking => pending.push(owed.pending()),
            }
            if let Some(told) = &mut line.told {
                told.calls.push(owed);
            }
            self.sender.send(event);
            self.reading.has_begun = true;
            self.has_called = true;
        }
        if !pending.is_empty() {
            line.upstream()?.send(&tool_response(pending)).await?;
        }
        Ok(waits)
    }

    fn cancel(&self, line: &mut Line, ids: Vec<String>) {
        if let Some(told) = &mut line.told {
            let is_cancelled = |call: &Owed| call.id.as_ref().is_some_and(|id| ids.contains(id));
            told.calls.retain(|call| !is_cancelled(call));
        }
        self.sender
            .send(AgentEvent::Cancelled { provider_ids: ids });
    }

    /// The step is over.
    fn end(&mut self, line: &mut Line) -> Result<(), Failure> {
        line.is_talking = false;
        let model = &self.shared.config.common.model;
        self.sender.send(self.reading.metadata(model));
        self.note_session(line);
        self.sender.send(AgentEvent::Ended(Finish::Stop));
        Ok(())
    }

    fn note_session(&self, line: &Line) {
        let told = line.told.as_ref();
        let session = told.map(|told| told.to_session(self.opened.as_str()));
        self.sender.send_all(session.map(AgentEvent::Session));
    }

    /// Listens on while the chat waits or rests.
    async fn linger(&mut self, line: &mut Line) {
        while let Some(upstream) = &mut line.upstream {
            // Whoever needs it next opens another by the handle. While there is none, this one is
            // good for as long as it lasts.
            if line.is_leaving && line.told.as_ref().is_some_and(|told| told.handle.is_some()) {
                break;
            }
            let Ok(message) = upstream.next().await else {
                break;
            };
            line.is_leaving |= message.go_away.is_some();
            if let Some(update) = message.session_resumption_update {
                note(line, update);
                self.note_session(line);
            }
            if let Some(cancelled) = message.tool_call_cancellation {
                self.cancel(line, cancelled.ids);
            }
            let calls = message.tool_call.map(|call| call.function_calls);
            line.late.extend(calls.into_iter().flatten());
        }
        line.upstream = None;
    }
}

/// Keeps a handle, if it is one. Only those count that come when a step is over: an earlier one stands
/// for a conversation that lacks this step.
fn note(line: &mut Line, update: SessionResumptionUpdate) {
    if let Some(told) = &mut line.told {
        let handle = update.new_handle.filter(|handle| !handle.is_empty());
        told.handle = handle.filter(|_| update.resumable != Some(false));
    }
}

fn activity(is_start: bool) -> ClientMessage {
    let (start, end) = match is_start {
        true => (Some(Activity::default()), None),
        false => (None, Some(Activity::default())),
    };
    realtime(RealtimeInput {
        activity_start: start,
        activity_end: end,
        ..RealtimeInput::default()
    })
}

fn sound(pcm: &[u8], sample_rate: u32) -> ClientMessage {
    let kind = format!("audio/pcm;rate={sample_rate}");
    realtime(RealtimeInput {
        audio: Some(Blob::new(kind, STANDARD.encode(pcm))),
        ..RealtimeInput::default()
    })
}

fn realtime(input: RealtimeInput) -> ClientMessage {
    ClientMessage {
        realtime_input: Some(input),
        ..ClientMessage::default()
    }
}
