//! What is kept for a chat.

use gemini::FunctionCall;

use super::synced_history::SyncedHistory;
use super::upstream::Upstream;
use crate::gemini::Failure;

/// What outlives a step: the session, and how much of the history it has.
#[derive(Default)]
pub(super) struct SessionState {
    pub(super) upstream: Option<Upstream>,
    pub(super) synced: Option<SyncedHistory>,
    /// Whether the model is in the middle of an answer that is not read any more.
    pub(super) is_answering: bool,
    /// Whether the session has only a part of `synced`: a step was dropped while it sent
    /// its input.
    pub(super) is_partly_synced: bool,
    /// Whether the connection will be closed.
    pub(super) is_leaving: bool,
    /// Calls that came when no step was there to make them.
    pub(super) late: Vec<FunctionCall>,
}

impl SessionState {
    /// The session, which a step has opened.
    pub(super) fn upstream(&mut self) -> Result<&mut Upstream, Failure> {
        self.upstream.as_mut().ok_or_else(Failure::cut_off)
    }
}
