//! What a chat has running: the agent's step, tools, and those who wait at gates.

use std::collections::HashMap;
use std::task::{self, Poll};

use agents::{AgentStream, AudioInput, Conversation};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};
use tools::Context;
use tools::tool::{Returned, Run};
use tools::work::{ToolDoes, Work, WorkSender};
use tracing::{Instrument, Span};
use turn::agent::{AgentEvent, CompactEvent, StepRequest};
use turn::call::Outcome;
use turn::gate::Decision;
use turn::{CallId, ChatId, GateId};

use crate::driver::ToolRun;
use crate::engine::Engine;

/// How much of what an agent has ready is brought in one go.
const BATCH_SIZE: usize = 256;

/// A batch of an agent's events.
pub(super) struct Events {
    /// Of which model call.
    pub(super) run: u64,
    pub(super) events: Vec<CompactEvent>,
    /// Whether the stream has ended.
    pub(super) is_over: bool,
    /// Whether nothing more is ready: the waker is called when there is.
    pub(super) is_all: bool,
}

/// A model call that is listened to.
struct ModelCall {
    run: u64,
    stream: AgentStream,
    /// What the agent logs says which chat, turn and request it is about.
    span: Span,
}

/// What a chat has running.
pub(super) struct Tasks {
    engine: Engine,
    chat: ChatId,
    work: WorkSender,
    /// The model call that is listened to, also when it has ended its step.
    model: Option<ModelCall>,
    /// What the agent keeps open for the chat.
    conversation: Option<Box<dyn Conversation>>,
    /// The run of each call, and its task.
    tools: HashMap<CallId, (u64, AbortHandle)>,
    /// Who waits at gates.
    waiting: HashMap<GateId, oneshot::Sender<Decision>>,
}

impl Tasks {
    pub(super) fn new(engine: Engine, chat: ChatId, work: WorkSender) -> Self {
        Self {
            engine,
            chat,
            work,
            model: None,
            conversation: None,
            tools: HashMap::new(),
            waiting: HashMap::new(),
        }
    }

    /// Whether the agent keeps something open.
    pub(super) fn is_conversing(&self) -> bool {
        self.conversation.is_some()
    }

    pub(super) fn push_audio(&mut self, audio: AudioInput) {
        if let Some(conversation) = &mut self.conversation {
            conversation.push_audio(audio);
        }
    }

    pub(super) fn call_model(&mut self, run: u64, request: StepRequest, span: Span) {
        // One step at a time: the one before it ends first.
        self.model = None;
        let agent = &self.engine.shared.agent;
        if self.conversation.is_none() {
            self.conversation = agent.converse(&self.chat);
        }
        let stream = span.in_scope(|| match &mut self.conversation {
            Some(conversation) => conversation.step(request),
            None => agent.step(request),
        });
        self.model = Some(ModelCall { run, stream, span });
    }

    /// The agent's next events, all that are ready in one batch. The stream is polled here, in the task
    /// of the chat, so that a delta wakes no other task.
    pub(super) fn poll_events(&mut self, context: &mut task::Context<'_>) -> Poll<Events> {
        let Some(ModelCall { run, stream, span }) = &mut self.model else {
            return Poll::Pending;
        };
        let entered = span.enter();
        let mut batch = Events {
            run: *run,
            events: Vec::new(),
            is_over: false,
            is_all: false,
        };
        while batch.events.len() < BATCH_SIZE {
            match stream.as_mut().poll_next(context) {
                Poll::Ready(Some(event)) => {
                    batch.is_over = matches!(event, AgentEvent::Failed { .. });
                    // Most come alone. Where there are more, as many are ready as the stream says.
                    if batch.events.len() == 1 {
                        batch.events.reserve(stream.size_hint().0.min(BATCH_SIZE));
                    }
                    batch.events.push(event.into());
                }
                Poll::Ready(None) => batch.is_over = true,
                // What has come goes out at once, however little it is.
                Poll::Pending if batch.events.is_empty() => return Poll::Pending,
                Poll::Pending => {
                    batch.is_all = true;
                    break;
                }
            }
            if batch.is_over {
                batch.is_all = true;
                break;
            }
        }
        drop(entered);
        if batch.is_over {
            self.model = None;
        }
        Poll::Ready(batch)
    }

    /// Starts a tool.
    pub(super) fn run_tool(&mut self, due: ToolRun, span: Span) {
        self.end(&due.call);
        let (run, call) = (due.run, due.call.clone());
        let tools = &self.engine.shared.settings.tools;
        let no_function = || format!("{} does not run here.", due.tool);
        let function = tools
            .find_to_run(&due.tool)
            .and_then(|tool| tool.function().ok_or_else(no_function));
        let context = Context::new(
            self.chat.clone(),
            run,
            call.clone(),
            due.principal.clone(),
            tools.clone(),
            self.work.clone(),
            due.recorded.clone(),
        )
        .with_fence(due.fence.clone())
        .with_trace(due.trace.clone());
        let run_to_end = self::run(due, context, function, self.work.clone());
        let task = tokio::spawn(run_to_end.instrument(span));
        self.tools.insert(call, (run, task.abort_handle()));
    }

    /// Forgets a run that has come to its end.
    pub(super) fn returned(&mut self, call: &CallId, run: u64) {
        if self.tools.get(call).is_some_and(|(known, _)| *known == run) {
            self.tools.remove(call);
            self.waiting.retain(|_, answer| !answer.is_closed());
        }
    }

    /// Ends what runs for a call.
    pub(super) fn end(&mut self, call: &CallId) {
        if let Some((_, tool)) = self.tools.remove(call) {
            tool.abort();
        }
    }

    /// Ends the agent's step and all tools but those of the calls that are kept.
    pub(super) fn stop(&mut self, kept: &[CallId]) {
        self.model = None;
        self.tools.retain(|call, (_, tool)| {
            let is_kept = kept.contains(call);
            if !is_kept {
                tool.abort();
            }
            is_kept
        });
        self.waiting.clear();
        if let Some(conversation) = &mut self.conversation {
            conversation.stop();
        }
    }

    /// Has somebody wait at a gate.
    pub(super) fn wait(&mut self, gate: GateId, answer: oneshot::Sender<Decision>) {
        self.waiting.insert(gate, answer);
    }

    /// Tells who waits at a gate what was decided.
    pub(super) fn answer(&mut self, gate: &GateId, decision: Decision) {
        if let Some(answer) = self.waiting.remove(gate) {
            // Who does not wait any more goes on without it.
            let _ = answer.send(decision);
        }
    }
}

/// Runs a tool, and sends its result to the actor.
async fn run(due: ToolRun, context: Context, function: Result<Run, String>, work: WorkSender) {
    let (run, call, input) = (due.run, due.call, due.input);
    let returned = |outcome| Work::Tool {
        run,
        call: call.clone(),
        does: ToolDoes::Return { outcome },
    };
    let function = match function {
        Ok(function) => function,
        // The tool was there when the call was made, and is not in this process, or not any more.
        Err(error) => {
            let _ = work.send(returned(Outcome::Error { error })).await;
            return;
        }
    };
    // In a set, so that the tool ends with this task, and a panic of it does not.
    let mut tool = JoinSet::new();
    tool.spawn(async move { function(context, input).await }.in_current_span());
    match tool.join_next().await {
        Some(Ok(Returned::Done(outcome))) => {
            let _ = work.send(returned(outcome)).await;
        }
        Some(Ok(Returned::Later(output, rest))) => {
            let pending = returned(Outcome::Pending { output });
            // What it goes on with must not end with this turn.
            let later = async move {
                let sent = work.send(pending).await;
                let rest = tokio::spawn(rest.in_current_span());
                let outcome = rest.await.unwrap_or_else(|_| crashed());
                if sent.is_ok() {
                    let _ = work.send(Work::Result { call, outcome }).await;
                }
            };
            tokio::spawn(later.in_current_span());
        }
        Some(Err(_)) | None => {
            let _ = work.send(returned(crashed())).await;
        }
    }
}

fn crashed() -> Outcome {
    let error = "The tool crashed.".to_owned();
    Outcome::Error { error }
}
