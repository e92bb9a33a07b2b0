//! One step: the input to ADK, and the output of its run.

use std::collections::VecDeque;
use std::time::Duration;

use gemini::Content;
use tokio::time::timeout;
use turn::agent::{AgentEvent, StepRequest};
use turn::call::{Outcome, UnknownReason};

use super::branches;
use super::event::Event;
use super::failure;
use super::note::{self, Note};
use super::reading::Reading;
use super::run_input::{RunInput, Siblings};
use super::server::{LONG, Server};
use super::stored;
use super::stream::Run;
use crate::event_sender::EventSender;
use crate::gemini::Failure;

/// How long the model may be silent.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_secs(180);

/// What outlives a step.
#[derive(Default)]
pub(super) struct SessionState {
    /// The current run, and its turn.
    open: Option<Open>,
    /// The session, once it was looked at or made by this process.
    session: Option<String>,
}

/// A run, and what was read of it.
pub(super) struct Open {
    pub(super) turn: String,
    pub(super) run: Run,
    pub(super) reading: Reading,
    pub(super) note: Note,
    pub(super) last: Option<Event>,
    /// To be sent once the run is over: answers to other agents.
    pub(super) after: VecDeque<Content>,
    /// To be sent if the agent has no output.
    pub(super) closing: Option<Content>,
    /// Whether that was sent.
    pub(super) is_closing: bool,
    /// Why the outcome is unknown of calls that a run which was cut off has not settled.
    pub(super) lost: UnknownReason,
}

/// One step.
pub(super) struct Step<'a> {
    pub(super) server: &'a Server,
    pub(super) request: &'a StepRequest,
    pub(super) sender: &'a EventSender,
}

impl<'a> Step<'a> {
    pub(super) fn new(
        server: &'a Server,
        request: &'a StepRequest,
        sender: &'a EventSender,
    ) -> Self {
        Self {
            server,
            request,
            sender,
        }
    }

    pub(super) async fn run(&mut self, state: &mut SessionState) {
        if let Err(failure) = self.go(state).await {
            match state.open.take() {
                // A server that is gone may have sent the answers.
                None if self.request.is_again => self.sender.send_all(self.unclear()),
                None if failure.is_transient => self.sender.send_all(self.undelivered(&failure)),
                // Old versions keep the calls of a run that failed without results, and their model
                // then answers nothing more.
                Some(open) if open.reading.is_working() => self.abandon(open.note),
                _ => {}
            }
            state.session = None;
            self.sender.send(failure.into());
        }
    }

    async fn go(&mut self, state: &mut SessionState) -> Result<(), Failure> {
        let turn = self.request.turn.as_str();
        let noted = match &state.open {
            Some(open) if open.turn == turn => Some(open.note.clone()),
            _ => Note::of(self.request),
        };
        let waiting = noted.iter().flat_map(|note| note.open.clone());
        let siblings = self.siblings().await;
        let input = RunInput::of(self.request, &waiting.collect::<Vec<_>>(), siblings);
        match (state.open.take().filter(|open| open.turn == turn), input) {
            (Some(open), None) => state.open = Some(open),
            (open, input) => {
                // Output that came while a person was asked is shown first.
                if let Some(open) = open
                    && let Err(failure) = self.finish(open).await
                {
                    if failure.code != "agent_cut_off" {
                        return Err(failure);
                    }
                    // Nothing waited for that run any more. Its server may be gone: what the session
                    // has by now is looked at before the input is sent.
                    state.session = None;
                }
                state.open = Some(self.start(&mut state.session, noted, input).await?);
            }
        }
        let mut cuts = 0;
        loop {
            let open = state.open.as_mut().ok_or_else(failure::cut_off)?;
            self.sender.send_all(open.reading.begin());
            let is_over = match self.read_step(open).await {
                Err(failure) if open.is_closing => {
                    let (chat, turn) = (&self.request.chat, &self.request.turn);
                    tracing::debug!(%chat, %turn, code = failure.code, "ADK question not closed");
                    self.server.mode().refuse_closing();
                    self.abandon(open.note.clone());
                    true
                }
                done => done?,
            };
            if !is_over {
                if self.listen(open).await? {
                    return Ok(());
                }
                // The caller drops this future when it starts the next step.
                return std::future::pending().await;
            }
            let is_cut = open.run.is_stored() && !stored::is_complete(open.last.as_ref());
            if !is_cut {
                if self.send_rest(open).await? {
                    continue;
                }
                if !open.run.is_stored() && !open.reading.has_shown() {
                    if open.note.base >= note::steps(self.request) {
                        // So ends a run of some versions whose model was refused an answer.
                        return Err(failure::silent());
                    }
                    // Some versions have no more output in a session that held a question.
                    let reason = UnknownReason::NoResult;
                    let request = note::settled(self.request, reason, |_| None);
                    let step = Step::new(self.server, &request, self.sender);
                    state.open = Some(step.start_fresh(&mut state.session, 0).await?);
                    continue;
                }
                self.lose(open, UnknownReason::NoResult);
                let events = open.reading.end();
                self.note(open);
                self.sender.send_all(events);
                return Ok(());
            }
            // The run was cut off: calls that it did not settle are unknown, and a new run is started.
            let reason = open.lost;
            self.lose(open, reason);
            let known = |id: &str| open.reading.settled(id).cloned();
            let request = note::settled(self.request, reason, known);
            let step = Step::new(self.server, &request, self.sender);
            cuts += 1;
            state.open = Some(step.start_fresh(&mut state.session, cuts).await?);
        }
    }

    /// What the server makes of answers to agents that run side by side.
    async fn siblings(&self) -> Siblings {
        let mut tokens = self
            .request
            .own
            .iter()
            .filter_map(|own| own.asked.as_ref()?.token.as_ref());
        if tokens.any(|token| token.get("branch").is_some()) {
            self.server.detect_version().await;
        }
        match self.server.mode().sorts_results() {
            true => Siblings::Together,
            false => Siblings::Apart,
        }
    }

    /// Sends the rest of the input, and closes the agent's open questions if it has no
    /// output; whether the run continues.
    async fn send_rest(&self, open: &mut Open) -> Result<bool, Failure> {
        let session = &open.note.session;
        if let Some(next) = open.after.pop_front().filter(|_| !open.run.is_stored()) {
            let run = self.server.run(self.request, session, &next, LONG).await?;
            open.run = run.ok_or_else(failure::forgotten)?;
            return Ok(true);
        }
        let closing = open.closing.take().filter(|_| !open.run.is_stored());
        let is_silent = !open.reading.has_output() && !self.server.mode().refuses_closing();
        let Some(closing) = closing.filter(|_| is_silent) else {
            return Ok(false);
        };
        open.is_closing = true;
        let run = self
            .server
            .run(self.request, session, &closing, LONG)
            .await?;
        open.run = run.ok_or_else(failure::forgotten)?;
        Ok(true)
    }

    /// Has it noted that a session is not to be used any more.
    fn abandon(&self, note: Note) {
        let is_read = Some(false);
        self.sender.send(Note { is_read, ..note }.event());
    }

    /// Settles calls without a result as unknown, and logs why.
    fn lose(&self, open: &mut Open, reason: UnknownReason) {
        let lost = open.reading.lose(reason);
        for event in &lost {
            if let AgentEvent::Settled { provider_id, .. } = event {
                let (chat, turn, call) = (&self.request.chat, &self.request.turn, provider_id);
                tracing::warn!(%chat, %turn, call, ?reason, "call outcome unknown");
            }
        }
        self.sender.send_all(lost);
    }

    /// Reads until the step is over, or the run is; whether the run is.
    async fn read_step(&self, open: &mut Open) -> Result<bool, Failure> {
        loop {
            // A tool may take as long as it likes.
            let next = match open.reading.is_working() {
                true => open.run.next().await,
                false => match timeout(IDLE_TIMEOUT, open.run.next()).await {
                    Ok(next) => next,
                    Err(_) => return Err(failure::timed_out()),
                },
            };
            let Some(event) = next? else {
                return Ok(true);
            };
            stored::note_last(&mut open.last, &event);
            if event.is_from_user() {
                continue;
            }
            if open.run.is_stored() && event.is_aborted() {
                self.sender.send_all(open.reading.read_responses(&event));
                return Ok(true);
            }
            if is_premature(&event) && open.reading.is_working() {
                // Another agent of the app, whose question is not answered yet, was asked to continue.
                continue;
            }
            let is_call = !event.is_partial() && event.calls().next().is_some();
            let mut siblings = Vec::new();
            if is_call && event.branch.is_some() {
                let gathered = branches::gather(event, &mut open.run).await?;
                open.run.put_back(gathered.rest);
                siblings.extend(gathered.said);
                siblings.extend(gathered.calls);
            } else {
                siblings.push(event);
            }
            let (mut events, mut is_over) = (Vec::new(), false);
            for event in siblings {
                let answered = self.answered(&event, open).await?;
                let (said, has_calls) = open.reading.read_output(event, &answered)?;
                events.extend(said);
                is_over |= has_calls;
            }
            self.note(open);
            self.sender.send_all(events);
            if is_over {
                self.sender.send_all(open.reading.hand_over());
                return Ok(false);
            }
        }
    }

    /// Has it noted for which results ADK waits, and that the run was read to its end, if that matters.
    fn note(&self, open: &mut Open) {
        let before = open.note.clone();
        open.note.open = open.reading.waiting().to_vec();
        open.note.is_read = open.note.is_read.map(|_| open.run.is_over());
        if open.note != before {
            self.sender.send(open.note.event());
        }
    }

    /// The long-running calls of an event that return a first output at once: the model then continues,
    /// and nothing is waited for. Such tools only begin something, so ADK is not long.
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

    /// Reads the outcomes of the step's calls, until the model continues or the run ends;
    /// whether it has ended.
    async fn listen(&self, open: &mut Open) -> Result<bool, Failure> {
        while let Some(event) = open.run.next().await? {
            if is_premature(&event) && (open.reading.is_undecided() || open.reading.is_asking()) {
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
                // Output before all results are in is shown with the next step.
                self.sender.send_all(open.reading.wait());
                return Ok(false);
            }
            self.sender.send_all(open.reading.read_responses(&event));
            stored::note_last(&mut open.last, &event);
        }
        self.lose(open, UnknownReason::NoResult);
        self.sender.send_all(open.reading.wait());
        self.note(open);
        Ok(true)
    }

    /// Reads to its end a run whose calls were answered from outside before it was over.
    async fn finish(&self, mut open: Open) -> Result<(), Failure> {
        while let Ok(next) = timeout(IDLE_TIMEOUT, open.run.next()).await {
            let Some(event) = next? else { break };
            if event.is_said() && event.calls().next().is_none() {
                let (events, _) = open.reading.read_output(event, &[])?;
                self.sender.send_all(events);
            }
        }
        if open.reading.has_output() {
            self.sender.send(AgentEvent::PartEnd);
        }
        Ok(())
    }

    /// The events for calls that were approved and that no server was there to run.
    fn undelivered(&self, failure: &Failure) -> Vec<AgentEvent> {
        let error = format!("It did not run: {}", failure.message);
        self.settle_approved(&Outcome::Error { error })
    }

    /// The events for calls whose approval may or may not have been sent.
    fn unclear(&self) -> Vec<AgentEvent> {
        let reason = UnknownReason::AnswerUnclear;
        let (chat, turn) = (&self.request.chat, &self.request.turn);
        tracing::warn!(%chat, %turn, ?reason, "call outcome unknown");
        self.settle_approved(&Outcome::Unknown { reason })
    }

    fn settle_approved(&self, outcome: &Outcome) -> Vec<AgentEvent> {
        let own = self.request.own.iter();
        let approved = own.filter(|own| own.outcome.is_none() && own.asked.is_some());
        let settled = approved.filter_map(|own| {
            Some(AgentEvent::Settled {
                provider_id: own.call.provider_id.clone()?,
                outcome: outcome.clone(),
            })
        });
        settled.collect()
    }
}

/// Whether a model complains that results of its calls are missing.
fn is_premature(event: &Event) -> bool {
    let code = event.error_code.as_deref();
    let is_refused = code.is_some_and(|code| matches!(code, "INVALID_ARGUMENT" | "400"));
    // TypeScript reports it in a content without parts.
    let content = event.content.as_ref();
    is_refused && content.is_none_or(|content| content.parts.is_empty())
}
