//! Turns that are over, branches that were cut off, and the legacy bridge's dialect.

use serde_json::{Value, json};

use super::super::{Draft, approve, chat, deny, message, rest, say, until_journal};
use super::{FLIGHT, PAY, PAY_BOB, PAY_SAM, SUCCESS};

pub(super) fn over() -> Vec<Draft> {
    let file = json!({"type": "file", "mediaType": "image/png", "filename": "dot.png", "url": DOT});
    let parts = json!([
        {"type": "text", "text": "What is the weather in New York?"},
        file,
        {"type": "data-mood", "id": "d1", "data": {"calm": true}},
    ]);
    let rich = json!({"id": "u1", "role": "user", "metadata": {"from": "a page"}, "parts": parts});
    vec![
        chat("finished-words", "a turn that said something")
            .acts([say("u1", "Hello"), say("u2", "Hello again")])
            .then([say("u3", "And once more")])
            .ends("finished", "And once more", []),
        chat("finished-weather", "a turn with a server's call")
            .acts([say("u1", "What is the weather in Tokyo?")])
            .ends(
                "finished",
                "Tokyo",
                [["get_weather", "output-available", "Cloudy"]],
            ),
        chat(
            "finished-rich-message",
            "a user message with a file, data and metadata",
        )
        .acts([json!({"do": "say", "message": rich})])
        .then([say("u2", "Hello")])
        .ends("finished", "Hello", []),
        chat(
            "finished-report",
            "a long-running call whose result has opened a turn of its own",
        )
        .acts([
            say("u1", "Write a report about tea"),
            until_journal("\"cause\":\"result\""),
            rest(),
        ])
        .then([say("u2", "Hello")])
        .ends("finished", "Hello", []),
        chat("finished-without-a-word", "a turn that said nothing")
            .acts([say("u1", "say nothing")])
            .then([say("u2", "Hello")])
            .ends("finished", "Hello", []),
        chat(
            "finished-bad-input",
            "a call whose input the tool does not take",
        )
        .acts([say("u1", "call with bad input")])
        .ends(
            "finished",
            "an input that it does not take",
            [["get_weather", "output-error", "location"]],
        ),
        chat(
            "failed-rate-limit",
            "a turn that failed, and says when to come back",
        )
        .acts([say("u1", "fail with rate limit")])
        .ends("failed", "", []),
        chat(
            "failed-in-the-middle",
            "a turn whose agent was cut off, given again",
        )
        .acts([say("u1", "break the stream")])
        .then([json!({"do": "regenerate", "message": message("u1", "break the stream")})])
        .ends("failed", "This sentence breaks off in the", []),
        chat(
            "stopped-at-an-approval",
            "a turn that was stopped while it waited",
        )
        .acts([say("u1", PAY), json!({"do": "stop"})])
        .then([say("u2", PAY), approve(PAY_SAM)])
        .ends(
            "finished",
            "I sent $20 to Sam.",
            [["process_payment", "output-available", SUCCESS]],
        )
        .paid(&[20]),
        chat(
            "stopped-at-a-question",
            "a turn that was stopped while a tool asked",
        )
        .acts([say("u1", FLIGHT), json!({"do": "stop"})])
        .ends("stopped", "", [["book_flight", "output-error", ""]])
        .paid(&[]),
    ]
}

pub(super) fn branches() -> Vec<Draft> {
    let paid = ["process_payment", "output-available", SUCCESS];
    let edit = |id: &str, text: &str| json!({"do": "edit", "message": message(id, text)});
    vec![
        chat(
            "edited",
            "a message that was edited, which cut off what came after it",
        )
        .acts([
            say("u1", "Hello"),
            say("u2", "What is the weather in Tokyo?"),
            edit("u1", "Good morning"),
        ])
        .then([say("u3", "Good night")])
        .ends("finished", "Good night", []),
        chat(
            "edited-with-an-open-approval",
            "a message that was edited, and whose answer waits",
        )
        .acts([say("u1", PAY), edit("u1", "Send $40 to Bob")])
        .then([approve(PAY_BOB)])
        .ends("finished", "Bob", [paid])
        .paid(&[40]),
        chat(
            "branch-selected",
            "a branch that was cut off, and became the chat again",
        )
        .acts([
            say("u1", "Hello"),
            edit("u1", "Good morning"),
            json!({"do": "select the first branch"}),
        ])
        .then([say("u2", "Good night")])
        .ends("finished", "Good night", []),
        chat("regenerated", "an answer that was given again, which waits")
            .acts([
                say("u1", PAY),
                deny(PAY_SAM, "no"),
                until_journal("turn-ended"),
                json!({"do": "regenerate", "message": message("u1", PAY)}),
            ])
            .then([approve(PAY_SAM)])
            .ends("finished", "I sent $20 to Sam.", [paid])
            .paid(&[20]),
    ]
}

pub(super) fn queued() -> Vec<Draft> {
    let wait = |id: &str, text: &str, placement: &str| json!({"do": "queue", "message": message(id, text), "whileRunning": placement});
    vec![
        chat(
            "queued-behind-an-approval",
            "messages that wait for the end of a turn, and for its next step",
        )
        .acts([
            say("u1", PAY),
            wait("u2", "Hello again", "queue"),
            wait("u3", "Good morning", "inject"),
        ])
        .then([approve(PAY_SAM), rest()])
        .ends("finished", "Hello again", [])
        .paid(&[20]),
        chat(
            "injected",
            "a message that was given to the agent in the middle of a turn",
        )
        .acts([
            say("u1", PAY),
            wait("u2", "Good morning", "inject"),
            approve(PAY_SAM),
            until_journal("turn-ended"),
        ])
        .then([say("u3", "Good night")])
        .ends("finished", "Good night", [])
        .paid(&[20]),
        chat("queued-and-withdrawn", "a message that was withdrawn")
            .acts([
                say("u1", PAY),
                wait("u2", "Hello again", "queue"),
                json!({"do": "stop"}),
            ])
            .then([say("u3", "Good night")])
            .ends("finished", "Good night", [])
            .paid(&[]),
    ]
}

pub(super) fn legacy() -> Vec<Draft> {
    let typed = |text: &str| json!([{"role": "user", "content": text}]);
    let denied = json!([{"id": "fr-1", "role": "user", "content": [{
        "type": "tool-result", "toolCallId": "CALL", "toolName": "process_payment",
        "result": {"approved": false, "user_message": "User denied"},
    }]}]);
    let speak = |messages: Value| json!({"do": "speak the seeds' dialect", "messages": messages});
    vec![
        chat(
            "seeds-open",
            "an open approval of a page that speaks the seeds' dialect",
        )
        .acts([speak(json!([typed(PAY)]))])
        .then([approve(PAY_SAM)])
        .ends(
            "finished",
            "I sent $20 to Sam.",
            [["process_payment", "output-available", SUCCESS]],
        )
        .paid(&[20]),
        chat(
            "seeds-open-to-be-denied-there",
            "the same, to be answered in that dialect",
        )
        .acts([speak(json!([typed(PAY)]))])
        .then([speak(json!([denied]))])
        .ends(
            "finished",
            "User denied",
            [["process_payment", "output-denied", ""]],
        )
        .paid(&[]),
        chat(
            "seeds-denied",
            "a denial in the older form of the seeds' dialect",
        )
        .acts([
            speak(json!([typed("次郎さんに200ドル送金してください"), denied])),
            until_journal("turn-ended"),
        ])
        .ends(
            "finished",
            "User denied",
            [["process_payment", "output-denied", ""]],
        )
        .paid(&[]),
        chat("seeds-weather", "a turn of the seeds' dialect that is over")
            .acts([speak(json!([typed("東京の天気を教えて")]))])
            .ends(
                "finished",
                "曇り",
                [["get_weather", "output-available", "Cloudy"]],
            ),
    ]
}

/// A picture of one dot.
const DOT: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
