//! Which requests are traced: where each belongs in a distributed trace, and whether it is recorded.

use axum::http::{HeaderMap, HeaderName};
use turn::TraceContext;

/// The header of W3C Trace Context.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("traceparent");

/// Places requests in traces. A trace that a caller began goes on, recorded or not as the caller says;
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
        let mut given = headers.get_all(HEADER).iter();
        // Two of them say nothing.
        let given = given.next().filter(|_| given.next().is_none());
        let given = given.and_then(|given| given.to_str().ok()?.parse::<TraceContext>().ok());
        given
            .filter(|given| given.span.is_some())
            .unwrap_or_else(|| self.begin())
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

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

    #[test]
    fn trace_of_a_caller_goes_on_as_the_caller_says() {
        let sampler = TraceSampler::new(1.0);
        let mut headers = HeaderMap::from_iter([(HEADER, HeaderValue::from_static(GIVEN))]);
        assert_eq!(sampler.place(&headers).to_string(), GIVEN);
        headers.append(HEADER, HeaderValue::from_static(GIVEN));
        assert_eq!(sampler.place(&headers).span, None);
        for wrong in ["", "00-00-00-00", "é"] {
            let wrong = HeaderValue::from_bytes(wrong.as_bytes()).unwrap();
            let headers = HeaderMap::from_iter([(HEADER, wrong)]);
            let begun = sampler.place(&headers);
            assert!(begun.span.is_none() && begun.is_sampled);
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
