//! Who is not let in: proxies and other machines where there are no keys, guesses at keys, and pages
//! of other sites.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::process::{Server, adk_stream, serve};

const ON: [&str; 3] = ["serve", "--listen", "127.0.0.1:0"];
const HELLO: &str = r#"{"id":"c1","messages":[{"id":"m1","role":"user","parts":[{"type":"text","text":"hello"}]}]}"#;
const KEY: &str = "a-key-of-alices-own";

/// How long an answer may take that waits for nothing.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// What is answered to bytes, whatever they are.
fn answered(server: &Server, bytes: &str) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(TIME_LIMIT)).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn with_key() -> Server {
    let keys = format!("alice={KEY}");
    adk_stream(&ON).variable("ADK_STREAM_KEYS", &keys).running()
}

#[test]
fn without_keys_nobody_is_served_through_a_proxy() {
    let server = serve();
    let proxied = [
        ("forwarded", "for=203.0.113.7"),
        ("x-forwarded-for", "203.0.113.7"),
        ("x-forwarded-host", "chat.example"),
        ("x-forwarded-proto", "https"),
        ("x-real-ip", "127.0.0.1"),
        ("via", "1.1 proxy"),
        ("cf-connecting-ip", "203.0.113.7"),
        ("true-client-ip", "203.0.113.7"),
        // Those whose other headers an operator has switched off.
        ("x-forwarded-prefix", "/chat"),
        ("x-forwarded-scheme", "https"),
        ("x-original-forwarded-for", "203.0.113.7"),
        ("x-azure-clientip", "203.0.113.7"),
        ("cloudfront-viewer-address", "203.0.113.7:1"),
    ];
    for header in proxied {
        for answer in [
            server.post("/api/chat", &[header], HELLO),
            server.request("GET", "/api/approvals", &[header]),
            server.request("GET", "/api/info", &[header]),
        ] {
            assert_eq!(answer.status, 403, "{header:?}");
            let error = &answer.json()["error"];
            assert_eq!(error["code"], "proxied_without_keys");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("ADK_STREAM_KEYS") && message.contains("--insecure"));
        }
        assert_eq!(server.try_connect("/live", &[header]).err(), Some(403));
        // What tells nothing of anybody may be looked at.
        assert_eq!(server.request("GET", "/healthz", &[header]).status, 200);
        assert_eq!(server.request("GET", "/", &[header]).status, 200);
    }
    // A page that a proxy has served, and that rightly says of itself that it is of the same site.
    let page = [
        ("origin", "https://chat.example"),
        ("sec-fetch-site", "same-origin"),
    ];
    let answer = server.post("/api/chat", &page, HELLO);
    assert_eq!(answer.json()["error"]["code"], "proxied_without_keys");
    // What nginx sends where its configuration says no more than `proxy_pass http://127.0.0.1:8080`.
    let host = server.address;
    let nginx = format!("GET /api/info HTTP/1.0\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    assert!(answered(&server, &nginx).contains("proxied_without_keys"));
    let pages_of_this_machine = [
        ("origin", "http://localhost:5173"),
        ("sec-fetch-site", "same-origin"),
    ];
    assert_eq!(
        server
            .request("GET", "/api/info", &pages_of_this_machine)
            .status,
        200
    );
    let server = with_key();
    let headers = [("x-forwarded-for", "203.0.113.7"), ("x-api-key", KEY)];
    assert_eq!(server.request("GET", "/api/info", &headers).status, 200);
}

#[test]
fn without_keys_the_host_has_to_be_this_machine() {
    let server = serve();
    let get = |target: &str, version: &str, headers: &str| {
        let end = "connection: close\r\n\r\n";
        answered(
            &server,
            &format!("GET {target} HTTP/{version}\r\n{headers}{end}"),
        )
    };
    for (answer, code) in [
        (get("/api/info", "1.1", ""), "loopback_only"),
        (get("/api/info", "1.0", ""), "loopback_only"),
        (get("/api/info", "1.1", "host:\r\n"), "loopback_only"),
        (
            get("/api/info", "1.1", "host: evil.example\r\n"),
            "loopback_only",
        ),
        (
            get(
                "/api/info",
                "1.1",
                "host: localhost\r\nhost: evil.example\r\n",
            ),
            "bad_request",
        ),
        (
            get("http://evil.example/api/info", "1.1", "host: localhost\r\n"),
            "bad_request",
        ),
        (
            get(
                "http://evil.example/api/info",
                "1.1",
                "host: evil.example\r\n",
            ),
            "loopback_only",
        ),
    ] {
        assert!(
            answer.contains(&format!(r#""code":"{code}""#)),
            "{code}: {answer}"
        );
    }
    let answer = get("http://localhost/api/info", "1.1", "host: localhost\r\n");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[test]
fn address_that_others_reach_needs_keys_or_an_operator_who_knows() {
    let everywhere = ["serve", "--listen", "0.0.0.0:0"];
    adk_stream(&everywhere).refused().says(
        "0.0.0.0:0 can be reached from other machines, and no keys are configured: set \
         ADK_STREAM_KEYS or --keys-file, or --insecure to serve everybody as one principal",
    );
    let keys = format!("alice={KEY}");
    drop(
        adk_stream(&everywhere)
            .variable("ADK_STREAM_KEYS", &keys)
            .running(),
    );
    for (flags, variable, file) in [
        (&["--insecure"][..], "", ""),
        (&[], "true", ""),
        (&[], "", "insecure = true"),
    ] {
        let mut server = adk_stream(&[&everywhere, flags].concat())
            .variable("ADK_STREAM_INSECURE", variable)
            .file("adk-stream.toml", file)
            .running();
        let line = server.log_line();
        assert!(line.contains("WARN") && line.contains("INSECURE"), "{line}");
        let headers = [("host", "chat.example"), ("x-forwarded-for", "203.0.113.7")];
        let info = server.request("GET", "/api/info", &headers).json();
        assert_eq!(info["principal"], "local");
        assert_eq!(info["insecure"], true);
    }
    assert_eq!(serve().get("/api/info").json().get("insecure"), None);
}

#[test]
fn short_keys_are_refused() {
    let with = |keys: &str| adk_stream(&ON).variable("ADK_STREAM_KEYS", keys);
    with("alice=fifteen-letters").refused().says(
        "ADK_STREAM_KEYS: the key of alice is too short: it needs at least 16 characters, as \
         `openssl rand -hex 16` makes them",
    );
    drop(with("alice=sixteen-letters.").running());
}

#[test]
fn keys_of_samples_are_refused() {
    let refused = |variable: &str, value: &str, problem: &str| {
        let start = adk_stream(&ON).variable(variable, value);
        let problem = format!("{variable}: {problem}: replace it, as by `openssl rand -hex 16`");
        start.refused().says(&problem);
    };
    let sample = "not a key, but the text of a sample";
    refused(
        "ADK_STREAM_KEYS",
        "alice=REPLACE-THIS-KEY",
        "the key of alice is the text of a sample",
    );
    refused("ADK_STREAM_METRICS_KEY", "REPLACE-THIS-METRICS-KEY", sample);
    refused("ADK_STREAM_CLUSTER_KEY", "change_this_cluster_key", sample);
}

#[test]
fn keys_of_a_file_are_added_to_those_of_the_setting() {
    let file = "# people\nbob=a-key-that-is-bobs\n\n";
    let mut server = adk_stream(&ON)
        .variable("ADK_STREAM_KEYS", &format!("alice={KEY}"))
        .variable("ADK_STREAM_KEYS_FILE", "keys")
        .file("keys", file)
        .running();
    let line = server.log_line();
    assert!(
        line.contains("WARN") && line.contains("chmod 600"),
        "{line}"
    );
    for (key, name) in [(KEY, "alice"), ("a-key-that-is-bobs", "bob")] {
        let info = server.request("GET", "/api/info", &[("x-api-key", key)]);
        assert_eq!(info.json()["principal"], name);
    }
    let empty = adk_stream(&[&ON[..], &["--keys-file", "keys"]].concat());
    empty
        .file("keys", "# nobody yet\n")
        .refused()
        .says("--keys-file: there are no keys in keys");
    adk_stream(&[&ON[..], &["--keys-file", "none"]].concat())
        .refused()
        .says("can't read none: No such file or directory (os error 2)");
}

#[test]
fn guesses_at_keys_are_slowed_down_and_right_keys_are_not() {
    let mut server = with_key();
    let info = |key: &str| server.request("GET", "/api/info", &[("x-api-key", key)]);
    let began = Instant::now();
    assert_eq!(info("a-guess-that-is-wrong").status, 401);
    assert!(
        began.elapsed() >= Duration::from_millis(250),
        "answered after {:?}",
        began.elapsed()
    );
    // Twenty at once, and one more every three seconds, each of which takes a quarter of one.
    let mut guesses = (0..100).map(|_| {
        let began = Instant::now();
        (info("a-guess-that-is-wrong"), began.elapsed())
    });
    let refused = guesses.find(|(answer, _)| answer.status != 401);
    let (refused, took) = refused.expect("some guess is one too many");
    assert!(took >= Duration::from_millis(250), "refused after {took:?}");
    assert_eq!(refused.status, 429);
    assert_eq!(refused.json()["error"]["code"], "too_many_wrong_keys");
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    assert_eq!(info(KEY).status, 200);
    // A request without a key has guessed nothing.
    assert_eq!(server.get("/api/info").status, 401);
    server.log_says("too many wrong keys");
}

/// Every operation that may change something, by the server's own document, and the one that other servers
/// use.
fn changes(server: &Server) -> Vec<(String, String)> {
    let document = server.get("/openapi.json").json();
    let mut changes = vec![("POST".to_owned(), "/internal/command".to_owned())];
    for (path, operations) in document["paths"].as_object().unwrap() {
        let path = path.replace(['{', '}'], "");
        let methods = operations.as_object().unwrap().keys();
        let methods =
            methods.filter(|method| ["post", "put", "patch", "delete"].contains(&method.as_str()));
        changes.extend(methods.map(|method| (method.to_uppercase(), path.clone())));
    }
    // What is known to be among them.
    for (method, path) in [
        ("POST", "/api/ag-ui"),
        ("POST", "/clear-sessions"),
        ("PATCH", "/api/chats/id"),
        ("DELETE", "/api/chat/id"),
    ] {
        let known = (method.to_owned(), path.to_owned());
        assert!(changes.contains(&known), "{known:?} is not in {changes:?}");
    }
    changes
}

#[test]
fn other_sites_change_nothing() {
    // A body that is waited for is waited for longer than this test lasts.
    let server = adk_stream(&[&ON[..], &["--body-timeout", "3600"]].concat()).running();
    assert_eq!(server.post("/api/chat", &[], HELLO).status, 200);
    let foreign = [
        &[("origin", "https://evil.example")][..],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[
            ("origin", "https://evil.example"),
            ("sec-fetch-site", "cross-site"),
        ],
    ];
    let changes = changes(&server);
    for headers in foreign {
        for (method, path) in &changes {
            let answer = server.request(method, path, headers);
            assert_eq!(answer.status, 403, "{method} {path} {headers:?}");
            assert_eq!(answer.json()["error"]["code"], "foreign_origin");
        }
        let refused = server.try_connect("/live", headers).err();
        assert_eq!(refused, Some(403), "{headers:?}");
    }
    // The body is not waited for.
    let endless = "POST /api/chat HTTP/1.1\r\nhost: localhost\r\norigin: https://evil.example\r\n\
                   content-type: application/json\r\ncontent-length: 1000000\r\n\r\n{";
    assert!(answered(&server, endless).contains("foreign_origin"));
    let chat = server.get("/api/chat/c1");
    assert_eq!(chat.status, 200);
    let own = [
        &[
            ("host", "localhost:1"),
            ("origin", "http://localhost:1"),
            ("sec-fetch-site", "same-origin"),
        ][..],
        &[("sec-fetch-site", "none")],
        &[],
    ];
    for headers in own {
        assert_eq!(
            server.request("POST", "/api/ticket", headers).status,
            200,
            "{headers:?}"
        );
    }
    // What a link on another site leads to is only read.
    let linked = [("sec-fetch-site", "cross-site")];
    assert_eq!(server.request("GET", "/", &linked).status, 200);
}

#[test]
fn other_servers_and_agents_are_known_by_their_key_before_they_are_read() {
    let server = adk_stream(&[&ON[..], &["--body-timeout", "3600"]].concat())
        .variable("ADK_STREAM_AGENT_KEY", "the-key-of-the-agent")
        .variable("ADK_STREAM_CLUSTER_KEY", "known-to-this-cluster-alone")
        .running();
    for path in ["/internal/command", "/api/agent/asks"] {
        let answer = server.post(path, &[], "this is no JSON");
        assert_eq!(answer.status, 401, "{path}");
        assert_eq!(answer.json()["error"]["code"], "unauthorized");
        // Nor is it waited for.
        let endless =
            format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n{{");
        assert!(
            answered(&server, &endless).starts_with("HTTP/1.1 401 "),
            "{path}"
        );
    }
    let key = ("x-adk-stream-cluster", "known-to-this-cluster-alone");
    let answer = server.post("/internal/command", &[key], "this is no JSON");
    assert_eq!(answer.status, 400);
}

/// A browser does not tell a page why its socket was refused: the page asks in this way.
#[test]
fn plain_request_to_a_socket_is_refused_as_the_socket_would_be() {
    let ask = |server: &Server, headers: &[(&str, &str)]| {
        let answer = server.request("GET", "/api/chat/live", headers);
        let code = answer.json()["error"]["code"].clone();
        let readable = answer
            .header("access-control-allow-origin")
            .map(str::to_owned);
        (answer.status, code, readable)
    };
    let open = serve();
    assert_eq!(ask(&open, &[]), (426, "upgrade_required".into(), None));
    let site = "https://elsewhere.example";
    let refused = (403, "foreign_origin".into(), Some(site.to_owned()));
    assert_eq!(ask(&open, &[("origin", site)]), refused);
    let start = adk_stream(&ON);
    let keyed = start
        .variable("ADK_STREAM_KEYS", "ann=a-secret-of-anns")
        .running();
    assert_eq!(ask(&keyed, &[]), (401, "unauthorized".into(), None));
    let key = ("authorization", "Bearer a-secret-of-anns");
    assert_eq!(ask(&keyed, &[key]), (426, "upgrade_required".into(), None));
}
