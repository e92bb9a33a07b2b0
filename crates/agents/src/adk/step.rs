//! One step: what ADK is told, and what is read of its run.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use turn::agent::{AgentEvent, OwnCall, StepRequest};
use turn::call::Outcome;

use super::event::{Event, Session};
use super::failure;
use super::note::{self, Note};
use super::reading::Reading;
use super::server::{LONG, SHORT, Server};
use super::stored;
use super::stream::Run;
use super::telling::{Telling, retold};
use crate::gemini::Failure;
use crate::narrated::Narrator;

/// How long the model may be silent.
const SILENCE: Duration = Duration::from_secs(180);

/// How often a session is looked at again that another run writes to.
const MOST_BUSY: usize = 20;

/// How long to wait before that.
const PAUSE: Duration = Duration::from_millis(250);

/// How long what a server sent before it died may take to be stored.
const ON_ITS_WAY: Duration = Duration::from_secs(2);

/// What outlives a step.
#[derive(Default)]
pub(super) struct Line {
    /// The run that is listened to, and its turn.
    open: Option<Open>,
    /// The session, once it was looked at or made by this process.
    session: Option<String>,
}

struct Open {
    turn: String,
    run: Run,
    reading: Reading,
    note: Note,
    last: Option<Event>,
}

/// One step.
pub(super) struct Step<'a> {
    server: &'a Server,
    request: &'a StepRequest,
    narrator: &'a Narrator,
}

impl<'a> Step<'a> {
    pub(super) fn new(
        server: &'a Server,
        request: &'a StepRequest,
        narrator: &'a Narrator,
    ) -> Self {
        Self {
            server,
            request,
            narrator,
        }
    }

    pub(super) async fn run(&mut self, line: &mut Line) {
        if let Err(failure) = self.go(line).await {
            if line.open.take().is_none() && failure.is_transient {
                self.narrator.say_all(self.unheard(&failure));
            }
            line.session = None;
            self.narrator.say(failure.into());
        }
    }

    async fn go(&mut self, line: &mut Line) -> Result<(), Failure> {
        let turn = self.request.turn.as_str();
        let noted = match &line.open {
            Some(open) if open.turn == turn => Some(open.note.clone()),
            _ => Note::of(self.request),
        };
        let waiting = noted.iter().flat_map(|note| note.open.clone());
        let telling = Telling::of(self.request, &waiting.collect::<Vec<_>>());
        match (line.open.take().filter(|open| open.turn == turn), telling) {
            (Some(open), None) => line.open = Some(open),
            (open, telling) => {
                // What it said while somebody was asked is shown first.
                if let Some(open) = open {
                    self.finish(open).await?;
                }
                line.open = Some(self.ask(&mut line.session, noted, telling).await?);
            }
        }
        let mut cuts = 0;
        loop {
            let open = line.open.as_mut().ok_or_else(failure::cut_off)?;
            self.narrator.say_all(open.reading.begin());
            if !self.speak(open).await? {
                if self.listen(open).await? {
                    return Ok(());
                }
                // Whoever asks for the next step lets go of this one.
                return std::future::pending().await;
            }
            let is_cut = open.run.is_stored() && !stored::is_complete(open.last.as_ref());
            if !is_cut {
                let events = open.reading.end();
                self.note(open);
                self.narrator.say_all(events);
                return Ok(());
            }
            // The run was cut off: what it did not settle is unknown, and the model is asked anew.
            self.narrator.say_all(open.reading.lose());
            let request = note::settled(self.request, |id| open.reading.settled(id).cloned());
            let step = Step::new(self.server, &request, self.narrator);
            cuts += 1;
            line.open = Some(step.ask_anew(&mut line.session, cuts).await?);
        }
    }

    /// Reads until the step is over, or the run is; whether the run is.
    async fn speak(&self, open: &mut Open) -> Result<bool, Failure> {
        loop {
            // A tool may take as long as it likes.
            let next = match open.reading.is_working() {
                true => open.run.next().await,
                false => match timeout(SILENCE, open.run.next()).await {
                    Ok(next) => next,
                    Err(_) => return Err(failure::timed_out()),
                },
            };
            let Some(event) = next? else {
                return Ok(true);
            };
            stored::heed(&mut open.last, &event);
            if event.is_from_user() {
                continue;
            }
            if open.run.is_stored() && event.is_aborted() {
                self.narrator.say_all(open.reading.hear(&event));
                return Ok(true);
            }
            let answered = self.answered(&event, open).await?;
            let (events, is_over) = open.reading.say(event, &answered)?;
            self.note(open);
            self.narrator.say_all(events);
            if is_over {
                self.narrator.say_all(open.reading.hand_over());
                return Ok(false);
            }
        }
    }

    /// Has it noted for which results ADK waits.
    fn note(&self, open: &mut Open) {
        let waiting = open.reading.waiting();
        if open.note.open != waiting {
            open.note.open = waiting.to_vec();
            self.narrator.say(open.note.event());
        }
    }

    /// The long-running calls of an event that give a first answer at once: the model then goes on
    /// speaking, and nobody is waited for. Such tools only begin something, so ADK is not long.
    async fn answered(&self, event: &Event, open: &mut Open) -> Result<Vec<String>, Failure> {
        let mut calls = event.calls();
        let is_outside = !event.has_others() && calls.any(|call| event.is_long_running(call));
        if event.is_partial() || !is_outside {
            return Ok(Vec::new());
        }
        let (mut seen, mut answered) = (Vec::new(), Vec::new());
        while let Some(next) = open.run.next().await? {
            let is_said = next.is_said();
            answered.extend(open.reading.expect_of(&next));
            seen.push(next);
            if is_said {
                break;
            }
        }
        open.run.put_back(seen);
        Ok(answered)
    }

    /// Listens for what becomes of the step's calls, until the model speaks again or the run ends;
    /// whether it has ended.
    async fn listen(&self, open: &mut Open) -> Result<bool, Failure> {
        while let Some(event) = open.run.next().await? {
            if is_premature(&event) && open.reading.is_undecided() {
                // An app that is not resumable asks its model before it has all results.
                while let Ok(Some(_)) = open.run.next().await {}
                break;
            }
            let is_aborted = open.run.is_stored() && event.is_aborted();
            if event.is_said() && event.responses().next().is_none() && !is_aborted {
                let failed = event.error_code.clone().filter(|_| event.content.is_none());
                if let Some(code) = failed {
                    let said = event.error_message.as_deref().unwrap_or_default();
                    return Err(failure::of_error(&code, said));
                }
                open.run.put_back([event]);
                // What it says before it has all results is shown with the next step.
                self.narrator.say_all(open.reading.wait());
                return Ok(false);
            }
            self.narrator.say_all(open.reading.hear(&event));
            stored::heed(&mut open.last, &event);
        }
        self.narrator.say_all(open.reading.lose());
        self.narrator.say_all(open.reading.wait());
        Ok(true)
    }

    /// Reads to its end a run whose calls were answered from outside before it was over.
    async fn finish(&self, mut open: Open) -> Result<(), Failure> {
        while let Ok(next) = timeout(SILENCE, open.run.next()).await {
            let Some(event) = next? else { break };
            if event.is_said() && event.calls().next().is_none() {
                let (events, _) = open.reading.say(event, &[])?;
                self.narrator.say_all(events);
            }
        }
        if open.reading.has_said() {
            self.narrator.say(AgentEvent::PartEnd);
        }
        Ok(())
    }

    /// Begins a run, or finds the one that was begun.
    async fn ask(
        &self,
        known: &mut Option<String>,
        noted: Option<Note>,
        telling: Option<Telling>,
    ) -> Result<Open, Failure> {
        let request = self.request;
        let steps = note::steps(request);
        let Some(mut note) = noted.filter(|note| note.holds(request)) else {
            return self.ask_anew(known, 0).await;
        };
        if note.turn != request.turn.as_str() {
            note.base = 0;
        }
        note.turn = request.turn.to_string();
        note.cause = note::last_cause(request);
        note.open.clear();
        let patience = if steps > 0 { LONG } else { SHORT };
        let mut busy = 0;
        loop {
            if known.as_ref() != Some(&note.session) {
                let session = self
                    .look(&note.session, telling.is_some(), patience)
                    .await?;
                let Some(session) = session else {
                    return self.forgotten(known, telling.as_ref()).await;
                };
                *known = Some(note.session.clone());
                if let Some(rest) = stored::rest(session, request, &note, telling.as_ref()) {
                    return Ok(self.open(Run::stored(rest), note));
                }
            }
            let Some(telling) = &telling else {
                // ADK has heard it all, and was cut off before it said more.
                return self.ask_anew(known, 0).await;
            };
            match self.tell(&note.session, telling, patience).await {
                Ok(Some(run)) => return Ok(self.open(run, note)),
                Ok(None) => return self.forgotten(known, Some(telling)).await,
                Err(failure) if failure.code == failure::BUSY && busy < MOST_BUSY => {
                    // A run that somebody hung up on is ending. It may have heard the same.
                    busy += 1;
                    *known = None;
                    sleep(PAUSE).await;
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Tells ADK what is new; nothing comes of it if the session is not there.
    async fn tell(
        &self,
        session: &str,
        telling: &Telling,
        patience: Duration,
    ) -> Result<Option<Run>, Failure> {
        let server = self.server;
        if let Some(before) = &telling.before {
            let run = server.run(self.request, session, before, patience).await?;
            if let Some(mut run) = run {
                while run.next().await?.is_some() {}
            }
        }
        let message = &telling.message;
        let run = server.run(self.request, session, message, patience).await?;
        let Some(mut run) = run else {
            return Ok(None);
        };
        // A run that is refused ends at once; a tool that may run at last takes as long as it likes.
        let is_approved = |own: &OwnCall| own.outcome.is_none() && own.asked.is_some();
        let first = match self.request.own.iter().any(is_approved) {
            true => run.next().await,
            false => timeout(SILENCE, run.next())
                .await
                .unwrap_or_else(|_| Err(failure::timed_out())),
        };
        match first? {
            Some(event) if event.error_code.as_deref() == Some(failure::STALE) => {
                Err(failure::busy())
            }
            first => {
                run.put_back(first);
                Ok(Some(run))
            }
        }
    }

    /// What a session holds; nothing, if there is none.
    ///
    /// A server that is gone may have sent what is to be told: it may be on its way yet, and ADK
    /// notices only after a while that nobody listens. So the session is looked at until the run is
    /// over, or until none can come any more. To send it again while it is on its way would run a
    /// tool twice.
    async fn look(
        &self,
        session: &str,
        is_told: bool,
        patience: Duration,
    ) -> Result<Option<Session>, Failure> {
        let user = self.request.principal.as_str();
        // Only from the first answer on: ADK may stand still, with all that lies before it.
        let mut until = None;
        loop {
            let found = self.server.session(user, session, patience).await?;
            let Some(found) = found else { return Ok(None) };
            let until = *until.get_or_insert_with(|| Instant::now() + ON_ITS_WAY);
            let is_over = stored::is_over(&found, self.request, is_told);
            if !self.request.is_again || is_over || Instant::now() >= until {
                return Ok(Some(found));
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// ADK has no session any more: another is made, unless a person was asked in it.
    async fn forgotten(
        &self,
        known: &mut Option<String>,
        telling: Option<&Telling>,
    ) -> Result<Open, Failure> {
        let is_asked = |own: &OwnCall| own.outcome.is_none() && own.asked.is_some();
        if telling.is_some() && self.request.own.iter().any(is_asked) {
            return Err(failure::forgotten());
        }
        self.ask_anew(known, 0).await
    }

    /// Makes a session from the journal, and runs it. `cuts` is how often that was tried in vain.
    async fn ask_anew(&self, known: &mut Option<String>, cuts: usize) -> Result<Open, Failure> {
        let request = self.request;
        let session = note::fresh_session(request, cuts);
        let root = match request.history.len() {
            1 => String::new(),
            _ => self.server.root().await,
        };
        let (events, message) = retold(request, &root);
        let note = Note {
            session: session.clone(),
            turn: request.turn.to_string(),
            cause: note::last_cause(request),
            base: note::steps(request),
            open: Vec::new(),
        };
        let told = events.len();
        let is_new = self.server.make_session(request, &session, events).await?;
        *known = Some(session.clone());
        if !is_new {
            // Whoever made it may have asked, too.
            let stored = self.look(&session, true, SHORT).await?;
            let stored = stored.unwrap_or_default();
            let is_whole = stored.events.len() >= told;
            if let Some(rest) = stored::rest(stored, request, &note, None) {
                return Ok(self.open(Run::stored(rest), note));
            }
            if !is_whole {
                // ADK failed in the middle of making it.
                return Box::pin(self.ask_anew(known, cuts + 1)).await;
            }
        }
        let run = self.server.run(request, &session, &message, SHORT).await?;
        let run = run.ok_or_else(failure::forgotten)?;
        Ok(self.open(run, note))
    }

    fn open(&self, run: Run, note: Note) -> Open {
        self.narrator.say(note.event());
        let mut reading = Reading::default();
        let own = self.request.own.iter().filter(|own| own.outcome.is_none());
        own.for_each(|own| reading.expect(&own.call));
        Open {
            turn: self.request.turn.to_string(),
            run,
            reading,
            note,
            last: None,
        }
    }

    /// What is said of calls that were approved and that nobody was there to run.
    fn unheard(&self, failure: &Failure) -> Vec<AgentEvent> {
        let own = self.request.own.iter();
        let approved = own.filter(|own| own.outcome.is_none() && own.asked.is_some());
        let settled = approved.filter_map(|own| {
            let error = format!("It did not run: {}", failure.message);
            Some(AgentEvent::Settled {
                provider_id: own.call.provider_id.clone()?,
                outcome: Outcome::Error { error },
            })
        });
        settled.collect()
    }
}

/// Whether a model says that it was not told the results of all its calls.
fn is_premature(event: &Event) -> bool {
    event.error_code.as_deref() == Some("INVALID_ARGUMENT") && event.content.is_none()
}
