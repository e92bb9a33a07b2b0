//! Whole flows through the pure turn, each watched by the checker as both clients, and each replayed
//! from every prefix of its journal.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod driver;
mod many;
mod nested;
mod own;
mod questions;
mod resumed;
mod routes;
mod unshown;

use driver::Driver;
use serde_json::json;
use turn::call::{Outcome, Place, UnknownReason};
use turn::gate::Decision;
use turn::input::Ids;
use turn::policy::Verdict;
use turn::{Effect, Input, Status};

#[test]
fn text_alone_finishes_the_turn() {
    let mut driver = Driver::new();
    driver.say("hi");
    driver.text("Hello, ");
    driver.text("world.");
    driver.end_step();
    assert_eq!(driver.status(), Status::Finished);
    driver.check(&["Hello, world."]);
}

#[test]
fn call_that_is_allowed_runs_within_its_step() {
    let mut driver = Driver::new();
    driver.say("weather?");
    driver.reason("They want the weather.");
    driver.call("get_weather", Place::Server, Verdict::Allow);
    let effects = driver.end_step();
    let call = driver.call_id(0);
    assert_eq!(effects, [Effect::RunTool(call.clone())]);
    let effects = driver.done(&call, json!({"temperature": 18}));
    assert_eq!(effects, [Effect::CallModel]);
    driver.text("18 degrees.");
    driver.end_step();
    assert_eq!(driver.requests(), 1);
    driver.check(&["18 degrees."]);
}

fn ask() -> Verdict {
    Verdict::Ask {
        question: "Really?".to_owned(),
    }
}

#[test]
fn approved_call_runs_once_and_the_page_goes_on() {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.call("process_payment", Place::Server, ask());
    assert_eq!(driver.end_step(), []);
    assert_eq!(driver.status(), Status::Parked);
    assert!(!driver.is_watching());
    let call = driver.call_id(0);
    assert_eq!(driver.approve(0), [Effect::RunTool(call.clone())]);
    driver.done(&call, json!({"success": true}));
    driver.text("Paid.");
    driver.end_step();
    assert_eq!(driver.requests(), 2);
    driver.check(&["Paid."]);
}

#[test]
fn denied_call_tells_the_model_why() {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.call("process_payment", Place::Server, ask());
    driver.end_step();
    assert_eq!(driver.deny(0, "too much"), [Effect::CallModel]);
    let reason = Some("too much".to_owned());
    assert_eq!(driver.outcome(0), Some(Outcome::Denied { reason }));
    driver.text("As you like.");
    driver.end_step();
    assert_eq!(driver.requests(), 2);
    driver.check(&["As you like."]);
}

#[test]
fn timed_out_call_goes_on_without_a_window_and_a_late_answer_sees_it_all() {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.call("process_payment", Place::Server, ask());
    driver.end_step();
    let gate = driver.gate_id(0);
    let effects = driver.perform(Input::TimedOut { gate });
    assert_eq!(effects, [Effect::CallModel]);
    driver.text("Nobody answered.");
    driver.end_step();
    assert_eq!(driver.status(), Status::Finished);
    assert_eq!(driver.approve(0), []);
    driver.check(&["Nobody answered."]);
}

#[test]
fn no_that_comes_too_late_is_shown_as_a_no() {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.call("process_payment", Place::Server, ask());
    driver.end_step();
    let gate = driver.gate_id(0);
    driver.perform(Input::TimedOut { gate });
    driver.text("Nobody answered.");
    driver.end_step();
    assert_eq!(driver.deny(0, "no"), []);
    driver.check(&["Nobody answered."]);
}

#[test]
fn parallel_calls_wait_for_all_answers_in_any_combination() {
    for answers in 0..8_u32 {
        let mut driver = Driver::new();
        driver.say("pay three");
        for _ in 0..3 {
            driver.call("process_payment", Place::Server, ask());
        }
        driver.end_step();
        let decisions: Vec<bool> = (0..3).map(|n| answers >> n & 1 == 1).collect();
        driver.answer_all(&decisions);
        for (n, approved) in decisions.iter().enumerate() {
            if *approved {
                let call = driver.call_id(n);
                driver.done(&call, json!({"success": true}));
            }
        }
        driver.text("All done.");
        driver.end_step();
        assert_eq!(driver.status(), Status::Finished, "{decisions:?}");
        assert_eq!(driver.requests(), 2);
        driver.check(&["All done."]);
    }
}

#[test]
fn parallel_calls_answered_one_by_one_elsewhere() {
    let mut driver = Driver::new();
    driver.say("pay two");
    driver.call("process_payment", Place::Server, ask());
    driver.call("process_payment", Place::Server, ask());
    driver.end_step();
    let call = driver.call_id(0);
    driver.decide_elsewhere(0, true);
    driver.done(&call, json!({"success": true}));
    assert_eq!(driver.status(), Status::Parked);
    driver.decide_elsewhere(1, false);
    driver.text("One of two.");
    driver.end_step();
    assert_eq!(driver.status(), Status::Finished);
    driver.check(&["One of two."]);
}

#[test]
fn call_without_a_gate_runs_while_another_waits() {
    let mut driver = Driver::new();
    driver.say("pay, and the weather");
    driver.call("process_payment", Place::Server, ask());
    driver.call("get_weather", Place::Server, Verdict::Allow);
    driver.end_step();
    // The window stays open as long as something happens.
    assert_eq!(driver.status(), Status::Running);
    assert!(driver.is_watching());
    let weather = driver.call_id(1);
    driver.done(&weather, json!({"temperature": 18}));
    assert_eq!(driver.status(), Status::Parked);
    assert!(!driver.is_watching());
    let payment = driver.call_id(0);
    driver.approve(0);
    driver.done(&payment, json!({"success": true}));
    driver.text("Both.");
    driver.end_step();
    assert_eq!(driver.requests(), 2);
    driver.check(&["Both."]);
}

#[test]
fn page_runs_its_tool_and_sends_the_output() {
    let mut driver = Driver::new().client_tool("change_bgm");
    driver.say("music");
    driver.call("change_bgm", Place::Client, Verdict::Allow);
    driver.end_step();
    assert_eq!(driver.announced(), ["change_bgm"]);
    driver.output(0, json!({"success": true}));
    driver.text("Enjoy.");
    driver.end_step();
    assert_eq!(driver.requests(), 2);
    driver.check(&["Enjoy."]);
}

#[test]
fn page_tool_behind_an_approval_is_announced_only_once_approved() {
    let mut driver = Driver::new().client_tool("get_location");
    driver.say("where am I?");
    driver.call("get_location", Place::Client, ask());
    driver.end_step();
    assert_eq!(driver.announced(), Vec::<String>::new());
    driver.approve(0);
    assert_eq!(driver.announced(), ["get_location"]);
    assert_eq!(driver.status(), Status::Parked);
    driver.output(0, json!({"latitude": 35.6}));
    driver.text("In Tokyo.");
    driver.end_step();
    assert_eq!(driver.requests(), 3);
    driver.check(&["In Tokyo."]);
}

#[test]
fn page_runs_the_input_that_the_approver_put_in_place_of_the_models() {
    let mut driver = Driver::new().client_tool("pick_color");
    driver.say("which colour?");
    driver.call("pick_color", Place::Client, ask());
    driver.end_step();
    let (gate, input) = (driver.gate_id(0), json!({"amount": 7.0}));
    let decision = Decision::Approved {
        reason: None,
        input: Some(input.clone()),
    };
    driver.perform(Input::Answer { gate, decision });
    assert_eq!(driver.shown_input(), input);
    // The pages say yes to what they were asked, which is too late, and run what was approved.
    driver.approve(0);
    assert_eq!(driver.announced(), ["pick_color"]);
    assert_eq!(driver.announced_inputs(), [input]);
    driver.output(0, json!("blue"));
    driver.text("Blue.");
    driver.end_step();
    assert_eq!(driver.requests(), 3);
    driver.check(&["Blue."]);
}

#[test]
fn page_tool_behind_an_approval_never_runs_when_denied() {
    let mut driver = Driver::new().client_tool("get_location");
    driver.say("where am I?");
    driver.call("get_location", Place::Client, ask());
    driver.end_step();
    driver.deny(0, "private");
    driver.text("I do not know.");
    driver.end_step();
    assert_eq!(driver.announced(), Vec::<String>::new());
    assert_eq!(driver.requests(), 2);
    driver.check(&["I do not know."]);
}

#[test]
fn denial_beside_an_approved_page_tool_is_held_until_its_output_is_in() {
    let mut driver = Driver::new().client_tool("get_location");
    driver.say("pay, and where am I?");
    driver.call("process_payment", Place::Server, ask());
    driver.call("get_location", Place::Client, ask());
    driver.end_step();
    driver.answer_all(&[false, true]);
    driver.output(1, json!({"latitude": 35.6}));
    driver.text("In Tokyo, and nothing paid.");
    driver.end_step();
    assert_eq!(driver.requests(), 3);
    driver.check(&["In Tokyo, and nothing paid."]);
}

#[test]
fn tool_asks_twice_in_the_middle_of_its_work() {
    let mut driver = Driver::new();
    driver.say("book");
    driver.call("book_flight", Place::Server, Verdict::Allow);
    driver.end_step();
    let call = driver.call_id(0);
    driver.asks(&call, "Hold a seat?");
    assert_eq!(driver.status(), Status::Parked);
    let effects = driver.approve(0);
    assert!(
        matches!(&effects[..], [Effect::WakeTool { .. }]),
        "{effects:?}"
    );
    driver.asks(&call, "Pay?");
    assert_eq!(driver.status(), Status::Parked);
    driver.approve(1);
    driver.done(&call, json!({"success": true}));
    driver.text("Booked.");
    driver.end_step();
    assert_eq!(driver.requests(), 3);
    driver.check(&["Booked."]);
}

#[test]
fn tool_has_the_page_do_something_while_it_works() {
    let mut driver = Driver::new().client_tool("change_bgm");
    driver.say("mood");
    driver.call("set_mood", Place::Server, Verdict::Allow);
    driver.end_step();
    let call = driver.call_id(0);
    driver.progress(&call, json!({"status": "looking"}));
    driver.perform(Input::ToolCalls {
        call: call.clone(),
        tool: "change_bgm".to_owned(),
        input: json!({"track": 2}),
        timeout: None,
    });
    assert_eq!(driver.status(), Status::Parked);
    driver.output(1, json!({"success": true}));
    driver.done(&call, json!({"music": 2}));
    driver.text("Cosy.");
    driver.end_step();
    assert_eq!(driver.requests(), 2);
    driver.check(&["Cosy."]);
}

#[test]
fn tool_that_goes_on_without_an_answer_leaves_no_question_open() {
    let mut driver = Driver::new();
    driver.say("book");
    driver.call("book_flight", Place::Server, Verdict::Allow);
    driver.end_step();
    let call = driver.call_id(0);
    driver.asks(&call, "Hold a seat?");
    assert_eq!(driver.status(), Status::Parked);
    let effects = driver.done(&call, json!({"seat": null}));
    assert_eq!(effects, [Effect::CallModel]);
    assert_eq!(driver.decision(0), Some(Decision::Cancelled));
    driver.text("No seat is held.");
    driver.end_step();
    assert_eq!(driver.status(), Status::Finished);
    // A client that answers all the same is shown the outcome.
    assert_eq!(driver.approve(0), []);
    driver.check(&["No seat is held."]);
}

#[test]
fn tool_that_goes_on_without_the_page_settles_what_it_asked_of_it() {
    let mut driver = Driver::new().client_tool("change_bgm");
    driver.say("mood");
    driver.call("set_mood", Place::Server, Verdict::Allow);
    driver.end_step();
    let call = driver.call_id(0);
    driver.perform(Input::ToolCalls {
        call: call.clone(),
        tool: "change_bgm".to_owned(),
        input: json!({"track": 2}),
        timeout: None,
    });
    assert_eq!(driver.status(), Status::Parked);
    let effects = driver.done(&call, json!({"music": null}));
    assert_eq!(effects, [Effect::CallModel]);
    assert_eq!(driver.decision(0), Some(Decision::Cancelled));
    assert!(matches!(driver.outcome(1), Some(Outcome::Error { .. })));
    driver.text("Without music.");
    driver.end_step();
    assert_eq!(driver.status(), Status::Finished);
    driver.check_journal(&["Without music."]);
}

#[test]
fn invalid_input_goes_back_to_the_model() {
    let mut driver = Driver::new();
    driver.say("weather");
    let error = "missing field `location`".to_owned();
    driver.call("get_weather", Place::Server, Verdict::Invalid { error });
    assert_eq!(driver.end_step(), [Effect::CallModel]);
    driver.text("I made a mistake.");
    driver.end_step();
    driver.check(&["I made a mistake."]);
}

#[test]
fn policy_that_denies_shows_as_an_error_since_nobody_was_asked() {
    let mut driver = Driver::new();
    driver.say("pay");
    let reason = "not on Sundays".to_owned();
    driver.call("process_payment", Place::Server, Verdict::Deny { reason });
    driver.end_step();
    driver.text("Not today.");
    driver.end_step();
    driver.check(&["Not today."]);
}

#[test]
fn typed_over_gate_is_denied_and_the_new_turn_says_nothing_of_it() {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.call("process_payment", Place::Server, ask());
    driver.end_step();
    driver.say("forget it");
    assert!(matches!(
        driver.outcome_in(0, 0),
        Some(Outcome::Denied { .. })
    ));
    driver.text("Forgotten.");
    driver.end_step();
    assert_eq!(driver.requests(), 2);
    driver.check(&["Forgotten."]);
}

#[test]
fn stopped_turn_keeps_what_was_said_and_does_not_loop() {
    let mut driver = Driver::new();
    driver.say("talk");
    driver.text("Once upon");
    assert_eq!(driver.perform(Input::Stop), [Effect::StopWork]);
    assert_eq!(driver.status(), Status::Stopped);
    driver.check(&["Once upon"]);

    let mut driver = Driver::new();
    driver.say("weather");
    driver.call("get_weather", Place::Server, Verdict::Allow);
    driver.end_step();
    driver.perform(Input::Stop);
    driver.check(&[]);
}

#[test]
fn model_that_says_nothing_after_its_calls_does_not_loop() {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.call("process_payment", Place::Server, ask());
    driver.end_step();
    driver.approve(0);
    let call = driver.call_id(0);
    driver.done(&call, json!({}));
    driver.end_step();
    assert_eq!(driver.status(), Status::Finished);
    assert_eq!(driver.requests(), 2);
    driver.check(&[]);
}

#[test]
fn first_answer_wins() {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.call("process_payment", Place::Server, ask());
    driver.end_step();
    driver.decide_elsewhere(0, false);
    let gate = driver.gate_id(0);
    let (reason, input) = (None, None);
    let decision = Decision::Approved { reason, input };
    assert_eq!(driver.perform(Input::Answer { gate, decision }), []);
    driver.text("No.");
    driver.end_step();
    driver.check(&["No."]);
}

#[test]
fn started_call_is_unknown_after_a_crash_unless_it_is_idempotent() {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.call("process_payment", Place::Server, Verdict::Allow);
    driver.end_step();
    let call = driver.call_id(0);
    let mut again = driver.restarted();
    let effects = again.perform(Input::Recover {
        here: Vec::new(),
        idempotent: vec![call.clone()],
        by: None,
    });
    assert_eq!(effects, [Effect::RunTool(call)]);
    let effects = driver.restarted().perform(Input::Recover {
        here: Vec::new(),
        idempotent: Vec::new(),
        by: None,
    });
    assert_eq!(effects, [Effect::CallModel]);
}

#[test]
fn call_that_was_asked_about_and_crashed_is_not_run_again() {
    let mut driver = Driver::new();
    driver.say("book");
    driver.call("book_flight", Place::Server, Verdict::Allow);
    driver.end_step();
    let call = driver.call_id(0);
    driver.asks(&call, "Hold a seat?");
    // While it waits, a restart costs nothing: the tool is run again when the answer is there.
    let mut again = driver.restarted();
    assert_eq!(
        again.perform(Input::Recover {
            here: Vec::new(),
            idempotent: Vec::new(),
            by: None,
        }),
        []
    );
    let effects = again.approve(0);
    assert!(
        matches!(&effects[..], [Effect::WakeTool { .. }]),
        "{effects:?}"
    );
}

#[test]
fn result_of_a_long_running_call_opens_one_turn_and_only_when_none_is_open() {
    let mut driver = Driver::new();
    driver.say("send it");
    driver.call("send_parcel", Place::Server, Verdict::Allow);
    driver.end_step();
    let call = driver.call_id(0);
    let output = json!("on its way");
    driver.perform(Input::ToolDone {
        call: call.clone(),
        outcome: Outcome::Pending { output },
    });
    let result = |turn: &str| Input::Result {
        call: call.clone(),
        outcome: Outcome::Unknown {
            reason: UnknownReason::ServerStopped,
        },
        ids: Ids {
            turn: turn.into(),
            message: format!("message of {turn}"),
        },
    };
    assert_eq!(driver.perform(result("early")), []);
    driver.text("I will tell you.");
    driver.end_step();
    assert_eq!(driver.status(), Status::Finished);
    assert_eq!(driver.perform(result("first")), [Effect::CallModel]);
    driver.end_step();
    assert_eq!(driver.status(), Status::Finished);
    assert_eq!(driver.perform(result("second")), []);
}

#[test]
fn client_that_denied_does_not_see_denied_for_a_call_that_was_approved_elsewhere() {
    for has_failed in [false, true] {
        let mut driver = Driver::new();
        driver.say("pay");
        driver.call("process_payment", Place::Server, ask());
        driver.end_step();
        driver.decide_elsewhere(0, true);
        let call = driver.call_id(0);
        // The server that ran it is gone, and nobody knows; or it failed.
        if has_failed {
            let error = "The bank is closed.".to_owned();
            let outcome = Outcome::Error { error };
            driver.perform(Input::ToolDone { call, outcome });
        } else {
            let (idempotent, by) = (Vec::new(), None);
            driver.perform(Input::Recover {
                here: Vec::new(),
                idempotent,
                by,
            });
            assert_eq!(
                driver.outcome(0),
                Some(Outcome::Unknown {
                    reason: UnknownReason::ServerStopped,
                })
            );
        }
        driver.deny(0, "no");
        assert_eq!(driver.sent_last(), ["tool-output-error"; 3]);
    }
}

#[test]
fn client_that_denied_a_tool_s_own_question_does_not_see_denied_for_a_call_that_was_approved() {
    for (verdict, is_stopped) in [
        (ask(), true),
        (ask(), false),
        (Verdict::Allow, true),
        (Verdict::Allow, false),
    ] {
        let is_approved = verdict == ask();
        let mut driver = Driver::new();
        driver.say("pay");
        driver.call("process_payment", Place::Server, verdict);
        driver.end_step();
        if is_approved {
            driver.approve(0);
        }
        let call = driver.call_id(0);
        driver.asks(&call, "With insurance?");
        let question = usize::from(is_approved);
        // Nobody waits for the answer any more: the turn was stopped, or the tool went on without it and
        // failed.
        if is_stopped {
            driver.perform(Input::Stop);
        } else {
            let error = "The bank is closed.".to_owned();
            let outcome = Outcome::Error { error };
            driver.perform(Input::ToolDone { call, outcome });
        }
        assert_eq!(driver.decision(question), Some(Decision::Cancelled));
        driver.deny(question, "no");
        // Where nobody said yes, the client's no stands: it has no valid form for a no and an error.
        let shown = if is_approved {
            "tool-output-error"
        } else {
            "tool-output-denied"
        };
        assert_eq!(driver.sent_last(), [shown; 3]);
    }
}

#[test]
fn client_that_denied_the_first_of_two_questions_is_sent_nothing_of_the_second() {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.call("process_payment", Place::Server, ask());
    driver.end_step();
    // Another client says yes to this question, and to the one that the tool asks then.
    driver.decide_elsewhere(0, true);
    let call = driver.call_id(0);
    driver.asks(&call, "With insurance?");
    driver.decide_elsewhere(1, true);
    driver.done(&call, json!({"success": true}));
    driver.text("Paid.");
    driver.end_step();
    driver.deny(0, "no");
    assert_eq!(driver.sent_last(), ["tool-output-available"; 3]);
    driver.check_sound();
}
