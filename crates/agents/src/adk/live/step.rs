//! One step of a live run: what is told, and what is read.

use std::collections::VecDeque;
use std::future::pending;
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
use super::super::sessions::Made;
use super::Shared;
use super::pace::{Pace, TimeLimit};
use super::reading::Reading;
use super::told::{Retelling, Told};
use super::upstream::Upstream;
use crate::agent::Heard;
use crate::event_sender::EventSender;
use crate::gemini::Failure;
use crate::talk::Ear;

/// How long somebody may say nothing before his message is taken to be over.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long calls have to come side by side. Models send them one by one, and all run at once.
const SIDE_BY_SIDE: Duration = Duration::from_millis(100);

/// How long a long-running tool has for a first answer, before it is taken to give none.
const FIRST_ANSWER: Duration = Duration::from_millis(500);

/// How many names are tried for a session. Each that is taken stands for a socket that was lost.
const NAMES: usize = 32;

/// The name under which the journal is told of a session.
const NOTED: &str = "liveSession";

/// What outlives a step.
#[derive(Default)]
pub(super) struct Line {
    open: Option<Open>,
}

/// A socket, and how far its session has come.
struct Open {
    upstream: Upstream,
    session: String,
    told: Told,
    reading: Reading,
    pace: Pace,
    /// What came when no step was there to say it, in order.
    held: VecDeque<Event>,
    is_fresh: bool,
    model: Model,
}

/// Which session with the model stands behind a socket. ADK opens another when the model's connection
/// comes to its end, tells nobody, and tells the model nothing of what was said since the socket was
/// opened.
#[derive(Default)]
struct Model {
    session: Option<String>,
    is_forgetful: bool,
}

impl Model {
    /// Takes in of which session an event is, and says whether it is one that knows nothing.
    fn take(&mut self, event: &Event) -> bool {
        let session = event.live_session_id.as_ref();
        let is_other = |now: &String| self.session.as_ref().is_some_and(|known| known != now);
        let is_new = session.is_some_and(is_other);
        let actions = event.actions.as_ref();
        let is_transfer = actions.is_some_and(|actions| actions.transfer_to_agent.is_some());
        self.session = match is_transfer {
            // The agent that is transferred to has a session of its own, and is told all.
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
    /// As long as somebody speaks.
    heard: Ear,
    is_spoken: bool,
    has_heard: bool,
    /// Whether anything came of the step.
    has_begun: bool,
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
            has_heard: false,
            has_begun: false,
        }
    }

    /// Runs the step, and then listens on for as long as anybody listens.
    pub(super) async fn run(&mut self, line: &mut Line) {
        // Out of the line, so that a step that is let go of in the middle takes its socket with it.
        match self.speak(line.open.take()).await {
            Ok(open) => {
                line.open = Some(open);
                self.listen(line).await;
            }
            Err(failure) => self.sender.send(failure.into()),
        }
    }

    async fn speak(&mut self, kept: Option<Open>) -> Result<Open, Failure> {
        let kept = kept.and_then(|open| {
            let owed = open.owes(self.request)?;
            Some((open, owed))
        });
        if let Some((open, owed)) = kept {
            match self.attempt(open, owed).await {
                // It may have been lost long ago.
                Err(failure) if self.may_ask_again() => {
                    tracing::debug!(code = failure.code, "a live run is begun anew");
                }
                done => return done,
            }
        }
        let (open, owed) = self.open().await?;
        let done = self.attempt(open, owed).await;
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

    /// Whether nothing came of what was asked, so that it can be asked in another session.
    fn may_ask_again(&self) -> bool {
        let is_done = self.request.own.iter().all(|own| own.outcome.is_some());
        is_done && !self.has_begun && !self.has_heard
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
        let Retelling { events, frames } = Retelling::of(&request, &root);
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
                Made::Whole => break name,
                Made::Empty => return Err(failure::without_history()),
                Made::Taken => {}
            }
        };
        let open = Open {
            upstream: self.shared.door.open(user, &session).await?,
            session,
            told: Told::all(&self.request.history),
            reading: Reading::of(server.agents()),
            pace: Pace::default(),
            held: VecDeque::new(),
            is_fresh: true,
            model: Model::default(),
        };
        Ok((open, frames))
    }

    /// Tells a session what it is owed, and reads what it says.
    async fn attempt(&mut self, mut open: Open, owed: Vec<Value>) -> Result<Open, Failure> {
        self.exchange(&mut open, owed).await?;
        self.sender.send_all(open.reading.hand_over());
        open.is_fresh = false;
        Ok(open)
    }

    async fn exchange(&mut self, open: &mut Open, owed: Vec<Value>) -> Result<(), Failure> {
        let note = json!({ NOTED: open.session });
        self.sender.send(AgentEvent::Session(note));
        self.sender.send_all(open.reading.begin());
        match (owed.is_empty(), open.reading.is_waiting()) {
            (false, true) => open.pace.tell(),
            (true, _) if !self.is_spoken => {}
            _ => open.pace.ask(),
        }
        open.reading.wait_no_more();
        for frame in &owed {
            open.upstream.send(frame).await?;
        }
        open.told = Told::all(&self.request.history);
        while let Some(event) = self.next(open).await? {
            open.pace.take(&event);
            if open.model.take(&event) && self.may_ask_again() {
                return Err(failure::cut_off());
            }
            if event.calls().next().is_some() && !event.is_partial() {
                return self.call(open, event).await;
            }
            self.say(open, event, &[])?;
        }
        Ok(())
    }

    /// Says an event, if there is anything to say of it.
    fn say(&mut self, open: &mut Open, event: Event, answered: &[String]) -> Result<(), Failure> {
        let (events, _) = open.reading.say(event, answered)?;
        self.has_begun |= !events.is_empty();
        self.sender.send_all(events);
        Ok(())
    }

    /// Says calls, with those that come beside them. What else comes is kept.
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
            // What is called once the model has heard of a result is called because of it.
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
            self.say(open, now, &answered)?;
            self.say(open, later, &answered)?;
        }
        Ok(())
    }

    /// The next event; nothing, if the step is over without one. What is heard meanwhile is passed on.
    async fn next(&mut self, open: &mut Open) -> Result<Option<Event>, Failure> {
        if let Some(event) = open.held.pop_front() {
            return Ok(Some(event));
        }
        loop {
            let time_limit = match (&self.heard, open.pace.time_limit(open.is_fresh)) {
                (Some(_), _) => IDLE_TIMEOUT,
                (None, TimeLimit::Over) => return Ok(None),
                // A tool may take as long as it likes.
                (None, _) if open.reading.is_working() => Duration::MAX,
                (None, TimeLimit::OverAfter(wait) | TimeLimit::LostAfter(wait)) => wait,
            };
            let heard = async {
                match &mut self.heard {
                    Some(heard) => heard.recv().await,
                    None => pending().await,
                }
            };
            tokio::select! {
                event = timeout(time_limit, open.upstream.next()) => match event {
                    Ok(event) => return event.map(Some),
                    Err(_) if self.heard.is_some() => {}
                    Err(_) => match open.pace.time_limit(open.is_fresh) {
                        TimeLimit::LostAfter(_) => return Err(failure::timed_out()),
                        _ => return Ok(None),
                    },
                },
                heard = heard => match heard {
                    Some(Heard::Sound { pcm, sample_rate }) => {
                        open.upstream.send(&sound(&pcm, sample_rate)).await?;
                        self.has_heard = true;
                        continue;
                    }
                    Some(Heard::End) | None => {}
                },
            }
            // Nobody speaks any more. If nobody has, there is nothing to answer.
            self.heard = None;
            if !self.has_heard {
                return Ok(None);
            }
            open.upstream
                .send(&json!({"audio_stream_end": true}))
                .await?;
            open.pace.tell();
        }
    }

    /// Listens on, for what becomes of the step's calls, until the next step or the end of the chat.
    async fn listen(&self, line: &mut Line) {
        let Some(open) = &mut line.open else { return };
        for event in &open.held {
            self.sender.send_all(open.reading.hear(event));
        }
        while let Some(open) = &mut line.open {
            let is_over = !open.reading.is_working() && !open.reading.is_waiting();
            match open.upstream.next().await {
                // Nobody asked for it. A model that speaks by itself is not interrupted by a message
                // of which it would be hard to say what of it is the answer.
                Ok(event) if is_over && open.held.is_empty() => open.pace.take(&event),
                Ok(event) => {
                    self.sender.send_all(open.reading.hear(&event));
                    open.hold(event);
                }
                Err(failure) => {
                    if open.reading.is_working() {
                        self.sender.send(failure.into());
                    }
                    line.open = None;
                }
            }
        }
    }
}

impl Open {
    /// What the session has to be told for a step; nothing, if it is not the one for it.
    fn owes(&self, request: &StepRequest) -> Option<Vec<Value>> {
        let is_new = note::steps(request) == 0;
        let is_behind = self.reading.is_waiting() || self.reading.is_working();
        let is_speaking = self.pace.is_talking() || !self.held.is_empty();
        if self.model.is_forgetful || is_new && (is_behind || is_speaking) {
            return None;
        }
        self.told.owes(&request.history)
    }

    /// Keeps an event for the next step. What was spoken before somebody interrupted it is not heard.
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

/// The session that was noted last, whose state is gone on with.
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

fn sound(pcm: &[u8], sample_rate: u32) -> Value {
    json!({"blob": {
        "mime_type": format!("audio/pcm;rate={sample_rate}"),
        "data": URL_SAFE.encode(pcm),
    }})
}
