//! The assistant message of a turn, by the fold that the page uses.

use turn::Turn;
use wire::assembler::{Assembler, Sdk};
use wire::tool_part::Approval;
use wire::{Chunk, Message, Part, ToolPart, ToolState};

use super::transcript::{Line, Transcript};
use super::{chunks, proxy};

/// The assistant message of a turn.
pub(crate) fn assemble(turn: &Turn, transcript: &Transcript) -> Message {
    let mut assembler = Assembler::new(Sdk::V7, turn.message_id());
    let last = transcript.lines().len().saturating_sub(1);
    for (index, line) in transcript.lines().iter().enumerate() {
        let chunk = match line {
            Line::Chunk(chunk) => Chunk::clone(chunk),
            // A park that was left again is over.
            Line::Close(_) if index < last => continue,
            // A failure is told beside the message, not in it.
            Line::Close(closing) => match closing.chunk() {
                Chunk::Error(_) => continue,
                chunk => chunk,
            },
        };
        // A transcript is made here, and every order that can be made is tested against the checker.
        let applied = assembler.apply(&chunk);
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
    let Some(Chunk::ToolApprovalResponse(response)) = chunks::approval_response(gate, decision)
    else {
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
