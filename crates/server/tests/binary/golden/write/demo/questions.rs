//! Tools that ask, or have a page do something, in the middle of their work.

use super::super::{Draft, approve, chat, deny, error, output, rest, say, until_journal};
use super::{FLIGHT, HOLD, PAY_SAM, SUCCESS, music, pay_for_seat, played};

pub(super) fn questions_within() -> Vec<Draft> {
    let booked = ["book_flight", "output-available", r#""seat":"RECORDED""#];
    let paid = ["process_payment", "output-available", SUCCESS];
    vec![
        chat("flight-first-question", "a tool's own question, its first")
            .acts([say("u1", FLIGHT)])
            .then([approve(HOLD), pay_for_seat("approve")])
            .ends(
                "finished",
                "Oslo",
                [["book_flight", "output-available", SUCCESS]],
            )
            .paid(&[120]),
        chat(
            "flight-first-question-to-be-denied",
            "the same, to be denied",
        )
        .acts([say("u1", FLIGHT)])
        .then([deny(HOLD, "too cold")])
        .ends(
            "finished",
            "too cold",
            [["book_flight", "output-denied", ""]],
        )
        .paid(&[]),
        chat(
            "flight-second-question",
            "a tool's second question, after a step that it recorded",
        )
        .acts([
            say("u1", FLIGHT),
            approve(HOLD),
            until_journal("Pay 120"),
            rest(),
        ])
        .then([pay_for_seat("approve")])
        .ends("finished", "Oslo", [booked])
        .paid(&[120]),
        chat(
            "flight-second-question-to-be-denied",
            "the same, to be denied",
        )
        .acts([
            say("u1", FLIGHT),
            approve(HOLD),
            until_journal("Pay 120"),
            rest(),
        ])
        .then([pay_for_seat("deny")])
        .ends(
            "finished",
            "You denied the flight to Oslo.",
            [["book_flight", "output-denied", ""]],
        )
        .paid(&[]),
        chat(
            "flight-booked",
            "a flight that was booked, with both questions",
        )
        .acts([
            say("u1", FLIGHT),
            approve(HOLD),
            pay_for_seat("approve"),
            until_journal("turn-ended"),
        ])
        .ends("finished", "Oslo", [booked])
        .paid(&[120]),
        chat(
            "flights-side-by-side",
            "two tools that ask by themselves, one answered once",
        )
        .acts([
            say("u1", "Book a flight to Oslo and a flight to Rome"),
            approve(HOLD),
            until_journal("Pay 120"),
            rest(),
        ])
        .then([
            approve("Hold a seat to Rome?"),
            pay_for_seat("approve"),
            pay_for_seat("approve"),
        ])
        .ends(
            "finished",
            "Rome",
            [booked, ["book_flight", "output-available", SUCCESS]],
        )
        .paid(&[120, 120]),
        chat("mood-open", "a page's call in the middle of a tool's work")
            .acts([say("u1", "Set the mood for London"), rest()])
            .then([output("change_bgm", music())])
            .ends(
                "finished",
                "London",
                [
                    ["set_mood", "output-available", "London"],
                    ["change_bgm", "output-available", "true"],
                ],
            ),
        chat("mood-open-to-fail", "the same, to fail in the page")
            .acts([say("u1", "Set the mood for London"), rest()])
            .then([error("change_bgm", "no loudspeaker")])
            .ends(
                "finished",
                "no loudspeaker",
                [
                    ["set_mood", "output-error", "no loudspeaker"],
                    ["change_bgm", "output-error", "no loudspeaker"],
                ],
            ),
        chat(
            "mood-set",
            "a page's call in the middle of a tool's work that is over",
        )
        .acts([
            say("u1", "Set the mood for London"),
            output("change_bgm", music()),
            until_journal("turn-ended"),
        ])
        .ends(
            "finished",
            "London",
            [
                ["set_mood", "output-available", "London"],
                ["change_bgm", "output-available", "true"],
            ],
        ),
        chat(
            "mood-beside-an-approval",
            "an approval that a page's call in the middle of a tool's work has left behind",
        )
        .acts([
            say("u1", "Send $20 to Sam and set the mood for London"),
            until_journal("call-nested"),
            rest(),
        ])
        .then([approve(PAY_SAM), output("change_bgm", music())])
        .ends(
            "finished",
            "I sent $20 to Sam.",
            [paid, ["set_mood", "output-available", "London"], played()],
        )
        .paid(&[20]),
    ]
}
