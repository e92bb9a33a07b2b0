//! A run that is being read.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use turn::agent::Asking;
use turn::call::Outcome;
use turn::event::Finish;

use super::Reader;
use super::http::EventStream;
use super::run_event::{CallState, ProposedCall, RunEvent};
use crate::model::{Failure, Provider};

/// How long the agent may be silent when none of its tools runs.
const IDLE_TIMEOUT: Duration = Duration::from_secs(180);

/// How long to wait for the end of the body once the agent has said how the run ends.
const AFTERMATH: Duration = Duration::from_secs(2);

/// How much may wait until the outcomes of earlier calls are in.
const MAX_QUEUED: usize = 100_000;

/// A run that is being read.
pub(super) struct Run<R> {
    /// The turn that it is of.
    pub(super) turn: String,
    provider: Provider,
    stream: Option<EventStream>,
    reader: R,
    /// What was read, and not taken yet.
    queue: VecDeque<RunEvent>,
    /// The calls of the step that is being read.
    pub(super) calls: Vec<ProposedCall>,
    /// The calls of earlier steps whose outcomes are to come in this run.
    pub(super) expected: Vec<String>,
    pub(super) finish: Option<Finish>,
    /// Until when the rest of a run is read that has said how it ends.
    rest_until: Option<Instant>,
    /// How long the agent's tools may run, if not for ever.
    tool_timeout: Option<Duration>,
    /// When a call began, or something became of one, for the last time.
    progressed_at: Instant,
    /// Why the run broke, once what was said before is taken.
    failure: Option<Failure>,
    /// Whether an outcome has come in this run.
    pub(super) has_results: bool,
    /// Whether something was said in the step that is being read.
    pub(super) has_output: bool,
    /// Whether somebody has to do something before the agent continues, in another run.
    pub(super) awaits_answers: bool,
}

impl<R: Reader> Run<R> {
    pub(super) fn new(
        turn: String,
        provider: Provider,
        stream: EventStream,
        reader: R,
        expected: Vec<String>,
        tool_timeout: Option<Duration>,
    ) -> Self {
        Self {
            turn,
            provider,
            stream: Some(stream),
            reader,
            queue: VecDeque::new(),
            calls: Vec::new(),
            expected,
            finish: None,
            rest_until: None,
            tool_timeout,
            progressed_at: Instant::now(),
            failure: None,
            has_results: false,
            has_output: false,
            awaits_answers: false,
        }
    }

    /// What comes next; nothing, at the end of the run.
    pub(super) async fn next(&mut self) -> Result<Option<RunEvent>, Failure> {
        loop {
            if let Some(said) = self.queue.pop_front() {
                return Ok(Some(said));
            }
            if !self.read().await? {
                return Ok(None);
            }
        }
    }

    /// Reads on until an expected outcome, question or preliminary output comes; nothing, at the end of the run. All else
    /// waits.
    pub(super) async fn next_expected(&mut self) -> Result<Option<RunEvent>, Failure> {
        let mut looked_at = 0;
        loop {
            let is_expected = |said: &RunEvent| match said {
                RunEvent::Result { id, .. }
                | RunEvent::Ask { id, .. }
                | RunEvent::Progress { id, .. } => self.expected.contains(id),
                _ => false,
            };
            let mut unread = self.queue.iter().skip(looked_at);
            if let Some(place) = unread.position(is_expected) {
                return Ok(self.queue.remove(looked_at + place));
            }
            looked_at = self.queue.len();
            if looked_at > MAX_QUEUED {
                let why = "it says too much while a call runs";
                return Err(self.provider.unreadable(why));
            }
            if !self.read().await? {
                return Ok(None);
            }
        }
    }

    /// Reads one event; whether there was one.
    async fn read(&mut self) -> Result<bool, Failure> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let until = self.waits_until();
        let Some(stream) = &mut self.stream else {
            return Ok(false);
        };
        let next = async {
            match until {
                Some(until) => timeout_at(until, stream.next()).await,
                None => Ok(stream.next().await),
            }
        };
        let next = match next.await {
            // It has said all: what happens to the connection does not matter.
            rest if self.finish.is_some() => rest.ok().and_then(Result::ok).flatten(),
            Ok(Ok(next)) => next,
            Ok(Err(failure)) => {
                self.stream = None;
                return Err(failure);
            }
            Err(_) => {
                self.stream = None;
                return Err(self.provider.timed_out());
            }
        };
        let mut said = Vec::new();
        let read = match next {
            Some(data) => self.reader.take(&data, &mut said),
            None => {
                self.stream = None;
                self.reader.end(&mut said)
            }
        };
        for said in said {
            if let RunEvent::Finish(finish) = said {
                self.finish = Some(finish);
                self.rest_until
                    .get_or_insert_with(|| Instant::now() + AFTERMATH);
            } else {
                self.queue.push_back(said);
            }
        }
        if read.is_err() && self.finish.is_some() {
            // It has said how it ends, and what does not fit the protocol after that says nothing.
            self.stream = None;
        } else if let Err(failure) = read {
            // What was said before it counts, and what comes after it does not.
            self.stream = None;
            self.failure = Some(failure);
        }
        Ok(true)
    }

    /// Until when the next event is waited for, if not for ever.
    fn waits_until(&self) -> Option<Instant> {
        match self.rest_until {
            Some(until) => Some(until),
            None if self.is_working() => Some(self.progressed_at + self.tool_timeout?),
            None => Some(Instant::now() + IDLE_TIMEOUT),
        }
    }

    /// Notes that a call began, or that something became of one.
    fn note_progress(&mut self) {
        self.progressed_at = Instant::now();
    }

    /// Notes that an expected outcome is there, or what is asked in place of it.
    pub(super) fn note_outcome(&mut self, id: &str) {
        self.note_progress();
        self.expected.retain(|expected| expected != id);
    }

    /// Notes a call.
    pub(super) fn propose(&mut self, call: ProposedCall) {
        self.note_progress();
        self.calls.push(call);
    }

    /// Notes what became of a call of this step; whether it is one.
    pub(super) fn settle(&mut self, id: &str, outcome: Outcome) -> bool {
        self.has_results = true;
        self.change(id, |call| call.state = CallState::Settled(outcome))
    }

    /// Notes the whole input of a call of this step.
    pub(super) fn correct(&mut self, id: &str, input: Value) {
        self.change(id, |call| call.input = input);
    }

    /// Notes what a call of this step shows: no page runs it.
    pub(super) fn show(&mut self, id: &str, output: Value) {
        let open = |call: &&mut ProposedCall| call.id == id && call.state == CallState::Open;
        if let Some(call) = self.calls.iter_mut().find(open) {
            call.is_agents = true;
            call.shown = Some(output);
        }
    }

    /// Notes that a person is to be asked about a call of this step; whether it is one.
    pub(super) fn ask(&mut self, id: &str, asking: Asking, metadata: Value) -> bool {
        self.change(id, |call| {
            call.state = CallState::Asked(asking);
            merge(&mut call.metadata, metadata);
        })
    }

    fn change(&mut self, id: &str, change: impl FnOnce(&mut ProposedCall)) -> bool {
        self.note_progress();
        let call = self.calls.iter_mut().find(|call| call.id == id);
        call.map(change).is_some()
    }

    /// Whether all calls of this step are settled, and there are some.
    pub(super) fn is_step_settled(&self) -> bool {
        let is_settled = |call: &ProposedCall| matches!(call.state, CallState::Settled(_));
        !self.calls.is_empty() && self.calls.iter().all(is_settled)
    }

    /// Whether the agent may be running a call.
    pub(super) fn is_working(&self) -> bool {
        let is_open = |call: &ProposedCall| call.state == CallState::Open;
        !self.expected.is_empty() || self.calls.iter().any(is_open)
    }
}

/// Lays fields over those that are there.
fn merge(all: &mut Value, more: Value) {
    match (all, more) {
        (Value::Object(all), Value::Object(more)) => all.extend(more),
        (all, more) => *all = more,
    }
}
