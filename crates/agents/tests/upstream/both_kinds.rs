//! What holds for a route of the AI SDK's and for an agent that speaks AG-UI alike: one that refuses, is
//! slow, or lies gets a code, is asked once, and the chat can go on.

use std::time::Duration;

use adk_stream_agents::ai_sdk::Config;
use adk_stream_agents::{AgUi, AiSdk};
use serde_json::{Value, json};
use tokio::time::{pause, resume, timeout};
use turn::Status;
use turn::agent::AgentEvent;
use turn::call::{Outcome, UnknownReason};

use crate::behind::{Behind, approved, next};
use crate::server::{Answer, Server};
use crate::{ag_ui, ai_sdk, chunks, events};

/// A kind of agent: a chat with it, and a run that says something.
type Kind = (fn(&Server) -> Behind, fn(&str) -> Vec<Value>);

const KINDS: [Kind; 2] = [
    (ag_ui::behind, events::saying),
    (ai_sdk::behind, chunks::saying),
];

/// Asks an agent that answers so, and then another time.
async fn asked((behind, saying): Kind, answer: Answer) -> (String, String) {
    let server = Server::answering([answer, Answer::Chunks(saying("Here."))]).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    let failure = chat.failure();
    assert_eq!(server.requests().len(), 1, "{failure:?}");
    chat.say("again").await;
    assert_eq!(chat.status(), Status::Finished, "{failure:?}");
    failure
}

#[tokio::test]
async fn refusal_has_a_code_and_is_not_asked_again() {
    let json = "content-type: application/json";
    for kind in KINDS {
        for (status, header, body, code, words) in [
            (
                401,
                json,
                "{}",
                "agent_unauthorized",
                "rejected our credentials",
            ),
            (
                403,
                json,
                "{}",
                "agent_unauthorized",
                "rejected our credentials",
            ),
            (404, json, "{}", "agent_not_found", "no agent"),
            (422, json, r#"{"detail":"no"}"#, "agent_bad_request", "no"),
            (429, "retry-after: 7", "", "rate_limited", "7 seconds"),
            (429, json, "", "rate_limited", "later"),
            (500, json, "", "agent_unavailable", "not available"),
            (
                503,
                "retry-after: 7",
                "",
                "agent_unavailable",
                "not available",
            ),
            // Wherever it leads, nothing is sent there.
            (
                302,
                "location: /elsewhere",
                "",
                "agent_invalid_response",
                "302",
            ),
            (
                307,
                "location: /elsewhere",
                "",
                "agent_invalid_response",
                "307",
            ),
            (204, json, "", "agent_invalid_response", "204"),
            (
                200,
                json,
                "{}",
                "agent_invalid_response",
                "application/json",
            ),
            (200, "x-nothing: 1", "", "agent_invalid_response", "none"),
            (
                200,
                "content-type: text/html",
                "<p>",
                "agent_invalid_response",
                "text/html",
            ),
        ] {
            let answer = Answer::Status(status, header, body.to_owned());
            let failure = asked(kind, answer).await;
            assert_eq!(failure.0, code, "{status}");
            assert!(failure.1.contains(words), "{status}: {failure:?}");
        }
    }
}

#[tokio::test]
async fn bytes_that_are_no_stream_have_a_code() {
    for kind in KINDS {
        for body in [
            b"data: {nonsense\n\n".to_vec(),
            b"data: 7\n\n".to_vec(),
            b"data: [1]\n\n".to_vec(),
            b"data: {\"type\":7}\n\n".to_vec(),
            b"data: \xff\xfe\x00\n\n".to_vec(),
            format!("data: {}\n\n", "[".repeat(100_000)).into_bytes(),
        ] {
            let start = String::from_utf8_lossy(&body[..body.len().min(20)]).into_owned();
            let failure = asked(kind, Answer::Body(body)).await;
            assert_eq!(failure.0, "agent_invalid_response", "{start}");
        }
    }
}

#[tokio::test]
async fn what_comes_after_the_end_says_nothing() {
    for (behind, saying) in KINDS {
        for rest in ["data: [DONE]\n\n", "data: {nonsense\n\n", "data: {\"type\""] {
            let mut body = String::new();
            for event in saying("Hello.") {
                body.push_str(&format!("data: {event}\n\n"));
            }
            body.push_str(rest);
            let server = Server::answering([Answer::Body(body.into_bytes())]).await;
            let mut chat = behind(&server);
            chat.say("hi").await;
            assert_eq!(chat.status(), Status::Finished, "{rest}");
        }
    }
}

/// Lets the time pass once the agent has been asked, until something is done.
async fn while_time_passes<T>(server: &Server, work: impl Future<Output = T>) -> T {
    let pass = async {
        while server.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        pause();
        std::future::pending::<()>().await;
    };
    let done = tokio::select! {
        done = work => done,
        () = pass => unreachable!(),
    };
    resume();
    done
}

/// Asks an agent that says no more at some point, and lets the time pass once it has been asked.
async fn silent((behind, saying): Kind, answer: Answer) {
    let server = Server::answering([answer, Answer::Chunks(saying("Here."))]).await;
    let mut chat = behind(&server);
    chat.begin("hi");
    let mut stream = chat.stream();
    let listen = async {
        let mut said = Vec::new();
        loop {
            let event = next(&mut stream).await.expect("it says that it failed");
            let is_over = matches!(event, AgentEvent::Failed { .. });
            said.push(event);
            if is_over {
                return said;
            }
        }
    };
    let said = while_time_passes(&server, listen).await;
    drop(stream);
    said.into_iter().for_each(|event| chat.push(event));
    assert_eq!(chat.failure().0, "agent_timed_out");
    assert_eq!(server.requests().len(), 1);
    chat.say("again").await;
    assert_eq!(chat.status(), Status::Finished);
}

#[tokio::test]
async fn agent_that_says_nothing_is_given_up() {
    for kind in KINDS {
        silent(kind, Answer::Silence).await;
    }
}

#[tokio::test]
async fn agent_that_stops_in_the_middle_of_its_words_is_given_up() {
    for kind in KINDS {
        let mut begun = kind.1("Hello.");
        begun.truncate(3);
        silent(kind, Answer::Hold(begun)).await;
    }
}

/// An agent whose tools may run for a moment. Where it is known that no page runs a tool, calls are shown
/// while they run.
type Agent = fn(Config) -> Behind;

const AGENTS: [Agent; 2] = [
    |config| Behind::new(AgUi::new(config).unwrap()),
    |config| Behind::new(AiSdk::new(config).unwrap()),
];

/// A run that makes a call: `ended` is one that asks about it.
fn making_a_call(kind: usize, is_asking: bool) -> Vec<Value> {
    let run = match (kind, is_asking) {
        (0, true) => return events::asking("c1"),
        (0, false) => events::run(events::call("c1")),
        (_, true) => return chunks::asking("c1"),
        (_, false) => chunks::message(chunks::step(chunks::call("c1"))),
    };
    let end = run.iter().position(|event| {
        let ends = ["RUN_FINISHED", "finish-step"];
        ends.contains(&event["type"].as_str().unwrap())
    });
    run[..end.unwrap()].to_vec()
}

/// What says something that is no outcome of a call.
fn chatter(kind: usize) -> Value {
    match kind {
        0 => json!({"type": "CUSTOM", "name": "alive", "value": 1}),
        _ => json!({"type": "data-alive", "data": 1, "transient": true}),
    }
}

fn for_a_moment(server: &Server, client_tools: Option<Vec<String>>) -> Config {
    Config {
        tool_timeout: Some(Duration::from_millis(500)),
        client_tools,
        ..Config::new(&server.url)
    }
}

fn assert_lost(chat: &Behind) {
    assert_eq!(chat.failure().0, "agent_timed_out");
    let reason = UnknownReason::NoResult;
    assert_eq!(chat.outcomes(), [Some(Outcome::Unknown { reason })]);
}

#[tokio::test]
async fn call_whose_outcome_never_comes_is_given_up() {
    for (kind, agent) in AGENTS.into_iter().enumerate() {
        let begun = making_a_call(kind, false);
        for (answer, client_tools) in [
            (Answer::Hold(begun.clone()), None),
            (Answer::Hold(begun.clone()), Some(Vec::new())),
            // That it says something does not mean that the call goes on.
            (Answer::Drip(begun.clone(), chatter(kind)), None),
            (Answer::Drip(begun, chatter(kind)), Some(Vec::new())),
        ] {
            let saying = KINDS[kind].1("Here.");
            let server = Server::answering([answer, Answer::Chunks(saying)]).await;
            let mut chat = agent(for_a_moment(&server, client_tools));
            chat.say("pay").await;
            assert_lost(&chat);
            assert_eq!(server.requests().len(), 1);
            chat.say("again").await;
            assert_eq!(chat.status(), Status::Finished);
        }
    }
}

#[tokio::test]
async fn approved_call_whose_outcome_never_comes_is_given_up() {
    for (kind, agent) in AGENTS.into_iter().enumerate() {
        let start = KINDS[kind].1("Hello.")[..1].to_vec();
        let asking = Answer::Chunks(making_a_call(kind, true));
        let server = Server::answering([asking, Answer::Hold(start)]).await;
        let mut chat = agent(for_a_moment(&server, None));
        chat.say("pay").await;
        chat.answer(approved()).await;
        assert_lost(&chat);
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn input_that_is_long_in_coming_is_waited_for() {
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    for ((behind, saying), started, more) in [
        (
            KINDS[0],
            r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"pay"}"#,
            r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":" "}"#,
        ),
        (
            KINDS[1],
            r#"{"type":"tool-input-start","toolCallId":"c","toolName":"pay"}"#,
            r#"{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":" "}"#,
        ),
    ] {
        let begun = vec![saying("Hello.")[0].clone(), json(started)];
        let server = Server::answering([Answer::Drip(begun, json(more))]).await;
        let mut chat = behind(&server);
        chat.begin("pay");
        let mut stream = chat.stream();
        let said = timeout(Duration::from_secs(400), next(&mut stream));
        let said = while_time_passes(&server, said).await;
        assert!(said.is_err(), "{said:?}");
    }
}

#[tokio::test]
async fn fields_that_are_forwarded_come_with_the_message() {
    for (kind, agent) in AGENTS.into_iter().enumerate() {
        let runs = ["Hello.", "Again."].map(|words| Answer::Chunks(KINDS[kind].1(words)));
        let server = Server::answering(runs).await;
        let config = Config {
            forward: vec!["model".to_owned(), "webSearch".to_owned()],
            ..Config::new(&server.url)
        };
        let mut chat = agent(config);
        let fields = json!({"model": "large", "other": 1});
        chat.metadata = Some(json!({"adkStream": {"body": fields}, "mood": "good"}));
        chat.say("hi").await;
        chat.say("and?").await;
        assert_eq!(chat.status(), Status::Finished);
        let sent = server.requests();
        let fields = |request: usize| match kind {
            0 => sent[request].body["forwardedProps"].clone(),
            _ => {
                let mut fields = sent[request].body.clone();
                let own = ["id", "trigger", "messages"];
                fields
                    .as_object_mut()
                    .unwrap()
                    .retain(|name, _| !own.contains(&name.as_str()));
                fields
            }
        };
        assert_eq!(
            (fields(0), fields(1)),
            (json!({"model": "large"}), json!({}))
        );
        if kind == 1 {
            let message = &sent[1].body["messages"][0];
            assert_eq!(message["metadata"], json!({"mood": "good"}));
        }
    }
}

#[test]
fn names_with_a_meaning_of_their_own_are_not_forwarded() {
    for name in ["", "id", "messages", "trigger", "tools"] {
        let config = Config {
            forward: vec![name.to_owned()],
            ..Config::new("http://127.0.0.1:1")
        };
        assert!(AiSdk::new(config.clone()).is_err(), "{name}");
        assert!(AgUi::new(config).is_err(), "{name}");
    }
}

#[test]
fn tools_have_an_hour_unless_somebody_says_otherwise() {
    let hour = Duration::from_secs(60 * 60);
    assert_eq!(Config::new("http://127.0.0.1:1").tool_timeout, Some(hour));
}

#[tokio::test]
async fn refusal_whose_words_trickle_is_a_refusal() {
    for (behind, _) in KINDS {
        let server = Server::answering([Answer::Trickle(500)]).await;
        let mut chat = behind(&server);
        while_time_passes(&server, chat.say("hi")).await;
        assert_eq!(chat.failure().0, "agent_unavailable");
    }
}

#[tokio::test]
async fn agent_that_talks_on_after_its_end_is_not_listened_to() {
    for (kind, (behind, saying)) in KINDS.into_iter().enumerate() {
        let server = Server::answering([Answer::Drip(saying("Hello."), chatter(kind))]).await;
        let mut chat = behind(&server);
        while_time_passes(&server, chat.say("hi")).await;
        assert_eq!(chat.status(), Status::Finished);
    }
}

#[tokio::test]
async fn event_of_an_unknown_type_is_kept_and_shown_to_nobody() {
    for (behind, saying) in KINDS {
        let mut run = saying("Hello.");
        run.insert(1, json!({"type": "hologram-9", "of": "a cat"}));
        let server = Server::answering([Answer::Chunks(run)]).await;
        let mut chat = behind(&server);
        chat.say("hi").await;
        assert_eq!(chat.status(), Status::Finished);
        assert!(format!("{:?}", chat.chat.history()).contains("hologram-9"));
        assert!(!chat.messages().to_string().contains("hologram-9"));
    }
}
