//! Chats with the demo.

mod approvals;
mod over;
mod pages;
mod questions;
mod settings;

use serde_json::{Value, json};

use super::{Phase, Plan};
use crate::golden::setup::Agent;

const PAY: &str = "Send $20 to Sam";
const PAY_SAM: &str = "Send 20 USD to Sam?";
const PAY_TWO: &str = "Send $30 to Alice and $40 to Bob";
const PAY_ALICE: &str = "Send 30 USD to Alice?";
const PAY_BOB: &str = "Send 40 USD to Bob?";
const WHERE: &str = "Tell the assistant where you are?";
const FLIGHT: &str = "Book a flight to Oslo";
const HOLD: &str = "Hold a seat to Oslo?";
const SUCCESS: &str = r#""success":true"#;

pub(super) fn plan() -> Plan {
    let servers = vec![
        Phase {
            arguments: &["--pace", "50", "--lease", "1"],
            is_replica: true,
            holds_payments: false,
            chats: settings::claimed(),
        },
        Phase {
            arguments: &["--pace", "0", "--lease", "1"],
            is_replica: true,
            holds_payments: false,
            chats: Vec::new(),
        },
        Phase {
            arguments: &["--pace", "0", "--approval-timeout", "0.2"],
            is_replica: false,
            holds_payments: false,
            chats: settings::hasty(),
        },
        Phase {
            // A hundred years.
            arguments: &["--pace", "0", "--approval-timeout", "3155760000"],
            is_replica: false,
            holds_payments: false,
            chats: settings::with_expiry(),
        },
        Phase {
            arguments: &["--pace", "0"],
            is_replica: false,
            holds_payments: false,
            chats: [
                approvals::approvals(),
                pages::page_calls(),
                questions::questions_within(),
                over::over(),
                over::branches(),
                over::queued(),
                over::legacy(),
            ]
            .into_iter()
            .flatten()
            .collect(),
        },
        Phase {
            arguments: &["--pace", "50", "--approval-timeout", "3"],
            is_replica: false,
            holds_payments: true,
            chats: settings::last(),
        },
    ];
    Plan {
        agent: Agent::Demo,
        script: "",
        servers,
        aborted: 0,
    }
}

fn place() -> Value {
    json!({"latitude": 59.9, "longitude": 10.7, "accuracy": 12.5})
}

fn music() -> Value {
    json!({"success": true, "track": 1})
}

/// The second question of a flight has a seat in it that is not known before.
fn pay_for_seat(act: &str) -> Value {
    json!({"do": act, "question": "Pay 120 USD for seat …"})
}

fn played() -> [&'static str; 3] {
    ["change_bgm", "output-available", "true"]
}
