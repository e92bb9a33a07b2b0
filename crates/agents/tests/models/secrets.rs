//! Keys and headers are sent, and are nowhere else.

use adk_stream_agents::openai::Api;
use adk_stream_agents::{Anthropic, OpenAi};
use serde_json::json;

use crate::model::{ALL, Spoken, anthropic, openai, stream};
use crate::scripted::{Dialogue, KEY, failure};
use crate::server::{Answer, Server};

const HEADER: &str = "h3ader-that-nobody-may-see";

#[tokio::test]
async fn no_failure_and_no_debug_print_holds_a_key_or_a_header() {
    for spoken in ALL {
        let echo = json!({"type": "error", "error": {
            "type": "invalid_request_error", "code": KEY, "message": format!("The key {KEY}\nand {HEADER} are odd"),
        }});
        let answers = [
            Answer::Status(400, "content-type: application/json", echo.to_string()),
            Answer::Status(404, "content-type: application/json", echo.to_string()),
            stream(&[echo]),
            Answer::Status(200, "content-type: k3y-that-nobody-may-see", String::new()),
        ];
        for answer in answers {
            let server = Server::answering([answer]).await;
            let headers = vec![("x-team".to_owned(), HEADER.to_owned())];
            let (mut dialogue, printed) = match spoken {
                Spoken::Anthropic => {
                    let mut config = anthropic(&server);
                    config.headers = headers;
                    let agent = Anthropic::new(config.clone()).unwrap();
                    let printed = format!("{config:?} {agent:?}");
                    (Dialogue::new(agent), printed)
                }
                _ => {
                    let api = match spoken {
                        Spoken::Chat => Api::ChatCompletions,
                        _ => Api::Responses,
                    };
                    let mut config = openai(&server, api);
                    config.headers = headers;
                    let agent = OpenAi::new(config.clone()).unwrap();
                    let printed = format!("{config:?} {agent:?}");
                    (Dialogue::new(agent), printed)
                }
            };
            dialogue.say("hi");
            let events = dialogue.step().await;
            failure(&events);
            let request = server.last();
            assert_eq!(request.head.matches(KEY).count(), 1);
            assert!(request.head.contains(HEADER));
            let shown = format!("{printed} {events:?} {} {}", dialogue.shown(), request.body);
            assert!(!shown.contains(KEY) && !shown.contains(HEADER), "{shown}");
        }
    }
}
