//! Chats with Gemini, which is the emulator.

use serde_json::json;

use super::{Draft, Phase, Plan, approve, begin, chat, output, rest, say, until_journal};
use crate::golden::setup::Agent;

const SUCCESS: &str = r#""success":true"#;

/// What the emulator does besides what the demo does.
const SCRIPT: &str = r#"{"rules": [
    {"on": "generate", "contains": "Draw", "respond": [{
        "candidates": [{
            "content": {"role": "model", "parts": [
                {"text": "They want a dot.", "thought": true},
                {"text": "Here it is: "},
                {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}},
                {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
                {"text": "a dot.", "thoughtSignature": "skip_thought_signature_validator"}
            ]},
            "groundingMetadata": {"groundingChunks": [{"web": {"uri": "https://example.com/dot", "title": "Dots"}}]},
            "finishReason": "MAX_TOKENS"
        }],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 7, "totalTokenCount": 12},
        "modelVersion": "gemini-emulated"
    }]},
    {"on": "generate", "contains": "too often", "status": {"code": 429, "retryAfterSeconds": 17}},
    {"on": "generate", "contains": "forbidden", "block": "SAFETY"},
    {"on": "generate", "contains": "half", "finish": {"reason": "SAFETY", "after": 2}},
    {"on": "generate", "contains": "garbled", "finish": {"reason": "MALFORMED_FUNCTION_CALL", "after": 2}},
    {"on": "generate", "contains": "oddly", "finish": {"reason": "OTHER", "after": 2}},
    {"on": "generate", "contains": "slowly", "delayMs": 600000}
]}"#;

pub(super) fn plan() -> Plan {
    let servers = vec![Phase {
        arguments: &[],
        is_replica: false,
        holds_payments: false,
        chats: [waiting(), over(), killed()]
            .into_iter()
            .flatten()
            .collect(),
    }];
    Plan {
        agent: Agent::Gemini,
        script: SCRIPT,
        servers,
        aborted: 0,
    }
}

fn waiting() -> Vec<Draft> {
    let paid = ["process_payment", "output-available", SUCCESS];
    vec![
        chat(
            "approval-open",
            "an open approval of a call with a signature and an id of Gemini's",
        )
        .acts([say("u1", "Send $20 to Sam")])
        .then([approve("Send 20 USD to Sam?")])
        .ends("finished", "I sent $20 to Sam.", [paid])
        .paid(&[20]),
        chat(
            "approvals-one-answered",
            "two calls, of which one has a signature, one of them answered",
        )
        .acts([
            say("u1", "Send $30 to Alice and $40 to Bob"),
            approve("Send 30 USD to Alice?"),
            until_journal("call-settled"),
            rest(),
        ])
        .then([approve("Send 40 USD to Bob?")])
        .ends("finished", "Bob", [paid, paid])
        .paid(&[30, 40]),
        chat("page-call-open", "a page's call that waits for its output")
            .acts([say("u1", "Play track 1")])
            .then([output("change_bgm", json!({"success": true, "track": 1}))])
            .ends(
                "finished",
                "Track 1 is playing now.",
                [["change_bgm", "output-available", "true"]],
            ),
        chat("flight-second-question", "a tool's second question")
            .acts([
                say("u1", "Book a flight to Oslo"),
                approve("Hold a seat to Oslo?"),
                until_journal("Pay 120"),
                rest(),
            ])
            .then([approve("Pay 120 USD for seat …")])
            .ends(
                "finished",
                "Oslo",
                [["book_flight", "output-available", r#""seat":"RECORDED""#]],
            )
            .paid(&[120]),
    ]
}

fn over() -> Vec<Draft> {
    let hello = || [say("u2", "Hello")];
    let file =
        json!({"type": "file", "mediaType": "text/plain", "url": "data:text/plain;base64,dGVh"});
    let parts = json!([{"type": "text", "text": "What is the weather in Tokyo?"}, file]);
    let with_file = json!({"id": "u1", "role": "user", "parts": parts});
    vec![
        chat(
            "finished-weather",
            "thoughts, a call, and words with signatures",
        )
        .acts([say("u1", "What is the weather in Tokyo?")])
        .then(hello())
        .ends("finished", "Hello", []),
        chat(
            "finished-with-everything",
            "thoughts, a file, sources, code that Google ran, and the end of its tokens",
        )
        .acts([say("u1", "Draw a dot")])
        .then(hello())
        .ends("finished", "Hello", []),
        chat("finished-file", "a message with a file")
            .acts([json!({"do": "say", "message": with_file})])
            .then(hello())
            .ends("finished", "Hello", []),
        chat("finished-by-a-filter", "a turn that a filter has cut short")
            .acts([say("u1", "Say half of it")])
            .then(hello())
            .ends("finished", "Hello", []),
        chat(
            "finished-garbled",
            "a turn whose last call could not be read",
        )
        .acts([say("u1", "Say it garbled")])
        .then(hello())
        .ends("finished", "Hello", []),
        chat("finished-oddly", "a turn that ended for another reason")
            .acts([say("u1", "Say it oddly")])
            .then(hello())
            .ends("finished", "Hello", []),
        chat(
            "failed-rate-limit",
            "a turn that failed, and says when to come back",
        )
        .acts([say("u1", "I ask too often")])
        .then(hello())
        .ends("finished", "Hello", []),
        chat("failed-blocked", "a turn whose prompt was blocked")
            .acts([say("u1", "Say what is forbidden")])
            .ends("failed", "", []),
    ]
}

fn killed() -> Vec<Draft> {
    vec![
        chat(
            "killed-in-a-step",
            "a step that had not begun to speak when its server was killed",
        )
        .acts([begin("Say it slowly", "\"start\"")])
        .ends("finished", "Say it slowly", [])
        .killed(),
    ]
}
