//! Chats with the tools of an application.

use serde_json::json;

use super::{
    Draft, Phase, Plan, approve, approve_with, begin, chat, deny, output, rest, say, until_journal,
};
use crate::golden::setup::Agent;

const FLIGHT: &str = "Book a flight to Oslo";
const LOOK: &str = "Look for a flight to Oslo?";
const TAKE: &str = "Take seat 12A to Rome?";

pub(super) fn plan() -> Plan {
    let servers = vec![
        Phase {
            arguments: &[],
            is_replica: false,
            holds_payments: false,
            chats: recovered(),
        },
        Phase {
            arguments: &[],
            is_replica: false,
            holds_payments: false,
            chats: [asked(), declared(), over(), killed()]
                .into_iter()
                .flatten()
                .collect(),
        },
    ];
    Plan {
        agent: Agent::Tools,
        script: "",
        servers,
        aborted: 0,
    }
}

fn recovered() -> Vec<Draft> {
    vec![
        chat(
            "unknown",
            "a tool that had begun when its server was killed, and is known to be unknown",
        )
        .acts([
            begin("What is the weather in Tokyo?", "tool-input-available"),
            until_journal("call-started"),
        ])
        .ends(
            "finished",
            "It is not known whether",
            [["get_weather", "output-error", "unknown"]],
        )
        .recovered(),
    ]
}

fn asked() -> Vec<Draft> {
    let to_rome = || approve_with(LOOK, json!({"destination": "Rome"}));
    let played = || output("change_bgm", json!({"track": 2}));
    let booked = [
        ["book_flight", "output-available", "12A to Rome"],
        ["change_bgm", "output-available", "2"],
    ];
    vec![
        chat(
            "asked-by-policy",
            "an approval of a tool that will ask again",
        )
        .acts([say("u1", FLIGHT)])
        .then([to_rome(), approve(TAKE), played()])
        .ends(
            "finished",
            "changed the destination from Oslo to Rome",
            booked,
        ),
        chat(
            "edited-then-asked",
            "an approval with another input, and the tool's own question after it",
        )
        .acts([
            say("u1", FLIGHT),
            to_rome(),
            until_journal("Take seat"),
            rest(),
        ])
        .then([approve(TAKE), played()])
        .ends(
            "finished",
            "changed the destination from Oslo to Rome",
            booked,
        ),
        chat("edited-then-asked-to-be-denied", "the same, to be denied")
            .acts([
                say("u1", FLIGHT),
                to_rome(),
                until_journal("Take seat"),
                rest(),
            ])
            .then([deny(TAKE, "too far back")])
            .ends(
                "finished",
                "too far back",
                [["book_flight", "output-denied", ""]],
            ),
        chat(
            "edited-then-page-call",
            "the same with a page's call after both",
        )
        .acts([
            say("u1", FLIGHT),
            to_rome(),
            approve(TAKE),
            until_journal("call-nested"),
            rest(),
        ])
        .then([played()])
        .ends(
            "finished",
            "changed the destination from Oslo to Rome",
            booked,
        ),
    ]
}

fn declared() -> Vec<Draft> {
    let schema = json!({"type": "object", "properties": {}});
    let tools = json!({"get_location": {"description": "Where I am.", "parameters": schema}});
    let mut say = say("u1", "Where am I?");
    say["tools"] = tools;
    vec![
        chat(
            "page-tool-declared",
            "a call of a tool that the page declared with its message",
        )
        .acts([say])
        .then([output(
            "get_location",
            json!({"latitude": 59.9, "longitude": 10.7}),
        )])
        .ends(
            "finished",
            "59.9",
            [["get_location", "output-available", "59.9"]],
        ),
    ]
}

fn over() -> Vec<Draft> {
    vec![
        chat("denied-by-policy", "a call that a policy has denied")
            .acts([say("u1", "Send $200 to Sam")])
            .ends(
                "finished",
                "more than anybody may send",
                [[
                    "process_payment",
                    "output-error",
                    "more than anybody may send",
                ]],
            ),
        chat("failed-tool", "a tool that failed")
            .acts([say("u1", "Send $20 to Sam")])
            .ends(
                "finished",
                "Sam has no account.",
                [["process_payment", "output-error", "Sam has no account."]],
            ),
        chat("crashed-tool", "a tool that panicked")
            .acts([say("u1", "Send $13 to Sam")])
            .ends(
                "finished",
                "The tool crashed.",
                [["process_payment", "output-error", "The tool crashed."]],
            ),
        chat("report-pending", "a long-running call that is pending")
            .acts([say("u1", "Write a report about tea")])
            .then([rest(), until_journal("\"cause\":\"result\""), rest()])
            .taken_up()
            .ends(
                "finished",
                "It is not known whether the report about tea happened",
                [],
            ),
    ]
}

fn killed() -> Vec<Draft> {
    let weather = "What is the weather in Tokyo?";
    let unknown = ["get_weather", "output-error", "unknown"];
    vec![
        chat(
            "killed-in-a-tool",
            "a tool that had begun when its server was killed",
        )
        .acts([
            begin(weather, "tool-input-available"),
            until_journal("call-started"),
        ])
        .ends("finished", "It is not known whether", [unknown])
        .killed(),
        chat(
            "killed-in-an-idempotent-tool",
            "the same with a tool that may be run again",
        )
        .acts([
            begin("Set the mood for London", "tool-input-available"),
            until_journal("call-started"),
        ])
        .ends(
            "finished",
            "mood calm",
            [["set_mood", "output-available", "calm"]],
        )
        .killed(),
        chat(
            "killed-beside-an-approval",
            "a tool that had begun, beside an open approval",
        )
        .acts([
            begin(
                "What is the weather in Tokyo and book a flight to Oslo",
                "tool-input-available",
            ),
            until_journal("call-started"),
        ])
        .then([
            approve(LOOK),
            approve("Take seat 12A to Oslo?"),
            output("change_bgm", json!({"track": 2})),
        ])
        .ends(
            "finished",
            "It is not known whether",
            [
                unknown,
                ["book_flight", "output-available", "12A to Oslo"],
                ["change_bgm", "output-available", "2"],
            ],
        )
        .killed(),
    ]
}
