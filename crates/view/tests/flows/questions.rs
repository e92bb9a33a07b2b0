//! Questions that ask for data: pages are shown a call of theirs that holds question and schema, and
//! give its output.

use serde_json::{Value, json};
use turn::Actor;
use turn::answer::{Answer, GivenTo, Reception};
use turn::call::{Outcome, Place};
use turn::gate::{ASK_USER, Decision};
use turn::policy::Verdict;
use turn::refusal::RefusalCode;
use turn::{Effect, Input, Status};

use crate::driver::Driver;

fn schema() -> Value {
    json!({"type": "object", "properties": {"people": {"type": "integer"}}, "required": ["people"]})
}

/// A tool that has asked for data.
fn asked() -> Driver {
    let mut driver = Driver::new().client_tool(ASK_USER);
    driver.say("a table");
    driver.call("book_table", Place::Server, Verdict::Allow);
    driver.end_step();
    driver.perform(Input::ToolQuestion {
        call: driver.call_id(0),
        question: "For how many?".to_owned(),
        schema: schema(),
        path: Vec::new(),
        timeout: None,
    });
    assert_eq!(driver.status(), Status::Parked);
    assert_eq!(driver.announced(), [ASK_USER]);
    driver
}

fn decides(driver: &mut Driver, decision: Decision) -> Vec<Effect> {
    let gate = driver.gate_id(0);
    driver.perform(Input::Answer { gate, decision })
}

fn is_booked(driver: &mut Driver) {
    driver.done(&driver.call_id(0), json!({"booked": true}));
    driver.text("Done.");
    driver.end_step();
    assert_eq!(driver.status(), Status::Finished);
}

#[test]
fn page_gives_what_is_asked_for() {
    let mut driver = asked();
    let shown = json!({"question": "For how many?", "schema": schema()});
    assert_eq!(driver.announced_inputs(), [shown]);
    let output = json!({"people": 4});
    let effects = driver.output(1, output.clone());
    let woken = Effect::WakeTool {
        gate: driver.gate_id(0),
        call: driver.call_id(0),
        decision: Decision::Output {
            output: output.clone(),
        },
    };
    assert_eq!(effects, [woken]);
    assert_eq!(driver.outcome(1), Some(Outcome::Output { output }));
    is_booked(&mut driver);
    driver.check(&["Done."]);
    assert_eq!(driver.requests(), 2);
}

#[test]
fn answer_given_elsewhere_is_shown_as_the_output() {
    let mut driver = asked();
    let output = json!({"people": 2});
    decides(&mut driver, Decision::Output { output });
    is_booked(&mut driver);
    driver.check_journal(&["Done."]);
}

#[test]
fn person_who_declines_is_not_taken_for_a_denial_of_the_tool() {
    let mut driver = asked();
    let reason = Some("not now".to_owned());
    let effects = decides(&mut driver, Decision::Denied { reason });
    assert!(matches!(&effects[..], [Effect::WakeTool { .. }]));
    let error = "Declined: not now".to_owned();
    assert_eq!(driver.outcome(1), Some(Outcome::Error { error }));
    is_booked(&mut driver);
    driver.check_journal(&["Done."]);
}

#[test]
fn question_that_nobody_answers_says_so() {
    let mut driver = asked();
    let gate = driver.gate_id(0);
    driver.perform(Input::TimedOut { gate });
    let error = "Nobody answered in time.".to_owned();
    assert_eq!(driver.outcome(1), Some(Outcome::Error { error }));
    is_booked(&mut driver);
    driver.check_journal(&["Done."]);
}

#[test]
fn question_is_withdrawn_with_the_tool_that_asked() {
    let mut driver = asked();
    is_booked(&mut driver);
    assert_eq!(driver.decision(0), Some(Decision::Cancelled));
    driver.check_journal(&["Done."]);
}

#[test]
fn one_rule_holds_for_answers() {
    let driver = asked();
    let chat = driver.chat();
    let answer = |decision: Decision, digest: Option<String>| {
        let gate = driver.gate_id(0);
        chat.receive(&Answer {
            gate,
            by: Actor::Principal("ann".into()),
            decision,
            given_to: GivenTo::Question { digest },
        })
    };
    let output = || Decision::Output {
        output: json!({"people": 4}),
    };
    let (_, gate, _) = chat.gate(&driver.gate_id(0)).unwrap();
    let (_, call) = chat.call(&driver.call_id(1)).unwrap();
    let digest = gate.digest(call);
    assert!(digest.is_some());
    assert_eq!(answer(output(), None), Ok(Reception::Counts));
    assert_eq!(answer(output(), digest), Ok(Reception::Counts));
    let denied = Decision::Denied { reason: None };
    assert_eq!(answer(denied, None), Ok(Reception::Counts));
    let other = answer(output(), Some("another".to_owned())).unwrap_err();
    assert_eq!(other.code, RefusalCode::ApprovalChanged);
    let yes = Decision::Approved {
        reason: None,
        input: None,
    };
    assert_eq!(answer(yes, None).unwrap_err().code, RefusalCode::BadRequest);
    // An output error of a page declines.
    let ann = Actor::Principal("ann".into());
    let declined = chat.take_output(&ann, &driver.call_id(1), Err("no".to_owned()));
    let reason = Some("no".to_owned());
    assert_eq!(
        declined.unwrap(),
        Some((driver.gate_id(0), Decision::Denied { reason }))
    );
}

#[test]
fn only_the_owner_answers_a_question() {
    let driver = asked();
    let chat = driver.chat();
    let output = json!({"people": 4});
    for by in [
        Actor::Principal("bob".into()),
        Actor::Agent,
        Actor::Tool("ask_user".to_owned()),
    ] {
        let refused = chat.receive(&Answer {
            gate: driver.gate_id(0),
            by: by.clone(),
            decision: Decision::Output {
                output: output.clone(),
            },
            given_to: GivenTo::Question { digest: None },
        });
        assert_eq!(refused.unwrap_err().code, RefusalCode::UnknownApproval);
        let brought = chat.take_output(&by, &driver.call_id(1), Ok(output.clone()));
        assert!(brought.is_err(), "{by}");
    }
}

#[test]
fn late_answer_agrees_only_with_the_same_data() {
    let output = |people: u64| Decision::Output {
        output: json!({"people": people}),
    };
    for (closed, given, expected) in [
        (output(4), output(4), Reception::Agrees),
        (output(4), output(5), Reception::Contradicts),
        (Decision::TimedOut, output(4), Reception::Contradicts),
        (
            Decision::Denied { reason: None },
            output(4),
            Reception::Contradicts,
        ),
    ] {
        let mut driver = asked();
        let gate = driver.gate_id(0);
        match closed.clone() {
            Decision::TimedOut => driver.perform(Input::TimedOut { gate: gate.clone() }),
            decision => driver.perform(Input::Answer {
                gate: gate.clone(),
                decision,
            }),
        };
        let late = driver.chat().receive(&Answer {
            gate,
            by: Actor::Principal("ann".into()),
            decision: given,
            given_to: GivenTo::Question { digest: None },
        });
        assert_eq!(late, Ok(expected), "{closed:?}");
    }
}

#[test]
fn what_was_asked_is_found_again_with_its_schema() {
    let driver = asked().restarted();
    let chat = driver.chat();
    let recorded = chat.current().unwrap().recorded(&driver.call_id(0));
    let [gate] = &recorded.gates[..] else {
        panic!("{recorded:?}")
    };
    let question = "For how many?".to_owned();
    let asked = turn::turn::AskedOf::Data {
        question,
        schema: schema(),
    };
    assert_eq!(gate.asked, Some(asked));
}
