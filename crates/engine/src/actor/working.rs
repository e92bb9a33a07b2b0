//! What the chat's own tasks bring: the agent, tools, long-running work.

use serde_json::Value;
use tokio::sync::oneshot;
use turn::agent::AgentEvent;
use turn::gate::Decision;
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
            Work::Ask {
                call,
                gate,
                ask,
                answer,
            } => self.tool_asks(call, gate, ask, answer).await,
            Work::Record {
                call,
                name,
                value,
                done,
            } => {
                let input = Input::ToolRecords { call, name, value };
                let performed = self.perform(input, None).await;
                // The tool goes on only once it is recorded.
                if performed.is_ok() {
                    let _ = done.send(());
                }
                performed
            }
            Work::Progress { call, output } => {
                self.perform(Input::ToolProgress { call, output }, None)
                    .await
            }
            Work::Done { call, outcome } => {
                self.tasks.done(&call);
                self.perform(Input::ToolDone { call, outcome }, None).await
            }
            Work::Result { call, outcome } => {
                self.tasks.later_done();
                self.results.push((call, outcome));
                Ok(())
            }
        };
        self.note(done);
        let done = self.open_result().await;
        self.note(done);
    }

    /// The result of a long-running call opens a turn once no other is open.
    pub(super) async fn open_result(&mut self) -> Result<(), EngineError> {
        let status = self.chat.as_ref().and_then(Chat::status);
        let is_open = matches!(status, Some(Status::Running | Status::Parked));
        if is_open || self.results.is_empty() {
            return Ok(());
        }
        let (call, outcome) = self.results.remove(0);
        let ids = id::fresh();
        let input = Input::Result { call, outcome, ids };
        self.perform(input, None).await
    }

    async fn agent_says(
        &mut self,
        run: u64,
        events: Vec<AgentEvent>,
        is_over: bool,
    ) -> Result<(), EngineError> {
        // A failure ends the stream, and has said so itself.
        let is_cut = is_over && !matches!(events.last(), Some(AgentEvent::Failed { .. }));
        for event in events {
            // What is said in one go may end with what makes the chat let go of the agent.
            if !self.tasks.is_current(run) {
                return Ok(());
            }
            if let Some(event) = self.hear_word(event) {
                let heard = self.agent_does(event).await;
                self.note(heard);
            }
        }
        // One that said that it has ended may end.
        match is_cut && self.tasks.is_current(run) && self.tasks.is_speaking() {
            true => self.perform(Input::AgentCut, None).await,
            false => Ok(()),
        }
    }

    /// Takes in a word, which needs no entry and has no effect; gives back what is more than that.
    /// It is shown with all that was said in the same go.
    fn hear_word(&mut self, event: AgentEvent) -> Option<AgentEvent> {
        let is_word = matches!(
            event,
            AgentEvent::Text { .. } | AgentEvent::Reasoning { .. } | AgentEvent::PartEnd
        );
        let Some(chat) = self.chat.as_mut().filter(|_| is_word) else {
            return Some(event);
        };
        let ruling = None;
        let output = chat.handle(Input::Agent { event, ruling }, At(0));
        debug_assert_eq!(output, turn::Output::default());
        None
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
            _ => None,
        };
        self.perform(Input::Agent { event, ruling }, None).await
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

    async fn tool_asks(
        &mut self,
        call: CallId,
        gate: Option<GateId>,
        ask: Ask,
        answer: oneshot::Sender<Decision>,
    ) -> Result<(), EngineError> {
        let gate = match gate {
            Some(gate) => Some(gate),
            None => {
                let before = self.last_gate();
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
        let chat = self.chat().await?;
        let Some(gate) = gate else { return Ok(()) };
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
