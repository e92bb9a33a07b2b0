//! The server's messages.

use crate::content::Content;
use crate::function::FunctionCall;
use crate::grounding::GroundingMetadata;
use crate::record::record;
use crate::seconds::Seconds;
use crate::usage::UsageMetadata;

record! {
    /// A frame of the server.
    pub struct ServerMessage {
        /// The answer to the setup: now it may begin.
        setup_complete: Option<SetupComplete>,
        /// The model's output.
        server_content: Option<ServerContent>,
        /// What it wants called.
        tool_call: Option<ToolCall>,
        /// What it wants called no more.
        tool_call_cancellation: Option<ToolCallCancellation>,
        /// The connection will be closed.
        go_away: Option<GoAway>,
        /// A handle to resume the session with.
        session_resumption_update: Option<SessionResumptionUpdate>,
        /// The tokens so far, beside any of these.
        usage_metadata: Option<UsageMetadata>,
    }

    /// The session is set up.
    pub struct SetupComplete {
        /// Its id.
        session_id: Option<String>,
    }

    /// The model's output.
    pub struct ServerContent {
        /// More of it.
        model_turn: Option<Content>,
        /// The transcript of the user's speech.
        input_transcription: Option<Transcription>,
        /// The transcript of the model's speech.
        output_transcription: Option<Transcription>,
        /// The user spoke over it: what is left of the answer is dropped.
        interrupted: Option<bool>,
        /// All was made, though perhaps not all was played.
        generation_complete: Option<bool>,
        /// The turn is the user's.
        turn_complete: Option<bool>,
        /// Why, if there is a reason.
        turn_complete_reason: Option<String>,
        /// It has no output, since it waits for more.
        waiting_for_input: Option<bool>,
        /// What it rests on.
        grounding_metadata: Option<GroundingMetadata>,
    }

    /// The transcript of speech.
    pub struct Transcription {
        /// More of the text.
        text: Option<String>,
        /// Whether that was all.
        finished: Option<bool>,
    }

    /// What the model wants called.
    pub struct ToolCall {
        /// The calls.
        function_calls: Vec<FunctionCall>,
    }

    /// What the model wants called no more.
    pub struct ToolCallCancellation {
        /// The ids of the calls.
        ids: Vec<String>,
    }

    /// The connection will be closed.
    pub struct GoAway {
        /// When.
        time_left: Option<Seconds>,
    }

    /// A handle to resume the session with.
    pub struct SessionResumptionUpdate {
        /// The handle; empty where the session can't be resumed at this moment.
        new_handle: Option<String>,
        /// Whether it can.
        resumable: Option<bool>,
        /// The last message that the session has received, where the client asked for it.
        last_consumed_client_message_index: Option<u64>,
    }
}
