//! Which releases of the AI SDK must accept a chunk.
//!
//! The early releases (6.0.0 to 6.0.230, 7.0.0 to 7.0.31) validate chunks with strict objects: one
//! field that they do not know ends the stream. Pages that were built and cached then are still in
//! browsers, so the default sends only what all of them accept.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::chunk::{Chunk, FinishReason};

/// Which releases of the AI SDK a stream is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Every release of 6 and 7, the strict early ones included.
    #[default]
    Shared,
    /// The newest 7: everything may be said.
    V7,
}

impl Profile {
    /// The chunk as this profile sends it: fields that some release would refuse are left out, and a
    /// chunk whose type some release does not know is not said at all.
    ///
    /// What is lost is decoration, with one exception: a [`Chunk::ResetStep`] that is not said
    /// leaves the step's parts in the page.
    pub fn narrow(self, mut chunk: Chunk) -> Option<Chunk> {
        if self == Self::V7 {
            return Some(chunk);
        }
        match &mut chunk {
            Chunk::ResetStep
            | Chunk::ReasoningFile(_)
            | Chunk::Custom(_)
            | Chunk::SteeringMessage(_)
            | Chunk::ToolApprovalResponse(_) => return None,
            Chunk::Finish(finish) => {
                if finish.finish_reason == Some(FinishReason::Interrupted) {
                    finish.finish_reason = Some(FinishReason::Other);
                }
            }
            Chunk::Abort(abort) => abort.reason = None,
            Chunk::TextEnd(end) => end.citations = None,
            Chunk::ToolInputStart(start) => {
                start.input_encoding = None;
                start.provider_metadata = None;
                start.tool_metadata = None;
            }
            Chunk::ToolInputAvailable(available) => available.tool_metadata = None,
            Chunk::ToolInputError(error) => error.tool_metadata = None,
            Chunk::ToolApprovalRequest(request) => {
                request.approval_descriptor = None;
                request.input_schema_input = None;
                request.reason = None;
                request.is_automatic = None;
                request.signature = None;
            }
            Chunk::ToolOutputAvailable(available) => {
                available.provider_metadata = None;
                available.tool_metadata = None;
            }
            Chunk::ToolOutputError(error) => {
                error.provider_metadata = None;
                error.tool_metadata = None;
            }
            Chunk::Start(_)
            | Chunk::StartStep
            | Chunk::FinishStep
            | Chunk::Error(_)
            | Chunk::MessageMetadata(_)
            | Chunk::TextStart(_)
            | Chunk::TextDelta(_)
            | Chunk::ReasoningStart(_)
            | Chunk::ReasoningDelta(_)
            | Chunk::ReasoningEnd(_)
            | Chunk::SourceUrl(_)
            | Chunk::SourceDocument(_)
            | Chunk::File(_)
            | Chunk::ToolInputDelta(_)
            | Chunk::ToolOutputDenied(_) => {}
            Chunk::Data(data) => data.extra.clear(),
        }
        Some(chunk)
    }

    /// The same for a chunk that is shared: what is said as it is stays shared.
    pub fn narrow_shared(self, chunk: &Arc<Chunk>) -> Option<Arc<Chunk>> {
        match &**chunk {
            // Nearly all of a stream, and never changed.
            Chunk::TextDelta(_) | Chunk::ReasoningDelta(_) => Some(chunk.clone()),
            _ if self == Self::V7 => Some(chunk.clone()),
            chunk => self.narrow(chunk.clone()).map(Arc::new),
        }
    }

    /// Whether the chunk can be said as it is.
    pub fn accepts(self, chunk: &Chunk) -> bool {
        self.narrow(chunk.clone()).as_ref() == Some(chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn narrowed(value: serde_json::Value) -> Option<serde_json::Value> {
        let chunk = Profile::Shared.narrow(Chunk::decode(value).unwrap())?;
        Some(serde_json::to_value(chunk).unwrap())
    }

    #[test]
    fn shared_profile_drops_what_strict_releases_refuse() {
        assert_eq!(
            narrowed(
                json!({"type": "tool-approval-request", "approvalId": "a", "toolCallId": "c",
                            "reason": "large", "isAutomatic": true, "signature": "s"})
            ),
            Some(json!({"type": "tool-approval-request", "approvalId": "a", "toolCallId": "c"}))
        );
        assert_eq!(
            narrowed(json!({"type": "finish", "finishReason": "interrupted"})),
            Some(json!({"type": "finish", "finishReason": "other"}))
        );
        assert_eq!(narrowed(json!({"type": "reset-step"})), None);
        assert_eq!(
            narrowed(
                json!({"type": "tool-output-available", "toolCallId": "c", "output": null, "preliminary": true})
            ),
            Some(
                json!({"type": "tool-output-available", "toolCallId": "c", "output": null, "preliminary": true})
            )
        );
    }

    #[test]
    fn v7_says_everything() {
        let chunk = Chunk::decode(json!({"type": "abort", "reason": "stopped"})).unwrap();
        assert_eq!(Profile::V7.narrow(chunk.clone()), Some(chunk.clone()));
        assert!(Profile::V7.accepts(&chunk));
        assert!(!Profile::Shared.accepts(&chunk));
    }

    #[test]
    fn shared_chunk_is_narrowed_like_any_other() {
        for value in [
            json!({"type": "text-delta", "id": "1", "delta": "a"}),
            json!({"type": "reasoning-delta", "id": "1", "delta": "a"}),
            json!({"type": "abort", "reason": "stopped"}),
            json!({"type": "reset-step"}),
        ] {
            let chunk = Chunk::decode(value).unwrap();
            for profile in [Profile::Shared, Profile::V7] {
                let shared = profile.narrow_shared(&Arc::new(chunk.clone()));
                assert_eq!(shared.as_deref(), profile.narrow(chunk.clone()).as_ref());
            }
        }
    }
}
