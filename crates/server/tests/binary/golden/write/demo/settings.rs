//! Chats that need a server with settings of its own.

use serde_json::json;

use super::super::{Draft, approve, begin, chat, output, say, until_journal};
use super::{FLIGHT, HOLD, PAY, PAY_SAM, SUCCESS, WHERE, pay_for_seat, place};

pub(super) fn claimed() -> Vec<Draft> {
    vec![
        chat(
            "claimed-and-finished",
            "a step that was cut short, and that another server has claimed and run again",
        )
        .acts([begin("Hello", "text-delta")])
        .then([say("u2", "Hello again")])
        .ends("finished", "Hello again", [])
        .recovered(),
        chat(
            "claimed-and-open",
            "the same, which then waits for an approval",
        )
        .acts([begin(PAY, "reasoning-delta")])
        .then([approve(PAY_SAM)])
        .ends(
            "finished",
            "I sent $20 to Sam.",
            [["process_payment", "output-available", SUCCESS]],
        )
        .paid(&[20])
        .recovered(),
    ]
}

pub(super) fn hasty() -> Vec<Draft> {
    vec![
        chat(
            "approval-timed-out",
            "an approval that nobody answered in time",
        )
        .acts([say("u1", PAY), until_journal("turn-ended")])
        .ends(
            "finished",
            "Nobody answered in time",
            [["process_payment", "output-error", "time"]],
        )
        .paid(&[]),
        chat(
            "question-timed-out",
            "a tool's own question that nobody answered in time",
        )
        .acts([say("u1", FLIGHT), until_journal("turn-ended")])
        .ends(
            "finished",
            "Nobody answered in time",
            [["book_flight", "output-error", "time"]],
        )
        .paid(&[]),
    ]
}

pub(super) fn with_expiry() -> Vec<Draft> {
    vec![
        chat(
            "approval-with-expiry",
            "an open approval that expires in a hundred years",
        )
        .acts([say("u1", PAY)])
        .then([approve(PAY_SAM)])
        .ends(
            "finished",
            "I sent $20 to Sam.",
            [["process_payment", "output-available", SUCCESS]],
        )
        .paid(&[20]),
        chat(
            "location-with-expiry",
            "an open approval of a page's tool that expires",
        )
        .acts([say("u1", "Where am I?")])
        .then([approve(WHERE), output("get_location", place())])
        .ends(
            "finished",
            "59.9",
            [["get_location", "output-available", "59.9"]],
        ),
        chat(
            "question-with-expiry",
            "a tool's own question that expires in a hundred years",
        )
        .acts([say("u1", FLIGHT)])
        .then([approve(HOLD), pay_for_seat("approve")])
        .ends(
            "finished",
            "Oslo",
            [["book_flight", "output-available", SUCCESS]],
        )
        .paid(&[120]),
    ]
}

/// What runs when the last server is killed.
pub(super) fn last() -> Vec<Draft> {
    vec![
        chat(
            "stopped-in-the-middle",
            "a turn that was stopped while it spoke",
        )
        .acts([begin("take your time", "text-delta"), json!({"do": "stop"})])
        .ends("stopped", "You", []),
        chat(
            "killed-in-a-step",
            "a model's step that was cut short by the end of its server",
        )
        .acts([begin("take your time", "text-delta")])
        .ends("finished", "word-200.", [])
        .killed(),
        chat(
            "page-call-expired",
            "a page's call that has expired while no server was there",
        )
        .acts([
            say("u1", "Where am I?"),
            approve(WHERE),
            until_journal("client-call"),
        ])
        .then([until_journal("turn-ended")])
        .ends(
            "finished",
            "time",
            [["get_location", "output-error", "time"]],
        )
        .killed(),
        chat(
            "approval-expired",
            "an approval that has expired while no server was there",
        )
        .acts([say("u1", PAY), until_journal("gate-opened")])
        .then([until_journal("turn-ended")])
        .ends(
            "finished",
            "Nobody answered in time",
            [["process_payment", "output-error", "time"]],
        )
        .paid(&[])
        .killed(),
        // The last, since the store is busy with it.
        chat(
            "killed-in-a-payment",
            "a payment that was approved and had begun",
        )
        .acts([
            say("u1", PAY),
            approve(PAY_SAM),
            until_journal("call-started"),
        ])
        .ends(
            "finished",
            "It is not known whether the payment of $20 to Sam",
            [["process_payment", "output-error", "unknown"]],
        )
        .paid(&[])
        .killed(),
    ]
}
