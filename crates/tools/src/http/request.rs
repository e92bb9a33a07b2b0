//! A request, made from the input of a call.

use std::collections::BTreeSet;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde_json::{Map, Value};
use turn::TraceContext;

use super::HttpError;
use super::secret::Secret;
use super::template::{Template, Values, encode, scalar};

/// The header that says under which claim of its chat a call runs.
const FENCE: HeaderName = HeaderName::from_static("adk-stream-fence");

/// A request with parameters.
#[derive(Debug, Clone)]
pub struct Request {
    method: Method,
    /// Scheme, host and port.
    origin: Url,
    segments: Vec<Template>,
    query: Vec<(String, Template)>,
    headers: Vec<(HeaderName, Template)>,
    body: Body,
    named: Named,
}

/// Who named the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// The operator: an address that is written out, or `localhost`, is meant.
    ByOperator,
    /// A document that somebody else may have written: its host must be public.
    ByDocument,
}

/// What the body of a request is.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Body {
    /// The fields of the input that stand nowhere else, as a JSON object; none, where there are none.
    #[default]
    Rest,
    /// One field of the input, as JSON.
    Field(String),
    /// This JSON, with parameters in its texts. A text that is one parameter becomes its value.
    Template(Value),
    /// There is none.
    None,
}

/// A request that can be sent.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Vec<u8>>,
}

impl Request {
    /// A request by its method and the template of its URL.
    pub fn new(method: &str, url: &str, named: Named) -> Result<Self, HttpError> {
        let wrong = |why: &str| HttpError(format!("`{url}` is not a URL: {why}"));
        let is_method = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].contains(&method);
        let method = Method::from_bytes(method.as_bytes()).ok();
        let method = method.filter(|_| is_method).ok_or_else(|| {
            HttpError("the method must be GET, HEAD, POST, PUT, PATCH or DELETE".to_owned())
        })?;
        if url
            .chars()
            .any(|c| c.is_whitespace() || c.is_control() || c == '\\')
        {
            return Err(wrong(
                "it holds a space, a control character or a backslash",
            ));
        }
        let (scheme, rest) = url
            .split_once("://")
            .ok_or_else(|| wrong("it has no scheme"))?;
        if !matches!(scheme, "http" | "https") {
            return Err(wrong("it is neither http nor https"));
        }
        if rest.contains('#') {
            return Err(wrong("it has a fragment"));
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        if authority.contains(['{', '}']) {
            return Err(wrong("a parameter can't choose the host"));
        }
        if authority.contains('@') {
            return Err(wrong("it names a user; send a secret in a header"));
        }
        let origin = Url::parse(&format!("{scheme}://{authority}/"));
        let origin = origin.map_err(|error| wrong(&error.to_string()))?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let path = path.strip_prefix('/').unwrap_or(path);
        if path.split('/').any(is_dots) {
            return Err(wrong("its path has a segment `.` or `..`"));
        }
        let segments = path.split('/').map(Template::parse);
        let segments = segments.collect::<Result<_, _>>()?;
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let query = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name.contains(['{', '}']) {
                true => Err(wrong("a parameter can't be a name in the query")),
                false => Ok((name.to_owned(), Template::parse(value)?)),
            }
        });
        let query = query.collect::<Result<_, _>>()?;
        Ok(Self {
            body: Body::default(),
            headers: Vec::new(),
            method,
            origin,
            segments,
            query,
            named,
        })
    }

    /// The same with a header. Its name must be one that a request may set.
    pub fn with_header(mut self, name: &str, value: Template) -> Result<Self, HttpError> {
        let wrong = |why: &str| HttpError(format!("`{name}` {why}"));
        let header = HeaderName::from_bytes(name.as_bytes());
        let header = header.map_err(|_| wrong("is not the name of a header"))?;
        if is_framing(header.as_str()) {
            return Err(wrong("is a header that the connection sets"));
        }
        self.headers.push((header, value));
        Ok(self)
    }

    /// The same with one more value in the query.
    #[must_use]
    pub fn with_query(mut self, name: &str, value: Template) -> Self {
        self.query.push((encode(name), value));
        self
    }

    /// The same with a body.
    #[must_use]
    pub fn with_body(mut self, body: Body) -> Self {
        self.body = body;
        self
    }

    /// Whether it changes nothing.
    pub fn is_safe(&self) -> bool {
        self.method == Method::GET || self.method == Method::HEAD
    }

    /// Scheme, host and port, as people read them.
    pub fn origin(&self) -> String {
        self.origin.as_str().trim_end_matches('/').to_owned()
    }

    /// The host.
    pub fn host(&self) -> &str {
        self.origin.host_str().unwrap_or_default()
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.origin.port_or_known_default().unwrap_or(443)
    }

    pub(crate) fn url(&self) -> &Url {
        &self.origin
    }

    pub(crate) fn named(&self) -> Named {
        self.named
    }

    /// Whether the operator wrote out where it leads: an address, or this machine.
    pub(crate) fn is_written_address(&self) -> bool {
        let host = self.host().trim_end_matches('.');
        let is_address = !matches!(self.origin.domain(), Some(name) if name != "localhost");
        self.named == Named::ByOperator && (is_address || host == "localhost")
    }

    /// The secrets that it sends.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        let queries = self.query.iter().flat_map(|(_, value)| value.secrets());
        let headers = self.headers.iter().flat_map(|(_, value)| value.secrets());
        queries.chain(headers).cloned().collect()
    }

    /// The fields of the input that stand somewhere else than in the rest.
    fn used(&self) -> BTreeSet<&str> {
        let mut used: BTreeSet<&str> = self.segments.iter().flat_map(Template::fields).collect();
        used.extend(self.query.iter().flat_map(|(_, value)| value.fields()));
        used.extend(self.headers.iter().flat_map(|(_, value)| value.fields()));
        used
    }

    /// What is wrong with its parameters, given the schema of the input.
    pub(crate) fn check_parameters(&self, input: &Value) -> Result<(), HttpError> {
        let properties = input.get("properties").and_then(Value::as_object);
        let has = |name: &str| properties.is_some_and(|all| all.contains_key(name));
        let mut names: Vec<&str> = self.used().into_iter().collect();
        if let Body::Template(body) = &self.body {
            check_body(body)?;
            names.extend(body_fields(body));
        }
        if let Some(unknown) = names.iter().find(|name| !has(name)) {
            return Err(HttpError(format!(
                "`{{{unknown}}}` is not a property of the input"
            )));
        }
        let required = input.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
        let mut in_path = self.segments.iter().flat_map(Template::fields);
        match in_path.find(|name| !is_required(name)) {
            Some(optional) => Err(HttpError(format!(
                "`{{{optional}}}` is part of the path, so the input must require it"
            ))),
            None => Ok(()),
        }
    }

    /// Whether it is the same for every call: it has no parameters.
    pub(crate) fn check_plain(&self) -> Result<(), HttpError> {
        let headers = self.headers.iter().map(|(_, value)| value);
        let query = self.query.iter().map(|(_, value)| value);
        let mut all = self.segments.iter().chain(query).chain(headers);
        match all.all(Template::is_plain) {
            true => Ok(()),
            false => Err(HttpError(
                "the request on a takeover is of no call, and can have no parameters".to_owned(),
            )),
        }
    }

    /// The same, and whether everything of the input is sent.
    pub(crate) fn check_input(&self, input: &Value) -> Result<(), HttpError> {
        self.check_parameters(input)?;
        let has_rest =
            self.body == Body::Rest && self.method != Method::GET && self.method != Method::HEAD;
        if has_rest {
            return Ok(());
        }
        let mut used: BTreeSet<String> = self.used().into_iter().map(str::to_owned).collect();
        match &self.body {
            Body::Field(name) => {
                used.insert(name.clone());
            }
            Body::Template(body) => used.extend(body_fields(body).into_iter().map(str::to_owned)),
            Body::Rest | Body::None => {}
        }
        let properties = input.get("properties").and_then(Value::as_object);
        let mut names = properties.into_iter().flat_map(Map::keys);
        match names.find(|name| !used.contains(*name)) {
            // A person would consent to a value that goes nowhere.
            Some(unused) => Err(HttpError(format!(
                "the input's `{unused}` is sent nowhere: put `{{{unused}}}` into the URL, a header or the body"
            ))),
            None => Ok(()),
        }
    }

    /// The request for an input.
    pub(crate) fn prepare(&self, values: Values<'_>) -> Result<Prepared, String> {
        let mut text = self.origin.as_str().trim_end_matches('/').to_owned();
        for segment in &self.segments {
            text.push('/');
            text.push_str(&fill_segment(segment, values)?);
        }
        let query = self.fill_query(values)?;
        if !query.is_empty() {
            text.push('?');
            text.push_str(&query);
        }
        let url = Url::parse(&text).map_err(|error| format!("the result is not a URL: {error}"))?;
        // What follows from the encoding above, checked on what will be sent.
        let segments = url.path_segments().map_or(0, Iterator::count);
        if url.origin() != self.origin.origin() || segments != self.segments.len() {
            return Err("the result is not a URL of this tool".to_owned());
        }
        let mut headers = HeaderMap::new();
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/*;q=0.9, */*;q=0.1"),
        );
        if let Some(fence) = values.fence {
            // A scope is the id of a turn, which every header can carry.
            let fence = HeaderValue::from_str(&fence.to_string()).ok();
            headers.extend(fence.map(|fence| (FENCE, fence)));
        }
        for (name, value) in values.trace.into_iter().flat_map(TraceContext::headers) {
            let value = HeaderValue::from_str(&value).ok();
            headers.extend(value.map(|value| (HeaderName::from_static(name), value)));
        }
        for (name, value) in &self.headers {
            let Some(text) = value.fill(values)? else {
                continue;
            };
            let mut header = HeaderValue::from_str(&text)
                .map_err(|_| format!("the header {name} can't carry this value"))?;
            header.set_sensitive(value.secrets().next().is_some());
            headers.insert(name.clone(), header);
        }
        let body = self.fill_body(values)?;
        if body.is_some() && !headers.contains_key(CONTENT_TYPE) {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let method = self.method.clone();
        Ok(Prepared {
            method,
            url,
            headers,
            body,
        })
    }

    fn fill_query(&self, values: Values<'_>) -> Result<String, String> {
        let mut pairs = Vec::new();
        for (name, value) in &self.query {
            let list = value.only_field().and_then(|field| values.input.get(field));
            if let (Some(Value::Array(items)), Some(field)) = (list, value.only_field()) {
                for item in items {
                    pairs.push(format!("{name}={}", encode(&scalar(field, item)?)));
                }
            } else if let Some(text) = value.fill_encoded(values)? {
                pairs.push(format!("{name}={text}"));
            }
        }
        Ok(pairs.join("&"))
    }

    fn fill_body(&self, values: Values<'_>) -> Result<Option<Vec<u8>>, String> {
        let body = match &self.body {
            _ if self.is_safe() => None,
            Body::None => None,
            Body::Field(name) => values.input.get(name).cloned(),
            Body::Template(body) => Some(fill_json(body, values)?),
            Body::Rest => {
                let used = self.used();
                let rest = values
                    .input
                    .iter()
                    .filter(|(name, _)| !used.contains(name.as_str()));
                let rest: Map<String, Value> = rest
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect();
                (!rest.is_empty()).then_some(Value::Object(rest))
            }
        };
        // Nothing that is JSON can't be written as JSON.
        Ok(body.map(|body| body.to_string().into_bytes()))
    }
}

/// A segment of a path that stays one, however often it is decoded.
fn fill_segment(segment: &Template, values: Values<'_>) -> Result<String, String> {
    for name in segment.fields() {
        let value = values.input.get(name).filter(|value| !value.is_null());
        let value = value.ok_or_else(|| format!("{name} is missing"))?;
        let text = scalar(name, value)?;
        if text.is_empty() {
            return Err(format!("{name} must not be empty"));
        }
        if text.chars().any(char::is_control) {
            return Err(format!("{name} must not hold control characters"));
        }
        // Encoded, it would stay one segment; a proxy that decodes it would go up all the same.
        let decoded = text.replace("%2e", ".").replace("%2E", ".");
        if decoded
            .split(['/', '\\'])
            .any(|part| matches!(part, "." | ".."))
        {
            return Err(format!(
                "{name} must not hold `.` or `..` as a part of a path"
            ));
        }
    }
    let plain = segment.fill(values)?.unwrap_or_default();
    if is_dots(&plain) {
        return Err("no part of the path may be `.` or `..`".to_owned());
    }
    Ok(segment.fill_encoded(values)?.unwrap_or_default())
}

fn is_dots(segment: &str) -> bool {
    let plain = segment.replace("%2e", ".").replace("%2E", ".");
    matches!(plain.as_str(), "." | "..")
}

/// Whether it belongs to the connection, so that a value in it could change what the request is.
fn is_framing(header: &str) -> bool {
    matches!(
        header,
        "host"
            | "content-length"
            | "transfer-encoding"
            | "connection"
            | "upgrade"
            | "te"
            | "trailer"
            | "expect"
            | "keep-alive"
            | "proxy-connection"
    )
}

fn fill_json(body: &Value, values: Values<'_>) -> Result<Value, String> {
    Ok(match body {
        Value::String(text) => {
            // It was checked when the tool was made.
            let template = Template::parse(text).map_err(|error| error.0)?;
            match template.only_field() {
                Some(field) => values.input.get(field).cloned().unwrap_or(Value::Null),
                None => template.fill(values)?.map_or(Value::Null, Value::String),
            }
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| fill_json(item, values));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(map) => {
            let mut filled = Map::new();
            for (key, inner) in map {
                let value = fill_json(inner, values)?;
                // An optional field that was not given is left out.
                if !value.is_null() || inner.is_null() {
                    filled.insert(key.clone(), value);
                }
            }
            Value::Object(filled)
        }
        other => other.clone(),
    })
}

fn texts<'a>(body: &'a Value, found: &mut Vec<&'a str>) {
    match body {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(map) => map.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

fn check_body(body: &Value) -> Result<(), HttpError> {
    let mut found = Vec::new();
    texts(body, &mut found);
    found
        .into_iter()
        .try_for_each(|text| Template::parse(text).map(|_| ()))
}

fn body_fields(body: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    texts(body, &mut found);
    let names = found.into_iter().flat_map(|text| {
        text.split('{')
            .skip(1)
            .filter_map(|part| part.split_once('}').map(|(name, _)| name))
    });
    names.filter(|name| *name != "$call").collect()
}

#[cfg(test)]
mod tests;
