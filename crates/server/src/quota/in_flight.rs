//! Requests in flight: from the moment when it is known who sends one until its response is written
//! to the end, or dropped.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::Response;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use turn::Principal;

/// How many requests each principal has in flight. Who has none is not in it.
#[derive(Default)]
pub(super) struct Counts(Mutex<HashMap<Principal, u32>>);

impl Counts {
    /// Counts one more, unless there are too many.
    pub(super) fn enter(
        counts: &Arc<Self>,
        principal: &Principal,
        limit: Option<NonZeroU32>,
    ) -> Option<InFlight> {
        let Some(limit) = limit else {
            return Some(InFlight(None));
        };
        let mut all = counts.lock();
        match all.get_mut(principal) {
            Some(count) if *count >= limit.get() => return None,
            Some(count) => *count += 1,
            None => {
                all.insert(principal.clone(), 1);
            }
        }
        drop(all);
        Some(InFlight(Some((Arc::clone(counts), principal.clone()))))
    }

    fn leave(&self, principal: &Principal) {
        let mut all = self.lock();
        if let Some(count) = all.get_mut(principal) {
            *count -= 1;
            if *count == 0 {
                all.remove(principal);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Principal, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in flight. It is over when this is dropped.
pub(crate) struct InFlight(Option<(Arc<Counts>, Principal)>);

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some((counts, principal)) = &self.0 {
            counts.leave(principal);
        }
    }
}

/// The permits of a request, once its principal is known. Its response holds them
/// until the last byte.
#[derive(Clone, Default)]
pub(crate) struct Slot(Arc<OnceLock<InFlight>>);

impl Slot {
    /// A slot that goes with a request.
    pub(crate) fn of(request: &mut Request) -> Self {
        let slot = Self::default();
        request.extensions_mut().insert(slot.clone());
        slot
    }

    /// Stores the permits of a request.
    pub(crate) fn keep(&self, in_flight: InFlight) {
        // A request is let in once; a second time counts as nothing.
        let _ = self.0.set(in_flight);
    }

    /// Whether the request was let in.
    pub(crate) fn is_taken(&self) -> bool {
        self.0.get().is_some()
    }

    /// The response, which is in flight until it is written.
    pub(crate) fn hold(self, response: Response) -> Response {
        match self.is_taken() {
            true => response.map(|body| Body::new(CountedBody { body, _slot: self })),
            false => response,
        }
    }
}

/// A body that keeps its request in flight.
struct CountedBody {
    body: Body,
    _slot: Slot,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
