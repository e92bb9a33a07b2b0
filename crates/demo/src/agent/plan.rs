//! What the next step says and calls, from what was said before and from nothing else.

use serde_json::{Value, json};
use turn::agent::{HistoryItem, Part, StepRequest};

use super::fault::{Fault, fault, slow_text};
use super::intent::Intent;
use super::pieces::pieces;
use super::say::{self, Settled};
use super::understand::{Language, Reading, understand};

/// Whether calls that belong to one stage are made at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallMode {
    /// All of them, as generateContent makes them.
    Parallel,
    /// One by one, each when the one before it is settled, as Live makes them.
    Sequential,
}

/// A step, before it is streamed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) reasoning: String,
    pub(super) text: String,
    /// The calls, each with its tool and its input.
    pub(super) calls: Vec<(&'static str, Value)>,
    pub(super) end: End,
    /// How many times slower than usual it is streamed.
    pub(super) slowness: u32,
    /// The size of the history, in pieces.
    pub(super) prompt_tokens: usize,
}

/// How a step ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum End {
    /// As it should.
    Stop,
    /// Not at all: the stream is cut off.
    Cut,
    /// With an error.
    Failed {
        code: &'static str,
        message: String,
        retry_after_ms: Option<u64>,
    },
}

impl Step {
    fn saying(text: String) -> Self {
        Self {
            reasoning: String::new(),
            text,
            calls: Vec::new(),
            end: End::Stop,
            slowness: 1,
            prompt_tokens: 0,
        }
    }

    fn calling(reasoning: String, calls: Vec<(&'static str, Value)>) -> Self {
        Self {
            reasoning,
            calls,
            ..Self::saying(String::new())
        }
    }

    fn failing(code: &'static str, message: &str, retry_after_ms: Option<u64>) -> Self {
        Self {
            end: End::Failed {
                code,
                message: message.to_owned(),
                retry_after_ms,
            },
            ..Self::saying(String::new())
        }
    }

    /// How much it says, in pieces.
    pub(super) fn completion_tokens(&self) -> usize {
        let inputs = self.calls.iter().map(|(_, input)| input.to_string());
        let texts = [self.reasoning.clone(), self.text.clone()];
        texts
            .into_iter()
            .chain(inputs)
            .map(|text| pieces(&text).len())
            .sum()
    }
}

/// Plans the next step.
pub(super) fn plan(request: &StepRequest, mode: CallMode) -> Step {
    let history = &request.history;
    let mut messages = history.iter().rev().filter_map(|past| match past {
        HistoryItem::Message(message) => Some(message.text()),
        _ => None,
    });
    let prompt = messages.next().unwrap_or_default();
    let reading = understand(&prompt);
    let language = reading.language;
    let opening = history
        .iter()
        .rposition(|past| !matches!(past, HistoryItem::Step { .. }));
    let step = match opening.map(|at| (&history[at], &history[at + 1..])) {
        Some((HistoryItem::Message(_), steps)) => answer(request, mode, &prompt, &reading, steps),
        Some((HistoryItem::Result { call, outcome }, _)) => {
            let settled = Settled {
                tool: &call.tool,
                asked: &call.input,
                input: &call.input,
                outcome,
            };
            Step::saying(say::returned(language, &settled))
        }
        _ => Step::saying(say::echo(language, "", &tools(request))),
    };
    Step {
        prompt_tokens: history.iter().map(tokens).sum(),
        ..step
    }
}

/// The next step of a turn that a message opened, after the steps that it had so far.
fn answer(
    request: &StepRequest,
    mode: CallMode,
    prompt: &str,
    reading: &Reading,
    steps: &[HistoryItem],
) -> Step {
    let language = reading.language;
    let results = steps.iter().flat_map(|past| match past {
        HistoryItem::Step { results, .. } => results.as_slice(),
        _ => &[],
    });
    // A call inside of a call is the tool's affair.
    let results = results.filter(|result| result.call.parent.is_none());
    let settled: Vec<_> = results.map(Settled::from).collect();
    let fault = fault(prompt).filter(|_| reading.stages.is_empty());
    if let Some(fault) = fault {
        return play(request, language, fault, &settled);
    }
    let declared = tools(request);
    let is_declared = |intent: &&Intent| declared.contains(&intent.tool);
    let mut absent = Vec::new();
    for tool in reading.stages.iter().flatten().map(|intent| intent.tool) {
        if !declared.contains(&tool) && !absent.contains(&tool) {
            absent.push(tool);
        }
    }
    let stages = reading.stages.iter();
    let stages: Vec<Vec<_>> = stages
        .map(|stage| stage.iter().filter(is_declared).collect())
        .collect();
    // Counted, not compared: whatever became of the calls, a turn makes no more than were asked for.
    let mut done = settled.len();
    let total: usize = stages.iter().map(Vec::len).sum();
    for stage in stages {
        if done >= stage.len() {
            done -= stage.len();
            continue;
        }
        let mut next = stage[done..].to_vec();
        if mode == CallMode::Sequential {
            next.truncate(1);
        }
        let calls: Vec<_> = next
            .into_iter()
            .map(|intent| (intent.tool, intent.input.clone()))
            .collect();
        let more_follow = settled.len() + calls.len() < total;
        let thought = say::thought(language, &calls, settled.is_empty(), more_follow);
        return Step::calling(thought, calls);
    }
    if settled.is_empty() && absent.is_empty() && reading.questions.is_empty() {
        return Step::saying(say::echo(language, prompt, &declared));
    }
    Step::saying(say::answer(language, &settled, &reading.questions, &absent))
}

/// The step of a turn that plays a fault.
fn play(request: &StepRequest, language: Language, fault: Fault, settled: &[Settled<'_>]) -> Step {
    let tool = "get_weather";
    match fault {
        Fault::RateLimit => Step::failing(
            "rate_limited",
            "The agent got too many requests. Try again in 17 seconds.",
            Some(17_000),
        ),
        Fault::RefusedKey => Step::failing(
            "agent_unauthorized",
            "The agent does not accept the key.",
            None,
        ),
        Fault::Break => Step {
            end: End::Cut,
            ..Step::saying("This sentence breaks off in the".to_owned())
        },
        Fault::Silence => Step::saying(String::new()),
        Fault::Slowness => Step {
            slowness: 20,
            ..Step::saying(slow_text())
        },
        Fault::BadInput if !settled.is_empty() => {
            Step::saying(say::answer(language, settled, &[], &[]))
        }
        Fault::BadInput if !tools(request).contains(&tool) => {
            Step::saying(say::answer(language, &[], &[], &[tool]))
        }
        Fault::BadInput => {
            let calls = vec![(tool, json!({"place": 5}))];
            let thought = say::thought(language, &calls, true, false);
            Step::calling(thought, calls)
        }
    }
}

fn tools(request: &StepRequest) -> Vec<&str> {
    request
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect()
}

/// How many pieces something is that was said.
fn tokens(past: &HistoryItem) -> usize {
    let count = |text: &str| pieces(text).len();
    let outcome = |outcome| serde_json::to_string(outcome).map_or(0, |text| count(&text));
    match past {
        HistoryItem::Message(message) => count(&message.text()),
        HistoryItem::Result { outcome: it, .. } => outcome(it),
        HistoryItem::Step { parts, results } => {
            let parts = parts.iter().map(|part| match part {
                Part::Text { text, .. } | Part::Reasoning { text, .. } => count(text),
                Part::Call { call, .. } => count(&call.input.to_string()),
                _ => 0,
            });
            let results = results.iter().map(|result| outcome(&result.outcome));
            parts.chain(results).sum()
        }
    }
}
