//! Approvals by a tool's policy.

use serde_json::json;

use super::super::{Draft, approve, approve_with, chat, deny, output, rest, say, until_journal};
use super::{PAY, PAY_ALICE, PAY_BOB, PAY_SAM, PAY_TWO, SUCCESS, music};

pub(super) fn approvals() -> Vec<Draft> {
    let paid = ["process_payment", "output-available", SUCCESS];
    vec![
        chat(
            "approval-open",
            "an open approval by a tool's policy, without expiry",
        )
        .acts([say("u1", PAY)])
        .then([approve(PAY_SAM), rest(), say("u2", PAY), approve(PAY_SAM)])
        .ends("finished", "I sent $20 to Sam.", [paid])
        .paid(&[20, 20]),
        chat("approval-open-to-be-denied", "the same, to be denied")
            .acts([say("u1", PAY)])
            .then([deny(PAY_SAM, "Sam has enough")])
            .ends(
                "finished",
                "Sam has enough",
                [["process_payment", "output-denied", ""]],
            )
            .paid(&[]),
        chat(
            "approval-open-to-be-edited",
            "the same, to be approved with another input",
        )
        .acts([say("u1", PAY)])
        .then([approve_with(
            PAY_SAM,
            json!({"amount": 5, "recipient": "Sam", "currency": "USD"}),
        )])
        .ends(
            "finished",
            "$5",
            [["process_payment", "output-available", r#""amount":5"#]],
        )
        .paid(&[5]),
        chat(
            "approval-open-on-a-page",
            "the same, to be answered by a page's message",
        )
        .acts([say("u1", PAY)])
        .then([json!({"do": "approve on the page", "question": PAY_SAM})])
        .ends("finished", "I sent $20 to Sam.", [paid])
        .paid(&[20]),
        chat(
            "approval-open-to-be-typed-over",
            "the same, to be superseded by a message",
        )
        .acts([say("u1", PAY)])
        .then([say("u2", "What is the weather in Tokyo?")])
        .ends(
            "finished",
            "Tokyo",
            [["get_weather", "output-available", "Cloudy"]],
        )
        .paid(&[]),
        chat("approval-open-to-be-stopped", "the same, to be stopped")
            .acts([say("u1", PAY)])
            .then([json!({"do": "stop"})])
            .ends("stopped", "", [["process_payment", "output-error", ""]])
            .paid(&[]),
        chat(
            "approvals-none-answered",
            "two approvals of one step, both open",
        )
        .acts([say("u1", PAY_TWO)])
        .then([approve(PAY_BOB), deny(PAY_ALICE, "no")])
        .ends(
            "finished",
            "Bob",
            [["process_payment", "output-denied", ""], paid],
        )
        .paid(&[40]),
        chat(
            "approvals-one-answered",
            "two calls of one step: one approved and done, one open",
        )
        .acts([
            say("u1", PAY_TWO),
            approve(PAY_ALICE),
            until_journal("call-settled"),
            rest(),
        ])
        .then([approve(PAY_BOB)])
        .ends("finished", "Bob", [paid, paid])
        .paid(&[30, 40]),
        chat(
            "approvals-one-denied",
            "two calls of one step: one denied with a reason, one open",
        )
        .acts([say("u1", PAY_TWO), deny(PAY_ALICE, "she owes me"), rest()])
        .then([approve(PAY_BOB)])
        .ends(
            "finished",
            "she owes me",
            [["process_payment", "output-denied", ""], paid],
        )
        .paid(&[40]),
        chat(
            "approval-beside-others",
            "a step with a server's call that is done, a page's and an approval that are open",
        )
        .acts([
            say(
                "u1",
                "What is the weather in Tokyo, play track 1 and send $20 to Sam",
            ),
            rest(),
        ])
        .then([approve(PAY_SAM), output("change_bgm", music())])
        .ends(
            "finished",
            "I sent $20 to Sam.",
            [
                ["get_weather", "output-available", "Cloudy"],
                ["change_bgm", "output-available", "true"],
                paid,
            ],
        )
        .paid(&[20]),
        chat(
            "approval-approved",
            "a payment that was approved, with a reason",
        )
        .acts([
            say("u1", PAY),
            json!({"do": "approve", "question": PAY_SAM, "reason": "He is a friend"}),
            until_journal("turn-ended"),
        ])
        .then([say("u2", "What is the weather in London?")])
        .ends(
            "finished",
            "London",
            [["get_weather", "output-available", "Rainy"]],
        )
        .paid(&[20]),
        chat(
            "approval-edited",
            "a payment that was approved with another input",
        )
        .acts([
            say("u1", PAY),
            approve_with(
                PAY_SAM,
                json!({"amount": 7, "recipient": "Sam", "currency": "USD"}),
            ),
            until_journal("turn-ended"),
        ])
        .ends(
            "finished",
            "$7",
            [["process_payment", "output-available", r#""amount":7"#]],
        )
        .paid(&[7]),
        chat("approval-denied", "a payment that was denied with a reason")
            .acts([
                say("u1", PAY),
                deny(PAY_SAM, "Sam has enough"),
                until_journal("turn-ended"),
            ])
            .ends(
                "finished",
                "Sam has enough",
                [["process_payment", "output-denied", ""]],
            )
            .paid(&[]),
        chat(
            "approval-superseded",
            "an approval that was typed over, and another that is open",
        )
        .acts([say("u1", PAY), say("u2", PAY_TWO), rest()])
        .then([approve(PAY_ALICE), approve(PAY_BOB)])
        .ends("finished", "Alice", [paid, paid])
        .paid(&[30, 40]),
        chat(
            "payment-refused",
            "a payment beyond what there is: an output that says so",
        )
        .acts([
            say("u1", "Send $5000 to Sam"),
            approve("Send 5000 USD to Sam?"),
            until_journal("turn-ended"),
        ])
        .ends(
            "finished",
            "Insufficient funds",
            [["process_payment", "output-available", "Insufficient funds"]],
        )
        .paid(&[]),
        chat(
            "approval-in-japanese",
            "an open approval of a Japanese prompt",
        )
        .acts([say("u1", "次郎さんに200ドル送金してください")])
        .then([approve("Send 200 USD to Jiro?")])
        .ends("finished", "200", [paid])
        .paid(&[200]),
    ]
}
