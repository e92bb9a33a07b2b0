//! The tasks that a chat has running: the model, tools, timers.

use std::collections::HashMap;

use agents::{AgentStream, Conversation, Heard};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use turn::agent::{AgentEvent, StepRequest};
use turn::call::{Call, Outcome};
use turn::gate::Decision;
use turn::turn::Recorded;
use turn::{At, CallId, Chat, ChatId, GateId, Principal};

use crate::actor::Command;
use crate::context::Context;
use crate::engine::{Engine, until};
use crate::tool::Returned;
use crate::work::Work;

/// The tasks that a chat has running.
pub(super) struct Tasks {
    engine: Engine,
    chat: ChatId,
    work: mpsc::Sender<Work>,
    /// Counts model calls, so that one that was let go is not heard.
    run: u64,
    model: Option<AbortHandle>,
    /// Whether the model has not ended its step yet. It is listened to also when it has.
    is_speaking: bool,
    /// What the agent keeps open for the chat.
    conversation: Option<Box<dyn Conversation>>,
    tools: HashMap<CallId, AbortHandle>,
    /// Tools that wait at gates.
    waiting: HashMap<GateId, oneshot::Sender<Decision>>,
    /// How many long-running calls go on.
    later: usize,
}

impl Tasks {
    pub(super) fn new(engine: Engine, chat: ChatId, work: mpsc::Sender<Work>) -> Self {
        Self {
            engine,
            chat,
            work,
            run: 0,
            model: None,
            is_speaking: false,
            conversation: None,
            tools: HashMap::new(),
            waiting: HashMap::new(),
            later: 0,
        }
    }

    /// Whether nothing runs.
    pub(super) fn is_quiet(&self) -> bool {
        !self.is_speaking && self.tools.is_empty() && self.later == 0
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

    pub(super) fn done(&mut self, call: &CallId) {
        self.tools.remove(call);
    }

    pub(super) fn later_done(&mut self) {
        self.later = self.later.saturating_sub(1);
    }

    /// Lets go of the model and of all tools.
    pub(super) fn stop(&mut self) {
        let tools = self.tools.drain().map(|(_, tool)| tool);
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

    pub(super) fn call_model(&mut self, principal: Principal, chat: &Chat) {
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
            history: chat.history(),
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

    pub(super) fn run_tool(
        &mut self,
        call: &Call,
        input: Value,
        principal: Principal,
        recorded: Recorded,
    ) {
        let id = call.id.clone();
        let run = self.engine.shared.tools.get(&call.tool);
        let Some(run) = run.and_then(|tool| tool.run.clone()) else {
            // The tool was there when the call was made, and is not in this process.
            let error = format!("There is no tool {} any more.", call.tool);
            let outcome = Outcome::Error { error };
            let work = self.work.clone();
            tokio::spawn(async move { work.send(Work::Done { call: id, outcome }).await });
            return;
        };
        let work = self.work.clone();
        let context = Context::new(
            self.chat.clone(),
            id.clone(),
            principal,
            work.clone(),
            recorded,
        );
        let may_go_on = self.engine.shared.tools.get(&call.tool);
        if may_go_on.is_some_and(|tool| tool.is_long_running) {
            self.later += 1;
        }
        let call = id.clone();
        let task = tokio::spawn(async move {
            // In a set, so that the tool ends with this task, and a panic of it does not.
            let mut tool = JoinSet::new();
            tool.spawn(async move { run(context, input).await });
            match tool.join_next().await {
                Some(Ok(Returned::Done(outcome))) => {
                    let _ = work.send(Work::Done { call, outcome }).await;
                }
                Some(Ok(Returned::Later(output, rest))) => {
                    let outcome = Outcome::Pending { output };
                    let done = Work::Done {
                        call: call.clone(),
                        outcome,
                    };
                    // A turn of its own must not end with this one.
                    tokio::spawn(async move {
                        let sent = work.send(done).await;
                        let outcome = rest.await;
                        if sent.is_ok() {
                            let _ = work.send(Work::Result { call, outcome }).await;
                        }
                    });
                }
                Some(Err(_)) | None => {
                    let error = "The tool crashed.".to_owned();
                    let outcome = Outcome::Error { error };
                    let _ = work.send(Work::Done { call, outcome }).await;
                }
            }
        });
        self.tools.insert(id, task.abort_handle());
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

/// An agent that is listened to beyond its step is let go with the chat.
impl Drop for Tasks {
    fn drop(&mut self) {
        if let Some(model) = self.model.take() {
            model.abort();
        }
    }
}

/// Brings what the agent says, one by one, and then that its stream has ended.
async fn listen(mut stream: AgentStream, run: u64, work: mpsc::Sender<Work>) {
    loop {
        let event = std::future::poll_fn(|context| stream.as_mut().poll_next(context)).await;
        let is_end = matches!(event, None | Some(AgentEvent::Failed { .. }));
        // The chat lets go of a model that it does not want to hear any more.
        if work.send(Work::Agent { run, event }).await.is_err() || is_end {
            return;
        }
    }
}
