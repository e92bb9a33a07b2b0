//! Renders what a turn says as chunks, in the newest client's words.

use serde_json::{Map, Value, json};
use turn::CallId;
use turn::agent::{Part, source_document};
use turn::call::{Call, Outcome, Place};
use turn::gate::{Decision, Gate};
use turn::metadata::{AI_SDK, OURS, PATH};
use turn::reason::{
    NOT_NEEDED, PAGE_TIMED_OUT, QUESTION_TIMED_OUT, SUPERSEDED, TIMED_OUT, declined, error_text,
};
use wire::Chunk;
use wire::chunk::{
    BlockDelta, BlockStart, Data, File, ReasoningEnd, SourceDocument, SourceUrl, TextEnd,
    ToolApprovalRequest, ToolApprovalResponse, ToolInputAvailable, ToolInputDelta, ToolInputError,
    ToolInputStart, ToolOutputAvailable, ToolOutputDenied, ToolOutputError,
};
use wire::metadata::ProviderMetadata;
use wire::prototype::without_refused_keys;

use super::proxy::PROXY_FOR;
use super::user_message;

/// What a provider says of a part is between it and the agent; what is ours is for the page.
pub(super) fn block_start(block: u32, provider_metadata: Option<&Value>) -> BlockStart {
    let ours = provider_metadata.and_then(|all| all.get(OURS)?.as_object());
    BlockStart {
        id: block.to_string(),
        provider_metadata: ours.map(|ours| ProviderMetadata::of(OURS, ours.clone())),
    }
}

pub(super) fn delta(block: u32, words: String) -> BlockDelta {
    BlockDelta {
        id: block.into(),
        delta: words.into(),
        provider_metadata: None,
    }
}

pub(super) fn text_end(block: u32) -> Chunk {
    Chunk::from(TextEnd {
        id: block.to_string(),
        ..TextEnd::default()
    })
}

pub(super) fn reasoning_end(block: u32) -> Chunk {
    Chunk::ReasoningEnd(ReasoningEnd {
        id: block.to_string(),
        ..ReasoningEnd::default()
    })
}

/// The name of the data that shows a user's message which came in the middle of a turn:
/// `data-user-message`.
pub(crate) const USER_MESSAGE: &str = "user-message";

/// A user's message that was given to the agent in the middle of a turn. Clients keep it in the agent's
/// message, where it was given.
pub(super) fn injected(message: &turn::Message) -> Chunk {
    let shown = json!(user_message::show(message));
    Chunk::from(Data {
        name: USER_MESSAGE.to_owned(),
        id: message.id.clone(),
        data: without_refused_keys(shown),
        ..Data::default()
    })
}

/// A part that is shown whole. `block` numbers the message's texts, reasonings and sources.
pub(super) fn part(part: &Part, block: &mut u32) -> Option<Chunk> {
    Some(match part {
        Part::File {
            url, media_type, ..
        } => Chunk::from(File {
            url: url.clone(),
            media_type: media_type.clone(),
            provider_metadata: None,
        }),
        Part::Source { url, title } => {
            *block += 1;
            Chunk::from(SourceUrl {
                source_id: format!("source-{block}"),
                url: url.clone(),
                title: title.clone(),
                provider_metadata: None,
            })
        }
        Part::Data { name, id, data } => Chunk::from(Data {
            name: name.clone(),
            id: id.clone(),
            data: without_refused_keys(data.clone()),
            ..Data::default()
        }),
        Part::Opaque { content } => {
            let document = source_document(content)?;
            let text = |field: &str| Some(document.get(field)?.as_str()?.to_owned());
            *block += 1;
            Chunk::from(SourceDocument {
                source_id: format!("source-{block}"),
                media_type: text("mediaType")?,
                title: text("title")?,
                filename: text("filename"),
                provider_metadata: None,
            })
        }
        Part::Text { .. } | Part::Reasoning { .. } | Part::Call { .. } => return None,
    })
}

/// The mark of a call that the agent runs by itself: no page knows its tool, and none is waited
/// for.
fn own(call: &Call) -> Option<bool> {
    (call.place == Place::Agent).then_some(true)
}

/// What a route of the AI SDK's said of a call.
fn routes(call: &Call) -> Option<&Map<String, Value>> {
    call.provider_metadata.as_ref()?.get(AI_SDK)?.as_object()
}

/// Whether no page has a type for a call's tool. A route of the AI SDK's says so; of the tools of another
/// agent nobody knows.
fn dynamic(call: &Call) -> Option<bool> {
    match routes(call) {
        Some(said) => (said.get("dynamic") == Some(&Value::Bool(true))).then_some(true),
        None => own(call),
    }
}

fn title(call: &Call) -> Option<String> {
    Some(routes(call)?.get("title")?.as_str()?.to_owned())
}

fn tool_metadata(call: &Call) -> Option<Box<Map<String, Value>>> {
    let metadata = routes(call)?.get("toolMetadata")?.clone();
    match without_refused_keys(metadata) {
        Value::Object(metadata) => Some(Box::new(metadata)),
        _ => None,
    }
}

pub(crate) fn input_start(call: &Call) -> Chunk {
    Chunk::from(ToolInputStart {
        tool_call_id: call.id.to_string(),
        tool_name: call.tool.clone(),
        dynamic: dynamic(call),
        provider_executed: own(call),
        provider_metadata: noted(call, &[PROXY_FOR]).map(|noted| ProviderMetadata::of(OURS, noted)),
        title: title(call),
        tool_metadata: tool_metadata(call),
        ..ToolInputStart::default()
    })
}

pub(crate) fn input_delta(call: &Call) -> Chunk {
    Chunk::from(ToolInputDelta {
        tool_call_id: call.id.to_string(),
        input_text_delta: without_refused_keys(call.input.clone()).to_string(),
    })
}

pub(crate) fn input_available(call: &Call) -> Chunk {
    Chunk::from(ToolInputAvailable {
        tool_call_id: call.id.to_string(),
        tool_name: call.tool.clone(),
        input: without_refused_keys(call.input.clone()),
        dynamic: dynamic(call),
        provider_executed: own(call),
        provider_metadata: provider_metadata(call),
        title: title(call),
        tool_metadata: tool_metadata(call),
    })
}

/// The key of what pages get of a question beside what it asks, in the metadata of its call.
const QUESTION: &str = "question";

/// Notes at the call of a question that asks for data what its answer by REST needs, and when it expires.
pub(super) fn note_question(call: &mut Call, gate: &Gate) {
    let mut noted = json!({"approvalId": gate.id, "digest": gate.digest(call)});
    if let Some(expires) = gate.expires {
        noted["expiresAt"] = json!(expires);
    }
    let path = call.path();
    if !path.is_empty() {
        noted[PATH] = json!(path);
    }
    let all = call.provider_metadata.get_or_insert_with(|| json!({}));
    all[OURS][QUESTION] = noted;
}

/// What was noted at a call under some keys, for the page.
fn noted(call: &Call, keys: &[&str]) -> Option<Map<String, Value>> {
    let ours = call.provider_metadata.as_ref()?.get(OURS)?;
    let noted = keys.iter().filter_map(|key| {
        let value = ours.get(*key)?.clone();
        Some(((*key).to_owned(), value))
    });
    let noted: Map<String, Value> = noted.collect();
    (!noted.is_empty()).then_some(noted)
}

/// Whether a call is one by which pages are shown a question that asks for data.
pub(crate) fn is_question(call: &Call) -> bool {
    call.parent.is_some() && noted(call, &[QUESTION]).is_some()
}

/// What is said of a call, for the page: by a route of the AI SDK's, and what was noted here.
fn provider_metadata(call: &Call) -> Option<ProviderMetadata> {
    let said = routes(call).and_then(|said| said.get("providerMetadata")?.as_object());
    let said = said.into_iter().flatten();
    let said = said.filter(|(provider, _)| *provider != OURS);
    let said = said.filter_map(|(provider, said)| {
        let said = without_refused_keys(said.clone());
        Some((provider.clone(), said.as_object()?.clone()))
    });
    let noted = noted(call, &[QUESTION, PROXY_FOR]);
    let noted = noted.map(|noted| (OURS.to_owned(), noted));
    let mut all = said.chain(noted).peekable();
    all.peek()?;
    Some(
        all.fold(ProviderMetadata::default(), |all, (provider, said)| {
            all.and(provider, said)
        }),
    )
}

pub(crate) fn approval_request(gate: &Gate, call: &Call, question: &str) -> Chunk {
    let mut descriptor = json!({"question": question});
    if let Some(expires) = gate.expires {
        descriptor["expiresAt"] = json!(expires);
    }
    if let Some(input) = &gate.input {
        // The call is shown with the model's.
        descriptor["input"] = input.clone();
    }
    let path = call.path();
    if !path.is_empty() {
        descriptor["path"] = json!(path);
    }
    descriptor["digest"] = gate.digest(call).into();
    Chunk::from(ToolApprovalRequest {
        approval_id: gate.id.to_string(),
        tool_call_id: gate.call.to_string(),
        approval_descriptor: Some(Box::new(descriptor)),
        reason: Some(question.to_owned()),
        ..ToolApprovalRequest::default()
    })
}

pub(crate) fn approval_response(gate: &Gate, decision: &Decision) -> Option<ToolApprovalResponse> {
    if !gate.is_approval() {
        return None;
    }
    let reason = match decision {
        Decision::Approved { reason, .. } | Decision::Denied { reason } => reason.clone(),
        Decision::Superseded => Some(SUPERSEDED.to_owned()),
        _ => None,
    };
    Some(ToolApprovalResponse {
        approval_id: gate.id.to_string(),
        approved: decision.approved()?,
        reason,
        ..ToolApprovalResponse::default()
    })
}

/// The outcome of a proxy call whose gate was closed so.
pub(crate) fn answered(gate: &Gate, decision: &Decision) -> Outcome {
    let error = |error: &str| Outcome::Error {
        error: error.to_owned(),
    };
    match decision {
        Decision::Approved { .. } => Outcome::Output {
            output: json!({"approved": true}),
        },
        Decision::Output { output } => Outcome::Output {
            output: output.clone(),
        },
        Decision::Failed { error } => Outcome::Error {
            error: error.clone(),
        },
        Decision::Denied { reason } if gate.is_page_call() => error(&declined(reason.as_deref())),
        Decision::Denied { reason } => Outcome::Denied {
            reason: reason.clone(),
        },
        Decision::Superseded => Outcome::Denied {
            reason: Some(SUPERSEDED.to_owned()),
        },
        Decision::TimedOut if gate.is_approval() => error(TIMED_OUT),
        Decision::TimedOut if gate.is_question() => error(QUESTION_TIMED_OUT),
        Decision::TimedOut => error(PAGE_TIMED_OUT),
        Decision::Cancelled => error(NOT_NEEDED),
    }
}

/// A call that a person said no to.
pub(crate) fn denied(call: &CallId) -> Chunk {
    let tool_call_id = call.to_string();
    Chunk::ToolOutputDenied(ToolOutputDenied { tool_call_id })
}

/// A settled call.
pub(crate) fn outcome(call: &Call, outcome: &Outcome) -> Chunk {
    let tool_call_id = call.id.to_string();
    let error_text = match outcome {
        Outcome::Output { output } | Outcome::Pending { output } => {
            return Chunk::from(ToolOutputAvailable {
                tool_call_id,
                output: without_refused_keys(output.clone()),
                dynamic: dynamic(call),
                provider_executed: own(call),
                ..ToolOutputAvailable::default()
            });
        }
        Outcome::Invalid { error } => {
            return Chunk::from(ToolInputError {
                tool_call_id,
                tool_name: call.tool.clone(),
                input: without_refused_keys(call.input.clone()),
                error_text: error.clone(),
                ..ToolInputError::default()
            });
        }
        outcome => error_text(outcome).unwrap_or_default(),
    };
    Chunk::from(ToolOutputError {
        tool_call_id,
        error_text,
        dynamic: dynamic(call),
        provider_executed: own(call),
        ..ToolOutputError::default()
    })
}

pub(crate) fn progress(call: &Call, output: &Value) -> Chunk {
    Chunk::from(ToolOutputAvailable {
        tool_call_id: call.id.to_string(),
        output: without_refused_keys(output.clone()),
        preliminary: Some(true),
        dynamic: dynamic(call),
        provider_executed: own(call),
        ..ToolOutputAvailable::default()
    })
}
