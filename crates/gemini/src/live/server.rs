//! What the server says.

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
        /// What the model says.
        server_content: Option<ServerContent>,
        /// What it wants called.
        tool_call: Option<ToolCall>,
        /// What it wants called no more.
        tool_call_cancellation: Option<ToolCallCancellation>,
        /// The connection will be closed.
        go_away: Option<GoAway>,
        /// A handle to go on with elsewhere.
        session_resumption_update: Option<SessionResumptionUpdate>,
        /// The tokens so far, beside any of these.
        usage_metadata: Option<UsageMetadata>,
    }

    /// The session stands.
    pub struct SetupComplete {
        /// Its id.
        session_id: Option<String>,
    }

    /// What the model says.
    pub struct ServerContent {
        /// More of it.
        model_turn: Option<Content>,
        /// What the user said, in words.
        input_transcription: Option<Transcription>,
        /// What the model says, in words.
        output_transcription: Option<Transcription>,
        /// The user spoke over it: what is left of the answer is dropped.
        interrupted: Option<bool>,
        /// All was made, though perhaps not all was played.
        generation_complete: Option<bool>,
        /// The turn is the user's.
        turn_complete: Option<bool>,
        /// Why, where there is something to say.
        turn_complete_reason: Option<String>,
        /// It says nothing, since it waits for more.
        waiting_for_input: Option<bool>,
        /// What it rests on.
        grounding_metadata: Option<GroundingMetadata>,
    }

    /// Speech, in words.
    pub struct Transcription {
        /// More of the words.
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

    /// A handle to go on with elsewhere.
    pub struct SessionResumptionUpdate {
        /// The handle; empty where the session can't be resumed at this moment.
        new_handle: Option<String>,
        /// Whether it can.
        resumable: Option<bool>,
        /// The last message that the session has taken in, where the client asked to be told.
        last_consumed_client_message_index: Option<u64>,
    }
}
