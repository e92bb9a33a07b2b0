//! Which requests are traced: where each belongs in a distributed trace, and whether it is recorded.

use axum::http::{HeaderMap, HeaderName};
use serde_json::{Map, Value};
use turn::TraceContext;

/// The header of W3C Trace Context that says where a request belongs.
const PARENT: HeaderName = HeaderName::from_static("traceparent");

/// The header with what other systems of the trace have to say.
const STATE: HeaderName = HeaderName::from_static("tracestate");

/// Places requests in traces. A trace that a caller began continues, recorded or not as the caller says;
/// others begin here, and a share of them is recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceSampler {
    ratio: f64,
}

impl TraceSampler {
    /// Records a share of the traces that begin here: 1 is all of them, and 0 none.
    pub fn new(ratio: f64) -> Self {
        Self { ratio }
    }

    /// Where a request belongs.
    pub(crate) fn place(self, headers: &HeaderMap) -> TraceContext {
        let mut given = headers.get_all(PARENT).iter();
        // Two of them say nothing.
        let given = given.next().filter(|_| given.next().is_none());
        let Some(given) = given.and_then(|given| continued(given.to_str().ok()?)) else {
            return self.begin();
        };
        let states = headers.get_all(STATE).iter();
        let states: Vec<&str> = states.filter_map(|state| state.to_str().ok()).collect();
        given.with_state(&states.join(","))
    }

    /// Where a frame of a socket belongs, if its headers say so.
    pub(crate) fn place_frame(headers: &Map<String, Value>) -> Option<TraceContext> {
        let header = |name: &HeaderName| {
            let mut found = headers
                .iter()
                .filter(|(key, _)| key.eq_ignore_ascii_case(name.as_str()));
            found.next().and_then(|(_, value)| value.as_str())
        };
        let given = continued(header(&PARENT)?)?;
        Some(given.with_state(header(&STATE).unwrap_or_default()))
    }

    /// A trace that begins here.
    pub(crate) fn begin(self) -> TraceContext {
        let mut bytes = [0; 16];
        if getrandom::fill(&mut bytes).is_err() {
            tracing::error!("the operating system gives no randomness");
        }
        let trace = u128::from_be_bytes(bytes).max(1);
        TraceContext::root(trace, self.is_recorded(trace))
    }

    /// By the id alone, so that every service with the same ratio decides the same. The last 56 bits are
    /// those that W3C wants to be random.
    fn is_recorded(self, trace: u128) -> bool {
        const RANDOM: u128 = (1 << 56) - 1;
        let place = (trace & RANDOM) as f64 / RANDOM as f64;
        self.ratio >= 1.0 || place < self.ratio
    }
}

/// A trace that a caller began.
fn continued(parent: &str) -> Option<TraceContext> {
    let given: TraceContext = parent.trim().parse().ok()?;
    given.span.is_some().then_some(given)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use serde_json::json;

    use super::*;

    const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

    #[test]
    fn trace_of_a_caller_goes_on_as_the_caller_says() {
        let sampler = TraceSampler::new(1.0);
        let mut headers = HeaderMap::from_iter([(PARENT, HeaderValue::from_static(GIVEN))]);
        assert_eq!(sampler.place(&headers).to_string(), GIVEN);
        for state in ["a=1", "b=2, c=3"] {
            headers.append(STATE, HeaderValue::from_static(state));
        }
        let state = sampler.place(&headers).state;
        assert_eq!(state.as_deref(), Some("a=1,b=2, c=3"));
        headers.append(PARENT, HeaderValue::from_static(GIVEN));
        assert_eq!(sampler.place(&headers).span, None);
        for wrong in ["", "00-00-00-00", "é"] {
            let wrong = HeaderValue::from_bytes(wrong.as_bytes()).unwrap();
            let headers =
                HeaderMap::from_iter([(PARENT, wrong), (STATE, HeaderValue::from_static("a=1"))]);
            let begun = sampler.place(&headers);
            assert!(begun.span.is_none() && begun.is_sampled);
            // The state of a trace that is not continued is not passed on.
            assert_eq!(begun.state, None);
        }
    }

    #[test]
    fn frame_says_where_it_belongs_in_its_headers() {
        let place = |headers: Value| {
            let headers = headers.as_object().cloned().unwrap_or_default();
            TraceSampler::place_frame(&headers)
        };
        let placed = place(json!({"Traceparent": GIVEN, "tracestate": "a=1"})).unwrap();
        assert_eq!(placed.to_string(), GIVEN);
        assert_eq!(placed.state.as_deref(), Some("a=1"));
        for none in [
            json!({}),
            json!({"traceparent": "x"}),
            json!({"traceparent": 7}),
        ] {
            assert_eq!(place(none.clone()), None, "{none}");
        }
    }

    #[test]
    fn share_is_recorded() {
        let recorded = |ratio| {
            let sampler = TraceSampler::new(ratio);
            let traces = (0..4000).map(|_| sampler.begin());
            traces.filter(|trace| trace.is_sampled).count()
        };
        assert_eq!((recorded(0.0), recorded(1.0)), (0, 4000));
        // Twelve standard deviations to either side.
        assert!((625..=1375).contains(&recorded(0.25)));
    }
}
