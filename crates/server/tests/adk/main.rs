//! An ADK server that goes wrong, and servers in front of it that die: what pages see of it, and
//! that nothing is done twice.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

#[expect(dead_code, reason = "the golden journals are made with the rest")]
mod fake;
mod log;
// These tests need little of it.
#[allow(dead_code)]
#[path = "../binary/process.rs"]
mod process;
mod servers;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use adk_stream::agents::Adk;
use adk_stream::agents::adk::Config;
use adk_stream::engine::Request;
use adk_stream::engine::command::View;
use adk_stream::engine::{Dialect, Engine, EngineError, Tools};
use adk_stream::store::{Journal, Location, open};
use adk_stream::turn::call::UnknownReason;
use adk_stream::turn::event::End;
use adk_stream::turn::gate::Decision;
use adk_stream::turn::reason::unknown;
use adk_stream::turn::{CallId, ChatId, Principal, Status};
use adk_stream::wire::{Message, Part, Profile, Role, ToolState, Trigger};
use fake::{Fake, TIME_LIMIT};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// A server in front of the fake, which can die.
struct Process {
    runtime: Option<Runtime>,
    engine: Engine,
    journal: Arc<dyn Journal>,
}

impl Process {
    fn start(adk: SocketAddr, journal: Arc<dyn Journal>) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let config = Config::new(format!("http://{adk}"), "app");
        let agent = Arc::new(Adk::new(config).unwrap());
        let engine = Engine::builder(journal.clone(), agent, Tools::default()).build();
        let recovering = engine.clone();
        runtime
            .block_on(async move { recovering.recover().await })
            .unwrap();
        Self {
            runtime: Some(runtime),
            engine,
            journal,
        }
    }

    fn on<F: Future + Send + 'static>(&self, work: F) -> F::Output
    where
        F::Output: Send,
    {
        self.runtime.as_ref().unwrap().block_on(work)
    }

    fn die(mut self) {
        self.runtime
            .take()
            .unwrap()
            .shutdown_timeout(Duration::from_secs(5));
    }

    /// Says something, and waits until the window closes.
    fn say(&self, id: &str, text: &str) -> View {
        self.send(Trigger::SubmitMessage, id, text);
        self.view()
    }

    fn send(&self, trigger: Trigger, id: &str, text: &str) {
        let (engine, request) = (self.engine.clone(), request(trigger, id, text));
        self.on(async move {
            let speech = Dialect::Sdk(Profile::Shared);
            let mut window = engine.send(&ann(), request, speech).await.unwrap();
            while window.next().await.is_some() {}
        });
    }

    /// Says something, and leaves.
    fn say_and_leave(&self, id: &str, text: &str) {
        let (engine, request) = (
            self.engine.clone(),
            request(Trigger::SubmitMessage, id, text),
        );
        let sent = async move {
            engine
                .send(&ann(), request, Dialect::Sdk(Profile::Shared))
                .await
        };
        drop(self.on(sent).unwrap());
    }

    fn answer(&self, decision: Decision) {
        let engine = self.engine.clone();
        self.on(async move {
            let gates = engine.approvals(&ann()).await.unwrap();
            engine
                .answer(&ann(), &gates[0].gate.id, decision)
                .await
                .unwrap();
        });
    }

    /// The page runs a call, and it is waited for what follows.
    fn run_on_page(&self, call: usize, output: Value) -> View {
        self.bring(call, output);
        self.settled()
    }

    /// The page runs a call.
    fn bring(&self, call: usize, output: Value) {
        let view = self.view();
        let calls = view.messages.iter().flat_map(|message| &message.parts);
        let calls: Vec<_> = calls.filter_map(Part::as_tool).collect();
        let id = CallId::from(calls[call].tool_call_id.as_str());
        let engine = self.engine.clone();
        let given = async move { engine.output(&ann(), &id, Ok(output)).await };
        self.on(given).unwrap();
    }

    /// Waits until nothing runs.
    fn settled(&self) -> View {
        let engine = self.engine.clone();
        self.on(async move {
            let speech = Dialect::Sdk(Profile::Shared);
            while let Some(mut window) = engine.resume(&ann(), &chat(), speech).await.unwrap() {
                while window.next().await.is_some() {}
                let view = engine.view(&ann(), &chat()).await.unwrap();
                if view.status == Status::Parked {
                    break;
                }
            }
        });
        self.view()
    }

    /// Waits until the calls have these states in the journal.
    fn until(&self, wanted: &'static [ToolState]) {
        let (engine, mut tail) = (self.engine.clone(), self.journal.tail(&chat(), 0));
        let waiting = async move {
            while tail.next().await.unwrap().is_some() {
                if states(&engine.view(&ann(), &chat()).await.unwrap()) == wanted {
                    return;
                }
            }
        };
        let waited = self.on(async move { tokio::time::timeout(TIME_LIMIT, waiting).await });
        waited.expect("the calls never stand so");
    }

    fn view(&self) -> View {
        let engine = self.engine.clone();
        self.on(async move { engine.view(&ann(), &chat()).await.unwrap() })
    }
}

fn ann() -> Principal {
    Principal::from("ann")
}

fn chat() -> ChatId {
    ChatId::from("chat-1")
}

fn request(trigger: Trigger, id: &str, text: &str) -> Request {
    Request {
        chat: chat(),
        trigger,
        message_id: None,
        messages: vec![Message::new(id, Role::User, vec![Part::text(text)])],
    }
}

fn yes() -> Decision {
    Decision::Approved {
        reason: None,
        input: None,
    }
}

/// The fake, and a journal.
fn bridge() -> (Runtime, Fake, SocketAddr, Arc<dyn Journal>) {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let fake = Fake::default();
    let address = runtime.block_on(fake.start());
    let stores = runtime.block_on(open(Location::Memory)).unwrap();
    (runtime, fake, address, stores.journal)
}

fn last(view: &View) -> String {
    view.messages.last().unwrap().text()
}

fn states(view: &View) -> Vec<ToolState> {
    let parts = view.messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(Part::as_tool)
        .map(|part| part.state)
        .collect()
}

/// What is said of the calls that have no output.
fn errors(view: &View) -> Vec<String> {
    let parts = view.messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| part.as_tool()?.error_text.clone())
        .collect()
}

fn code(view: &View) -> String {
    match &view.end {
        Some(End::Failed { code, .. }) => code.clone(),
        end => panic!("{end:?}"),
    }
}

#[test]
fn text_is_shown_once_and_the_session_continues() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    assert_eq!(last(&server.say("1", "hi")), "Hello.");
    assert_eq!(last(&server.say("2", "hi again")), "Hello.");
    assert_eq!(fake.sessions(), ["chat-1"]);
    assert_eq!(fake.runs().len(), 2);
}

#[test]
fn whatever_goes_wrong_has_its_code_and_the_chat_continues() {
    for (said, expected) in [
        ("out of order", "agent_unavailable"),
        ("garbage", "agent_invalid_response"),
        ("odd", "agent_invalid_response"),
        ("break", "agent_cut_off"),
        ("busy", "rate_limited"),
        ("raise", "agent_failed"),
    ] {
        let (_adk, fake, address, journal) = bridge();
        let server = Process::start(address, journal);
        server.say("1", "hi");
        let view = server.say("2", said);
        assert_eq!(code(&view), expected, "{said}");
        assert_eq!(last(&server.say("3", "hi")), "Hello.", "{said}");
        assert_eq!(fake.runs().len(), 3, "{said}");
    }
}

#[test]
fn session_that_a_locked_database_fails_to_make_is_made_again() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    fake.lock(2, None);
    assert_eq!(last(&server.say("1", "hi")), "Hello.");
    assert_eq!((fake.made(), fake.runs().len()), (3, 1));
    assert_eq!(fake.sessions(), ["chat-1"]);
}

#[test]
fn session_that_can_not_be_made_is_given_up() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    fake.lock(usize::MAX, None);
    let view = server.say("1", "hi");
    assert_eq!(code(&view), "agent_unavailable");
    assert_eq!((fake.made(), fake.runs().len()), (5, 0));
    fake.lock(0, None);
    assert_eq!(last(&server.say("2", "hi")), "Hello.");
}

#[test]
fn session_of_which_a_part_was_made_is_not_asked() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    server.say("1", "hi");
    server.say("2", "hello there");
    fake.lock(1, Some(1));
    server.send(Trigger::RegenerateMessage, "2", "hello there");
    assert_eq!(last(&server.view()), "Hello.");
    let sessions = fake.sessions();
    let counts: Vec<_> = sessions.iter().map(|id| fake.events(id).len()).collect();
    // The history of two, and what was said with its answer.
    assert_eq!(counts, [4, 1, 4], "{sessions:?}");
}

#[test]
fn tool_that_raises_is_what_failed() {
    let (_adk, _, address, journal) = bridge();
    let server = Process::start(address, journal);
    let view = server.say("1", "raise");
    assert_eq!(states(&view), [ToolState::OutputError]);
    let Some(End::Failed { message, .. }) = &view.end else {
        panic!("{view:?}")
    };
    assert_eq!(message, "The agent failed (RuntimeError): it broke");
}

#[test]
fn regenerated_answer_comes_from_a_session_made_from_the_journal() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    server.say("1", "hi");
    server.say("2", "hello there");
    server.send(Trigger::RegenerateMessage, "2", "hello there");
    assert_eq!(server.view().messages.len(), 4);
    let sessions = fake.sessions();
    assert_eq!(sessions.len(), 2);
    let events = fake.events(&sessions[1]);
    let said = |event: &Value| {
        let text = &event["content"]["parts"][0]["text"];
        (event["author"].clone(), text.clone())
    };
    let said: Vec<_> = events.iter().map(said).collect();
    assert_eq!(
        said,
        [
            (json!("user"), json!("hi")),
            (json!("root"), json!("Hello.")),
            (json!("user"), json!("hello there")),
            (json!("root"), json!("Hello.")),
        ]
    );
    // The chat continues in the new one.
    server.say("3", "hi");
    assert_eq!(
        fake.runs().last().unwrap()["sessionId"],
        sessions[1].as_str()
    );
}

#[test]
fn confirmation_is_sent_once_and_the_tool_runs_once() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    assert_eq!(server.say("1", "pay").status, Status::Parked);
    fake.release.notify_one();
    server.answer(yes());
    let view = server.settled();
    assert_eq!(last(&view), "Paid.");
    assert_eq!(states(&view), [ToolState::OutputAvailable]);
    assert_eq!((fake.paid(), fake.runs().len()), (1, 2));
}

#[test]
fn answer_is_sent_where_the_run_that_asked_is_cut_only_then() {
    let (adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    assert_eq!(server.say("1", "pay, and break").status, Status::Parked);
    adk.block_on(fake.holds());
    server.answer(yes());
    fake.set_free();
    fake.release.notify_one();
    let view = server.settled();
    assert_eq!(last(&view), "Paid.");
    assert_eq!(states(&view), [ToolState::OutputAvailable]);
    assert_eq!((fake.paid(), fake.runs().len()), (1, 2));
}

#[test]
fn server_that_dies_while_a_person_thinks_is_missed_by_nobody() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal.clone());
    server.say("1", "pay");
    server.die();
    let server = Process::start(address, journal);
    fake.release.notify_one();
    server.answer(yes());
    assert_eq!(last(&server.settled()), "Paid.");
    assert_eq!(fake.paid(), 1);
}

#[test]
fn server_that_dies_while_the_agent_runs_a_tool_leaves_it_unknown_and_asks_again() {
    let (adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal.clone());
    server.say_and_leave("1", "weather");
    adk.block_on(fake.holds());
    // The call is in the journal before the server dies.
    server.until(&[ToolState::InputAvailable]);
    server.die();
    let server = Process::start(address, journal);
    let view = server.settled();
    assert_eq!(errors(&view), [unknown(UnknownReason::ServerStopped)]);
    assert_eq!(last(&view), "I see.");
    assert_eq!(fake.sessions().len(), 2);
}

#[test]
fn call_whose_connection_was_cut_is_unknown_and_says_why() {
    let (adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    server.say_and_leave("1", "break the tool");
    adk.block_on(fake.holds());
    server.until(&[ToolState::InputAvailable]);
    fake.release.notify_one();
    let view = server.settled();
    assert_eq!(code(&view), "agent_cut_off");
    assert_eq!(errors(&view), [unknown(UnknownReason::ConnectionCut)]);
}

#[test]
fn call_of_a_stopped_turn_is_unknown_and_says_why() {
    let (adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    server.say_and_leave("1", "weather");
    adk.block_on(fake.holds());
    server.until(&[ToolState::InputAvailable]);
    let engine = server.engine.clone();
    server.on(async move { engine.stop(&ann(), &chat()).await.unwrap() });
    let view = server.settled();
    assert_eq!(errors(&view), [unknown(UnknownReason::TurnStopped)]);
}

#[test]
fn asking_agent_is_shown_with_its_path_and_gets_the_answer() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    server.say("1", "let the helper pay");
    let engine = server.engine.clone();
    let open = server.on(async move { engine.approvals(&ann()).await.unwrap() });
    let paths: Vec<_> = open.iter().map(|open| open.call.path()).collect();
    assert_eq!(paths, [["root", "helper"]]);
    fake.set_free();
    server.answer(yes());
    assert_eq!(states(&server.settled()), [ToolState::OutputAvailable]);
    assert_eq!(fake.paid(), 1);
}

#[test]
fn approval_that_the_agent_has_received_is_not_sent_again() {
    let (adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal.clone());
    server.say("1", "pay");
    server.answer(yes());
    adk.block_on(fake.holds());
    server.die();
    let server = Process::start(address, journal);
    let view = server.settled();
    // It may have been paid, and nobody knows: it is said to be so, and is not done again.
    assert_eq!(errors(&view), [unknown(UnknownReason::ServerStopped)]);
    assert_eq!(last(&view), "I see.");
    assert_eq!(fake.paid(), 0);
    let confirmations = fake
        .runs()
        .iter()
        .filter(|run| run["newMessage"]["parts"][0]["functionResponse"]["id"] == "conf")
        .count();
    assert_eq!(confirmations, 1);
}

#[test]
fn answer_that_the_agent_has_given_whole_is_not_asked_for_again() {
    let (adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal.clone());
    server.say_and_leave("1", "linger");
    adk.block_on(fake.holds());
    server.die();
    // Should it be asked again, it does it again.
    fake.release.notify_one();
    let server = Process::start(address, journal);
    assert_eq!(last(&server.settled()), "That is all.");
    assert_eq!(fake.runs().len(), 1);
}

#[test]
fn approval_that_is_on_its_way_to_the_agent_is_not_sent_again() {
    let (adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal.clone());
    server.say("1", "pay");
    fake.stand_still();
    server.answer(yes());
    adk.block_on(fake.until(|fake| fake.runs().len() == 2));
    server.die();
    // Should it be asked again, it does it again.
    fake.release.notify_one();
    let server = Process::start(address, journal);
    let view = server.settled();
    assert_eq!(states(&view), [ToolState::OutputError]);
    assert_eq!(last(&view), "I see.");
    let confirmations = fake
        .runs()
        .iter()
        .filter(|run| run["newMessage"]["parts"][0]["functionResponse"]["id"] == "conf")
        .count();
    assert_eq!((confirmations, fake.paid()), (1, 0));
}

#[test]
fn agent_that_lost_its_sessions_gets_the_journal() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    server.say("1", "hi");
    fake.forget();
    assert_eq!(last(&server.say("2", "hi again")), "Hello.");
    let sessions = fake.sessions();
    assert_eq!(fake.events(&sessions[0]).len(), 4);
}

#[test]
fn question_of_a_lost_session_is_asked_again_by_the_user() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    server.say("1", "pay");
    fake.forget();
    server.answer(yes());
    let view = server.settled();
    assert_eq!(code(&view), "agent_session_lost");
    assert_eq!(fake.paid(), 0);
    assert_eq!(last(&server.say("2", "hi")), "Hello.");
}

#[test]
fn stopped_turn_hangs_up() {
    let (adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    server.say_and_leave("1", "weather");
    adk.block_on(fake.holds());
    let engine = server.engine.clone();
    assert!(
        server
            .on(async move { engine.stop(&ann(), &chat()).await })
            .unwrap()
    );
    // The run was cut off: its session says so.
    adk.block_on(fake.until(|fake| {
        let mut events = fake.events("chat-1").into_iter();
        events.any(|event| event["errorCode"] == "INVOCATION_ABORTED")
    }));
    assert_eq!(last(&server.say("2", "hi")), "Hello.");
}

fn sent(fake: &Fake, run: usize) -> Value {
    fake.runs()[run]["newMessage"]["parts"].clone()
}

#[test]
fn page_runs_what_the_agent_waits_for() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    let view = server.say("1", "music");
    assert_eq!(view.status, Status::Parked);
    assert_eq!(states(&view), [ToolState::InputAvailable]);
    let view = server.run_on_page(0, json!({"track": 1}));
    assert_eq!(last(&view), r#"It says {"track":1}."#);
    let answer = json!([{"functionResponse": {
        "id": "music", "name": "music", "response": {"track": 1},
    }}]);
    assert_eq!(sent(&fake, 1), answer);
}

#[test]
fn page_runs_what_the_agent_asked_about_only_after_a_yes() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    let view = server.say("1", "where");
    assert_eq!(states(&view), [ToolState::ApprovalRequested]);
    server.answer(yes());
    let view = server.settled();
    assert_eq!(view.status, Status::Parked);
    assert_eq!(states(&view), [ToolState::InputAvailable]);
    let view = server.run_on_page(0, json!({"city": "Tokyo"}));
    assert_eq!(last(&view), r#"It says {"city":"Tokyo"}."#);
    // The result alone: a message that answers anything besides is an error for many versions.
    assert_eq!(sent(&fake, 1).as_array().unwrap().len(), 1);
}

#[test]
fn agent_that_answers_at_once_speaks_on_and_its_result_comes_later() {
    let (_adk, _, address, journal) = bridge();
    let server = Process::start(address, journal);
    let view = server.say("1", "report");
    assert_eq!(view.status, Status::Parked);
    assert_eq!(last(&view), "I will tell you.");
    assert_eq!(
        states(&view),
        [ToolState::OutputAvailable, ToolState::InputAvailable]
    );
    let view = server.run_on_page(1, json!({"pages": 3}));
    assert_eq!(last(&view), r#"I will tell you.It says {"pages":3}."#);
}

#[test]
fn worker_names_the_call_as_the_agent_does() {
    let (_adk, _, address, journal) = bridge();
    let server = Process::start(address, journal);
    let bring = |id: &'static str| {
        let engine = server.engine.clone();
        let given = Ok(json!({"pages": 3}));
        server.on(async move { engine.output_of_agent(Some(chat()), id, given).await })
    };
    assert!(matches!(bring("report"), Err(EngineError::UnknownCall)));
    // A call that has given a first answer, and one of the same id that waits for the result.
    server.say("1", "report");
    assert!(bring("report").unwrap());
    let view = server.settled();
    assert_eq!(last(&view), r#"I will tell you.It says {"pages":3}."#);
    assert!(!bring("report").unwrap());
    assert!(matches!(bring("another"), Err(EngineError::UnknownCall)));
}

#[test]
fn what_a_page_runs_is_shown_once_its_siblings_at_the_agent_are_done() {
    let (adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    server.say_and_leave("1", "both");
    adk.block_on(fake.holds());
    server.until(&[ToolState::InputAvailable]);
    fake.release.notify_one();
    let view = server.settled();
    assert_eq!(
        states(&view),
        [ToolState::OutputAvailable, ToolState::InputAvailable]
    );
    let view = server.run_on_page(1, json!({"track": 1}));
    assert_eq!(last(&view), r#"It says {"track":1}."#);
}

#[test]
fn message_over_what_the_agent_waits_for_closes_that_first() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    server.say("1", "music");
    assert_eq!(last(&server.say("2", "hi")), "Hello.");
    assert_eq!(sent(&fake, 1)[0]["functionResponse"]["id"], "music");
    assert_eq!(sent(&fake, 2)[0]["text"], "hi");
    // Once: nothing is waited for any more.
    server.say("3", "hi");
    assert_eq!(fake.runs().len(), 4);
}

#[test]
fn denial_is_sent_with_its_reason_as_the_result_of_the_call() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    server.say("1", "pay");
    let reason = Some("too much".to_owned());
    server.answer(Decision::Denied { reason });
    let view = server.settled();
    assert_eq!(states(&view), [ToolState::OutputDenied]);
    let sent_parts = sent(&fake, 1);
    let response = &sent_parts[0]["functionResponse"];
    assert_eq!(response["id"], "p1");
    assert_eq!(response["response"], json!({"error": "Denied: too much"}));
    assert_eq!(sent_parts.as_array().unwrap().len(), 1);
    assert_eq!(fake.paid(), 0);
}

#[test]
fn question_about_what_no_page_can_show_is_answered_with_a_no_and_shown_to_nobody() {
    let (_adk, fake, address, journal) = bridge();
    let server = Process::start(address, journal);
    server.say("1", "pay in secret");
    let view = server.settled();
    assert_eq!(states(&view), [ToolState::OutputError]);
    assert_eq!(last(&view), "I see.");
    let sent_parts = sent(&fake, 1);
    let response = &sent_parts[0]["functionResponse"];
    assert_eq!(response["id"], "p1");
    let error = response["response"]["error"].as_str().unwrap();
    assert!(
        error.contains("Nobody was asked") && error.contains("__proto__"),
        "{error}"
    );
    assert_eq!(fake.paid(), 0);
}
