//! What a client's message answers: approvals and outputs, whatever shape they came in.
//!
//! An [`Answer`] is what a client *claims*. Whether the gate is open, whether it is this principal's,
//! and whether the call is one that a page may run, is for `turn` to decide.

use serde_json::Value;

use crate::legacy::confirmation;
use crate::message::Message;
use crate::part::Part;
use crate::tool_part::{Approval, ToolPart, ToolState};

/// Something that a client answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Yes or no to an approval.
    Approval {
        /// Which gate.
        gate: Gate,
        /// The answer.
        approved: bool,
        /// Why.
        reason: Option<String>,
        /// The input that the client has for the call: an attempt to change it shows here.
        input: Option<Value>,
        /// The digest of what the client was shown, where it sends one.
        digest: Option<String>,
    },
    /// Data, whose form depends on what the gate asks.
    Payload {
        /// The gate.
        gate: String,
        /// The data.
        payload: Value,
        /// The digest of what the client was shown, where it sends one.
        digest: Option<String>,
    },
    /// A page ran a call.
    Output {
        /// The call.
        tool_call_id: String,
        /// The tool that the client assumes it ran, where it names it.
        tool_name: Option<String>,
        /// The outcome.
        output: Result<Value, String>,
        /// The digest of the question that the call shows, where the client sends it back.
        digest: Option<String>,
    },
}

/// How a client names an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gate {
    /// By the approval's own id.
    Approval(String),
    /// By the call that it holds, as pages of the legacy bridge do.
    Call(String),
}

impl Message {
    /// What the message answers, in its order.
    ///
    /// A page sends its whole history, so most of these are known already.
    pub fn answers(&self) -> Vec<Answer> {
        let answers = self.parts.iter().map(|part| match part {
            Part::Tool(part) => tool_answers(part),
            Part::ToolResult(result) => vec![confirmation::result_answer(result)],
            _ => Vec::new(),
        });
        answers.flatten().collect()
    }
}

/// A part may hold two: an approval, and the output of the call that the page ran upon it.
fn tool_answers(part: &ToolPart) -> Vec<Answer> {
    let mut answers = Vec::new();
    if let Some(payload) = interrupt_answer(part) {
        return vec![payload];
    }
    let is_confirmation = confirmation::is_confirmation(part);
    if let Some(approval) = &part.approval
        && let Some(approved) = approval.approved
    {
        answers.push(Answer::Approval {
            gate: Gate::Approval(approval.id.clone()),
            approved,
            reason: approval.reason.clone(),
            // A confirmation's own input is an envelope, not the call's input.
            input: part.input.clone().filter(|_| !is_confirmation),
            digest: digest(approval),
        });
    }
    if is_confirmation {
        answers.extend(confirmation::answered_by(part));
        return answers;
    }
    let output = match part.state {
        // Progress that the server itself has shown.
        ToolState::OutputAvailable if part.preliminary == Some(true) => return answers,
        ToolState::OutputAvailable => Ok(part.output.clone().unwrap_or_default()),
        ToolState::OutputError => Err(part.error_text.clone().unwrap_or_default()),
        _ => return answers,
    };
    answers.push(Answer::Output {
        tool_call_id: part.tool_call_id.clone(),
        tool_name: Some(part.tool_name.clone()),
        output,
        digest: question_digest(part),
    });
    answers
}

/// The digest of the question that a call shows, which came with the call and is sent back with its
/// metadata.
fn question_digest(part: &ToolPart) -> Option<String> {
    let ours = part
        .call_provider_metadata
        .as_ref()?
        .provider("adkStream")?;
    let digest = ours.get("question")?.get("digest")?;
    (!digest.is_null()).then(|| text(digest))
}

/// The answer to an interrupt of AG-UI, which is a part without a tool. A tool's own part may look much the
/// same: what the tool has shown before it asked stays in it, and answers nothing.
fn interrupt_answer(part: &ToolPart) -> Option<Answer> {
    let approval = part.approval.as_ref()?;
    let is_answer = part.state == ToolState::ApprovalRequested
        && part.tool_name.is_empty()
        && part.tool_call_id == approval.id;
    Some(Answer::Payload {
        gate: approval.id.clone(),
        payload: part.output.clone().filter(|_| is_answer)?,
        digest: digest(approval),
    })
}

/// The digest of an answer: beside it, or in the descriptor that came with the question, which
/// newer clients send back. Anything else in its place is no digest of ours.
fn digest(approval: &Approval) -> Option<String> {
    let beside = approval.extra.get("digest");
    let described = || approval.descriptor.as_deref()?.get("digest");
    let digest = beside.or_else(described).filter(|digest| !digest.is_null());
    digest.map(text)
}

pub(crate) fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answers(parts: Value) -> Vec<Answer> {
        Message::decode(json!({"role": "user", "parts": parts}))
            .unwrap()
            .answers()
    }

    fn approval(gate: Gate, approved: bool, reason: Option<&str>, input: Option<Value>) -> Answer {
        Answer::Approval {
            gate,
            approved,
            reason: reason.map(str::to_owned),
            input,
            digest: None,
        }
    }

    #[test]
    fn approval_responded_part_answers_its_gate() {
        let answers = answers(json!([{
            "type": "tool-process_payment", "toolCallId": "c1", "state": "approval-responded",
            "input": {"amount": 5}, "approval": {"id": "a1", "approved": true, "reason": "ok by me"},
        }]));
        let gate = Gate::Approval("a1".into());
        let input = Some(json!({"amount": 5}));
        assert_eq!(answers, [approval(gate, true, Some("ok by me"), input)]);
    }

    #[test]
    fn digest_comes_beside_the_answer_or_in_the_descriptor_that_is_sent_back() {
        let digest = |approval: Value| {
            let answers = answers(json!([{
                "type": "tool-pay", "toolCallId": "c1", "state": "approval-responded", "input": {},
                "approval": approval,
            }]));
            let [Answer::Approval { digest, .. }] = &answers[..] else {
                panic!("{answers:?}")
            };
            digest.clone()
        };
        let yes = |more: Value| {
            let mut approval = json!({"id": "a1", "approved": true});
            let fields = approval.as_object_mut().unwrap();
            fields.extend(more.as_object().unwrap().clone());
            digest(approval)
        };
        assert_eq!(yes(json!({})), None);
        assert_eq!(yes(json!({"descriptor": {"question": "Pay?"}})), None);
        let described = json!({"descriptor": {"question": "Pay?", "digest": "ab"}});
        assert_eq!(yes(described).as_deref(), Some("ab"));
        let both = json!({"digest": "cd", "descriptor": {"digest": "ab"}});
        assert_eq!(yes(both).as_deref(), Some("cd"));
        // It matches nothing.
        assert_eq!(yes(json!({"digest": 7})).as_deref(), Some("7"));
    }

    #[test]
    fn output_brings_the_digest_of_the_question_that_its_call_shows() {
        let digest = |metadata: Value| {
            let answers = answers(json!([{
                "type": "tool-ask_user", "toolCallId": "c1", "state": "output-available", "input": {},
                "output": {"people": 4}, "callProviderMetadata": metadata,
            }]));
            let [Answer::Output { digest, .. }] = &answers[..] else {
                panic!("{answers:?}")
            };
            digest.clone()
        };
        let question = |question: Value| digest(json!({"adkStream": {"question": question}}));
        assert_eq!(digest(json!({})), None);
        assert_eq!(
            digest(json!({"google": {"question": {"digest": "ab"}}})),
            None
        );
        assert_eq!(question(json!({"approvalId": "a1"})), None);
        assert_eq!(question(json!({"digest": null})), None);
        assert_eq!(question(json!({"digest": "ab"})).as_deref(), Some("ab"));
        // It matches nothing.
        assert_eq!(question(json!({"digest": 7})).as_deref(), Some("7"));
    }

    #[test]
    fn approval_and_output_in_one_message_are_two_answers() {
        let answers = answers(json!([
            {"type": "tool-get_location", "toolCallId": "c1", "state": "approval-responded",
             "input": {}, "approval": {"id": "a1", "approved": true}},
            {"type": "tool-result", "toolCallId": "c1", "result": {"latitude": 35.6}},
        ]));
        assert_eq!(answers.len(), 2);
        assert!(matches!(
            &answers[1],
            Answer::Output {
                output: Ok(_),
                tool_name: None,
                ..
            }
        ));
    }

    #[test]
    fn output_of_a_page_that_had_to_be_approved_is_both() {
        let answers = answers(json!([{
            "type": "tool-get_location", "toolCallId": "c1", "state": "output-error", "input": {},
            "errorText": "no GPS", "approval": {"id": "a1", "approved": true},
        }]));
        assert!(matches!(
            &answers[0],
            Answer::Approval { approved: true, .. }
        ));
        let Answer::Output { output, .. } = &answers[1] else {
            panic!("{answers:?}")
        };
        assert_eq!(output, &Err("no GPS".to_owned()));
    }
}
