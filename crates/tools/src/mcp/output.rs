//! What the answer of a call becomes: the output that the model and the page get.
//!
//! The shape is documented in docs/mcp.md. An answer is read as JSON and not by types, so that a kind of
//! content that is newer than this program is described and does not make the answer unreadable.

use serde_json::{Map, Value, json};

use super::catalog::shorten;
use super::config::{Limits, Media};
use crate::schema::Schema;
use crate::tool::ToolError;

/// How much of what a server says of an error is passed on.
const MAX_ERROR_BYTES: usize = 8 * 1024;

/// The output of a call, or why there is none.
pub(super) fn output(
    answer: &Value,
    declared: Option<&Schema>,
    limits: &Limits,
    media: Media,
) -> Result<Value, ToolError> {
    if answer.get("content").is_none() && answer.get("structuredContent").is_none() {
        return Err(unreadable("it has no content"));
    }
    let blocks = match answer.get("content") {
        Some(Value::Array(blocks)) => blocks.as_slice(),
        None | Some(Value::Null) => &[],
        Some(_) => return Err(unreadable("its content is not a list")),
    };
    if answer.get("isError") == Some(&Value::Bool(true)) {
        return Err(ToolError::new(error_text(blocks)));
    }
    let structured = answer
        .get("structuredContent")
        .filter(|value| !value.is_null());
    if let Some(declared) = declared {
        let Some(structured) = structured else {
            return Err(unreadable(
                "it has no structured content, which the tool declares",
            ));
        };
        let checked = declared.check_output(structured);
        checked.map_err(|why| {
            unreadable(&format!("it does not fit the tool's output schema: {why}"))
        })?;
    }
    let output = shape(blocks, structured, media);
    let size = serde_json::to_vec(&output).map_or(usize::MAX, |json| json.len());
    match size > limits.max_output_bytes {
        true => Err(ToolError::new(format!(
            "The tool ran, and its output of {size} bytes was dropped: the limit is {} bytes.",
            limits.max_output_bytes
        ))),
        false => Ok(output),
    }
}

fn unreadable(why: &str) -> ToolError {
    ToolError::new(format!("The tool ran, and its answer can't be used: {why}"))
}

fn shape(blocks: &[Value], structured: Option<&Value>, media: Media) -> Value {
    let is_text = |block: &Value| block.get("type").and_then(Value::as_str) == Some("text");
    if let Some(structured) = structured {
        // Texts beside structured content say the same for clients that don't know it.
        let rest: Vec<_> = blocks.iter().filter(|block| !is_text(block)).collect();
        return match rest.is_empty() {
            true => structured.clone(),
            false => json!({
                "structured": structured,
                "content": rest.into_iter().map(|block| content(block, media)).collect::<Vec<_>>(),
            }),
        };
    }
    match blocks {
        [] => Value::Null,
        [block] if is_text(block) => block.get("text").cloned().unwrap_or_default(),
        blocks => {
            let content: Vec<_> = blocks.iter().map(|block| content(block, media)).collect();
            json!({ "content": content })
        }
    }
}

/// One block of content.
fn content(block: &Value, media: Media) -> Value {
    let kind = block
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let mut shown = Map::new();
    shown.insert("type".to_owned(), kind.into());
    match kind {
        "text" => copy(block, &mut shown, &[("text", "text")]),
        "image" | "audio" => {
            copy(block, &mut shown, &[("mimeType", "mediaType")]);
            bytes(block.get("data"), &mut shown, media);
        }
        "resource" => {
            let resource = block.get("resource").unwrap_or(&Value::Null);
            let keys = [("uri", "uri"), ("mimeType", "mediaType"), ("text", "text")];
            copy(resource, &mut shown, &keys);
            if resource.get("text").is_none() {
                bytes(resource.get("blob"), &mut shown, media);
            }
        }
        "resource_link" => copy(
            block,
            &mut shown,
            &[
                ("uri", "uri"),
                ("name", "name"),
                ("title", "title"),
                ("description", "description"),
                ("mimeType", "mediaType"),
                ("size", "bytes"),
            ],
        ),
        _ => {
            let note = "This kind of content is not known here.";
            shown.insert("note".to_owned(), note.into());
        }
    }
    Value::Object(shown)
}

fn copy(from: &Value, to: &mut Map<String, Value>, keys: &[(&str, &str)]) {
    for (key, name) in keys {
        if let Some(value) = from.get(key).filter(|value| !value.is_null()) {
            to.insert((*name).to_owned(), value.clone());
        }
    }
}

/// Bytes, which are written as base64: described, or as they are.
fn bytes(data: Option<&Value>, to: &mut Map<String, Value>, media: Media) {
    let base64 = data.and_then(Value::as_str).unwrap_or_default();
    let padding = base64
        .bytes()
        .rev()
        .take_while(|byte| *byte == b'=')
        .count();
    let size = base64.len() / 4 * 3 - padding.min(base64.len() / 4 * 3);
    to.insert("bytes".to_owned(), size.into());
    if media == Media::Inline {
        to.insert("data".to_owned(), base64.into());
    }
}

/// What a server says of a call that failed.
fn error_text(blocks: &[Value]) -> String {
    let texts = blocks
        .iter()
        .filter_map(|block| block.get("text")?.as_str());
    let text = texts.collect::<Vec<_>>().join("\n");
    match text.trim().is_empty() {
        true => "The tool failed and did not say why.".to_owned(),
        false => shorten(&text, MAX_ERROR_BYTES),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(answer: Value) -> Result<Value, ToolError> {
        output(&answer, None, &Limits::default(), Media::Describe)
    }

    fn text(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    #[test]
    fn one_text_is_a_string_and_several_are_a_list() {
        assert_eq!(read(json!({"content": [text("Hi")]})), Ok(json!("Hi")));
        let two = json!({"content": [text("a"), text("b")]});
        assert_eq!(read(two), Ok(json!({"content": [text("a"), text("b")]})));
        assert_eq!(read(json!({"content": []})), Ok(Value::Null));
        assert!(read(json!({"tools": []})).is_err());
    }

    #[test]
    fn structured_content_is_the_output() {
        let answer = json!({"content": [text("{\"a\":1}")], "structuredContent": {"a": 1}});
        assert_eq!(read(answer), Ok(json!({"a": 1})));
        let image = json!({"type": "image", "mimeType": "image/png", "data": "aGk="});
        let answer = json!({"content": [text("x"), image], "structuredContent": {"a": 1}});
        let shown = json!({"type": "image", "mediaType": "image/png", "bytes": 2});
        let expected = json!({"structured": {"a": 1}, "content": [shown]});
        assert_eq!(read(answer), Ok(expected));
    }

    #[test]
    fn bytes_are_described_unless_they_are_asked_for() {
        let answer = json!({"content": [
            {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="},
            {"type": "audio", "mimeType": "audio/wav", "data": "aGVsbA=="},
            {"type": "resource", "resource": {"uri": "a:b", "mimeType": "x/y", "blob": "aGVs"}},
            {"type": "resource", "resource": {"uri": "a:c", "text": "words"}},
            {"type": "resource_link", "uri": "a:d", "name": "d", "size": 7},
            {"type": "hologram", "data": "zzz"},
        ]});
        let shown = read(answer.clone()).unwrap();
        let expected = json!({"content": [
            {"type": "image", "mediaType": "image/png", "bytes": 5},
            {"type": "audio", "mediaType": "audio/wav", "bytes": 4},
            {"type": "resource", "uri": "a:b", "mediaType": "x/y", "bytes": 3},
            {"type": "resource", "uri": "a:c", "text": "words"},
            {"type": "resource_link", "uri": "a:d", "name": "d", "bytes": 7},
            {"type": "hologram", "note": "This kind of content is not known here."},
        ]});
        assert_eq!(shown, expected);
        let inline = output(&answer, None, &Limits::default(), Media::Inline).unwrap();
        assert_eq!(inline["content"][0]["data"], "aGVsbG8=");
        assert_eq!(inline["content"][2]["data"], "aGVs");
    }

    #[test]
    fn error_of_the_tool_is_reported() {
        let answer = json!({"isError": true, "content": [text("No such order")]});
        assert_eq!(read(answer), Err(ToolError::new("No such order")));
        let ToolError::Failed(why) = read(json!({"isError": true, "content": []})).unwrap_err()
        else {
            panic!("it failed");
        };
        assert!(why.contains("did not say why"), "{why}");
        let answer = json!({"isError": true, "content": [text(&"x".repeat(100_000))]});
        assert!(read(answer).unwrap_err().to_string().len() < 9000);
    }

    #[test]
    fn what_is_not_declared_or_too_large_is_an_error() {
        let declared = Schema::of_output(json!({
            "type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"],
        }));
        let check = |answer: Value| {
            let read = output(
                &answer,
                Some(&declared),
                &Limits::default(),
                Media::Describe,
            );
            read.map_err(|error| error.to_string())
        };
        assert_eq!(
            check(json!({"structuredContent": {"n": 1}})),
            Ok(json!({"n": 1}))
        );
        let why = check(json!({"structuredContent": {"n": "1"}})).unwrap_err();
        assert!(
            why.contains("does not fit the tool's output schema"),
            "{why}"
        );
        let why = check(json!({"content": [text("1")]})).unwrap_err();
        assert!(why.contains("no structured content"), "{why}");
        let why = read(json!({"content": "text"})).unwrap_err().to_string();
        assert!(why.contains("not a list"), "{why}");
        let long = text(&"x".repeat(2_000_000));
        let why = read(json!({"content": [long]})).unwrap_err().to_string();
        assert!(why.contains("2000002 bytes was dropped"), "{why}");
    }
}
