//! HTTP tools against a real socket: what is sent, what an answer means, and what is said where there
//! is none.

// Clippy knows a test by its attribute, and takes what tests share for product code.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod server;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use adk_stream_tools::http::fetch::text_blocking;
use adk_stream_tools::http::{
    HttpTool, Limits, Lookup, Named, Network, Redirects, Repeat, Request,
};
use adk_stream_tools::http::{Secret, Template};
use adk_stream_tools::tool::Returned;
use adk_stream_tools::work::{Work, WorkSender};
use adk_stream_tools::{AnyTool, Context, Fence, ToolError, Tools};
use serde_json::{Value, json};
use turn::call::{Outcome, UnknownReason};
use turn::turn::Recorded;

use self::server::Reaction::{Answer, Cut, CutInside, Hang};
use self::server::{Reaction, TestServer};

const UNKNOWN: Outcome = Outcome::Unknown {
    reason: UnknownReason::AnswerLost,
};

fn network() -> Network {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Network::new(tls)
}

fn ok(body: &str) -> Reaction {
    Answer(200, "content-type: application/json\r\n", body.to_owned())
}

/// A refund at a server, which is posted.
fn refund(server: &TestServer, repeat: Repeat) -> HttpTool {
    let url = format!("http://{}/orders/{{order}}/refunds", server.address);
    HttpTool {
        name: "refund".to_owned(),
        description: "Refunds".to_owned(),
        input: json!({
            "type": "object",
            "properties": {"order": {"type": "string"}, "amount": {"type": "number"}},
            "required": ["order"]
        }),
        request: Request::new("POST", &url, Named::ByOperator).unwrap(),
        repeat,
        lookup: None,
        on_takeover: None,
        limits: Limits {
            pause: Duration::from_millis(1),
            timeout: Duration::from_secs(30),
            ..Limits::default()
        },
        redirects: Redirects::None,
    }
}

fn keyed() -> Repeat {
    Repeat::Keyed("Idempotency-Key".to_owned())
}

/// Runs a call of a tool, and gives what came of it with what it recorded.
async fn run_again(
    tool: HttpTool,
    network: &Network,
    records: Vec<(String, Value)>,
) -> (Outcome, Vec<(String, Value)>) {
    let tool: AnyTool = tool.into_tool(network).unwrap().into();
    let (sender, mut receiver) = WorkSender::new(8);
    let recorded = Recorded {
        records,
        ..Recorded::default()
    };
    let context = Context::new(
        "chat-1".into(),
        1,
        "call-1".into(),
        "ann".into(),
        Tools::new(),
        sender,
        recorded,
    );
    let journal = tokio::spawn(async move {
        let mut written = Vec::new();
        while let Some(work) = receiver.recv().await {
            if let Work::Record {
                name, value, done, ..
            } = *work
            {
                written.push((name, value));
                done.send(()).unwrap();
            }
        }
        written
    });
    let run = tool.function().unwrap();
    let input = json!({"order": "A/1", "amount": 5});
    let Returned::Done(outcome) = run(context, input).await else {
        panic!("it goes on");
    };
    drop(run);
    (outcome, journal.await.unwrap())
}

async fn run(tool: HttpTool) -> Outcome {
    run_again(tool, &network(), Vec::new()).await.0
}

fn output(value: Value) -> Outcome {
    Outcome::Output { output: value }
}

fn error(outcome: Outcome) -> String {
    match outcome {
        Outcome::Error { error } => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn request_is_made_from_the_input_and_its_answer_is_the_output() {
    let server = TestServer::start([ok(r#"{"refund": "r1"}"#)]).await;
    let mut tool = refund(&server, keyed());
    let secret = Template::literal("Bearer ").with_secret(Secret::new("s3cret-token"));
    tool.request = tool.request.with_header("Authorization", secret).unwrap();
    assert_eq!(run(tool).await, output(json!({"refund": "r1"})));
    let seen = &server.seen()[0];
    assert!(
        seen.head
            .starts_with("POST /orders/A%2F1/refunds HTTP/1.1\r\n"),
        "{}",
        seen.head
    );
    assert_eq!(seen.header("authorization"), Some("Bearer s3cret-token"));
    assert_eq!(seen.header("idempotency-key"), Some("call-1"));
    assert_eq!(seen.header("adk-stream-fence"), Some("chat-1:0"));
    assert_eq!(seen.body, r#"{"amount":5}"#);
}

/// Tells the server of a takeover, and gives what came of it.
async fn take_over(server: &TestServer) -> Result<(), ToolError> {
    let mut tool = refund(server, Repeat::Never);
    let url = format!("http://{}/fences", server.address);
    let request = Request::new("POST", &url, Named::ByOperator).unwrap();
    let secret = Template::default().with_secret(Secret::new("s3cret-token"));
    tool.on_takeover = Some(request.with_header("X-Api-Key", secret).unwrap());
    let tool: AnyTool = tool.into_tool(&network()).unwrap().into();
    let fence = Fence {
        scope: "chat-1".to_owned(),
        epoch: 3,
    };
    tool.taken_over().unwrap()(fence).await
}

#[tokio::test]
async fn server_gets_the_epoch_of_a_takeover() {
    let server = TestServer::start([Cut, ok("{}")]).await;
    assert!(take_over(&server).await.is_ok());
    let all = server.seen();
    // The first request may not have arrived.
    assert_eq!(all.len(), 2);
    for seen in all {
        assert!(seen.head.starts_with("POST /fences HTTP/1.1\r\n"));
        assert_eq!(seen.header("adk-stream-fence"), Some("chat-1:3"));
        assert_eq!(seen.header("x-api-key"), Some("s3cret-token"));
        assert_eq!(seen.body, "");
    }
    let text = "content-type: text/plain\r\n";
    let refused = TestServer::start([Answer(403, text, "not you".to_owned())]).await;
    let error = take_over(&refused).await.unwrap_err().to_string();
    assert_eq!(error, "The server answered 403 Forbidden: not you");
    assert_eq!(refused.seen().len(), 1);
    let tool: AnyTool = refund(&refused, Repeat::Never)
        .into_tool(&network())
        .unwrap()
        .into();
    assert!(tool.taken_over().is_none());
}

#[tokio::test]
async fn answers_become_outputs_and_errors_that_a_model_reads() {
    let text = "content-type: text/plain\r\n";
    for (reaction, expected) in [
        (Answer(200, text, "fine".to_owned()), json!("fine")),
        (Answer(204, "", String::new()), json!({"status": 204})),
        (
            Answer(200, text, "{\"a\":1}".to_owned()),
            json!("{\"a\":1}"),
        ),
    ] {
        let server = TestServer::start([reaction]).await;
        assert_eq!(run(refund(&server, Repeat::Never)).await, output(expected));
    }
    let reaction = Answer(404, text, "no such order".to_owned());
    let server = TestServer::start([reaction]).await;
    let message = error(run(refund(&server, Repeat::Never)).await);
    assert_eq!(message, "The server answered 404 Not Found: no such order");
}

#[tokio::test]
async fn answer_that_repeats_a_secret_is_shown_without_it() {
    for status in [200, 400] {
        let body = "you sent s3cret-token".to_owned();
        let server =
            TestServer::start([Answer(status, "content-type: text/plain\r\n", body)]).await;
        let mut tool = refund(&server, Repeat::Never);
        let secret = Template::default().with_secret(Secret::new("s3cret-token"));
        tool.request = tool.request.with_header("X-Api-Key", secret).unwrap();
        let message = format!("{:?}", run(tool).await);
        assert!(
            message.contains("you sent …") && !message.contains("s3cret"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn large_answer_is_cut_and_said_to_be() {
    let server = TestServer::start([ok(&format!("[{}1]", "1,".repeat(5000)))]).await;
    let mut tool = refund(&server, Repeat::Never);
    tool.limits.response_bytes = 10;
    let expected = json!({"truncated": true, "text": "[1,1,1,1,1"});
    assert_eq!(run(tool).await, output(expected));
}

#[tokio::test]
async fn lost_answer_is_unknown_and_the_request_is_not_repeated() {
    for reaction in [
        Cut,
        CutInside,
        Answer(500, "", "oops".to_owned()),
        Answer(503, "", String::new()),
    ] {
        let server = TestServer::start([reaction.clone(), ok("{}")]).await;
        assert_eq!(
            run(refund(&server, Repeat::Never)).await,
            UNKNOWN,
            "{reaction:?}"
        );
        assert_eq!(server.seen().len(), 1, "{reaction:?}");
    }
    let server = TestServer::start([Hang]).await;
    let mut tool = refund(&server, Repeat::Never);
    tool.limits.timeout = Duration::from_millis(300);
    assert_eq!(run(tool).await, UNKNOWN);
}

#[tokio::test]
async fn keyed_request_is_repeated_under_the_same_key() {
    let reactions = [
        Cut,
        Answer(500, "", String::new()),
        Answer(409, "", String::new()),
        ok("{}"),
    ];
    let server = TestServer::start(reactions).await;
    assert_eq!(run(refund(&server, keyed())).await, output(json!({})));
    let keys: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| seen.header("idempotency-key").unwrap().to_owned())
        .collect();
    assert_eq!(keys, ["call-1"; 4]);
    // Not for ever; and then nobody knows.
    let server = TestServer::start([Cut]).await;
    assert_eq!(run(refund(&server, keyed())).await, UNKNOWN);
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn request_that_changes_nothing_fails_rather_than_being_unknown() {
    let server = TestServer::start([Answer(500, "", "oops".to_owned())]).await;
    let mut tool = refund(&server, Repeat::Safe);
    let url = format!(
        "http://{}/orders/{{order}}?amount={{amount}}",
        server.address
    );
    tool.request = Request::new("GET", &url, Named::ByOperator).unwrap();
    let message = error(run(tool).await);
    assert!(
        message.contains("500 Internal Server Error: oops"),
        "{message}"
    );
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn nothing_that_was_not_sent_is_unknown() {
    let server = TestServer::start([ok("{}")]).await;
    let mut tool = refund(&server, Repeat::Never);
    // Bound and never accepted from would hang; a port that was just given back refuses.
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/orders/{{order}}", gone.local_addr().unwrap());
    drop(gone);
    tool.request = Request::new("POST", &url, Named::ByOperator).unwrap();
    assert_eq!(error(run(tool).await), "The server can't be reached.");
}

#[tokio::test]
async fn call_that_ran_before_a_crash_is_never_said_to_have_failed_unsent() {
    let server = TestServer::start([ok("{}")]).await;
    let (_, records) = run_again(refund(&server, keyed()), &network(), Vec::new()).await;
    assert_eq!(records.len(), 1);
    let mut tool = refund(&server, keyed());
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/orders/{{order}}", gone.local_addr().unwrap());
    drop(gone);
    tool.request = Request::new("POST", &url, Named::ByOperator).unwrap();
    assert_eq!(run_again(tool, &network(), records).await.0, UNKNOWN);
}

#[tokio::test]
async fn lookup_says_what_became_of_a_call() {
    let with_lookup = |server: &TestServer| {
        let mut tool = refund(server, Repeat::Never);
        let url = format!("http://{}/refunds/{{$call}}", server.address);
        let request = Request::new("GET", &url, Named::ByOperator).unwrap();
        tool.lookup = Some(Lookup { request });
        tool
    };
    // It happened, though the answer was lost.
    let server = TestServer::start([Cut, ok(r#"{"refund": "r1"}"#)]).await;
    let (outcome, records) = run_again(with_lookup(&server), &network(), Vec::new()).await;
    assert_eq!(outcome, output(json!({"refund": "r1"})));
    assert!(
        server.seen()[1]
            .head
            .starts_with("GET /refunds/call-1 HTTP/1.1")
    );
    // The server failed and says that nothing happened.
    let missing = Answer(404, "", String::new());
    let server = TestServer::start([Answer(500, "", String::new()), missing.clone()]).await;
    let message = error(run(with_lookup(&server)).await);
    assert_eq!(message, "The server failed, and the call had no effect.");
    // A cut request may still be under way, so that nothing is there says nothing.
    let server = TestServer::start([Cut, missing]).await;
    assert_eq!(run(with_lookup(&server)).await, UNKNOWN);
    // After a crash it is looked up, and not sent again.
    let server = TestServer::start([ok(r#"{"refund": "r1"}"#)]).await;
    let (outcome, _) = run_again(with_lookup(&server), &network(), records).await;
    assert_eq!(outcome, output(json!({"refund": "r1"})));
    assert!(
        server
            .seen()
            .iter()
            .all(|seen| seen.head.starts_with("GET "))
    );
}

#[tokio::test]
async fn redirects_are_followed_only_where_they_may_be_and_only_to_the_same_host() {
    let elsewhere = TestServer::start([ok("{}")]).await;
    let to_elsewhere: &'static str =
        Box::leak(format!("location: http://{}/x\r\n", elsewhere.address).into_boxed_str());
    for (redirects, location) in [
        (Redirects::None, "location: /other\r\n"),
        (Redirects::SameHost, to_elsewhere),
        (Redirects::SameHost, "location: http://localhost/\r\n"),
    ] {
        let server = TestServer::start([Answer(307, location, String::new()), ok("{}")]).await;
        let mut tool = refund(&server, Repeat::Never);
        tool.redirects = redirects;
        let message = error(run(tool).await);
        assert!(
            message.contains("a redirect that is not followed"),
            "{message}"
        );
        assert_eq!(server.seen().len(), 1);
    }
    assert!(elsewhere.seen().is_empty());
    let server =
        TestServer::start([Answer(307, "location: /other\r\n", String::new()), ok("{}")]).await;
    let mut tool = refund(&server, Repeat::Never);
    tool.redirects = Redirects::SameHost;
    assert_eq!(run(tool).await, output(json!({})));
}

/// A network in which a name has these addresses, one after the other.
fn with_addresses(addresses: &'static [&'static str]) -> Network {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    network().with_look_up(move |_| {
        let number = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let address: IpAddr = addresses[number.min(addresses.len() - 1)].parse().unwrap();
        Box::pin(std::future::ready(Ok(vec![address])))
    })
}

#[tokio::test]
async fn name_with_a_private_address_is_not_connected_to() {
    let server = TestServer::start([ok("{}")]).await;
    let port = server.address.port();
    let tool = |host: &str| {
        let mut tool = refund(&server, Repeat::Never);
        let url = format!("http://{host}:{port}/orders/{{order}}");
        tool.request = Request::new("POST", &url, Named::ByOperator).unwrap();
        tool
    };
    for addresses in [
        &["127.0.0.1"][..],
        &["::ffff:127.0.0.1"],
        &["169.254.169.254"],
        &["::ffff:169.254.169.254"],
        &["10.1.2.3"],
        &["0.0.0.0"],
    ] {
        let (outcome, _) =
            run_again(tool("shop.example"), &with_addresses(addresses), Vec::new()).await;
        let message = error(outcome);
        assert_eq!(
            message, "This tool may not connect to the server's address.",
            "{addresses:?}"
        );
    }
    assert!(server.seen().is_empty());
    // Where the operator names it, it is meant; but a name never leads to this link.
    let named =
        |addresses| with_addresses(addresses).with_private_hosts(["Shop.example.".to_owned()]);
    let (outcome, _) = run_again(tool("shop.example"), &named(&["127.0.0.1"]), Vec::new()).await;
    assert_eq!(outcome, output(json!({})));
    let (outcome, _) = run_again(
        tool("shop.example"),
        &named(&["169.254.169.254"]),
        Vec::new(),
    )
    .await;
    error(outcome);
    // And so is this machine, where it is written out.
    let (outcome, _) = run_again(
        tool("localhost"),
        &with_addresses(&["127.0.0.1"]),
        Vec::new(),
    )
    .await;
    assert_eq!(outcome, output(json!({})));
}

#[tokio::test]
async fn name_that_changes_its_address_after_the_check_gains_nothing() {
    let server = TestServer::start([ok("{}")]).await;
    let url = format!(
        "http://shop.example:{}/orders/{{order}}",
        server.address.port()
    );
    let request = Request::new("POST", &url, Named::ByOperator).unwrap();
    // Public when it is looked at first, as by a check before the request, and private afterwards.
    let network = with_addresses(&["93.184.216.34", "127.0.0.1"]);
    assert_eq!(network.addresses(&request).await.unwrap().len(), 1);
    let mut tool = refund(&server, Repeat::Never);
    tool.request = request;
    let (outcome, _) = run_again(tool, &network, Vec::new()).await;
    assert_eq!(
        error(outcome),
        "This tool may not connect to the server's address."
    );
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn document_can_not_name_an_address_of_this_machine() {
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "[::1]",
        "[::ffff:169.254.169.254]",
        "169.254.169.254",
        "0",
    ] {
        let request = Request::new(
            "GET",
            &format!("http://{host}/{{order}}?a={{amount}}"),
            Named::ByDocument,
        );
        let server = TestServer::start([ok("{}")]).await;
        let mut tool = refund(&server, Repeat::Safe);
        tool.request = request.unwrap();
        let refused = tool.into_tool(&network()).err().unwrap();
        assert!(refused.0.contains("is not public"), "{host}: {refused}");
    }
}

#[tokio::test]
async fn secret_is_not_sent_through_the_internet_without_encryption() {
    let server = TestServer::start([ok("{}")]).await;
    let tool = |url: &str| {
        let mut tool = refund(&server, Repeat::Never);
        let request = Request::new("POST", url, Named::ByOperator).unwrap();
        let secret = Template::default().with_secret(Secret::new("s3cret-token"));
        tool.request = request.with_header("X-Api-Key", secret).unwrap();
        tool.into_tool(&network().with_private_hosts(["shop.internal".to_owned()]))
    };
    let refused = tool("http://shop.example/{order}").err().unwrap();
    assert!(refused.0.contains("without encryption"), "{refused}");
    for url in [
        "https://shop.example/{order}",
        "http://shop.internal/{order}",
        "http://127.0.0.1/{order}",
    ] {
        assert!(tool(url).is_ok(), "{url}");
    }
}

#[test]
fn document_on_a_private_host_is_fetched_only_if_the_host_is_named() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(TestServer::start([ok("{}")]));
    let private = || {
        network().with_look_up(|_| {
            let address: IpAddr = "127.0.0.1".parse().unwrap();
            Box::pin(std::future::ready(Ok(vec![address])))
        })
    };
    let url = format!("http://docs.example:{}/shop.json", server.address.port());
    let refused = text_blocking(&private(), &url).unwrap_err().to_string();
    assert_eq!(
        refused,
        "can't fetch it: docs.example has a private address; name it under private-hosts if it is meant"
    );
    assert!(server.seen().is_empty());
    let named = private().with_private_hosts(["docs.example".to_owned()]);
    assert_eq!(text_blocking(&named, &url).unwrap(), "{}");
}
