//! What a driver wants done, in the order in which it wants it.

use std::time::Duration;

use tokio::sync::oneshot;
use tools::Fence;

use super::{Actor, Given, Waiting};
use crate::command::{Deciding, Reply};
use crate::driver;
use crate::driver::{Action, Input, QuestionState};
use crate::error::EngineError;

/// How long a tool may take to have an earlier run refused. The turn waits for it.
const FENCE_TIME_LIMIT: Duration = Duration::from_secs(5);

/// How many commands may wait for a turn to come to rest.
const POSTPONED: usize = 16;

impl Actor {
    /// Carries out what the driver wants, until it waits for nothing more.
    pub(super) async fn carry_out_all(&mut self, mut actions: Vec<Action>, mut waiting: Waiting) {
        loop {
            let mut operation = None;
            for action in actions {
                match action {
                    Action::Store(asked) => operation = Some(asked),
                    Action::RaiseFence { tools, fence } => self.raise_fence(tools, &fence).await,
                    action => waiting = self.carry_out(action, waiting),
                }
            }
            if self.engine.shared.replica.is_some() {
                self.engine.shared.leased.set(&self.id, self.driver.held());
            }
            let Some(operation) = operation else { return };
            let stored = self.ask_store(operation).await;
            actions = self.driver.handle(Input::Stored(stored), self.engine.now());
            self.windows.publish(&self.driver);
        }
    }

    /// Has tools refuse what an earlier owner of the chat still does.
    async fn raise_fence(&mut self, tools: Vec<String>, fence: &Fence) {
        for name in tools {
            let tool = self.engine.shared.settings.tools.get(&name);
            let Some(taken_over) = tool.and_then(|tool| tool.taken_over()) else {
                continue;
            };
            // In a task of its own: a panic of the tool's is not this chat's.
            let raised = tokio::spawn(taken_over(fence.clone()));
            let problem = match tokio::time::timeout(FENCE_TIME_LIMIT, raised).await {
                Ok(Ok(Ok(()))) => continue,
                Ok(Ok(Err(error))) => error.to_string(),
                Ok(Err(error)) => error.to_string(),
                Err(error) => error.to_string(),
            };
            tracing::warn!(chat = %self.id, tool = name, problem, "fencing an earlier run failed");
        }
    }

    /// Carries an action out, and says who still waits.
    fn carry_out(&mut self, action: Action, waiting: Waiting) -> Waiting {
        match (action, waiting) {
            // Nobody need get the answer: the client may have left, and the tool may have ended.
            (Action::Reply(done), Waiting::Client { reply, .. }) => {
                let done = done.and_then(|done| self.reply(done));
                let _ = reply.send(done);
                Waiting::Nobody
            }
            (
                Action::Postpone(kind),
                Waiting::Client {
                    principal,
                    origin,
                    reply,
                },
            ) => {
                match self.postponed.len() < POSTPONED {
                    true => self.postponed.push(Given {
                        principal,
                        kind,
                        origin,
                        reply,
                    }),
                    false => drop(reply.send(Err(EngineError::Conflict))),
                }
                Waiting::Nobody
            }
            (Action::Decided(decision), Waiting::Answer(answer)) => {
                let _ = answer.send(decision);
                Waiting::Nobody
            }
            (Action::Wait(gate), Waiting::Answer(answer)) => {
                self.tasks.wait(gate, answer);
                Waiting::Nobody
            }
            (Action::Recorded, Waiting::Record(done)) => {
                let _ = done.send(());
                Waiting::Nobody
            }
            (action, waiting) => {
                self.carry_out_unasked(action);
                waiting
            }
        }
    }

    /// Carries out an action for which no caller waits.
    fn carry_out_unasked(&mut self, action: Action) {
        match action {
            Action::Answer { gate, decision } => self.tasks.answer(&gate, decision),
            Action::CallModel { run, request } => {
                let span = self.log_span();
                self.tasks.call_model(run, *request, span);
            }
            Action::RunTool(run) => self.tasks.run_tool(*run, self.log_span()),
            Action::EndTool(call) => self.tasks.end(&call),
            Action::StopWork { kept } => self.tasks.stop(&kept),
            Action::SetDeadline { gate, at } => {
                self.gates.insert(gate.clone());
                self.engine.set_deadline(&self.id, gate, at);
            }
            Action::Signal { name, data } => self.windows.signal(name, data),
            Action::PushAudio(audio) => self.tasks.push_audio(audio),
            Action::Evicted { shown, closing } => {
                self.windows.close(shown, closing);
                for gate in &self.gates {
                    self.engine.shared.deadlines.cancel(gate);
                }
                self.forget_gates();
            }
            Action::WakeLater => self.engine.shared.retries.add(&self.id),
            Action::Failed(error) => {
                tracing::error!(chat = %self.id, %error, "chat actor failed");
            }
            Action::Left => self.leaving = None,
            // These two are awaited elsewhere, and who waited for the others has left.
            Action::Store(_)
            | Action::RaiseFence { .. }
            | Action::Reply(_)
            | Action::Postpone(_)
            | Action::Decided(_)
            | Action::Wait(_)
            | Action::Recorded => {}
        }
    }

    /// Says in the log which chat, turn and request the lines of the agent and of tools are about.
    fn log_span(&self) -> tracing::Span {
        let turn = self.driver.chat().and_then(|chat| chat.current());
        let turn = turn.map(|turn| tracing::field::display(turn.id()));
        let request_id = self.request_id.as_deref();
        tracing::error_span!("turn", chat = %self.id, turn, request_id)
    }

    /// A reply, with its window if it has one.
    fn reply(&mut self, reply: driver::Reply) -> Result<Reply, EngineError> {
        Ok(match reply {
            driver::Reply::Window(None) => Reply::Window(None),
            driver::Reply::Window(Some(opening)) => {
                let window = self.windows.open(&self.driver, &opening);
                Reply::Window(Some(window.ok_or(EngineError::UnknownChat)?))
            }
            driver::Reply::Stopped(was_open) => Reply::Stopped(was_open),
            driver::Reply::View(view) => Reply::View(view),
            driver::Reply::Asked(QuestionState::Decided(decision)) => {
                Reply::Asked(Deciding::Decided(decision))
            }
            driver::Reply::Asked(asked) => {
                let (answer, decided) = oneshot::channel();
                if let QuestionState::Waits(gate) = asked {
                    self.tasks.wait(gate, answer);
                }
                Reply::Asked(Deciding::Open(decided))
            }
            driver::Reply::Closed(closed) => Reply::Closed(closed),
            driver::Reply::Taken(taken) => Reply::Taken(taken),
            driver::Reply::Done => Reply::Done,
        })
    }
}
