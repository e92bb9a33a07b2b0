//! How a run ends: with an answer, or with something that it waits for.

use std::collections::HashSet;

use serde_json::{Value, json};
use turn::At;
use turn::agent::{AgentEvent, Asking};
use turn::call::Outcome as CallOutcome;
use turn::event::Finish;
use turn::metadata::{OURS, PATH};
use wire::ag_ui::{Interrupt, Outcome, TokenUsage};

use super::calls::OpenCall;
use super::interrupt::{INTERRUPT, MAX_ACTIONS, Question};
use super::langgraph::actions;
use super::reading::Reading;
use super::{KEPT, PROVIDER, adk, moment};
use crate::model::Failure;
use crate::model::metadata::{self, Usage};
use crate::question::about_call;
use crate::upstream::{CallState, ProposedCall, RunEvent};

impl Reading {
    /// The run ends, and did not fail.
    pub(super) fn finish(
        &mut self,
        outcome: Option<Outcome>,
        result: Option<Value>,
        usage: Option<Vec<TokenUsage>>,
        said: &mut Vec<RunEvent>,
    ) -> Result<(), Failure> {
        self.is_finished = true;
        self.end_step(said);
        said.extend(usage.and_then(|usage| tokens(&usage)).map(RunEvent::Output));
        if let Some(data) = result {
            let name = "agui-result".to_owned();
            said.push(RunEvent::Output(AgentEvent::Data {
                name,
                id: None,
                data,
            }));
        }
        let custom = std::mem::take(&mut self.custom_interrupts);
        let confirmations = self.calls.open.iter().filter_map(adk::interrupt);
        let unsaid = custom.into_iter().chain(confirmations);
        let interrupts = match outcome {
            Some(Outcome::Interrupt { interrupts }) => interrupts,
            Some(Outcome::Cancelled {}) => {
                let message = "The agent stopped before its answer was complete.";
                return Err(Failure::new("agent_failed", message));
            }
            Some(Outcome::Success { .. } | Outcome::Other(_)) | None => unsaid.collect(),
        };
        if !interrupts.is_empty() {
            self.ask(&interrupts, said)?;
        }
        said.push(RunEvent::Finish(Finish::Stop));
        Ok(())
    }

    /// Asks what the run waits for. Calls that it has not run, and that nobody is asked about, it will
    /// tell of again.
    fn ask(&mut self, interrupts: &[Interrupt], said: &mut Vec<RunEvent>) -> Result<(), Failure> {
        let open: Vec<OpenCall> = std::mem::take(&mut self.calls.open);
        let settled: Vec<OpenCall> = std::mem::take(&mut self.calls.settled);
        let mut asked = HashSet::new();
        for interrupt in interrupts {
            let about = match confirmed(interrupt, open.iter().chain(&settled)) {
                Some(call) => vec![call],
                None => about(interrupt, interrupts, &open),
            };
            asked.extend(about.iter().map(|call| call.id.as_str()));
            let expires = match interrupt.expires_at.as_deref().map(moment::parse) {
                Some(None) => {
                    let failure = PROVIDER.unreadable("an interrupt's expiresAt is no moment");
                    return Err(not_asked(&about, failure, said));
                }
                expires => expires.flatten(),
            };
            let listed = actions(interrupt);
            let count = match interrupt.response_schema {
                Some(_) => 1,
                None => listed.len().max(1),
            };
            if count > 1 && about.len() != count {
                let message = "The agent asks about several calls at once, and not all of them \
                               are known here.";
                let failure = Failure::new("agent_question_unsupported", message);
                return Err(not_asked(&about, failure, said));
            }
            if about.is_empty() {
                said.push(self.question(interrupt, expires));
            }
            for (place, call) in about.into_iter().enumerate() {
                let is_named = interrupt.tool_call_id.as_ref() == Some(&call.id);
                let question = match (count, is_named) {
                    (1, true) => Question::of(interrupt),
                    // The result of a call that the agent has to run comes with the next run.
                    (1, false) => Question::of(interrupt).of_open_call(),
                    _ => Question::of_action(interrupt, place, count),
                };
                let words = words(interrupt, listed.get(place), &question, Some(call));
                let mut metadata = call.metadata.clone();
                metadata[KEPT][INTERRUPT] = question.token();
                said.push(RunEvent::Ask {
                    id: call.id.clone(),
                    asking: asking(interrupt, &question, words, expires),
                    metadata,
                });
            }
        }
        let is_asked = |call: &OpenCall| asked.contains(call.id.as_str());
        let waiting = open
            .iter()
            .filter(|call| !call.is_offered && !is_asked(call));
        said.extend(waiting.map(|call| RunEvent::Withdraw(call.id.clone())));
        Ok(())
    }

    /// An interrupt that is about no call, as a call of its own.
    fn question(&self, interrupt: &Interrupt, expires: Option<At>) -> RunEvent {
        let question = Question::of(interrupt);
        let mut metadata = json!({ KEPT: { INTERRUPT: question.token(), "isOurs": true } });
        let path = self.subagents.path(interrupt.subagent_run_id.as_deref());
        if !path.is_empty() {
            metadata[OURS] = json!({ PATH: path });
        }
        let mut input = json!({});
        for (field, value) in [
            (
                "message",
                interrupt.message.as_ref().map(|text| json!(text)),
            ),
            ("metadata", interrupt.metadata.clone()),
        ] {
            if let Some(value) = value {
                input[field] = value;
            }
        }
        let reason = Some(interrupt.reason.clone()).filter(|reason| !reason.is_empty());
        let first = actions(interrupt).first();
        let words = words(interrupt, first, &question, None);
        RunEvent::Call(ProposedCall {
            id: interrupt.id.clone(),
            tool: reason.unwrap_or_else(|| INTERRUPT.to_owned()),
            input,
            metadata,
            is_agents: true,
            shown: None,
            state: CallState::Asked(asking(interrupt, &question, words, expires)),
        })
    }
}

/// The call that ADK wants confirmed by an interrupt, if it is one of these.
fn confirmed<'a>(
    interrupt: &Interrupt,
    mut calls: impl Iterator<Item = &'a OpenCall>,
) -> Option<&'a OpenCall> {
    let id = adk::confirmed_call(interrupt)?;
    calls.find(|call| call.id == id)
}

/// The calls that an interrupt is about: those that LangChain's middleware lists, the one that is named, or
/// the only one that can be meant.
fn about<'a>(interrupt: &Interrupt, all: &[Interrupt], open: &'a [OpenCall]) -> Vec<&'a OpenCall> {
    let is_of = |interrupt: &Interrupt, call: &OpenCall| {
        interrupt.tool_call_id.as_deref() == Some(call.id.as_str())
    };
    if let Some(named) = open.iter().find(|call| is_of(interrupt, call)) {
        return vec![named];
    }
    let is_named = |call: &OpenCall| all.iter().any(|other| is_of(other, call));
    let others = open
        .iter()
        .filter(|call| !call.is_offered && !is_named(call));
    let mut others: Vec<_> = others.collect();
    let listed = actions(interrupt);
    if interrupt.response_schema.is_none() && (1..=MAX_ACTIONS).contains(&listed.len()) {
        let found = listed.iter().filter_map(|action| {
            let is_meant = |call: &&OpenCall| {
                action["name"] == call.tool.as_str() && action["args"] == call.input
            };
            let place = others.iter().position(is_meant)?;
            Some(others.remove(place))
        });
        let found: Vec<_> = found.collect();
        if !found.is_empty() || listed.len() > 1 {
            return found;
        }
    }
    match (all, others.as_slice(), &interrupt.tool_call_id) {
        ([_], [alone], None) => vec![alone],
        _ => Vec::new(),
    }
}

fn asking(
    interrupt: &Interrupt,
    question: &Question,
    words: String,
    expires: Option<At>,
) -> Asking {
    let schema = interrupt.response_schema.clone();
    Asking {
        question: words,
        token: Some(question.token()),
        schema: schema.filter(|_| question.asks_for_data()),
        expires,
    }
}

/// What a person is asked.
fn words(
    interrupt: &Interrupt,
    action: Option<&Value>,
    question: &Question,
    call: Option<&OpenCall>,
) -> String {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let described = |value: &Value| value.get("description").and_then(text);
    let schema = interrupt.response_schema.as_ref();
    let schema = schema.filter(|_| question.asks_for_data());
    let found = [
        adk::question(interrupt),
        action.and_then(described),
        schema.and_then(described),
        schema.and_then(|schema| text(schema.get("title")?)),
    ];
    let mut found = found.into_iter().flatten();
    let own = || match (call, question.asks_for_data()) {
        (Some(call), true) => format!("The agent asks for data before it runs {}.", call.tool),
        (Some(call), false) => about_call(&call.tool, Some(&call.input)),
        (None, true) => "The agent asks for data.".to_owned(),
        (None, false) => "Allow the agent to continue?".to_owned(),
    };
    found
        .find(|words| !words.trim().is_empty())
        .unwrap_or_else(own)
}

/// An interrupt that can't be shown as a question. The calls that it is about did not run.
fn not_asked(calls: &[&OpenCall], failure: Failure, said: &mut Vec<RunEvent>) -> Failure {
    said.extend(calls.iter().map(|call| RunEvent::Result {
        id: call.id.clone(),
        outcome: CallOutcome::Error {
            error: format!("It did not run: {}", failure.message),
        },
    }));
    failure
}

/// The tokens of a run, for the message's metadata.
fn tokens(all: &[TokenUsage]) -> Option<AgentEvent> {
    let sum = |count: fn(&TokenUsage) -> Option<u64>| {
        let counts = all.iter().filter_map(count);
        counts.reduce(u64::saturating_add)
    };
    let (prompt, completion) = (
        sum(|usage| usage.input_tokens),
        sum(|usage| usage.output_tokens),
    );
    if prompt.is_none() && completion.is_none() {
        return None;
    }
    let (prompt, completion) = (prompt.unwrap_or_default(), completion.unwrap_or_default());
    let total = sum(|usage| usage.total_tokens);
    let usage = Usage {
        prompt,
        completion,
        total: total.unwrap_or(prompt.saturating_add(completion)),
        reasoning: sum(|usage| usage.reasoning_tokens),
        cached: sum(|usage| usage.cached_input_tokens),
    };
    let model = all.iter().find_map(|usage| usage.model.as_deref());
    metadata::event(Some(usage), model, None)
}
