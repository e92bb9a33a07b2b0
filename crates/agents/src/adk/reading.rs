//! ADK's events, read as agent events.
//!
//! `output`: the model's output; `responses`: outcomes of calls, and questions to people.

mod output;
mod responses;

use std::collections::{HashMap, HashSet};

use gemini::FunctionCall;
use serde_json::{Map, Value, json};
use turn::agent::{AgentEvent, Asking};
use turn::call::{Call, Outcome, Place, UnknownReason};
use turn::event::Finish;

use super::agents::Agents;
use super::event::{Event, MARK};
use crate::gemini::usage;

/// What was read of a run so far.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// The agents of the app.
    agents: Agents,
    text: Shown,
    thought: Shown,
    /// Calls at the agent that have no result yet.
    open: Vec<String>,
    /// Calls that wait for an approval.
    asked: HashSet<String>,
    /// Long-running calls that have given a first answer already, and wait for their result.
    later: Vec<FunctionCall>,
    /// Long-running calls that were made beside others: once those are done it shows whether a page
    /// runs them, and whether they need an approval.
    undecided: Vec<FunctionCall>,
    /// Questions about calls that are not shown yet.
    asking: HashMap<String, Asking>,
    /// Calls whose results come from outside.
    waiting: Vec<(String, String)>,
    /// Events whose actions were shown.
    shown_actions: HashSet<String>,
    /// Events that came when they could not be shown.
    held: Vec<AgentEvent>,
    /// Outcomes of calls.
    settled: HashMap<String, Outcome>,
    metadata: Map<String, Value>,
    finish: Option<Finish>,
    has_output: bool,
    has_shown: bool,
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
    /// Of an app with these agents.
    pub(super) fn of(agents: Agents) -> Self {
        Self {
            agents,
            ..Self::default()
        }
    }

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

    /// Whether calls without a result wait for an approval.
    pub(super) fn is_asking(&self) -> bool {
        self.open.iter().any(|id| self.asked.contains(id))
    }

    /// Whether there was output that a page shows.
    pub(super) fn has_output(&self) -> bool {
        self.has_output
    }

    /// Whether the run had any output at all.
    pub(super) fn has_shown(&self) -> bool {
        self.has_shown || self.finish.is_some()
    }

    /// The outcome of a call, if it is known.
    pub(super) fn settled(&self, id: &str) -> Option<&Outcome> {
        self.settled.get(id)
    }

    /// Whether it has not shown yet who runs some of the calls.
    pub(super) fn is_undecided(&self) -> bool {
        !self.undecided.is_empty()
    }

    /// Announces calls without an approval and without a result: a page runs them.
    pub(super) fn wait(&mut self) -> Vec<AgentEvent> {
        let waits = std::mem::take(&mut self.undecided).into_iter();
        let waits = waits.filter_map(|call| {
            let provider_id = call.id?;
            Some(AgentEvent::Waits { provider_id })
        });
        waits.collect()
    }

    /// The events that came between steps, now that they can be shown.
    pub(super) fn begin(&mut self) -> Vec<AgentEvent> {
        std::mem::take(&mut self.held)
    }

    /// The events at the end of a step whose run continues.
    pub(super) fn hand_over(&mut self) -> Vec<AgentEvent> {
        let mut events: Vec<_> = self.metadata().into_iter().collect();
        events.push(AgentEvent::Ended(Finish::Stop));
        events
    }

    /// What is left to say when the run is over in the middle of a step.
    pub(super) fn end(&mut self) -> Vec<AgentEvent> {
        let mut events = self.lose(UnknownReason::NoResult);
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

    /// Settles calls that have no result, now that none will come.
    pub(super) fn lose(&mut self, reason: UnknownReason) -> Vec<AgentEvent> {
        let open = std::mem::take(&mut self.open).into_iter();
        let lost = open.filter(|id| !self.asked.contains(id));
        lost.map(|provider_id| AgentEvent::Settled {
            provider_id,
            outcome: Outcome::Unknown { reason },
        })
        .collect()
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
            // ADK reports an artifact by the same event twice.
            let is_news = |id: &String| self.shown_actions.insert(format!("{name} {id}"));
            if !data.is_empty() && event.id.as_ref().is_none_or(is_news) {
                let data = Value::Object(data);
                let name = name.to_owned();
                events.push(AgentEvent::Data {
                    name,
                    id: None,
                    data,
                });
            }
        }
        if let Some(agent) = &actions.transfer_to_agent {
            self.agents.hand_over(event, agent);
            let data = json!({"from": event.author, "to": agent});
            let name = "adk-transfer".to_owned();
            events.push(AgentEvent::Data {
                name,
                id: None,
                data,
            });
        }
    }
}
