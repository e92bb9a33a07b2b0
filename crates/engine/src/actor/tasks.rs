//! The tasks that a chat has running: the model, tools, timers.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use agents::{AgentStream, Conversation, Heard};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};
use turn::agent::{AgentEvent, StepRequest};
use turn::call::{Call, Outcome};
use turn::gate::Decision;
use turn::turn::Recorded;
use turn::{At, CallId, Chat, ChatId, GateId, Principal};

use crate::actor::Command;
use crate::context::Context;
use crate::engine::{Engine, until};
use crate::tool::{Returned, Run};
use crate::work::{Work, WorkSender};

/// The tasks that a chat has running.
pub(super) struct Tasks {
    engine: Engine,
    chat: ChatId,
    work: WorkSender,
    /// Counts model calls, so that one that was let go is not heard.
    run: u64,
    model: Option<AbortHandle>,
    /// Whether the model has not ended its step yet. It is listened to also when it has.
    is_speaking: bool,
    /// What the agent keeps open for the chat.
    conversation: Option<Box<dyn Conversation>>,
    /// Counts runs of tools, for the same reason.
    tool_run: u64,
    /// The run of each call that is listened to; it has a task once it was started.
    tools: HashMap<CallId, (u64, Option<AbortHandle>)>,
    /// Runs that are due.
    due: Vec<ToolRun>,
    /// Tools that wait at gates.
    waiting: HashMap<GateId, oneshot::Sender<Decision>>,
    /// Long-running calls that go on, whatever becomes of the turn that made them.
    later: Arc<Mutex<HashSet<CallId>>>,
}

/// A tool, ready to be run.
struct ToolRun {
    run: u64,
    call: CallId,
    tool: String,
    input: Value,
    context: Context,
}

impl Tasks {
    pub(super) fn new(engine: Engine, chat: ChatId, work: WorkSender) -> Self {
        Self {
            engine,
            chat,
            work,
            run: 0,
            model: None,
            is_speaking: false,
            conversation: None,
            tool_run: 0,
            tools: HashMap::new(),
            due: Vec::new(),
            waiting: HashMap::new(),
            later: Arc::default(),
        }
    }

    /// Whether nothing runs.
    pub(super) fn is_quiet(&self) -> bool {
        !self.is_speaking && self.tools.is_empty() && lock(&self.later).is_empty()
    }

    /// Whether the agent keeps something open.
    pub(super) fn is_conversing(&self) -> bool {
        self.conversation.is_some()
    }

    pub(super) fn hear(&mut self, heard: Heard) {
        if let Some(conversation) = &mut self.conversation {
            conversation.hear(heard);
        }
    }

    /// Whether a model call is the one that is listened to.
    pub(super) fn is_current(&self, run: u64) -> bool {
        self.model.is_some() && self.run == run
    }

    pub(super) fn model_done(&mut self) {
        self.is_speaking = false;
    }

    /// Whether a run of a tool is one that is listened to.
    pub(super) fn is_heard(&self, call: &CallId, run: u64) -> bool {
        self.tools.get(call).is_some_and(|(known, _)| *known == run)
    }

    /// Whether a tool runs for a call.
    pub(super) fn is_running(&self, call: &CallId) -> bool {
        self.tools.contains_key(call)
    }

    /// Whether the model has not ended its step yet.
    pub(super) fn is_speaking(&self) -> bool {
        self.is_speaking
    }

    /// Whether any tool runs, also one that waits at a gate.
    pub(super) fn are_tools_running(&self) -> bool {
        !self.tools.is_empty()
    }

    /// Whether any long-running call goes on.
    pub(super) fn is_any_going_on(&self) -> bool {
        !lock(&self.later).is_empty()
    }

    pub(super) fn done(&mut self, call: &CallId) {
        self.tools.remove(call);
        self.waiting.retain(|_, answer| !answer.is_closed());
    }

    /// Lets go of a tool.
    pub(super) fn end(&mut self, call: &CallId) {
        if let Some((_, Some(tool))) = self.tools.remove(call) {
            tool.abort();
        }
    }

    pub(super) fn later_done(&mut self, call: &CallId) {
        lock(&self.later).remove(call);
    }

    /// Whether a long-running call goes on in this process.
    pub(super) fn goes_on(&self, call: &CallId) -> bool {
        lock(&self.later).contains(call)
    }

    /// Lets go of the model and of all tools.
    pub(super) fn stop(&mut self) {
        let tools = self.tools.drain().filter_map(|(_, (_, tool))| tool);
        self.model
            .take()
            .into_iter()
            .chain(tools)
            .for_each(|task| task.abort());
        self.is_speaking = false;
        self.waiting.clear();
        if let Some(conversation) = &mut self.conversation {
            conversation.stop();
        }
    }

    pub(super) fn wait(&mut self, gate: GateId, answer: oneshot::Sender<Decision>) {
        self.waiting.insert(gate, answer);
    }

    /// Tells a tool what was decided, and says whether there was one to be told.
    pub(super) fn wake(&mut self, gate: &GateId, decision: Decision) -> bool {
        let waiting = self.waiting.remove(gate);
        waiting.is_some_and(|answer| answer.send(decision).is_ok())
    }

    pub(super) fn call_model(&mut self, principal: Principal, chat: &mut Chat) {
        let history = chat.shared_history();
        let Some(turn) = chat.current() else { return };
        if let Some(model) = self.model.take() {
            model.abort();
        }
        self.run += 1;
        let shared = &self.engine.shared;
        let request = StepRequest {
            chat: self.chat.clone(),
            turn: turn.id().clone(),
            principal,
            history,
            tools: shared.tools.declarations(),
            session: chat.session().cloned(),
            own: turn.own_calls(),
            is_again: turn.is_asked_again(),
        };
        if self.conversation.is_none() {
            self.conversation = shared.agent.converse(&self.chat);
        }
        let stream = match &mut self.conversation {
            Some(conversation) => conversation.step(request),
            None => shared.agent.step(request),
        };
        self.is_speaking = true;
        let task = tokio::spawn(listen(stream, self.run, self.work.clone()));
        self.model = Some(task.abort_handle());
    }

    /// Makes a tool due.
    pub(super) fn run_tool(
        &mut self,
        call: &Call,
        input: Value,
        principal: Principal,
        recorded: Recorded,
    ) {
        let id = call.id.clone();
        // What an earlier run of it still says is not heard, so it had better say nothing.
        self.end(&id);
        self.tool_run += 1;
        let run = self.tool_run;
        self.tools.insert(id.clone(), (run, None));
        let work = self.work.clone();
        let context = Context::new(
            self.chat.clone(),
            run,
            id.clone(),
            principal,
            work,
            recorded,
        );
        self.due.push(ToolRun {
            run,
            call: id,
            tool: call.tool.clone(),
            input,
            context,
        });
    }

    /// Starts the tools that are due.
    ///
    /// This comes after whoever is to be answered was, since the runtime goes on with the task that was
    /// woken last: where many answer at once, their tools start before the first reply is written.
    pub(super) fn start_due(&mut self) {
        for due in std::mem::take(&mut self.due) {
            // It may have been let go since.
            let known = self.tools.get_mut(&due.call);
            let Some((_, started)) = known.filter(|(run, _)| *run == due.run) else {
                continue;
            };
            let function = self.engine.shared.tools.get(&due.tool);
            let function = function.and_then(|tool| tool.run.clone());
            let task = run(due, function, self.work.clone(), self.later.clone());
            *started = Some(tokio::spawn(task).abort_handle());
        }
    }

    pub(super) fn set_timer(&mut self, gate: GateId, at: At) {
        let (engine, chat) = (self.engine.clone(), self.chat.clone());
        tokio::spawn(async move {
            tokio::time::sleep(until(at)).await;
            // The chat's task may have retired meanwhile: this wakes it.
            if let Err(error) = engine.command(&chat, Command::TimedOut { gate }).await {
                tracing::error!(%chat, %error, "a gate's time is up, and its chat can't be reached");
            }
        });
    }
}

/// Runs a tool, and brings what came of it.
async fn run(
    due: ToolRun,
    function: Option<Run>,
    work: WorkSender,
    later: Arc<Mutex<HashSet<CallId>>>,
) {
    let (run, call) = (due.run, due.call);
    let Some(function) = function else {
        // The tool was there when the call was made, and is not in this process.
        let error = format!("There is no tool {} any more.", due.tool);
        let outcome = Outcome::Error { error };
        let _ = work.send(Work::Done { run, call, outcome }).await;
        return;
    };
    // In a set, so that the tool ends with this task, and a panic of it does not.
    let mut tool = JoinSet::new();
    tool.spawn(async move { function(due.context, due.input).await });
    match tool.join_next().await {
        Some(Ok(Returned::Done(outcome))) => {
            let _ = work.send(Work::Done { run, call, outcome }).await;
        }
        Some(Ok(Returned::Later(output, rest))) => {
            let outcome = Outcome::Pending { output };
            lock(&later).insert(call.clone());
            let done = Work::Done {
                run,
                call: call.clone(),
                outcome,
            };
            // A turn of its own must not end with this one.
            tokio::spawn(async move {
                let sent = work.send(done).await;
                let outcome = tokio::spawn(rest).await.unwrap_or_else(|_| crashed());
                if sent.is_ok() {
                    let _ = work.send(Work::Result { call, outcome }).await;
                }
            });
        }
        Some(Err(_)) | None => {
            let outcome = crashed();
            let _ = work.send(Work::Done { run, call, outcome }).await;
        }
    }
}

fn crashed() -> Outcome {
    let error = "The tool crashed.".to_owned();
    Outcome::Error { error }
}

fn lock(calls: &Mutex<HashSet<CallId>>) -> MutexGuard<'_, HashSet<CallId>> {
    // Nothing that holds the lock can panic half-way through a change.
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An agent that is listened to beyond its step is let go with the chat.
impl Drop for Tasks {
    fn drop(&mut self) {
        if let Some(model) = self.model.take() {
            model.abort();
        }
    }
}

/// How much of what an agent has ready is brought in one go.
const BREATH: usize = 256;

/// Brings what the agent says, all that is ready in one go, and then that its stream has ended.
async fn listen(mut stream: AgentStream, run: u64, work: WorkSender) {
    let mut is_over = false;
    while !is_over {
        let (ready, _) = stream.size_hint();
        let mut events = Vec::with_capacity(ready.min(BREATH));
        is_over = std::future::poll_fn(|context| {
            while events.len() < BREATH {
                match stream.as_mut().poll_next(context) {
                    Poll::Ready(Some(event)) => {
                        let is_last = matches!(event, AgentEvent::Failed { .. });
                        events.push(event.into());
                        if is_last {
                            return Poll::Ready(true);
                        }
                    }
                    Poll::Ready(None) => return Poll::Ready(true),
                    // What was said goes out at once, however little it is.
                    Poll::Pending if events.is_empty() => return Poll::Pending,
                    Poll::Pending => break,
                }
            }
            Poll::Ready(false)
        })
        .await;
        let said = Work::Agent {
            run,
            events,
            is_over,
        };
        // The chat lets go of a model that it does not want to hear any more.
        if work.send(said).await.is_err() {
            return;
        }
    }
}
