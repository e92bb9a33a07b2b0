//! The digest of what a person is asked: sent with an answer, it says what was answered.
//!
//! It is derived from the question, the input, the tool and the policy, and is nowhere stored. To
//! clients it is opaque: they send back the one that they were given. It covers no ids and no times,
//! since a question that is asked again is the same question.

use std::fmt::Write;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::call::{Call, Place};
use crate::gate::{Gate, GateKind};

/// What is hashed, in which form. A change of the form is another version: an answer to the older one
/// is then refused with the newer, and asked again.
const VERSION: &str = "adk-stream approval 1";

/// Under which terms a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Who asks.
    pub(crate) asker: Asker,
    /// Where the call runs.
    pub place: Place,
    /// Whether the answer may put another input in place of the model's.
    pub is_editable: bool,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// The tool's policy, before the call runs.
    Policy,
    /// The tool itself, in the middle of its work.
    Tool,
    /// The agent, of a call that it made.
    Agent,
}

impl Policy {
    /// Whether the tool itself asks, in the middle of its work.
    pub fn is_tools(&self) -> bool {
        self.asker == Asker::Tool
    }
}

impl Gate {
    /// Under which terms it asks about its call.
    pub fn policy(&self, call: &Call) -> Policy {
        let is_tools = match self.kind {
            GateKind::ToolApproval { .. } => true,
            GateKind::Question { .. } => call.parent.is_some(),
            GateKind::Approval { .. } | GateKind::ClientCall => false,
        };
        let asker = if is_tools {
            Asker::Tool
        } else if call.place == Place::Agent || self.token.is_some() {
            Asker::Agent
        } else {
            Asker::Policy
        };
        Policy {
            asker,
            place: call.place,
            // A tool that asks already runs with its input, and an agent takes no other than the one
            // that it asks about.
            is_editable: asker == Asker::Policy,
        }
    }

    /// The digest of what it asks about its call; none, where it asks no person.
    pub fn digest(&self, call: &Call) -> Option<String> {
        let question = self.kind.question()?;
        let (input, policy) = (self.shown_input(call), self.policy(call));
        let path = call.path();
        Some(digest(question, input, &call.tool, policy, &path))
    }
}

/// The digest of a question, in lowercase hexadecimal.
pub fn digest(question: &str, input: &Value, tool: &str, policy: Policy, path: &[&str]) -> String {
    let asker = match policy.asker {
        Asker::Policy => "policy",
        Asker::Tool => "tool",
        Asker::Agent => "agent",
    };
    let place = match policy.place {
        Place::Server => "server",
        Place::Client => "client",
        Place::Agent => "agent",
    };
    let mut text = format!("{VERSION}\n");
    for part in [
        &json!(question),
        input,
        &json!(tool),
        &json!([asker, place, policy.is_editable]),
    ] {
        write_canonical(part, &mut text);
        text.push('\n');
    }
    // Who asks is shown where there is a path, and only there.
    if !path.is_empty() {
        write_canonical(&json!(path), &mut text);
        text.push('\n');
    }
    hexadecimal(&text)
}

/// A hash of JSON that is the same in whichever order its keys come.
pub fn hash(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    hexadecimal(&text)
}

fn hexadecimal(text: &str) -> String {
    let mut digest = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing to memory can't fail.
        let _ = write!(digest, "{byte:02x}");
    }
    digest
}

/// JSON without spaces, the keys of each object in the order of their bytes: an input is the same
/// whichever way a store or a client has turned its keys. Control characters are escaped in strings,
/// so the line breaks between the parts are nothing that a part can hold.
fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| key.as_str());
            text.push('{');
            for (n, (key, value)) in entries.into_iter().enumerate() {
                if n > 0 {
                    text.push(',');
                }
                write_canonical(&json!(key), text);
                text.push(':');
                write_canonical(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    text.push(',');
                }
                write_canonical(item, text);
            }
            text.push(']');
        }
        plain => {
            let _ = write!(text, "{plain}");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const POLICY: Policy = Policy {
        asker: Asker::Policy,
        place: Place::Server,
        is_editable: true,
    };

    fn of(question: &str, input: &Value, tool: &str) -> String {
        digest(question, input, tool, POLICY, &[])
    }

    #[test]
    fn digest_is_the_same_in_every_release() {
        let input =
            json!({"recipient": "Sam", "amount": 20.5, "nested": {"b": [1, null], "a": "é\n"}});
        let asked = of("Send 20.5 USD to Sam?", &input, "process_payment");
        assert_eq!(
            asked,
            "d880ab0b847d1b7c6bb559d66eb20174170860a1d46ddbe92b8ab10661002f01"
        );
        let turned =
            json!({"nested": {"a": "é\n", "b": [1, null]}, "amount": 20.5, "recipient": "Sam"});
        assert_eq!(
            of("Send 20.5 USD to Sam?", &turned, "process_payment"),
            asked
        );
    }

    #[test]
    fn digest_changes_with_everything_that_it_covers() {
        let input = json!({"amount": 20});
        let mut all = vec![
            of("Pay?", &input, "pay"),
            of("Pay!", &input, "pay"),
            of("Pay?", &json!({"amount": 21}), "pay"),
            of("Pay?", &json!({"amount": 20.0}), "pay"),
            of("Pay?", &json!({"amount": "20"}), "pay"),
            of("Pay?", &json!({"amount": 20, "note": ""}), "pay"),
            of("Pay?", &json!([20]), "pay"),
            of("Pay?", &input, "refund"),
        ];
        for policy in [
            Policy {
                asker: Asker::Tool,
                ..POLICY
            },
            Policy {
                asker: Asker::Agent,
                ..POLICY
            },
            Policy {
                place: Place::Client,
                ..POLICY
            },
            Policy {
                place: Place::Agent,
                ..POLICY
            },
            Policy {
                is_editable: false,
                ..POLICY
            },
        ] {
            all.push(digest("Pay?", &input, "pay", policy, &[]));
            all.push(digest("Pay?", &input, "pay", policy, &["root", "clerk"]));
            all.push(digest("Pay?", &input, "pay", policy, &["root"]));
        }
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn what_stands_in_one_part_is_not_taken_for_another() {
        let with_break = of("Pay?\n{}", &json!({}), "pay");
        assert_ne!(with_break, of("Pay?", &json!({}), "pay"));
        assert_ne!(of("a", &json!("b"), "c"), of("a\"", &json!("b"), "c"));
    }

    proptest! {
        /// A journal is text: what was asked is asked after a restart.
        #[test]
        fn digest_survives_the_journal(bits in any::<u64>(), whole in any::<i64>(), text in ".*") {
            let number = f64::from_bits(bits);
            let input = json!({"number": number, "whole": whole, "text": text});
            let read: Value = serde_json::from_str(&input.to_string()).unwrap();
            prop_assert_eq!(of("?", &read, "t"), of("?", &input, "t"));
        }
    }
}
