//! A route of the AI SDK's: what it is sent, and what is made of its stream.

use adk_stream_agents::AiSdk;
use adk_stream_agents::ai_sdk::Config;
use serde_json::{Value, json};
use turn::Status;
use turn::agent::Part;
use turn::call::{Outcome, Place};
use turn::gate::{Decision, GateKind};

use crate::behind::{Behind, approved, denied, next};
use crate::chunks::{
    asking, call, call_of, message, output, request, results_and, saying, step, text,
};
use crate::server::{Answer, Server};

pub(crate) fn behind(server: &Server) -> Behind {
    Behind::new(AiSdk::new(Config::new(format!("{}/api/chat", server.url))).unwrap())
}

fn chunks(all: impl IntoIterator<Item = Vec<Value>>) -> Vec<Answer> {
    all.into_iter().map(Answer::Chunks).collect()
}

/// The tool parts of the last message of a request.
fn tool_parts(server: &Server, request: usize) -> Vec<Value> {
    let body = server.requests()[request].body.clone();
    let last = body["messages"].as_array().unwrap().last().unwrap().clone();
    let parts = last["parts"].as_array().unwrap().iter();
    let is_tool = |part: &&Value| part.get("toolCallId").is_some();
    parts.filter(is_tool).cloned().collect()
}

#[tokio::test]
async fn route_is_sent_what_the_client_would_send() {
    let server = Server::answering(chunks([saying("Hello."), saying("Again.")])).await;
    let mut chat = behind(&server);
    chat.say("hi").await;
    chat.say("and?").await;
    assert_eq!(chat.status(), Status::Finished);
    let user = |id: &str, text: &str| json!({"id": id, "role": "user", "parts": [{"type": "text", "text": text}]});
    let answer = json!({
        "id": "answer-1",
        "role": "assistant",
        "parts": [{"type": "step-start"}, {"type": "text", "text": "Hello.", "state": "done"}],
    });
    let sent = server.requests();
    let first =
        json!({"id": "chat", "trigger": "submit-message", "messages": [user("user-1", "hi")]});
    assert_eq!(sent[0].body, first);
    let messages = json!([user("user-1", "hi"), answer, user("user-2", "and?")]);
    assert_eq!(sent[1].body["messages"], messages);
    let head = sent[0].head.to_lowercase();
    assert!(head.starts_with("post /api/chat "), "{head}");
    assert!(head.contains("x-adk-stream-principal: ann\r\n"), "{head}");
    assert!(head.contains("idempotency-key: t1-0\r\n"), "{head}");
}

#[tokio::test]
async fn everything_that_is_said_is_shown_or_kept_and_sent_back() {
    let metadata = json!({"google": {"thoughtSignature": "abc"}});
    let document = json!({"type": "source-document", "sourceId": "d", "mediaType": "text/plain", "title": "Doc"});
    let unknown = json!({"type": "hologram", "of": "a cat"});
    let said = vec![
        json!({"type": "reasoning-start", "id": "r"}),
        json!({"type": "reasoning-delta", "id": "r", "delta": "Hm."}),
        json!({"type": "reasoning-end", "id": "r", "providerMetadata": metadata}),
        json!({"type": "file", "url": "data:image/png;base64,AA==", "mediaType": "image/png"}),
        json!({"type": "source-url", "sourceId": "s", "url": "https://a.example/", "title": "A"}),
        document.clone(),
        json!({"type": "data-price", "data": {"usd": 3}}),
        json!({"type": "data-load", "id": "l", "data": 1}),
        json!({"type": "data-load", "id": "l", "data": 2}),
        unknown.clone(),
        json!({"type": "message-metadata", "messageMetadata": {"model": "m"}}),
    ];
    let first = message(step(said.into_iter().chain(text("Done."))));
    let server = Server::answering(chunks([first, saying("Again.")])).await;
    let mut chat = behind(&server);
    chat.say("go").await;
    let shown = &chat.messages()[1];
    let parts = shown["parts"].as_array().unwrap().clone();
    let kinds: Vec<_> = parts
        .iter()
        .map(|part| part["type"].as_str().unwrap())
        .collect();
    let expected = [
        "step-start",
        "reasoning",
        "file",
        "source-url",
        "source-document",
        "data-price",
        "text",
        "data-load",
    ];
    assert_eq!(kinds, expected, "{parts:?}");
    assert_eq!(parts[4]["title"], "Doc");
    assert_eq!(parts[7], json!({"type": "data-load", "id": "l", "data": 2}));
    assert_eq!(shown["metadata"]["model"], "m");
    let history = chat.chat.history();
    let kept = history.iter().any(|past| match past {
        turn::agent::HistoryItem::Step { parts, .. } => parts.iter().any(|part| match part {
            Part::Opaque { content } => content["aiSdk"] == unknown,
            _ => false,
        }),
        _ => false,
    });
    assert!(kept, "a chunk of an unknown kind is in the journal");

    chat.say("and?").await;
    let sent = server.last().body["messages"][1].clone();
    let parts = sent["parts"].as_array().unwrap();
    assert_eq!(sent["metadata"], json!({"model": "m"}));
    let reasoning =
        json!({"type": "reasoning", "text": "Hm.", "state": "done", "providerMetadata": metadata});
    assert!(parts.contains(&reasoning), "{parts:?}");
    assert!(parts.contains(&document), "{parts:?}");
}

#[tokio::test]
async fn call_that_the_route_runs_is_shown_with_its_output() {
    let run = call("c1")
        .into_iter()
        .chain([output("c1", json!({"paid": 5}))]);
    let stream = message(step(run).into_iter().chain(step(text("Paid."))));
    let server = Server::answering(chunks([stream])).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    assert_eq!(chat.status(), Status::Finished);
    assert_eq!(server.requests().len(), 1);
    let part = chat.messages()[1]["parts"][1].clone();
    assert_eq!(
        (&part["state"], &part["output"]),
        (&json!("output-available"), &json!({"paid": 5}))
    );
    assert_eq!(chat.messages()[1]["parts"][3]["text"], "Paid.");
    assert_eq!(chat.calls()[0].place, Place::Agent);
}

#[tokio::test]
async fn approval_reaches_the_route_once_as_the_client_sends_it() {
    let mut first = asking("c1");
    let asked = first
        .iter_mut()
        .find(|chunk| chunk["type"] == "tool-approval-request");
    asked.unwrap()["signature"] = json!("signed");
    let paid = results_and(vec![output("c1", json!({"paid": 5}))], "Paid.");
    let server = Server::answering(chunks([first, paid])).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    assert_eq!(chat.status(), Status::Parked);
    let gate = &chat.gates()[0];
    let question = r#"Run pay with {"amount":5}?"#.to_owned();
    assert_eq!(gate.kind, GateKind::Approval { question });
    let reason = Some("I owe it".to_owned());
    chat.answer(Decision::Approved {
        reason,
        input: None,
    })
    .await;
    assert_eq!(chat.status(), Status::Finished);
    let outcome = Outcome::Output {
        output: json!({"paid": 5}),
    };
    assert_eq!(chat.outcomes(), [Some(outcome)]);
    assert_eq!(server.requests().len(), 2);
    let answered = json!({
        "type": "tool-pay",
        "toolCallId": "c1",
        "input": {"amount": 5},
        "state": "approval-responded",
        "approval": {"id": "approval-of-c1", "signature": "signed", "approved": true, "reason": "I owe it"},
    });
    assert_eq!(tool_parts(&server, 1), [answered]);
    assert_eq!(server.last().body["messageId"], "answer-1");
}

#[tokio::test]
async fn denial_reaches_the_route_with_its_reason() {
    let denied_by_route = json!({"type": "tool-output-denied", "toolCallId": "c1"});
    let second = results_and(vec![denied_by_route], "Not paid.");
    let server = Server::answering(chunks([asking("c1"), second, saying("Bye.")])).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    chat.answer(denied("too much")).await;
    assert_eq!(chat.status(), Status::Finished);
    let part = &tool_parts(&server, 1)[0];
    assert_eq!(part["state"], "approval-responded");
    let approval = json!({"id": "approval-of-c1", "approved": false, "reason": "too much"});
    assert_eq!(part["approval"], approval);
    chat.say("bye").await;
    let sent = server.last().body["messages"][1]["parts"][1].clone();
    assert_eq!(
        (&sent["state"], &sent["approval"]),
        (&json!("output-denied"), &approval)
    );
}

#[tokio::test]
async fn answers_to_one_step_are_sent_together() {
    let both = call("c1").into_iter().chain(call("c2"));
    let both = both.chain([request("a1", "c1"), request("a2", "c2")]);
    let results = vec![
        output("c1", json!(1)),
        json!({"type": "tool-output-denied", "toolCallId": "c2"}),
    ];
    let server =
        Server::answering(chunks([message(step(both)), results_and(results, "Done.")])).await;
    let mut chat = behind(&server);
    chat.say("pay twice").await;
    chat.answer(approved()).await;
    assert_eq!(
        (chat.status(), server.requests().len()),
        (Status::Parked, 1)
    );
    chat.answer(denied("no")).await;
    assert_eq!(
        (chat.status(), server.requests().len()),
        (Status::Finished, 2)
    );
    let sent: Vec<_> = tool_parts(&server, 1)
        .iter()
        .map(|part| part["approval"]["approved"].clone())
        .collect();
    assert_eq!(sent, [json!(true), json!(false)]);
}

#[tokio::test]
async fn call_without_an_output_is_run_by_the_page() {
    let first = message(step(call_of("c1", "locate", json!({}))));
    let server = Server::answering(chunks([first, saying("In Oslo.")])).await;
    let mut chat = behind(&server);
    chat.say("where?").await;
    assert_eq!(chat.status(), Status::Parked);
    assert_eq!(
        (&chat.gates()[0].kind, chat.calls()[0].place),
        (&GateKind::ClientCall, Place::Client)
    );
    chat.answer(Decision::Output {
        output: json!("Oslo"),
    })
    .await;
    assert_eq!(chat.status(), Status::Finished);
    let part = &tool_parts(&server, 1)[0];
    assert_eq!(
        (&part["state"], &part["output"]),
        (&json!("output-available"), &json!("Oslo"))
    );
    assert_eq!(part.get("approval"), None);
}

#[tokio::test]
async fn page_waits_with_its_call_until_the_person_beside_has_answered() {
    let both = call_of("c1", "locate", json!({}));
    let both = both
        .into_iter()
        .chain(call("c2"))
        .chain([request("a2", "c2")]);
    let server = Server::answering(chunks([
        message(step(both)),
        results_and(vec![output("c2", json!(1))], "Done."),
    ]))
    .await;
    let mut chat = behind(&server);
    chat.say("pay, and where?").await;
    let kinds: Vec<_> = chat.gates().iter().map(|gate| gate.is_question()).collect();
    assert_eq!(kinds, [true, false], "the question comes first");
    chat.answer(approved()).await;
    assert_eq!(
        (chat.status(), server.requests().len()),
        (Status::Parked, 1)
    );
    let output = json!("Oslo");
    chat.answer(Decision::Output { output }).await;
    assert_eq!(chat.status(), Status::Finished);
    let states: Vec<_> = tool_parts(&server, 1)
        .iter()
        .map(|part| part["state"].clone())
        .collect();
    assert_eq!(
        states,
        [json!("output-available"), json!("approval-responded")]
    );
}

#[tokio::test]
async fn client_tool_that_asks_is_run_by_the_page_once_it_may() {
    let server = Server::answering(chunks([asking("c1"), saying("Done.")])).await;
    let config = Config {
        client_tools: Some(vec!["pay".to_owned()]),
        ..Config::new(&server.url)
    };
    let mut chat = Behind::new(AiSdk::new(config).unwrap());
    chat.say("pay").await;
    assert!(matches!(chat.gates()[0].kind, GateKind::Approval { .. }));
    chat.answer(approved()).await;
    assert_eq!(chat.gates()[0].kind, GateKind::ClientCall);
    assert_eq!(server.requests().len(), 1);
    chat.answer(Decision::Output {
        output: json!("done"),
    })
    .await;
    let part = &tool_parts(&server, 1)[0];
    assert_eq!(
        part["approval"],
        json!({"id": "approval-of-c1", "approved": true})
    );
    assert_eq!(
        (&part["state"], &part["output"]),
        (&json!("output-available"), &json!("done"))
    );
    assert_eq!(chat.status(), Status::Finished);
}

#[tokio::test]
async fn data_of_one_id_is_one_part_over_steps() {
    let load = |done: u8| json!({"type": "data-load", "id": "l", "data": done});
    let steps = step(text("One.").into_iter().chain([load(1)]));
    let steps = steps.into_iter().chain(step([load(2)]));
    let server = Server::answering(chunks([message(steps), saying("Again.")])).await;
    let mut chat = behind(&server);
    chat.say("go").await;
    let loads = |message: &Value| -> Vec<Value> {
        let parts = message["parts"].as_array().unwrap().iter();
        let loads = parts.filter(|part| part["type"] == "data-load");
        loads.cloned().collect()
    };
    assert_eq!(loads(&chat.messages()[1]), [load(2)]);
    chat.say("and?").await;
    assert_eq!(loads(&server.last().body["messages"][1]), [load(2)]);
}

#[tokio::test]
async fn what_a_call_shows_before_its_end_is_preliminary() {
    let shown = |words: &str| json!({"type": "tool-output-available", "toolCallId": "c1", "output": words, "preliminary": true});
    let mut begun: Vec<_> = message(step(call("c1"))).into_iter().take(5).collect();
    begun.extend([shown("first"), shown("second")]);
    // What shows something runs at the route, whether the tools of pages are known or not.
    for client_tools in [None, Some(Vec::new())] {
        let server = Server::answering([Answer::Hold(begun.clone())]).await;
        let config = Config {
            client_tools,
            ..Config::new(&server.url)
        };
        let mut chat = Behind::new(AiSdk::new(config).unwrap());
        chat.begin("pay");
        let mut stream = chat.stream();
        let part = |chat: &Behind| chat.messages()[1]["parts"][1].clone();
        while part(&chat)["output"] != "second" {
            let event = next(&mut stream).await.unwrap();
            chat.push(event);
        }
        let part = part(&chat);
        assert_eq!(part["state"], "output-available");
        assert_eq!(part["preliminary"], true);
        assert_eq!(part["providerExecuted"], true);
        assert_eq!(chat.outcomes(), [None]);
    }
}

#[tokio::test]
async fn what_a_call_shows_is_gone_with_its_output() {
    let shown = json!({"type": "tool-output-available", "toolCallId": "c1", "output": 1, "preliminary": true});
    let run = call("c1")
        .into_iter()
        .chain([shown, output("c1", json!({"paid": 5}))]);
    let stream = message(step(run).into_iter().chain(step(text("Paid."))));
    let server = Server::answering(chunks([stream])).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    assert_eq!(chat.status(), Status::Finished);
    let part = chat.messages()[1]["parts"][1].clone();
    assert_eq!(part["output"], json!({"paid": 5}));
    assert_eq!(part.get("preliminary"), None);
}

#[tokio::test]
async fn call_that_no_page_runs_is_shown_while_it_runs() {
    let begun: Vec<_> = message(step(call("c1"))).into_iter().take(5).collect();
    let server = Server::answering([Answer::Hold(begun)]).await;
    let config = Config {
        client_tools: Some(Vec::new()),
        ..Config::new(&server.url)
    };
    let mut chat = Behind::new(AiSdk::new(config).unwrap());
    chat.begin("pay");
    let mut stream = chat.stream();
    while chat.calls().is_empty() {
        let event = next(&mut stream).await.unwrap();
        chat.push(event);
    }
    assert_eq!(chat.status(), Status::Running);
    assert_eq!(chat.messages()[1]["parts"][1]["state"], "input-available");
    assert_eq!(chat.gates(), []);
}

#[tokio::test]
async fn run_that_ends_with_its_results_ends_the_turn() {
    let run = call("c1").into_iter().chain([output("c1", json!(1))]);
    let server = Server::answering(chunks([message(step(run))])).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    assert_eq!(
        (chat.status(), server.requests().len()),
        (Status::Finished, 1)
    );
}

#[tokio::test]
async fn headers_and_what_the_route_says_keep_no_secret() {
    let error = json!({"type": "error", "errorText": "bad token s3cret-token"});
    let server = Server::answering(chunks([vec![json!({"type": "start"}), error]])).await;
    let headers = vec![("authorization".to_owned(), "s3cret-token".to_owned())];
    let config = Config {
        headers,
        ..Config::new(&server.url)
    };
    assert!(!format!("{config:?}").contains("s3cret"));
    let mut chat = Behind::new(AiSdk::new(config).unwrap());
    chat.say("hi").await;
    let (code, said) = chat.failure();
    assert_eq!(
        (code.as_str(), said.as_str()),
        ("agent_failed", "The agent failed: bad token …")
    );
    assert!(server.last().head.contains("authorization: s3cret-token"));
}
