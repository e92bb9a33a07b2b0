//! Lines for tests, made as a transcript makes them.

use std::sync::Arc;

use serde_json::json;
use turn::call::{Call, Outcome, Place};
use turn::gate::{Gate, GateKind};

use super::line::{Block, BlockLine, CallLine, Delta, Line};

pub(crate) fn call(id: &str) -> Arc<Call> {
    Arc::new(Call {
        id: id.into(),
        provider_id: None,
        tool: "locate".to_owned(),
        input: json!({}),
        place: Place::Client,
        parent: None,
        provider_metadata: None,
    })
}

fn line(line: CallLine) -> Line {
    Line::Call(Arc::new(line))
}

pub(crate) fn text(words: &str) -> [Line; 3] {
    [
        Line::Block(Arc::new(BlockLine::begun(Block::Text, 1, None))),
        Line::Text(Delta::text(1, words.to_owned())),
        Line::Block(Arc::new(BlockLine::ended(Block::Text, 1))),
    ]
}

pub(crate) fn begun(id: &str) -> Line {
    line(CallLine::begun(&call(id)))
}

pub(crate) fn input_shown(id: &str) -> Line {
    line(CallLine::input_shown(&call(id)))
}

/// The question of the gate `gate of {id}`.
pub(crate) fn asked(id: &str) -> Line {
    let question = "May it?".to_owned();
    let gate = Gate {
        id: format!("gate of {id}").into(),
        call: id.into(),
        kind: GateKind::Approval { question },
        expires: None,
        token: None,
        input: None,
        is_excess: false,
    };
    line(CallLine::asked(&call(id), &gate, "May it?"))
}

pub(crate) fn settled(id: &str, outcome: &Outcome) -> Line {
    line(CallLine::settled(&call(id), Arc::new(outcome.clone())))
}
