//! Lines of a transcript as events, in their order.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use turn::CallId;
use turn::call::{Call, Outcome as CallOutcome, Place};
use turn::metadata::OURS;
use turn::reason::{denial, error_text};
use wire::ag_ui::{Common, Content, Event, Outcome, TokenUsage};
use wire::prototype::without_refused_keys;

use super::{SEPARATOR, SPEECH, interrupt};
use crate::ai_sdk::{
    Block, BlockLine, BlockUpdate, CallLine, CallUpdate, Closing, Line, PartLine, Settlement,
    ShownPart,
};
use crate::ai_sdk::{Failure, chunks, proxy, user_message};

/// The data under which an agent's state is kept.
const STATE: &str = "agui-state";

/// Renders a transcript from its first line on.
#[derive(Debug, Clone)]
pub(super) struct Renderer {
    /// The id of the turn's message.
    base: String,
    steps: usize,
    /// How many texts the step has.
    texts: usize,
    reasonings: usize,
    is_in_step: bool,
    /// Whether the step was sent to the run.
    is_step_open: bool,
    /// The message that calls belong to: the step's, or the last text of it.
    message: String,
    /// The message of the text or reasoning that is open.
    open: String,
    /// Calls that clients were shown.
    shown: HashSet<CallId>,
    /// Calls that a page is to run and was not shown: it would run them while a person is asked.
    pages: Vec<Arc<Call>>,
    /// Calls that a page is to run.
    pending: Vec<CallId>,
    /// Why people said no.
    reasons: HashMap<CallId, Option<String>>,
}

impl Renderer {
    pub(super) fn new(base: &str) -> Self {
        Self {
            base: base.to_owned(),
            steps: 0,
            texts: 0,
            reasonings: 0,
            is_in_step: false,
            is_step_open: false,
            message: format!("{base}{SEPARATOR}0"),
            open: String::new(),
            shown: HashSet::new(),
            pages: Vec::new(),
            pending: Vec::new(),
            reasons: HashMap::new(),
        }
    }

    /// A run begins here: no step was sent to it.
    pub(super) fn begin_run(&mut self) {
        self.is_step_open = false;
    }

    /// The events of a line. A park shows what a page is to run, and does not end the run.
    pub(super) fn render(&mut self, line: &Line) -> Vec<Event> {
        let mut events = Vec::new();
        match line {
            Line::StepBegun => {
                self.steps += 1;
                self.texts = 0;
                self.is_in_step = true;
                self.message = format!("{}{SEPARATOR}{}", self.base, self.steps);
            }
            Line::StepEnded => {
                self.is_in_step = false;
                self.end_step(&mut events);
            }
            Line::Block(line) => self.block(line, &mut events),
            Line::Text(delta) if !delta.as_str().is_empty() => {
                events.push(Event::TextMessageContent {
                    message_id: self.open.clone(),
                    delta: delta.as_str().to_owned(),
                    common: Common::default(),
                });
            }
            Line::Reasoning(delta) if !delta.as_str().is_empty() => {
                events.push(Event::ReasoningMessageContent {
                    message_id: self.open.clone(),
                    delta: delta.as_str().to_owned(),
                    common: Common::default(),
                });
            }
            Line::Text(_) | Line::Reasoning(_) => {}
            Line::Part(line) => {
                self.begin_step(&mut events);
                events.push(part(line));
            }
            Line::Call(line) => self.call(line, &mut events),
            Line::Close(Closing::Parked(questions)) if questions.is_empty() => {
                for page in std::mem::take(&mut self.pages) {
                    self.show(&page, &mut events);
                }
            }
            Line::Close(_) => {}
        }
        events
    }

    /// The event that ends a run.
    pub(super) fn end(&mut self, closing: &Closing) -> Vec<Event> {
        let mut events = Vec::new();
        let (outcome, usage, status) = match closing {
            Closing::Failed(failure) => return vec![run_error(failure)],
            Closing::Parked(questions) if questions.is_empty() => {
                let pending: Vec<_> = self.pending.iter().map(CallId::to_string).collect();
                let pending_tool_call_ids = (!pending.is_empty()).then_some(pending);
                let outcome = Outcome::Success {
                    pending_tool_call_ids,
                };
                (outcome, None, json!({"turn": "parked"}))
            }
            Closing::Parked(questions) => {
                let is_shown = |call: &CallId| self.shown.contains(call);
                let interrupts = questions.iter();
                let interrupts = interrupts.map(|question| interrupt::of(question, is_shown));
                let interrupts = interrupts.collect();
                let outcome = Outcome::Interrupt { interrupts };
                (outcome, None, json!({"turn": "parked"}))
            }
            Closing::Finished { reason, metadata } => {
                let outcome = Outcome::Success {
                    pending_tool_call_ids: None,
                };
                let usage = metadata.as_deref().and_then(usage);
                let status = json!({"turn": "finished", "finishReason": reason});
                (outcome, usage, status)
            }
            Closing::Stopped => (Outcome::Cancelled {}, None, json!({"turn": "stopped"})),
        };
        self.end_step(&mut events);
        events.push(Event::RunFinished {
            outcome: Some(outcome),
            result: None,
            usage: usage.map(|usage| vec![usage]),
            common: with_metadata(status),
        });
        events
    }

    fn begin_step(&mut self, events: &mut Vec<Event>) {
        if self.is_in_step && !std::mem::replace(&mut self.is_step_open, true) {
            events.push(Event::StepStarted {
                step_name: format!("step-{}", self.steps),
                common: Common::default(),
            });
        }
    }

    fn end_step(&mut self, events: &mut Vec<Event>) {
        if std::mem::take(&mut self.is_step_open) {
            events.push(Event::StepFinished {
                step_name: format!("step-{}", self.steps),
                common: Common::default(),
            });
        }
    }

    fn block(&mut self, line: &BlockLine, events: &mut Vec<Event>) {
        let common = Common::default;
        match (line.block, line.update) {
            (Block::Text, BlockUpdate::Begun { is_user_speech }) => {
                self.begin_step(events);
                self.texts += 1;
                self.open = match self.texts {
                    1 if !is_user_speech => format!("{}{SEPARATOR}{}", self.base, self.steps),
                    n => format!("{}{SEPARATOR}{}{SEPARATOR}{n}", self.base, self.steps),
                };
                if is_user_speech {
                    self.open.push_str(SPEECH);
                } else {
                    self.message.clone_from(&self.open);
                }
                let role = if is_user_speech { "user" } else { "assistant" };
                events.push(Event::TextMessageStart {
                    message_id: self.open.clone(),
                    role: Some(role.to_owned()),
                    common: common(),
                });
            }
            (Block::Text, BlockUpdate::Ended) => events.push(Event::TextMessageEnd {
                message_id: self.open.clone(),
                common: common(),
            }),
            (Block::Reasoning, BlockUpdate::Begun { .. }) => {
                self.begin_step(events);
                self.reasonings += 1;
                self.open = format!("{}{SEPARATOR}r{}", self.base, self.reasonings);
                events.push(Event::ReasoningStart {
                    message_id: self.open.clone(),
                    common: common(),
                });
                events.push(Event::ReasoningMessageStart {
                    message_id: self.open.clone(),
                    common: with("role", "reasoning".into()),
                });
            }
            (Block::Reasoning, BlockUpdate::Ended) => {
                events.push(Event::ReasoningMessageEnd {
                    message_id: self.open.clone(),
                    common: common(),
                });
                events.push(Event::ReasoningEnd {
                    message_id: self.open.clone(),
                    common: common(),
                });
            }
        }
    }

    fn call(&mut self, line: &CallLine, events: &mut Vec<Event>) {
        let call = &line.call;
        if proxy::is_question(call.id.as_str()) {
            // An interrupt need not be in the last step: it is asked once, at its own call.
            return;
        }
        if chunks::is_question(call) && line.settlement().is_none() {
            // So is this one; what was answered is shown.
            return;
        }
        let is_page = call.place == Place::Client;
        match &line.update {
            CallUpdate::Begun => {}
            CallUpdate::InputShown | CallUpdate::Asked(_) if is_page => {}
            CallUpdate::Announced if is_page => {
                if !self.shown.contains(&call.id) {
                    self.pages.push(call.clone());
                }
            }
            CallUpdate::InputShown | CallUpdate::Asked(_) | CallUpdate::Announced => {
                self.show(call, events);
            }
            CallUpdate::Answered {
                approved, reason, ..
            } => {
                if !approved {
                    self.reasons.insert(call.id.clone(), reason.clone());
                }
            }
            CallUpdate::Progressed(output) => {
                let output = without_refused_keys(output.clone());
                let call = call.id.as_str();
                events.push(Event::Custom {
                    name: "tool-progress".to_owned(),
                    value: json!({"toolCallId": call, "output": output}),
                    common: Common::default(),
                });
            }
            CallUpdate::Settled(settlement, outcome) => {
                self.show(call, events);
                self.pages.retain(|page| page.id != call.id);
                self.pending.retain(|pending| *pending != call.id);
                events.push(self.result(&call.id, *settlement, outcome));
            }
        }
    }

    fn show(&mut self, call: &Arc<Call>, events: &mut Vec<Event>) {
        if !self.shown.insert(call.id.clone()) {
            return;
        }
        if call.place == Place::Client {
            self.pending.push(call.id.clone());
        }
        self.begin_step(events);
        let tool_call_id = call.id.to_string();
        events.push(Event::ToolCallStart {
            tool_call_id: tool_call_id.clone(),
            tool_call_name: call.tool.clone(),
            parent_message_id: Some(self.message.clone()),
            common: Common::default(),
        });
        events.push(Event::ToolCallArgs {
            tool_call_id: tool_call_id.clone(),
            delta: without_refused_keys(call.input.clone()).to_string(),
            common: Common::default(),
        });
        events.push(Event::ToolCallEnd {
            tool_call_id,
            common: Common::default(),
        });
    }

    fn result(&self, call: &CallId, settlement: Settlement, outcome: &CallOutcome) -> Event {
        let text = match outcome {
            _ if settlement == Settlement::Denied => {
                denial(self.reasons.get(call).and_then(Option::as_deref))
            }
            CallOutcome::Output { output } | CallOutcome::Pending { output } => match output {
                Value::String(text) => text.clone(),
                output => without_refused_keys(output.clone()).to_string(),
            },
            outcome => error_text(outcome).unwrap_or_default(),
        };
        let outcome = match settlement {
            Settlement::Output => None,
            Settlement::Denied => Some("denied"),
            Settlement::Error => Some("error"),
            Settlement::Invalid => Some("invalid-input"),
        };
        Event::ToolCallResult {
            message_id: format!("{call}{SEPARATOR}result"),
            tool_call_id: call.to_string(),
            content: Content::Text(text),
            common: match outcome {
                Some(outcome) => with_metadata(json!({"outcome": outcome})),
                None => Common::default(),
            },
        }
    }
}

/// A file, a source, data or a user's message: an event of the application's own, but for an agent's state.
fn part(line: &PartLine) -> Event {
    match &line.part {
        ShownPart::Data { name, data: value } => data(name, value.clone()),
        ShownPart::Message(message) => {
            let shown = json!(user_message::show(message));
            data(chunks::USER_MESSAGE, without_refused_keys(shown))
        }
        // In the AI SDK's words, for lack of others.
        ShownPart::File | ShownPart::Source => Event::Custom {
            name: line.chunk.type_name().into_owned(),
            value: serde_json::to_value(&*line.chunk).unwrap_or_default(),
            common: Common::default(),
        },
    }
}

/// Data as an event.
pub(super) fn data(name: &str, data: Value) -> Event {
    let common = Common::default();
    if name == STATE {
        let snapshot = data;
        return Event::StateSnapshot { snapshot, common };
    }
    Event::Custom {
        name: name.to_owned(),
        value: data,
        common,
    }
}

pub(super) fn run_error(failure: &Failure) -> Event {
    let common = match failure.retry_after_ms {
        Some(milliseconds) => with_metadata(json!({"retryAfterMs": milliseconds})),
        None => Common::default(),
    };
    Event::RunError {
        message: failure.message.clone(),
        code: Some(failure.code.clone()),
        usage: None,
        common,
    }
}

fn usage(metadata: &Value) -> Option<TokenUsage> {
    let usage = turn::Usage::of(metadata)?;
    Some(TokenUsage {
        input_tokens: Some(usage.input),
        output_tokens: Some(usage.output),
        total_tokens: Some(usage.total),
        reasoning_tokens: usage.reasoning,
        cached_input_tokens: usage.cached,
        ..TokenUsage::default()
    })
}

/// What is ours to say of an event, where applications look for it.
fn with_metadata(ours: Value) -> Common {
    with("metadata", json!({OURS: ours}))
}

fn with(key: &str, value: Value) -> Common {
    Common {
        rest: Map::from_iter([(key.to_owned(), value)]),
        ..Common::default()
    }
}
