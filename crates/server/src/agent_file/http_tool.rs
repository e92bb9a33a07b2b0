//! `[http.NAME]`: a tool that is one HTTP request.

use std::collections::BTreeMap;
use std::time::Duration;

use tools::AnyTool;
use tools::http::{
    Body, HttpTool, Limits, Lookup, Named, Redirects, Repeat, Request, Secret, Template,
};

use super::agent::{Builder, BuiltTool};
use super::at::At;
use super::reference::{LITERAL_SECRET, SecretRef, is_secret_name};
use super::spec::{HttpSpec, RedirectsSpec, RequestSpec};
use super::{Entry, policy};

/// The tool.
pub(super) fn build(
    builder: &mut Builder<'_>,
    name: &str,
    entry: &Entry<HttpSpec>,
) -> Option<BuiltTool> {
    let spec = &entry.spec;
    let input = builder.schema(entry.source, &spec.input);
    let request = request(builder, entry.source, &spec.request);
    let limits = limits(builder, entry.source, &spec.request);
    let repeat = repeat(builder, entry.source, &spec.request, request.as_ref());
    let lookup = match &spec.lookup {
        Some(lookup) => {
            let plain = Request::new("GET", &lookup.url, Named::ByOperator);
            let plain = builder.note_at(entry.source, &lookup.url.span, plain)?;
            let request = with_headers(builder, entry.source, plain, &lookup.headers)?;
            let host = builder.written(entry.source, &lookup.url.span, request.clone());
            builder.hosts.push(host);
            Some(Lookup { request })
        }
        None => None,
    };
    let on_takeover = match &spec.on_takeover {
        Some(takeover) => {
            let plain = Request::new(&takeover.method, &takeover.url, Named::ByOperator);
            let plain = builder.note_at(entry.source, &takeover.url.span, plain)?;
            let request = with_headers(builder, entry.source, plain, &takeover.headers)?;
            let host = builder.written(entry.source, &takeover.url.span, request.clone());
            builder.hosts.push(host);
            Some(request)
        }
        None => None,
    };
    let (input, request, limits, repeat) = (input?, request?, limits?, repeat?);
    let source = builder.file.source(entry.source);
    let said = (spec.allow, spec.ask.as_ref(), spec.deny);
    let policy = builder.note(policy::single(source, said, &entry.span, &input))?;
    let what = format!("{} {}", spec.request.method, request.origin());
    let host = builder.written(entry.source, &spec.request.url.span, request.clone());
    builder.hosts.push(host);
    let tool = HttpTool {
        name: name.to_owned(),
        description: spec.description.clone(),
        input,
        request,
        repeat,
        lookup,
        on_takeover,
        limits,
        redirects: match spec.request.redirects {
            RedirectsSpec::None => Redirects::None,
            RedirectsSpec::SameHost => Redirects::SameHost,
        },
    };
    let made = tool.into_tool(&builder.network);
    let tool = builder.note_at(entry.source, &spec.request.url.span, made)?;
    let (rule, named) = (policy.clone(), name.to_owned());
    let tool: AnyTool = tool
        .policy(move |input, _| rule.verdict(&named, input, None))
        .into();
    builder.finish(entry, &spec.input.span, tool, policy, what)
}

fn request(builder: &mut Builder<'_>, source: usize, spec: &At<RequestSpec>) -> Option<Request> {
    let request = Request::new(&spec.method, &spec.url, Named::ByOperator);
    let request = builder.note_at(source, &spec.url.span, request)?;
    let mut request = with_headers(builder, source, request, &spec.headers)?;
    if let Some(body) = &spec.body {
        request = request.with_body(Body::Template(body.value.clone()));
    }
    Some(request)
}

/// The request with headers, whose values may end with a secret.
pub(super) fn with_headers(
    builder: &mut Builder<'_>,
    source: usize,
    mut request: Request,
    headers: &BTreeMap<String, At<String>>,
) -> Option<Request> {
    for (name, text) in headers {
        let value = header_value(builder, source, name, text)?;
        let made = request.with_header(name, value);
        request = builder.note_at(source, &text.span, made)?;
    }
    Some(request)
}

/// A header's value: a text, whose last word may be a secret by where it is kept.
fn header_value(
    builder: &mut Builder<'_>,
    source: usize,
    name: &str,
    text: &At<String>,
) -> Option<Template> {
    let (start, last) = text.rsplit_once(' ').unwrap_or(("", text));
    match SecretRef::parse(last) {
        Some(reference) => {
            let secret = builder.secret(source, &text.span, &reference)?;
            let start = match start.is_empty() {
                true => Template::default(),
                false => Template::literal(&format!("{start} ")),
            };
            Some(start.with_secret(Secret::new(&secret)))
        }
        None if is_secret_name(name) && !text.contains('{') => {
            builder.problem(source, &text.span, LITERAL_SECRET);
            None
        }
        None => builder.note_at(source, &text.span, Template::parse(text)),
    }
}

fn limits(builder: &mut Builder<'_>, source: usize, spec: &RequestSpec) -> Option<Limits> {
    let mut limits = Limits::default();
    if let Some(timeout) = &spec.timeout {
        limits.timeout = builder.seconds(source, timeout)?;
    }
    if let Some(bytes) = &spec.max_response_bytes {
        limits.response_bytes = bytes.value as usize;
    }
    Some(limits)
}

fn repeat(
    builder: &mut Builder<'_>,
    source: usize,
    spec: &RequestSpec,
    request: Option<&Request>,
) -> Option<Repeat> {
    match &spec.idempotency_header {
        Some(header) => {
            // Refused here if it can't be a header, with the place where it is written.
            let plain = request?
                .clone()
                .with_header(header, Template::literal("key"));
            builder.note_at(source, &header.span, plain)?;
            Some(Repeat::Keyed(header.value.clone()))
        }
        None if request?.is_safe() => Some(Repeat::Safe),
        None if spec.idempotent => Some(Repeat::Idempotent),
        None => Some(Repeat::Never),
    }
}

impl Builder<'_> {
    /// A number of seconds.
    pub(super) fn seconds(&mut self, source: usize, seconds: &At<f64>) -> Option<Duration> {
        let span = Duration::try_from_secs_f64(seconds.value).ok();
        let span = span.filter(|span| !span.is_zero() && *span <= Duration::from_secs(3600));
        if span.is_none() {
            self.problem(
                source,
                &seconds.span,
                "expected seconds, more than 0 and up to 3600",
            );
        }
        span
    }
}
