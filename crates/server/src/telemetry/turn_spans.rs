//! The spans of one turn, folded from its journal.
//!
//! A turn that waits for a day is not a span of a day: each stretch in which it runs is a span of its own,
//! from being begun or answered until it comes to rest, linked to the stretch before. The first one is the
//! parent of the later ones, so that a turn is one tree.
//!
//! ```text
//! invoke_agent {agent}            stretch 0, a child of the caller's span if there is one
//! ├─ chat {model}                 step 0
//! ├─ await_approval {tool}        a gate, from asked to answered
//! └─ invoke_agent {agent}         stretch 1, with a link to stretch 0
//!    ├─ execute_tool {tool}       a call
//!    └─ chat {model}              step 1
//! ```

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use opentelemetry::trace::{
    Event, Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{InstrumentationScope, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use turn::call::Place;
use turn::trace::SpanKey;
use turn::{At, CallId, ChatId, GateId, TraceContext, TurnId};

use super::fact::{AskedOf, Fact, MadeCall};
use super::names;

/// Whose turns they are.
#[derive(Debug, Clone)]
pub(super) struct Traced {
    /// The agent's name for people.
    pub(super) agent: String,
    /// The name under which it is configured.
    pub(super) kind: String,
    /// The model that it asks.
    pub(super) model: Option<String>,
}

/// What a turn does after an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// The model or a tool is at work.
    Running,
    /// It waits at gates.
    Parked,
    /// It has ended.
    Over,
}

/// One turn, as far as its spans go.
#[derive(Debug)]
pub(super) struct TurnSpans {
    chat: ChatId,
    turn: TurnId,
    trace: TraceContext,
    /// The stretch that runs, or ran last.
    stretch: usize,
    began: At,
    after: After,
    /// When a server took it up from the journal, while it was running.
    resumed: Option<At>,
    steps: usize,
    /// Since when the model has been asked.
    asked: Option<At>,
    last: At,
    input: Option<String>,
    calls: HashMap<CallId, OpenCall>,
    gates: HashMap<GateId, OpenGate>,
}

#[derive(Debug)]
struct OpenCall {
    made: MadeCall,
    stretch: usize,
    since: At,
    is_started: bool,
}

#[derive(Debug)]
struct OpenGate {
    call: CallId,
    tool: String,
    kind: AskedOf,
    stretch: usize,
    asked: At,
}

/// An entry that is stored, as spans need it.
pub(super) struct Stored<'a> {
    pub(super) at: At,
    pub(super) facts: Vec<Fact>,
    pub(super) after: After,
    /// The request that it was written for.
    pub(super) request: Option<TraceContext>,
    pub(super) traced: &'a Traced,
}

/// A span without what all have in common.
struct Part<'a> {
    key: SpanKey<'a>,
    parent: Option<u64>,
    name: String,
    kind: SpanKind,
    from: At,
    to: At,
    attributes: Vec<KeyValue>,
    links: Vec<TraceContext>,
    events: Vec<Event>,
    status: Status,
}

impl TurnSpans {
    /// Of a turn that is opened, if it is recorded.
    pub(super) fn open(chat: &ChatId, at: At, fact: &mut Fact) -> Option<Self> {
        let Fact::Opened { turn, trace, input } = fact else {
            return None;
        };
        Some(Self {
            chat: chat.clone(),
            turn: turn.clone(),
            trace: trace.take().filter(|trace| trace.is_sampled)?,
            stretch: 0,
            began: at,
            after: After::Running,
            resumed: None,
            steps: 0,
            asked: Some(at),
            last: at,
            input: input.take(),
            calls: HashMap::new(),
            gates: HashMap::new(),
        })
    }

    /// Notes that it was read from the journal by a server that may continue it.
    pub(super) fn resume(&mut self, now: At) {
        if self.after == After::Running {
            self.resumed = Some(now.max(self.last));
        }
    }

    /// Takes in an entry, and gives the spans that end with it.
    pub(super) fn take(&mut self, entry: Stored<'_>, spans: &mut Vec<SpanData>) {
        let Stored { at, after, .. } = entry;
        if let Some(resumed) = self.resumed {
            // What ran before did so elsewhere, and is run again.
            self.asked = self.asked.map(|_| resumed);
        }
        let was_parked = self.after == After::Parked;
        if was_parked {
            (self.stretch, self.began) = (self.stretch + 1, at);
        }
        let (traced, request) = (entry.traced, entry.request);
        let mut end = None;
        for fact in entry.facts {
            match fact {
                Fact::Opened { .. } => {}
                Fact::Step {
                    finish,
                    usage,
                    model,
                    calls,
                    output,
                } => {
                    let mut attributes = vec![
                        KeyValue::new(names::FINISH_REASONS, texts(&[finish])),
                        KeyValue::new(names::STEP, number(self.steps)),
                    ];
                    if let Some(usage) = usage {
                        attributes.extend([
                            KeyValue::new(names::INPUT_TOKENS, tokens(usage.input)),
                            KeyValue::new(names::OUTPUT_TOKENS, tokens(usage.output)),
                        ]);
                    }
                    let input = self.input.take();
                    attributes.extend(input.map(|it| KeyValue::new(names::INPUT_MESSAGES, it)));
                    attributes.extend(output.map(|it| KeyValue::new(names::OUTPUT_MESSAGES, it)));
                    let error = match finish {
                        "error" | "content_filter" => Some(finish.to_owned()),
                        _ => None,
                    };
                    self.step(at, traced, model, attributes, error, spans);
                    for made in calls {
                        self.made(at, made);
                    }
                }
                Fact::Nested(made) => self.made(at, made),
                Fact::GateOpened { gate, call, kind } => self.gate_opened(at, gate, call, kind),
                Fact::GateClosed { gate, decision } => {
                    if let Some(open) = self.gates.remove(&gate) {
                        self.gate_closed(at, &gate, open, decision, request.clone(), spans);
                    }
                }
                Fact::Started(call) => {
                    let stretch = self.stretch;
                    if let Some(open) = self.calls.get_mut(&call) {
                        // One that is run again after a restart began when it began.
                        if !open.is_started {
                            (open.stretch, open.since) = (stretch, at);
                        }
                        open.is_started = true;
                    }
                }
                Fact::Settled {
                    call,
                    outcome,
                    error,
                    output,
                } => {
                    if let Some(open) = self.calls.remove(&call) {
                        self.settled(at, open, (outcome, error), output, spans);
                    }
                }
                Fact::Claimed if !was_parked => {
                    // The server that ran it exports nothing more. What it did last is in the journal.
                    let last = self.last.max(self.began);
                    let lost = Some("server_lost".to_owned());
                    self.resumed = None;
                    self.stretch_ended(last, traced, "lost", lost, None, spans);
                    (self.stretch, self.began) = (self.stretch + 1, at);
                    self.asked = self.asked.map(|_| at);
                }
                Fact::Claimed => {}
                Fact::Ended { end: how, code } => {
                    // An agent that fails before it has said anything ends no step.
                    if let (Some(code), Some(_)) = (&code, self.asked) {
                        let code = Some(code.clone());
                        self.step(at, traced, None, Vec::new(), code, spans);
                    }
                    end = Some((how, code));
                }
            }
        }
        match (after, end) {
            (After::Over, end) => {
                let (how, code) = end.unwrap_or(("stopped", None));
                self.stretch_ended(at, traced, how, code, request, spans);
            }
            // Somebody has answered, and others have not: nothing ran.
            (After::Parked, _) if was_parked => self.stretch -= 1,
            (After::Parked, _) => self.stretch_ended(at, traced, "parked", None, request, spans),
            (After::Running, _) => {}
        }
        let is_asked = after == After::Running && self.calls.is_empty();
        self.asked = is_asked.then(|| self.asked.unwrap_or(at));
        (self.after, self.last) = (after, at);
    }

    fn made(&mut self, at: At, made: MadeCall) {
        let open = OpenCall {
            stretch: self.stretch,
            since: at,
            is_started: false,
            made,
        };
        self.calls.insert(open.made.id.clone(), open);
    }

    fn gate_opened(&mut self, at: At, gate: GateId, call: CallId, kind: AskedOf) {
        let held = self.calls.get_mut(&call);
        let tool = held.as_ref().map(|held| held.made.tool.clone());
        if let Some(held) = held.filter(|held| !held.is_started) {
            held.since = at;
        }
        let open = OpenGate {
            call,
            tool: tool.unwrap_or_default(),
            kind,
            stretch: self.stretch,
            asked: at,
        };
        self.gates.insert(gate, open);
    }

    fn step(
        &mut self,
        at: At,
        traced: &Traced,
        model: Option<String>,
        mut attributes: Vec<KeyValue>,
        error: Option<String>,
        spans: &mut Vec<SpanData>,
    ) {
        let (operation, provider) = names::step_of(&traced.kind);
        let what = match operation {
            names::INVOKE_AGENT => Some(traced.agent.clone()),
            _ => traced.model.clone().or_else(|| model.clone()),
        };
        attributes.push(KeyValue::new(names::OPERATION, operation));
        attributes.extend(provider.map(|provider| KeyValue::new(names::PROVIDER, provider)));
        let asked = traced.model.clone();
        attributes.extend(asked.map(|model| KeyValue::new(names::REQUEST_MODEL, model)));
        attributes.extend(model.map(|model| KeyValue::new(names::RESPONSE_MODEL, model)));
        let from = self.asked.take().unwrap_or(self.last).max(self.began);
        let part = Part {
            key: SpanKey::Step(self.steps),
            parent: Some(self.span_of(self.stretch)),
            name: named(operation, what.as_deref()),
            kind: SpanKind::Client,
            from,
            to: at,
            status: failed(error, &mut attributes),
            attributes,
            links: Vec::new(),
            events: Vec::new(),
        };
        self.steps += 1;
        spans.push(self.span(part));
    }

    fn settled(
        &self,
        at: At,
        open: OpenCall,
        (outcome, error): (&'static str, Option<&'static str>),
        output: Option<String>,
        spans: &mut Vec<SpanData>,
    ) {
        let OpenCall { made, .. } = &open;
        // Nothing was executed: the gate has its decision.
        if outcome == "denied" && !open.is_started {
            return;
        }
        let mut attributes = vec![
            KeyValue::new(names::OPERATION, names::EXECUTE_TOOL),
            KeyValue::new(names::TOOL, made.tool.clone()),
            KeyValue::new(names::TOOL_TYPE, "function"),
            KeyValue::new(names::CALL, made.id.to_string()),
            KeyValue::new(names::PLACE, place(made.place)),
            KeyValue::new(names::OUTCOME, outcome),
        ];
        let input = open.made.input.clone();
        attributes.extend(input.map(|input| KeyValue::new(names::CALL_ARGUMENTS, input)));
        attributes.extend(output.map(|output| KeyValue::new(names::CALL_RESULT, output)));
        let parent = match &made.parent {
            Some(parent) => self.trace.span_id(&self.turn, SpanKey::Call(parent)),
            None => self.span_of(open.stretch),
        };
        spans.push(self.span(Part {
            key: SpanKey::Call(&made.id),
            parent: Some(parent),
            name: named(names::EXECUTE_TOOL, Some(&made.tool)),
            kind: SpanKind::Internal,
            from: open.since,
            to: at,
            status: failed(error.map(str::to_owned), &mut attributes),
            attributes,
            links: Vec::new(),
            events: Vec::new(),
        }));
    }

    fn gate_closed(
        &self,
        at: At,
        gate: &GateId,
        open: OpenGate,
        decision: &'static str,
        request: Option<TraceContext>,
        spans: &mut Vec<SpanData>,
    ) {
        let (operation, kind) = match open.kind {
            AskedOf::Person | AskedOf::PersonWithin => (names::AWAIT_APPROVAL, "approval"),
            AskedOf::PersonForData => (names::AWAIT_ANSWER, "question"),
            AskedOf::Page => (names::AWAIT_CLIENT, "client_call"),
        };
        let parent = match open.kind {
            AskedOf::PersonWithin => self.trace.span_id(&self.turn, SpanKey::Call(&open.call)),
            _ => self.span_of(open.stretch),
        };
        let delay = Duration::from_millis(at.0.saturating_sub(open.asked.0));
        let mut attributes = vec![
            KeyValue::new(names::OPERATION, operation),
            KeyValue::new(names::TOOL, open.tool.clone()),
            KeyValue::new(names::CALL, open.call.to_string()),
            KeyValue::new(names::GATE, gate.to_string()),
            KeyValue::new(names::GATE_KIND, kind),
            KeyValue::new(names::DECISION, decision),
            KeyValue::new(names::DELAY, delay.as_secs_f64()),
        ];
        let error = match decision {
            "failed" | "timed_out" => Some(decision.to_owned()),
            _ => None,
        };
        spans.push(self.span(Part {
            key: SpanKey::Gate(gate),
            parent: Some(parent),
            name: named(operation, Some(&open.tool)),
            kind: SpanKind::Internal,
            from: open.asked,
            to: at,
            status: failed(error, &mut attributes),
            attributes,
            // The request that answered.
            links: request.into_iter().collect(),
            events: Vec::new(),
        }));
    }

    fn stretch_ended(
        &mut self,
        at: At,
        traced: &Traced,
        how: &'static str,
        error: Option<String>,
        request: Option<TraceContext>,
        spans: &mut Vec<SpanData>,
    ) {
        let mut attributes = vec![
            KeyValue::new(names::OPERATION, names::INVOKE_AGENT),
            KeyValue::new(names::AGENT, traced.agent.clone()),
            KeyValue::new(names::STRETCH, number(self.stretch)),
            KeyValue::new(names::STRETCH_END, how),
        ];
        let (parent, before) = match self.stretch {
            0 => (self.trace.span, None),
            n => {
                let before = self.trace.below(&self.turn, SpanKey::Stretch(n - 1));
                (Some(self.span_of(0)), Some(before))
            }
        };
        // A request that came in the middle of it, and ended it: a stop, or another message.
        let request = request.filter(|request| request.trace != self.trace.trace);
        let resumed = self.resumed.take();
        let resumed = resumed.map(|at| Event::new(names::RESUMED, time(at), Vec::new(), 0));
        spans.push(self.span(Part {
            key: SpanKey::Stretch(self.stretch),
            parent,
            name: named(names::INVOKE_AGENT, Some(&traced.agent)),
            kind: SpanKind::Internal,
            from: self.began,
            to: at,
            status: failed(error, &mut attributes),
            attributes,
            links: before.into_iter().chain(request).collect(),
            events: resumed.into_iter().collect(),
        }));
    }

    fn span_of(&self, stretch: usize) -> u64 {
        self.trace.span_id(&self.turn, SpanKey::Stretch(stretch))
    }

    fn span(&self, mut part: Part<'_>) -> SpanData {
        part.attributes.extend([
            KeyValue::new(names::CONVERSATION, self.chat.to_string()),
            KeyValue::new(names::TURN, self.turn.to_string()),
        ]);
        let own = self.trace.below(&self.turn, part.key);
        let mut links = SpanLinks::default();
        let linked = part.links.iter().filter(|link| link.span.is_some());
        links.links = linked
            .map(|link| Link::new(context(link), Vec::new(), 0))
            .collect();
        let mut events = SpanEvents::default();
        events.events = part.events;
        SpanData {
            span_context: context(&own),
            parent_span_id: part.parent.map_or(SpanId::INVALID, |id| id.into()),
            parent_span_is_remote: part.parent.is_some() && part.parent == self.trace.span,
            span_kind: part.kind,
            name: part.name.into(),
            start_time: time(part.from),
            // Clocks of two servers may differ by a little.
            end_time: time(part.to.max(part.from)),
            attributes: part.attributes,
            dropped_attributes_count: 0,
            events,
            links,
            status: part.status,
            instrumentation_scope: InstrumentationScope::builder("adk-stream")
                .with_version(env!("CARGO_PKG_VERSION"))
                .build(),
        }
    }
}

fn context(context: &TraceContext) -> SpanContext {
    let state = context.state.as_deref();
    SpanContext::new(
        TraceId::from(context.trace),
        SpanId::from(context.span.unwrap_or_default()),
        TraceFlags::new(u8::from(context.is_sampled)),
        false,
        // What is no list of its is left out.
        state
            .and_then(|state| state.parse().ok())
            .unwrap_or(TraceState::NONE),
    )
}

fn time(at: At) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(at.0)
}

fn named(operation: &str, what: Option<&str>) -> String {
    match what.filter(|what| !what.is_empty()) {
        Some(what) => format!("{operation} {what}"),
        None => operation.to_owned(),
    }
}

/// The status of a span; an error is among its attributes too.
fn failed(error: Option<String>, attributes: &mut Vec<KeyValue>) -> Status {
    match error {
        None => Status::Unset,
        Some(error) => {
            attributes.push(KeyValue::new(names::ERROR_TYPE, error.clone()));
            Status::error(error)
        }
    }
}

fn place(place: Place) -> &'static str {
    match place {
        Place::Server => "server",
        Place::Client => "client",
        Place::Agent => "agent",
    }
}

fn texts(texts: &[&'static str]) -> Value {
    let texts = texts.iter().map(|text| StringValue::from(*text));
    Value::Array(texts.collect::<Vec<_>>().into())
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn tokens(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
