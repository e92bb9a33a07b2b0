//! The bodies that `wire` decodes by hand, as JSON Schema.
//!
//! Their decoders keep what they do not know and say where something is wrong, so nothing can be derived
//! from them. `python/openapi` holds these schemas against the server: what fits them is accepted, and
//! what does not is refused.

use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// A message as a page has it. Its schema is below.
#[derive(ToSchema)]
pub(crate) struct UiMessage {}

/// The schemas, by their names.
pub(super) fn schemas() -> Map<String, Value> {
    let Value::Object(schemas) = json!({
        "ChatId": chat_id(),
        "Id": id(),
        "ChatRequest": chat_request(true),
        "LegacyChatRequest": chat_request(false),
        "UiMessage": ui_message(),
        "UiPart": ui_part(),
        "ToolApproval": tool_approval(),
        "Citation": citation(),
        "ProviderMetadata": provider_metadata(),
        "ApprovalAnswer": approval_answer(),
        "BranchSelection": json!({
            "type": "object",
            "description": "A branch, by one of its messages.",
            "properties": {"messageId": text()},
            "required": ["messageId"],
            "additionalProperties": false,
        }),
        "CallOutput": call_output(),
        "ChatUpdate": chat_update(),
        "RunRequest": run_request(true),
        "ConnectRequest": run_request(false),
    }) else {
        return Map::new();
    };
    schemas
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// A field that may be null, which is as good as nothing.
fn or_null(schema: &Value) -> Value {
    json!({"anyOf": [schema, {"type": "null"}]})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn chat_id() -> Value {
    json!({
        "type": "string",
        "description": "A chat's id, which the client chooses: 1 to 256 bytes without control characters \
                        and without `/ \\ ? # %`, other than `.`, `..` and `live`.",
        "minLength": 1,
        "maxLength": 256,
        "pattern": r"^(?!(\.|\.\.|live)$)[^/\\?#%\x00-\x1f\x7f-\x9f]+$",
    })
}

fn id() -> Value {
    json!({
        "type": "string",
        "description": "1 to 512 bytes without control characters.",
        "minLength": 1,
        "maxLength": 512,
        "pattern": r"^[^\x00-\x1f\x7f-\x9f]+$",
    })
}

/// The body of `POST /api/chat`; of `POST /stream`, where it need not name its chat.
fn chat_request(names_chat: bool) -> Value {
    let triggers = json!({"type": "string", "enum": ["submit-message", "regenerate-message"]});
    let history = json!({
        "messages": {
            "type": "array",
            "minItems": 1,
            "maxItems": 10_000,
            "items": reference("UiMessage"),
        },
        "trigger": or_null(&triggers),
    });
    let last = json!({
        "message": {"allOf": [
            reference("UiMessage"),
            {"type": "object", "required": ["id"], "properties": {"id": reference("Id")}},
        ]},
        "trigger": or_null(&triggers),
    });
    let repeated = json!({"trigger": {"type": "string", "const": "regenerate-message"}});
    let named: &[&str] = if names_chat { &["id"] } else { &[] };
    let bodies = [
        (history, "messages"),
        (last, "message"),
        (repeated, "trigger"),
    ];
    let bodies = bodies.map(|(mut properties, needed)| {
        properties["id"] = reference("ChatId");
        properties["messageId"] = or_null(&reference("Id"));
        properties["whileRunning"] = or_null(&json!({
            "description": "What a new message does while a turn is open.",
            "type": "string",
            "enum": ["interrupt", "queue", "inject"],
        }));
        properties["tools"] = json!({"description": "Tools that the page declares."});
        let required = [named, &[needed]].concat();
        json!({"type": "object", "properties": properties, "required": required})
    });
    // Without a chat or a message, nothing says which answer is to be given again.
    let bodies = if names_chat {
        &bodies[..]
    } else {
        &bodies[..2]
    };
    json!({
        "description": "What `useChat` sends: the whole history; or the last message alone; or, to have \
                        an answer given again, none. Other fields are the application's own.",
        "anyOf": bodies,
    })
}

fn ui_message() -> Value {
    json!({
        "type": "object",
        "description": "A message as a page has it. Requests may also hold messages of the role `system`, \
                        which have no effect, and fields that the server does not know, which it keeps.",
        "properties": {
            "id": or_null(&reference("Id")),
            "role": {"type": "string", "enum": ["user", "assistant"]},
            "metadata": {},
            "parts": {"type": "array", "items": reference("UiPart")},
        },
        "required": ["role", "parts"],
    })
}

fn provider_metadata() -> Value {
    json!({
        "type": "object",
        "description": "Metadata by provider.",
        "additionalProperties": {"type": "object"},
    })
}

/// A part of one type: the fields that it needs, and those that it may have.
fn part(kind: Value, needed: Value, more: Value) -> Value {
    let mut properties = Map::new();
    properties.insert("type".to_owned(), kind);
    let mut required = vec![Value::from("type")];
    for (name, schema) in needed.as_object().into_iter().flatten() {
        required.push(name.as_str().into());
        properties.insert(name.clone(), schema.clone());
    }
    for (name, schema) in more.as_object().into_iter().flatten() {
        properties.insert(name.clone(), or_null(schema));
    }
    json!({"type": "object", "properties": properties, "required": required})
}

fn named(kind: &str, needed: Value, mut more: Value) -> Value {
    more["providerMetadata"] = reference("ProviderMetadata");
    part(json!({"type": "string", "const": kind}), needed, more)
}

fn ui_part() -> Value {
    let state = json!({"type": "string", "enum": ["streaming", "done"]});
    let citations = json!({"type": "array", "items": reference("Citation")});
    let mut parts = vec![
        named(
            "text",
            json!({"text": text()}),
            json!({"state": state, "citations": citations}),
        ),
        named(
            "reasoning",
            json!({"text": text()}),
            json!({"id": text(), "state": state}),
        ),
        named(
            "source-url",
            json!({"sourceId": text(), "url": text()}),
            json!({"title": text()}),
        ),
        named(
            "source-document",
            json!({"sourceId": text(), "mediaType": text(), "title": text()}),
            json!({"filename": text()}),
        ),
        named(
            "file",
            json!({"mediaType": text(), "url": text()}),
            json!({"filename": text(), "providerReference": {"type": "object"}}),
        ),
        named(
            "reasoning-file",
            json!({"mediaType": text(), "url": text()}),
            json!({}),
        ),
        named("custom", json!({"kind": text()}), json!({})),
        part(
            json!({"type": "string", "const": "step-start"}),
            json!({}),
            json!({}),
        ),
        part(
            json!({"type": "string", "pattern": "^data-"}),
            json!({}),
            json!({"id": text(), "data": {}}),
        ),
        part(
            json!({"type": "string", "const": "steering-message"}),
            json!({"id": text(), "parts": {"type": "array", "items": reference("UiPart")}}),
            json!({}),
        ),
        part(
            json!({"type": "string", "const": "tool-result"}),
            json!({"toolCallId": reference("Id")}),
            json!({"toolName": text(), "result": {}}),
        ),
    ];
    let known: Vec<_> = parts
        .iter()
        .map(|part| part["properties"]["type"]["const"].clone())
        .filter(Value::is_string)
        .chain(["dynamic-tool".into()])
        .collect();
    let other = json!({
        "type": "string",
        "not": {"anyOf": [{"enum": known}, {"pattern": "^(data|tool)-"}]},
    });
    parts.push(part(other, json!({}), json!({})));
    let of_tool = json!({"type": "string", "pattern": "^tool-(?!result$)"});
    let dynamic = json!({"type": "string", "const": "dynamic-tool"});
    for (kind, name) in [(of_tool, None), (dynamic, Some("toolName"))] {
        parts.extend(tool_parts(&kind, name));
    }
    json!({
        "description": "A part of a message. Parts of types that are not listed are kept as they come.",
        "anyOf": parts,
    })
}

/// A call in each of its states.
fn tool_parts(kind: &Value, name: Option<&str>) -> Vec<Value> {
    let more = json!({
        "title": text(),
        "toolMetadata": {"type": "object"},
        "providerExecuted": {"type": "boolean"},
        "inputEncoding": {"type": "string", "enum": ["json", "text"]},
        "preliminary": {"type": "boolean"},
        "callProviderMetadata": reference("ProviderMetadata"),
        "resultProviderMetadata": reference("ProviderMetadata"),
    });
    let approval = || reference("ToolApproval");
    let answered = json!({"allOf": [
        approval(),
        {"type": "object", "required": ["approved"], "properties": {"approved": {"type": "boolean"}}},
    ]});
    let states = [
        (vec!["input-streaming"], None),
        (vec!["input-available", "output-available"], None),
        (vec!["output-error"], Some(("errorText", text()))),
        (
            vec!["approval-requested", "output-denied"],
            Some(("approval", approval())),
        ),
        (vec!["approval-responded"], Some(("approval", answered))),
    ];
    let parts = states.into_iter().map(|(states, field)| {
        let mut needed = json!({
            "toolCallId": reference("Id"),
            "state": {"type": "string", "enum": states},
        });
        if let Some(name) = name {
            needed[name] = text();
        }
        if let Some((name, schema)) = field {
            needed[name] = schema;
        }
        part(kind.clone(), needed, more.clone())
    });
    parts.collect()
}

fn tool_approval() -> Value {
    json!({
        "type": "object",
        "description": "The question that holds a call, and its answer.",
        "properties": {
            "id": reference("Id"),
            "approved": or_null(&json!({"type": "boolean"})),
            "reason": or_null(&text()),
            "requestReason": or_null(&text()),
            "isAutomatic": or_null(&json!({"type": "boolean"})),
            "signature": or_null(&text()),
            "digest": {"description": "The digest of what the person was shown."},
        },
        "required": ["id"],
    })
}

fn citation() -> Value {
    let source = |kind: &str, needed: Value, more: Value| {
        let mut needed = needed;
        needed["sourceType"] = json!({"type": "string", "const": kind});
        named("source", needed, more)
    };
    let index = json!({"type": "integer", "minimum": 0, "maximum": u64::MAX});
    json!({
        "type": "object",
        "description": "A reference that supports a piece of text.",
        "properties": {
            "source": {"anyOf": [
                source("url", json!({"id": text(), "url": text()}), json!({"title": text()})),
                source(
                    "document",
                    json!({"id": text(), "mediaType": text(), "title": text()}),
                    json!({"filename": text()}),
                ),
            ]},
            "startIndex": or_null(&index),
            "endIndex": or_null(&index),
            "citedText": or_null(&text()),
        },
        "required": ["source"],
    })
}

/// An object with these fields and no others.
fn strict(properties: &Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn approval_answer() -> Value {
    let (reason, digest) = (or_null(&text()), or_null(&text()));
    let approved = json!({
        "approved": {"type": "boolean", "const": true},
        "reason": reason,
        "input": {"description": "Replaces the model's input, if the approval is editable."},
        "digest": digest,
    });
    let denied = json!({
        "approved": {"type": "boolean", "const": false},
        "reason": reason,
        "digest": digest,
    });
    let answered =
        json!({"answer": {"description": "The data that was asked for."}, "digest": digest});
    let declined = json!({
        "declined": {"type": "boolean", "const": true},
        "reason": reason,
        "digest": digest,
    });
    json!({
        "description": "An answer: yes or no, or the data that was asked for. `digest` is the digest of \
                        what the person was shown.",
        "anyOf": [
            strict(&approved, &["approved"]),
            strict(&denied, &["approved"]),
            strict(&answered, &["answer"]),
            strict(&declined, &["declined"]),
        ],
    })
}

fn call_output() -> Value {
    let chat = json!({
        "description": "Only from the agent's side: the chat, if the call is named by the agent's id.",
        "anyOf": [reference("Id"), {"type": "null"}],
    });
    let output = json!({"output": {"description": "The output."}, "chat": chat});
    let error = json!({"error": text(), "chat": chat});
    json!({
        "description": "The output of a call, or why it failed.",
        "anyOf": [strict(&output, &["output"]), strict(&error, &["error"])],
    })
}

fn chat_update() -> Value {
    let properties = json!({
        "title": {
            "description": "What the chat is called; an empty title restores the first message.",
            "type": ["string", "null"],
            "maxLength": 200,
        },
        "archived": {"type": ["boolean", "null"]},
    });
    strict(&properties, &[])
}

/// The body of `POST /api/ag-ui`; of `POST /api/ag-ui/connect`, which takes no answers.
fn run_request(is_answering: bool) -> Value {
    let entry = |status: Value, payload: Option<Value>| {
        let mut properties = json!({"interruptId": reference("Id"), "status": status});
        let mut required = vec!["interruptId", "status"];
        if let Some(payload) = payload {
            properties["payload"] = payload;
            required.push("payload");
        }
        json!({"type": "object", "properties": properties, "required": required})
    };
    let payload = json!({
        "description": "What the interrupt's `responseSchema` asks for; for an approval also a boolean.",
        "type": ["object", "boolean", "string", "number", "array"],
    });
    let answer = entry(
        json!({"type": "string", "const": "resolved"}),
        Some(payload),
    );
    let dismissal = entry(json!({"type": "string", "const": "cancelled"}), None);
    let ignored = json!({"type": "string", "enum": ["resolved", "cancelled"]});
    let entries = match is_answering {
        true => json!({"anyOf": [answer, dismissal]}),
        false => entry(ignored, None),
    };
    json!({
        "type": "object",
        "description": "What a client of AG-UI sends. Messages that are not known, and other fields, have \
                        no effect.",
        "properties": {
            "threadId": {
                "description": "The chat. One that is opened has an id as `ChatId` describes it.",
                "allOf": [reference("Id")],
            },
            "runId": reference("Id"),
            "protocolVersion": or_null(&text()),
            "messages": or_null(&json!({"type": "array", "maxItems": 10_000})),
            "tools": {"description": "Tools that the page declares."},
            "resume": or_null(&json!({"type": "array", "items": entries})),
            "forwardedProps": {"description": "`trigger` and `messageId`, as in `POST /api/chat`."},
        },
        "required": ["threadId", "runId"],
    })
}
