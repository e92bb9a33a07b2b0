//! generateContent, streamed or not.
//!
//! # Layout
//!
//! - `telling`: what an agent says, as chunks.
//! - `playing`: the chunks of an answer in their order, with the faults among them.
//! - `pouring`: the chunks as the bytes of a body.

mod playing;
mod pouring;
mod telling;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use gemini::{Content, Data, GenerateContentRequest, Role};
use serde_json::{Value, json};

use self::playing::{Frame, Playing, Source};
use self::telling::Telling;
use crate::brain::{self, Said, Saying};
use crate::core::{Core, Exchange};
use crate::log::Happening;
use crate::refusal::Refusal;
use crate::script::{Failure, Moment};
use crate::{demands, models};

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

/// Who is asked, and in which form to answer.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) version: String,
    pub(crate) model: String,
    pub(crate) method: String,
    pub(crate) form: Form,
}

/// Answers a request.
pub(crate) async fn generate(
    core: &Arc<Core>,
    exchange: &Exchange,
    asked: &Asked,
    body: &Bytes,
) -> Response {
    match answer(core, exchange, asked, body).await {
        Ok(response) => response,
        Err(refusal) => refuse(exchange, asked.form, &refusal),
    }
}

/// Says no, in the form of the answer.
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
    asked: &Asked,
    body: &Bytes,
) -> Result<Response, Refusal> {
    let Asked {
        version,
        model,
        method,
        form,
    } = asked;
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
    demands::check(&request, has_signatures)?;

    let telling = Telling::new(
        core,
        &request,
        model,
        has_signatures && !rule.without_signatures,
    );
    let source = match &rule.respond {
        Some(chunks) => Source::Script(chunks.clone().into()),
        None => {
            let step = brain::step_request(
                &request.contents,
                &request.tools,
                request.tool_config.as_ref(),
            );
            let mut saying = Saying::new(core.options.brain.parallel.step(step));
            // What fails before a word was said is a status, and no stream.
            match saying.next().await {
                Said::Failed(refusal) => return Err(refusal),
                first => Source::Brain {
                    first: Some(first),
                    saying,
                },
            }
        }
    };
    let playing = Playing::new(source, telling, rule);
    if *form == Form::Whole {
        return whole(exchange, playing).await;
    }
    exchange.write(Happening::Answer {
        status: 200,
        body: Value::Null,
    });
    let body = pouring::pour(core, exchange, playing, *form);
    let kind = if *form == Form::Sse { EVENTS } else { JSON };
    Ok(([kind], body).into_response())
}

/// The whole answer at once.
async fn whole(exchange: &Exchange, mut playing: Playing) -> Result<Response, Refusal> {
    let mut answer = playing.telling.whole();
    let cut_after_bytes = playing.cut_after_bytes();
    let mut raw = None;
    loop {
        match playing.next().await {
            Some(Frame::Chunk(chunk)) => answer.add(chunk),
            Some(Frame::Raw(text)) => raw = Some(text),
            Some(Frame::Error(refusal)) => return Err(refusal),
            Some(Frame::Cut) => return Ok(pouring::cut(exchange, &answer.body(), None)),
            None => break,
        }
    }
    let body = answer.body();
    if let Some(bytes) = cut_after_bytes {
        return Ok(pouring::cut(exchange, &body, Some(bytes)));
    }
    exchange.write(Happening::Answer {
        status: 200,
        body: body.clone(),
    });
    let text = raw.unwrap_or_else(|| format!("{body:#}"));
    Ok(([JSON], text).into_response())
}

/// A failure of the script, as Google tells it.
pub(crate) fn failed(failure: &Failure) -> Refusal {
    let delay = failure.retry_after_seconds.map(Duration::from_secs);
    Refusal::new(failure.code, failure.message.as_deref()).retry_after(delay)
}

/// What was said last, or what calls brought: what the rules of a script look at.
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
