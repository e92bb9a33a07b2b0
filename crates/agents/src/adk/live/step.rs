//! One step of a live run: its input and its output.

use std::collections::VecDeque;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use gemini::Data;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};
use turn::agent::{AgentEvent, StepRequest};
use turn::call::{Outcome, UnknownReason};

use super::super::event::Event;
use super::super::failure;
use super::super::note;
use super::super::server::SHORT;
use super::super::sessions::SessionCreation;
use super::Shared;
use super::pace::{Pace, TimeLimit};
use super::reading::Reading;
use super::synced_history::{InitialHistory, SyncedHistory};
use super::upstream::Upstream;
use crate::event_sender::EventSender;
use crate::gemini::Failure;
use crate::session_conversation::{AUDIO_PAUSE, AudioChunk, AudioReceiver};

/// How long calls have to come side by side. Models send them one by one, and all run at once.
const SIDE_BY_SIDE: Duration = Duration::from_millis(100);

/// How long a long-running tool has for a first answer, before it is taken to give none.
const FIRST_ANSWER: Duration = Duration::from_millis(500);

/// How many names are tried for a session. Each that is taken belongs to a socket that was lost.
const NAMES: usize = 32;

/// The key under which the journal records a session.
const NOTED: &str = "liveSession";

/// What outlives a step.
#[derive(Default)]
pub(super) struct SessionState {
    open: Option<Open>,
}

/// A socket, and how far its session has come.
struct Open {
    upstream: Upstream,
    session: String,
    synced: SyncedHistory,
    reading: Reading,
    pace: Pace,
    /// What came when no step was there to say it, in order.
    held: VecDeque<Event>,
    is_fresh: bool,
    model: Model,
}

/// Which session with the model is behind a socket. ADK opens another when the model's connection
/// ends, reports it to nobody, and sends the model nothing of the history since the socket was
/// opened.
#[derive(Default)]
struct Model {
    session: Option<String>,
    is_forgetful: bool,
}

impl Model {
    /// Takes the session of an event, and returns whether it is one without the history.
    fn take(&mut self, event: &Event) -> bool {
        let session = event.live_session_id.as_ref();
        let is_other = |now: &String| self.session.as_ref().is_some_and(|known| known != now);
        let is_new = session.is_some_and(is_other);
        let actions = event.actions.as_ref();
        let is_transfer = actions.is_some_and(|actions| actions.transfer_to_agent.is_some());
        self.session = match is_transfer {
            // The agent that is transferred to has a session of its own, and gets the history.
            true => None,
            false => session.or(self.session.as_ref()).cloned(),
        };
        self.is_forgetful |= is_new;
        is_new
    }
}

/// One step.
pub(super) struct Step<'a> {
    shared: &'a Shared,
    request: &'a StepRequest,
    sender: &'a EventSender,
    audio: AudioReceiver,
    /// Whether the step had any output.
    has_begun: bool,
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
            has_begun: false,
        }
    }

    /// Runs the step, and then reads on for as long as its stream is read.
    pub(super) async fn run(&mut self, state: &mut SessionState) {
        // Taken out of the state, so that a step that is dropped in the middle closes its socket.
        match self.converse(state.open.take()).await {
            Ok(open) => {
                state.open = Some(open);
                self.listen(state).await;
            }
            Err(failure) => self.sender.send(failure.into()),
        }
    }

    async fn converse(&mut self, kept: Option<Open>) -> Result<Open, Failure> {
        let kept = kept.and_then(|open| {
            let pending = open.missing(self.request)?;
            Some((open, pending))
        });
        if let Some((open, pending)) = kept {
            match self.attempt(open, pending).await {
                // It may have been lost long ago.
                Err(failure) if self.may_ask_again() => {
                    let (chat, turn) = (&self.request.chat, &self.request.turn);
                    tracing::debug!(%chat, %turn, code = failure.code, "live session lost, opening another");
                }
                done => return done,
            }
        }
        let (open, pending) = self.open().await?;
        let done = self.attempt(open, pending).await;
        match done {
            // So it ends a socket for an app that it does not have.
            Err(failure) if failure.code == "agent_cut_off" && !self.has_begun => {
                match self.shared.server.has_app().await {
                    false => Err(failure::of_status(404, "")),
                    true => Err(failure),
                }
            }
            done => done,
        }
    }

    /// Whether the input had no effect, so that it can be sent in another session.
    fn may_ask_again(&self) -> bool {
        let is_done = self.request.own.iter().all(|own| own.outcome.is_some());
        is_done && !self.has_begun && !self.audio.is_sent
    }

    /// Makes a session from the journal, and opens a socket for it.
    async fn open(&self) -> Result<(Open, Vec<Value>), Failure> {
        let server = &self.shared.server;
        let user = self.request.principal.as_str();
        // What ran in a session whose socket is gone was called off, or may have been done.
        let reason = match self.request.is_again {
            true => UnknownReason::ServerStopped,
            false => UnknownReason::ConnectionCut,
        };
        let own = self.request.own.iter().filter(|own| own.outcome.is_none());
        let lost = own.filter_map(|own| own.call.provider_id.clone());
        self.sender
            .send_all(lost.map(|provider_id| AgentEvent::Settled {
                provider_id,
                outcome: Outcome::Unknown { reason },
            }));
        let request = note::settled(self.request, reason, |_| None);
        let root = match request.history.len() {
            1 => String::new(),
            _ => server
                .root()
                .await
                .unwrap_or_else(|| server.app().to_owned()),
        };
        let InitialHistory { events, frames } = InitialHistory::of(&request, &root);
        let noted = noted(&request);
        let before = match &noted {
            Some(noted) => server.session(user, noted, SHORT).await?,
            None => None,
        };
        let state = before.map(|session| session.state).unwrap_or_default();
        let mut names = (0..NAMES).map(|lost| note::fresh_session(&request, lost));
        let session = loop {
            let name = names.next().ok_or_else(failure::cut_off)?;
            let (events, state) = (events.clone(), state.clone());
            match server.make_session(&request, &name, events, state).await? {
                SessionCreation::Whole => break name,
                SessionCreation::Empty => return Err(failure::without_history()),
                SessionCreation::Taken => {}
            }
        };
        let open = Open {
            upstream: self.shared.endpoint.open(user, &session).await?,
            session,
            synced: SyncedHistory::all(&self.request.history),
            reading: Reading::of(server.agents()),
            pace: Pace::default(),
            held: VecDeque::new(),
            is_fresh: true,
            model: Model::default(),
        };
        Ok((open, frames))
    }

    /// Sends the input to a session, and reads its output.
    async fn attempt(&mut self, mut open: Open, pending: Vec<Value>) -> Result<Open, Failure> {
        self.exchange(&mut open, pending).await?;
        self.sender.send_all(open.reading.hand_over());
        open.is_fresh = false;
        Ok(open)
    }

    async fn exchange(&mut self, open: &mut Open, pending: Vec<Value>) -> Result<(), Failure> {
        let note = json!({ NOTED: open.session });
        self.sender.send(AgentEvent::Session(note));
        self.sender.send_all(open.reading.begin());
        match (pending.is_empty(), open.reading.is_waiting()) {
            (false, true) => open.pace.result_sent(),
            (true, _) if !self.audio.is_spoken() => {}
            _ => open.pace.message_sent(),
        }
        open.reading.wait_no_more();
        for frame in &pending {
            open.upstream.send(frame).await?;
        }
        open.synced = SyncedHistory::all(&self.request.history);
        while let Some(event) = self.next(open).await? {
            open.pace.take(&event);
            if open.model.take(&event) && self.may_ask_again() {
                return Err(failure::cut_off());
            }
            if event.calls().next().is_some() && !event.is_partial() {
                return self.call(open, event).await;
            }
            self.send_event(open, event, &[])?;
        }
        Ok(())
    }

    /// Sends an event, if there is anything to show of it.
    fn send_event(
        &mut self,
        open: &mut Open,
        event: Event,
        answered: &[String],
    ) -> Result<(), Failure> {
        let (events, _) = open.reading.read_output(event, answered)?;
        self.has_begun |= !events.is_empty();
        self.sender.send_all(events);
        Ok(())
    }

    /// Sends calls, with those that come beside them. Other events are kept.
    async fn call(&mut self, open: &mut Open, event: Event) -> Result<(), Failure> {
        let mut calls = vec![event];
        let is_later = |event: &Event| event.calls().any(|call| event.is_long_running(call));
        let until = Instant::now();
        let mut rest = VecDeque::new();
        loop {
            let time_limit = match calls.iter().any(is_later) {
                true => FIRST_ANSWER,
                false => SIDE_BY_SIDE,
            };
            let is_settled = {
                let answered = answered(&rest);
                let mut ids = calls.iter().flat_map(Event::calls);
                ids.all(|call| call.id.as_ref().is_some_and(|id| answered.contains(id)))
            };
            let next = match open.held.pop_front() {
                Some(event) => event,
                None if is_settled => break,
                None => match timeout_at(until + time_limit, open.upstream.next()).await {
                    Ok(event) => event?,
                    Err(_) => break,
                },
            };
            let is_call = next.calls().next().is_some() && !next.is_partial();
            // Calls that follow a result are made because of it.
            if is_call && answered(&rest).is_empty() {
                open.pace.take(&next);
                calls.push(next);
            } else {
                rest.push_back(next);
            }
        }
        let answered = answered(&rest);
        open.held = rest;
        for event in calls {
            let (later, now) = apart(event);
            self.send_event(open, now, &answered)?;
            self.send_event(open, later, &answered)?;
        }
        Ok(())
    }

    /// The next event; none, if the step is over without one. Audio is passed on meanwhile.
    async fn next(&mut self, open: &mut Open) -> Result<Option<Event>, Failure> {
        if let Some(event) = open.held.pop_front() {
            return Ok(Some(event));
        }
        loop {
            let time_limit = match (self.audio.is_open(), open.pace.time_limit(open.is_fresh)) {
                (true, _) => AUDIO_PAUSE,
                (false, TimeLimit::Over) => return Ok(None),
                // A tool may take as long as it likes.
                (false, _) if open.reading.is_working() => Duration::MAX,
                (false, TimeLimit::OverAfter(wait) | TimeLimit::LostAfter(wait)) => wait,
            };
            let is_open = self.audio.is_open();
            tokio::select! {
                event = timeout(time_limit, open.upstream.next()) => match event {
                    Ok(event) => return event.map(Some),
                    Err(_) if is_open => {}
                    Err(_) => match open.pace.time_limit(open.is_fresh) {
                        TimeLimit::LostAfter(_) => return Err(failure::timed_out()),
                        _ => return Ok(None),
                    },
                },
                chunk = self.audio.next() => if let Some(chunk) = chunk {
                    open.upstream.send(&sound(&chunk)).await?;
                    self.audio.is_sent = true;
                    continue;
                },
            }
            // The user's speech has ended. If there was none, there is nothing to answer.
            self.audio.close();
            if !self.audio.is_sent {
                return Ok(None);
            }
            open.upstream
                .send(&json!({"audio_stream_end": true}))
                .await?;
            open.pace.result_sent();
        }
    }

    /// Reads on for outcomes of the step's calls, until the next step or the end of the chat.
    async fn listen(&self, state: &mut SessionState) {
        let Some(open) = &mut state.open else { return };
        for event in &open.held {
            self.sender.send_all(open.reading.read_responses(event));
        }
        while let Some(open) = &mut state.open {
            let is_over = !open.reading.is_working() && !open.reading.is_waiting();
            match open.upstream.next().await {
                // Unsolicited output. A model that speaks by itself is not interrupted by a message
                // of which it would be hard to say what of it is the answer.
                Ok(event) if is_over && open.held.is_empty() => open.pace.take(&event),
                Ok(event) => {
                    self.sender.send_all(open.reading.read_responses(&event));
                    open.hold(event);
                }
                Err(failure) => {
                    if open.reading.is_working() {
                        self.sender.send(failure.into());
                    }
                    state.open = None;
                }
            }
        }
    }
}

impl Open {
    /// What the session lacks for a step; none, if it can't be used for it.
    fn missing(&self, request: &StepRequest) -> Option<Vec<Value>> {
        let is_new = note::steps(request) == 0;
        let is_behind = self.reading.is_waiting() || self.reading.is_working();
        let is_speaking = self.pace.is_answering() || !self.held.is_empty();
        if self.model.is_forgetful || is_new && (is_behind || is_speaking) {
            return None;
        }
        self.synced.missing(&request.history)
    }

    /// Keeps an event for the next step. Audio from before an interruption is dropped.
    fn hold(&mut self, event: Event) {
        if event.interrupted == Some(true) {
            for held in &mut self.held {
                if let Some(content) = &mut held.content {
                    let is_sound = |data: &Data| matches!(data, Data::InlineData(_));
                    content.parts.retain(|part| !is_sound(&part.data));
                }
            }
        }
        self.held.push_back(event);
    }
}

/// Long-running calls in an event of their own, so that none waits for the others.
fn apart(event: Event) -> (Event, Event) {
    let (mut later, mut now) = (event.clone(), event);
    let is_later = |event: &Event, data: &Data| match data {
        Data::FunctionCall(call) => event.is_long_running(call),
        _ => false,
    };
    let all = now.clone();
    for (event, keeps) in [(&mut later, true), (&mut now, false)] {
        let parts = event.content.iter_mut();
        for content in parts {
            content
                .parts
                .retain(|part| is_later(&all, &part.data) == keeps);
        }
    }
    (later, now)
}

/// The session that was recorded last, whose state is taken over.
fn noted(request: &StepRequest) -> Option<String> {
    let session = request.session.as_ref()?;
    let name = session.get(NOTED).or_else(|| session.get("session"))?;
    name.as_str().map(str::to_owned)
}

/// The calls that have a response among some events.
fn answered(events: &VecDeque<Event>) -> Vec<String> {
    let responses = events.iter().flat_map(Event::responses);
    responses
        .filter_map(|response| response.id.clone())
        .collect()
}

fn sound(AudioChunk { mime_type, pcm }: &AudioChunk) -> Value {
    json!({"blob": {"mime_type": mime_type, "data": URL_SAFE.encode(pcm)}})
}
