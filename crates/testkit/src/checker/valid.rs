//! What the SDK's schemas refuse: of chunks as they arrive, and of messages as they end up.

use serde_json::Value;

use wire::assembler::Sdk;
use wire::chunk::{Chunk, FinishReason};
use wire::decode::{DecodeError, Problem};
use wire::message::{Message, Role};
use wire::part::Part;
use wire::tool_part::{ToolPart, ToolState};

/// Fields that 7 checks and 6 lets pass unseen.
fn forget_newer_fields(chunk: &mut Value) {
    let newer: &[&str] = match chunk["type"].as_str() {
        Some("text-end") => &["citations"],
        Some("tool-approval-request") => &["reason", "isAutomatic"],
        _ => &[],
    };
    if let Value::Object(map) = chunk {
        for key in newer {
            map.shift_remove(*key);
        }
    }
}

/// The chunk as the newest release of the major reads it, and the path of a field that only the
/// strict early releases refuse.
pub(super) fn chunk(mut value: Value, sdk: Sdk) -> Result<(Chunk, Option<String>), String> {
    let mut unknown_field = None;
    if sdk == Sdk::V6 && value.is_object() {
        let before = value.clone();
        forget_newer_fields(&mut value);
        unknown_field = (before != value).then(|| "of version 7".to_owned());
    }
    let chunk = loop {
        match Chunk::decode(value.clone()) {
            Ok(chunk) => break chunk,
            Err(DecodeError {
                path,
                problem: Problem::UnknownField,
            }) => {
                if let Value::Object(map) = &mut value {
                    map.shift_remove(&path);
                }
                unknown_field = Some(path);
            }
            Err(error) => return Err(error.to_string()),
        }
    };
    let known = match (&chunk, sdk) {
        (_, Sdk::V7) => true,
        (Chunk::Finish(finish), Sdk::V6) => finish.finish_reason != Some(FinishReason::Interrupted),
        (
            Chunk::ResetStep
            | Chunk::ReasoningFile(_)
            | Chunk::Custom(_)
            | Chunk::SteeringMessage(_)
            | Chunk::ToolApprovalResponse(_),
            Sdk::V6,
        ) => false,
        (_, Sdk::V6) => true,
    };
    if known {
        Ok((chunk, unknown_field))
    } else {
        Err(format!("ai@6 does not know {}", chunk.type_name()))
    }
}

/// Whether `validateUIMessages` accepts the message.
pub(super) fn message(message: &Message, sdk: Sdk) -> Result<(), String> {
    if message.id.is_none() {
        return Err("id: missing".to_owned());
    }
    if message.role != Role::Assistant && message.parts.is_empty() {
        return Err("parts: empty".to_owned());
    }
    for (index, part) in message.parts.iter().enumerate() {
        let problem = match part {
            Part::Tool(part) => tool_part(part),
            Part::Custom(_) | Part::ReasoningFile(_) | Part::SteeringMessage(_)
                if sdk == Sdk::V6 =>
            {
                Some("a part that ai@6 does not know")
            }
            Part::Unknown(_) | Part::ToolResult(_) => Some("a part that no release knows"),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(format!("parts[{index}]: {problem}"));
        }
    }
    Ok(())
}

fn tool_part(part: &ToolPart) -> Option<&'static str> {
    let answer = part.approval.as_ref().map(|approval| approval.approved);
    if part.output.is_some() && part.state != ToolState::OutputAvailable {
        return Some("an output in a state that has none");
    }
    if part.error_text.is_some() && part.state != ToolState::OutputError {
        return Some("an error in a state that has none");
    }
    if part.input.is_none() && part.needs_input() {
        return Some("no input");
    }
    match part.state {
        ToolState::InputStreaming | ToolState::InputAvailable => answer
            .is_some()
            .then_some("an approval before there is a question"),
        ToolState::ApprovalRequested => match answer {
            Some(None) => None,
            _ => Some("asks without an open question"),
        },
        ToolState::ApprovalResponded => match answer {
            Some(Some(_)) => None,
            _ => Some("answered without an answer"),
        },
        ToolState::OutputAvailable | ToolState::OutputError => match answer {
            None | Some(Some(true)) => None,
            _ => Some("an output without the approval being granted"),
        },
        ToolState::OutputDenied => match answer {
            Some(Some(false)) => None,
            _ => Some("denied without a denial"),
        },
    }
}
