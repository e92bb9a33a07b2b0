//! Failures and how they are reported: the same by every API.

use std::time::Duration;

use serde_json::{Value, json};
use turn::agent::AgentEvent;
use turn::call::Outcome;
use turn::event::Finish;

use crate::model::{ALL, Spoken, metadata, stream, text};
use crate::scripted::failure;
use crate::server::{Answer, Server};

fn refusal(http: u16, header: &'static str, error: Value) -> Answer {
    Answer::Status(http, header, json!({"error": error}).to_string())
}

const JSON: &str = "content-type: application/json";

async fn step(
    spoken: Spoken,
    answers: impl IntoIterator<Item = Answer>,
) -> (Vec<AgentEvent>, usize) {
    let server = Server::answering(answers).await;
    let events = spoken.dialogue(&server, "hi").step().await;
    (events, server.requests().len())
}

#[tokio::test]
async fn what_may_pass_is_asked_again() {
    for spoken in ALL {
        for first in [429, 500, 502, 503, 504, 529] {
            let again = |_| refusal(first, JSON, json!({"message": "Later."}));
            let answers = (0..3).map(again).chain([spoken.saying("Hello.")]);
            let (events, requests) = step(spoken, answers).await;
            assert_eq!((text(&events).as_str(), requests), ("Hello.", 4), "{first}");
            assert_eq!(events.last(), Some(&AgentEvent::Ended(Finish::Stop)));
        }
    }
}

#[tokio::test]
async fn refusals_have_their_codes() {
    for spoken in ALL {
        for (http, error, code) in [
            (
                400,
                json!({"code": "context_length_exceeded", "message": "Too long."}),
                "agent_bad_request",
            ),
            (
                400,
                json!({"code": "content_filter", "message": "No."}),
                "agent_blocked",
            ),
            (
                401,
                json!({"type": "authentication_error"}),
                "agent_unauthorized",
            ),
            (
                403,
                json!({"type": "permission_error"}),
                "agent_unauthorized",
            ),
            (404, json!({"type": "not_found_error"}), "agent_not_found"),
            (
                413,
                json!({"type": "request_too_large"}),
                "agent_bad_request",
            ),
            (422, json!({"message": "What?"}), "agent_bad_request"),
            (501, json!({}), "agent_unavailable"),
        ] {
            let (events, requests) =
                step(spoken, [refusal(http, JSON, error), spoken.saying("no")]).await;
            assert_eq!(
                (failure(&events).0, requests),
                (code, 1),
                "{spoken:?} {http}"
            );
        }
        let (events, _) = step(
            spoken,
            [refusal(400, JSON, json!({"message": "Too long."}))],
        )
        .await;
        assert_eq!(failure(&events).1, "The model can't answer this: Too long.");
    }
}

#[tokio::test]
async fn rate_limit_without_a_time_is_tried_and_then_reported() {
    for spoken in ALL {
        let limit = |_| refusal(429, JSON, json!({"type": "rate_limit_error"}));
        let (events, requests) = step(spoken, (0..5).map(limit)).await;
        let (code, message, retry) = failure(&events);
        assert_eq!((code, retry, requests), ("rate_limited", None, 4));
        assert_eq!(
            message,
            "The model gets too many requests. Try again later."
        );
    }
}

#[tokio::test]
async fn rate_limit_with_a_long_time_is_reported_at_once() {
    for spoken in ALL {
        for (header, wait) in [
            ("retry-after: 77", 77_000),
            ("retry-after-ms: 76500", 76_500),
        ] {
            let limit = refusal(429, header, json!({"type": "rate_limit_error"}));
            let (events, requests) = step(spoken, [limit, spoken.saying("no")]).await;
            let (code, message, retry) = failure(&events);
            assert_eq!((code, retry, requests), ("rate_limited", Some(wait), 1));
            assert_eq!(
                message,
                "The model gets too many requests. Try again in 77 seconds."
            );
        }
    }
}

#[tokio::test]
async fn rate_limit_with_a_short_time_is_waited_for() {
    for spoken in ALL {
        let before = std::time::Instant::now();
        let limit = refusal(429, "retry-after-ms: 120", json!({}));
        let (events, requests) = step(spoken, [limit, spoken.saying("Hello.")]).await;
        assert_eq!((text(&events).as_str(), requests), ("Hello.", 2));
        assert!(before.elapsed() >= Duration::from_millis(120));
    }
}

#[tokio::test]
async fn quota_that_is_used_up_is_not_waited_for() {
    let limit = refusal(429, JSON, json!({"code": "insufficient_quota"}));
    let (events, requests) = step(Spoken::Chat, [limit, Spoken::Chat.saying("no")]).await;
    assert_eq!((failure(&events).0, requests), ("rate_limited", 1));
}

#[tokio::test]
async fn error_in_the_middle_is_the_failure_that_it_names() {
    for spoken in ALL {
        for (error, code) in [
            (
                json!({"type": "overloaded_error", "message": "Overloaded"}),
                "agent_unavailable",
            ),
            (json!({"type": "rate_limit_error"}), "rate_limited"),
            (json!({"code": "rate_limit_exceeded"}), "rate_limited"),
            (
                json!({"code": "context_length_exceeded"}),
                "agent_bad_request",
            ),
            (json!({"code": 503, "message": "Gone"}), "agent_unavailable"),
        ] {
            let mut events = spoken.half("Half");
            events.push(match spoken {
                Spoken::Chat => json!({"error": error}),
                Spoken::Responses => {
                    json!({"type": "response.failed", "response": {"error": error}})
                }
                Spoken::Anthropic => json!({"type": "error", "error": error}),
            });
            let (events, requests) = step(spoken, [stream(&events), spoken.saying("no")]).await;
            assert_eq!(text(&events), "Half");
            assert_eq!(
                (failure(&events).0, requests),
                (code, 1),
                "{spoken:?} {error}"
            );
        }
    }
}

#[tokio::test]
async fn bare_errors_in_the_middle_are_understood() {
    let chat = json!({"object": "error", "message": "too long", "code": 400});
    let (events, _) = step(Spoken::Chat, [stream(&[chat])]).await;
    assert_eq!(failure(&events).0, "agent_bad_request");
    let responses =
        json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": null});
    let (events, _) = step(Spoken::Responses, [stream(&[responses])]).await;
    assert_eq!(failure(&events).0, "rate_limited");
}

#[tokio::test]
async fn stream_that_is_cut_is_a_failure_that_keeps_what_was_said() {
    for spoken in ALL {
        let half = spoken.half("Half");
        let (events, requests) = step(spoken, [stream(&half), spoken.saying("no")]).await;
        assert_eq!((text(&events).as_str(), requests), ("Half", 1));
        let (code, message, _) = failure(&events);
        assert_eq!(code, "agent_cut_off");
        assert_eq!(message, "The model's answer ended in the middle.");
        let Answer::Body(mut torn) = spoken.saying("Half") else {
            unreachable!("answers are bodies");
        };
        torn.truncate(torn.len() / 2);
        let (events, _) = step(spoken, [Answer::Body(torn)]).await;
        assert_eq!(failure(&events).0, "agent_cut_off", "{spoken:?}");
    }
}

#[tokio::test]
async fn calls_of_a_stream_that_is_cut_are_not_made() {
    for spoken in ALL {
        let mut events = spoken.calls(&[("a", "pay", "{\"x\": 1}")]);
        let ending = spoken.end(None).len();
        events.truncate(events.len() - ending);
        let server = Server::answering([stream(&events)]).await;
        let mut dialogue = spoken.dialogue(&server, "hi");
        let events = dialogue.step().await;
        assert_eq!(failure(&events).0, "agent_cut_off", "{spoken:?}");
        assert!(dialogue.calls().is_empty(), "{spoken:?}");
    }
}

#[tokio::test]
async fn empty_answer_is_a_failure_unless_tools_have_run() {
    for spoken in ALL {
        let nothing = || stream(&spoken.end(None));
        let (events, _) = step(spoken, [nothing()]).await;
        let (code, message, _) = failure(&events);
        assert_eq!(code, "agent_empty_response", "{spoken:?}");
        assert_eq!(message, "The model ended without an answer.");

        let call = spoken.calling(&[("a", "pay", "{}")]);
        let server = Server::answering([call, nothing()]).await;
        let mut dialogue = spoken.dialogue(&server, "hi");
        dialogue.step().await;
        dialogue.settle_all();
        let events = dialogue.step().await;
        assert_eq!(
            events.last(),
            Some(&AgentEvent::Ended(Finish::Stop)),
            "{spoken:?}"
        );
    }
    let only_done = Answer::Body(b"data: {\"choices\": []}\n\ndata: [DONE]\n\n".to_vec());
    let (events, _) = step(Spoken::Chat, [only_done]).await;
    assert_eq!(failure(&events).0, "agent_empty_response");
}

#[tokio::test]
async fn reasons_to_stop_are_reported() {
    for (spoken, reason, finish) in [
        (Spoken::Chat, Some("length"), Finish::Length),
        (Spoken::Chat, Some("content_filter"), Finish::ContentFilter),
        (Spoken::Chat, Some("something new"), Finish::Other),
        (Spoken::Responses, Some("max_output_tokens"), Finish::Length),
        (
            Spoken::Responses,
            Some("content_filter"),
            Finish::ContentFilter,
        ),
        (Spoken::Anthropic, Some("max_tokens"), Finish::Length),
        (Spoken::Anthropic, Some("refusal"), Finish::ContentFilter),
        (Spoken::Anthropic, Some("pause_turn"), Finish::Other),
        (Spoken::Anthropic, Some("stop_sequence"), Finish::Stop),
    ] {
        let (events, _) = step(spoken, [spoken.ended("Well,", reason)]).await;
        assert_eq!(
            events.last(),
            Some(&AgentEvent::Ended(finish)),
            "{spoken:?} {reason:?}"
        );
        assert_eq!(
            metadata(&events)["finishReason"],
            json!(reason),
            "{spoken:?}"
        );
    }
}

#[tokio::test]
async fn answer_that_a_filter_blocks_whole_is_a_failure() {
    for (spoken, reason) in [
        (Spoken::Chat, "content_filter"),
        (Spoken::Responses, "content_filter"),
        (Spoken::Anthropic, "refusal"),
    ] {
        let (events, _) = step(spoken, [stream(&spoken.end(Some(reason)))]).await;
        assert_eq!(failure(&events).0, "agent_blocked", "{spoken:?}");
    }
}

#[tokio::test]
async fn tokens_and_model_are_reported() {
    for spoken in ALL {
        let (events, _) = step(spoken, [spoken.saying("Hello.")]).await;
        let metadata = metadata(&events);
        assert_eq!(metadata["modelVersion"], "m-1-001");
        assert_eq!(metadata.get("finishReason"), None);
        let usage = &metadata["usage"];
        assert_eq!(usage["promptTokens"], 7);
        assert_eq!(usage["completionTokens"], 5);
        assert_eq!(usage["totalTokens"], 12);
        if spoken != Spoken::Anthropic {
            assert_eq!(usage["reasoningTokens"], 2);
            assert_eq!(usage["cachedTokens"], 3);
        }
    }
}

#[tokio::test]
async fn what_is_not_the_api_can_not_be_read() {
    for spoken in ALL {
        for answer in [
            Answer::Body(b"data: {\"half\":\n\n".to_vec()),
            Answer::Body(b"data: [1]\n\n".to_vec()),
            Answer::Status(200, "content-type: text/html", "<p>Log in</p>".to_owned()),
            Answer::Status(302, "location: http://127.0.0.1:1/elsewhere", String::new()),
        ] {
            let (events, requests) = step(spoken, [answer, spoken.saying("no")]).await;
            let (code, message, _) = failure(&events);
            assert_eq!(
                (code, requests),
                ("agent_invalid_response", 1),
                "{spoken:?} {message}"
            );
        }
    }
}

#[tokio::test]
async fn silence_has_an_end() {
    for spoken in ALL {
        for answer in [Answer::Silence, Answer::Hold(spoken.half("Half"))] {
            let mut server = Server::answering([answer]).await;
            let mut dialogue = spoken.dialogue_with(&server, "hi", |_, timeouts| {
                timeouts.first_byte = Duration::from_millis(150);
                timeouts.idle = Duration::from_millis(150);
            });
            assert_eq!(failure(&dialogue.step().await).0, "agent_timed_out");
            server.client_gone().await;
        }
    }
}

#[tokio::test]
async fn connection_that_ends_before_the_first_byte_is_made_again() {
    for spoken in ALL {
        let (events, requests) = step(spoken, [Answer::HangUp, spoken.saying("Hello.")]).await;
        assert_eq!((text(&events).as_str(), requests), ("Hello.", 2));
    }
}

#[tokio::test]
async fn broken_arguments_are_a_call_that_is_reported_to_the_model() {
    for spoken in ALL {
        let call = spoken.calling(&[("a", "pay", "{\"amount\": 12,")]);
        let server = Server::answering([call, spoken.saying("Sorry.")]).await;
        let mut dialogue = spoken.dialogue(&server, "hi");
        let events = dialogue.step().await;
        assert_eq!(
            events.last(),
            Some(&AgentEvent::Ended(Finish::Stop)),
            "{spoken:?}"
        );
        let calls = dialogue.calls();
        assert_eq!(calls[0].input, json!("{\"amount\": 12,"), "{spoken:?}");
        let error = "the input is not an object".to_owned();
        dialogue.settle(&calls[0].id, Outcome::Invalid { error });
        dialogue.step().await;
        let (calls, results) = spoken.calls_in(&server.last().body);
        // A server that reads them must be able to.
        let arguments: Value = serde_json::from_str(&calls[0][2]).unwrap();
        assert_eq!(arguments, json!({"invalid_arguments": "{\"amount\": 12,"}));
        let sent = &results[0][1];
        assert!(
            sent.contains("the arguments are not valid JSON: EOF"),
            "{sent}"
        );
    }
}

#[tokio::test]
async fn calls_with_the_same_id_or_none_get_ids_of_their_own() {
    for spoken in ALL {
        let calls = [
            ("a", "pay", "{\"n\":1}"),
            ("a", "pay", "{\"n\":2}"),
            ("", "pay", "{\"n\":3}"),
        ];
        let server = Server::answering([spoken.calling(&calls), spoken.saying("Done.")]).await;
        let mut dialogue = spoken.dialogue(&server, "hi");
        dialogue.step().await;
        assert_eq!(dialogue.calls().len(), 3, "{spoken:?}");
        dialogue.settle_all();
        dialogue.restart();
        dialogue.step().await;
        let (calls, results) = spoken.calls_in(&server.last().body);
        assert_eq!(calls.len(), 3);
        for (number, [id, _, arguments]) in calls.iter().enumerate() {
            assert!(!id.is_empty());
            assert_eq!(calls.iter().filter(|[other, ..]| other == id).count(), 1);
            assert!(arguments.contains(&format!("{}", number + 1)));
            let (_, result) = results
                .iter()
                .map(|[id, text]| (id, text))
                .find(|(of, _)| *of == id)
                .unwrap();
            assert!(result.contains(&format!("\"number\":{number}")), "{result}");
        }
        assert_eq!(calls[0][0], "a");
    }
}

#[tokio::test]
async fn calls_that_the_token_limit_cut_are_not_made() {
    for (spoken, reason) in [
        (Spoken::Chat, "length"),
        (Spoken::Responses, "max_output_tokens"),
        (Spoken::Anthropic, "max_tokens"),
    ] {
        let mut events = spoken.half("I pay. ");
        let mut calls = spoken.calls(&[("a", "pay", "{\"amount\": 1")]);
        let ending = spoken.end(None).len();
        calls.truncate(calls.len() - ending);
        if spoken == Spoken::Responses {
            calls[0]["item"]["status"] = json!("incomplete");
        }
        events.extend(calls);
        events.extend(spoken.end(Some(reason)));
        let server = Server::answering([stream(&events)]).await;
        let mut dialogue = spoken.dialogue(&server, "hi");
        let events = dialogue.step().await;
        assert_eq!(
            events.last(),
            Some(&AgentEvent::Ended(Finish::Length)),
            "{spoken:?}"
        );
        assert!(dialogue.calls().is_empty(), "{spoken:?}");
    }
}
