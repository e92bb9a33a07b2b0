//! Older and foreign shapes of messages, read as today's.
//!
//! Pages of the legacy bridge, and of the AI SDK before 5, send `content` in place of `parts`: a
//! string, or a list of parts. Two more old shapes are read in place: a call's state `call`
//! ([`crate::tool_part`]), and outputs as `tool-result` parts ([`crate::part::ToolResult`]). Answers
//! in the shape of ADK's confirmation are ordinary tool parts; [`super::confirmation`] reads what they
//! mean.

use serde_json::{Map, Value};

use crate::decode::{DecodeError, Field, Fields, Path, Problem};
use crate::part::{File, Part};

/// Takes `content` where a message has no `parts`.
pub(crate) fn take_content(fields: &mut Fields<'_>) -> Result<Vec<Part>, DecodeError> {
    let path = fields.path();
    let content = path.key("content");
    match fields.take::<Option<Value>>("content")? {
        None => Err(path.key("parts").error(Problem::Missing)),
        Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![Part::text(text)]),
        Some(Value::Array(items)) => items
            .into_iter()
            .enumerate()
            .map(|(index, item)| content_part(item, content.index(index)))
            .collect(),
        Some(_) => Err(content.expected("a string or an array of parts")),
    }
}

/// One element of `content`: a string, an image of the older kind, or a part.
fn content_part(item: Value, path: Path<'_>) -> Result<Part, DecodeError> {
    match item {
        Value::String(text) => Ok(Part::text(text)),
        Value::Object(map) if map.get("type").and_then(Value::as_str) == Some("image") => {
            image(map, path)
        }
        item => Part::from_value(item, path, crate::decode::Nulls::Absent),
    }
}

/// `{"type": "image", "image" | "url" | "data", "mediaType" | "mimeType"?}` is a file today.
fn image(mut map: Map<String, Value>, path: Path<'_>) -> Result<Part, DecodeError> {
    map.shift_remove("type");
    let mut first = |keys: &[&str]| {
        keys.iter()
            .find_map(|key| map.shift_remove(*key))
            .and_then(|value| value.as_str().map(str::to_owned))
    };
    let media_type = first(&["mediaType", "mimeType", "media_type"]);
    let media_type = media_type.unwrap_or_else(|| "image/png".to_owned());
    let Some(source) = first(&["url", "image", "data", "content"]) else {
        return Err(path.key("image").error(Problem::Missing));
    };
    let url = if source.contains(':') {
        source
    } else {
        format!("data:{media_type};base64,{source}")
    };
    Ok(Part::File(File {
        media_type,
        url,
        extra: map,
        ..File::default()
    }))
}

#[cfg(test)]
mod tests {
    use crate::message::Message;
    use crate::part::Part;
    use serde_json::json;

    fn parts(content: serde_json::Value) -> Vec<Part> {
        Message::decode(json!({"role": "user", "content": content}))
            .unwrap()
            .parts
    }

    #[test]
    fn content_as_a_string_is_one_text() {
        assert_eq!(
            parts(json!("現在地を教えて")),
            [Part::text("現在地を教えて")]
        );
    }

    #[test]
    fn content_as_a_list_is_its_parts() {
        let parts = parts(json!([
            "plain",
            {"type": "text", "text": "typed"},
            {"type": "tool-result", "toolCallId": "c1", "toolName": "process_payment",
             "result": {"approved": true, "user_message": "User approved"}},
            {"type": "image", "image": "iVBOR", "mimeType": "image/jpeg"},
        ]));
        assert_eq!(parts[0], Part::text("plain"));
        assert_eq!(parts[1], Part::text("typed"));
        let Part::ToolResult(result) = &parts[2] else {
            panic!("{parts:?}")
        };
        assert_eq!(result.tool_call_id, "c1");
        let Part::File(file) = &parts[3] else {
            panic!("{parts:?}")
        };
        assert_eq!(file.url, "data:image/jpeg;base64,iVBOR");
    }

    #[test]
    fn errors_in_a_list_name_the_path() {
        let error = Message::decode(json!({"role": "user", "content": [{"type": "text"}]}));
        assert_eq!(error.unwrap_err().path, "content[0].text");
        let error = Message::decode(json!({"role": "user", "content": 5}));
        assert_eq!(error.unwrap_err().path, "content");
    }
}
