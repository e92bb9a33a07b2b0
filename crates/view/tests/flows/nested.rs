//! Tools that ask in the middle of their work, while others of the same step ask too. A client looks
//! at its last step alone to see whether there is something to send: one question that needs a step of
//! its own follows another.

use serde_json::json;
use turn::call::{Outcome, Place};
use turn::gate::Decision;
use turn::policy::Verdict;
use turn::{CallId, Effect, Input, Status};

use crate::driver::Driver;

/// Two tools at work in one step, here or at the agent.
fn two_at_work(place: Place) -> Driver {
    let mut driver = Driver::new().client_tool("change_bgm");
    driver.say("pay, and play");
    for (n, tool) in ["process_payment", "play"].into_iter().enumerate() {
        match place {
            Place::Agent => driver.own_call(&format!("fc-{n}"), tool, Place::Agent),
            _ => driver.call(tool, Place::Server, Verdict::Allow),
        }
    }
    driver.end_step();
    driver
}

fn plays(driver: &mut Driver, call: &CallId, track: u8) {
    driver.perform(Input::ToolCalls {
        call: call.clone(),
        tool: "change_bgm".to_owned(),
        input: json!({"track": track}),
        timeout: None,
    });
}

fn is_done(driver: &mut Driver, place: Place, n: usize) -> Vec<Effect> {
    let output = json!({"done": n});
    match place {
        Place::Agent => driver.agent_settles(&format!("fc-{n}"), output),
        _ => driver.done(&driver.call_id(n), output),
    }
}

fn each_way() -> [(Place, bool); 4] {
    let (here, there) = (Place::Server, Place::Agent);
    [(here, true), (here, false), (there, true), (there, false)]
}

fn answer(driver: &mut Driver, gate: usize, yes: bool) -> Vec<Effect> {
    match yes {
        true => driver.approve(gate),
        false => driver.deny(gate, "too much"),
    }
}

fn says_so(driver: &mut Driver) {
    driver.text("Done.");
    driver.end_step();
    assert_eq!(driver.status(), Status::Finished);
    driver.check(&["Done."]);
}

#[test]
fn person_is_asked_again_after_the_page_was_called() {
    for (place, yes) in each_way() {
        let mut driver = two_at_work(place);
        let (payment, play) = (driver.call_id(0), driver.call_id(1));
        driver.asks(&payment, "Pay 5?");
        assert_eq!(driver.status(), Status::Running);
        plays(&mut driver, &play, 1);
        assert_eq!(driver.status(), Status::Parked);
        assert_eq!(driver.announced(), ["change_bgm"]);
        driver.output(2, json!({"playing": 1}));
        assert_eq!(driver.status(), Status::Running);
        is_done(&mut driver, place, 1);
        assert_eq!(driver.status(), Status::Parked);
        answer(&mut driver, 0, yes);
        is_done(&mut driver, place, 0);
        says_so(&mut driver);
        assert_eq!(driver.requests(), 3);
    }
}

#[test]
fn person_may_answer_while_the_page_is_called() {
    for place in [Place::Server, Place::Agent] {
        let mut driver = two_at_work(place);
        let (payment, play) = (driver.call_id(0), driver.call_id(1));
        driver.asks(&payment, "Pay 5?");
        plays(&mut driver, &play, 1);
        // It is sent with what the page brings.
        driver.click_unsent(0, true);
        let effects = driver.output(2, json!({"playing": 1}));
        assert_eq!(effects.len(), 2, "{effects:?}");
        is_done(&mut driver, place, 0);
        is_done(&mut driver, place, 1);
        says_so(&mut driver);
        assert_eq!(driver.requests(), 2);
    }
}

#[test]
fn call_that_waits_for_its_approval_is_asked_about_again() {
    for yes in [true, false] {
        let mut driver = Driver::new().client_tool("change_bgm");
        driver.say("pay, and play");
        let question = "Pay 5?".to_owned();
        driver.call("process_payment", Place::Server, Verdict::Ask { question });
        driver.call("play", Place::Server, Verdict::Allow);
        driver.end_step();
        let (payment, play) = (driver.call_id(0), driver.call_id(1));
        plays(&mut driver, &play, 1);
        driver.output(2, json!({"playing": 1}));
        driver.done(&play, json!({"ok": true}));
        assert_eq!(driver.status(), Status::Parked);
        // Every client is sent that this question is not another one, and not by the form of an id alone.
        let proxied = json!({"toolCallId": payment, "approvalId": driver.gate_id(0)});
        assert_eq!(driver.proxied(), [std::slice::from_ref(&proxied); 3]);
        answer(&mut driver, 0, yes);
        if yes {
            driver.done(&payment, json!({"paid": 5}));
        }
        says_so(&mut driver);
        assert_eq!(driver.requests(), 3);
    }
}

#[test]
fn pages_call_that_waits_for_its_approval_is_asked_about_and_made_again() {
    let mut driver = Driver::new()
        .client_tool("change_bgm")
        .client_tool("get_location");
    driver.say("where, and play");
    let question = "Where?".to_owned();
    driver.call("get_location", Place::Client, Verdict::Ask { question });
    driver.call("play", Place::Server, Verdict::Allow);
    driver.end_step();
    let play = driver.call_id(1);
    plays(&mut driver, &play, 1);
    driver.output(2, json!({"playing": 1}));
    driver.done(&play, json!({"ok": true}));
    driver.approve(0);
    assert_eq!(driver.announced(), ["change_bgm", "get_location"]);
    // Without the input of a call that waits for its approval, the shared profile has no place for it.
    let run = json!({"toolCallId": driver.call_id(0)});
    let asked = json!({"toolCallId": driver.call_id(0), "approvalId": driver.gate_id(0)});
    let shared = std::slice::from_ref(&run);
    assert_eq!(driver.proxied(), [shared, shared, &[asked, run.clone()]]);
    driver.output_as(&format!("{}+1", driver.gate_id(2)), json!({"latitude": 35}));
    let output = json!({"latitude": 35});
    assert_eq!(driver.outcome(0), Some(Outcome::Output { output }));
    assert_eq!(driver.announced(), ["change_bgm", "get_location"]);
    says_so(&mut driver);
    assert_eq!(driver.requests(), 4);
}

#[test]
fn person_is_not_asked_while_the_page_is_called() {
    for (place, yes) in each_way() {
        let mut driver = two_at_work(place);
        let (payment, play) = (driver.call_id(0), driver.call_id(1));
        plays(&mut driver, &play, 1);
        driver.asks(&payment, "Pay 5?");
        assert_eq!(driver.status(), Status::Parked);
        driver.output(2, json!({"playing": 1}));
        is_done(&mut driver, place, 1);
        assert_eq!(driver.status(), Status::Parked);
        let effects = answer(&mut driver, 1, yes);
        let [Effect::WakeTool { call, .. }] = &effects[..] else {
            panic!("{effects:?}")
        };
        assert_eq!(*call, payment);
        is_done(&mut driver, place, 0);
        says_so(&mut driver);
        assert_eq!(driver.requests(), 3);
    }
}

#[test]
fn tool_asks_a_person_after_the_page_again_and_again() {
    for place in [Place::Server, Place::Agent] {
        let mut driver = two_at_work(place);
        is_done(&mut driver, place, 0);
        let play = driver.call_id(1);
        for n in 0..2 {
            plays(&mut driver, &play, 1);
            driver.output(2 + n, json!({"playing": 1}));
            driver.asks(&play, "Loud?");
            assert_eq!(driver.status(), Status::Parked);
            driver.approve(1 + 2 * n);
            assert_eq!(driver.status(), Status::Running);
        }
        is_done(&mut driver, place, 1);
        says_so(&mut driver);
        assert_eq!(driver.requests(), 5);
    }
}

#[test]
fn question_is_superseded_twice() {
    for (place, yes) in each_way() {
        let mut driver = two_at_work(place);
        let (payment, play) = (driver.call_id(0), driver.call_id(1));
        driver.asks(&payment, "Pay 5?");
        for n in 0..2 {
            plays(&mut driver, &play, 1);
            let gate = driver.gate_id(1 + 2 * n);
            let output = json!({"playing": 1});
            let decision = Decision::Output { output };
            driver.perform(Input::Answer { gate, decision });
            driver.asks(&play, "Loud?");
            assert_eq!(driver.status(), Status::Parked);
            driver.decide_elsewhere(2 + 2 * n, true);
        }
        is_done(&mut driver, place, 1);
        assert_eq!(driver.status(), Status::Parked);
        driver.decide_elsewhere(0, yes);
        is_done(&mut driver, place, 0);
        driver.text("Done.");
        driver.end_step();
        driver.check_journal(&["Done."]);
    }
}

#[test]
fn pages_calls_of_two_tools_follow_each_other() {
    for place in [Place::Server, Place::Agent] {
        let mut driver = two_at_work(place);
        let (first, second) = (driver.call_id(0), driver.call_id(1));
        plays(&mut driver, &first, 1);
        plays(&mut driver, &second, 2);
        assert_eq!(driver.announced(), ["change_bgm"]);
        driver.output(2, json!({"playing": 1}));
        is_done(&mut driver, place, 0);
        assert_eq!(driver.announced(), ["change_bgm", "change_bgm"]);
        driver.output(3, json!({"playing": 2}));
        is_done(&mut driver, place, 1);
        says_so(&mut driver);
    }
}

#[test]
fn what_was_not_shown_is_not_settled_before_the_page() {
    for place in [Place::Server, Place::Agent] {
        let mut driver = two_at_work(place);
        let (first, second) = (driver.call_id(0), driver.call_id(1));
        plays(&mut driver, &first, 1);
        plays(&mut driver, &second, 2);
        let gate = driver.gate_id(1);
        driver.perform(Input::TimedOut { gate });
        assert_eq!(driver.decision(1), Some(Decision::TimedOut));
        driver.asks(&second, "Loud?");
        is_done(&mut driver, place, 1);
        assert_eq!(driver.decision(2), Some(Decision::Cancelled));
        driver.output(2, json!({"playing": 1}));
        is_done(&mut driver, place, 0);
        assert_eq!(driver.announced(), ["change_bgm"]);
        says_so(&mut driver);
        assert_eq!(driver.requests(), 2);
    }
}

#[test]
fn what_was_not_shown_may_be_answered_elsewhere() {
    for yes in [true, false] {
        let mut driver = two_at_work(Place::Agent);
        let (payment, play) = (driver.call_id(0), driver.call_id(1));
        plays(&mut driver, &play, 1);
        driver.asks(&payment, "Pay 5?");
        driver.decide_elsewhere(1, yes);
        is_done(&mut driver, Place::Agent, 0);
        driver.output(2, json!({"playing": 1}));
        is_done(&mut driver, Place::Agent, 1);
        says_so(&mut driver);
        assert_eq!(driver.requests(), 2);
    }
}

#[test]
fn tool_whose_question_was_denied_may_still_return_an_output() {
    for place in [Place::Server, Place::Agent] {
        let mut driver = two_at_work(place);
        is_done(&mut driver, place, 1);
        let payment = driver.call_id(0);
        driver.asks(&payment, "Pay 5?");
        driver.deny(0, "too much");
        is_done(&mut driver, place, 0);
        says_so(&mut driver);
    }
}

#[test]
fn held_call_that_is_run_elsewhere_before_it_is_shown_is_shown_once() {
    let mut driver = Driver::new()
        .client_tool("change_bgm")
        .client_tool("get_location");
    driver.say("where, and play");
    let question = "May it?".to_owned();
    driver.call("get_location", Place::Client, Verdict::Ask { question });
    driver.call("play", Place::Server, Verdict::Allow);
    driver.end_step();
    let play = driver.call_id(1);
    plays(&mut driver, &play, 1);
    driver.decide_elsewhere(0, true);
    let gate = driver.gate_id(2);
    let output = json!({"latitude": 59.9});
    let decision = Decision::Output { output };
    driver.perform(Input::Answer { gate, decision });
    driver.output(2, json!({"playing": 1}));
    is_done(&mut driver, Place::Server, 1);
    driver.text("Done.");
    driver.end_step();
    assert_eq!(driver.shown_calls().len(), 3, "{:?}", driver.shown_calls());
}
