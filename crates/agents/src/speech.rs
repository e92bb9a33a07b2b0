//! Sound, as pages get it.

use gemini::Blob;
use serde_json::{Value, json};
use turn::agent::AgentEvent;
use turn::metadata::{OURS, TRANSCRIPT};

use crate::gemini::standard_base64;

/// What Gemini's sound is, where it does not say so.
const SAMPLE_RATE: u64 = 24_000;

/// The source of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Voice {
    #[default]
    Nobody,
    /// The model's, written.
    Text,
    /// The transcript of the user's speech.
    Input,
    /// The model's, spoken.
    Output,
}

/// The sound of a model in a step.
#[derive(Debug, Default)]
pub(crate) struct Sound {
    pub(crate) chunks: u64,
    bytes: u64,
    sample_rate: u64,
}

impl Sound {
    /// A piece of it, for the pages that listen at this moment.
    pub(crate) fn say(&mut self, blob: &Blob) -> AgentEvent {
        let kind = blob.mime_type.as_deref().unwrap_or_default();
        let rate = kind
            .split("rate=")
            .nth(1)
            .and_then(|rate| rate.parse().ok());
        let rate = rate.unwrap_or(SAMPLE_RATE);
        let content = standard_base64(blob.data.as_deref().unwrap_or_default());
        self.chunks += 1;
        self.bytes += u64::try_from(content.trim_end_matches('=').len()).unwrap_or(0) * 3 / 4;
        self.sample_rate = rate;
        AgentEvent::Signal {
            name: "pcm".to_owned(),
            data: json!({
                "content": content, "sampleRate": rate, "channels": 1, "bitDepth": 16,
            }),
        }
    }

    /// How much it was, for the message.
    pub(crate) fn metadata(&self) -> Option<Value> {
        let Self {
            chunks,
            bytes,
            sample_rate,
        } = self;
        #[expect(clippy::cast_precision_loss, reason = "seconds of speech are few")]
        let duration = (bytes / 2) as f64 / (*sample_rate).max(1) as f64;
        let audio = json!({
            "chunks": chunks, "bytes": bytes, "sampleRate": sample_rate, "duration": duration,
        });
        (*chunks > 0).then_some(audio)
    }
}

/// Whether a file is sound that is to be played at once.
pub(crate) fn is_sound(blob: &Blob) -> bool {
    let kind = blob.mime_type.as_deref().unwrap_or_default();
    kind.starts_with("audio/pcm") || kind.starts_with("audio/L16")
}

/// What was not played yet is to be dropped.
pub(crate) fn interrupted() -> AgentEvent {
    AgentEvent::Signal {
        name: "interrupted".to_owned(),
        data: json!({}),
    }
}

/// What is said of a text that was spoken: whose speech it is, `input` or `output`.
pub(crate) fn transcript(whose: &str) -> Value {
    json!({ OURS: { TRANSCRIPT: whose } })
}
