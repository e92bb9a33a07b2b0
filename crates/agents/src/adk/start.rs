//! How a step begins: which session is used, whether it has received the input already, and how
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
use super::run_input::{RunInput, history_as_text, history_events};
use super::server::{LONG, SHORT};
use super::sessions::SessionCreation;
use super::step::{IDLE_TIMEOUT, Open, Step};
use super::stored::{self, Received, RunCause};
use super::stream::Run;
use crate::gemini::Failure;

/// How often a session is looked at again that another run writes to.
const MOST_BUSY: usize = 20;

/// How long to wait before that.
const PAUSE: Duration = Duration::from_millis(250);

/// How long what a server sent before it died may take to be stored.
const ON_ITS_WAY: Duration = Duration::from_secs(2);

impl Step<'_> {
    /// Begins a run, or finds the one that was begun.
    pub(super) async fn start(
        &self,
        known: &mut Option<String>,
        noted: Option<Note>,
        input: Option<RunInput>,
    ) -> Result<Open, Failure> {
        let request = self.request;
        let steps = note::steps(request);
        let Some(mut note) = noted.filter(|note| note.holds(request)) else {
            return self.start_fresh(known, 0).await;
        };
        if note.turn != request.turn.as_str() {
            note.base = 0;
        }
        note.turn = request.turn.to_string();
        note.cause = note::last_cause(request);
        note.open.clear();
        let time_limit = if steps > 0 { LONG } else { SHORT };
        let (mut busy, mut is_first_sent) = (0, false);
        loop {
            if known.as_ref() != Some(&note.session) {
                let ids: Vec<&str> = input.iter().flat_map(RunInput::ids).collect();
                let cause = match (&input, ids.is_empty()) {
                    (Some(_), false) => RunCause::Answers(&ids),
                    (Some(_), true) => RunCause::Message,
                    (None, _) => RunCause::Nothing,
                };
                let session = self.read_session(&note.session, cause, time_limit).await?;
                let Some(session) = session else {
                    return self.session_lost(known, input.as_ref()).await;
                };
                *known = Some(note.session.clone());
                is_first_sent = stored::holds_first(&session, input.as_ref());
                match stored::received(session, request, &note, input.as_ref()) {
                    Received::Yes(rest) => {
                        return Ok(self.open(Run::stored(rest), note).await);
                    }
                    Received::Unclear if request.is_again => {
                        tracing::warn!(
                            chat = %request.chat,
                            turn = %request.turn,
                            session = note.session,
                            "ADK session lacks the question, answer not sent again"
                        );
                        let open = self.open(Run::stored([]), note).await;
                        let lost = UnknownReason::AnswerUnclear;
                        return Ok(Open { lost, ..open });
                    }
                    Received::Unclear | Received::No => {}
                }
            }
            let Some(input) = &input else {
                // ADK has received everything, and was cut off before its output.
                return self.start_fresh(known, 0).await;
            };
            let sent = self.send_input(&note.session, input, is_first_sent, time_limit);
            match sent.await {
                Ok(Some(run)) => {
                    let (after, closing) = (input.after.clone(), input.closing.clone());
                    let open = self.open(run, note).await;
                    return Ok(Open {
                        after: after.into(),
                        closing,
                        ..open
                    });
                }
                Ok(None) => return self.session_lost(known, Some(input)).await,
                Err(failure) if failure.code == failure::BUSY && busy < MOST_BUSY => {
                    // A run whose reader disconnected is ending. It may have received the same input.
                    busy += 1;
                    *known = None;
                    sleep(PAUSE).await;
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Sends the input; none, if the session does not exist. What is sent first may have been.
    async fn send_input(
        &self,
        session: &str,
        input: &RunInput,
        is_first_sent: bool,
        time_limit: Duration,
    ) -> Result<Option<Run>, Failure> {
        let server = self.server;
        if let Some(before) = input.before.as_ref().filter(|_| !is_first_sent) {
            // A server that takes over must not take its output for the step's.
            let mark = note::mark_of_chat(self.request);
            let run = server
                .run_marked(self.request, mark, session, before, time_limit)
                .await?;
            if let Some(mut run) = run {
                while run.next().await?.is_some() {}
            }
        }
        let message = &input.message;
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
    /// A server that is gone may have sent this input: it may still be on its way, and ADK
    /// notices only after a while that nobody reads. So the session is read until the run is
    /// over, or until none can come any more. To send it again while it is on its way would run a
    /// tool twice.
    async fn read_session(
        &self,
        session: &str,
        cause: RunCause<'_>,
        time_limit: Duration,
    ) -> Result<Option<Session>, Failure> {
        let user = self.request.principal.as_str();
        // Only from the first response on: ADK may be blocked, with all requests before it.
        let mut until = None;
        loop {
            let found = self.server.session(user, session, time_limit).await?;
            let Some(found) = found else { return Ok(None) };
            let until = *until.get_or_insert_with(|| Instant::now() + ON_ITS_WAY);
            let is_over = stored::is_over(&found, self.request, cause);
            if !self.request.is_again || is_over || Instant::now() >= until {
                return Ok(Some(found));
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// ADK has lost the session: another is made, unless it held a question to a person.
    async fn session_lost(
        &self,
        known: &mut Option<String>,
        input: Option<&RunInput>,
    ) -> Result<Open, Failure> {
        let is_asked = |own: &OwnCall| own.outcome.is_none() && own.asked.is_some();
        if input.is_some() && self.request.own.iter().any(is_asked) {
            return Err(failure::forgotten());
        }
        self.start_fresh(known, 0).await
    }

    /// Makes a session from the journal, and runs it. `cuts` is how often that was tried in vain.
    pub(super) async fn start_fresh(
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
        let (mut events, mut message) =
            history_events(request, root.as_deref().unwrap_or_default());
        let has_history = !events.is_empty();
        if root.is_none() {
            // Some versions can't continue from output of an agent that is not in the app.
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
        let cause = events.len();
        let server = self.server;
        let made = server
            .make_session(request, &session, events, Map::new())
            .await?;
        *known = Some(session.clone());
        if made == SessionCreation::Taken {
            // The server that made it may have started a run, too.
            let stored = self
                .read_session(&session, RunCause::Message, SHORT)
                .await?;
            let stored = stored.unwrap_or_default();
            let is_whole = server.mode().drops_history() || stored.events.len() >= cause;
            if let Received::Yes(rest) = stored::received(stored, request, &note, None) {
                return Ok(self.open(Run::stored(rest), note).await);
            }
            if !is_whole {
                // ADK failed in the middle of making it.
                return Box::pin(self.start_fresh(known, cuts + 1)).await;
            }
        }
        if has_history && (cause == 0 || server.mode().drops_history()) {
            let (chat, turn) = (&request.chat, &request.turn);
            tracing::info!(%chat, %turn, session, "history sent to ADK as text");
            message = history_as_text(request);
        }
        let run = server.run(request, &session, &message, SHORT).await?;
        let run = run.ok_or_else(failure::forgotten)?;
        Ok(self.open(run, note).await)
    }

    async fn open(&self, run: Run, mut note: Note) -> Open {
        // Its output to another server may contain questions, too.
        self.server.detect_version().await;
        note.is_read = (!self.server.mode().ends_unread_runs()).then_some(false);
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
