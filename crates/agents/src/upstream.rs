//! An agent of somebody else's, with tools of its own, that answers a POST with a stream of events and
//! keeps nothing: what `ai_sdk` and `ag_ui` have in common.
//!
//! A run is what one POST begins. It ends with the agent's last word, or with calls that somebody has
//! to do something about: a person is asked, or a page runs the tool. The next run then has all answers
//! and outputs at once. What a protocol says is read into [`RunEvent`] by its [`Reader`]; the order of a turn
//! (a step ends with its calls, then their outcomes come, then the next step begins) is made in `step`.
//!
//! Such an agent can't report the outcome of a run that was cut off. So what may have been received is
//! never sent again: calls of unknown outcome are called unknown.
//!
//! # Layout
//!
//! - [`Config`]: where an agent is; [`Remote`]: the agent as configured, whatever protocol it speaks.
//! - `http`: the HTTP; [`RunEvent`], [`ProposedCall`]: what an agent says.
//! - `run`: a run that is being read; `step`: one step of a turn, from its input to its output.

mod config;
mod http;
mod remote;
mod run;
mod run_event;
mod step;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use turn::TraceContext;
use turn::agent::{HistoryItem, StepRequest};

pub use self::config::Config;
pub(crate) use self::remote::Remote;
pub(crate) use self::run_event::{CallState, ProposedCall, RunEvent};
use crate::model::{Failure, Redactor};

/// How an agent is spoken to.
pub(crate) trait Protocol: Send + Sync + 'static {
    /// Reads what it says in a run.
    type Reader: Reader;

    /// What begins a run. `fields` are those of the page's request that the agent gets.
    fn body(&self, request: &StepRequest, fields: Map<String, Value>) -> Result<Value, Failure>;

    /// A reader of the run that a request begins.
    fn reader(&self, request: &StepRequest, redactor: Redactor) -> Self::Reader;

    /// The path at which the agent continues a run that was cut off, if it has one.
    fn resume_path<'a>(&self, request: &'a StepRequest) -> Option<[&'a str; 2]> {
        let _ = request;
        None
    }
}

/// Reads what an agent says in a run.
pub(crate) trait Reader: Send + 'static {
    /// Reads the data of one event.
    fn take(&mut self, data: &str, said: &mut Vec<RunEvent>) -> Result<(), Failure>;

    /// Reads that nothing more comes. A failure, if more should.
    fn end(&mut self, said: &mut Vec<RunEvent>) -> Result<(), Failure>;
}

/// The header that says for whom the agent is asked.
const PRINCIPAL: &str = "x-adk-stream-principal";

/// The header by which an agent that remembers requests knows one again.
const IDEMPOTENCY: &str = "idempotency-key";

/// The headers of a request: for whom it is, and by what it is known again.
pub(crate) fn headers(request: &StepRequest) -> HeaderMap {
    let key = format!("{}-{}", request.turn, steps(request));
    let principal = encoded(request.principal.as_str());
    let headers = [
        (HeaderName::from_static(PRINCIPAL), principal),
        (HeaderName::from_static(IDEMPOTENCY), encoded(&key)),
    ];
    let trace = request.trace.iter().flat_map(TraceContext::headers);
    let trace = trace.map(|(name, value)| (HeaderName::from_static(name), value));
    let headers = headers
        .into_iter()
        .chain(trace)
        .filter_map(|(name, value)| {
            let value = HeaderValue::from_str(&value).ok()?;
            Some((name, value))
        });
    headers.collect()
}

/// A text as a header can carry it: what is not printable ASCII is percent-encoded, as in a URL.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'%' => encoded.push_str("%25"),
            b'!'..=b'~' => encoded.push(byte.into()),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// How many steps the current turn has had.
pub(crate) fn steps(request: &StepRequest) -> usize {
    let steps = request.history.iter().rev();
    steps
        .take_while(|past| matches!(past, HistoryItem::Step { .. }))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_in_a_header_is_readable_where_it_can_be() {
        assert_eq!(encoded("ann@example.com"), "ann@example.com");
        assert_eq!(encoded("次 100%"), "%E6%AC%A1%20100%25");
    }
}
