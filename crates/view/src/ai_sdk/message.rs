//! The assistant message of a turn, by the fold that the page uses.

use turn::Turn;
use wire::assembler::{Assembler, Sdk};
use wire::tool_part::Approval;
use wire::{Message, Part, ToolPart, ToolState};

use super::closing::Closing;
use super::line::Line;
use super::transcript::Transcript;
use super::{chunks, proxy};

/// The assistant message of a turn.
pub(crate) fn assemble(turn: &Turn, transcript: &Transcript) -> Message {
    let mut assembler = Assembler::new(Sdk::V7, turn.message_id());
    let last = transcript.lines().len().saturating_sub(1);
    for (index, line) in transcript.lines().iter().enumerate() {
        match line {
            // A park that was left again is over.
            Line::Close(_) if index < last => continue,
            // A failure is shown beside the message, not in it.
            Line::Close(Closing::Failed(_)) => continue,
            _ => {}
        }
        // A transcript is made here, and every order that can be made is tested against the checker.
        let applied = assembler.apply(&line.chunk());
        debug_assert!(applied.is_ok(), "{applied:?}");
    }
    let mut message = assembler.message().clone();
    for part in message.parts.iter_mut().filter_map(Part::as_tool_mut) {
        note_answer(turn, part);
    }
    message
}

/// Notes at a proxy call what was answered: the fold finds but the first call that asked.
fn note_answer(turn: &Turn, part: &mut ToolPart) {
    let gate = proxy::gate_of(&part.tool_call_id);
    let found = gate.as_ref().and_then(|gate| turn.gate(gate));
    let Some((gate, Some(decision))) = found else {
        return;
    };
    let Some(response) = chunks::approval_response(gate, decision) else {
        return;
    };
    if !response.approved {
        part.state = ToolState::OutputDenied;
        part.error_text = None;
    }
    part.approval = Some(Approval {
        id: response.approval_id,
        approved: Some(response.approved),
        reason: response.reason,
        ..Approval::default()
    });
}
