//! Where what a task does belongs in a distributed trace.
//!
//! Who serves a request scopes it ([`scope`]); the commands that it gives carry it on, to other servers
//! too, and a turn that it opens is noted in the journal with it.

use turn::TraceContext;

tokio::task_local! {
    static CURRENT: TraceContext;
}

/// Runs a future at a place in a trace.
pub async fn scope<F: Future>(context: TraceContext, future: F) -> F::Output {
    CURRENT.scope(context, future).await
}

/// The place at which this task runs, if it is traced.
pub fn current() -> Option<TraceContext> {
    CURRENT.try_with(|context| *context).ok()
}
