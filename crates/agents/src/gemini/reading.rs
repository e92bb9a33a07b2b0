//! Chunks, read as agent events.

use std::collections::HashSet;

use gemini::{Candidate, Data, FinishReason, GenerateContentResponse, Part, UsageMetadata};
use serde_json::{Map, Value, json};
use turn::agent::AgentEvent;
use turn::event::Finish;

use super::failure::{Failure, GEMINI};
use super::{endpoint, provider_metadata};
use crate::model::{self, Redactor, data_url};

/// Reads a stream of server-sent events.
#[derive(Debug, Default)]
pub(super) struct StreamReading {
    reading: Reading,
    redactor: Redactor,
}

impl StreamReading {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self {
            reading: Reading::default(),
            redactor,
        }
    }
}

impl model::Reading for StreamReading {
    fn has_finished(&self) -> bool {
        self.reading.finish.is_some()
    }

    fn take(&mut self, data: &str) -> Result<Vec<AgentEvent>, Failure> {
        if data == wire::sse::DONE {
            // Not Google's, but some that stand between say so.
            return Ok(Vec::new());
        }
        let chunk: GenerateContentResponse = serde_json::from_str(data)
            .map_err(|_| Failure::unreadable("a chunk of it is not JSON"))?;
        if let Some(status) = &chunk.error {
            let code = status.code.and_then(|code| u16::try_from(code).ok());
            return Err(endpoint::failure(
                code.unwrap_or(500),
                status,
                &self.redactor,
            ));
        }
        self.reading.chunk(chunk)
    }

    fn end(&mut self, come: Result<(), Failure>) -> Vec<AgentEvent> {
        std::mem::take(&mut self.reading).end(come)
    }
}

/// What was read so far.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    finish: Option<FinishReason>,
    finish_message: Option<String>,
    usage: Option<UsageMetadata>,
    model_version: Option<String>,
    /// Whether there is anything that a page can show.
    has_said: bool,
    /// Chunks repeat what they rest on.
    sources: HashSet<String>,
}

impl Reading {
    pub(crate) fn chunk(
        &mut self,
        chunk: GenerateContentResponse,
    ) -> Result<Vec<AgentEvent>, Failure> {
        self.usage = chunk.usage_metadata.or(self.usage.take());
        self.model_version = chunk.model_version.or(self.model_version.take());
        if let Some(feedback) = chunk.prompt_feedback
            && let Some(reason) = feedback.block_reason
        {
            let said = feedback.block_reason_message.as_deref();
            return Err(GEMINI.blocked("the prompt", reason.as_str(), said));
        }
        let mut events = Vec::new();
        // One answer is asked for.
        if let Some(candidate) = chunk.candidates.into_iter().next() {
            self.candidate(candidate, &mut events);
        }
        self.has_said |= events.iter().any(is_shown);
        Ok(events)
    }

    fn candidate(&mut self, candidate: Candidate, events: &mut Vec<AgentEvent>) {
        let content = candidate.content.unwrap_or_default();
        for part in content.parts {
            read(part, events);
        }
        let chunks = candidate.grounding_metadata.unwrap_or_default();
        for chunk in chunks.grounding_chunks {
            for source in [chunk.web, chunk.retrieved_context, chunk.maps] {
                let source = source.unwrap_or_default();
                self.source(source.uri, source.title, events);
            }
        }
        let cited = candidate.citation_metadata.unwrap_or_default();
        for source in cited.citation_sources.into_iter().chain(cited.citations) {
            self.source(source.uri, source.title, events);
        }
        self.finish = candidate.finish_reason.or(self.finish.take());
        self.finish_message = candidate.finish_message.or(self.finish_message.take());
    }

    fn source(&mut self, url: Option<String>, title: Option<String>, events: &mut Vec<AgentEvent>) {
        if let Some(url) = url
            && self.sources.insert(url.clone())
        {
            events.push(AgentEvent::Source { url, title });
        }
    }

    /// What is left to say when nothing more comes, given how it ended.
    pub(crate) fn end(self, come: Result<(), Failure>) -> Vec<AgentEvent> {
        let metadata = self.metadata();
        let end = match come.and_then(|()| self.finish()) {
            Ok(finish) => AgentEvent::Ended(finish),
            Err(failure) => failure.into(),
        };
        metadata.into_iter().chain([end]).collect()
    }

    /// Why it ended. An end that explains itself to nobody is a failure: a page would show an empty
    /// answer.
    fn finish(&self) -> Result<Finish, Failure> {
        use FinishReason::{
            Blocklist, ImageProhibitedContent, ImageRecitation, ImageSafety, MalformedFunctionCall,
            MalformedResponse, MaxTokens, MissingThoughtSignature, ProhibitedContent, Recitation,
            Safety, Spii, Stop, UnexpectedToolCall,
        };
        let Some(reason) = &self.finish else {
            return Err(Failure::cut_off());
        };
        let said = self.finish_message.as_deref();
        Ok(match reason {
            Stop => Finish::Stop,
            MaxTokens => Finish::Length,
            Safety
            | Recitation
            | Blocklist
            | ProhibitedContent
            | Spii
            | ImageSafety
            | ImageProhibitedContent
            | ImageRecitation => {
                if !self.has_said {
                    return Err(GEMINI.blocked("its answer", reason.as_str(), said));
                }
                Finish::ContentFilter
            }
            MalformedFunctionCall
            | UnexpectedToolCall
            | MalformedResponse
            | MissingThoughtSignature => {
                if !self.has_said {
                    return Err(GEMINI.gave_up(reason.as_str(), said));
                }
                Finish::Error
            }
            _ => Finish::Other,
        })
    }

    fn metadata(&self) -> Option<AgentEvent> {
        let mut metadata = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            metadata.extend(value.map(|value| (key.to_owned(), value)));
        };
        put("usage", self.usage.as_ref().map(usage));
        put(
            "modelVersion",
            self.model_version.clone().map(Value::String),
        );
        let reason = self
            .finish
            .as_ref()
            .filter(|reason| **reason != FinishReason::Stop);
        put("finishReason", reason.map(|reason| json!(reason)));
        (!metadata.is_empty()).then(|| AgentEvent::Metadata(Value::Object(metadata)))
    }
}

/// Tokens, under the names that pages of the legacy bridge know, and three more.
pub(crate) fn usage(usage: &UsageMetadata) -> Value {
    let counts = [
        ("promptTokens", usage.prompt_token_count),
        (
            "completionTokens",
            usage.candidates_token_count.or(usage.response_token_count),
        ),
        ("totalTokens", usage.total_token_count),
    ];
    let more = [
        ("reasoningTokens", usage.thoughts_token_count),
        ("cachedTokens", usage.cached_content_token_count),
        ("toolUsePromptTokens", usage.tool_use_prompt_token_count),
    ];
    let counts = counts.map(|(name, count)| (name, count.unwrap_or_default()));
    let more = more.into_iter();
    let more = more.filter_map(|(name, count)| Some((name, count?)));
    let all = counts.into_iter().chain(more);
    Value::Object(
        all.map(|(name, count)| (name.to_owned(), json!(count)))
            .collect(),
    )
}

fn is_shown(event: &AgentEvent) -> bool {
    matches!(
        event,
        AgentEvent::Text { .. } | AgentEvent::Call { .. } | AgentEvent::File { .. }
    )
}

/// Reads a part. One that is to go back unchanged stays apart from those around it.
pub(crate) fn read(mut part: Part, events: &mut Vec<AgentEvent>) {
    let is_thought = part.is_thought();
    match std::mem::take(&mut part.data) {
        Data::Text(text) => {
            let kept = provider_metadata::of(part.clone(), Data::Unknown);
            let stays_apart = kept.is_some();
            if text.is_empty() {
                // Nothing to show, and yet it may be there for its signature.
                part.data = Data::Text(text);
                events.extend(stays_apart.then(|| opaque(&part)));
                return;
            }
            events.extend(stays_apart.then_some(AgentEvent::PartEnd));
            events.push(match is_thought {
                true => AgentEvent::Reasoning {
                    delta: text,
                    provider_metadata: kept,
                },
                false => AgentEvent::Text {
                    delta: text,
                    provider_metadata: kept,
                },
            });
            events.extend(stays_apart.then_some(AgentEvent::PartEnd));
        }
        Data::FunctionCall(mut call) if call.name.is_some() => {
            let id = call.id.take().filter(|id| !id.is_empty());
            let tool = call.name.take().unwrap_or_default();
            let input = call.args.take().map(Value::Object);
            // An input that is no object is for the tool's schema to refuse.
            let input = input.or_else(|| call.rest.shift_remove("args"));
            events.push(AgentEvent::Call {
                provider_id: id,
                tool,
                input: input.unwrap_or_else(|| json!({})),
                provider_metadata: provider_metadata::of(part, Data::FunctionCall(call)),
            });
        }
        // A picture that it only thought of is not for the page.
        Data::InlineData(mut blob) if !is_thought => {
            let media_type = blob.mime_type.take().unwrap_or_default();
            let data = blob.data.take().unwrap_or_default();
            events.push(AgentEvent::File {
                url: data_url::write(&media_type, &data),
                media_type,
                provider_metadata: provider_metadata::of(part, Data::InlineData(blob)),
            });
        }
        Data::FileData(mut file) if file.file_uri.is_some() && !is_thought => {
            events.push(AgentEvent::File {
                url: file.file_uri.take().unwrap_or_default(),
                media_type: file.mime_type.take().unwrap_or_default(),
                provider_metadata: provider_metadata::of(part, Data::FileData(file)),
            });
        }
        data => {
            part.data = data;
            events.push(opaque(&part));
        }
    }
}

fn opaque(part: &Part) -> AgentEvent {
    AgentEvent::Opaque(provider_metadata::whole(part))
}
