//! The page docs/routes.md: every operation of the document, with its parameters and responses.

use std::fmt::Write as _;

use serde_json::Value;

use super::document;

const HEAD: &str = "# Routes\n\n\
    <!-- generated: adk-stream reference routes > docs/routes.md -->\n\n\
    Every route with its parameters, its body and its responses, from [openapi.json](openapi.json), which has \
    the schemas that are named here. [http.md](http.md) describes what the routes do, [errors.md](errors.md) \
    every code, and [wire.md](wire.md) what streams contain. A key is a key of a principal, as \
    `Authorization: Bearer KEY` or `x-api-key: KEY`.\n";

/// The page.
pub(crate) fn page() -> String {
    let document = document();
    let mut page = HEAD.to_owned();
    let tags = document["tags"].as_array().map_or(&[][..], Vec::as_slice);
    for tag in tags {
        // Writing to a string does not fail.
        let (name, what) = (text(&tag["name"]), text(&tag["description"]));
        let _ = write!(page, "\n## {name}\n\n{what}\n");
        for (path, operations) in document["paths"].as_object().into_iter().flatten() {
            for (method, operation) in operations.as_object().into_iter().flatten() {
                if operation["tags"][0] == tag["name"] {
                    let heading = format!("{} {path}", method.to_uppercase());
                    write_operation(&mut page, &document, &heading, operation);
                }
            }
        }
    }
    page
}

fn write_operation(page: &mut String, document: &Value, heading: &str, operation: &Value) {
    let _ = write!(page, "\n### `{heading}`\n\n{}", text(&operation["summary"]));
    let more = text(&operation["description"]);
    if !more.is_empty() {
        let _ = write!(page, " {more}");
    }
    let _ = write!(page, "\n\n{}", keys(&operation["security"]));
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    if let Some(name) = schema["$ref"]
        .as_str()
        .and_then(|name| name.rsplit('/').next())
    {
        let _ = write!(page, " The body is a `{name}`.");
    }
    page.push('\n');
    let parameters = operation["parameters"].as_array();
    if let Some(parameters) = parameters.filter(|all| !all.is_empty()) {
        page.push_str("\n| parameter | in | what |\n|---|---|---|\n");
        for parameter in parameters {
            let (name, place) = (text(&parameter["name"]), text(&parameter["in"]));
            let what = cell(&text(&parameter["description"]));
            let _ = writeln!(page, "| `{name}` | {place} | {what} |");
        }
    }
    page.push_str("\n| status | what, or which codes |\n|---|---|\n");
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        let shared = response["$ref"]
            .as_str()
            .and_then(|name| name.strip_prefix('#'));
        let response = shared
            .and_then(|name| document.pointer(name))
            .unwrap_or(response);
        let _ = writeln!(
            page,
            "| {status} | {} |",
            cell(&text(&response["description"]))
        );
    }
}

/// What a request has to bring.
fn keys(security: &Value) -> String {
    let Some(schemes) = security.as_array() else {
        return "It needs a key.".to_owned();
    };
    let schemes = schemes
        .iter()
        .filter_map(|scheme| scheme.as_object()?.keys().next());
    let ways = schemes.filter_map(|scheme| match scheme.as_str() {
        "bearer" => Some("a key"),
        "ticket" => Some("a ticket"),
        "agentKey" => Some("`ADK_STREAM_AGENT_KEY`"),
        "metricsKey" => Some("`ADK_STREAM_METRICS_KEY`"),
        // The same key in another header.
        _ => None,
    });
    match ways.collect::<Vec<_>>().join(" or ") {
        none if none.is_empty() => "It needs no key.".to_owned(),
        ways => format!("It needs {ways}."),
    }
}

/// A text, in one line.
fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_default()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_routes_are_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/routes.md");
        let published = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            published == page(),
            "docs/routes.md is out of date: `adk-stream reference routes > docs/routes.md`"
        );
    }

    #[test]
    fn every_operation_is_on_the_page_once() {
        let (document, page) = (document(), page());
        let mut count = 0;
        for (path, operations) in document["paths"].as_object().unwrap() {
            for method in operations.as_object().unwrap().keys() {
                let heading = format!("### `{} {path}`\n", method.to_uppercase());
                assert_eq!(page.matches(&heading).count(), 1, "{heading}");
                count += 1;
            }
        }
        assert_eq!(page.matches("\n### ").count(), count);
        assert!(page.contains("`too_many_open_chats`"));
    }

    #[test]
    fn keys_of_every_kind_are_named() {
        let page = page();
        for needs in [
            "It needs a key.",
            "It needs no key.",
            "It needs a key or a ticket.",
            "It needs a key or `ADK_STREAM_AGENT_KEY`.",
            "It needs `ADK_STREAM_METRICS_KEY`.",
        ] {
            assert!(page.contains(needs), "{needs}");
        }
    }
}
