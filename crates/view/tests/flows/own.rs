//! Calls that the agent runs by itself.

use std::time::Duration;

use serde_json::json;
use turn::agent::{AgentEvent, Asking};
use turn::call::{Outcome, Place, UnknownReason};
use turn::gate::Decision;
use turn::policy::{PolicyDecision, Verdict};
use turn::{Chat, Effect, Event, Input, Status};
use wire::Role;

use crate::driver::Driver;

/// An agent that called a tool of its own, and asks about it.
fn asking() -> Driver {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.own_call("fc-1", "process_payment", Place::Agent);
    assert_eq!(driver.end_step(), []);
    assert_eq!(driver.agent_asks("fc-1", "Pay 5?"), []);
    assert_eq!(driver.status(), Status::Parked);
    driver
}

fn approved() -> Decision {
    Decision::Approved {
        reason: None,
        input: None,
    }
}

#[test]
fn call_that_the_agent_runs_is_shown_with_what_came_of_it() {
    let mut driver = Driver::new();
    driver.say("weather?");
    driver.text("Let me see.");
    driver.own_call("fc-1", "get_weather", Place::Agent);
    assert_eq!(driver.end_step(), []);
    assert_eq!(driver.status(), Status::Running);
    let effects = driver.agent_settles("fc-1", json!({"temperature": 18}));
    assert_eq!(effects, [Effect::CallModel]);
    driver.text("18 degrees.");
    driver.end_step();
    assert_eq!(driver.status(), Status::Finished);
    assert_eq!(driver.requests(), 1);
    driver.check(&["Let me see.18 degrees."]);
}

#[test]
fn agent_that_asks_gets_the_answer_and_is_asked_once() {
    let mut driver = asking();
    assert!(!driver.is_watching());
    assert_eq!(driver.approve(0), [Effect::CallModel]);
    let own = driver.own_calls();
    let asked = own[0].asked.as_ref().unwrap();
    assert_eq!(asked.token, Some(json!("about fc-1")));
    assert_eq!(asked.decision, Some(approved()));
    assert_eq!(own[0].outcome, None);
    // It settles the call before it speaks, and is not asked again for that.
    assert_eq!(driver.agent_settles("fc-1", json!({"paid": 5})), []);
    driver.text("Paid.");
    driver.end_step();
    assert_eq!(driver.requests(), 2);
    driver.check(&["Paid."]);
}

#[test]
fn denied_call_of_the_agent_is_settled_here_and_sent() {
    let mut driver = asking();
    assert_eq!(driver.deny(0, "too much"), [Effect::CallModel]);
    let reason = Some("too much".to_owned());
    let own = driver.own_calls();
    assert_eq!(own[0].outcome, Some(Outcome::Denied { reason }));
    // What the agent itself makes of it changes nothing.
    driver.agent_settles("fc-1", json!({"error": "rejected"}));
    driver.text("As you like.");
    driver.end_step();
    driver.check(&["As you like."]);
}

#[test]
fn agent_gets_all_answers_at_once() {
    let mut driver = Driver::new();
    driver.say("pay both");
    driver.own_call("fc-1", "process_payment", Place::Agent);
    driver.own_call("fc-2", "process_payment", Place::Agent);
    driver.own_call("fc-3", "get_location", Place::Client);
    driver.own_call("fc-4", "get_weather", Place::Agent);
    driver.end_step();
    assert_eq!(driver.agent_settles("fc-4", json!(18)), []);
    driver.agent_asks("fc-1", "Pay 5?");
    driver.agent_asks("fc-2", "Pay 5?");
    assert_eq!(driver.status(), Status::Parked);
    assert_eq!(driver.decide_elsewhere(1, true), []);
    assert_eq!(driver.decide_elsewhere(2, false), []);
    let effects = driver.output(2, json!({"latitude": 35}));
    assert_eq!(effects, [Effect::CallModel]);
    driver.agent_settles("fc-1", json!({"paid": 5}));
    driver.text("One is paid.");
    driver.end_step();
    assert_eq!(driver.status(), Status::Finished);
}

#[test]
fn turn_is_parked_until_the_last_question_of_a_step_is_answered() {
    let mut driver = Driver::new();
    driver.say("pay both");
    driver.own_call("fc-1", "process_payment", Place::Agent);
    driver.own_call("fc-2", "process_payment", Place::Agent);
    driver.end_step();
    driver.agent_asks("fc-1", "Pay 5?");
    driver.agent_asks("fc-2", "Pay 5?");
    assert_eq!(driver.decide_elsewhere(0, true), []);
    assert_eq!(driver.status(), Status::Parked);
    // The agent has nothing to do meanwhile: that it is away is no loss.
    assert_eq!(driver.perform(Input::AgentCut), []);
    let recover = Input::Recover {
        here: Vec::new(),
        idempotent: Vec::new(),
        by: None,
    };
    assert_eq!(driver.restarted().perform(recover), []);
    assert_eq!(driver.decide_elsewhere(1, true), [Effect::CallModel]);
    assert_eq!(driver.status(), Status::Running);
}

#[test]
fn call_that_the_agent_was_never_asked_to_run_has_not_run() {
    let mut driver = Driver::new();
    driver.say("pay both");
    driver.own_call("fc-1", "process_payment", Place::Agent);
    driver.own_call("fc-2", "process_payment", Place::Agent);
    driver.end_step();
    driver.agent_asks("fc-1", "Pay 5?");
    driver.agent_asks("fc-2", "Pay 5?");
    driver.decide_elsewhere(0, true);
    driver.perform(Input::Stop);
    let error = "The turn was stopped.".to_owned();
    assert_eq!(driver.outcome(0), Some(Outcome::Error { error }));
}

#[test]
fn agent_that_fails_before_it_says_a_word_leaves_no_step() {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.perform(Input::Agent {
        event: AgentEvent::Session(json!({"session": "s-1"})),
        policy: None,
    });
    driver.agent_fails("agent_unavailable");
    assert_eq!(driver.status(), Status::Failed);
    assert_eq!(driver.roles(), [Role::User]);
    assert_eq!(driver.restarted().roles(), [Role::User]);
}

#[test]
fn denial_that_a_tool_at_the_agent_passes_on_is_one() {
    let denied = |reason: &str| Outcome::Denied {
        reason: Some(reason.to_owned()),
    };
    let failed = |error: &str| Outcome::Error {
        error: error.to_owned(),
    };
    // The reason is the person's, whatever the tool makes of it; words alone deny nothing.
    for (said, becomes) in [
        (denied("too much"), denied("too much")),
        (denied("no!"), denied("too much")),
        (failed("It broke"), failed("It broke")),
        (failed("Denied: too much"), failed("Denied: too much")),
    ] {
        let mut driver = Driver::new();
        driver.say("pay");
        driver.own_call("fc-1", "process_payment", Place::Agent);
        driver.end_step();
        let call = driver.call_id(0);
        driver.asks(&call, "Pay 5?");
        driver.deny(0, "too much");
        driver.perform(Input::Agent {
            event: AgentEvent::Settled {
                provider_id: "fc-1".to_owned(),
                outcome: said,
            },
            policy: None,
        });
        assert_eq!(driver.outcome(0), Some(becomes));
    }
}

#[test]
fn denial_that_nobody_gave_is_an_error_of_the_tool() {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.own_call("fc-1", "process_payment", Place::Agent);
    driver.end_step();
    let reason = Some("closed on Sundays".to_owned());
    driver.perform(Input::Agent {
        event: AgentEvent::Settled {
            provider_id: "fc-1".to_owned(),
            outcome: Outcome::Denied { reason },
        },
        policy: None,
    });
    let error = "Denied: closed on Sundays".to_owned();
    assert_eq!(driver.outcome(0), Some(Outcome::Error { error }));
}

#[test]
fn question_of_the_agent_expires_when_it_is_said_to() {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.own_call("fc-1", "process_payment", Place::Agent);
    driver.end_step();
    let effects = driver.perform(Input::Agent {
        event: AgentEvent::Asks {
            provider_id: "fc-1".to_owned(),
            asking: Asking {
                question: "Pay 5?".to_owned(),
                ..Asking::default()
            },
        },
        policy: Some(PolicyDecision {
            place: Place::Agent,
            verdict: Verdict::Allow,
            timeout: Some(Duration::from_secs(1)),
        }),
    });
    assert!(matches!(effects.as_slice(), [Effect::SetTimer { .. }]));
    let gate = driver.gate_id(0);
    let effects = driver.perform(Input::TimedOut { gate });
    assert_eq!(effects, [Effect::CallModel]);
}

#[test]
fn agent_that_fails_while_it_runs_a_call_leaves_it_unknown() {
    let mut driver = asking();
    driver.approve(0);
    driver.agent_fails("agent_unavailable");
    assert_eq!(driver.status(), Status::Failed);
    assert_eq!(
        driver.outcome(0),
        Some(Outcome::Unknown {
            reason: UnknownReason::AgentFailed,
        })
    );
}

#[test]
fn agent_that_is_cut_off_while_it_runs_a_call_fails_the_turn() {
    let mut driver = Driver::new();
    driver.say("weather?");
    driver.own_call("fc-1", "get_weather", Place::Agent);
    driver.end_step();
    driver.perform(Input::AgentCut);
    assert_eq!(driver.status(), Status::Failed);
    let reason = UnknownReason::ConnectionCut;
    assert_eq!(driver.outcome(0), Some(Outcome::Unknown { reason }));
}

#[test]
fn agent_that_is_away_while_a_person_thinks_fails_nothing() {
    let mut driver = asking();
    assert_eq!(driver.agent_fails("agent_unavailable"), []);
    assert_eq!(driver.perform(Input::AgentCut), []);
    assert_eq!(driver.status(), Status::Parked);
    driver.approve(0);
    driver.agent_settles("fc-1", json!({"paid": 5}));
    driver.text("Paid.");
    driver.end_step();
    driver.check(&["Paid."]);
}

#[test]
fn agent_that_ends_without_a_word_has_lost_its_call() {
    let mut driver = asking();
    driver.approve(0);
    driver.end_step();
    let reason = UnknownReason::NoResult;
    assert_eq!(driver.outcome(0), Some(Outcome::Unknown { reason }));
    assert_eq!(driver.status(), Status::Finished);
    driver.check(&[]);
}

#[test]
fn agent_may_ask_twice_about_a_call() {
    let mut driver = asking();
    driver.approve(0);
    driver.agent_asks("fc-1", "Really?");
    assert_eq!(driver.end_step(), []);
    assert_eq!(driver.status(), Status::Parked);
    assert_eq!(driver.approve(1), [Effect::CallModel]);
    driver.agent_settles("fc-1", json!({"paid": 5}));
    driver.text("Paid.");
    driver.end_step();
    driver.check(&["Paid."]);
}

#[test]
fn restarted_server_asks_the_agent_what_became_of_its_calls() {
    let mut driver = Driver::new();
    driver.say("weather?");
    driver.own_call("fc-1", "get_weather", Place::Agent);
    driver.end_step();
    let mut restarted = driver.restarted();
    let recover = Input::Recover {
        here: Vec::new(),
        idempotent: Vec::new(),
        by: None,
    };
    assert_eq!(restarted.perform(recover.clone()), [Effect::CallModel]);
    assert!(restarted.is_asked_again());
    assert_eq!(restarted.own_calls()[0].outcome, None);
    assert_eq!(restarted.agent_settles("fc-1", json!(18)), []);
    // One that waits for a person is not asked.
    let mut restarted = asking().restarted();
    assert_eq!(restarted.perform(recover), []);
    assert_eq!(restarted.status(), Status::Parked);
}

#[test]
fn answers_that_come_while_the_agent_is_asked_about_another_call_are_sent() {
    let mut driver = Driver::new();
    driver.say("pay both");
    driver.own_call("fc-1", "process_payment", Place::Agent);
    driver.own_call("fc-2", "process_payment", Place::Agent);
    driver.end_step();
    driver.agent_asks("fc-1", "Pay 5?");
    // The server that takes the turn up asks the agent about the other call.
    let mut driver = driver.restarted();
    let recover = Input::Recover {
        here: Vec::new(),
        idempotent: Vec::new(),
        by: None,
    };
    assert_eq!(driver.perform(recover), [Effect::CallModel]);
    driver.agent_asks("fc-2", "Pay 5?");
    assert_eq!(driver.decide_elsewhere(0, true), []);
    assert_eq!(driver.decide_elsewhere(1, true), []);
    // Once it has ended, it is asked again, and gets both.
    assert_eq!(driver.end_step(), [Effect::CallModel]);
    let own = driver.own_calls();
    let answers = own.iter().map(|own| own.asked.as_ref()?.decision.clone());
    assert_eq!(
        answers.collect::<Vec<_>>(),
        [Some(approved()), Some(approved())]
    );
    driver.agent_settles("fc-1", json!({"paid": 5}));
    driver.agent_settles("fc-2", json!({"paid": 5}));
    driver.text("Paid.");
    driver.end_step();
    assert_eq!(driver.status(), Status::Finished);
}

#[test]
fn agent_learns_whether_a_server_that_is_gone_may_have_asked_before() {
    let recover = Input::Recover {
        here: Vec::new(),
        idempotent: Vec::new(),
        by: None,
    };
    // The answer came to the server that died: it may be on its way to the agent.
    let mut driver = asking();
    driver.approve(0);
    assert!(!driver.is_asked_again());
    let mut restarted = driver.restarted();
    assert_eq!(restarted.perform(recover.clone()), [Effect::CallModel]);
    assert!(restarted.is_asked_again());
    restarted.agent_settles("fc-1", json!({"paid": 5}));
    restarted.own_call("fc-2", "process_payment", Place::Agent);
    restarted.end_step();
    assert_eq!(
        restarted.agent_settles("fc-2", json!(5)),
        [Effect::CallModel]
    );
    assert!(!restarted.is_asked_again());
    // The answer comes to the one that took the chat up: nobody else has sent it.
    let mut restarted = asking().restarted();
    restarted.perform(recover);
    assert_eq!(restarted.approve(0), [Effect::CallModel]);
    assert!(!restarted.is_asked_again());
}

#[test]
fn tool_at_the_agent_may_ask_in_the_middle_of_its_work() {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.own_call("fc-1", "process_payment", Place::Agent);
    driver.end_step();
    let call = driver.call_id(0);
    driver.asks(&call, "Pay 5?");
    assert_eq!(driver.status(), Status::Parked);
    let wake = Effect::WakeTool {
        gate: driver.gate_id(0),
        call,
        decision: approved(),
    };
    assert_eq!(driver.approve(0), [wake]);
    assert_eq!(driver.status(), Status::Running);
    assert_eq!(
        driver.agent_settles("fc-1", json!({"paid": 5})),
        [Effect::CallModel]
    );
    driver.text("Paid.");
    driver.end_step();
    driver.check(&["Paid."]);
}

#[test]
fn tool_at_the_agent_may_call_the_page() {
    let mut driver = Driver::new().client_tool("change_bgm");
    driver.say("music");
    driver.own_call("fc-1", "play", Place::Agent);
    driver.end_step();
    let call = driver.call_id(0);
    driver.perform(Input::ToolCalls {
        call,
        tool: "change_bgm".to_owned(),
        input: json!({"track": 1}),
        timeout: None,
    });
    assert_eq!(driver.announced(), ["change_bgm"]);
    driver.output(1, json!({"playing": 1}));
    driver.agent_settles("fc-1", json!({"ok": true}));
    driver.text("Enjoy.");
    driver.end_step();
    driver.check(&["Enjoy."]);
}

#[test]
fn question_of_a_tool_that_gave_up_is_withdrawn() {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.own_call("fc-1", "process_payment", Place::Agent);
    driver.end_step();
    let call = driver.call_id(0);
    driver.asks(&call, "Pay 5?");
    let effects = driver.agent_settles("fc-1", json!({"error": "gave up"}));
    assert_eq!(effects, [Effect::CallModel]);
    driver.text("Never mind.");
    driver.end_step();
    assert_eq!(driver.status(), Status::Finished);
}

#[test]
fn who_asked_within_a_call_of_the_agent_is_gone_after_a_restart() {
    let mut driver = Driver::new();
    driver.say("pay");
    driver.own_call("fc-1", "process_payment", Place::Agent);
    driver.end_step();
    let call = driver.call_id(0);
    driver.asks(&call, "Pay 5?");
    let mut restarted = driver.restarted();
    let recover = Input::Recover {
        here: Vec::new(),
        idempotent: Vec::new(),
        by: None,
    };
    assert_eq!(restarted.perform(recover), [Effect::CallModel]);
    assert_eq!(restarted.status(), Status::Running);
}

#[test]
fn page_runs_a_call_of_the_agents_once_a_person_has_said_yes() {
    let mut driver = Driver::new().client_tool("get_location");
    driver.say("where am I?");
    driver.asked_call("fc-1", "get_location");
    driver.end_step();
    assert_eq!(driver.announced(), [""; 0]);
    driver.approve(0);
    assert_eq!(driver.announced(), ["get_location"]);
    let effects = driver.output(0, json!({"latitude": 35}));
    assert_eq!(effects, [Effect::CallModel]);
    let own = driver.own_calls();
    let asked = own[0].asked.as_ref().unwrap();
    assert_eq!(asked.token, Some(json!("about fc-1")));
    let output = json!({"latitude": 35});
    assert_eq!(own[0].outcome, Some(Outcome::Output { output }));
    driver.text("In Tokyo.");
    driver.end_step();
    driver.check(&["In Tokyo."]);
}

/// An agent that called a tool of its own, and one that it has not said of who runs it.
fn leaving_open() -> Driver {
    let mut driver = Driver::new().client_tool("change_bgm");
    driver.say("pay, and play");
    driver.own_call("fc-1", "process_payment", Place::Agent);
    driver.open_call("fc-2", "change_bgm");
    driver.end_step();
    assert_eq!(driver.announced(), [""; 0]);
    driver
}

#[test]
fn page_runs_a_call_that_was_left_open_once_the_agent_waits_for_it() {
    let mut driver = leaving_open();
    driver.agent_asks("fc-1", "Pay 5?");
    // There may be more to ask: the window stays.
    assert_eq!(driver.status(), Status::Running);
    driver.agent_waits("fc-2");
    assert_eq!(driver.status(), Status::Parked);
    // A client takes no notice of what runs at the agent: it would send the output again and again.
    assert_eq!(driver.announced(), [""; 0]);
    assert_eq!(driver.approve(0), []);
    assert_eq!(driver.announced(), ["change_bgm"]);
    assert_eq!(driver.output(1, json!({"playing": 1})), [Effect::CallModel]);
    assert_eq!(driver.requests(), 3);
    driver.agent_settles("fc-1", json!({"paid": 5}));
    driver.text("Paid, with music.");
    driver.end_step();
    driver.check(&["Paid, with music."]);
}

#[test]
fn page_waits_for_what_the_agent_asks_although_it_was_allowed_to_run() {
    let mut driver = leaving_open();
    driver.agent_asks("fc-1", "Pay 5?");
    driver.agent_asks("fc-2", "Play?");
    assert_eq!(driver.decide_elsewhere(1, true), []);
    assert_eq!(driver.status(), Status::Parked);
    assert_eq!(driver.announced(), [""; 0]);
    assert_eq!(driver.decide_elsewhere(0, true), []);
    let effects = driver.perform(Input::Answer {
        gate: driver.gate_id(2),
        decision: Decision::Output {
            output: json!({"playing": 1}),
        },
    });
    assert_eq!(effects, [Effect::CallModel]);
}

#[test]
fn person_is_asked_about_a_call_that_was_left_open() {
    let mut driver = leaving_open();
    assert_eq!(driver.agent_settles("fc-1", json!({"paid": 5})), []);
    driver.agent_asks("fc-2", "Play?");
    assert_eq!(driver.status(), Status::Parked);
    assert_eq!(driver.announced(), [""; 0]);
    driver.approve(0);
    assert_eq!(driver.announced(), ["change_bgm"]);
    assert_eq!(driver.output(1, json!({"playing": 1})), [Effect::CallModel]);
    driver.text("Enjoy.");
    driver.end_step();
    driver.check(&["Enjoy."]);
}

#[test]
fn agent_settles_a_call_that_it_left_open() {
    let mut driver = leaving_open();
    driver.agent_settles("fc-1", json!({"paid": 5}));
    let effects = driver.agent_settles("fc-2", json!({"status": "pending"}));
    assert_eq!(effects, [Effect::CallModel]);
    driver.text("It is on its way.");
    driver.end_step();
    driver.check(&["It is on its way."]);
}

#[test]
fn restarted_server_asks_the_agent_who_runs_what_it_left_open() {
    let mut driver = leaving_open();
    driver.agent_asks("fc-1", "Pay 5?");
    let mut restarted = driver.restarted();
    let recover = Input::Recover {
        here: Vec::new(),
        idempotent: Vec::new(),
        by: None,
    };
    assert_eq!(restarted.perform(recover), [Effect::CallModel]);
    let own = restarted.own_calls();
    assert_eq!(own.len(), 2);
    // What was asked already is not asked again.
    restarted.agent_asks("fc-1", "Pay 5?");
    restarted.agent_waits("fc-2");
    restarted.end_step();
    assert_eq!(restarted.status(), Status::Parked);
    restarted.decide_elsewhere(0, true);
    assert_eq!(restarted.decision(1), None);
    let effects = restarted.perform(Input::Answer {
        gate: restarted.gate_id(1),
        decision: Decision::Output {
            output: json!({"playing": 1}),
        },
    });
    assert_eq!(effects, [Effect::CallModel]);
}

#[test]
fn call_that_ran_alone_is_what_failed() {
    let mut driver = Driver::new();
    driver.say("go");
    driver.own_call("fc-1", "break_down", Place::Agent);
    driver.end_step();
    assert_eq!(driver.agent_fails("agent_failed"), [Effect::StopWork]);
    assert_eq!(driver.status(), Status::Failed);
    let failed = driver.outcome(0);
    assert!(matches!(&failed, Some(Outcome::Error { .. })), "{failed:?}");
}

#[test]
fn which_of_several_calls_failed_nobody_knows() {
    let mut driver = Driver::new();
    driver.say("go");
    driver.own_call("fc-1", "break_down", Place::Agent);
    driver.own_call("fc-2", "process_payment", Place::Agent);
    driver.end_step();
    driver.agent_fails("agent_failed");
    assert_eq!(
        driver.outcome(0),
        Some(Outcome::Unknown {
            reason: UnknownReason::AgentFailed,
        })
    );
    assert_eq!(
        driver.outcome(1),
        Some(Outcome::Unknown {
            reason: UnknownReason::AgentFailed,
        })
    );
}

#[test]
fn journal_says_that_a_call_was_asked_and_approved_before_it_started() {
    let mut driver = asking();
    let started = |driver: &Driver| {
        let mut events = driver.events();
        events.position(|event| matches!(event, Event::CallStarted { .. }))
    };
    assert_eq!(started(&driver), None);
    driver.approve(0);
    let closed = driver
        .events()
        .position(|event| matches!(event, Event::GateClosed { .. }));
    assert!(closed.is_some());
    assert_eq!(started(&driver), closed.map(|closed| closed + 1));
    // An older journal has it the other way round, and is read the same.
    let mut entries = driver.entries.clone();
    let call = driver.call_id(0);
    for entry in &mut entries {
        let is_start = |event: &Event| matches!(event, Event::CallStarted { .. });
        entry.events.retain(|event| !is_start(event));
        let step = |event: &Event| matches!(event, Event::StepEnded { .. });
        if let Some(step) = entry.events.iter().position(step) {
            let turn = driver.turn_id();
            let call = call.clone();
            let started = Event::CallStarted { turn, call };
            entry.events.insert(step + 1, started);
        }
    }
    for length in 1..=entries.len() {
        let (old, new) = (&entries[..length], &driver.entries[..length]);
        assert_eq!(Chat::replay(old).status(), Chat::replay(new).status());
    }
}

#[test]
fn store_gets_whether_the_turn_needs_a_person_or_page() {
    let is_running = |driver: &Driver| driver.open_turn().map(|open| open.is_running);
    let mut driver = Driver::new();
    driver.say("pay both");
    driver.own_call("fc-1", "process_payment", Place::Agent);
    driver.own_call("fc-2", "process_payment", Place::Agent);
    driver.end_step();
    assert_eq!(is_running(&driver), Some(true));
    driver.agent_asks("fc-1", "Pay 5?");
    driver.agent_asks("fc-2", "Pay 5?");
    assert_eq!(is_running(&driver), Some(false));
    // The agent gets all answers at once: with one of them it still has nothing to do.
    driver.decide_elsewhere(0, true);
    assert_eq!(is_running(&driver), Some(false));
    driver.decide_elsewhere(1, true);
    assert_eq!(is_running(&driver), Some(true));

    // A call is left open beside a question: the agent has yet to say who runs it.
    let mut driver = Driver::new();
    driver.say("pay and locate");
    driver.own_call("fc-1", "process_payment", Place::Agent);
    driver.open_call("fc-2", "get_location");
    driver.end_step();
    driver.agent_asks("fc-1", "Pay 5?");
    assert_eq!(is_running(&driver), Some(true));
    driver.agent_waits("fc-2");
    assert_eq!(is_running(&driver), Some(false));
    driver.perform(Input::Stop);
    assert_eq!(is_running(&driver), None);
}
