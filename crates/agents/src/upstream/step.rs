//! One step of a turn: what the agent is sent, and what is read of its run.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use turn::agent::{AgentEvent, CallResult, HistoryItem, OwnCall, StepRequest};
use turn::call::{Outcome, Place, UnknownReason};
use turn::event::Finish;

use super::http::EventStream;
use super::remote::Remote;
use super::run::Run;
use super::run_event::{CallState, ProposedCall, RunEvent};
use super::{Protocol, headers};
use crate::event_sender::EventSender;
use crate::model::Failure;

/// After how much silence the calls of a step are shown as running, where it is known that no page runs
/// them.
const SHOW_RUNNING: Duration = Duration::from_millis(250);

/// What outlives a step.
pub(crate) struct SessionState<P: Protocol> {
    run: Option<Run<P::Reader>>,
    /// Why the run of a turn broke, to be said with the next step: its calls come first.
    failure: Option<(String, Failure)>,
}

impl<P: Protocol> Default for SessionState<P> {
    fn default() -> Self {
        Self {
            run: None,
            failure: None,
        }
    }
}

/// Runs one step, and reads on for as long as outcomes of its calls may come.
pub(crate) async fn run_step<P: Protocol>(
    remote: &Remote<P>,
    request: &StepRequest,
    sender: &EventSender,
    state: &mut SessionState<P>,
) {
    let mut step = Step {
        remote,
        request,
        sender,
        is_handed_over: false,
    };
    let broken = state.failure.take();
    let broken = broken.filter(|(turn, _)| turn == request.turn.as_str());
    if let Some((_, failure)) = broken {
        return sender.send(failure.into());
    }
    if let Err(failure) = step.go(state).await {
        step.fail(state, failure);
    }
}

struct Step<'a, P> {
    remote: &'a Remote<P>,
    request: &'a StepRequest,
    sender: &'a EventSender,
    /// Whether the step has ended, and outcomes of its calls are awaited.
    is_handed_over: bool,
}

impl<P: Protocol> Step<'_, P> {
    async fn go(&mut self, state: &mut SessionState<P>) -> Result<(), Failure> {
        let turn = self.request.turn.as_str();
        let continued = state.run.take();
        let continued = continued.filter(|run| run.turn == turn && !run.awaits_answers);
        let run = match continued {
            Some(run) => run,
            None => self.start().await?,
        };
        let run = state.run.insert(run);
        self.listen(run).await?;
        self.read_step(run).await?;
        if !self.is_handed_over {
            return Ok(());
        }
        self.listen(run).await?;
        if run.awaits_answers {
            // An agent whose reader is gone may take back what it has asked.
            while run.next().await?.is_some() {}
            return Ok(());
        }
        // The caller drops this future when it starts the next step.
        std::future::pending().await
    }

    /// Begins a run.
    async fn start(&self) -> Result<Run<P::Reader>, Failure> {
        let request = self.request;
        if !request.is_again {
            return self.begin(request).await;
        }
        // A server that is gone may have begun it.
        let upstream = self.remote.upstream();
        if let Some(path) = self.remote.resume_path(request)
            && let Some(stream) = upstream.get_stream(&path, headers(request)).await
        {
            return Ok(self.run(request, stream));
        }
        let reason = UnknownReason::AnswerUnclear;
        for id in unsettled(request) {
            self.settle_unknown(id, reason);
        }
        if !self.remote.reruns() {
            let message = "The server that read the agent's answer stopped, and the agent may have \
                           acted. Ask again.";
            return Err(Failure::new("agent_cut_off", message));
        }
        self.begin(&without_own_calls(request, reason)).await
    }

    async fn begin(&self, request: &StepRequest) -> Result<Run<P::Reader>, Failure> {
        let upstream = self.remote.upstream();
        let body = self.remote.body(request)?;
        let stream = upstream.post(&body, headers(request)).await?;
        Ok(self.run(request, stream))
    }

    /// The run that a stream is of.
    fn run(&self, request: &StepRequest, stream: EventStream) -> Run<P::Reader> {
        Run::new(
            request.turn.to_string(),
            self.remote.upstream().provider(),
            stream,
            self.remote.reader(request),
            unsettled(request).collect(),
            self.remote.tool_timeout(),
        )
    }

    /// Reads the outcomes of calls of earlier steps, until all are in or the run ends.
    async fn listen(&self, run: &mut Run<P::Reader>) -> Result<(), Failure> {
        while !run.expected.is_empty() {
            let next = run.next_expected().await?;
            match next {
                Some(RunEvent::Progress { id, output }) => {
                    self.sender.send(AgentEvent::Progress {
                        provider_id: id,
                        output,
                    });
                }
                Some(RunEvent::Result { id, outcome }) => {
                    run.note_outcome(&id);
                    run.has_results = true;
                    self.sender.send(AgentEvent::Settled {
                        provider_id: id,
                        outcome,
                    });
                }
                Some(RunEvent::Ask { id, asking, .. }) => {
                    run.note_outcome(&id);
                    run.awaits_answers = true;
                    self.sender.send(AgentEvent::Asks {
                        provider_id: id,
                        asking,
                    });
                }
                _ => {
                    self.lose(run, UnknownReason::NoResult);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Reads until the step is over, or the run is.
    async fn read_step(&mut self, run: &mut Run<P::Reader>) -> Result<(), Failure> {
        run.has_output = false;
        // What a call shows does not count.
        let mut said_at = Instant::now();
        loop {
            let next = if run.is_working() && self.is_agents_alone(run) {
                match timeout_at(said_at + SHOW_RUNNING, run.next()).await {
                    Ok(next) => next?,
                    Err(_) => {
                        self.hand_over(run, Ending::Running);
                        return Ok(());
                    }
                }
            } else {
                run.next().await?
            };
            let Some(said) = next else {
                return self.end(run);
            };
            if !matches!(said, RunEvent::Progress { .. }) {
                said_at = Instant::now();
            }
            match said {
                RunEvent::Output(event) => {
                    run.has_output |= is_shown(&event);
                    self.sender.send(event);
                }
                RunEvent::Call(call) => run.propose(call),
                RunEvent::Input { id, input } => run.correct(&id, input),
                RunEvent::Result { id, outcome } => {
                    run.settle(&id, outcome);
                }
                RunEvent::Progress { id, output } => run.show(&id, output),
                RunEvent::Ask {
                    id,
                    asking,
                    metadata,
                } => {
                    run.ask(&id, asking, metadata);
                }
                RunEvent::StepEnd if run.is_step_settled() => {
                    self.hand_over(run, Ending::Step);
                    return Ok(());
                }
                RunEvent::Retract => run.calls.clear(),
                RunEvent::Withdraw(id) => run.calls.retain(|call| call.id != id),
                // With calls that are open or asked about, the run is about to end.
                RunEvent::StepEnd | RunEvent::Finish(_) => {}
            }
        }
    }

    /// Whether all calls of the step are known to be the agent's own to run.
    fn is_agents_alone(&self, run: &Run<P::Reader>) -> bool {
        let client_tools = self.remote.client_tools();
        let is_other =
            |call: &ProposedCall| client_tools.is_some_and(|tools| !tools.contains(&call.tool));
        // One that shows something runs already.
        let runs = |call: &ProposedCall| {
            call.shown.is_some() || matches!(call.state, CallState::Settled(_))
        };
        let mut calls = run.calls.iter();
        calls.all(|call| runs(call) || is_other(call) && !self.is_offered(call))
    }

    /// Whether a call is of a tool that the agent was offered here.
    fn is_offered(&self, call: &ProposedCall) -> bool {
        let mut tools = self.request.tools.iter();
        tools.any(|tool| tool.name == call.tool)
    }

    /// The run is over.
    fn end(&mut self, run: &mut Run<P::Reader>) -> Result<(), Failure> {
        if !run.calls.is_empty() {
            self.hand_over(run, Ending::Run);
            return Ok(());
        }
        if !run.has_output && !run.has_results {
            return Err(self.remote.upstream().provider().silent());
        }
        let finish = run.finish.unwrap_or(Finish::Stop);
        self.sender.send(AgentEvent::Ended(finish));
        run.awaits_answers = true;
        Ok(())
    }

    /// Ends the step with its calls, and says what is known of them.
    fn hand_over(&mut self, run: &mut Run<P::Reader>, ending: Ending) {
        self.is_handed_over = true;
        let calls = std::mem::take(&mut run.calls);
        // A page that runs its call while a person is asked would send the output, again and again: it
        // is to wait, so its call comes after the question.
        let is_person_asked = calls.iter().any(|call| {
            matches!(call.state, CallState::Asked(_)) && !self.is_client_call(call, ending)
        });
        let (mut later, mut pages) = (Vec::new(), Vec::new());
        for call in calls {
            let is_open = call.state == CallState::Open && ending == Ending::Run;
            if is_open && self.is_offered(&call) {
                // Our rules decide who is asked, and where it runs.
                run.awaits_answers = true;
                self.sender.send(AgentEvent::Call {
                    provider_id: Some(call.id),
                    tool: call.tool,
                    input: call.input,
                    provider_metadata: Some(call.metadata),
                });
                continue;
            }
            let is_client = self.is_client_call(&call, ending);
            let provider_id = call.id.clone();
            let mut asks = None;
            if is_client && is_person_asked && call.state == CallState::Open {
                run.awaits_answers = true;
                pages.push(AgentEvent::Waits { provider_id });
                self.sender.send(AgentEvent::OpenCall {
                    provider_id: call.id,
                    tool: call.tool,
                    input: call.input,
                    provider_metadata: Some(call.metadata),
                });
                continue;
            }
            match call.state.clone() {
                CallState::Settled(outcome) => later.push(AgentEvent::Settled {
                    provider_id,
                    outcome,
                }),
                CallState::Asked(asking) => {
                    run.awaits_answers = true;
                    match is_client {
                        true => asks = Some(asking),
                        false => later.push(AgentEvent::Asks {
                            provider_id,
                            asking,
                        }),
                    }
                }
                CallState::Open if is_client => run.awaits_answers = true,
                CallState::Open => match ending {
                    Ending::Step | Ending::Running => {
                        run.expected.push(provider_id.clone());
                        later.extend(call.shown.clone().map(|output| AgentEvent::Progress {
                            provider_id,
                            output,
                        }));
                    }
                    Ending::Run => later.push(self.unknown(provider_id, UnknownReason::NoResult)),
                    Ending::Broken(reason) => later.push(self.unknown(provider_id, reason)),
                },
            }
            self.sender.send(AgentEvent::OwnCall {
                provider_id: call.id,
                tool: call.tool,
                input: call.input,
                provider_metadata: Some(call.metadata),
                place: match is_client {
                    true => Place::Client,
                    false => Place::Agent,
                },
                asks,
            });
        }
        self.sender.send(AgentEvent::Ended(Finish::Stop));
        self.sender.send_all(later);
        self.sender.send_all(pages);
    }

    /// Whether a page runs a call.
    fn is_client_call(&self, call: &ProposedCall, ending: Ending) -> bool {
        if call.is_agents {
            return false;
        }
        let client_tools = self.remote.client_tools();
        let is_listed = client_tools.map(|tools| tools.contains(&call.tool));
        match call.state {
            CallState::Settled(_) => false,
            // Who gives data gives it to the agent.
            CallState::Asked(ref asking) => is_listed == Some(true) && asking.schema.is_none(),
            // The agent has ended and waits for its output.
            CallState::Open => ending == Ending::Run && is_listed != Some(false),
        }
    }

    /// The run broke, or could not begin.
    fn fail(&mut self, state: &mut SessionState<P>, failure: Failure) {
        let Some(mut run) = state.run.take() else {
            // What another server may have sent is settled as unknown already.
            if failure.is_transient && !self.request.is_again {
                self.sender.send_all(self.undelivered(&failure));
            }
            return self.sender.send(failure.into());
        };
        let reason = match failure.code {
            "agent_cut_off" => UnknownReason::ConnectionCut,
            "agent_timed_out" => UnknownReason::NoResult,
            _ => UnknownReason::AgentFailed,
        };
        self.lose(&mut run, reason);
        let mut is_step_over = self.is_handed_over;
        if !run.calls.is_empty() {
            self.hand_over(&mut run, Ending::Broken(reason));
            is_step_over = true;
        }
        let (chat, turn, code) = (&self.request.chat, &self.request.turn, failure.code);
        if is_step_over && run.awaits_answers {
            // All that was asked is here; the rest of the run was of no use.
            tracing::warn!(%chat, %turn, code, "agent's run failed after its last question");
        } else if is_step_over {
            // The calls are settled, and the next step is asked for.
            state.failure = Some((turn.to_string(), failure));
        } else {
            self.sender.send(failure.into());
        }
    }

    /// Settles calls without a result as unknown.
    fn lose(&self, run: &mut Run<P::Reader>, reason: UnknownReason) {
        for id in std::mem::take(&mut run.expected) {
            self.settle_unknown(id, reason);
        }
    }

    fn settle_unknown(&self, id: String, reason: UnknownReason) {
        let event = self.unknown(id, reason);
        self.sender.send(event);
    }

    fn unknown(&self, provider_id: String, reason: UnknownReason) -> AgentEvent {
        let (chat, turn, call) = (&self.request.chat, &self.request.turn, &provider_id);
        tracing::warn!(%chat, %turn, call, ?reason, "call outcome unknown");
        AgentEvent::Settled {
            provider_id,
            outcome: Outcome::Unknown { reason },
        }
    }

    /// The events for calls that were approved, and that the agent was not there to run.
    fn undelivered(&self, failure: &Failure) -> Vec<AgentEvent> {
        let settled = unsettled(self.request).map(|provider_id| AgentEvent::Settled {
            provider_id,
            outcome: Outcome::Error {
                error: format!("It did not run: {}", failure.message),
            },
        });
        settled.collect()
    }
}

/// How a step ends that has calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The agent has ended it, and continues.
    Step,
    /// Its calls run, and are shown meanwhile.
    Running,
    /// The run has ended with it.
    Run,
    /// The run broke.
    Broken(UnknownReason),
}

/// The calls of the agent's own that were approved.
fn unsettled(request: &StepRequest) -> impl Iterator<Item = String> {
    let own = request.own.iter().filter(|own| own.outcome.is_none());
    own.filter_map(|own| own.call.provider_id.clone())
}

/// The request, with an unknown outcome for calls of the agent's own that have none.
fn without_own_calls(request: &StepRequest, reason: UnknownReason) -> StepRequest {
    let mut request = request.clone();
    let is_open = |own: &&OwnCall| own.outcome.is_none();
    let lost: Vec<_> = request.own.iter().filter(is_open).cloned().collect();
    if let Some(HistoryItem::Step { results, .. }) = Arc::make_mut(&mut request.history).last_mut()
    {
        results.extend(lost.into_iter().map(|own| CallResult {
            call: own.call,
            edited_input: None,
            outcome: Outcome::Unknown { reason },
        }));
    }
    request.own.retain(|own| own.outcome.is_some());
    request
}

fn is_shown(event: &AgentEvent) -> bool {
    !matches!(
        event,
        AgentEvent::Opaque(_)
            | AgentEvent::Metadata(_)
            | AgentEvent::PartEnd
            | AgentEvent::Signal { .. }
    )
}
