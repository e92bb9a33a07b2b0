//! The SDK's two stock predicates, joined by "or": when a client sends by itself.

use wire::message::{Message, Role};
use wire::part::{BlockState, Part};
use wire::tool_part::{ToolPart, ToolState};

/// Whether `lastAssistantMessageIsCompleteWithApprovalResponses` or `…WithToolCalls` holds.
pub(super) fn sends(messages: &[Message]) -> bool {
    let Some(last) = messages.last().filter(|last| last.role == Role::Assistant) else {
        return false;
    };
    let is_step = |part: &Part| matches!(part, Part::StepStart(_));
    let step = last
        .parts
        .iter()
        .rposition(is_step)
        .map_or(0, |index| index + 1);
    let step = &last.parts[step..];
    with_approval_responses(step) || with_tool_calls(step)
}

fn with_approval_responses(step: &[Part]) -> bool {
    let is_answered = |part: &ToolPart| part.state == ToolState::ApprovalResponded;
    let mut calls = step.iter().filter_map(Part::as_tool);
    step.iter().filter_map(Part::as_tool).any(is_answered)
        && calls.all(|part| is_answered(part) || part.is_settled())
}

fn with_tool_calls(step: &[Part]) -> bool {
    let is_ours = |part: &Part| {
        let part = part.as_tool();
        part.is_some_and(|part| part.provider_executed != Some(true))
    };
    let Some(last) = step.iter().rposition(is_ours) else {
        return false;
    };
    let mut after = step[last + 1..].iter();
    let unfinished = |part: &Part| match part {
        Part::Text(text) => text.state != Some(BlockState::Done),
        _ => false,
    };
    let mut ours = step
        .iter()
        .filter(|part| is_ours(part))
        .filter_map(Part::as_tool);
    !after.any(unfinished)
        && ours.all(|part| part.is_settled() && part.state != ToolState::OutputDenied)
}
