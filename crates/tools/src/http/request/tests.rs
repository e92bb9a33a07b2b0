use serde_json::json;

use super::*;

fn request(method: &str, url: &str) -> Request {
    Request::new(method, url, Named::ByOperator).unwrap()
}

fn prepare(request: &Request, input: &Value) -> Result<Prepared, String> {
    let input = input.as_object().unwrap();
    request.prepare(Values {
        input,
        call: "call-1",
        fence: None,
        trace: None,
    })
}

#[test]
fn parameters_go_to_path_query_header_and_body() {
    let request = request(
        "POST",
        "https://shop.example/orders/{order}/refunds?reason={reason}&v=1",
    )
    .with_header("X-Currency", Template::parse("cur-{currency}").unwrap())
    .unwrap();
    let input =
        json!({"order": "A 1", "reason": "a&b=c", "currency": "EUR", "amount": 5, "note": null});
    let prepared = prepare(&request, &input).unwrap();
    assert_eq!(
        prepared.url.as_str(),
        "https://shop.example/orders/A%201/refunds?reason=a%26b%3Dc&v=1"
    );
    assert_eq!(prepared.headers["x-currency"], "cur-EUR");
    let body: Value = serde_json::from_slice(&prepared.body.unwrap()).unwrap();
    assert_eq!(body, json!({"amount": 5, "note": null}));
}

#[test]
fn value_never_leaves_its_segment() {
    let request = request("GET", "https://shop.example/orders/{order}/items");
    let path = |order: &str| {
        let prepared = prepare(&request, &json!({"order": order}));
        prepared.map(|prepared| prepared.url.path().to_owned())
    };
    for (order, encoded) in [
        ("a/b", "a%2Fb"),
        ("a?b", "a%3Fb"),
        ("a#b", "a%23b"),
        ("a%2fb", "a%252fb"),
        ("@evil.example", "%40evil.example"),
        ("a;b", "a%3Bb"),
        ("...", "..."),
    ] {
        assert_eq!(
            path(order),
            Ok(format!("/orders/{encoded}/items")),
            "{order}"
        );
    }
    for refused in [
        "..",
        ".",
        "%2e%2e",
        "%2E.",
        "../admin",
        "a/../b",
        "..\\admin",
        "",
        "a\r\nHost: evil",
        "\0",
    ] {
        assert!(path(refused).is_err(), "{refused:?}");
    }
}

#[test]
fn two_dots_do_not_meet_in_one_segment() {
    let request = request("GET", "https://shop.example/{a}{b}/x");
    assert!(prepare(&request, &json!({"a": ".", "b": "."})).is_err());
    let request = self::request("GET", "https://shop.example/.{a}/x");
    assert!(prepare(&request, &json!({"a": "."})).is_err());
    assert!(prepare(&request, &json!({"a": "well-known"})).is_ok());
}

#[test]
fn header_can_not_be_broken_out_of() {
    let request = request("GET", "https://shop.example/")
        .with_header("X-Note", Template::field("note"))
        .unwrap();
    let refused = prepare(&request, &json!({"note": "a\r\nAuthorization: x"})).unwrap_err();
    assert_eq!(refused, "the header x-note can't carry this value");
    for name in [
        "Host",
        "Content-Length",
        "Transfer-Encoding",
        "a b",
        "x\r\ny",
    ] {
        let request = self::request("GET", "https://shop.example/");
        assert!(
            request.with_header(name, Template::literal("x")).is_err(),
            "{name}"
        );
    }
}

#[test]
fn optional_values_are_left_out_and_lists_repeated() {
    let request = request(
        "GET",
        "https://shop.example/orders?state={state}&tag={tags}",
    );
    let url = |input: Value| prepare(&request, &input).unwrap().url.to_string();
    assert_eq!(url(json!({})), "https://shop.example/orders");
    assert_eq!(
        url(json!({"state": null, "tags": ["a", "b c"]})),
        "https://shop.example/orders?tag=a&tag=b%20c"
    );
    assert!(prepare(&request, &json!({"state": {"a": 1}})).is_err());
}

#[test]
fn body_template_keeps_types_and_knows_the_call() {
    let request = request("POST", "https://shop.example/refunds").with_body(Body::Template(json!({
        "refund": {"amount": "{amount}", "memo": "for {order}", "absent": "{note}", "key": "{$call}"},
        "fixed": [1, true]
    })));
    let input = json!({"amount": 5.5, "order": "A1"});
    let body = prepare(&request, &input).unwrap().body.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        body,
        json!({"refund": {"amount": 5.5, "memo": "for A1", "key": "call-1"}, "fixed": [1, true]})
    );
}

#[test]
fn url_that_could_lead_elsewhere_is_refused() {
    for bad in [
        "shop.example/x",
        "ftp://shop.example",
        "https://{host}/x",
        "https://shop.example:{port}/",
        "https://me:s3cret@shop.example/",
        "https://shop.example/a/../b",
        "https://shop.example/%2e%2e/b",
        "https://shop.example/#x",
        "https://shop.example/a b",
        "https://shop.example\\@evil.example/",
        "https://shop.example/?{name}=1",
        "https://",
    ] {
        assert!(
            Request::new("GET", bad, Named::ByOperator).is_err(),
            "{bad}"
        );
    }
    assert!(Request::new("CONNECT", "https://shop.example", Named::ByOperator).is_err());
}

#[test]
fn parameters_are_those_of_the_input() {
    let schema = json!({
        "type": "object",
        "properties": {"order": {"type": "string"}, "note": {"type": "string"}},
        "required": ["order"]
    });
    let check = |method: &str, url: &str| request(method, url).check_input(&schema);
    assert!(check("POST", "https://s.example/{order}").is_ok());
    assert!(check("GET", "https://s.example/{order}?note={note}").is_ok());
    for (method, url, why) in [
        (
            "POST",
            "https://s.example/{ordr}",
            "`{ordr}` is not a property",
        ),
        ("POST", "https://s.example/{note}", "must require it"),
        ("GET", "https://s.example/{order}", "`note` is sent nowhere"),
    ] {
        let refused = check(method, url).unwrap_err().0;
        assert!(refused.contains(why), "{refused}");
    }
}
