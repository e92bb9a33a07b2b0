//! What it cost, in tokens.

use crate::record::record;

record! {
    /// How many tokens were used.
    pub struct UsageMetadata {
        /// Tokens of the prompt, the history included.
        prompt_token_count: Option<u64>,
        /// Of those, how many Google had kept.
        cached_content_token_count: Option<u64>,
        /// By the answer, in generateContent.
        candidates_token_count: Option<u64>,
        /// By the answer, in Live.
        response_token_count: Option<u64>,
        /// By the thoughts.
        thoughts_token_count: Option<u64>,
        /// Tokens that Google's own tools added to the prompt.
        tool_use_prompt_token_count: Option<u64>,
        /// All together.
        total_token_count: Option<u64>,
        /// The prompt's, by modality.
        prompt_tokens_details: Vec<ModalityTokenCount>,
        /// The kept ones', by modality.
        cache_tokens_details: Vec<ModalityTokenCount>,
        /// The answer's, by modality, in generateContent.
        candidates_tokens_details: Vec<ModalityTokenCount>,
        /// The answer's, by modality, in Live.
        response_tokens_details: Vec<ModalityTokenCount>,
    }

    /// How many tokens of one modality.
    pub struct ModalityTokenCount {
        /// Which, such as `TEXT` or `AUDIO`.
        modality: Option<String>,
        /// How many.
        token_count: Option<u64>,
    }
}
