//! What a person says, from AG-UI's parts to those of a UI message, and back.

use wire::ag_ui::{Content, Part, Source};
use wire::part::File;
use wire::{Message, Part as UiPart};

/// As the parts of a UI message. What is not known is left out.
pub(super) fn read(content: &Content) -> Vec<UiPart> {
    match content {
        Content::Text(text) => vec![UiPart::text(text)],
        Content::Parts(parts) => parts.iter().filter_map(read_part).collect(),
    }
}

fn read_part(part: &Part) -> Option<UiPart> {
    let source = match part {
        Part::Text { text } => return Some(UiPart::text(text)),
        Part::Image { source }
        | Part::Audio { source }
        | Part::Video { source }
        | Part::Document { source } => source,
        Part::Other(_) => return None,
    };
    let (url, media_type) = match source {
        Source::Data { value, mime_type } => (
            format!("data:{mime_type};base64,{value}"),
            mime_type.clone(),
        ),
        Source::Url { value, mime_type } => {
            let mime_type = mime_type.clone();
            let guess = || media_type(part).to_owned();
            (value.clone(), mime_type.unwrap_or_else(guess))
        }
        Source::Other(_) => return None,
    };
    Some(UiPart::File(File {
        url,
        media_type,
        ..File::default()
    }))
}

/// What a file is of which only the kind is known.
fn media_type(part: &Part) -> &'static str {
    match part {
        Part::Image { .. } => "image/*",
        Part::Audio { .. } => "audio/*",
        Part::Video { .. } => "video/*",
        _ => "application/octet-stream",
    }
}

/// As AG-UI's content.
pub(super) fn show(message: &Message) -> Content {
    if let [UiPart::Text(text)] = &message.parts[..] {
        return Content::Text(text.text.clone());
    }
    let parts = message.parts.iter().filter_map(|part| match part {
        UiPart::Text(text) => Some(Part::Text {
            text: text.text.clone(),
        }),
        UiPart::File(file) => Some(show_file(file)),
        _ => None,
    });
    let parts: Vec<Part> = parts.collect();
    match parts.is_empty() {
        true => Content::Text(String::new()),
        false => Content::Parts(parts),
    }
}

fn show_file(file: &File) -> Part {
    let inline = file.url.strip_prefix("data:");
    let inline = inline.and_then(|rest| rest.split_once(";base64,"));
    let source = match inline {
        Some((mime_type, value)) => Source::Data {
            value: value.to_owned(),
            mime_type: mime_type.to_owned(),
        },
        None => Source::Url {
            value: file.url.clone(),
            mime_type: Some(file.media_type.clone()),
        },
    };
    match file.media_type.split('/').next() {
        Some("image") => Part::Image { source },
        Some("audio") => Part::Audio { source },
        Some("video") => Part::Video { source },
        _ => Part::Document { source },
    }
}
