//! Provider metadata: the keys that are this project's own, and how later metadata is merged in.

use serde_json::Value;

/// The key of this project's own metadata, which pages are sent.
pub const OURS: &str = "adkStream";

/// The key in it of a call's path: the agents from the root to the one that made the call.
pub const PATH: &str = "path";

/// The key in it of a text that is a transcript of speech: `input` or `output`.
pub const TRANSCRIPT: &str = "transcript";

/// The key in it of the fields that a page added to the body of its request, in the metadata of the
/// message that came with them: those that the agent is to get.
pub const BODY: &str = "body";

/// The key of what a route of the AI SDK's says of a part or call, in the words of its chunks.
pub const AI_SDK: &str = "aiSdk";

/// Later metadata is laid over earlier, key by key.
pub fn merge(all: &mut Option<Value>, newer: Value) {
    match (all, newer) {
        (Some(Value::Object(all)), Value::Object(newer)) => all.extend(newer),
        (all, newer) => *all = Some(newer),
    }
}
