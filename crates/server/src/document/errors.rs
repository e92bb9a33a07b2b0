//! The errors of a route: its own, which its annotation lists as codes, and those that many have.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// What any request may get that has to bring a key.
const OF_ALL: [(&str, &[&str]); 5] = [
    ("400", &["bad_request"]),
    ("401", &["unauthorized"]),
    (
        "403",
        &[
            "forbidden",
            "foreign_origin",
            "loopback_only",
            "proxied_without_keys",
        ],
    ),
    (
        "429",
        &[
            "too_many_requests",
            "too_many_requests_in_flight",
            "too_many_wrong_keys",
        ],
    ),
    (
        "503",
        &[
            "identity_unavailable",
            "owner_unreachable",
            "shutting_down",
            "store_moved",
            "store_unavailable",
            "too_many_connections",
        ],
    ),
];

/// What a request may get that brings a body.
const OF_BODIES: [(&str, &[&str]); 4] = [
    ("408", &["body_timeout"]),
    ("413", &["too_large"]),
    ("415", &["unsupported_media_type"]),
    ("429", &["too_many_bytes"]),
];

/// The headers that responses have in common.
pub(super) fn headers() -> Value {
    json!({
        "RequestId": {
            "description": "The id by which the log names the request.",
            "required": true,
            "schema": {"type": "string"},
        },
        "RetryAfter": {
            "description": "When it is worth another try, in seconds.",
            "required": true,
            "schema": {"type": "integer", "minimum": 1},
        },
        "Challenge": {
            "description": "`Bearer`",
            "required": true,
            "schema": {"type": "string"},
        },
    })
}

fn header(name: &str) -> Value {
    json!({"$ref": format!("#/components/headers/{name}")})
}

/// The responses that say why something was refused, each under a name: many routes have the same.
#[derive(Default)]
pub(super) struct Shared(Vec<(String, Value)>);

impl Shared {
    /// Adds the errors that an operation has in common with others, and what they look like.
    pub(super) fn complete(&mut self, operation: &mut Value) {
        let needs_key = operation["security"] != json!([{}]);
        let has_body = operation.get("requestBody").is_some();
        let Some(Value::Object(responses)) = operation.get_mut("responses") else {
            return;
        };
        for response in responses.values_mut() {
            response["headers"]["x-request-id"] = header("RequestId");
        }
        let mut codes: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (status, response) in responses.iter() {
            let is_error = status.starts_with(['4', '5']) && response.get("content").is_none();
            if let (true, Some(listed)) = (is_error, response["description"].as_str()) {
                let listed = listed.split(", ").map(str::to_owned);
                codes.entry(status.clone()).or_default().extend(listed);
            }
        }
        let of_all = OF_ALL.iter().filter(|_| needs_key);
        let of_bodies = OF_BODIES.iter().filter(|_| has_body);
        for (status, shared) in of_all.chain(of_bodies) {
            let shared = shared.iter().map(|code| (*code).to_owned());
            let codes = codes.entry((*status).to_owned());
            codes.or_default().extend(shared);
        }
        for (status, mut codes) in codes {
            codes.sort();
            codes.dedup();
            let name = self.name(&status, &codes);
            let reference = format!("#/components/responses/{name}");
            responses.insert(status, json!({"$ref": reference}));
        }
        responses.sort_keys();
    }

    /// The name of the response with this status and these codes.
    fn name(&mut self, status: &str, codes: &[String]) -> String {
        let response = response(status, codes);
        let known = self.0.iter().find(|(_, known)| *known == response);
        if let Some((name, _)) = known {
            return name.clone();
        }
        let stem = format!("Error{status}");
        let others = self.0.iter().filter(|(name, _)| name.starts_with(&stem));
        let name = match others.count() {
            0 => stem,
            others => format!("{stem}_{}", others + 1),
        };
        self.0.push((name.clone(), response));
        name
    }

    /// All of them.
    pub(super) fn responses(self) -> Value {
        let mut responses: Map<_, _> = self.0.into_iter().collect();
        responses.sort_keys();
        responses.into()
    }
}

fn response(status: &str, codes: &[String]) -> Value {
    let named: Vec<_> = codes.iter().map(|code| format!("`{code}`")).collect();
    let mut response = json!({
        "description": named.join(", "),
        "headers": {},
        "content": {"application/json": {"schema": {"allOf": [
            {"$ref": "#/components/schemas/ErrorBody"},
            {"properties": {"error": {"properties": {"code": {"enum": codes}}}}},
        ]}}},
    });
    // A connection is refused before its request has an id.
    if status != "503" {
        response["headers"]["x-request-id"] = header("RequestId");
    }
    match status {
        "401" => response["headers"]["www-authenticate"] = header("Challenge"),
        "429" | "503" => response["headers"]["retry-after"] = header("RetryAfter"),
        _ => {}
    }
    response
}
