//! How to answer: sampling, thinking, safety, speech.

use serde_json::Value;

use crate::record::record;

record! {
    /// How to answer.
    pub struct GenerationConfig {
        /// How freely, from 0 to 2.
        temperature: Option<f64>,
        /// From how much of the probability to choose.
        top_p: Option<f64>,
        /// From how many tokens to choose.
        top_k: Option<f64>,
        /// How many answers to give.
        candidate_count: Option<u64>,
        /// How long an answer may be; thoughts count.
        max_output_tokens: Option<u64>,
        /// Where to stop.
        stop_sequences: Vec<String>,
        /// Where to start from, for answers that repeat.
        seed: Option<i64>,
        /// How to think.
        thinking_config: Option<ThinkingConfig>,
        /// In what to answer: `TEXT`, `AUDIO`, `IMAGE`.
        response_modalities: Vec<String>,
        /// In what format to answer, such as `application/json`.
        response_mime_type: Option<String>,
        /// The schema of the answer, in Google's subset of OpenAPI.
        response_schema: Option<Value>,
        /// The schema of the answer, as JSON Schema.
        response_json_schema: Option<Value>,
        /// The voice.
        speech_config: Option<SpeechConfig>,
    }

    /// How to think.
    pub struct ThinkingConfig {
        /// Whether thoughts are included.
        include_thoughts: Option<bool>,
        /// How many tokens to think for: 0 not at all, -1 as many as it likes. Up to Gemini 2.5.
        thinking_budget: Option<i64>,
        /// How hard to think, such as `low` or `high`. From Gemini 3.
        thinking_level: Option<String>,
    }

    /// What to block.
    pub struct SafetySetting {
        /// What kind of harm, such as `HARM_CATEGORY_HARASSMENT`.
        category: Option<String>,
        /// From which probability, such as `BLOCK_ONLY_HIGH`.
        threshold: Option<String>,
    }

    /// The voice.
    pub struct SpeechConfig {
        /// With which voice.
        voice_config: Option<VoiceConfig>,
        /// In which language, such as `en-US`.
        language_code: Option<String>,
    }

    /// A voice.
    pub struct VoiceConfig {
        /// One of Google's.
        prebuilt_voice_config: Option<PrebuiltVoiceConfig>,
    }

    /// One of Google's voices.
    pub struct PrebuiltVoiceConfig {
        /// Its name, such as `Kore`.
        voice_name: Option<String>,
    }
}
