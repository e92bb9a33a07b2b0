//! One step: sends the model what it lacks, and reads its output.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gemini::live::{Activity, RealtimeInput, ServerContent, SessionResumptionUpdate, ToolCall};
use gemini::{Blob, ClientMessage, FunctionCall, ServerMessage};
use tokio::time::{sleep, timeout};
use turn::agent::{AgentEvent, Behavior, StepRequest};
use turn::event::Finish;

use super::Shared;
use super::reading::{self, Reading};
use super::session_state::SessionState;
use super::setup::{behavior, setup};
use super::synced_history::{PendingCall, SyncedHistory, initial_history, tool_response};
use super::upstream::Upstream;
use crate::event_sender::EventSender;
use crate::gemini::{Failure, chance};
use crate::session_conversation::{AUDIO_PAUSE, AudioChunk, AudioReceiver};
use crate::speech;

/// How long a model that does not wait for its calls may say nothing before its step is taken to be
/// over.
const REMARK: Duration = Duration::from_secs(5);

/// How long a model may take to begin to comment on a call before the next message is sent.
const REACTION: Duration = Duration::from_secs(3);

/// One step.
pub(super) struct Step<'a> {
    shared: &'a Shared,
    request: &'a StepRequest,
    sender: &'a EventSender,
    audio: AudioReceiver,
    reading: Reading,
    /// How the session came to be, for the journal.
    opened: Opened,
    /// Whether a handle was refused, so that the history is sent instead.
    is_handle_spent: bool,
    /// Whether the output belongs to an answer that is not read any more.
    is_stale: bool,
    /// Whether the end of such an answer is still to come.
    is_end_pending: bool,
    /// Whether the model has made calls that it does not wait for.
    has_called: bool,
}

/// How a session came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opened {
    /// It was there.
    Kept,
    /// By a handle.
    Resumed,
    /// With the history sent to it.
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
        audio: AudioReceiver,
    ) -> Self {
        Self {
            shared,
            request,
            sender,
            audio,
            reading: Reading::default(),
            opened: Opened::Kept,
            is_handle_spent: false,
            is_stale: false,
            is_end_pending: false,
            has_called: false,
        }
    }

    /// Runs the step, and then reads on for as long as its stream is read.
    pub(super) async fn run(&mut self, state: &mut SessionState) {
        match self.answer(state).await {
            Ok(()) => self.linger(state).await,
            Err(failure) => {
                state.upstream = None;
                self.sender.send(failure.into());
            }
        }
    }

    /// Asks, and asks again where the session was lost.
    async fn answer(&mut self, state: &mut SessionState) -> Result<(), Failure> {
        let retries = self.shared.config.common.retries;
        let mut asked = 0;
        loop {
            let before = state.synced.clone();
            let Err(failure) = self.attempt(state).await else {
                return Ok(());
            };
            let is_unproven = self.opened == Opened::Resumed && !self.reading.has_begun;
            // A connection whose end was announced ends with a code like any other.
            let is_lost = failure.is_transient
                || failure.code == "agent_cut_off"
                || is_unproven
                || state.is_leaving;
            state.upstream = None;
            state.is_partly_synced = false;
            if is_lost && self.has_called {
                // Calls that were made are kept. Asked again, the model would make them once more.
                return self.end(state);
            }
            state.synced = before;
            asked += 1;
            // What was spoken can't be spoken again.
            let is_spoken = self.audio.is_spoken() && !self.audio.is_open();
            if !is_lost || is_spoken || asked > retries.limit {
                return Err(failure);
            }
            self.is_handle_spent |= is_unproven;
            let (chat, turn) = (&self.request.chat, &self.request.turn);
            tracing::debug!(%chat, %turn, code = failure.code, attempt = asked, "retrying gemini live session");
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

    async fn attempt(&mut self, state: &mut SessionState) -> Result<(), Failure> {
        let messages = self.session(state).await?;
        self.is_stale = self.opened == Opened::Kept && state.is_answering;
        self.is_end_pending = false;
        // A step that is dropped from here on leaves a session with a part of the history.
        state.is_partly_synced = true;
        let mut synced = SyncedHistory::all(&self.request.history);
        for (place, message) in messages.iter().enumerate() {
            state.upstream()?.send(message).await?;
            let is_followed = place + 1 < messages.len() || self.audio.is_open();
            if is_followed && message.tool_response.is_some() {
                self.let_react(state, &mut synced).await?;
            }
        }
        if self.audio.is_open() {
            state.upstream()?.send(&activity(true)).await?;
        }
        state.synced = Some(synced);
        state.is_partly_synced = self.audio.is_open();
        state.is_answering = true;
        let late = std::mem::take(&mut state.late);
        if !late.is_empty() && self.call(state, late).await? {
            return self.end(state);
        }
        loop {
            let message = self.next(state).await?;
            let Some(message) = message else {
                return self.end(state);
            };
            if self.take(state, message).await? {
                return self.end(state);
            }
        }
    }

    /// A model that gets the outcome of its call comments on it. When a message follows at once,
    /// the comment is interrupted; and it is waited for, so that the two answers can be distinguished.
    async fn let_react(
        &mut self,
        state: &mut SessionState,
        synced: &mut SyncedHistory,
    ) -> Result<(), Failure> {
        let react = async {
            loop {
                let message = state.upstream()?.next().await?;
                self.reading.usage(message.usage_metadata);
                state.is_leaving |= message.go_away.is_some();
                if let Some(content) = message.server_content {
                    return Ok(!content.turn_complete.unwrap_or_default());
                }
                if let Some(call) = message.tool_call {
                    let lost = call.function_calls.into_iter().map(|call| PendingCall {
                        id: call.id,
                        tool: call.name.unwrap_or_default(),
                        behavior: Behavior::Blocking,
                    });
                    synced.calls.extend(lost);
                    return Ok(false);
                }
            }
        };
        self.is_stale = match timeout(REACTION, react).await {
            Ok(is_answering) => is_answering?,
            Err(_) => false,
        };
        Ok(())
    }

    /// The session, and what it lacks: the current one, one that is resumed, or a new one
    /// with the whole history.
    async fn session(&mut self, state: &mut SessionState) -> Result<Vec<ClientMessage>, Failure> {
        if std::mem::take(&mut state.is_partly_synced) {
            state.upstream = None;
            state.synced = None;
        }
        let history = &self.request.history;
        let noted = self.request.session.as_ref();
        let synced = state.synced.clone();
        let synced = synced.or_else(|| noted.and_then(SyncedHistory::from_session));
        let pending = synced.as_ref().and_then(|synced| synced.missing(history));
        if state.upstream.is_some()
            && let Some(pending) = pending.clone()
        {
            self.opened = Opened::Kept;
            return Ok(pending);
        }
        state.upstream = None;
        state.is_answering = false;
        state.is_leaving = false;
        state.late.clear();
        let Shared { config, address } = self.shared;
        let tools = &self.request.tools;
        if let (Some(synced), Some(pending), false) = (synced, pending, self.is_handle_spent)
            && let Some(handle) = &synced.handle
        {
            match Upstream::open(address, setup(config, tools, Some(handle))).await {
                Ok(upstream) => {
                    self.opened = Opened::Resumed;
                    state.upstream = Some(upstream);
                    state.synced = Some(synced);
                    return Ok(pending);
                }
                Err(failure) if failure.is_transient => return Err(failure),
                // The handle is too old, or of another model.
                Err(_) => self.is_handle_spent = true,
            }
        }
        state.upstream = Some(Upstream::open(address, setup(config, tools, None)).await?);
        self.opened = Opened::Seeded;
        state.synced = None;
        Ok(initial_history(history).into_iter().collect())
    }

    /// The next message of the model; none, if the step is over without one. Audio is passed on
    /// meanwhile.
    async fn next(&mut self, state: &mut SessionState) -> Result<Option<ServerMessage>, Failure> {
        let timeouts = self.shared.config.common.timeouts;
        loop {
            let time_limit = match () {
                () if self.audio.is_open() => AUDIO_PAUSE,
                () if self.has_called => REMARK,
                () if self.reading.has_begun => timeouts.idle,
                () => timeouts.first_byte,
            };
            let is_open = self.audio.is_open();
            let is_over = tokio::select! {
                message = timeout(time_limit, state.upstream()?.next()) => match message {
                    Ok(message) => return message.map(Some),
                    Err(_) if is_open => true,
                    Err(_) if self.has_called => return Ok(None),
                    Err(_) => return Err(Failure::timed_out()),
                },
                chunk = self.audio.next() => match chunk {
                    Some(chunk) => {
                        state.upstream()?.send(&sound(chunk)).await?;
                        self.audio.is_sent = true;
                        false
                    }
                    None => true,
                },
            };
            if is_over && !self.end_audio(state).await? {
                return Ok(None);
            }
        }
    }

    /// The user's speech has ended. Returns whether there was any: else there is nothing to answer.
    async fn end_audio(&mut self, state: &mut SessionState) -> Result<bool, Failure> {
        self.audio.close();
        state.upstream()?.send(&activity(false)).await?;
        state.is_partly_synced = false;
        if !self.audio.is_sent && self.is_stale {
            // The end of what was interrupted is on its way, and no step is there to read it.
            state.upstream = None;
        }
        Ok(self.audio.is_sent)
    }

    /// Takes a message of the model, and returns whether the step is over.
    async fn take(
        &mut self,
        state: &mut SessionState,
        message: ServerMessage,
    ) -> Result<bool, Failure> {
        self.reading.usage(message.usage_metadata);
        state.is_leaving |= message.go_away.is_some();
        if let Some(cancelled) = message.tool_call_cancellation {
            self.cancel(state, cancelled.ids);
        }
        if let Some(content) = message.server_content
            && self.take_content(content)
        {
            return Ok(true);
        }
        match message.tool_call {
            Some(ToolCall { function_calls, .. }) if self.is_stale => {
                // It must not wait for calls that will not run.
                let refusals = function_calls
                    .into_iter()
                    .map(PendingCall::refused)
                    .collect();
                state.upstream()?.send(&tool_response(refusals)).await?;
                Ok(false)
            }
            Some(ToolCall { function_calls, .. }) => self.call(state, function_calls).await,
            None => Ok(false),
        }
    }

    /// Takes a server content, and returns whether the model hands over.
    fn take_content(&mut self, mut content: ServerContent) -> bool {
        let is_interrupted = content.interrupted.take().unwrap_or_default();
        let is_complete = content.turn_complete.take().unwrap_or_default();
        if self.is_stale {
            // An answer that was interrupted reports that, and is then complete; one that was complete
            // already reports only that.
            self.is_stale = !is_interrupted && !is_complete;
            self.is_end_pending = is_interrupted && !is_complete;
            return false;
        }
        if is_interrupted {
            self.sender.send(speech::interrupted());
        }
        self.sender.send_all(self.reading.content(content));
        if is_complete && self.is_end_pending && !self.reading.has_begun {
            self.is_end_pending = false;
            return false;
        }
        is_complete
    }

    /// Takes calls, and returns whether the model waits for any of them.
    async fn call(
        &mut self,
        state: &mut SessionState,
        calls: Vec<FunctionCall>,
    ) -> Result<bool, Failure> {
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
            let call = PendingCall {
                id: provider_id.clone(),
                tool,
                behavior,
            };
            match behavior {
                Behavior::Blocking => waits = true,
                Behavior::NonBlocking => pending.push(call.pending()),
            }
            if let Some(synced) = &mut state.synced {
                synced.calls.push(call);
            }
            self.sender.send(event);
            self.reading.has_begun = true;
            self.has_called = true;
        }
        if !pending.is_empty() {
            state.upstream()?.send(&tool_response(pending)).await?;
        }
        Ok(waits)
    }

    fn cancel(&self, state: &mut SessionState, ids: Vec<String>) {
        if let Some(synced) = &mut state.synced {
            let is_cancelled =
                |call: &PendingCall| call.id.as_ref().is_some_and(|id| ids.contains(id));
            synced.calls.retain(|call| !is_cancelled(call));
        }
        self.sender
            .send(AgentEvent::Cancelled { provider_ids: ids });
    }

    /// The step is over.
    fn end(&mut self, state: &mut SessionState) -> Result<(), Failure> {
        state.is_answering = false;
        let model = &self.shared.config.common.model;
        self.sender.send(self.reading.metadata(model));
        self.note_session(state);
        self.sender.send(AgentEvent::Ended(Finish::Stop));
        Ok(())
    }

    fn note_session(&self, state: &SessionState) {
        let synced = state.synced.as_ref();
        let session = synced.map(|synced| synced.to_session(self.opened.as_str()));
        self.sender.send_all(session.map(AgentEvent::Session));
    }

    /// Reads on while the chat is parked or idle.
    async fn linger(&mut self, state: &mut SessionState) {
        while let Some(upstream) = &mut state.upstream {
            // The next step resumes it by the handle. While there is none, this one is
            // good for as long as it lasts.
            if state.is_leaving
                && state
                    .synced
                    .as_ref()
                    .is_some_and(|synced| synced.handle.is_some())
            {
                break;
            }
            let Ok(message) = upstream.next().await else {
                break;
            };
            state.is_leaving |= message.go_away.is_some();
            if let Some(update) = message.session_resumption_update {
                note(state, update);
                self.note_session(state);
            }
            if let Some(cancelled) = message.tool_call_cancellation {
                self.cancel(state, cancelled.ids);
            }
            let calls = message.tool_call.map(|call| call.function_calls);
            state.late.extend(calls.into_iter().flatten());
        }
        state.upstream = None;
    }
}

/// Stores a handle, if it is one. Only those count that come when a step is over: an earlier one is
/// for a conversation that lacks this step.
fn note(state: &mut SessionState, update: SessionResumptionUpdate) {
    if let Some(synced) = &mut state.synced {
        let handle = update.new_handle.filter(|handle| !handle.is_empty());
        synced.handle = handle.filter(|_| update.resumable != Some(false));
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

fn sound(AudioChunk { mime_type, pcm }: AudioChunk) -> ClientMessage {
    realtime(RealtimeInput {
        audio: Some(Blob::new(mime_type, STANDARD.encode(pcm))),
        ..RealtimeInput::default()
    })
}

fn realtime(input: RealtimeInput) -> ClientMessage {
    ClientMessage {
        realtime_input: Some(input),
        ..ClientMessage::default()
    }
}
