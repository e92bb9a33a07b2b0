//! How a session was set up.

use gemini::live::Setup;
use gemini::{Behavior, Tool};

/// How a session was set up.
#[derive(Debug, Clone)]
pub(super) struct SessionConfig {
    /// The model, without `models/`.
    pub(super) model: String,
    /// Whether it answers in sound.
    pub(super) is_audio: bool,
    /// Whether the user's speech is transcribed.
    pub(super) transcribes_input: bool,
    /// Whether the model's speech is transcribed.
    pub(super) transcribes_output: bool,
    /// Whether thoughts are sent.
    pub(super) includes_thoughts: bool,
    /// Whether the client marks the start and end of speech.
    pub(super) client_marks_activity: bool,
    /// Whether speech breaks off an answer.
    pub(super) can_be_interrupted: bool,
    /// Whether handles are given.
    pub(super) gives_handles: bool,
    /// Whether handles come with the number of the client's messages that they include.
    pub(super) counts_messages: bool,
    /// How long silence lasts until speech has ended.
    pub(super) silence_ms: Option<u64>,
    /// Whether the client begins with a history.
    pub(super) takes_history: bool,
    /// The tools.
    pub(super) tools: Vec<Tool>,
}

impl SessionConfig {
    pub(super) fn new(setup: &Setup) -> Self {
        let config = setup.generation_config.as_ref();
        let modalities = config.map_or(&[][..], |config| &config.response_modalities);
        let thinking = config.and_then(|config| config.thinking_config.as_ref());
        let listening = setup.realtime_input_config.as_ref();
        let detection = listening.and_then(|it| it.automatic_activity_detection.as_ref());
        let resumption = setup.session_resumption.as_ref();
        let model = setup.model.as_deref().unwrap_or_default();
        let is_no_interruption = |handling: &str| handling == "NO_INTERRUPTION";
        Self {
            model: model.strip_prefix("models/").unwrap_or(model).to_owned(),
            is_audio: !modalities.iter().any(|modality| modality == "TEXT"),
            transcribes_input: setup.input_audio_transcription.is_some(),
            transcribes_output: setup.output_audio_transcription.is_some(),
            includes_thoughts: thinking.is_some_and(|it| it.include_thoughts == Some(true)),
            client_marks_activity: detection.is_some_and(|it| it.disabled == Some(true)),
            can_be_interrupted: !listening
                .and_then(|it| it.activity_handling.as_deref())
                .is_some_and(is_no_interruption),
            gives_handles: resumption.is_some(),
            counts_messages: resumption
                .is_some_and(|it| it.rest.get("transparent") == Some(&true.into())),
            silence_ms: detection.and_then(|it| it.silence_duration_ms),
            takes_history: knows_history(model)
                && setup
                    .history_config
                    .as_ref()
                    .is_some_and(|it| it.initial_history_in_client_content == Some(true)),
            tools: setup.tools.clone(),
        }
    }

    /// Whether the model waits for a function.
    pub(super) fn is_blocking(&self, function: &str) -> bool {
        let declared = self
            .tools
            .iter()
            .flat_map(|tool| &tool.function_declarations);
        let mut declared = declared.filter(|it| it.name.as_deref() == Some(function));
        let behavior = declared.next().and_then(|it| it.behavior.as_ref());
        is_blocking(&self.model, behavior)
    }

    /// Whether it waits for any.
    pub(super) fn waits(&self) -> bool {
        let declared = self
            .tools
            .iter()
            .flat_map(|tool| &tool.function_declarations);
        let mut waits = declared.map(|it| is_blocking(&self.model, it.behavior.as_ref()));
        waits.any(|waits| waits)
    }
}

/// Up to 3.1 a model waits unless the function is declared NON_BLOCKING, and 3.1 does so even then; from 3.8 on it
/// waits only for functions that are declared BLOCKING.
fn is_blocking(model: &str, behavior: Option<&Behavior>) -> bool {
    let version = version(model);
    match behavior {
        Some(Behavior::NonBlocking) => version == Some((3, 1)),
        Some(Behavior::Blocking) => true,
        _ => version.is_none_or(|version| version < (3, 8)),
    }
}

/// Whether a model can be given a history that it does not answer. It came with Gemini 3; clients that ask
/// Gemini 2.5 for it get an answer all the same.
fn knows_history(model: &str) -> bool {
    version(model.strip_prefix("models/").unwrap_or(model)).is_some_and(|it| it >= (3, 0))
}

/// The first `3.8` in a name, or a plain `3`.
fn version(model: &str) -> Option<(u32, u32)> {
    let mut numbers = model.split('-').filter_map(|word| {
        let (major, minor) = word.split_once('.').unwrap_or((word, "0"));
        Some((major.parse().ok()?, minor.parse().ok()?))
    });
    numbers.next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn config(setup: Value) -> SessionConfig {
        SessionConfig::new(&serde_json::from_value(setup).unwrap())
    }

    #[test]
    fn models_differ_in_what_they_wait_for() {
        let non_blocking = Some(&Behavior::NonBlocking);
        let blocking = Some(&Behavior::Blocking);
        for (model, declared, waits) in [
            ("gemini-live-2.5-flash-preview", None, true),
            ("gemini-live-2.5-flash-preview", non_blocking, false),
            ("gemini-3.1-flash-live", non_blocking, true),
            ("gemini-3.8-flash-live", None, false),
            ("gemini-3.8-flash-live", blocking, true),
            ("gemini-4-argon-live", None, false),
            ("gemini-live", None, true),
        ] {
            assert_eq!(is_blocking(model, declared), waits, "{model} {declared:?}");
        }
    }

    #[test]
    fn a_setup_is_read_in_both_letter_cases() {
        let setup = config(json!({
            "model": "models/gemini-live-2.5-flash-preview",
            "generation_config": {"response_modalities": ["TEXT"], "thinkingConfig": {"include_thoughts": true}},
            "realtimeInputConfig": {
                "automatic_activity_detection": {"disabled": true, "silenceDurationMs": 300},
                "activity_handling": "NO_INTERRUPTION",
            },
            "session_resumption": {"transparent": true},
            "inputAudioTranscription": {},
        }));
        assert_eq!(setup.model, "gemini-live-2.5-flash-preview");
        assert!(!setup.is_audio && setup.includes_thoughts && setup.client_marks_activity);
        assert!(setup.gives_handles && setup.counts_messages && setup.transcribes_input);
        assert!(!setup.transcribes_output && !setup.can_be_interrupted);
        assert_eq!(setup.silence_ms, Some(300));
    }

    #[test]
    fn sound_is_the_default() {
        let setup = config(json!({"model": "models/gemini-live-2.5-flash-preview"}));
        assert!(setup.is_audio && setup.can_be_interrupted && !setup.gives_handles);
    }
}
