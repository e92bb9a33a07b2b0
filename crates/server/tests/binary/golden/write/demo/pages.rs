//! Calls that a page runs.

use serde_json::json;

use super::super::{Draft, approve, chat, deny, error, output, rest, say, until_journal};
use super::{WHERE, music, place};

pub(super) fn page_calls() -> Vec<Draft> {
    let played = ["change_bgm", "output-available", "true"];
    let found = ["get_location", "output-available", "59.9"];
    vec![
        chat("page-call-open", "a page's call that waits for its output")
            .acts([say("u1", "Play track 1")])
            .then([output("change_bgm", music())])
            .ends("finished", "1", [played]),
        chat(
            "page-call-open-on-a-page",
            "the same, to be given by a page's message",
        )
        .acts([say("u1", "Play track 1")])
        .then([json!({"do": "give on the page", "tool": "change_bgm", "output": music()})])
        .ends("finished", "1", [played]),
        chat("page-call-open-to-fail", "the same, to fail")
            .acts([say("u1", "Play track 1")])
            .then([error("change_bgm", "no loudspeaker")])
            .ends(
                "finished",
                "no loudspeaker",
                [["change_bgm", "output-error", "no loudspeaker"]],
            ),
        chat(
            "page-calls-one-given",
            "two page calls of one step: one has its output, one waits",
        )
        .acts([
            say("u1", "Play track 1 and track 2"),
            output("change_bgm", json!({"second": true})),
        ])
        .then([output("change_bgm", json!({"first": true}))])
        .ends(
            "finished",
            "Track 2 is playing now.",
            [
                ["change_bgm", "output-available", "first"],
                ["change_bgm", "output-available", "second"],
            ],
        ),
        chat(
            "location-asked",
            "a page's tool behind an approval that nobody has answered",
        )
        .acts([say("u1", "Where am I?")])
        .then([approve(WHERE), output("get_location", place())])
        .ends("finished", "59.9", [found]),
        chat("location-asked-to-be-denied", "the same, to be denied")
            .acts([say("u1", "Where am I?")])
            .then([deny(WHERE, "I hide")])
            .ends(
                "finished",
                "I hide",
                [["get_location", "output-denied", ""]],
            ),
        chat(
            "location-approved",
            "a page's tool that was approved, and whose output is outstanding",
        )
        .acts([say("u1", "Where am I?"), approve(WHERE), rest()])
        .then([output("get_location", place())])
        .ends("finished", "59.9", [found]),
        chat(
            "location-given",
            "a page's tool that was approved and has its output",
        )
        .acts([
            say("u1", "Where am I?"),
            approve(WHERE),
            output("get_location", place()),
            until_journal("turn-ended"),
        ])
        .then([say("u2", "Play track 2"), output("change_bgm", music())])
        .ends("finished", "is playing now.", [played]),
        chat(
            "location-failed",
            "a page's tool that was approved and failed in the page",
        )
        .acts([
            say("u1", "Where am I?"),
            approve(WHERE),
            error("get_location", "no satellites"),
            until_journal("turn-ended"),
        ])
        .ends(
            "finished",
            "no satellites",
            [["get_location", "output-error", "no satellites"]],
        ),
    ]
}
