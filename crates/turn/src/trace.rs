//! Where a turn belongs in a distributed trace, as W3C Trace Context writes it.
//!
//! All ids follow from what the journal has: from the trace that was noted when the turn was opened, and
//! from the ids of the turn and of what happened in it. So every server that runs a part of a turn, before
//! or after a restart, names the same spans.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::id::{CallId, GateId, TurnId};

/// What is hashed, in which form.
const VERSION: &str = "adk-stream span 1";

/// How a context begins that is stored with its `tracestate`.
const NOTED_WITH_STATE: &str = "01-";

/// How long a `tracestate` may be that is passed on: what W3C Trace Context asks for.
const STATE_BYTES: usize = 512;

/// A place in a trace: what the headers `traceparent` and `tracestate` say. The span may be missing, where
/// a trace begins here: it is then written as zeros.
///
/// It is displayed as a `traceparent`. Where it is stored, the `tracestate` is a fifth field of it, under
/// the version 01: versions of this server that do not know the field skip it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TraceContext {
    /// The trace.
    pub trace: u128,
    /// The span that what comes next is a child of.
    pub span: Option<u64>,
    /// Whether spans of this trace are recorded.
    pub is_sampled: bool,
    /// What other systems of the trace have to say, unread: the header `tracestate`.
    pub state: Option<Arc<str>>,
}

/// What a turn's spans are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKey<'a> {
    /// The n-th stretch in which the turn ran, from 0: between being begun or answered, and coming to rest.
    Stretch(usize),
    /// The n-th step, from 0.
    Step(usize),
    /// A call.
    Call(&'a CallId),
    /// A gate.
    Gate(&'a GateId),
}

impl TraceContext {
    /// A trace that begins here.
    pub fn root(trace: u128, is_sampled: bool) -> Self {
        Self {
            trace,
            span: None,
            is_sampled,
            state: None,
        }
    }

    /// The same with a `tracestate`. One that is too long, or that a header can't carry, is left out, as W3C
    /// Trace Context allows.
    #[must_use]
    pub fn with_state(self, state: &str) -> Self {
        let state = state.trim_matches([' ', '\t']);
        let is_printable = |byte: u8| matches!(byte, b'\t' | b' '..=b'~');
        let is_valid = state.len() <= STATE_BYTES && state.bytes().all(is_printable);
        Self {
            state: (is_valid && !state.is_empty()).then(|| state.into()),
            ..self
        }
    }

    /// The same trace below one of a turn's spans.
    #[must_use]
    pub fn below(&self, turn: &TurnId, key: SpanKey<'_>) -> Self {
        let span = Some(self.span_id(turn, key));
        Self {
            span,
            ..self.clone()
        }
    }

    /// The headers of a request that is made at this place.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, String)> {
        let state = self.state.as_ref().map(|state| state.to_string());
        let state = state.map(|state| ("tracestate", state));
        [("traceparent", self.to_string())].into_iter().chain(state)
    }

    /// The id of one of a turn's spans in this trace. Never zero, which would be none.
    pub fn span_id(&self, turn: &TurnId, key: SpanKey<'_>) -> u64 {
        let (kind, name) = match key {
            SpanKey::Stretch(n) => ("stretch", n.to_string()),
            SpanKey::Step(n) => ("step", n.to_string()),
            SpanKey::Call(call) => ("call", call.to_string()),
            SpanKey::Gate(gate) => ("gate", gate.to_string()),
        };
        let mut hash = Sha256::new();
        hash.update(self.trace.to_be_bytes());
        for part in [VERSION, turn.as_str(), kind, &name] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let mut id = [0; 8];
        id.copy_from_slice(&hash.finalize()[..8]);
        u64::from_be_bytes(id).max(1)
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace, span) = (self.trace, self.span.unwrap_or_default());
        let flags = u8::from(self.is_sampled);
        write!(out, "00-{trace:032x}-{span:016x}-{flags:02x}")
    }
}

/// Why a text is no `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoTraceContext;

impl fmt::Display for NoTraceContext {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("it is no traceparent")
    }
}

impl std::error::Error for NoTraceContext {}

impl FromStr for TraceContext {
    type Err = NoTraceContext;

    fn from_str(text: &str) -> Result<Self, NoTraceContext> {
        let mut fields = text.split('-');
        let mut field = |length: usize| {
            let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            let field = fields.next().ok_or(NoTraceContext)?;
            match field.len() == length && field.bytes().all(is_hex) {
                true => u128::from_str_radix(field, 16).map_err(|_| NoTraceContext),
                false => Err(NoTraceContext),
            }
        };
        let (version, trace, span, flags) = (field(2)?, field(32)?, field(16)?, field(2)?);
        // Later versions may add fields; this one may not, and ff is none.
        let is_whole = version != 0 || fields.next().is_none();
        if version == 0xff || trace == 0 || !is_whole {
            return Err(NoTraceContext);
        }
        Ok(Self {
            trace,
            span: u64::try_from(span).ok().filter(|span| *span != 0),
            is_sampled: flags & 1 == 1,
            state: None,
        })
    }
}

impl TryFrom<String> for TraceContext {
    type Error = NoTraceContext;

    fn try_from(text: String) -> Result<Self, NoTraceContext> {
        let context: Self = text.parse()?;
        let state = text.strip_prefix(NOTED_WITH_STATE);
        let state = state.and_then(|fields| fields.splitn(4, '-').nth(3));
        Ok(match state {
            Some(state) => context.with_state(state),
            None => context,
        })
    }
}

impl From<TraceContext> for String {
    fn from(context: TraceContext) -> Self {
        let parent = context.to_string();
        match (&context.state, parent.split_once('-')) {
            (Some(state), Some((_, fields))) => format!("{NOTED_WITH_STATE}{fields}-{state}"),
            _ => parent,
        }
    }
}

/// Reads what a journal has. What is no context is none: a chat must open whatever its trace was.
pub(crate) fn read_noted<'de, D: serde::Deserializer<'de>>(
    noted: D,
) -> Result<Option<TraceContext>, D::Error> {
    let noted = Option::<serde_json::Value>::deserialize(noted)?;
    Ok(noted.and_then(|noted| noted.as_str()?.to_owned().try_into().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn header_is_read_and_written() {
        let context: TraceContext = HEADER.parse().unwrap();
        assert_eq!(context.trace, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
        assert_eq!(context.span, Some(0x00f0_67aa_0ba9_02b7));
        assert!(context.is_sampled);
        assert_eq!(context.to_string(), HEADER);
        let begun = TraceContext::root(1, false);
        assert_eq!(begun.to_string().parse(), Ok(begun));
        // A later version may say more.
        let later = HEADER.replacen("00", "01", 1) + "-more";
        assert_eq!(later.parse(), Ok(context));
    }

    #[test]
    fn state_of_other_systems_is_stored_and_passed_on() {
        let plain: TraceContext = HEADER.parse().unwrap();
        let context = plain.clone().with_state(" rojo=00f067aa-1,congo=t61 ");
        assert_eq!(context.to_string(), HEADER);
        let below = context.below(&TurnId::from("t"), SpanKey::Step(0));
        let state = "rojo=00f067aa-1,congo=t61".to_owned();
        let headers: Vec<_> = below.headers().collect();
        let parent = below.to_string();
        assert_eq!(headers, [("traceparent", parent), ("tracestate", state)]);
        let stored = serde_json::to_value(&context).unwrap();
        assert_eq!(
            serde_json::from_value::<TraceContext>(stored.clone()).unwrap(),
            context
        );
        // Earlier versions read what is stored as they read a header.
        assert_eq!(stored.as_str().unwrap().parse(), Ok(plain.clone()));
        for state in ["", "  ", "é=1", "a=\n", &"x".repeat(STATE_BYTES + 1)] {
            assert_eq!(plain.clone().with_state(state), plain, "{state:?}");
        }
        assert_eq!(serde_json::to_value(&plain).unwrap(), HEADER);
    }

    #[test]
    fn what_is_no_header_is_refused() {
        let long = format!("{HEADER}-more");
        let upper = HEADER.to_uppercase();
        let none = HEADER.replacen("00", "ff", 1);
        let zero = HEADER.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32));
        for text in ["", "00", "é", &HEADER[..54], &long, &upper, &none, &zero] {
            assert_eq!(text.parse::<TraceContext>(), Err(NoTraceContext), "{text}");
        }
    }

    #[test]
    fn turn_opens_whatever_its_journal_says_of_its_trace() {
        use crate::event::Event;
        let opened = |trace: serde_json::Value| {
            let cause = serde_json::json!({"cause": "message",
                "message": {"id": "m", "role": "user", "parts": []}});
            let event = serde_json::json!({"event": "turn-opened", "turn": "t", "messageId": "a",
                "cause": cause, "trace": trace});
            match serde_json::from_value(event).unwrap() {
                Event::TurnOpened { trace, .. } => trace,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(opened(HEADER.into()), HEADER.parse().ok());
        for none in [serde_json::Value::Null, "nonsense".into(), 7.into()] {
            assert_eq!(opened(none), None);
        }
    }

    #[test]
    fn spans_of_a_turn_are_named_alike_everywhere() {
        let (context, turn) = (TraceContext::root(7, true), TurnId::from("t"));
        let first = context.span_id(&turn, SpanKey::Stretch(0));
        // Journals are read by later versions, and name the spans that earlier ones exported.
        assert_eq!(first, 0xa849_4bb5_fc4d_e416, "{first:#x}");
        let keys = [
            SpanKey::Stretch(1),
            SpanKey::Step(0),
            SpanKey::Call(&CallId::from("0")),
            SpanKey::Gate(&GateId::from("0")),
        ];
        for key in keys {
            assert_ne!(context.span_id(&turn, key), first, "{key:?}");
        }
    }
}
