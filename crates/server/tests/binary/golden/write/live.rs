//! Chats with Gemini over Live, which is the emulator.

use super::{Draft, Phase, Plan, approve, chat, deny, output, rest, say, until_journal};
use crate::golden::setup::Agent;
use serde_json::json;

const PAY_SAM: &str = "Send 20 USD to Sam?";

pub(super) fn plan() -> Plan {
    let servers = vec![Phase {
        arguments: &["--approval-timeout", "never"],
        is_replica: false,
        holds_payments: false,
        chats: chats(),
    }];
    Plan {
        agent: Agent::GeminiLive,
        script: r#"{"rules": [
            {"on": "answer", "contains": "to Kim", "cancelCalls": {"afterMs": 50}}
        ]}"#,
        servers,
        aborted: 0,
    }
}

fn chats() -> Vec<Draft> {
    let paid = ["process_payment", "output-available", r#""success":true"#];
    vec![
        chat(
            "approval-open",
            "an open approval; the session that waits for it is gone",
        )
        .acts([say("u1", "Send $20 to Sam")])
        .then([approve(PAY_SAM)])
        .ends("finished", "I sent $20 to Sam.", [paid])
        .paid(&[20]),
        chat("approval-open-to-be-denied", "the same, to be denied")
            .acts([say("u1", "Send $20 to Sam")])
            .then([deny(PAY_SAM, "Sam has enough")])
            .ends(
                "finished",
                "Sam has enough",
                [["process_payment", "output-denied", ""]],
            )
            .paid(&[]),
        chat("page-call-open", "a page's call that waits")
            .acts([say("u1", "Play track 1")])
            .then([output("change_bgm", json!({"success": true, "track": 1}))])
            .ends(
                "finished",
                "Track 1 is playing now.",
                [["change_bgm", "output-available", "true"]],
            ),
        chat(
            "finished",
            "two turns of one session, which has left a handle",
        )
        .acts([
            say("u1", "What is the weather in Tokyo?"),
            say("u2", "Hello"),
            until_journal("handle"),
        ])
        .then([say("u3", "And once more")])
        .ends("finished", "And once more", []),
        chat(
            "spoken",
            "a spoken message, its transcript and that of the answer",
        )
        .acts([json!({"do": "speak aloud"})])
        .then([say("u2", "Hello")])
        .ends("finished", "Hello", []),
        chat("taken-back", "a call that the model took back")
            .acts([
                say("u1", "Send $20 to Kim"),
                until_journal("cancelled"),
                rest(),
            ])
            .then([say("u2", "Hello")])
            .ends("finished", "Hello", [])
            .paid(&[]),
    ]
}
