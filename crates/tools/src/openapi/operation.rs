//! One operation, as a request with one input.

use serde_json::{Map, Value, json};

use super::schema::Definitions;
use super::{Document, OpenApiError, Settings, security, wrong};
use crate::http::{Body, Named, Request, Template};

/// The name of the body among the fields of an input, where its own fields can't be.
const BODY: &str = "body";

/// One operation, as a request.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The description that a model gets.
    pub description: String,
    /// The JSON Schema of its input.
    pub input: Value,
    /// The request.
    pub request: Request,
    /// Its method.
    pub method: String,
}

/// A parameter, by the name that it has in the input.
struct Parameter<'a> {
    name: &'a str,
    place: &'a str,
    field: String,
    value: &'a Value,
}

/// The input, as it grows.
#[derive(Default)]
struct Input {
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl Input {
    fn add(&mut self, field: &str, schema: Value, is_required: bool) {
        self.properties.insert(field.to_owned(), schema);
        if is_required {
            self.required.push(field.into());
        }
    }
}

pub(super) fn read(
    document: &Document,
    settings: &Settings,
    path: &str,
    item: &Value,
    method: &str,
    operation: &Value,
) -> Result<Operation, OpenApiError> {
    let parameters = parameters(document, item, operation)?;
    let mut definitions = Definitions::new(document);
    let mut input = Input::default();
    let mut url = format!("{}{path}", server(document, settings, item, operation)?);
    for parameter in &parameters {
        let Some(schema) = parameter.value.get("schema") else {
            return wrong(format!("parameter `{}` has no schema", parameter.name));
        };
        check_style(document, parameter, schema)?;
        let mut schema = definitions.schema(schema)?;
        describe(&mut schema, parameter.value);
        let is_required = parameter.value.get("required") == Some(&Value::Bool(true));
        let is_required = is_required || parameter.place == "path";
        input.add(&parameter.field, schema, is_required);
        if parameter.place == "path" {
            let (name, field) = (
                format!("{{{}}}", parameter.name),
                format!("{{{}}}", parameter.field),
            );
            url = url.replace(&name, &field);
        }
    }
    let body = body(document, operation, &mut definitions, &mut input)?;
    let named = match settings.server {
        Some(_) => Named::ByOperator,
        None => Named::ByDocument,
    };
    let made = Request::new(&method.to_ascii_uppercase(), &url, named);
    let mut request = made.map_err(|error| OpenApiError(error.0))?.with_body(body);
    for parameter in &parameters {
        let value = Template::field(&parameter.field);
        request = match parameter.place {
            "query" => request.with_query(parameter.name, value),
            "header" => {
                let made = request.with_header(parameter.name, value);
                made.map_err(|error| OpenApiError(error.0))?
            }
            _ => request,
        };
    }
    let request = security::apply(document, settings, operation, request)?;
    let text = |key: &str| {
        operation
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .trim()
    };
    let description = match (text("summary"), text("description")) {
        ("", description) => description.to_owned(),
        (summary, "") => summary.to_owned(),
        (summary, description) => format!("{summary}\n\n{description}"),
    };
    let mut schema = json!({"type": "object", "properties": input.properties});
    if !input.required.is_empty() {
        schema["required"] = input.required.into();
    }
    if let Some(definitions) = definitions.into_definitions() {
        schema["$defs"] = definitions;
    }
    Ok(Operation {
        description,
        input: schema,
        request,
        method: method.to_ascii_uppercase(),
    })
}

/// Where the API is.
fn server(
    document: &Document,
    settings: &Settings,
    item: &Value,
    operation: &Value,
) -> Result<String, OpenApiError> {
    if let Some(server) = &settings.server {
        return Ok(server.trim_end_matches('/').to_owned());
    }
    let places = [operation, item, &document.root];
    let servers = places
        .iter()
        .find_map(|place| place.get("servers")?.as_array());
    let Some(server) = servers.and_then(|servers| servers.first()) else {
        return wrong("the document names no server: give one");
    };
    let mut url = server
        .get("url")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let variables = server.get("variables").and_then(Value::as_object);
    for (name, variable) in variables.into_iter().flatten() {
        let default = variable
            .get("default")
            .and_then(Value::as_str)
            .unwrap_or_default();
        url = url.replace(&format!("{{{name}}}"), default);
    }
    match url.starts_with("http://") || url.starts_with("https://") {
        true => Ok(url.trim_end_matches('/').to_owned()),
        false => wrong(format!("the document's server `{url}` is no URL: give one")),
    }
}

/// The parameters of an operation, each by a name of its own.
fn parameters<'a>(
    document: &'a Document,
    item: &'a Value,
    operation: &'a Value,
) -> Result<Vec<Parameter<'a>>, OpenApiError> {
    let mut found: Vec<Parameter<'a>> = Vec::new();
    for owner in [item, operation] {
        let all = owner.get("parameters").and_then(Value::as_array);
        for value in all.into_iter().flatten() {
            let value = document.resolve(value)?;
            let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
            let (name, place) = (text("name"), text("in"));
            // The document says that these are not parameters.
            let ignored = ["accept", "content-type", "authorization"];
            if place == "header" && ignored.contains(&name.to_ascii_lowercase().as_str()) {
                continue;
            }
            if place == "cookie" {
                if value.get("required") == Some(&Value::Bool(true)) {
                    return wrong(format!("parameter `{name}` is a cookie, which is not sent"));
                }
                continue;
            }
            found.retain(|one| (one.name, one.place) != (name, place));
            found.push(Parameter {
                name,
                place,
                field: name.to_owned(),
                value,
            });
        }
    }
    for number in 0..found.len() {
        let name = found[number].name;
        let is_taken = found[..number].iter().any(|other| other.field == name);
        if is_taken {
            found[number].field = format!("{}_{name}", found[number].place);
        }
    }
    Ok(found)
}

/// Refuses ways to write lists and objects that would not be sent as the server expects them.
fn check_style(
    document: &Document,
    parameter: &Parameter<'_>,
    schema: &Value,
) -> Result<(), OpenApiError> {
    let schema = document.resolve(schema)?;
    let kind = schema
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let style = parameter.value.get("style").and_then(Value::as_str);
    let explode = parameter.value.get("explode").and_then(Value::as_bool);
    let is_plain = matches!(
        (parameter.place, style),
        (_, None) | ("query", Some("form")) | ("path" | "header", Some("simple"))
    );
    let is_list = kind == "array";
    let is_sent = is_plain
        && kind != "object"
        && !(is_list && (parameter.place != "query" || explode == Some(false)));
    match is_sent {
        true => Ok(()),
        false => wrong(format!(
            "parameter `{}` is written in a style that is not supported",
            parameter.name
        )),
    }
}

/// The description of a parameter belongs to its schema, where a model reads it.
fn describe(schema: &mut Value, parameter: &Value) {
    let description = parameter.get("description").and_then(Value::as_str);
    if let (Value::Object(schema), Some(description)) = (schema, description)
        && !schema.contains_key("description")
        && !schema.contains_key("$ref")
    {
        schema.insert("description".to_owned(), description.into());
    }
}

fn body(
    document: &Document,
    operation: &Value,
    definitions: &mut Definitions<'_>,
    input: &mut Input,
) -> Result<Body, OpenApiError> {
    let Some(body) = operation.get("requestBody") else {
        return Ok(Body::None);
    };
    let body = document.resolve(body)?;
    let content = body.get("content").and_then(Value::as_object);
    let json = content.into_iter().flatten().find(|(kind, _)| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind == "application/json" || kind.ends_with("+json") || kind == "*/*"
    });
    let Some((_, media)) = json else {
        return wrong("its body is not JSON");
    };
    let Some(schema) = media.get("schema") else {
        return wrong("its body has no schema");
    };
    let is_required = body.get("required") == Some(&Value::Bool(true));
    let read = definitions.schema(document.resolve(schema)?)?;
    let properties = read.get("properties").and_then(Value::as_object);
    let is_flat = is_required
        && read.get("type").and_then(Value::as_str) == Some("object")
        && [
            "allOf",
            "anyOf",
            "oneOf",
            "additionalProperties",
            "patternProperties",
        ]
        .iter()
        .all(|keyword| read.get(*keyword).is_none());
    match properties.filter(|_| is_flat) {
        Some(properties)
            if properties
                .keys()
                .all(|name| !input.properties.contains_key(name)) =>
        {
            let required = read.get("required").and_then(Value::as_array);
            for (name, schema) in properties {
                let is_required =
                    required.is_some_and(|all| all.iter().any(|one| one == name.as_str()));
                input.add(name, schema.clone(), is_required);
            }
            Ok(Body::Rest)
        }
        _ if input.properties.contains_key(BODY) => wrong("a parameter is called `body`"),
        _ => {
            input.add(BODY, read, is_required);
            Ok(Body::Field(BODY.to_owned()))
        }
    }
}
