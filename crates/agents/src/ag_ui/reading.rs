//! The events of a run, as what an agent says.
//!
//! The protocol does not say where a step of the model's ends. What comes after the result of a call is
//! said by another step.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use turn::agent::{AgentEvent, StepRequest};
use turn::call::Outcome;
use turn::metadata::{OURS, PATH};
use wire::ag_ui::{self, Common, Event, Interrupt, Message};

use super::calls::Calls;
use super::{KEPT, PROVIDER, STATE, interrupt, messages};
use crate::model::failure::with;
use crate::model::{Failure, Redactor};
use crate::upstream::{Reader, Said};

/// Reads the events of one run.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) redactor: Redactor,
    /// The text or reasoning that is being said.
    block: Option<Block>,
    pub(super) calls: Calls,
    /// What becomes of calls by the answers that this run was sent.
    answered: Vec<(String, Outcome)>,
    /// Whether a result came, and nothing was said since.
    is_step_over: bool,
    /// The messages whose words the journal has, or came as they were said.
    streamed: HashSet<String>,
    /// Messages that are not the agent's, though it streams them.
    foreign: HashSet<String>,
    /// The messages that results are, by call.
    tool_messages: HashMap<String, String>,
    /// What only the agent understands, by message.
    encrypted: HashMap<String, String>,
    state: Value,
    is_state_new: bool,
    activities: Vec<(String, Value)>,
    /// The interrupts that LangGraph tells of by an event of its own.
    pub(super) custom_interrupts: Vec<Interrupt>,
    /// The subagents: their names, and the invocations that began them.
    subagents: HashMap<String, (String, Option<String>)>,
    is_begun: bool,
    pub(super) is_finished: bool,
}

struct Block {
    kind: BlockKind,
    id: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Text,
    Reasoning,
}

/// The event that LangGraph sends of an interrupt, unless it is configured to use the protocol's.
const ON_INTERRUPT: &str = "on_interrupt";

impl Reading {
    pub(super) fn new(redactor: Redactor, request: &StepRequest) -> Self {
        Self {
            redactor,
            calls: Calls::new(request),
            answered: interrupt::results(request),
            streamed: messages::known_ids(request),
            state: messages::state(request).unwrap_or_default(),
            ..Self::default()
        }
    }

    fn event(&mut self, event: Event, said: &mut Vec<Said>) -> Result<(), Failure> {
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
                    self.note_role(id, role.as_deref());
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
            Event::TextMessageEnd { .. } | Event::ReasoningMessageEnd { .. } => self.close(said),
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
                if self.calls.are_settled() {
                    self.begin_step(said);
                }
            }
            Event::StateSnapshot { snapshot, .. } => self.note_state(snapshot, said),
            Event::StateDelta { delta, .. } => {
                let mut state = self.state.take();
                let applied = ag_ui::apply(&mut state, &delta);
                self.state = state;
                applied.map_err(|error| PROVIDER.unreadable(&error.to_string()))?;
                self.note_state(self.state.clone(), said);
            }
            Event::ActivitySnapshot {
                message_id,
                activity_type,
                content,
                ..
            } => {
                let activity = activity(&message_id, &activity_type, content);
                self.note_activity(message_id, activity, said);
            }
            Event::ActivityDelta {
                message_id,
                activity_type,
                patch,
                ..
            } => {
                let known = self.activities.iter().find(|(id, _)| *id == message_id);
                let known = known.map(|(_, activity)| activity["content"].clone());
                let mut content = known.unwrap_or_default();
                ag_ui::apply(&mut content, &patch)
                    .map_err(|error| PROVIDER.unreadable(&error.to_string()))?;
                let activity = activity(&message_id, &activity_type, content);
                self.note_activity(message_id, activity, said);
            }
            Event::MessagesSnapshot { messages, .. } => self.note_messages(messages, said),
            Event::Custom { name, value, .. } if name == ON_INTERRUPT => {
                let interrupt = custom_interrupt(self.custom_interrupts.len(), value);
                self.custom_interrupts.push(interrupt);
            }
            Event::Custom { name, value, .. } => {
                said.push(Said::Output(AgentEvent::Data { name, data: value }));
            }
            Event::SubagentStarted {
                name,
                parent_subagent_run_id,
                common,
            } => {
                let data = json!({"name": name, "state": "started"});
                said.push(signal("agui-subagent", data));
                if let Some(id) = common.subagent_run_id {
                    self.subagents.insert(id, (name, parent_subagent_run_id));
                }
            }
            Event::SubagentFinished { common } => {
                said.push(self.subagent_signal("finished", &common));
            }
            Event::SubagentError { common, .. } => {
                said.push(self.subagent_signal("failed", &common));
            }
            Event::StepStarted { step_name, .. } => {
                let data = json!({"name": step_name, "state": "started"});
                said.push(signal("agui-step", data));
            }
            Event::StepFinished { step_name, .. } => {
                let data = json!({"name": step_name, "state": "finished"});
                said.push(signal("agui-step", data));
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
    fn other(&mut self, event: Event, said: &mut Vec<Said>) -> Result<(), Failure> {
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
            Some("THINKING_TEXT_MESSAGE_END") => self.close(said),
            // Without it nobody knows how the run ends.
            Some("RUN_FINISHED" | "RUN_ERROR") => {
                return Err(PROVIDER.unreadable("its last event does not fit the protocol"));
            }
            Some(_) => said.push(opaque(json!({ "event": fields }))),
            None => return Err(PROVIDER.unreadable("one of its events has no type")),
        }
        Ok(())
    }

    fn begin_text(&mut self, id: String, role: Option<&str>, said: &mut Vec<Said>) {
        self.note_role(&id, role);
        if !self.foreign.contains(&id) {
            self.begin_step(said);
        }
    }

    fn note_role(&mut self, id: &str, role: Option<&str>) {
        if role.is_some_and(|role| role != "assistant") {
            self.foreign.insert(id.to_owned());
        }
    }

    /// The step is over, if a result came: what is said next is said by another.
    fn begin_step(&mut self, said: &mut Vec<Said>) {
        if std::mem::take(&mut self.is_step_over) {
            self.close(said);
            said.push(Said::StepEnd);
        }
    }

    fn begin_call(
        &mut self,
        id: &str,
        tool: &str,
        parent: Option<String>,
        common: Common,
        said: &mut Vec<Said>,
    ) {
        if self.calls.is_past(id) {
            return;
        }
        self.begin_step(said);
        self.close(said);
        let path = self.path(common.subagent_run_id.as_deref());
        let subagent = common.subagent_run_id;
        self.calls.begin(id, tool, parent, subagent, path);
    }

    fn grow(
        &mut self,
        kind: BlockKind,
        id: Option<String>,
        delta: &str,
        common: &Common,
        said: &mut Vec<Said>,
    ) {
        let last = || self.block.as_ref().filter(|block| block.kind == kind);
        let id = id.or_else(|| last().map(|block| block.id.clone()));
        let id = id.unwrap_or_default();
        if delta.is_empty() || self.foreign.contains(&id) {
            return;
        }
        self.begin_step(said);
        let is_open = |block: &Block| block.kind == kind && block.id == id;
        let mut provider_metadata = None;
        if !self.block.as_ref().is_some_and(is_open) {
            self.close(said);
            provider_metadata = Some(self.block_metadata(&id, common));
            self.streamed.insert(id.clone());
            self.block = Some(Block { kind, id });
        }
        let delta = delta.to_owned();
        said.push(Said::Output(match kind {
            BlockKind::Text => AgentEvent::Text {
                delta,
                provider_metadata,
            },
            BlockKind::Reasoning => AgentEvent::Reasoning {
                delta,
                provider_metadata,
            },
        }));
    }

    /// What is kept of the text that begins.
    fn block_metadata(&self, id: &str, common: &Common) -> Value {
        let mut kept = json!({});
        if !id.is_empty() {
            kept["messageId"] = json!(id);
        }
        let subagent = common.subagent_run_id.as_deref();
        if let Some(subagent) = subagent {
            kept["subagentRunId"] = json!(subagent);
        }
        let mut metadata = json!({ KEPT: kept });
        let path = self.path(subagent);
        if !path.is_empty() {
            metadata[OURS] = json!({ PATH: path });
        }
        metadata
    }

    fn close(&mut self, said: &mut Vec<Said>) {
        if self.block.take().is_some() {
            said.push(Said::Output(AgentEvent::PartEnd));
        }
    }

    /// The names of the subagents down to an invocation.
    pub(super) fn path(&self, invocation: Option<&str>) -> Vec<String> {
        let mut path = Vec::new();
        let mut next = invocation;
        while let Some((name, parent)) = next.and_then(|id| self.subagents.get(id)) {
            path.push(name.clone());
            // An agent that names itself as its parent would have no end of them.
            next = parent.as_deref().filter(|_| path.len() < 64);
        }
        path.reverse();
        path
    }

    fn subagent_signal(&self, state: &str, common: &Common) -> Said {
        let id = common.subagent_run_id.as_deref().unwrap_or_default();
        let name = self.subagents.get(id).map(|(name, _)| name);
        signal("agui-subagent", json!({"name": name, "state": state}))
    }

    /// A state is shown at once to who watches, and becomes a part when the run ends, in its last form.
    fn note_state(&mut self, state: Value, said: &mut Vec<Said>) {
        self.is_state_new = true;
        self.state = state.clone();
        said.push(signal(STATE, state));
    }

    fn note_activity(&mut self, id: String, activity: Value, said: &mut Vec<Said>) {
        said.push(signal("agui-activity", activity.clone()));
        match self.activities.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => *known = activity,
            None => self.activities.push((id, activity)),
        }
    }

    /// Takes out of the agent's own record of the conversation what its events did not say: the arguments
    /// of calls, the ids of results, and words of this turn that it did not stream.
    fn note_messages(&mut self, messages: Vec<Message>, said: &mut Vec<Said>) {
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
                    let is_new = !self.streamed.contains(&id) && !tool_calls.iter().any(is_past);
                    let content = content.filter(|_| is_new);
                    let common = Common {
                        subagent_run_id: common.subagent_run_id,
                        ..Common::default()
                    };
                    if let Some(words) = content {
                        self.grow(BlockKind::Text, Some(id), &words, &common, said);
                        self.close(said);
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
    pub(super) fn end_step(&mut self, said: &mut Vec<Said>) {
        self.close(said);
        said.extend(self.calls.end_chunked());
        let activities = std::mem::take(&mut self.activities).into_iter();
        let mut data: Vec<_> = activities
            .map(|(_, activity)| ("agui-activity", activity))
            .collect();
        if std::mem::take(&mut self.is_state_new) {
            data.push((STATE, self.state.clone()));
        }
        for (name, data) in data {
            let name = name.to_owned();
            said.push(Said::Output(AgentEvent::Data { name, data }));
        }
        for (field, notes) in [
            ("toolMessages", std::mem::take(&mut self.tool_messages)),
            ("encryptedValues", std::mem::take(&mut self.encrypted)),
        ] {
            if !notes.is_empty() {
                let notes = messages::kept_notes(field, notes);
                said.push(Said::Output(AgentEvent::Opaque(notes)));
            }
        }
    }
}

impl Reader for Reading {
    fn take(&mut self, data: &str, said: &mut Vec<Said>) -> Result<(), Failure> {
        let event: Event = serde_json::from_str(data)
            .map_err(|_| PROVIDER.unreadable("one of its events is not an object"))?;
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        if is_first && !matches!(event, Event::RunError { .. }) {
            // It has the answers, and takes them.
            let answered = std::mem::take(&mut self.answered).into_iter();
            said.extend(answered.map(|(id, outcome)| Said::Result { id, outcome }));
        }
        if !matches!(event, Event::ToolCallChunk { .. }) {
            said.extend(self.calls.end_chunked());
        }
        self.event(event, said)
    }

    fn end(&mut self, said: &mut Vec<Said>) -> Result<(), Failure> {
        self.end_step(said);
        match self.is_begun && !self.is_finished {
            true => Err(PROVIDER.cut_off()),
            false => Ok(()),
        }
    }
}

fn activity(id: &str, kind: &str, content: Value) -> Value {
    json!({"id": id, "activityType": kind, "content": content})
}

/// An interrupt of LangGraph's, from the event that it sends of its own: what the graph interrupts with,
/// often as JSON text.
fn custom_interrupt(number: usize, value: Value) -> Interrupt {
    let raw = match value {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        value => value,
    };
    let field = |names: [&str; 2]| names.iter().find_map(|name| raw.get(*name)).cloned();
    let text = |names| field(names).and_then(|value| value.as_str().map(str::to_owned));
    Interrupt {
        // LangGraph wants one answer, and does not say to what.
        id: format!("{ON_INTERRUPT}-{number}"),
        reason: "langgraph:interrupt".to_owned(),
        message: match &raw {
            Value::String(words) => Some(words.clone()),
            _ => text(["message", "question"]),
        },
        tool_call_id: text(["toolCallId", "tool_call_id"]),
        response_schema: field(["responseSchema", "response_schema"]),
        metadata: Some(json!({"langgraph": {"raw": raw}})),
        ..Interrupt::default()
    }
}

fn opaque(content: Value) -> Said {
    Said::Output(AgentEvent::Opaque(json!({ KEPT: content })))
}

fn signal(name: &str, data: Value) -> Said {
    let name = name.to_owned();
    Said::Output(AgentEvent::Signal { name, data })
}

#[cfg(test)]
mod tests;
