//! generateContent, streamed or not.
//!
//! # Layout
//!
//! - `render`: the responder's output as chunks.
//! - `answer`: the chunks of an answer in their order, with the faults among them.
//! - `stream_body`: the chunks as the bytes of a body.

mod answer;
mod render;
mod stream_body;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use gemini::{Content, Data, GenerateContentRequest, Role};
use serde_json::{Value, json};

use self::answer::{Answer, Frame, Source};
use self::render::Renderer;
use crate::core::{Core, Exchange};
use crate::log::Happening;
use crate::refusal::Refusal;
use crate::responder::{self, Output, OutputStream};
use crate::script::{Failure, Moment};
use crate::{models, validation};

/// In which form an answer is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// All at once.
    Whole,
    /// Server-sent events.
    Sse,
    /// A JSON array, chunk by chunk.
    Array,
}

/// A call of the API: the model, the method, and the form of the response.
#[derive(Debug, Clone)]
pub(crate) struct GenerateCall {
    pub(crate) version: String,
    pub(crate) model: String,
    pub(crate) method: String,
    pub(crate) form: Form,
}

/// Answers a request.
pub(crate) async fn generate(
    core: &Arc<Core>,
    exchange: &Exchange,
    call: &GenerateCall,
    body: &Bytes,
) -> Response {
    match answer(core, exchange, call, body).await {
        Ok(response) => response,
        Err(refusal) => refuse(exchange, call.form, &refusal),
    }
}

/// Responds with an error, in the form of the answer.
fn refuse(exchange: &Exchange, form: Form, refusal: &Refusal) -> Response {
    let body = refusal.body();
    exchange.write(Happening::Answer {
        status: refusal.code().as_u16(),
        body: body.clone(),
    });
    let body = match form {
        Form::Array => json!([body]),
        Form::Whole | Form::Sse => body,
    };
    (refusal.code(), [JSON], format!("{body:#}")).into_response()
}

const JSON: (header::HeaderName, &str) = (header::CONTENT_TYPE, "application/json; charset=UTF-8");
const EVENTS: (header::HeaderName, &str) = (header::CONTENT_TYPE, "text/event-stream");

async fn answer(
    core: &Arc<Core>,
    exchange: &Exchange,
    call: &GenerateCall,
    body: &Bytes,
) -> Result<Response, Refusal> {
    let GenerateCall {
        version,
        model,
        method,
        form,
    } = call;
    if !models::exists(model) {
        return Err(Refusal::no_model(model, version, method));
    }
    let request: GenerateContentRequest = serde_json::from_slice(body)
        .map_err(|error| Refusal::invalid(format!("Invalid JSON payload received. {error}")))?;
    let rule = core
        .playbook
        .follow(Moment::Generate, &last_said(&request.contents));
    if let Some(delay) = rule.delay_ms {
        tokio::time::sleep(Duration::from_millis(delay)).await;
    }
    if let Some(failure) = &rule.status {
        return Err(failed(failure));
    }
    let has_signatures = core.options.signatures.apply_to(model);
    validation::check(&request, has_signatures)?;

    let renderer = Renderer::new(
        core,
        &request,
        model,
        has_signatures && !rule.without_signatures,
    );
    let source = match &rule.respond {
        Some(chunks) => Source::Script(chunks.clone().into()),
        None => {
            let step = responder::step_request(
                &request.contents,
                &request.tools,
                request.tool_config.as_ref(),
            );
            let mut output = OutputStream::new(core.options.responder.parallel.step(step));
            // A failure before the first output is a status, not a stream.
            match output.next().await {
                Output::Failed(refusal) => return Err(refusal),
                first => Source::Responder {
                    first: Some(first),
                    output,
                },
            }
        }
    };
    let answer = Answer::new(source, renderer, rule);
    if *form == Form::Whole {
        return whole(exchange, answer).await;
    }
    exchange.write(Happening::Answer {
        status: 200,
        body: Value::Null,
    });
    let body = stream_body::stream_body(core, exchange, answer, *form);
    let kind = if *form == Form::Sse { EVENTS } else { JSON };
    Ok(([kind], body).into_response())
}

/// The whole answer at once.
async fn whole(exchange: &Exchange, mut answer: Answer) -> Result<Response, Refusal> {
    let mut body = answer.renderer.whole();
    let cut_after_bytes = answer.cut_after_bytes();
    let mut raw = None;
    loop {
        match answer.next().await {
            Some(Frame::Chunk(chunk)) => body.add(chunk),
            Some(Frame::Raw(text)) => raw = Some(text),
            Some(Frame::Error(refusal)) => return Err(refusal),
            Some(Frame::Cut) => return Ok(stream_body::cut(exchange, &body.body(), None)),
            None => break,
        }
    }
    let body = body.body();
    if let Some(bytes) = cut_after_bytes {
        return Ok(stream_body::cut(exchange, &body, Some(bytes)));
    }
    exchange.write(Happening::Answer {
        status: 200,
        body: body.clone(),
    });
    let text = raw.unwrap_or_else(|| format!("{body:#}"));
    Ok(([JSON], text).into_response())
}

/// A failure of the script, in Google's form.
pub(crate) fn failed(failure: &Failure) -> Refusal {
    let delay = failure.retry_after_seconds.map(Duration::from_secs);
    Refusal::new(failure.code, failure.message.as_deref()).retry_after(delay)
}

/// The last user message or function responses: what the rules of a script look at.
pub(crate) fn last_said(contents: &[Content]) -> String {
    let users = contents.iter().rev();
    let users = users.take_while(|content| content.role != Some(Role::Model));
    let mut contents: Vec<_> = users.collect();
    contents.reverse();
    let parts = contents.into_iter().flat_map(|content| &content.parts);
    let said = parts.filter_map(|part| match &part.data {
        Data::Text(text) => Some(text.clone()),
        Data::FunctionResponse(response) => serde_json::to_string(response).ok(),
        _ => None,
    });
    said.collect::<Vec<_>>().join("\n")
}
