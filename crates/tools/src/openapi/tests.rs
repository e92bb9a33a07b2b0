use serde_json::json;

use super::*;
use crate::http::template::Values;

const SHOP: &str = r##"
openapi: 3.0.3
info: {title: Shop, version: "1"}
servers: [{url: "https://{region}.shop.example/v1", variables: {region: {default: eu}}}]
security: [{api_key: []}]
paths:
  /orders/{id}:
    parameters:
      - {name: id, in: path, required: true, description: The order., schema: {type: string}}
    get:
      operationId: getOrder
      summary: Reads an order.
      parameters:
        - {name: expand, in: query, schema: {type: array, items: {type: string}}}
        - {name: X-Trace, in: header, schema: {type: string}}
      responses: {200: {description: ok}}
    delete:
      operationId: cancelOrder
      requestBody:
        required: true
        content:
          application/json:
            schema: {$ref: "#/components/schemas/Cancellation"}
      responses: {"200": {description: ok}}
  /trees:
    post:
      operationId: plant
      security: [{}]
      parameters:
        - {name: note, in: query, schema: {type: string}}
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties:
                note: {type: string}
                tree: {$ref: "#/components/schemas/Tree"}
components:
  securitySchemes:
    api_key: {type: apiKey, in: header, name: X-Api-Key}
  schemas:
    Cancellation:
      type: object
      required: [reason, at]
      properties:
        reason: {type: string, nullable: true}
        fee: {type: number, minimum: 0, exclusiveMinimum: true, example: 3}
        at: {type: string, readOnly: true}
    Tree:
      type: object
      properties:
        left: {$ref: "#/components/schemas/Tree"}
"##;

fn settings() -> Settings {
    let secret = ("api_key".to_owned(), Secret::new("s3cret-key"));
    Settings {
        server: None,
        security: [secret].into(),
    }
}

fn operation(id: &str) -> Operation {
    Document::parse(SHOP)
        .unwrap()
        .operation(id, &settings())
        .unwrap()
}

#[test]
fn parameters_of_path_query_and_header_are_one_input() {
    let get = operation("getOrder");
    assert_eq!(get.description, "Reads an order.");
    assert_eq!(
        get.input,
        json!({
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "The order."},
                "expand": {"type": "array", "items": {"type": "string"}},
                "X-Trace": {"type": "string"}
            },
            "required": ["id"]
        })
    );
    let input = json!({"id": "a/b", "expand": ["x", "y"], "X-Trace": "t"});
    let values = Values {
        input: input.as_object().unwrap(),
        call: "c",
        fence: None,
        trace: None,
    };
    let prepared = get.request.prepare(values).unwrap();
    assert_eq!(
        prepared.url.as_str(),
        "https://eu.shop.example/v1/orders/a%2Fb?expand=x&expand=y"
    );
    assert_eq!(prepared.headers["x-trace"], "t");
    assert_eq!(prepared.headers["x-api-key"], "s3cret-key");
    assert!(prepared.body.is_none());
    assert!(!format!("{get:?}{prepared:?}").contains("s3cret"));
}

#[test]
fn body_is_among_the_fields_and_3_0_is_read_as_json_schema() {
    let cancel = operation("cancelOrder");
    assert_eq!(
        cancel.input["properties"],
        json!({
            "id": {"type": "string", "description": "The order."},
            "reason": {"type": ["string", "null"]},
            "fee": {"type": "number", "exclusiveMinimum": 0}
        })
    );
    assert_eq!(cancel.input["required"], json!(["id", "reason"]));
    let input = json!({"id": "7", "reason": null});
    let values = Values {
        input: input.as_object().unwrap(),
        call: "c",
        fence: None,
        trace: None,
    };
    let prepared = cancel.request.prepare(values).unwrap();
    assert_eq!(prepared.body.unwrap(), br#"{"reason":null}"#);
}

#[test]
fn schema_that_refers_to_itself_ends_and_names_that_clash_are_apart() {
    let plant = operation("plant");
    assert_eq!(
        plant.input["properties"]["body"]["properties"]["tree"],
        json!({"$ref": "#/$defs/Tree"})
    );
    assert_eq!(
        plant.input["$defs"]["Tree"]["properties"]["left"],
        json!({"$ref": "#/$defs/Tree"})
    );
    // It wants no secret, and gets none.
    assert!(plant.request.secrets().is_empty());
}

#[test]
fn what_can_not_be_used_is_refused_with_the_reason() {
    let document = Document::parse(SHOP).unwrap();
    assert_eq!(
        document.operation_ids(),
        ["getOrder", "cancelOrder", "plant"]
    );
    let refused = document.operation("getOrdr", &settings()).unwrap_err();
    assert_eq!(refused.0, "the document has no operation `getOrdr`");
    let refused = document
        .operation("getOrder", &Settings::default())
        .unwrap_err();
    assert_eq!(refused.0, "it needs a secret: set security for api_key");
    for (text, why) in [
        ("swagger: '2.0'", "not OpenAPI 3.0 or 3.1"),
        ("{", "not JSON"),
        ("a: [", "not YAML"),
    ] {
        let refused = Document::parse(text).unwrap_err();
        assert!(refused.0.contains(why), "{refused}");
    }
    let elsewhere = r##"{"openapi": "3.1.0", "servers": [{"url": "/v1"}], "paths": {
        "/a": {"get": {"operationId": "a"}},
        "/b": {"get": {"operationId": "b", "parameters": [{"$ref": "https://evil.example/p"}]}},
        "/c": {"get": {"operationId": "c", "parameters": [{"$ref": "#/x"}]}}}, "x": {"$ref": "#/x"}}"##;
    let document = Document::parse(elsewhere).unwrap();
    for (id, why) in [
        ("a", "is no URL"),
        ("b", "leads out of the document"),
        ("c", "lead to each other"),
    ] {
        let refused = document.operation(id, &Settings::default()).unwrap_err();
        assert!(refused.0.contains(why), "{refused}");
    }
}
