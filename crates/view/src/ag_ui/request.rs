//! What a client's request says, as the messages and answers that every client's are read as.

use serde_json::{Value, json};
use wire::ag_ui::{
    Content, Message, Part as ContentPart, ResumeEntry, ResumeStatus, RunRequest, ToolCall,
};
use wire::tool_part::Approval;
use wire::{Message as UiMessage, Part, Role, ToolPart, ToolState, Trigger};

use super::{SEPARATOR, SPEECH, content};

/// What a client wants of a chat.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientRun {
    /// To see it: the request brings nothing.
    Connect,
    /// To have taken in what is new.
    Send {
        /// Why it is sent.
        trigger: Trigger,
        /// The message that it is about, if it says so.
        message_id: Option<String>,
        /// The history. Answers are in the agent's last message, or in one without an id behind all others.
        messages: Vec<UiMessage>,
    },
}

impl ClientRun {
    /// What a request wants; or what is wrong with it.
    pub fn of(request: &RunRequest) -> Result<Self, String> {
        if request.messages.is_empty() && request.resume.is_empty() {
            return Ok(Self::Connect);
        }
        let mut messages = history(without_answers(request));
        let answers = request.resume.iter().enumerate();
        let answers = answers.map(|(index, entry)| answer(index, entry));
        let answers: Vec<Part> = answers.collect::<Result<_, _>>()?;
        let prop = |key: &str| request.forwarded_props.get(key).and_then(Value::as_str);
        let trigger = match prop("trigger") {
            Some("regenerate-message") => Trigger::RegenerateMessage,
            _ => Trigger::SubmitMessage,
        };
        // What is given again takes its questions back. The client demands answers all the same.
        if !answers.is_empty() && trigger == Trigger::SubmitMessage {
            match messages.last_mut() {
                Some(last) if last.role == Role::Assistant => last.parts.extend(answers),
                _ => messages.push(UiMessage {
                    id: None,
                    ..UiMessage::new("", Role::Assistant, answers)
                }),
            }
        }
        Ok(Self::Send {
            trigger,
            message_id: prop("messageId").map(|id| base(id).to_owned()),
            messages,
        })
    }
}

/// The messages of a request without results that only repeat its answers: CopilotKit adds one for each
/// call that it was asked about, and nobody has run the call.
fn without_answers(request: &RunRequest) -> &[Message] {
    let mut messages = &request.messages[..];
    while let [before @ .., Message::Tool { content, .. }] = messages {
        let given: Option<Value> = match content {
            Content::Text(text) => serde_json::from_str(text).ok(),
            Content::Parts(_) => None,
        };
        let is_answer = given.is_some_and(|given| {
            let mut answers = request.resume.iter();
            answers.any(|entry| match (entry.status, &entry.payload) {
                (ResumeStatus::Cancelled, _) => given == json!({"status": "cancelled"}),
                (ResumeStatus::Resolved, Some(payload)) => given == *payload,
                (ResumeStatus::Resolved, None) => given == json!({"status": "resolved"}),
            })
        });
        if !is_answer {
            break;
        }
        messages = before;
    }
    messages
}

/// The id of the message that all messages of one turn are parts of.
fn base(id: &str) -> &str {
    id.split_once(SEPARATOR).map_or(id, |(base, _)| base)
}

/// The history as UI messages: one of the agent's for each turn. Instructions of the application are not
/// taken from a page.
fn history(messages: &[Message]) -> Vec<UiMessage> {
    let mut history: Vec<UiMessage> = Vec::new();
    for message in messages {
        match message {
            Message::User { id, .. } if id.ends_with(SPEECH) => {}
            Message::User { id, content, .. } => {
                let parts = content::read(content);
                history.push(UiMessage::new(id, Role::User, parts));
            }
            Message::Assistant {
                id,
                content,
                tool_calls,
                ..
            } => {
                let own = of_turn(&mut history, base(id));
                let text = content.as_ref().filter(|text| !text.is_empty());
                own.parts.extend(text.map(Part::text));
                let calls = tool_calls.iter().map(call);
                own.parts
                    .extend(calls.map(|call| Part::Tool(Box::new(call))));
            }
            Message::Tool {
                id,
                content,
                tool_call_id,
                error,
                ..
            } => settle(&mut history, id, tool_call_id, content, error.as_deref()),
            Message::Reasoning { .. }
            | Message::Activity { .. }
            | Message::System { .. }
            | Message::Developer { .. }
            | Message::Other(_) => {}
        }
    }
    history
}

/// The agent's message of a turn, which is there from then on.
fn of_turn<'a>(history: &'a mut Vec<UiMessage>, id: &str) -> &'a mut UiMessage {
    let is_last = history
        .last()
        .is_some_and(|last| last.role == Role::Assistant && last.id.as_deref() == Some(id));
    if !is_last {
        history.push(UiMessage::new(id, Role::Assistant, Vec::new()));
    }
    let last = history.len() - 1;
    &mut history[last]
}

fn call(call: &ToolCall) -> ToolPart {
    let input = serde_json::from_str(&call.function.arguments).ok();
    let mut part = ToolPart::new(&call.function.name, &call.id, ToolState::InputAvailable);
    part.input = input;
    part
}

/// Notes the result of a call, at the call; or behind all others, if the history does not have it.
fn settle(
    history: &mut Vec<UiMessage>,
    id: &str,
    call: &str,
    content: &Content,
    error: Option<&str>,
) {
    let mut parts = history
        .iter_mut()
        .rev()
        .flat_map(|message| &mut message.parts);
    let known = parts.find_map(|part| match part {
        Part::Tool(part) if part.tool_call_id == call => Some(part),
        _ => None,
    });
    if let Some(part) = known {
        return set_result(part, content, error);
    }
    let mut part = ToolPart::new("", call, ToolState::InputAvailable);
    set_result(&mut part, content, error);
    let own = match history.last_mut() {
        Some(last) if last.role == Role::Assistant => last,
        _ => of_turn(history, base(id)),
    };
    own.parts.push(Part::Tool(Box::new(part)));
}

fn set_result(part: &mut ToolPart, content: &Content, error: Option<&str>) {
    if let Some(error) = error {
        part.state = ToolState::OutputError;
        part.error_text = Some(error.to_owned());
        return;
    }
    let text = match content {
        Content::Text(text) => text.clone(),
        Content::Parts(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                ContentPart::Text { text } => Some(text.as_str()),
                _ => None,
            });
            texts.collect()
        }
    };
    part.state = ToolState::OutputAvailable;
    // A result is a text: where it is one of JSON, that is what the tool gave.
    part.output = Some(serde_json::from_str(&text).unwrap_or(Value::String(text)));
}

/// The answer to an interrupt, whose payload the gate reads: only the journal knows what it asks.
fn answer(index: usize, entry: &ResumeEntry) -> Result<Part, String> {
    let id = &entry.interrupt_id;
    let mut part = ToolPart::new("", id, ToolState::ApprovalRequested);
    let mut approval = Approval {
        id: id.clone(),
        ..Approval::default()
    };
    let field = |key: &str| entry.payload.as_ref()?.get(key);
    match entry.status {
        // A question that is dismissed does not let the call run.
        ResumeStatus::Cancelled => {
            let reason = field("reason").and_then(Value::as_str);
            part.state = ToolState::ApprovalResponded;
            approval.approved = Some(false);
            approval.reason = Some(reason.unwrap_or("dismissed").to_owned());
        }
        ResumeStatus::Resolved => match &entry.payload {
            Some(payload) => part.output = Some(payload.clone()),
            None => return Err(format!("resume[{index}].payload: missing")),
        },
    }
    let beside = || entry.metadata.as_ref()?.get("digest");
    if let Some(digest) = field("digest")
        .filter(|_| approval.approved.is_some())
        .or_else(beside)
    {
        approval.extra.insert("digest".to_owned(), digest.clone());
    }
    part.approval = Some(approval);
    Ok(Part::Tool(Box::new(part)))
}
