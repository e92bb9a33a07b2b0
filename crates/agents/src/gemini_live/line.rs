//! What is kept for a chat.

use gemini::FunctionCall;

use super::told::Told;
use super::upstream::Upstream;
use crate::gemini::Failure;

/// What outlives a step: the session, and what it was told.
#[derive(Default)]
pub(super) struct Line {
    pub(super) upstream: Option<Upstream>,
    pub(super) told: Option<Told>,
    /// Whether the model is in the middle of an answer that nobody hears any more.
    pub(super) is_talking: bool,
    /// Whether the session was told only a part of what `told` would say: a step was let go of in the
    /// middle of asking.
    pub(super) is_half_told: bool,
    /// Whether the connection will be closed.
    pub(super) is_leaving: bool,
    /// Calls that came when no step was there to make them.
    pub(super) late: Vec<FunctionCall>,
}

impl Line {
    /// The session, which a step has opened.
    pub(super) fn upstream(&mut self) -> Result<&mut Upstream, Failure> {
        self.upstream.as_mut().ok_or_else(Failure::cut_off)
    }
}
