//! What each path answers.

use serde_json::json;

use crate::process::{adk_stream, serve};

#[test]
fn it_says_that_it_lives_and_is_ready() {
    let server = serve();
    for (path, status) in [("/healthz", "ok"), ("/readyz", "ready")] {
        let answer = server.get(path);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json(), json!({ "status": status }));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
}

#[test]
fn the_page_comes_with_its_assets() {
    let server = serve();
    let page = server.get("/");
    assert_eq!(page.status, 200);
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    assert!(page.text().contains("adk-stream"));

    // Where the page was not built there are no assets, and the page says so.
    let assets: Vec<_> = page
        .text()
        .split('"')
        .filter(|at| at.starts_with("/assets/"))
        .collect();
    assert_eq!(assets.is_empty(), page.text().contains("make run"));
    for path in assets {
        let asset = server.get(path);
        assert_eq!(asset.status, 200, "{path}");
        let expected = match path.rsplit_once('.') {
            Some((_, "js")) => "text/javascript",
            Some((_, "woff2")) => "font/woff2",
            _ => "text/css",
        };
        assert!(
            asset.header("content-type").unwrap().starts_with(expected),
            "{path}"
        );
        assert_eq!(
            asset.header("cache-control"),
            Some("public, max-age=31536000, immutable")
        );
        assert!(!asset.body.is_empty());
    }
}

#[test]
fn script_of_the_page_is_sent_compressed() {
    let server = serve();
    let page = server.get("/").text().to_owned();
    let mut scripts = page.split('"').filter(|at| at.ends_with(".js"));
    // Where the page was not built there is none.
    let Some(script) = scripts.next() else {
        return assert!(page.contains("make run"));
    };
    let plain = server.get(script);
    assert_eq!(plain.header("content-encoding"), None);
    for encoding in ["br", "gzip"] {
        let answer = server.request("GET", script, &[("accept-encoding", encoding)]);
        assert_eq!(answer.header("content-encoding"), Some(encoding));
        assert_eq!(answer.header("content-type"), plain.header("content-type"));
        assert!(answer.body.len() * 2 < plain.body.len(), "{encoding}");
    }
}

#[test]
fn page_of_a_named_site_may_read_answers_and_others_may_not() {
    let origins = ["--origins", "https://app.example"];
    let server = adk_stream(&[&["serve", "--listen", "127.0.0.1:0"], &origins[..]].concat());
    let server = server.running();
    let ask = |method: &str, origin: &'static str, more: &[(&'static str, &'static str)]| {
        let headers = [&[("origin", origin)], more].concat();
        server.request(method, "/api/info", &headers)
    };
    let preflight = [
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type,x-mine"),
    ];
    let named = ask("OPTIONS", "https://app.example", &preflight);
    assert_eq!(named.status, 204);
    for (header, value) in [
        ("access-control-allow-origin", "https://app.example"),
        ("access-control-allow-credentials", "true"),
        ("access-control-allow-methods", "GET, POST, PATCH, DELETE"),
        ("access-control-allow-headers", "content-type,x-mine"),
    ] {
        assert_eq!(named.header(header), Some(value));
    }
    let answer = ask("GET", "https://app.example", &[]);
    assert_eq!(answer.status, 200);
    let allow = "access-control-allow-origin";
    assert_eq!(answer.header(allow), Some("https://app.example"));
    assert_eq!(answer.header("vary"), Some("origin"));

    let foreign = ask("OPTIONS", "https://evil.example", &preflight);
    assert_eq!((foreign.status, foreign.header(allow)), (403, None));
    let foreign = ask("GET", "https://evil.example", &[]);
    assert_eq!(foreign.header(allow), None);
}

#[test]
fn a_browser_that_has_the_page_is_spared_it() {
    let server = serve();
    let etag = server.get("/").header("etag").unwrap().to_owned();
    let again = server.request("GET", "/", &[("if-none-match", &etag)]);
    assert_eq!(again.status, 304);
    assert!(again.body.is_empty());
    assert_eq!(
        server
            .request("GET", "/", &[("if-none-match", "\"other\"")])
            .status,
        200
    );
}

#[test]
fn head_is_get_without_the_body() {
    let server = serve();
    for path in ["/", "/healthz"] {
        let (get, head) = (server.get(path), server.request("HEAD", path, &[]));
        assert_eq!(head.status, 200);
        assert!(head.body.is_empty());
        for name in ["content-length", "content-type", "etag"] {
            assert_eq!(head.header(name), get.header(name), "{name} of {path}");
        }
        assert_eq!(
            head.header("content-length"),
            Some(get.body.len().to_string().as_str())
        );
    }
}

#[test]
fn unknown_paths_are_not_found_in_json() {
    let server = serve();
    let paths = [
        "/api",
        "/api/nothing",
        "/nothing",
        "/assets/",
        "/healthz/",
        "/../Cargo.toml",
    ];
    for path in paths {
        let answer = server.get(path);
        assert_eq!(answer.status, 404, "{path}");
        let message = format!("nothing is served at {path}");
        let id = answer.header("x-request-id").unwrap();
        assert_eq!(
            answer.json(),
            json!({ "error": { "code": "not_found", "message": message, "requestId": id } })
        );
    }
}

#[test]
fn a_wrong_method_is_refused_in_json_with_the_right_ones() {
    let server = serve();
    for path in ["/healthz", "/"] {
        let answer = server.request("POST", path, &[]);
        assert_eq!(answer.status, 405, "{path}");
        let message = format!("{path} does not take POST");
        let id = answer.header("x-request-id").unwrap();
        assert_eq!(
            answer.json(),
            json!({ "error": { "code": "method_not_allowed", "message": message, "requestId": id } })
        );
        assert_eq!(answer.header("allow"), Some("GET,HEAD"));
    }
}

#[test]
fn every_answer_tells_browsers_what_they_may_do() {
    let server = serve();
    let answers = [
        server.get("/"),
        server.get("/api/info"),
        server.get("/nothing"),
        server.get("/healthz"),
        server.get("/live"),
        server.request("POST", "/", &[]),
        server.request("POST", "/api/chat", &[("content-type", "text/plain")]),
    ];
    for answer in answers {
        let policy = answer.header("content-security-policy").unwrap();
        for directive in [
            "default-src 'self';",
            "img-src 'self' data: blob:;",
            "media-src 'self' data: blob:;",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "object-src 'none'",
        ] {
            assert!(policy.contains(directive), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{}", answer.status);
        }
        let permissions = answer.header("permissions-policy").unwrap();
        assert!(permissions.contains("camera=()"), "{permissions}");
    }
}

#[test]
fn policy_of_ones_own_keeps_what_it_does_not_name() {
    let own = "default-src 'self' https://cdn.example";
    let on = ["serve", "--listen", "127.0.0.1:0"];
    let start = adk_stream(&[&on[..], &["--content-security-policy", own]].concat());
    let answer = start.running().get("/");
    let policy = answer.header("content-security-policy").unwrap();
    let rest = "base-uri 'none'; object-src 'none'; frame-ancestors 'none'";
    assert_eq!(policy, format!("{own}; {rest}"));
}

#[test]
fn the_page_is_framed_by_named_sites_only() {
    let sites = "https://intranet.example";
    let start = adk_stream(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--frame-ancestors",
        sites,
    ]);
    let answer = start.running().get("/");
    let policy = answer.header("content-security-policy").unwrap();
    assert!(
        policy.ends_with("; frame-ancestors 'self' https://intranet.example"),
        "{policy}"
    );
    assert_eq!(answer.header("x-frame-options"), None);

    let refusal = adk_stream(&["serve", "--frame-ancestors", "*"]).refused();
    let problem = "`*` is not a site, as in https://example.com";
    assert_eq!(
        refusal.line,
        format!("adk-stream: --frame-ancestors: {problem}")
    );
}

#[test]
fn document_of_the_routes_is_for_everybody_and_compressed() {
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0"])
        .variable("ADK_STREAM_KEYS", "ann=a-key-of-this-test")
        .running();
    let plain = server.get("/openapi.json");
    assert_eq!(plain.status, 200);
    assert_eq!(plain.header("content-type"), Some("application/json"));
    assert_eq!(plain.header("cache-control"), Some("no-cache"));
    assert_eq!(plain.header("x-frame-options"), Some("DENY"));
    assert_eq!(plain.json()["openapi"], "3.1.0");
    for encoding in ["br", "gzip"] {
        let accepted = [("accept-encoding", encoding)];
        let answer = server.request("GET", "/openapi.json", &accepted);
        assert_eq!(answer.header("content-encoding"), Some(encoding));
        assert!(answer.body.len() * 4 < plain.body.len(), "{encoding}");
        let etag = answer.header("etag").unwrap().to_owned();
        let known = [("accept-encoding", encoding), ("if-none-match", &*etag)];
        let again = server.request("GET", "/openapi.json", &known);
        assert_eq!(again.status, 304, "{encoding}");
    }
}

#[test]
fn routes_take_the_methods_that_the_document_has() {
    let metrics = "a-key-of-the-metrics";
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0"])
        .variable("ADK_STREAM_METRICS_KEY", metrics)
        .running();
    let document = server.get("/openapi.json").json();
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() > 20);
    for (path, operations) in paths {
        let mut documented: Vec<_> = operations
            .as_object()
            .unwrap()
            .keys()
            .map(|method| method.to_uppercase())
            .collect();
        if documented.iter().any(|method| method == "GET") {
            documented.push("HEAD".to_owned());
        }
        documented.sort();
        let answer = server.request("PURGE", &path.replace("{id}", "x"), &[]);
        assert_eq!(answer.status, 405, "{path}");
        let mut allowed: Vec<_> = answer.header("allow").unwrap().split(',').collect();
        allowed.sort_unstable();
        assert_eq!(allowed, documented, "{path}");
    }
}

#[test]
fn id_in_a_path_that_is_not_utf8_is_refused_with_a_code() {
    let server = serve();
    for path in [
        "/api/chat/%FF",
        "/api/chat/%FF/journal",
        "/api/approvals/%FF",
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 400, "{path}");
        assert_eq!(answer.json()["error"]["code"], "bad_request", "{path}");
    }
}

#[test]
fn profile_that_is_no_text_is_refused() {
    let server = serve();
    let answer = server.request(
        "GET",
        "/api/chat/c/stream",
        &[("x-adk-stream-profile", "v\u{e9}")],
    );
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json()["error"]["code"], "bad_request");
}

#[test]
fn misspelled_profile_is_refused_also_where_the_header_decides() {
    let server = serve();
    let ask = |path: &str, header: &str| {
        let headers = [("x-adk-stream-profile", header)];
        server.request("GET", path, &headers).status
    };
    assert_eq!(ask("/api/chat/c/stream?profile=v8", "v7"), 400);
    assert_eq!(ask("/api/chat/c/stream?profile=v7", "v8"), 400);
    assert_eq!(ask("/api/chat/c/stream?profile=shared", "v7"), 204);
}

#[test]
fn tool_that_asks_has_to_send_json_and_name_its_call() {
    let key = "the-key-of-the-agent";
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0"])
        .variable("ADK_STREAM_AGENT_KEY", key)
        .running();
    let bearer = format!("Bearer {key}");
    let known = ("authorization", bearer.as_str());
    let code = |headers: &[(&str, &str)], body: &str| {
        let answer = server.send("POST", "/api/agent/asks", headers, body);
        (answer.status, answer.json()["error"]["code"].clone())
    };
    let ask = r#"{"chat":"c","call":"x","ask":{"approval":{"question":"Now?"}}}"#;
    let form = [known, ("content-type", "application/x-www-form-urlencoded")];
    assert_eq!(code(&form, ask), (415, json!("unsupported_media_type")));
    for nobodys in [ask.replace("\"x\"", "\"\""), ask.replace("\"c\"", "\"\"")] {
        let json_of = [known, ("content-type", "application/json")];
        assert_eq!(code(&json_of, &nobodys), (400, json!("bad_request")));
    }
}
