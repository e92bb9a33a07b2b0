//! How a step begins: which session is asked, whether it has heard what it is to be told, and how
//! another is made from the journal.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Map;
use tokio::time::{Instant, sleep, timeout};
use turn::agent::OwnCall;
use turn::call::UnknownReason;

use super::event::Session;
use super::failure;
use super::note::{self, Note};
use super::reading::Reading;
use super::server::{LONG, SHORT};
use super::sessions::Made;
use super::step::{IDLE_TIMEOUT, Open, Step};
use super::stored::{self, Heard, Told};
use super::stream::Run;
use super::telling::{Telling, retold, retold_in_words};
use crate::gemini::Failure;

/// How often a session is looked at again that another run writes to.
const MOST_BUSY: usize = 20;

/// How long to wait before that.
const PAUSE: Duration = Duration::from_millis(250);

/// How long what a server sent before it died may take to be stored.
const ON_ITS_WAY: Duration = Duration::from_secs(2);

impl Step<'_> {
    /// Begins a run, or finds the one that was begun.
    pub(super) async fn ask(
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
        let time_limit = if steps > 0 { LONG } else { SHORT };
        let mut busy = 0;
        loop {
            if known.as_ref() != Some(&note.session) {
                let ids: Vec<&str> = telling.iter().flat_map(Telling::ids).collect();
                let told = match (&telling, ids.is_empty()) {
                    (Some(_), false) => Told::Answers(&ids),
                    (Some(_), true) => Told::Message,
                    (None, _) => Told::Nothing,
                };
                let session = self.look(&note.session, told, time_limit).await?;
                let Some(session) = session else {
                    return self.forgotten(known, telling.as_ref()).await;
                };
                *known = Some(note.session.clone());
                match stored::heard(session, request, &note, telling.as_ref()) {
                    Heard::Yes(rest) => {
                        return Ok(self.open(Run::stored(rest), note).await);
                    }
                    Heard::Unclear if request.is_again => {
                        tracing::warn!(
                            chat = %request.chat,
                            session = note.session,
                            "the session does not hold the question: its answer is not sent again"
                        );
                        let open = self.open(Run::stored([]), note).await;
                        let lost = UnknownReason::AnswerUnclear;
                        return Ok(Open { lost, ..open });
                    }
                    Heard::Unclear | Heard::No => {}
                }
            }
            let Some(telling) = &telling else {
                // ADK has heard it all, and was cut off before it said more.
                return self.ask_anew(known, 0).await;
            };
            match self.tell(&note.session, telling, time_limit).await {
                Ok(Some(run)) => {
                    let (after, closing) = (telling.after.clone(), telling.closing.clone());
                    let open = self.open(run, note).await;
                    return Ok(Open {
                        after: after.into(),
                        closing,
                        ..open
                    });
                }
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
        time_limit: Duration,
    ) -> Result<Option<Run>, Failure> {
        let server = self.server;
        if let Some(before) = &telling.before {
            let run = server
                .run(self.request, session, before, time_limit)
                .await?;
            if let Some(mut run) = run {
                while run.next().await?.is_some() {}
            }
        }
        let message = &telling.message;
        let run = server
            .run(self.request, session, message, time_limit)
            .await?;
        let Some(mut run) = run else {
            return Ok(None);
        };
        // A run that is refused ends at once; a tool that may run at last takes as long as it likes.
        let is_approved = |own: &OwnCall| own.outcome.is_none() && own.asked.is_some();
        let first = match self.request.own.iter().any(is_approved) {
            true => run.next().await,
            false => timeout(IDLE_TIMEOUT, run.next())
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
        told: Told<'_>,
        time_limit: Duration,
    ) -> Result<Option<Session>, Failure> {
        let user = self.request.principal.as_str();
        // Only from the first answer on: ADK may stand still, with all that lies before it.
        let mut until = None;
        loop {
            let found = self.server.session(user, session, time_limit).await?;
            let Some(found) = found else { return Ok(None) };
            let until = *until.get_or_insert_with(|| Instant::now() + ON_ITS_WAY);
            let is_over = stored::is_over(&found, self.request, told);
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
    pub(super) async fn ask_anew(
        &self,
        known: &mut Option<String>,
        cuts: usize,
    ) -> Result<Open, Failure> {
        let request = self.request;
        let session = note::fresh_session(request, cuts);
        let root = match request.history.len() {
            1 => None,
            _ => self.server.root().await,
        };
        let (mut events, mut message) = retold(request, root.as_deref().unwrap_or_default());
        let has_history = !events.is_empty();
        if root.is_none() {
            // What no agent of the app has said, some versions can't go on from.
            events.clear();
        }
        let note = Note {
            session: session.clone(),
            turn: request.turn.to_string(),
            cause: note::last_cause(request),
            base: note::steps(request),
            open: Vec::new(),
            is_read: None,
        };
        let told = events.len();
        let server = self.server;
        let made = server
            .make_session(request, &session, events, Map::new())
            .await?;
        *known = Some(session.clone());
        if made == Made::Taken {
            // Whoever made it may have asked, too.
            let stored = self.look(&session, Told::Message, SHORT).await?;
            let stored = stored.unwrap_or_default();
            let is_whole = server.mode().drops_history() || stored.events.len() >= told;
            if let Heard::Yes(rest) = stored::heard(stored, request, &note, None) {
                return Ok(self.open(Run::stored(rest), note).await);
            }
            if !is_whole {
                // ADK failed in the middle of making it.
                return Box::pin(self.ask_anew(known, cuts + 1)).await;
            }
        }
        if has_history && (told == 0 || server.mode().drops_history()) {
            tracing::info!(chat = %request.chat, session, "the history is told in words");
            message = retold_in_words(request);
        }
        let run = server.run(request, &session, &message, SHORT).await?;
        let run = run.ok_or_else(failure::forgotten)?;
        Ok(self.open(run, note).await)
    }

    async fn open(&self, run: Run, mut note: Note) -> Open {
        // What it has said to another server may ask something, too.
        self.server.greet().await;
        note.is_read = (!self.server.mode().seals()).then_some(false);
        self.sender.send(note.event());
        let mut reading = Reading::of(self.server.agents());
        let own = self.request.own.iter().filter(|own| own.outcome.is_none());
        own.for_each(|own| reading.expect(&own.call));
        Open {
            turn: self.request.turn.to_string(),
            run,
            reading,
            note,
            last: None,
            after: VecDeque::new(),
            closing: None,
            is_closing: false,
            lost: UnknownReason::ServerStopped,
        }
    }
}
