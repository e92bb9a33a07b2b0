//! The responder's output as the chunks of an answer.

use gemini::{
    BlockReason, Candidate, Content, Data, FinishReason, FunctionCall, GenerateContentRequest,
    GenerateContentResponse, Part, PromptFeedback, SafetyRating, UsageMetadata,
};
use serde_json::{Map, Value, json};

use crate::core::Core;
use crate::responder::Output;
use crate::signature;
use crate::tokens::{self, Tokens};

/// What every chunk of an answer has in common, and the token counts so far.
#[derive(Debug, Clone)]
pub(super) struct Renderer {
    model: String,
    response_id: String,
    call_id: String,
    prompt: Tokens,
    thoughts: u64,
    answer: u64,
    limit: Option<u64>,
    includes_thoughts: bool,
    has_signatures: bool,
    has_ids: bool,
}

/// An output, rendered.
pub(super) enum Rendered {
    /// A chunk.
    Chunk(GenerateContentResponse),
    /// A chunk, and no more follow.
    Last(GenerateContentResponse),
    /// Nothing to send.
    Nothing,
}

impl Renderer {
    pub(super) fn new(
        core: &Core,
        request: &GenerateContentRequest,
        model: &str,
        has_signatures: bool,
    ) -> Self {
        let config = request.generation_config.as_ref();
        let thinking = config.and_then(|config| config.thinking_config.as_ref());
        let prompt = request.contents.iter().chain(&request.system_instruction);
        Self {
            model: model.to_owned(),
            response_id: core.name("response"),
            call_id: core.name("call"),
            prompt: Tokens::of(prompt),
            thoughts: 0,
            answer: 0,
            limit: config.and_then(|config| config.max_output_tokens),
            includes_thoughts: thinking.is_some_and(|it| it.include_thoughts == Some(true)),
            has_signatures,
            has_ids: core.options.call_ids,
        }
    }

    /// Renders an output.
    pub(super) fn render(&mut self, said: Output) -> Rendered {
        match said {
            Output::Part(part) => {
                let tokens = match &part.data {
                    Data::Text(text) => tokens::of_text(text),
                    _ => 0,
                };
                let count = if part.is_thought() {
                    &mut self.thoughts
                } else {
                    &mut self.answer
                };
                *count += tokens;
                if self
                    .limit
                    .is_some_and(|limit| self.thoughts + self.answer > limit)
                {
                    return Rendered::Last(self.chunk(Vec::new(), Some(FinishReason::MaxTokens)));
                }
                if part.is_thought() && !self.includes_thoughts {
                    return Rendered::Nothing;
                }
                Rendered::Chunk(self.chunk(vec![*part], None))
            }
            Output::Calls(calls) => {
                let parts = self.calls(calls);
                Rendered::Last(self.chunk(parts, Some(FinishReason::Stop)))
            }
            Output::Ended(reason) => {
                let mut part = Part::text("");
                // An empty answer has no part at all.
                let parts = if self.answer == 0 {
                    Vec::new()
                } else {
                    part.thought_signature = self
                        .has_signatures
                        .then(|| signature::of_text(&self.response_id));
                    vec![part]
                };
                Rendered::Last(self.chunk(parts, Some(reason)))
            }
            Output::Failed(_) | Output::Cut => Rendered::Nothing,
        }
    }

    /// Calls, of which the first carries the signature of all.
    fn calls(&mut self, calls: Vec<(String, Map<String, Value>)>) -> Vec<Part> {
        let parts = calls.into_iter().enumerate().map(|(index, (name, args))| {
            let call = FunctionCall {
                id: self
                    .has_ids
                    .then(|| format!("{}-{}", self.call_id, index + 1)),
                name: Some(name),
                args: Some(args),
                ..FunctionCall::default()
            };
            let signature = (self.has_signatures && index == 0).then(|| signature::of_call(&call));
            self.answer += tokens::of_text(&json!(call).to_string());
            Part {
                thought_signature: signature,
                ..Data::FunctionCall(call).into()
            }
        });
        parts.collect()
    }

    /// A chunk with these parts.
    pub(super) fn chunk(
        &self,
        parts: Vec<Part>,
        finish_reason: Option<FinishReason>,
    ) -> GenerateContentResponse {
        self.around(Candidate {
            content: Some(Content::model(parts)),
            finish_reason,
            index: Some(0),
            ..Candidate::default()
        })
    }

    /// An end for a reason that is no good one.
    pub(super) fn stopped(&self, reason: &str) -> GenerateContentResponse {
        let reason = FinishReason::from(reason);
        let is_unsafe = reason == FinishReason::Safety;
        let rating = SafetyRating {
            category: Some("HARM_CATEGORY_DANGEROUS_CONTENT".to_owned()),
            probability: Some("HIGH".to_owned()),
            blocked: Some(true),
            ..SafetyRating::default()
        };
        self.around(Candidate {
            finish_reason: Some(reason),
            index: Some(0),
            safety_ratings: if is_unsafe { vec![rating] } else { Vec::new() },
            ..Candidate::default()
        })
    }

    /// The response where the prompt is blocked: there is no candidate.
    pub(super) fn blocked(&self, reason: &str) -> GenerateContentResponse {
        GenerateContentResponse {
            prompt_feedback: Some(PromptFeedback {
                block_reason: Some(BlockReason::from(reason)),
                ..PromptFeedback::default()
            }),
            candidates: Vec::new(),
            ..self.around(Candidate::default())
        }
    }

    fn around(&self, candidate: Candidate) -> GenerateContentResponse {
        let count = |count: u64| Some(count).filter(|count| *count > 0);
        GenerateContentResponse {
            candidates: vec![candidate],
            usage_metadata: Some(UsageMetadata {
                prompt_token_count: Some(self.prompt.total()),
                candidates_token_count: count(self.answer),
                thoughts_token_count: count(self.thoughts),
                total_token_count: Some(self.prompt.total() + self.answer + self.thoughts),
                prompt_tokens_details: self.prompt.details(),
                ..UsageMetadata::default()
            }),
            model_version: Some(self.model.clone()),
            response_id: Some(self.response_id.clone()),
            ..GenerateContentResponse::default()
        }
    }

    /// An answer that is sent whole.
    pub(super) fn whole(&self) -> Whole {
        Whole {
            answer: self.around(Candidate::default()),
            parts: Vec::new(),
        }
    }
}

/// Chunks put together.
pub(super) struct Whole {
    answer: GenerateContentResponse,
    parts: Vec<Part>,
}

impl Whole {
    /// Adds a chunk: its parts continue where the last part ended, and what it counts is the count.
    pub(super) fn add(&mut self, chunk: Value) {
        let Ok(chunk) = serde_json::from_value::<GenerateContentResponse>(chunk) else {
            return;
        };
        let candidate = chunk.candidates.first();
        let content = candidate.and_then(|candidate| candidate.content.as_ref());
        let parts = content.map_or(&[][..], |content| &content.parts);
        for part in parts {
            self.part(part);
        }
        self.answer = chunk;
    }

    fn part(&mut self, part: &Part) {
        if let (Some(last), Data::Text(more)) = (self.parts.last_mut(), &part.data)
            && let Data::Text(text) = &mut last.data
            && last.thought == part.thought
            && last.thought_signature.is_none()
        {
            text.push_str(more);
            last.thought_signature.clone_from(&part.thought_signature);
            return;
        }
        self.parts.push(part.clone());
    }

    /// The answer.
    pub(super) fn body(mut self) -> Value {
        if let Some(candidate) = self.answer.candidates.first_mut()
            && !self.parts.is_empty()
        {
            candidate.content = Some(Content::model(self.parts));
        }
        json!(self.answer)
    }
}
