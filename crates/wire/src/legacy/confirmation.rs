//! A yes or no that comes as the output of a call, as pages of the legacy bridge and of ADK give it.

use serde_json::Value;

use crate::answer::{Answer, Gate, text};
use crate::part::ToolResult;
use crate::tool_part::{ToolPart, ToolState};

/// The tool by which ADK asks for a confirmation, and which pages of the legacy bridge answer.
const CONFIRMATION_TOOL: &str = "adk_request_confirmation";

/// Whether a call represents a question: it is no call of the model's, and is named by its gate.
pub fn is_confirmation(part: &ToolPart) -> bool {
    part.tool_name == CONFIRMATION_TOOL
}

/// `addToolOutput` on the confirmation tool: its output is the answer.
pub(crate) fn answered_by(part: &ToolPart) -> Option<Answer> {
    if part.state != ToolState::OutputAvailable || part.preliminary == Some(true) {
        return None;
    }
    let given = confirmation(part.output.as_ref()?)?;
    Some(given.answers(Gate::Approval(part.tool_call_id.clone())))
}

/// What an output in the older form answers: the question that holds its call, or else the call.
pub(crate) fn result_answer(result: &ToolResult) -> Answer {
    let call = result.tool_call_id.clone();
    match confirmation(&result.result) {
        Some(given) => given.answers(Gate::Call(call)),
        None => Answer::Output {
            tool_call_id: call,
            tool_name: result.tool_name.clone(),
            output: Ok(result.result.clone()),
            digest: None,
        },
    }
}

struct Confirmation {
    approved: bool,
    reason: Option<String>,
    digest: Option<String>,
}

impl Confirmation {
    fn answers(self, gate: Gate) -> Answer {
        Answer::Approval {
            gate,
            approved: self.approved,
            reason: self.reason,
            input: None,
            digest: self.digest,
        }
    }
}

/// `{approved, user_message?, digest?}` (the legacy bridge) or `{confirmed}` (ADK).
///
/// Only an object of just these keys is read as a yes or no, so that a tool whose own output has a
/// field `approved` keeps it. One that has both, and contradicts itself, is neither.
fn confirmation(result: &Value) -> Option<Confirmation> {
    let result = result.as_object()?;
    let known = ["approved", "confirmed", "user_message", "reason", "digest"];
    if !result.keys().all(|key| known.contains(&key.as_str())) {
        return None;
    }
    let (approved, confirmed) = (result.get("approved"), result.get("confirmed"));
    if approved.is_some() && confirmed.is_some() && approved != confirmed {
        return None;
    }
    let reason = result.get("reason").or_else(|| result.get("user_message"));
    let digest = result.get("digest").filter(|digest| !digest.is_null());
    Some(Confirmation {
        approved: approved.or(confirmed)?.as_bool()?,
        reason: reason.and_then(Value::as_str).map(str::to_owned),
        digest: digest.map(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;
    use serde_json::json;

    fn answers(parts: Value) -> Vec<Answer> {
        Message::decode(json!({"role": "user", "parts": parts}))
            .unwrap()
            .answers()
    }

    fn no(gate: Gate, reason: Option<&str>) -> Answer {
        Answer::Approval {
            gate,
            approved: false,
            reason: reason.map(str::to_owned),
            input: None,
            digest: None,
        }
    }

    #[test]
    fn result_that_says_yes_and_no_is_no_answer() {
        let result = |result: Value| {
            answers(json!([{"type": "tool-result", "toolCallId": "c1", "result": result}]))
        };
        let contrary = result(json!({"approved": true, "confirmed": false}));
        assert!(matches!(&contrary[0], Answer::Output { .. }));
        let digested = result(json!({"approved": true, "digest": "ab"}));
        assert!(
            matches!(&digested[0], Answer::Approval { digest: Some(digest), .. } if digest == "ab")
        );
    }

    #[test]
    fn confirmation_part_answers_its_gate() {
        let answers = answers(json!([{
            "type": "tool-adk_request_confirmation", "toolCallId": "confirm-1",
            "toolName": "adk_request_confirmation", "state": "approval-responded",
            "approval": {"id": "confirm-1", "approved": false},
        }]));
        let gate = Gate::Approval("confirm-1".into());
        assert_eq!(answers, [no(gate, None)]);
    }

    #[test]
    fn result_of_approved_answers_the_call_that_waits() {
        let answers = answers(json!([{
            "type": "tool-result", "toolCallId": "c1", "toolName": "process_payment",
            "result": {"approved": false, "user_message": "User denied"},
        }]));
        let gate = Gate::Call("c1".into());
        assert_eq!(answers, [no(gate, Some("User denied"))]);
    }

    #[test]
    fn output_with_a_field_of_that_name_is_still_an_output() {
        let answers = answers(json!([{
            "type": "tool-result", "toolCallId": "c1", "result": {"approved": true, "limit": 5},
        }]));
        assert!(matches!(&answers[0], Answer::Output { .. }));
    }

    #[test]
    fn empty_object_is_an_output() {
        let answers = answers(json!([{"type": "tool-result", "toolCallId": "c1", "result": {}}]));
        assert!(
            matches!(&answers[0], Answer::Output { output: Ok(value), .. } if value == &json!({}))
        );
    }
}
