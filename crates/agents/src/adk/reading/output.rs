//! The model's output: texts, thoughts and calls.

use gemini::{Data, FunctionCall, Part};
use serde_json::{Value, json};
use turn::agent::{AgentEvent, Asking};
use turn::call::Place;
use turn::event::Finish;
use turn::metadata::{OURS, PATH};

use super::super::event::{CONFIRMATION, Event};
use super::super::failure;
use super::Reading;
use crate::gemini::{Failure, read_part};

impl Reading {
    /// Reads the model's output, and whether the step ends with it because it calls tools. `answered`
    /// are long-running calls that have given a first answer.
    pub(in crate::adk) fn read_output(
        &mut self,
        event: Event,
        answered: &[String],
    ) -> Result<(Vec<AgentEvent>, bool), Failure> {
        let mut events = Vec::new();
        self.note(&event);
        self.act(&event, &mut events);
        let is_partial = event.is_partial();
        let author = event.author.clone();
        let parts = event.content.as_ref().map(|content| content.parts.clone());
        let (mut has_calls, mut is_whole) = (false, false);
        for part in parts.unwrap_or_default() {
            match &part.data {
                Data::FunctionCall(call) if !is_partial => {
                    has_calls |= call.name.as_deref() != Some(CONFIRMATION);
                    self.call(&event, call.clone(), &part, answered, &mut events);
                }
                Data::FunctionCall(_) => {}
                Data::FunctionResponse(response) => {
                    events.extend(self.response(&event, response));
                }
                Data::Text(_) => {
                    is_whole |= !is_partial;
                    self.text(part, is_partial, author.as_deref(), &mut events);
                }
                _ if !is_partial => read_part(part, &mut events),
                _ => {}
            }
        }
        // In a live run results come in between.
        if is_whole || has_calls || event.turn_complete == Some(true) {
            (self.text, self.thought) = Default::default();
        }
        self.has_output |= events.iter().any(is_shown);
        self.has_shown |= !events.is_empty();
        if let Some(code) = &event.error_code {
            let said = event.error_message.as_deref().unwrap_or_default();
            match code.as_str() {
                "MAX_TOKENS" => self.finish = Some(Finish::Length),
                code if failure::is_blocked(code) && self.has_output => {
                    self.finish = Some(Finish::ContentFilter);
                }
                _ => return Err(failure::of_error(code, said)),
            }
        }
        Ok((events, has_calls))
    }

    fn text(
        &mut self,
        part: Part,
        is_partial: bool,
        author: Option<&str>,
        events: &mut Vec<AgentEvent>,
    ) {
        let shown = match part.is_thought() {
            true => &mut self.thought,
            false => &mut self.text,
        };
        let Data::Text(text) = &part.data else { return };
        if let Some(text) = shown.more(text, is_partial) {
            let part = Part {
                data: Data::Text(text),
                ..part
            };
            read(part, author, events);
        }
    }

    fn call(
        &mut self,
        event: &Event,
        call: FunctionCall,
        part: &Part,
        answered: &[String],
        events: &mut Vec<AgentEvent>,
    ) {
        if call.name.as_deref() == Some(CONFIRMATION) {
            events.extend(self.asks(event, &call));
            return;
        }
        let Some(id) = call.id.clone() else { return };
        if event.is_long_running(&call) && event.has_others() {
            let tool = call.name.clone().unwrap_or_default();
            self.waiting.push((id.clone(), tool));
            self.undecided.push(call.clone());
            events.push(self.with_path(open_call(id, call, part), event));
            return;
        }
        if event.is_long_running(&call) && !answered.contains(&id) {
            let shown = self.outside(call, Some(part));
            events.extend(shown.map(|shown| self.with_path(shown, event)));
            return;
        }
        if event.is_long_running(&call) {
            self.later.push(call.clone());
        }
        self.open.push(id.clone());
        let shown = own_call(id, call, Place::Agent, Some(part), None);
        events.push(self.with_path(shown, event));
    }

    /// A call, with the path to the agent that makes it.
    fn with_path(&self, mut shown: AgentEvent, event: &Event) -> AgentEvent {
        let path = self.agents.path(event);
        if let AgentEvent::OwnCall {
            provider_metadata, ..
        }
        | AgentEvent::OpenCall {
            provider_metadata, ..
        } = &mut shown
            && !path.is_empty()
        {
            let metadata = provider_metadata.get_or_insert_with(|| json!({}));
            metadata[OURS] = json!({ PATH: path });
        }
        shown
    }

    /// A call whose result comes from outside.
    pub(super) fn outside(
        &mut self,
        call: FunctionCall,
        part: Option<&Part>,
    ) -> Option<AgentEvent> {
        let (id, tool) = (call.id.clone()?, call.name.clone()?);
        self.waiting.push((id.clone(), tool));
        let asks = self.asking.remove(&id);
        Some(own_call(id, call, Place::Client, part, asks))
    }
}

fn is_shown(event: &AgentEvent) -> bool {
    matches!(
        event,
        AgentEvent::Text { .. }
            | AgentEvent::OwnCall { .. }
            | AgentEvent::OpenCall { .. }
            | AgentEvent::File { .. }
    )
}

fn own_call(
    id: String,
    call: FunctionCall,
    place: Place,
    part: Option<&Part>,
    asks: Option<Asking>,
) -> AgentEvent {
    AgentEvent::OwnCall {
        provider_id: id,
        tool: call.name.unwrap_or_default(),
        input: call.args.map_or_else(|| json!({}), Value::Object),
        provider_metadata: part.and_then(metadata),
        place,
        asks,
    }
}

fn open_call(id: String, call: FunctionCall, part: &Part) -> AgentEvent {
    AgentEvent::OpenCall {
        provider_id: id,
        tool: call.name.unwrap_or_default(),
        input: call.args.map_or_else(|| json!({}), Value::Object),
        provider_metadata: metadata(part),
    }
}

/// The provider's metadata of a call, to be sent back unchanged.
fn metadata(part: &Part) -> Option<Value> {
    let mut kept = Vec::new();
    read_part(part.clone(), &mut kept);
    kept.into_iter().find_map(|event| match event {
        AgentEvent::Call {
            provider_metadata, ..
        } => provider_metadata,
        _ => None,
    })
}

/// A text, with its author.
fn read(part: Part, author: Option<&str>, events: &mut Vec<AgentEvent>) {
    let first = events.len();
    read_part(part, events);
    let Some(author) = author else { return };
    for event in &mut events[first..] {
        if let AgentEvent::Text {
            provider_metadata, ..
        } = event
        {
            let metadata = provider_metadata.get_or_insert_with(|| json!({}));
            metadata[OURS] = json!({"author": author});
        }
    }
}
