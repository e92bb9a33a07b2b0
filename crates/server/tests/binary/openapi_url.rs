//! OpenAPI documents that are fetched from a URL when the file is read.

use std::net::SocketAddr;

use crate::file_agent::{gemini, model, serve_http, with_file};

const DOCUMENT: &str = r#"{"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"},
    "paths": {"/orders/{order}": {"get": {"operationId": "getOrder", "summary": "Reads an order.",
    "parameters": [{"name": "order", "in": "path", "required": true, "schema": {"type": "string"}}],
    "responses": {"200": {"description": "It."}}}}}}"#;

/// A server with the document in several ways.
fn site() -> SocketAddr {
    serve_http(|request| {
        let answer = |status: &str, head: &str, body: &str| {
            let length = body.len();
            Some(format!(
                "HTTP/1.1 {status}\r\n{head}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
            ))
        };
        let json = "content-type: application/json\r\n";
        match request.path() {
            "/shop.json" => answer("200 OK", json, DOCUMENT),
            "/shop.yaml" => answer("200 OK", "content-type: application/yaml\r\n", DOCUMENT),
            "/untyped" => answer("200 OK", "", DOCUMENT),
            "/moved" => answer("302 Found", "location: /shop.json\r\n", ""),
            "/elsewhere" => answer("302 Found", "location: http://127.0.0.2/shop.json\r\n", ""),
            "/around" => answer("302 Found", "location: /around\r\n", ""),
            "/page" => answer(
                "200 OK",
                "content-type: text/html; charset=utf-8\r\n",
                "<html>Sign in</html>",
            ),
            "/large" => answer("200 OK", json, &" ".repeat(9 * 1024 * 1024)),
            "/broken" => answer("200 OK", json, "{\"openapi\": "),
            "/cut" => Some(format!(
                "HTTP/1.1 200 OK\r\n{json}content-length: 5000\r\n\r\n{{"
            )),
            _ => answer("404 Not Found", json, "{}"),
        }
    })
}

fn file(url: &str) -> String {
    format!(
        "[agents.shop]\nmodel = 'main'\ntools = ['shop.*']\n{}\
         [openapi.shop]\ndocument = '{url}'\nserver = 'https://shop.example'\noperations = ['getOrder']\n",
        model(gemini())
    )
}

#[test]
fn document_is_fetched_and_redirects_within_its_host_are_followed() {
    let site = site();
    for path in ["shop.json", "shop.yaml", "untyped", "moved"] {
        let toml = file(&format!("http://{site}/{path}"));
        let described = with_file(&["check", "--offline"], &toml).answered();
        assert!(
            described.contains("tool shop.getOrder (ask; GET https://shop.example)"),
            "{path}: {described}"
        );
    }
}

#[test]
fn document_that_can_not_be_used_is_a_problem_of_its_line() {
    let site = site();
    for (path, expected) in [
        ("missing", "can't fetch it: 404 Not Found"),
        (
            "elsewhere",
            "can't fetch it: it redirects elsewhere, which is not followed",
        ),
        (
            "around",
            "can't fetch it: it redirects elsewhere, which is not followed",
        ),
        ("page", "it is a page (text/html), and no OpenAPI document"),
        ("large", "it is larger than 8388608 bytes"),
        ("cut", "can't fetch it: "),
        ("broken", ""),
    ] {
        let toml = file(&format!("http://{site}/{path}"));
        let (code, said) = with_file(&["check", "--offline"], &toml).ended();
        assert_eq!(code, Some(1), "{path}: {said}");
        let at = "adk-stream.toml:10:12: ";
        assert!(said.contains(&format!("{at}{expected}")), "{path}: {said}");
    }
}

#[test]
fn server_does_not_start_without_its_document() {
    let site = site();
    let toml = file(&format!("http://{site}/missing"));
    let refused = with_file(&["serve", "--listen", "127.0.0.1:0"], &toml).refused();
    assert!(
        refused.line.contains("can't fetch it: 404 Not Found"),
        "{}",
        refused.line
    );
}
