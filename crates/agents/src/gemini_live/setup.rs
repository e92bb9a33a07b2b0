//! The first message of a session.

use gemini::live::{
    AudioTranscriptionConfig, AutomaticActivityDetection, ContextWindowCompression,
    RealtimeInputConfig, SessionResumption, Setup, SlidingWindow,
};
use gemini::{
    Behavior, Content, FunctionDeclaration, GenerationConfig, Part, PrebuiltVoiceConfig,
    SpeechConfig, Tool, VoiceConfig,
};
use turn::agent::{self, ToolDeclaration};

use super::config::{Config, Modality};
use crate::gemini::declaration;

/// Who is to answer, and how; from where a handle left off, if there is one.
pub(super) fn setup(config: &Config, tools: &[ToolDeclaration], handle: Option<&str>) -> Setup {
    let is_spoken = config.modality == Modality::Audio;
    let modality = if is_spoken { "AUDIO" } else { "TEXT" };
    let voice = config.voice.as_ref().filter(|_| is_spoken);
    let declarations: Vec<_> = tools
        .iter()
        .map(|tool| FunctionDeclaration {
            behavior: Some(match behavior(config, tool) {
                agent::Behavior::Blocking => Behavior::Blocking,
                agent::Behavior::NonBlocking => Behavior::NonBlocking,
            }),
            ..declaration(tool)
        })
        .collect();
    let tools = (!declarations.is_empty()).then(|| Tool {
        function_declarations: declarations,
        ..Tool::default()
    });
    let synced = config.common.system_instruction.as_ref();
    let transcription = AudioTranscriptionConfig::default();
    Setup {
        model: Some(model(&config.common.model)),
        generation_config: Some(GenerationConfig {
            temperature: config.common.temperature,
            max_output_tokens: config.common.max_output_tokens,
            thinking_config: config.common.thinking.clone(),
            response_modalities: vec![modality.to_owned()],
            speech_config: voice.map(|voice| speech(voice)),
            ..GenerationConfig::default()
        }),
        system_instruction: synced.map(|text| Content {
            parts: vec![Part::text(text)],
            ..Content::default()
        }),
        tools: tools.into_iter().collect(),
        session_resumption: Some(SessionResumption {
            handle: handle.map(str::to_owned),
            ..SessionResumption::default()
        }),
        input_audio_transcription: Some(transcription.clone()),
        output_audio_transcription: is_spoken.then_some(transcription),
        // The page marks the start and end of speech: it has a button for it.
        realtime_input_config: Some(RealtimeInputConfig {
            automatic_activity_detection: Some(AutomaticActivityDetection {
                disabled: Some(true),
                ..AutomaticActivityDetection::default()
            }),
            ..RealtimeInputConfig::default()
        }),
        // Else a session that is spoken in ends after a quarter of an hour.
        context_window_compression: Some(ContextWindowCompression {
            sliding_window: Some(SlidingWindow::default()),
            ..ContextWindowCompression::default()
        }),
        ..Setup::default()
    }
}

/// Whether the model waits for calls of a tool.
pub(super) fn behavior(config: &Config, tool: &ToolDeclaration) -> agent::Behavior {
    config.behavior.unwrap_or(tool.behavior)
}

fn model(name: &str) -> String {
    match name.contains('/') {
        true => name.to_owned(),
        false => format!("models/{name}"),
    }
}

fn speech(voice: &str) -> SpeechConfig {
    let voice = PrebuiltVoiceConfig {
        voice_name: Some(voice.to_owned()),
        ..PrebuiltVoiceConfig::default()
    };
    let voice = VoiceConfig {
        prebuilt_voice_config: Some(voice),
        ..VoiceConfig::default()
    };
    SpeechConfig {
        voice_config: Some(voice),
        ..SpeechConfig::default()
    }
}
