//! The key is in one header, and nowhere else.

use std::io;
use std::sync::{Arc, Mutex};

use adk_stream_agents::gemini::Gemini;
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use crate::dialogue::{Dialogue, KEY, config, failure, last};
use crate::server::{Answer, Server};

/// Everything that is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Log;

    fn make_writer(&'a self) -> Log {
        self.clone()
    }
}

#[tokio::test]
async fn the_key_is_sent_in_one_header_and_nowhere_else() {
    let server = Server::saying(vec![last(json!([{"text": "Hello."}]))]).await;
    let mut dialogue = Dialogue::of(&server, "hi");
    dialogue.step().await;
    let request = server.last();
    assert_eq!(request.head.matches(KEY).count(), 1);
    assert!(request.head.contains(&format!("x-goog-api-key: {KEY}\r\n")));
    assert!(!request.body.to_string().contains(KEY));
    assert!(!dialogue.shown().contains(KEY));
}

#[tokio::test]
async fn no_failure_no_log_and_no_debug_print_holds_the_key() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let echo = json!({"error": {
        "code": 400, "status": KEY, "message": format!("The key {KEY}\nis odd, or the URL http://h/?key={KEY}"),
    }});
    let answers = [
        Answer::Status(400, "content-type: application/json", echo.to_string()),
        Answer::Status(503, "content-type: application/json", echo.to_string()),
        Answer::HangUp,
        Answer::Chunks(vec![echo]),
        Answer::Status(200, "content-type: k3y-that-nobody-may-see", String::new()),
        Answer::Status(302, "location: http://127.0.0.1:1/", String::new()),
    ];
    for answer in answers {
        let server = Server::answering([answer]).await;
        let mut settings = config(&server);
        settings.retries.limit = 0;
        let printed = format!(
            "{settings:?} {settings:#?} {:?}",
            Gemini::new(settings.clone())
        );
        assert!(!printed.contains(KEY), "{printed}");
        let mut dialogue = Dialogue::with(settings);
        dialogue.say("hi");
        let events = dialogue.step().await;
        failure(&events);
        let shown = format!("{events:?} {}", dialogue.shown());
        assert!(!shown.contains(KEY), "{shown}");
    }
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(
        logged.contains("is odd"),
        "what Google said is logged: {logged}"
    );
    assert!(!logged.contains(KEY), "{logged}");
}
