//! generateContent: what it is asked, and the chunks that it answers with.

use crate::content::Content;
use crate::function::{Tool, ToolConfig};
use crate::generation::{GenerationConfig, SafetySetting};
use crate::grounding::{CitationMetadata, GroundingMetadata};
use crate::record::record;
use crate::status::Status;
use crate::usage::UsageMetadata;
use crate::words::words;

record! {
    /// The body of a request, streamed or not.
    pub struct GenerateContentRequest {
        /// What was said, and is to be answered.
        contents: Vec<Content>,
        /// The system instruction.
        system_instruction: Option<Content>,
        /// What it may use.
        tools: Vec<Tool>,
        /// How it may use it.
        tool_config: Option<ToolConfig>,
        /// How to answer.
        generation_config: Option<GenerationConfig>,
        /// What to block.
        safety_settings: Vec<SafetySetting>,
        /// What Google keeps of the beginning, by name.
        cached_content: Option<String>,
    }

    /// A chunk of a streamed answer, or the whole of one that is not streamed.
    pub struct GenerateContentResponse {
        /// The answers; one, unless more were asked for.
        candidates: Vec<Candidate>,
        /// What was thought of the prompt; with a reason if it was blocked, and then no candidate.
        prompt_feedback: Option<PromptFeedback>,
        /// The tokens so far.
        usage_metadata: Option<UsageMetadata>,
        /// Which model answered.
        model_version: Option<String>,
        /// The id of the answer, the same in each chunk.
        response_id: Option<String>,
        /// What went wrong after the stream began.
        error: Option<Status>,
    }

    /// One answer, or a piece of it.
    pub struct Candidate {
        /// What the model said.
        content: Option<Content>,
        /// Why it stopped, once it has.
        finish_reason: Option<FinishReason>,
        /// The reason as text, if there is one.
        finish_message: Option<String>,
        /// Which of the answers it is.
        index: Option<u64>,
        /// How harmful it is.
        safety_ratings: Vec<SafetyRating>,
        /// Where it was taken from.
        citation_metadata: Option<CitationMetadata>,
        /// What it rests on.
        grounding_metadata: Option<GroundingMetadata>,
    }

    /// What was thought of the prompt.
    pub struct PromptFeedback {
        /// Why it was blocked, if it was.
        block_reason: Option<BlockReason>,
        /// The reason as text, if there is one.
        block_reason_message: Option<String>,
        /// How harmful it is.
        safety_ratings: Vec<SafetyRating>,
    }

    /// How harmful something is.
    pub struct SafetyRating {
        /// What kind of harm.
        category: Option<String>,
        /// How probable it is.
        probability: Option<String>,
        /// Whether it was blocked for this.
        blocked: Option<bool>,
    }
}

words! {
    /// Why the model stopped.
    pub enum FinishReason {
        /// It was done, also where it calls functions.
        Stop = "STOP",
        /// It ran out of tokens.
        MaxTokens = "MAX_TOKENS",
        /// What it said was unsafe.
        Safety = "SAFETY",
        /// Its output was protected content.
        Recitation = "RECITATION",
        /// In a language that it does not support.
        Language = "LANGUAGE",
        /// For a reason that is not given.
        Other = "OTHER",
        /// It contained a forbidden word.
        Blocklist = "BLOCKLIST",
        /// What it said is prohibited.
        ProhibitedContent = "PROHIBITED_CONTENT",
        /// What it said was about a person, and sensitive.
        Spii = "SPII",
        /// Its call could not be read.
        MalformedFunctionCall = "MALFORMED_FUNCTION_CALL",
        /// The image that it made was unsafe.
        ImageSafety = "IMAGE_SAFETY",
        /// The image that it made is prohibited.
        ImageProhibitedContent = "IMAGE_PROHIBITED_CONTENT",
        /// The image that it made was protected content.
        ImageRecitation = "IMAGE_RECITATION",
        /// The image failed for another reason.
        ImageOther = "IMAGE_OTHER",
        /// It was to make an image, and made none.
        NoImage = "NO_IMAGE",
        /// It called a tool, and had none.
        UnexpectedToolCall = "UNEXPECTED_TOOL_CALL",
        /// It called too many tools in a row.
        TooManyToolCalls = "TOO_MANY_TOOL_CALLS",
        /// A thought signature was not sent back.
        MissingThoughtSignature = "MISSING_THOUGHT_SIGNATURE",
        /// Its answer could not be read.
        MalformedResponse = "MALFORMED_RESPONSE",
    }

    /// Why a prompt was blocked.
    pub enum BlockReason {
        /// It was unsafe.
        Safety = "SAFETY",
        /// For a reason that is not given.
        Other = "OTHER",
        /// It contained a forbidden word.
        Blocklist = "BLOCKLIST",
        /// It is prohibited.
        ProhibitedContent = "PROHIBITED_CONTENT",
        /// It asked for an unsafe image.
        ImageSafety = "IMAGE_SAFETY",
    }
}
