//! Every chunk, message and frame that the wire can emit, for the real schemas to look at.
//!
//! A [`Shape`] has what a thing must hold and what it may hold; a specimen is made of every subset
//! of the latter.

use serde_json::{Map, Value, json};
use wire::{Chunk, Message, Profile};

/// What a chunk or a part must hold, and what it may hold.
#[derive(Debug, Clone)]
pub struct Shape {
    /// The required fields, `type` first.
    pub required: Map<String, Value>,
    /// The optional fields.
    pub optional: Map<String, Value>,
}

impl Shape {
    fn new(required: Value, optional: Value) -> Self {
        let map = |value| match value {
            Value::Object(map) => map,
            other => panic!("a shape is made of objects, not of {other}"),
        };
        Self {
            required: map(required),
            optional: map(optional),
        }
    }

    /// The thing with the optional fields whose bits are set.
    pub fn with(&self, bits: usize) -> Value {
        let mut map = self.required.clone();
        let chosen = self.optional.iter().enumerate();
        let chosen = chosen.filter(|(index, _)| bits >> index & 1 == 1);
        map.extend(chosen.map(|(_, (key, value))| (key.clone(), value.clone())));
        Value::Object(map)
    }

    /// The thing with every subset of the optional fields.
    pub fn all(&self) -> impl Iterator<Item = Value> + '_ {
        (0..1 << self.optional.len()).map(|bits| self.with(bits))
    }
}

fn provider_metadata() -> Value {
    json!({"google": {"thoughtSignature": "c2ln", "unknown": [1, null, {"deep": true}]}, "other": {}})
}

fn citations() -> Value {
    json!([
        {"source": {"sourceType": "url", "type": "source", "id": "s1", "url": "https://example.com",
                    "title": "Example", "providerMetadata": provider_metadata()},
         "startIndex": 0, "endIndex": 5, "citedText": "Hello"},
        {"source": {"sourceType": "document", "type": "source", "id": "s2", "mediaType": "application/pdf",
                    "title": "Paper", "filename": "paper.pdf"}},
    ])
}

fn steering_parts() -> Value {
    json!([
        {"type": "text", "text": "and quickly", "providerMetadata": provider_metadata()},
        {"type": "file", "mediaType": "image/png", "filename": "a.png", "url": "data:image/png;base64,AA==",
         "providerReference": {"google": "files/1"}, "providerMetadata": provider_metadata()},
    ])
}

/// The shapes of all chunks.
pub fn chunk_shapes() -> Vec<Shape> {
    let shape = Shape::new;
    let metadata = || json!({"providerMetadata": provider_metadata()});
    let call =
        |kind: &str| json!({"type": kind, "toolCallId": "c1", "toolName": "process_payment"});
    let call_with = |kind: &str, more: Value| {
        let mut required = call(kind);
        merge(&mut required, more);
        required
    };
    let announced = || {
        json!({"providerExecuted": false, "providerMetadata": provider_metadata(),
               "toolMetadata": {"icon": "coin"}, "dynamic": true, "title": "Pay"})
    };
    let mut shapes = vec![
        shape(
            json!({"type": "start"}),
            json!({"messageId": "m1", "messageMetadata": {"model": "demo"}}),
        ),
        shape(json!({"type": "start-step"}), json!({})),
        shape(json!({"type": "finish-step"}), json!({})),
        shape(json!({"type": "reset-step"}), json!({})),
        shape(json!({"type": "abort"}), json!({"reason": "stopped"})),
        shape(
            json!({"type": "error", "errorText": "rate_limited: try again in 17 s"}),
            json!({}),
        ),
        shape(
            json!({"type": "message-metadata", "messageMetadata": {"usage": {"totalTokens": 5}}}),
            json!({}),
        ),
        shape(
            json!({"type": "message-metadata", "messageMetadata": null}),
            json!({}),
        ),
        shape(json!({"type": "text-start", "id": "0"}), metadata()),
        shape(
            json!({"type": "text-delta", "id": "0", "delta": "現在地\n\"x\""}),
            metadata(),
        ),
        shape(
            json!({"type": "text-end", "id": "0"}),
            json!({"citations": citations(), "providerMetadata": provider_metadata()}),
        ),
        shape(json!({"type": "reasoning-start", "id": "1"}), metadata()),
        shape(
            json!({"type": "reasoning-delta", "id": "1", "delta": ""}),
            metadata(),
        ),
        shape(json!({"type": "reasoning-end", "id": "1"}), metadata()),
        shape(
            json!({"type": "reasoning-file", "url": "data:image/png;base64,AA==", "mediaType": "image/png"}),
            metadata(),
        ),
        shape(
            json!({"type": "custom", "kind": "google.thing"}),
            metadata(),
        ),
        shape(
            json!({"type": "source-url", "sourceId": "s1", "url": "https://example.com"}),
            json!({"title": "Example", "providerMetadata": provider_metadata()}),
        ),
        shape(
            json!({"type": "source-document", "sourceId": "s1", "mediaType": "application/pdf", "title": "Paper"}),
            json!({"filename": "paper.pdf", "providerMetadata": provider_metadata()}),
        ),
        shape(
            json!({"type": "file", "url": "data:image/png;base64,AA==", "mediaType": "image/png"}),
            metadata(),
        ),
        shape(
            json!({"type": "data-pcm", "data": {"content": "AAA=", "sampleRate": 24000}}),
            json!({"id": "d1", "transient": true}),
        ),
        shape(
            json!({"type": "data-nothing", "data": null}),
            json!({"transient": false}),
        ),
        shape(
            json!({"type": "steering-message", "id": "m2", "parts": steering_parts()}),
            json!({}),
        ),
        shape(
            call("tool-input-start"),
            json!({"inputEncoding": "text", "providerExecuted": true, "providerMetadata": provider_metadata(),
                   "toolMetadata": {"icon": "coin"}, "dynamic": false, "title": "Pay"}),
        ),
        shape(
            json!({"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": "{\"am"}),
            json!({}),
        ),
        shape(
            call_with(
                "tool-input-available",
                json!({"input": {"amount": 5, "to": null}}),
            ),
            announced(),
        ),
        shape(
            call_with("tool-input-available", json!({"input": null})),
            json!({}),
        ),
        shape(
            call_with(
                "tool-input-error",
                json!({"input": "{bad", "errorText": "amount: missing"}),
            ),
            announced(),
        ),
        shape(
            json!({"type": "tool-approval-request", "approvalId": "a1", "toolCallId": "c1"}),
            json!({"approvalDescriptor": {"question": "Pay?"}, "inputSchemaInput": null, "reason": "above 100",
                   "isAutomatic": true, "signature": "c2ln"}),
        ),
        shape(
            json!({"type": "tool-approval-response", "approvalId": "a1", "approved": false}),
            json!({"reason": "too much", "providerExecuted": false, "providerMetadata": provider_metadata()}),
        ),
        shape(
            json!({"type": "tool-output-available", "toolCallId": "c1", "output": {"success": true}}),
            json!({"providerExecuted": true, "providerMetadata": provider_metadata(),
                   "toolMetadata": {"icon": "coin"}, "dynamic": true, "preliminary": true}),
        ),
        shape(
            json!({"type": "tool-output-available", "toolCallId": "c1", "output": null}),
            json!({}),
        ),
        shape(
            json!({"type": "tool-output-error", "toolCallId": "c1", "errorText": "timed out"}),
            json!({"providerExecuted": false, "providerMetadata": provider_metadata(),
                   "toolMetadata": {"icon": "coin"}, "dynamic": false}),
        ),
        shape(
            json!({"type": "tool-output-denied", "toolCallId": "c1"}),
            json!({}),
        ),
    ];
    let reasons = [
        "stop",
        "length",
        "content-filter",
        "tool-calls",
        "error",
        "interrupted",
        "other",
    ];
    shapes.extend(reasons.map(|reason| {
        shape(
            json!({"type": "finish"}),
            json!({"finishReason": reason, "messageMetadata": {"usage": {"totalTokens": null}}}),
        )
    }));
    shapes
}

/// The shapes of all parts.
pub fn part_shapes() -> Vec<Shape> {
    let shape = Shape::new;
    let block = || json!({"state": "done", "providerMetadata": provider_metadata()});
    let mut shapes = vec![
        shape(
            json!({"type": "text", "text": "Hello"}),
            json!({"citations": citations(), "state": "streaming", "providerMetadata": provider_metadata()}),
        ),
        shape(json!({"type": "reasoning", "text": "Hm"}), {
            let mut optional = json!({"id": "r1"});
            merge(&mut optional, block());
            optional
        }),
        shape(
            json!({"type": "source-url", "sourceId": "s1", "url": "https://example.com"}),
            json!({"title": "Example", "providerMetadata": provider_metadata()}),
        ),
        shape(
            json!({"type": "source-document", "sourceId": "s1", "mediaType": "application/pdf", "title": "Paper"}),
            json!({"filename": "paper.pdf", "providerMetadata": provider_metadata()}),
        ),
        shape(
            json!({"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AA=="}),
            json!({"filename": "a.png", "providerReference": {"google": "files/1"},
                   "providerMetadata": provider_metadata()}),
        ),
        shape(
            json!({"type": "reasoning-file", "mediaType": "image/png", "url": "data:image/png;base64,AA=="}),
            json!({"providerMetadata": provider_metadata()}),
        ),
        shape(
            json!({"type": "custom", "kind": "google.thing"}),
            json!({"providerMetadata": provider_metadata()}),
        ),
        shape(
            json!({"type": "steering-message", "id": "m2", "parts": steering_parts()}),
            json!({}),
        ),
        shape(json!({"type": "step-start"}), json!({})),
        shape(
            json!({"type": "data-chart", "data": [1, 2]}),
            json!({"id": "d1"}),
        ),
    ];
    for kind in [
        json!({"type": "tool-process_payment"}),
        json!({"type": "dynamic-tool", "toolName": "process_payment"}),
    ] {
        shapes.extend(tool_states().into_iter().map(|(required, optional)| {
            let mut part = kind.clone();
            merge(&mut part, json!({"toolCallId": "c1"}));
            merge(&mut part, required);
            let mut common = json!({"title": "Pay", "toolMetadata": {"icon": "coin"}, "providerExecuted": false,
                                    "callProviderMetadata": provider_metadata()});
            merge(&mut common, optional);
            shape(part, common)
        }));
    }
    shapes
}

/// Each state of a call with what it must and may hold.
fn tool_states() -> Vec<(Value, Value)> {
    let input = || json!({"amount": 5});
    let question = || {
        json!({"id": "a1", "descriptor": {"q": 1}, "inputSchemaInput": null,
                             "requestReason": "above 100", "isAutomatic": false, "signature": "c2ln"})
    };
    let answered = |approved: bool| {
        let mut approval = question();
        merge(
            &mut approval,
            json!({"approved": approved, "reason": "because"}),
        );
        approval
    };
    let granted = json!({"id": "a1", "approved": true});
    vec![
        (
            json!({"state": "input-streaming"}),
            json!({"input": {"am": null}, "rawInput": "{\"am\":", "inputEncoding": "json"}),
        ),
        (
            json!({"state": "input-available", "input": input()}),
            json!({}),
        ),
        (
            json!({"state": "approval-requested", "input": input(), "approval": question()}),
            json!({}),
        ),
        (
            json!({"state": "approval-responded", "input": input(), "approval": answered(true)}),
            json!({}),
        ),
        (
            json!({"state": "approval-responded", "input": input(), "approval": answered(false)}),
            json!({}),
        ),
        (
            json!({"state": "output-available", "input": input(), "output": {"success": true}}),
            json!({"preliminary": true, "resultProviderMetadata": provider_metadata(), "approval": granted}),
        ),
        (
            json!({"state": "output-error", "errorText": "timed out"}),
            json!({"input": input(), "rawInput": "{bad", "resultProviderMetadata": provider_metadata(),
                   "approval": answered(true)}),
        ),
        (
            json!({"state": "output-denied", "input": input(), "approval": answered(false)}),
            json!({}),
        ),
    ]
}

fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}

/// Every chunk that a profile says.
pub fn chunks(profile: Profile) -> Vec<Chunk> {
    let shapes = chunk_shapes();
    let specimens = shapes.iter().flat_map(Shape::all);
    let specimens = specimens.map(|value| Chunk::decode(value).expect("specimens are valid"));
    specimens
        .filter_map(|chunk| profile.narrow(chunk))
        .collect()
}

/// Messages that hold every part that the releases of a profile know.
pub fn messages(profile: Profile) -> Vec<Vec<Message>> {
    const NEWER: [&str; 3] = ["reasoning-file", "custom", "steering-message"];
    let is_known = |shape: &&Shape| {
        let kind = shape.required["type"].as_str().unwrap_or_default();
        profile == Profile::V7 || !NEWER.contains(&kind)
    };
    let mut conversations = Vec::new();
    for shape in part_shapes().iter().filter(is_known) {
        for part in shape.all() {
            let messages = [
                json!({"id": "m0", "role": "system", "parts": [{"type": "text", "text": "Be kind."}]}),
                json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": "hi"}], "metadata": {"at": 1}}),
                json!({"id": "m2", "role": "assistant", "parts": [{"type": "step-start"}, part]}),
            ];
            let messages = messages.map(|value| {
                let message = Message::decode(value).expect("specimens are valid");
                message.complete()
            });
            conversations.push(messages.to_vec());
        }
    }
    conversations
}

/// WebSocket frames of the AI SDK's dialect: the direction, and the frame.
pub fn frames() -> Vec<(&'static str, Value)> {
    let message = json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": "hi"}]});
    let client = [
        json!({"type": "send", "requestId": "r1", "id": "chat-1", "trigger": "submit-message",
               "messages": [message], "headers": {"x-tenant": "acme"}, "body": {"tenant": 1}}),
        json!({"type": "send", "requestId": "r1", "id": "chat-1", "trigger": "regenerate-message", "messageId": "m1",
               "messages": [message], "headers": {}, "body": {}, "metadata": {"any": null}}),
        json!({"type": "resume", "requestId": "r1", "id": "chat-1", "headers": {}, "body": {}}),
        json!({"type": "resume", "requestId": "r1", "id": "chat-1", "lastSequence": 7, "headers": {}, "body": {},
               "metadata": 1}),
        json!({"type": "abort", "requestId": "r1"}),
    ];
    let limits = wire::Limits::default();
    let client = client.map(|value| {
        let frame = wire::frame::ClientFrame::from_slice(value.to_string().as_bytes(), &limits);
        let frame = serde_json::to_value(frame.expect("specimens are valid"));
        ("client", frame.expect("frames serialize"))
    });
    let ends = [
        json!({"type": "start", "requestId": "r1"}),
        json!({"type": "end", "requestId": "r1"}),
        json!({"type": "no-active", "requestId": "r1"}),
        json!({"type": "error", "requestId": "r1"}),
        json!({"type": "error", "requestId": "r1", "errorText": "no such chat"}),
    ];
    let chunks = chunks(Profile::V7).into_iter();
    let chunks = chunks
        .map(|chunk| json!({"type": "chunk", "requestId": "r1", "sequence": 0, "chunk": chunk}));
    let server = ends.into_iter().chain(chunks).map(|value| {
        let frame = wire::frame::ServerFrame::from_slice(value.to_string().as_bytes(), &limits);
        let text = frame.expect("specimens are valid").to_json();
        (
            "server",
            serde_json::from_str(&text).expect("frames are JSON"),
        )
    });
    client.into_iter().chain(server).collect()
}
