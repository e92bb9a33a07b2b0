//! Which request a task works for: its id in the log, and where it belongs in a distributed trace.
//!
//! Who serves a request scopes it ([`scope`]); the commands that it gives carry it on, to other servers
//! too, and a turn that it opens is noted in the journal with its trace. An entry is stored in the scope of
//! the request that it is written for, so that who observes the journal can name it.

use std::sync::Arc;

use turn::TraceContext;

tokio::task_local! {
    static CURRENT: Origin;
}

/// Which request something is done for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The request's id, as the log has it. What a turn does by itself is done for the request that set it
    /// going.
    pub request_id: Option<Arc<str>>,
    /// Where the request belongs in a distributed trace, if it is traced. What a turn does by itself has
    /// none.
    pub trace: Option<TraceContext>,
    /// Where the turn belongs that an entry is about, if it was open before and is traced.
    pub turn_trace: Option<TraceContext>,
}

/// Runs a future for a request.
pub async fn scope<F: Future>(origin: Origin, future: F) -> F::Output {
    CURRENT.scope(origin, future).await
}

/// The request that this task works for, as far as it is known.
pub fn current() -> Origin {
    CURRENT.try_with(Origin::clone).unwrap_or_default()
}
