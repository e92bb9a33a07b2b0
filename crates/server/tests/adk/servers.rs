//! ADK servers of other versions and languages: nothing is done twice before any of them.

use super::*;
use crate::fake::Habits;

/// How often an approval was sent.
fn confirmations(fake: &Fake) -> usize {
    let runs = fake.runs();
    let parts = runs
        .iter()
        .flat_map(|run| run["newMessage"]["parts"].as_array().unwrap());
    parts
        .filter(|part| part["functionResponse"]["id"] == "conf")
        .filter(|part| part["functionResponse"]["response"]["confirmed"] == true)
        .count()
}

/// What keeps an answer without saying of which turn it is.
fn forgetful() -> [Habits; 4] {
    [
        Habits {
            drops_metadata: true,
            never_seals: true,
            ..Habits::default()
        },
        Habits {
            drops_metadata: true,
            drops_state: true,
            never_seals: true,
            ..Habits::default()
        },
        Habits {
            marks_only_its_own: true,
            drops_state: true,
            ..Habits::default()
        },
        Habits::typescript(),
    ]
}

#[test]
fn approval_in_the_session_is_not_sent_again_whatever_its_metadata() {
    for habits in forgetful() {
        let (adk, fake, address, journal) = bridge();
        fake.behave(habits);
        let server = Process::start(address, journal.clone());
        server.say("1", "pay");
        server.answer(yes());
        adk.block_on(fake.holds());
        server.die();
        // Should it be asked again, it does it again.
        fake.set_free();
        let server = Process::start(address, journal);
        let view = server.settled();
        assert_eq!(states(&view), [ToolState::OutputError], "{habits:?}");
        assert_eq!(confirmations(&fake), 1, "{habits:?}");
        // The chat continues, and what ran on meanwhile is not done again.
        fake.release.notify_one();
        assert_eq!(last(&server.say("2", "hi")), "Hello.", "{habits:?}");
        assert!(fake.paid() <= 1, "{habits:?}");
    }
}

#[test]
fn approval_is_not_sent_again_to_a_session_that_does_not_hold_its_question() {
    let (adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal.clone());
    server.say("1", "pay");
    server.answer(yes());
    adk.block_on(fake.holds());
    server.die();
    // As if somebody had cut the session short.
    fake.remember(&json!({"chat-1": []}));
    fake.set_free();
    let server = Process::start(address, journal);
    let view = server.settled();
    assert_eq!(errors(&view), [unknown(UnknownReason::AnswerUnclear)]);
    // The model gets the reason, too.
    let sent_parts = fake.runs().last().unwrap().to_string();
    assert!(
        sent_parts.contains("can't tell whether it has taken the answer"),
        "{sent_parts}"
    );
    assert_eq!((confirmations(&fake), fake.paid()), (1, 0));
}

/// The server that takes over can't know whether the yes was sent, and so not that nothing ran.
#[test]
fn approval_is_unknown_where_the_session_can_not_be_read_after_a_takeover() {
    let (adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal.clone());
    server.say("1", "pay");
    server.answer(yes());
    adk.block_on(fake.holds());
    server.die();
    fake.set_free();
    fake.behave(Habits {
        fails_to_read: true,
        ..Habits::default()
    });
    let server = Process::start(address, journal);
    let view = server.settled();
    assert_eq!(errors(&view), [unknown(UnknownReason::AnswerUnclear)]);
    assert_eq!(code(&view), "agent_unavailable");
    assert_eq!(confirmations(&fake), 1);
    // It continues when sessions can be read again, and the model gets that nobody knows.
    fake.behave(Habits::default());
    assert_eq!(last(&server.say("2", "hi")), "Hello.");
    assert_eq!((confirmations(&fake), fake.paid()), (1, 0));
}

/// Nothing was sent by anybody: there it is certain.
#[test]
fn approval_did_not_run_where_the_session_can_not_be_read_without_a_takeover() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal.clone());
    server.say("1", "pay");
    server.die();
    fake.behave(Habits {
        fails_to_read: true,
        ..Habits::default()
    });
    let server = Process::start(address, journal);
    server.answer(yes());
    let view = server.settled();
    let error = errors(&view).pop().unwrap();
    assert!(error.starts_with("It did not run: "), "{error}");
    assert_eq!((confirmations(&fake), fake.paid()), (0, 0));
}

/// How often a result of a call was sent.
fn results(fake: &Fake, id: &str) -> usize {
    let runs = fake.runs();
    let parts = runs
        .iter()
        .flat_map(|run| run["newMessage"]["parts"].as_array().unwrap());
    parts
        .filter(|part| part["functionResponse"]["id"] == id)
        .count()
}

/// What goes before an approval is a message of its own: a server may die between the two.
#[test]
fn result_that_was_sent_before_an_approval_is_not_sent_again() {
    for habits in [Habits::default(), Habits::python_1(), Habits::typescript()] {
        let (adk, fake, address, journal) = bridge();
        fake.behave(Habits {
            lingers: true,
            ..habits
        });
        let server = Process::start(address, journal.clone());
        server.say("1", "music beside a question");
        server.answer(yes());
        // Both are sent when the page has run its call, too.
        let states = states(&server.settled());
        let open = states
            .iter()
            .position(|state| *state == ToolState::InputAvailable);
        server.bring(open.unwrap(), json!({"track": 1}));
        adk.block_on(fake.holds());
        server.die();
        fake.set_free();
        let server = Process::start(address, journal);
        let view = server.settled();
        assert_eq!(last(&view), "All done.", "{habits:?}");
        assert_eq!(results(&fake, "music"), 1, "{habits:?}");
        assert_eq!(results(&fake, "conf-beside"), 1, "{habits:?}");
    }
}

/// The message that follows is not answered by what ADK said to what came before it.
#[test]
fn message_after_what_was_closed_first_is_sent_by_the_server_that_takes_over() {
    for habits in [Habits::default(), Habits::python_1(), Habits::typescript()] {
        let (adk, fake, address, journal) = bridge();
        fake.behave(Habits {
            lingers: true,
            ..habits
        });
        let server = Process::start(address, journal.clone());
        server.say("1", "music");
        server.say_and_leave("2", "hi");
        adk.block_on(fake.holds());
        server.die();
        fake.set_free();
        let server = Process::start(address, journal);
        assert_eq!(last(&server.settled()), "Hello.", "{habits:?}");
        assert_eq!(results(&fake, "music"), 1, "{habits:?}");
    }
}

#[test]
fn approval_that_was_not_sent_is_sent_by_the_server_that_takes_over() {
    for habits in forgetful() {
        let (_adk, fake, address, journal) = bridge();
        fake.behave(habits);
        fake.set_free();
        let server = Process::start(address, journal.clone());
        server.say("1", "pay");
        server.die();
        let server = Process::start(address, journal);
        server.answer(yes());
        assert_eq!(last(&server.settled()), "Paid.", "{habits:?}");
        assert_eq!((confirmations(&fake), fake.paid()), (1, 1), "{habits:?}");
    }
}

#[test]
fn message_in_the_session_is_not_sent_again_without_metadata() {
    for habits in [Habits::python_1(), Habits::typescript()] {
        let (adk, fake, address, journal) = bridge();
        fake.behave(habits);
        let server = Process::start(address, journal.clone());
        server.say_and_leave("1", "weather");
        adk.block_on(fake.holds());
        server.until(&[ToolState::InputAvailable]);
        server.die();
        fake.set_free();
        let server = Process::start(address, journal);
        let view = server.settled();
        assert_eq!(states(&view), [ToolState::OutputError], "{habits:?}");
        let asked = fake.runs();
        let asked = asked
            .iter()
            .filter(|run| run["newMessage"]["parts"][0]["text"] == "weather");
        assert_eq!(asked.count(), 1, "{habits:?}");
    }
}

#[test]
fn session_has_the_name_that_the_journal_has() {
    let (_adk, fake, address, journal) = bridge();
    fake.behave(Habits::typescript());
    let server = Process::start(address, journal);
    assert_eq!(last(&server.say("1", "hi")), "Hello.");
    assert_eq!(last(&server.say("2", "hi again")), "Hello.");
    // The one that it named by itself is deleted.
    assert_eq!(fake.sessions(), ["chat-1"]);
}

#[test]
fn history_that_no_session_can_hold_is_sent_as_text() {
    let (_adk, fake, address, journal) = bridge();
    fake.behave(Habits::typescript());
    let server = Process::start(address, journal);
    server.say("1", "hi");
    server.say("2", "hello there");
    server.send(Trigger::RegenerateMessage, "2", "hello there");
    assert_eq!(last(&server.view()), "Hello.");
    let sent_parts = sent(&fake, 2);
    let history = sent_parts[0]["text"].as_str().unwrap();
    assert!(history.contains("The user: hi\nYou: Hello."), "{history}");
    assert_eq!(sent_parts[1]["text"], "hello there");
    // Once: the session then knows it.
    server.say("3", "hi");
    assert_eq!(sent(&fake, 3), json!([{"text": "hi"}]));
}

#[test]
fn history_that_a_server_drops_without_a_word_is_sent_as_text() {
    let (_adk, fake, address, journal) = bridge();
    fake.behave(Habits {
        tells_no_events: true,
        ..Habits::typescript()
    });
    let server = Process::start(address, journal);
    server.say("1", "hi");
    server.say("2", "hello there");
    server.send(Trigger::RegenerateMessage, "2", "hello there");
    let sent_parts = sent(&fake, 2);
    let history = sent_parts[0]["text"].as_str().unwrap();
    assert!(history.contains("The user: hi\nYou: Hello."), "{history}");
}

#[test]
fn history_that_a_server_keeps_without_a_word_is_not_repeated() {
    let (_adk, fake, address, journal) = bridge();
    fake.behave(Habits {
        tells_no_events: true,
        ..Habits::default()
    });
    let server = Process::start(address, journal);
    server.say("1", "hi");
    server.say("2", "hello there");
    server.send(Trigger::RegenerateMessage, "2", "hello there");
    assert_eq!(sent(&fake, 2), json!([{"text": "hello there"}]));
}

#[test]
fn session_that_go_has_lost_is_made_again() {
    let (_adk, fake, address, journal) = bridge();
    fake.behave(Habits::go());
    let server = Process::start(address, journal.clone());
    server.say("1", "hi");
    // This server knows the session, and finds out when it runs it; the next one reads it first.
    fake.forget();
    assert_eq!(last(&server.say("2", "hi again")), "Hello.");
    server.die();
    fake.forget();
    let server = Process::start(address, journal);
    assert_eq!(last(&server.say("3", "hi")), "Hello.");
    let (sessions, runs) = (fake.sessions(), fake.runs());
    assert_eq!(runs.last().unwrap()["sessionId"], sessions[0].as_str());
    // The history of two, and what was said with its answer.
    assert_eq!(fake.events(&sessions[0]).len(), 6);
}

#[test]
fn question_that_go_has_lost_is_asked_again_by_the_user() {
    let (_adk, fake, address, journal) = bridge();
    fake.behave(Habits::go());
    let server = Process::start(address, journal.clone());
    server.say("1", "pay");
    server.die();
    fake.forget();
    let server = Process::start(address, journal);
    server.answer(yes());
    assert_eq!(code(&server.settled()), "agent_session_lost");
    assert_eq!(fake.paid(), 0);
    assert_eq!(last(&server.say("2", "hi")), "Hello.");
}

#[test]
fn stopped_chat_continues_in_a_session_of_its_own_where_the_server_runs_on() {
    let (adk, fake, address, journal) = bridge();
    fake.behave(Habits::typescript());
    let server = Process::start(address, journal);
    server.say("1", "hi");
    server.say_and_leave("2", "weather");
    adk.block_on(fake.holds());
    let engine = server.engine.clone();
    assert!(
        server
            .on(async move { engine.stop(&ann(), &chat()).await })
            .unwrap()
    );
    fake.release.notify_one();
    assert_eq!(last(&server.say("3", "hi")), "Hello.");
    let sessions = fake.sessions();
    assert_eq!(sessions.len(), 2, "{sessions:?}");
    let sent_parts = sent(&fake, 2);
    assert!(!sent_parts.to_string().contains("sunny"), "{sent_parts}");
    // From there on it continues.
    server.say("4", "hi");
    assert_eq!(fake.runs()[3]["sessionId"], sessions[1].as_str());
}

#[test]
fn metadata_that_a_server_refuses_is_left_out() {
    let (_adk, fake, address, journal) = bridge();
    fake.behave(Habits {
        is_strict: true,
        ..Habits::default()
    });
    let server = Process::start(address, journal);
    assert_eq!(last(&server.say("1", "hi")), "Hello.");
    assert_eq!(last(&server.say("2", "hi")), "Hello.");
}

#[test]
fn denial_is_sent_alone_and_its_question_is_closed_after_silence() {
    let resumable = Habits {
        waits_for_closing: true,
        ..Habits::default()
    };
    for (habits, runs) in [
        (Habits::python_1(), 2),
        (Habits::typescript(), 2),
        (resumable, 3),
    ] {
        let (_adk, fake, address, journal) = bridge();
        fake.behave(habits);
        let server = Process::start(address, journal);
        server.say("1", "pay");
        let reason = Some("too much".to_owned());
        server.answer(Decision::Denied { reason });
        let view = server.settled();
        assert_eq!(states(&view), [ToolState::OutputDenied], "{habits:?}");
        assert_eq!(view.status, Status::Finished, "{habits:?}");
        let sent_parts = sent(&fake, 1);
        assert_eq!(sent_parts.as_array().unwrap().len(), 1, "{habits:?}");
        assert_eq!(sent_parts[0]["functionResponse"]["id"], "p1");
        assert_eq!(fake.runs().len(), runs, "{habits:?}");
        assert_eq!(last(&server.say("2", "hi")), "Hello.", "{habits:?}");
    }
}

#[test]
fn run_that_says_nothing_is_no_success() {
    let (_adk, _, address, journal) = bridge();
    let server = Process::start(address, journal);
    assert_eq!(code(&server.say("1", "nothing")), "agent_empty_response");
    assert_eq!(last(&server.say("2", "hi")), "Hello.");
}

/// A server closes a connection that was idle for five seconds. A run that is requested at that very
/// moment is lost, and nobody could know whether it was received.
#[test]
fn every_run_has_a_connection_of_its_own() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    for id in ["1", "2", "3"] {
        server.say(id, "hi");
    }
    let mut peers = fake.peers();
    peers.sort();
    peers.dedup();
    assert_eq!(peers.len(), 3);
}
