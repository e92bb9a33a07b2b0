//! The events of a run, as what an agent says.
//!
//! The protocol does not say where a step of the model's ends. What comes after the result of a call is
//! said by another step.

use std::collections::HashMap;

use serde_json::{Value, json};
use turn::agent::{AgentEvent, StepRequest};
use turn::call::Outcome;
use wire::ag_ui::{self, Common, Event, Interrupt, Message};

use super::calls::Calls;
use super::langgraph::{self, ON_INTERRUPT};
use super::shared_state::SharedState;
use super::subagents::Subagents;
use super::words::{BlockKind, Words};
use super::{KEPT, PROVIDER, adk, interrupt, messages};
use crate::model::failure::with;
use crate::model::{Failure, Redactor};
use crate::upstream::{Reader, RunEvent};

/// Reads the events of one run.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) redactor: Redactor,
    words: Words,
    pub(super) calls: Calls,
    /// What becomes of calls by the answers that this run was sent.
    answered: Vec<(String, Outcome)>,
    /// Whether a result came, and nothing was said since.
    is_step_over: bool,
    /// The messages that results are, by call.
    tool_messages: HashMap<String, String>,
    /// What only the agent understands, by message.
    encrypted: HashMap<String, String>,
    shared_state: SharedState,
    /// The interrupts that LangGraph tells of by an event of its own.
    pub(super) custom_interrupts: Vec<Interrupt>,
    pub(super) subagents: Subagents,
    is_begun: bool,
    pub(super) is_finished: bool,
}

impl Reading {
    pub(super) fn new(redactor: Redactor, request: &StepRequest) -> Self {
        Self {
            redactor,
            calls: Calls::new(request),
            answered: interrupt::results(request),
            words: Words::new(messages::known_ids(request)),
            shared_state: SharedState::new(messages::state(request).unwrap_or_default()),
            subagents: Subagents::new(request),
            ..Self::default()
        }
    }

    fn event(&mut self, event: Event, said: &mut Vec<RunEvent>) -> Result<(), Failure> {
        use BlockKind::{Reasoning, Text};
        match event {
            Event::RunFinished {
                outcome,
                result,
                usage,
                ..
            } => return self.finish(outcome, result, usage, said),
            Event::RunError { message, code, .. } => return Err(self.failed(&message, code)),
            Event::TextMessageStart {
                message_id, role, ..
            } => self.begin_text(message_id, role.as_deref(), said),
            Event::TextMessageContent {
                message_id,
                delta,
                common,
            } => self.grow(Text, Some(message_id), &delta, &common, said),
            Event::TextMessageChunk {
                message_id,
                role,
                delta,
                common,
            } => {
                if let Some(id) = &message_id {
                    self.words.note_role(id, role.as_deref());
                }
                self.grow(Text, message_id, &delta.unwrap_or_default(), &common, said);
            }
            Event::ReasoningMessageContent {
                message_id,
                delta,
                common,
            } => self.grow(Reasoning, Some(message_id), &delta, &common, said),
            Event::ReasoningMessageChunk {
                message_id,
                delta,
                common,
            } => {
                let delta = delta.unwrap_or_default();
                self.grow(Reasoning, message_id, &delta, &common, said);
            }
            Event::ReasoningMessageStart { .. } => self.begin_step(said),
            Event::TextMessageEnd { .. } | Event::ReasoningMessageEnd { .. } => {
                self.words.close(said);
            }
            Event::ReasoningEncryptedValue {
                subtype,
                entity_id,
                encrypted_value,
                ..
            } => {
                let is_of_call = subtype == "tool-call";
                if !is_of_call || !self.calls.encrypt(&entity_id, &encrypted_value) {
                    self.encrypted.insert(entity_id, encrypted_value);
                }
            }
            Event::ToolCallStart {
                tool_call_id,
                tool_call_name,
                parent_message_id,
                common,
            } => self.begin_call(
                &tool_call_id,
                &tool_call_name,
                parent_message_id,
                common,
                said,
            ),
            Event::ToolCallArgs {
                tool_call_id,
                delta,
                ..
            } => self.calls.grow(&tool_call_id, &delta),
            Event::ToolCallEnd { tool_call_id, .. } => said.extend(self.calls.end(&tool_call_id)),
            Event::ToolCallChunk {
                tool_call_id,
                tool_call_name,
                parent_message_id,
                delta,
                common,
            } => {
                let (id, is_new, ended) = self.calls.chunk(tool_call_id.as_deref());
                said.extend(ended);
                let Some(id) = id else {
                    return Ok(());
                };
                if is_new {
                    let tool = tool_call_name.unwrap_or_default();
                    self.begin_call(&id, &tool, parent_message_id, common, said);
                }
                self.calls.grow(&id, &delta.unwrap_or_default());
            }
            Event::ToolCallResult {
                message_id,
                tool_call_id,
                content,
                ..
            } => {
                said.extend(self.calls.end(&tool_call_id));
                said.push(self.calls.settle(&tool_call_id, content));
                self.tool_messages.insert(tool_call_id, message_id);
                self.is_step_over = true;
                if self.calls.are_settled() && !adk::may_ask_about(&self.calls.settled) {
                    self.begin_step(said);
                }
            }
            Event::StateSnapshot { snapshot, .. } => said.push(self.shared_state.set(snapshot)),
            Event::StateDelta { delta, .. } => said.push(self.shared_state.patch(&delta)?),
            Event::ActivitySnapshot {
                message_id,
                activity_type,
                content,
                ..
            } => {
                let activity = self
                    .shared_state
                    .set_activity(message_id, &activity_type, content);
                said.push(activity);
            }
            Event::ActivityDelta {
                message_id,
                activity_type,
                patch,
                ..
            } => {
                let patched = self
                    .shared_state
                    .patch_activity(message_id, &activity_type, &patch);
                said.push(patched?);
            }
            Event::MessagesSnapshot { messages, .. } => self.note_messages(messages, said),
            Event::Custom { name, value, .. } if name == ON_INTERRUPT => {
                let interrupt = langgraph::interrupt(self.custom_interrupts.len(), value);
                self.custom_interrupts.push(interrupt);
            }
            Event::Custom { name, value, .. } => {
                said.push(RunEvent::Output(AgentEvent::Data {
                    name,
                    id: None,
                    data: value,
                }));
            }
            Event::SubagentStarted {
                name,
                parent_subagent_run_id,
                common,
            } => {
                let started = self.subagents.start(name, parent_subagent_run_id, common);
                said.push(started);
            }
            Event::SubagentFinished { common } => {
                said.push(self.subagents.end("finished", &common));
            }
            Event::SubagentError { common, .. } => {
                said.push(self.subagents.end("failed", &common));
            }
            Event::StepStarted { step_name, .. } => said.push(step_signal(&step_name, "started")),
            Event::StepFinished { step_name, .. } => {
                said.push(step_signal(&step_name, "finished"));
            }
            // What the framework says by its own events, the protocol's say too.
            Event::RunStarted { .. }
            | Event::ReasoningStart { .. }
            | Event::ReasoningEnd { .. }
            | Event::Raw { .. } => {}
            other => return self.other(other, said),
        }
        Ok(())
    }

    /// An event that is not known, or does not fit its type.
    fn other(&mut self, event: Event, said: &mut Vec<RunEvent>) -> Result<(), Failure> {
        let Event::Other(fields) = &event else {
            return Ok(());
        };
        match event.other_type() {
            // Older agents' name of it, without a message.
            Some("THINKING_TEXT_MESSAGE_CONTENT") => {
                let delta = fields.get("delta").and_then(Value::as_str);
                let delta = delta.unwrap_or_default().to_owned();
                let common = Common::default();
                self.grow(BlockKind::Reasoning, None, &delta, &common, said);
            }
            Some("THINKING_TEXT_MESSAGE_END") => self.words.close(said),
            // Without it the end of the run is unknown.
            Some("RUN_FINISHED" | "RUN_ERROR") => {
                return Err(PROVIDER.unreadable("its last event does not fit the protocol"));
            }
            Some(_) => said.push(opaque(json!({ "event": fields }))),
            None => return Err(PROVIDER.unreadable("one of its events has no type")),
        }
        Ok(())
    }

    fn begin_text(&mut self, id: String, role: Option<&str>, said: &mut Vec<RunEvent>) {
        self.words.note_role(&id, role);
        if !self.words.is_foreign(&id) {
            self.begin_step(said);
        }
    }

    /// The step is over, if a result came: what is said next is said by another.
    fn begin_step(&mut self, said: &mut Vec<RunEvent>) {
        if std::mem::take(&mut self.is_step_over) {
            self.words.close(said);
            self.calls.settled.clear();
            said.push(RunEvent::StepEnd);
        }
    }

    fn begin_call(
        &mut self,
        id: &str,
        tool: &str,
        parent: Option<String>,
        common: Common,
        said: &mut Vec<RunEvent>,
    ) {
        if self.calls.is_past(id) {
            return;
        }
        // It belongs to the step of the call that is to be confirmed.
        if tool != adk::REQUEST_CONFIRMATION {
            self.begin_step(said);
        }
        self.words.close(said);
        let speaker = self.subagents.speaker(&common);
        self.calls
            .begin(id, tool, parent, speaker.invocation, speaker.path);
    }

    fn grow(
        &mut self,
        kind: BlockKind,
        id: Option<String>,
        delta: &str,
        common: &Common,
        said: &mut Vec<RunEvent>,
    ) {
        if let Some(id) = self.words.message(kind, id, delta) {
            self.begin_step(said);
            let speaker = self.subagents.speaker(common);
            self.words.grow(kind, id, delta, speaker, said);
        }
    }

    /// Takes out of the agent's own record of the conversation what its events did not say: the arguments
    /// of calls, the ids of results, and words of this turn that it did not stream.
    fn note_messages(&mut self, messages: Vec<Message>, said: &mut Vec<RunEvent>) {
        let is_users = |message: &Message| matches!(message, Message::User { .. });
        let turn = messages
            .iter()
            .rposition(is_users)
            .map_or(0, |last| last + 1);
        for message in messages.into_iter().skip(turn) {
            match message {
                Message::Assistant {
                    id,
                    content,
                    tool_calls,
                    common,
                } => {
                    let is_past = |call: &ag_ui::ToolCall| self.calls.is_past(&call.id);
                    let is_new = !self.words.is_streamed(&id) && !tool_calls.iter().any(is_past);
                    let content = content.filter(|_| is_new);
                    let common = Common {
                        subagent_run_id: common.subagent_run_id,
                        ..Common::default()
                    };
                    if let Some(words) = content {
                        self.grow(BlockKind::Text, Some(id), &words, &common, said);
                        self.words.close(said);
                    }
                    for call in &tool_calls {
                        said.extend(self.calls.correct(call));
                    }
                }
                Message::Tool {
                    id, tool_call_id, ..
                } => {
                    self.tool_messages.insert(tool_call_id, id);
                }
                _ => {}
            }
        }
    }

    fn failed(&self, message: &str, code: Option<String>) -> Failure {
        let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
        let words = self.redactor.words(&format!("{message}{code}"));
        Failure::new("agent_failed", with("The agent failed", &words))
    }

    /// Says what belongs to the step and waits for its end.
    pub(super) fn end_step(&mut self, said: &mut Vec<RunEvent>) {
        self.words.close(said);
        said.extend(self.calls.end_chunked());
        said.extend(self.shared_state.take_parts());
        for (field, notes) in [
            ("toolMessages", std::mem::take(&mut self.tool_messages)),
            ("encryptedValues", std::mem::take(&mut self.encrypted)),
        ] {
            if !notes.is_empty() {
                let notes = messages::kept_notes(field, notes);
                said.push(RunEvent::Output(AgentEvent::Opaque(notes)));
            }
        }
    }
}

impl Reader for Reading {
    fn take(&mut self, data: &str, said: &mut Vec<RunEvent>) -> Result<(), Failure> {
        let event: Event = serde_json::from_str(data)
            .map_err(|_| PROVIDER.unreadable("one of its events is not an object"))?;
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        if is_first && !matches!(event, Event::RunError { .. }) {
            // It has the answers, and takes them.
            let answered = std::mem::take(&mut self.answered).into_iter();
            said.extend(answered.map(|(id, outcome)| RunEvent::Result { id, outcome }));
        }
        if !matches!(event, Event::ToolCallChunk { .. }) {
            said.extend(self.calls.end_chunked());
        }
        self.event(event, said)
    }

    fn end(&mut self, said: &mut Vec<RunEvent>) -> Result<(), Failure> {
        self.end_step(said);
        match self.is_begun && !self.is_finished {
            true => Err(PROVIDER.cut_off()),
            false => Ok(()),
        }
    }
}

fn opaque(content: Value) -> RunEvent {
    RunEvent::Output(AgentEvent::Opaque(json!({ KEPT: content })))
}

fn step_signal(name: &str, state: &str) -> RunEvent {
    RunEvent::Output(AgentEvent::Signal {
        name: "agui-step".to_owned(),
        data: json!({"name": name, "state": state}),
    })
}

#[cfg(test)]
mod tests;
