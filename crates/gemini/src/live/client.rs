//! The client's messages.

use crate::content::{Blob, Content};
use crate::function::{FunctionResponse, Tool};
use crate::generation::GenerationConfig;
use crate::record::record;

record! {
    /// A frame of the client.
    pub struct ClientMessage {
        /// The first of all: who is to answer, and how.
        setup: Option<Setup>,
        /// Something was said.
        client_content: Option<ClientContent>,
        /// Audio, video or text, as it is captured.
        realtime_input: Option<RealtimeInput>,
        /// Function responses.
        tool_response: Option<ToolResponse>,
    }

    /// Who is to answer, and how.
    pub struct Setup {
        /// The model, as `models/NAME`.
        model: Option<String>,
        /// How to answer.
        generation_config: Option<GenerationConfig>,
        /// The system instruction.
        system_instruction: Option<Content>,
        /// What it may use.
        tools: Vec<Tool>,
        /// Asks for handles, and resumes the session of a handle.
        session_resumption: Option<SessionResumption>,
        /// Asks for the transcript of the user's speech.
        input_audio_transcription: Option<AudioTranscriptionConfig>,
        /// Asks for the transcript of the model's speech.
        output_audio_transcription: Option<AudioTranscriptionConfig>,
        /// How input is listened to.
        realtime_input_config: Option<RealtimeInputConfig>,
        /// What is forgotten when the session gets long.
        context_window_compression: Option<ContextWindowCompression>,
        /// Whether the client begins with what was said before.
        history_config: Option<HistoryConfig>,
    }

    /// Whether the client begins with what was said before.
    pub struct HistoryConfig {
        /// It does, by clientContent up to the first that is complete. None of it is answered.
        initial_history_in_client_content: Option<bool>,
    }

    /// Asks for handles, and resumes the session of a handle.
    pub struct SessionResumption {
        /// The handle.
        handle: Option<String>,
    }

    /// Asks for a transcription; so far it has no setting.
    pub struct AudioTranscriptionConfig {}

    /// How input is listened to.
    pub struct RealtimeInputConfig {
        /// Whether and how the model detects speech.
        automatic_activity_detection: Option<AutomaticActivityDetection>,
        /// What speech does to an answer, such as `NO_INTERRUPTION`.
        activity_handling: Option<String>,
        /// What belongs to a turn, such as `TURN_INCLUDES_ALL_INPUT`.
        turn_coverage: Option<String>,
    }

    /// How the model detects speech.
    pub struct AutomaticActivityDetection {
        /// It does not: the client marks it, by activityStart and activityEnd.
        disabled: Option<bool>,
        /// How easily speech is seen to start.
        start_of_speech_sensitivity: Option<String>,
        /// How easily it is seen to end.
        end_of_speech_sensitivity: Option<String>,
        /// How long speech must last to have started, in milliseconds.
        prefix_padding_ms: Option<u64>,
        /// How long silence must last for speech to have ended, in milliseconds.
        silence_duration_ms: Option<u64>,
    }

    /// What is forgotten when the session gets long.
    pub struct ContextWindowCompression {
        /// From how many tokens on.
        trigger_tokens: Option<u64>,
        /// The oldest.
        sliding_window: Option<SlidingWindow>,
    }

    /// Forgets the oldest.
    pub struct SlidingWindow {
        /// Down to how many tokens.
        target_tokens: Option<u64>,
    }

    /// Something was said.
    pub struct ClientContent {
        /// What.
        turns: Vec<Content>,
        /// Whether the model is to answer now.
        turn_complete: Option<bool>,
    }

    /// Audio, video or text, as it is captured.
    pub struct RealtimeInput {
        /// Sound.
        audio: Option<Blob>,
        /// An image.
        video: Option<Blob>,
        /// Text.
        text: Option<String>,
        /// The user starts to speak, where the model does not detect it.
        activity_start: Option<Activity>,
        /// The user stops.
        activity_end: Option<Activity>,
        /// The microphone is off.
        audio_stream_end: Option<bool>,
        /// The old name of audio and video, which Google refuses by now.
        media_chunks: Vec<Blob>,
    }

    /// That something starts or ends; it has no field.
    pub struct Activity {}

    /// Function responses.
    pub struct ToolResponse {
        /// One for each call, though not all at once.
        function_responses: Vec<FunctionResponse>,
    }
}
