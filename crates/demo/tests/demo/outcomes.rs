//! What the demo says of what became of its calls.

use adk_stream_demo::Demo;
use serde_json::{Value, json};
use turn::agent::{CallResult, HistoryItem};
use turn::call::{Outcome, UnknownReason};
use turn::reason::TIMED_OUT;

use crate::dialogue::{Dialogue, approve, call, settled, text_of};

/// What is said when the calls of a prompt end so.
fn said(prompt: &str, outcome: &Outcome) -> String {
    let mut dialogue = Dialogue::of(Demo::new(), prompt);
    dialogue
        .finish(&mut |call| settled(call, outcome.clone()))
        .1
}

fn output(output: Value) -> Outcome {
    Outcome::Output { output }
}

fn denied(reason: Option<&str>) -> Outcome {
    Outcome::Denied {
        reason: reason.map(str::to_owned),
    }
}

fn error(error: &str) -> Outcome {
    Outcome::Error {
        error: error.to_owned(),
    }
}

#[test]
fn a_denial_is_reported_with_its_reason() {
    for (prompt, reason, expected) in [
        (
            "Pay Ann $5",
            Some("too expensive"),
            "You denied the payment to Ann: too expensive.",
        ),
        (
            "Pay Ann $5",
            Some("Too expensive!"),
            "You denied the payment to Ann: Too expensive!",
        ),
        ("Pay Ann $5", None, "You denied the payment to Ann."),
        ("Pay Ann $5", Some("  "), "You denied the payment to Ann."),
        ("Where am I?", None, "You denied access to your location."),
        (
            "Play track 1",
            Some("too loud"),
            "You denied the change to track 1: too loud.",
        ),
        (
            "Book a flight to Oslo",
            None,
            "You denied the flight to Oslo.",
        ),
        (
            "次郎さんに200ドル送金して",
            Some("高すぎる"),
            "Jiroさんへの送金は拒否されました（理由: 高すぎる）。",
        ),
        ("現在地を教えて", None, "位置情報の利用は拒否されました。"),
    ] {
        assert_eq!(said(prompt, &denied(reason)), expected);
    }
}

#[test]
fn nobody_answering_is_neither_a_denial_nor_a_failure() {
    let timed_out = error(TIMED_OUT);
    assert_eq!(
        said("Process a payment of $100 to Alice", &timed_out),
        "Nobody answered in time about the payment of $100 to Alice, so it did not go ahead."
    );
    assert_eq!(
        said("Aliceに100ドル送金して", &timed_out),
        "Aliceさんへの100ドルの送金は、時間内に返答がなかったため行いませんでした。"
    );
    assert_eq!(
        said("Pay Ann $5", &denied(Some(TIMED_OUT))),
        "Nobody answered in time about the payment of $5 to Ann, so it did not go ahead."
    );
}

#[test]
fn a_failure_is_reported_with_its_error() {
    assert_eq!(
        said("Pay Ann $5", &error("the bank is closed")),
        "The payment of $5 to Ann failed: the bank is closed."
    );
    assert_eq!(
        said("Oslo weather", &error("upstream timed out")),
        "The weather lookup for Oslo failed: upstream timed out."
    );
    let refused = output(json!({
        "success": false, "error": "Insufficient funds", "transaction_id": null, "wallet_balance": 1000,
    }));
    assert_eq!(
        said("Pay Ann $2,000", &refused),
        "The payment of $2,000 to Ann failed: Insufficient funds. Your balance is $1,000."
    );
    assert_eq!(
        said("Annに2000ドル送って", &refused),
        "Annさんへの2,000ドルの送金に失敗しました: Insufficient funds。残高は1,000ドルです。"
    );
    assert_eq!(
        said(
            "Where am I?",
            &output(json!({"error": "User denied Geolocation"}))
        ),
        "Access to your location failed: User denied Geolocation."
    );
    assert_eq!(
        said("play track 0", &output(json!({"success": false}))),
        "The change to track 0 failed: no reason was given."
    );
}

#[test]
fn a_flight_that_could_not_be_paid_is_not_booked() {
    let payment = json!({"success": false, "error": "Insufficient funds", "wallet_balance": 20});
    let unpaid = output(json!({"success": true, "seat": "seat_7", "payment": payment}));
    assert_eq!(
        said("Book a flight to Oslo", &unpaid),
        "The flight to Oslo failed: Insufficient funds. Your balance is $20."
    );
    assert_eq!(
        said("オスロへのフライトを予約して", &unpaid),
        "オスロへのフライトの予約に失敗しました: Insufficient funds。残高は20ドルです。"
    );
}

#[test]
fn an_unknown_outcome_is_called_unknown() {
    let text = said(
        "Pay Ann $5",
        &Outcome::Unknown {
            reason: UnknownReason::ServerStopped,
        },
    );
    assert!(
        text.starts_with("It is not known whether the payment of $5 to Ann happened"),
        "{text}"
    );
    let text = said(
        "Annに5ドル送って",
        &Outcome::Unknown {
            reason: UnknownReason::ServerStopped,
        },
    );
    assert!(
        text.starts_with("Annさんへの5ドルの送金が行われたかどうかは分かりません"),
        "{text}"
    );
}

#[test]
fn an_edit_by_the_approver_is_reported() {
    let mut edited = |call: &_| CallResult {
        edited_input: Some(json!({"amount": 10, "recipient": "Ann", "currency": "USD"})),
        ..settled(
            call,
            output(
                json!({"success": true, "transaction_id": "txn_1", "amount": 10, "currency": "USD", "recipient": "Ann"}),
            ),
        )
    };
    let (_, text) = Dialogue::of(Demo::new(), "Pay Ann $20").finish(&mut edited);
    assert_eq!(
        text,
        "I sent $10 to Ann. Transaction txn_1. The approver changed the amount from 20 to 10."
    );
    let (_, text) = Dialogue::of(Demo::new(), "Annに20ドル送って").finish(&mut edited);
    assert_eq!(
        text,
        "Annさんに10ドルを送金しました（取引ID: txn_1）。承認者が内容を変更しました（金額: 20 → 10）。"
    );
}

#[test]
fn results_are_used() {
    let location =
        output(json!({"latitude": 59.91, "longitude": 10.75, "accuracy": 12.5, "city": "Oslo"}));
    let weather = output(
        json!({"temperature": 20.0, "condition": "Unknown", "humidity": 60, "note": "No data for Bergen"}),
    );
    let track = output(json!({"success": true, "current_track": 2}));
    for (prompt, outcome, expected) in [
        (
            "Where am I?",
            &location,
            "You are at 59.91, 10.75 (Oslo), to within 12.5 m.",
        ),
        (
            "現在地は?",
            &location,
            "現在地は、オスロ、緯度59.91、経度10.75（精度 約12.5m）です。",
        ),
        (
            "weather in Bergen",
            &weather,
            "The weather in Bergen: 20°C, Unknown, 60% humidity. No data for Bergen.",
        ),
        (
            "Bergenの天気",
            &weather,
            "Bergenの天気は、不明、気温20°C、湿度60%です。No data for Bergen。",
        ),
        ("play track 2", &track, "Track 2 is playing now."),
        ("トラック2", &track, "トラック2に変更しました。"),
    ] {
        assert_eq!(said(prompt, outcome), expected);
    }
}

#[test]
fn outputs_of_any_form_are_reported() {
    for (value, expected) in [
        (json!(null), "Your flight to Oslo is booked."),
        (json!({}), "Your flight to Oslo is booked."),
        (json!("Seat 4A"), "Your flight to Oslo is booked: Seat 4A."),
        (
            json!({"booking_id": "X7", "seat": 4}),
            "Your flight to Oslo is booked: booking id X7, seat 4.",
        ),
        (json!([1, 2]), "Your flight to Oslo is booked: [1,2]."),
    ] {
        assert_eq!(said("Book a flight to Oslo", &output(value)), expected);
    }
}

#[test]
fn several_results_are_reported_in_one_answer() {
    let mut answers = [
        denied(Some("no")),
        output(json!({"success": true})),
        Outcome::Unknown {
            reason: UnknownReason::ServerStopped,
        },
    ]
    .into_iter();
    let mut settle = |call: &_| settled(call, answers.next().unwrap());
    let (calls, text) =
        Dialogue::of(Demo::new(), "Pay Ann $1, Ben $2 and Cy $3").finish(&mut settle);
    assert_eq!(calls[0].len(), 3);
    for part in [
        "You denied the payment to Ann: no.",
        "I sent $2 to Ben.",
        "payment of $3 to Cy",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_denied_call_does_not_keep_the_next_from_its_turn() {
    let mut settle = |call: &_| settled(call, denied(None));
    let mut dialogue = Dialogue::of(Demo::live(), "Pay Ann $1 and Ben $2");
    let (calls, text) = dialogue.finish(&mut settle);
    assert_eq!(calls.len(), 2);
    assert_eq!(
        text,
        "You denied the payment to Ann. You denied the payment to Ben."
    );
}

#[test]
fn a_report_is_promised_and_reported_when_it_comes_back() {
    for (prompt, promise, done, failed) in [
        (
            "Write a report about tea",
            "I have started the report about tea. It takes a while; I will come back when it is finished.",
            "The report about tea is finished: Tea is a leaf.",
            "The report about tea failed: no paper.",
        ),
        (
            "お茶についてのレポートを書いて",
            "お茶についてのレポートを始めました。時間がかかるので、完了したらお知らせします。",
            "お茶についてのレポートが完了しました: Tea is a leaf.",
            "お茶についてのレポートに失敗しました: no paper。",
        ),
    ] {
        let mut dialogue = Dialogue::of(Demo::new(), prompt);
        let (calls, text) = dialogue.finish(&mut approve);
        assert_eq!(text, promise);
        let (tool, input) = calls[0][0].clone();
        let mut back = |outcome| {
            let call = call(1, &tool, input.clone());
            dialogue.history.push(HistoryItem::Result { call, outcome });
            text_of(&dialogue.step())
        };
        assert_eq!(
            back(output(json!({"topic": "tea", "report": "Tea is a leaf."}))),
            done
        );
        assert_eq!(back(error("no paper")), failed);
    }
}

#[test]
fn an_earlier_turn_is_not_answered_again() {
    let mut dialogue = Dialogue::of(Demo::new(), "Pay Ann $5");
    dialogue.finish(&mut approve);
    dialogue.say("What is the weather in Oslo?");
    let (calls, text) = dialogue.finish(&mut approve);
    assert_eq!(
        calls,
        [[("get_weather".to_owned(), json!({"location": "Oslo"}))]]
    );
    assert!(!text.contains("Ann"), "{text}");
}

#[test]
fn a_call_inside_of_a_call_is_not_reported() {
    let mut dialogue = Dialogue::of(Demo::new(), "Set the mood for Tokyo and play track 1");
    dialogue.advance(&mut approve);
    let Some(HistoryItem::Step { results, .. }) = dialogue.history.last_mut() else {
        panic!("no step");
    };
    let mut nested = results[0].clone();
    nested.call.parent = Some(nested.call.id.clone());
    nested.call.tool = "get_location".to_owned();
    results.insert(1, nested);
    let text = text_of(&dialogue.step());
    assert_eq!(
        text,
        "The mood of Tokyo is set: 18°C, Cloudy, 65% humidity, track 2. Track 1 is playing now: BGM changed."
    );
}
