//! ADK's events, read as agent events.

use std::collections::{HashMap, HashSet};

use gemini::{Data, FunctionCall, FunctionResponse, Part};
use serde_json::{Map, Value, json};
use turn::agent::{AgentEvent, Asking};
use turn::call::{Call, Outcome, Place};
use turn::event::Finish;
use turn::live::OURS;

use super::event::{CONFIRMATION, Event, MARK};
use super::failure;
use crate::gemini::{Failure, read_part, usage};

/// What was read of a run so far.
#[derive(Debug, Default)]
pub(super) struct Reading {
    text: Shown,
    thought: Shown,
    /// Calls at the agent that have no result yet.
    open: Vec<String>,
    /// Calls that a person was asked about.
    asked: HashSet<String>,
    /// Long-running calls that have given a first answer already, and wait for their result.
    later: Vec<FunctionCall>,
    /// Long-running calls that were made beside others: once those are done it shows whether a page
    /// runs them, and whether a person is asked.
    undecided: Vec<FunctionCall>,
    /// What is asked of calls that are not shown yet.
    asking: HashMap<String, Asking>,
    /// Calls whose results come from outside.
    waiting: Vec<(String, String)>,
    /// Events whose actions were told.
    told: HashSet<String>,
    /// What came when nobody could be shown it.
    held: Vec<AgentEvent>,
    /// What came of calls.
    settled: HashMap<String, Outcome>,
    metadata: Map<String, Value>,
    finish: Option<Finish>,
    has_said: bool,
}

/// What was shown in parts since the last whole event, which repeats it.
#[derive(Debug, Default)]
pub(super) struct Shown(String);

impl Shown {
    /// What of a text is new.
    pub(super) fn more(&mut self, text: &str, is_partial: bool) -> Option<String> {
        if is_partial {
            self.0.push_str(text);
            return Some(text.to_owned());
        }
        if let Some(rest) = self.0.strip_prefix(text) {
            // It was shown as it came.
            self.0 = rest.to_owned();
            return None;
        }
        let rest = text.strip_prefix(self.0.as_str())?.to_owned();
        self.0.clear();
        Some(rest)
    }
}

impl Reading {
    /// Calls whose results come from outside.
    pub(super) fn waiting(&self) -> &[(String, String)] {
        &self.waiting
    }

    /// They are given what they wait for, or given up.
    pub(super) fn wait_no_more(&mut self) {
        self.waiting.clear();
    }

    /// Notes a call that an earlier run made, and that this one is to settle, or to say who runs it.
    pub(super) fn expect(&mut self, call: &Call) {
        let Some(id) = call.provider_id.clone() else {
            return;
        };
        match call.place {
            Place::Client => {
                self.waiting.push((id.clone(), call.tool.clone()));
                self.undecided.push(FunctionCall {
                    id: Some(id),
                    name: Some(call.tool.clone()),
                    args: call.input.as_object().cloned(),
                    ..FunctionCall::default()
                });
            }
            _ => self.open.push(id),
        }
    }

    /// Whether calls are at work at the agent.
    pub(super) fn is_working(&self) -> bool {
        self.open.iter().any(|id| !self.asked.contains(id))
    }

    /// Whether anything was said that a page shows.
    pub(super) fn has_said(&self) -> bool {
        self.has_said
    }

    /// What came of a call, if it has come.
    pub(super) fn settled(&self, id: &str) -> Option<&Outcome> {
        self.settled.get(id)
    }

    /// Whether it has not shown yet who runs some of the calls.
    pub(super) fn is_undecided(&self) -> bool {
        !self.undecided.is_empty()
    }

    /// What is said of calls that nobody asks about and that have no result: a page runs them.
    pub(super) fn wait(&mut self) -> Vec<AgentEvent> {
        let waits = std::mem::take(&mut self.undecided).into_iter();
        let waits = waits.filter_map(|call| {
            let provider_id = call.id?;
            Some(AgentEvent::Waits { provider_id })
        });
        waits.collect()
    }

    /// What is said of what came between steps, now that it can be shown.
    pub(super) fn begin(&mut self) -> Vec<AgentEvent> {
        std::mem::take(&mut self.held)
    }

    /// Takes in what is said right after long-running calls, before they are shown: some give a first
    /// answer at once, and some want a person asked.
    pub(super) fn expect_of(&mut self, event: &Event) -> Vec<String> {
        for call in event.all_calls() {
            if let Some((id, asking)) = asking(call) {
                self.asking.insert(id, asking);
            }
        }
        let given = event
            .responses()
            .filter(|response| !event.is_placeholder(response));
        given.filter_map(|response| response.id.clone()).collect()
    }

    /// Reads what the model says. Whether the step is to be over with it: it calls tools. `answered`
    /// are long-running calls that have given a first answer.
    pub(super) fn say(
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
        self.has_said |= events.iter().any(is_shown);
        if let Some(code) = &event.error_code {
            let said = event.error_message.as_deref().unwrap_or_default();
            match code.as_str() {
                "MAX_TOKENS" => self.finish = Some(Finish::Length),
                code if failure::is_blocked(code) && self.has_said => {
                    self.finish = Some(Finish::ContentFilter);
                }
                _ => return Err(failure::of_error(code, said)),
            }
        }
        Ok((events, has_calls))
    }

    /// What is said when the step is over, and the run goes on.
    pub(super) fn hand_over(&mut self) -> Vec<AgentEvent> {
        let mut events: Vec<_> = self.metadata().into_iter().collect();
        events.push(AgentEvent::Ended(Finish::Stop));
        events
    }

    /// Reads what comes between steps: results, and what a person is asked.
    pub(super) fn hear(&mut self, event: &Event) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        let mut shown = Vec::new();
        self.note(event);
        self.act(event, &mut shown);
        self.held.extend(shown);
        for response in event.responses() {
            events.extend(self.response(event, response));
        }
        for call in event.all_calls() {
            events.extend(self.asks(call));
        }
        events
    }

    /// What is left to say when the run is over in the middle of a step.
    pub(super) fn end(&mut self) -> Vec<AgentEvent> {
        let mut events = self.lose();
        events.extend(self.wait());
        for call in std::mem::take(&mut self.later) {
            events.extend(self.outside(call, None));
        }
        events.extend(self.metadata());
        events.push(AgentEvent::Ended(
            self.finish.take().unwrap_or(Finish::Stop),
        ));
        events
    }

    /// What is said of calls that have no result, now that none will come.
    pub(super) fn lose(&mut self) -> Vec<AgentEvent> {
        let open = std::mem::take(&mut self.open).into_iter();
        let lost = open.filter(|id| !self.asked.contains(id));
        lost.map(|provider_id| AgentEvent::Settled {
            provider_id,
            outcome: Outcome::Unknown,
        })
        .collect()
    }

    /// What is said of the calls that were at work when the agent failed. If there was but one, it
    /// is what failed.
    pub(super) fn fail(&mut self, failure: &Failure) -> Vec<AgentEvent> {
        self.open.retain(|id| !self.asked.contains(id));
        match self.open.as_slice() {
            [one] if failure.code == "agent_failed" => vec![AgentEvent::Settled {
                provider_id: one.clone(),
                outcome: Outcome::Error {
                    error: failure.message.clone(),
                },
            }],
            _ => Vec::new(),
        }
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
            events.extend(self.asks(&call));
            return;
        }
        let Some(id) = call.id.clone() else { return };
        if event.is_long_running(&call) && event.has_others() {
            let tool = call.name.clone().unwrap_or_default();
            self.waiting.push((id.clone(), tool));
            self.undecided.push(call.clone());
            events.push(open_call(id, call, part));
            return;
        }
        if event.is_long_running(&call) && !answered.contains(&id) {
            events.extend(self.outside(call, Some(part)));
            return;
        }
        if event.is_long_running(&call) {
            self.later.push(call.clone());
        }
        self.open.push(id.clone());
        events.push(own_call(id, call, Place::Agent, Some(part), None));
    }

    /// A call whose result comes from outside.
    fn outside(&mut self, call: FunctionCall, part: Option<&Part>) -> Option<AgentEvent> {
        let (id, tool) = (call.id.clone()?, call.name.clone()?);
        self.waiting.push((id.clone(), tool));
        let asks = self.asking.remove(&id);
        Some(own_call(id, call, Place::Client, part, asks))
    }

    fn asks(&mut self, call: &FunctionCall) -> Option<AgentEvent> {
        let (provider_id, asking) = asking(call)?;
        if self.decide(&provider_id).is_none() {
            if self.waiting.iter().any(|(id, _)| *id == provider_id) {
                // It was shown with its question.
                return None;
            }
            self.asked.insert(provider_id.clone());
        }
        Some(AgentEvent::Asks {
            provider_id,
            asking,
        })
    }

    fn response(&mut self, event: &Event, response: &FunctionResponse) -> Option<AgentEvent> {
        let id = response.id.as_ref()?;
        if event.is_placeholder(response) {
            self.asked.insert(id.clone());
            return None;
        }
        self.settle(id, outcome(event, response))
    }

    /// Settles a call at the agent, if it is not settled yet.
    pub(super) fn settle(&mut self, id: &str, outcome: Outcome) -> Option<AgentEvent> {
        if let Some(call) = self.decide(id) {
            // The model goes on speaking, and is told the rest later.
            self.waiting.retain(|(waiting, _)| waiting != id);
            self.later.push(call);
        } else {
            let place = self.open.iter().position(|open| open == id)?;
            self.open.remove(place);
        }
        let provider_id = id.to_owned();
        self.settled.insert(provider_id.clone(), outcome.clone());
        Some(AgentEvent::Settled {
            provider_id,
            outcome,
        })
    }

    /// Takes a call off those of which it is not known who runs them.
    fn decide(&mut self, id: &str) -> Option<FunctionCall> {
        let is_meant = |call: &FunctionCall| call.id.as_deref() == Some(id);
        let place = self.undecided.iter().position(is_meant)?;
        Some(self.undecided.remove(place))
    }

    /// Notes something for the message's metadata.
    pub(super) fn put(&mut self, key: &str, value: Value) {
        self.metadata.insert(key.to_owned(), value);
    }

    fn note(&mut self, event: &Event) {
        let mut put = |key: &str, value: Option<Value>| {
            self.metadata
                .extend(value.map(|value| (key.to_owned(), value)));
        };
        put("usage", event.usage_metadata.as_ref().map(usage));
        put(
            "modelVersion",
            event.model_version.clone().map(Value::String),
        );
        if !event.is_from_user() {
            put("agent", event.author.clone().map(Value::String));
        }
    }

    fn metadata(&mut self) -> Option<AgentEvent> {
        let metadata = std::mem::take(&mut self.metadata);
        (!metadata.is_empty()).then(|| AgentEvent::Metadata(Value::Object(metadata)))
    }

    /// State and artifacts, as data for the page.
    fn act(&mut self, event: &Event, events: &mut Vec<AgentEvent>) {
        let Some(actions) = event.actions.as_ref().filter(|_| !event.is_partial()) else {
            return;
        };
        let mut state = actions.state_delta.clone().unwrap_or_default();
        state.remove(MARK);
        let artifacts = actions.artifact_delta.clone().unwrap_or_default();
        for (name, data) in [("adk-state", state), ("adk-artifacts", artifacts)] {
            // ADK tells an artifact by the same event once more.
            let is_news = |id: &String| self.told.insert(format!("{name} {id}"));
            if !data.is_empty() && event.id.as_ref().is_none_or(is_news) {
                let data = Value::Object(data);
                let name = name.to_owned();
                events.push(AgentEvent::Data { name, data });
            }
        }
        if let Some(agent) = &actions.transfer_to_agent {
            let data = json!({"from": event.author, "to": agent});
            let name = "adk-transfer".to_owned();
            events.push(AgentEvent::Data { name, data });
        }
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

/// What ADK asks with a call of its own: of which call, and what.
fn asking(call: &FunctionCall) -> Option<(String, Asking)> {
    if call.name.as_deref() != Some(CONFIRMATION) {
        return None;
    }
    let args = call.args.as_ref()?;
    let original = args.get("originalFunctionCall")?;
    let asked = args.get("toolConfirmation");
    let hint = asked.and_then(|asked| asked.get("hint")?.as_str());
    let id = original.get("id")?.as_str()?.to_owned();
    let asking = Asking {
        question: question(hint, original),
        token: call.id.clone().map(Value::String),
    };
    Some((id, asking))
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

/// What the model says of a call besides, to be sent back unchanged.
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

/// A text, with who says it.
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

/// What a person is asked. ADK's own words are for programs; an author's are the question.
fn question(hint: Option<&str>, call: &Value) -> String {
    let name = call.get("name").and_then(Value::as_str).unwrap_or_default();
    match hint {
        Some(hint)
            if !hint.is_empty() && !hint.starts_with("Please approve or reject the tool call") =>
        {
            hint.to_owned()
        }
        _ => format!("Run {name}?"),
    }
}

/// What came of a call.
fn outcome(event: &Event, response: &FunctionResponse) -> Outcome {
    if event.is_aborted() {
        // It may have been done all the same.
        return Outcome::Unknown;
    }
    let mut response = response.response.clone().unwrap_or_default();
    match response.get("error") {
        Some(Value::String(error)) if response.len() == 1 => Outcome::Error {
            error: error.clone(),
        },
        _ => match response.remove("result") {
            // What is no object ADK wraps so.
            Some(result) if response.is_empty() => Outcome::Output { output: result },
            Some(result) => {
                response.insert("result".to_owned(), result);
                let output = Value::Object(response);
                Outcome::Output { output }
            }
            None => {
                let output = Value::Object(response);
                Outcome::Output { output }
            }
        },
    }
}
