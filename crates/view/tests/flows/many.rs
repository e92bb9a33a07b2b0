//! More calls than a step has room for, and more questions than a turn has.

use serde_json::json;
use turn::call::{InnerCall, Outcome, Place};
use turn::gate::Decision;
use turn::limits::{MAX_CALLS, MAX_OPEN_GATES};
use turn::policy::Verdict;
use turn::{Effect, Input, Status};

use crate::driver::Driver;

fn ask() -> Verdict {
    let question = "Pay 5?".to_owned();
    Verdict::Ask { question }
}

fn open_gates(driver: &Driver) -> usize {
    driver.chat().current().unwrap().open_gates().count()
}

fn is_refused(outcome: Option<Outcome>) -> bool {
    let Some(Outcome::Invalid { error }) = outcome else {
        return false;
    };
    error.contains("32 calls in one step") && error.contains("did not run")
}

#[test]
fn calls_beyond_those_of_a_step_are_refused_to_the_model_and_asked_of_nobody() {
    for place in [Place::Server, Place::Client] {
        let mut driver = Driver::new().client_tool("pay");
        driver.say("pay them all");
        for _ in 0..MAX_CALLS + 8 {
            driver.call("pay", place, ask());
        }
        driver.end_step();
        assert_eq!(open_gates(&driver), MAX_CALLS);
        let gates = driver.chat().current().unwrap().gates().len();
        assert_eq!(gates, MAX_CALLS, "the rest was never asked about");
        for call in 0..MAX_CALLS {
            assert_eq!(driver.outcome(call), None);
        }
        for call in MAX_CALLS..MAX_CALLS + 8 {
            assert!(
                is_refused(driver.outcome(call)),
                "{:?}",
                driver.outcome(call)
            );
        }
        let effects = driver.answer_all(&[false; MAX_CALLS]);
        assert_eq!(effects, [Effect::CallModel]);
        driver.text("None was paid.");
        driver.end_step();
        assert_eq!(driver.status(), Status::Finished);
        driver.check_sound();
    }
}

#[test]
fn call_that_needs_no_approval_does_not_run_beyond_those_of_a_step() {
    let mut driver = Driver::new().client_tool("pay");
    driver.say("pay them all");
    for _ in 0..MAX_CALLS {
        driver.call("look", Place::Server, Verdict::Allow);
    }
    driver.call("pay", Place::Server, Verdict::Allow);
    driver.call("pay", Place::Client, Verdict::Allow);
    let effects = driver.end_step();
    assert_eq!(effects.len(), MAX_CALLS, "{effects:?}");
    for call in [MAX_CALLS, MAX_CALLS + 1] {
        assert!(
            is_refused(driver.outcome(call)),
            "{:?}",
            driver.outcome(call)
        );
    }
    assert_eq!(driver.announced(), [""; 0]);
    for call in 0..MAX_CALLS {
        driver.done(&driver.call_id(call), json!({}));
    }
    // The next step has room again.
    driver.call("pay", Place::Server, ask());
    driver.end_step();
    assert_eq!(open_gates(&driver), 1);
    driver.deny(0, "no");
    driver.text("Nothing was paid.");
    driver.end_step();
    driver.check(&["Nothing was paid."]);
}

/// An agent with tools of its own decides by itself how many run at once.
#[test]
fn calls_that_the_agent_runs_by_itself_are_not_counted() {
    let mut driver = Driver::new();
    driver.say("look everywhere");
    for call in 0..MAX_CALLS + 8 {
        driver.own_call(&format!("fc-{call}"), "look", Place::Agent);
    }
    driver.call("pay", Place::Server, ask());
    driver.end_step();
    assert_eq!(open_gates(&driver), 1);
    assert_eq!(driver.outcome(MAX_CALLS + 8), None);
}

#[test]
fn questions_beyond_those_of_a_turn_are_answered_by_no_and_shown_to_nobody() {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.call("pay", Place::Server, Verdict::Allow);
    driver.end_step();
    let call = driver.call_id(0);
    let mut asked = 0;
    let mut asks = |driver: &mut Driver| {
        asked += 1;
        driver.perform(Input::InnerAsks {
            call: call.clone(),
            inner: Box::new(InnerCall {
                key: format!("inner {asked}"),
                tool: "pay".to_owned(),
                input: json!({"amount": 5}),
                path: vec!["clerk".to_owned()],
            }),
            question: "Pay 5?".to_owned(),
            timeout: None,
        })
    };
    for _ in 0..MAX_OPEN_GATES {
        assert_eq!(asks(&mut driver), []);
    }
    assert_eq!(open_gates(&driver), MAX_OPEN_GATES);
    let effects = asks(&mut driver);
    assert_eq!(open_gates(&driver), MAX_OPEN_GATES);
    // The tool that asked gets the reason.
    let [Effect::WakeTool { decision, .. }] = &effects[..] else {
        panic!("{effects:?}")
    };
    let Decision::Denied { reason: Some(why) } = decision else {
        panic!("{decision:?}")
    };
    assert_eq!(
        why,
        "Nobody was asked: 128 questions and calls of this turn wait already."
    );
    let refused = MAX_OPEN_GATES + 1;
    let outcome = driver.outcome(refused);
    assert!(
        matches!(outcome, Some(Outcome::Denied { .. })),
        "{outcome:?}"
    );
    let refused = driver.call_id(refused);
    let shown = driver.shown_calls();
    assert!(!shown.contains(&refused.to_string()), "{shown:?}");
    assert_eq!(driver.status(), Status::Parked);
    // One that is answered makes room for another.
    driver.decide_elsewhere(0, false);
    assert_eq!(asks(&mut driver), []);
    assert_eq!(open_gates(&driver), MAX_OPEN_GATES);
    // It reads back from its journal as it is.
    let replayed = driver.restarted();
    assert_eq!(replayed.shown_calls(), driver.shown_calls());
    assert_eq!(open_gates(&replayed), MAX_OPEN_GATES);
    driver.check_sound();
}
