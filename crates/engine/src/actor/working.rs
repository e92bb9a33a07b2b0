//! What the chat's own tasks bring: the agent, tools, long-running work.

use serde_json::Value;
use tokio::sync::oneshot;
use turn::agent::{AgentEvent, Said};
use turn::call::Place;
use turn::gate::Decision;
use turn::live::{Ruling, Verdict};
use turn::{At, CallId, Chat, GateId, Input, Status};
use wire::chunk::Data;

use super::Actor;
use crate::error::EngineError;
use crate::id;
use crate::work::{Ask, Work};

impl Actor {
    pub(super) async fn work(&mut self, work: Work) {
        let done = match work {
            Work::Agent {
                run,
                events,
                is_over,
            } => self.agent_says(run, events, is_over).await,
            Work::Ask { run, call, .. }
            | Work::Record { run, call, .. }
            | Work::Progress { run, call, .. }
            | Work::Done { run, call, .. }
                if !self.tasks.is_heard(&call, run) =>
            {
                // It was let go, and what it was doing was decided on without it.
                Ok(())
            }
            Work::Ask {
                run,
                call,
                gate,
                ask,
                answer,
            } => self.tool_asks(Some(run), call, gate, ask, answer).await,
            Work::Record {
                run,
                call,
                name,
                value,
                done,
            } => {
                let input = Input::ToolRecords {
                    call: call.clone(),
                    name,
                    value,
                };
                let performed = self.perform(input, None).await.map(drop);
                // The tool goes on only once it is recorded.
                if performed.is_ok() && self.tasks.is_heard(&call, run) {
                    let _ = done.send(());
                }
                performed
            }
            Work::Progress { call, output, .. } => {
                let shown = self.perform(Input::ToolProgress { call, output }, None);
                shown.await.map(drop)
            }
            Work::Done { call, outcome, .. } => {
                self.tasks.done(&call);
                let input = Input::ToolDone {
                    call: call.clone(),
                    outcome,
                };
                let performed = self.perform(input, None).await.map(drop);
                // After a conflict it may have been run again before this was heard.
                let turn = self.chat.as_ref().and_then(Chat::current);
                if turn.is_some_and(|turn| turn.outcome(&call).is_some()) {
                    self.tasks.end(&call);
                }
                performed
            }
            Work::Result { call, outcome } => {
                self.tasks.later_done(&call);
                self.results.push((call, outcome));
                Ok(())
            }
        };
        self.note(done);
        let done = self.open_result().await;
        self.note(done);
        self.tasks.start_due();
    }

    /// The results of long-running calls open turns, one after the other, while no other is open.
    pub(super) async fn open_result(&mut self) -> Result<(), EngineError> {
        while let Some((call, outcome)) = self.results.first().cloned() {
            // It may have been let go since, and what stands in its journal is not known then.
            let status = match Box::pin(self.chat()).await {
                Ok(chat) => chat.status(),
                // Whoever has it now has called them unknown.
                Err(EngineError::Elsewhere(_)) => {
                    self.results.clear();
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            if matches!(status, Some(Status::Running | Status::Parked)) {
                return Ok(());
            }
            let input = Input::Result {
                call: call.clone(),
                outcome,
                ids: id::fresh(),
            };
            self.perform(input, None).await?;
            // Not before: what is not in the journal yet is not called unknown while it waits here.
            self.results.retain(|(waiting, _)| *waiting != call);
        }
        Ok(())
    }

    async fn agent_says(
        &mut self,
        run: u64,
        events: Vec<Said>,
        is_over: bool,
    ) -> Result<(), EngineError> {
        // A failure ends the stream, and has said so itself.
        let is_failure = |said: &Said| match said {
            Said::Event(event) => matches!(**event, AgentEvent::Failed { .. }),
            _ => false,
        };
        let is_cut = is_over && !events.last().is_some_and(is_failure);
        let mut events = events.into_iter().peekable();
        // What is said in one go may end with what makes the chat let go of the agent.
        while self.tasks.is_current(run) {
            if let Some(chat) = &mut self.chat {
                chat.hear(&mut events);
            }
            let Some(said) = events.next() else { break };
            let event = AgentEvent::from(said);
            match &mut self.chat {
                Some(chat) if is_word(&event) => {
                    let ruling = None;
                    let output = chat.handle(Input::Agent { event, ruling }, At(0));
                    debug_assert_eq!(output, turn::Output::default());
                }
                _ => {
                    let heard = self.agent_does(event).await;
                    self.note(heard);
                }
            }
        }
        // One that said that it has ended may end.
        match is_cut && self.tasks.is_current(run) {
            true => self.perform(Input::AgentCut, None).await.map(drop),
            false => Ok(()),
        }
    }

    async fn agent_does(&mut self, event: AgentEvent) -> Result<(), EngineError> {
        // Words that came before are not held up by what has to be stored.
        self.publish();
        if let AgentEvent::Signal { name, data } = event {
            self.signal(name, data);
            return Ok(());
        }
        if matches!(event, AgentEvent::Ended(_) | AgentEvent::Failed { .. }) {
            self.tasks.model_done();
        }
        let ruling = match (&event, self.chat.as_ref().and_then(Chat::owner)) {
            (AgentEvent::Call { tool, input, .. }, Some(owner)) => {
                Some(self.engine.shared.tools.rule(tool, input, owner))
            }
            // It runs the call, and asks, by itself: only how long is for us to say.
            (AgentEvent::OwnCall { place, .. }, _) => Some(self.agents_own(*place)),
            (AgentEvent::Asks { .. }, _) => Some(self.agents_own(Place::Agent)),
            _ => None,
        };
        let input = Input::Agent { event, ruling };
        self.perform(input, None).await.map(drop)
    }

    fn agents_own(&self, place: Place) -> Ruling {
        Ruling {
            place,
            verdict: Verdict::Allow,
            timeout: self.engine.shared.patience,
        }
    }

    /// Shows something to those who watch just now.
    fn signal(&mut self, name: String, data: Value) {
        if let Some((_, log)) = &self.log {
            let transient = Some(true);
            log.signal(Data {
                name,
                data,
                transient,
                ..Data::default()
            });
        }
    }

    /// Somebody is asked for a tool: one of a run here, or one at the agent.
    pub(super) async fn tool_asks(
        &mut self,
        run: Option<u64>,
        call: CallId,
        gate: Option<GateId>,
        ask: Ask,
        answer: oneshot::Sender<Decision>,
    ) -> Result<(), EngineError> {
        let gate = match gate {
            Some(gate) => Some(gate),
            None => {
                let before = self.last_gate();
                let call = call.clone();
                let input = match ask {
                    Ask::Approval { question, timeout } => Input::ToolAsks {
                        call,
                        question,
                        timeout,
                    },
                    Ask::Page {
                        tool,
                        input,
                        timeout,
                    } => Input::ToolCalls {
                        call,
                        tool,
                        input,
                        timeout,
                    },
                };
                self.perform(input, None).await?;
                self.last_gate()
                    .filter(|gate| Some(gate) != before.as_ref())
            }
        };
        self.chat().await?;
        // The chat may have been let go over it, and with it the tool that asked.
        let is_heard = run.is_none_or(|run| self.tasks.is_heard(&call, run));
        let Some(gate) = gate.filter(|_| is_heard) else {
            return Ok(());
        };
        let Some(chat) = &self.chat else {
            return Ok(());
        };
        match chat.gate(&gate) {
            Some((_, _, Some(decision))) => drop(answer.send(decision.clone())),
            Some((_, _, None)) => self.tasks.wait(gate, answer),
            None => {}
        }
        Ok(())
    }

    fn last_gate(&self) -> Option<GateId> {
        let turn = self.chat.as_ref().and_then(Chat::current)?;
        turn.last_gate().map(|gate| gate.id.clone())
    }
}

/// Whether an event is of words: it needs no entry, has no effect, and is shown with all that was said
/// in the same go.
fn is_word(event: &AgentEvent) -> bool {
    matches!(
        event,
        AgentEvent::Text { .. } | AgentEvent::Reasoning { .. } | AgentEvent::PartEnd
    )
}
