//! What is read is written back the same but for the letter case, and nothing that is read can bring
//! a decoder down.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use adk_stream_gemini::live::{ClientMessage, ServerMessage};
use adk_stream_gemini::{ErrorBody, GenerateContentRequest, GenerateContentResponse, Part};
use proptest::collection::vec;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// A value as a sender may spell it, and as it is written.
type Spelled = (Value, Value);

/// A value that has one spelling.
fn plain(value: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Spelled> {
    value.prop_map(|value| (value.clone(), value)).boxed()
}

fn text() -> BoxedStrategy<Spelled> {
    plain(".{0,6}".prop_map(Value::String))
}

fn count() -> BoxedStrategy<Spelled> {
    (any::<u32>(), any::<bool>())
        .prop_map(|(number, as_string)| {
            let sent = if as_string {
                json!(number.to_string())
            } else {
                json!(number)
            };
            (sent, json!(number))
        })
        .boxed()
}

fn flag() -> BoxedStrategy<Spelled> {
    plain(any::<bool>().prop_map(Value::Bool))
}

/// Anything at all, with keys that look like ours: they must not be touched.
fn anything() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| json!(number)),
        ".{0,6}".prop_map(Value::String),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::Array),
            vec((key(), inner), 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
    .boxed()
}

fn anything_with_fields() -> BoxedStrategy<Spelled> {
    plain(
        vec((key(), anything()), 0..3)
            .prop_map(|fields| Value::Object(fields.into_iter().collect())),
    )
}

/// Names, known in one place or another in both letter cases, and unknown.
fn key() -> impl Strategy<Value = String> {
    let names = [
        "text",
        "data",
        "parts",
        "role",
        "contents",
        "candidates",
        "content",
        "functionCall",
        "function_call",
        "args",
        "name",
        "id",
        "inlineData",
        "inline_data",
        "mimeType",
        "thought",
        "thoughtSignature",
        "thought_signature",
        "error",
        "details",
        "retryDelay",
        "@type",
        "usageMetadata",
        "promptTokenCount",
        "setup",
        "serverContent",
        "server_content",
        "modelTurn",
        "toolCall",
        "functionCalls",
        "goAway",
        "timeLeft",
        "tools",
        "finishReason",
        "vendor",
        "",
    ];
    prop::sample::select(names.to_vec()).prop_map(str::to_owned)
}

/// An object of the known fields, each there or not, in either letter case, and one unknown field.
fn object(
    fields: Vec<(&'static str, &'static str, BoxedStrategy<Spelled>)>,
) -> BoxedStrategy<Spelled> {
    let fields: Vec<_> = fields
        .into_iter()
        .map(|(snake, camel, value)| (Just((snake, camel)), prop::option::of(value), any::<bool>()))
        .collect();
    (fields, prop::option::of(anything()))
        .prop_map(|(fields, unknown)| {
            let (mut sent, mut written) = (Map::new(), Map::new());
            for ((snake, camel), value, in_snake) in fields {
                if let Some((as_sent, as_written)) = value {
                    let spelling = if in_snake { snake } else { camel };
                    sent.insert(spelling.to_owned(), as_sent);
                    written.insert(camel.to_owned(), as_written);
                }
            }
            if let Some(unknown) = unknown {
                sent.insert("vendor_extension".to_owned(), unknown.clone());
                written.insert("vendor_extension".to_owned(), unknown);
            }
            (Value::Object(sent), Value::Object(written))
        })
        .boxed()
}

/// A list that is not empty, since an empty one is absent.
fn list(item: BoxedStrategy<Spelled>) -> BoxedStrategy<Spelled> {
    vec(item, 1..3)
        .prop_map(|items| {
            let (sent, written) = items.into_iter().unzip();
            (Value::Array(sent), Value::Array(written))
        })
        .boxed()
}

fn part() -> BoxedStrategy<Spelled> {
    let call = || {
        object(vec![
            ("id", "id", text()),
            ("name", "name", text()),
            ("args", "args", anything_with_fields()),
        ])
    };
    let response = object(vec![
        ("name", "name", text()),
        ("response", "response", anything_with_fields()),
        ("scheduling", "scheduling", text()),
        ("will_continue", "willContinue", flag()),
    ]);
    let blob = object(vec![
        ("mime_type", "mimeType", text()),
        ("data", "data", text()),
    ]);
    let of = |snake, camel, data| {
        object(vec![
            (snake, camel, data),
            ("thought", "thought", flag()),
            ("thought_signature", "thoughtSignature", text()),
        ])
    };
    prop_oneof![
        of("text", "text", text()),
        of("inline_data", "inlineData", blob),
        of("function_call", "functionCall", call()),
        of("function_response", "functionResponse", response),
        of(
            "moon_call",
            "moon_call",
            call().prop_map(|(_, value)| (value.clone(), value)).boxed()
        ),
    ]
    .boxed()
}

fn content() -> BoxedStrategy<Spelled> {
    object(vec![
        ("role", "role", text()),
        ("parts", "parts", list(part())),
    ])
}

fn tools() -> BoxedStrategy<Spelled> {
    let declaration = object(vec![
        ("name", "name", text()),
        ("behavior", "behavior", text()),
        (
            "parameters_json_schema",
            "parametersJsonSchema",
            anything_with_fields(),
        ),
    ]);
    list(object(vec![(
        "function_declarations",
        "functionDeclarations",
        list(declaration),
    )]))
}

fn usage() -> BoxedStrategy<Spelled> {
    object(vec![
        ("prompt_token_count", "promptTokenCount", count()),
        ("total_token_count", "totalTokenCount", count()),
    ])
}

fn request() -> BoxedStrategy<Spelled> {
    object(vec![
        ("contents", "contents", list(content())),
        ("system_instruction", "systemInstruction", content()),
        ("tools", "tools", tools()),
    ])
}

fn response() -> BoxedStrategy<Spelled> {
    let candidate = object(vec![
        ("content", "content", content()),
        ("finish_reason", "finishReason", text()),
    ]);
    object(vec![
        ("candidates", "candidates", list(candidate)),
        ("usage_metadata", "usageMetadata", usage()),
        ("model_version", "modelVersion", text()),
    ])
}

fn client() -> BoxedStrategy<Spelled> {
    let said = object(vec![
        ("turns", "turns", list(content())),
        ("turn_complete", "turnComplete", flag()),
    ]);
    let setup = object(vec![
        ("model", "model", text()),
        ("tools", "tools", tools()),
    ]);
    object(vec![
        ("setup", "setup", setup),
        ("client_content", "clientContent", said),
    ])
}

fn server() -> BoxedStrategy<Spelled> {
    let said = object(vec![
        ("model_turn", "modelTurn", content()),
        ("generation_complete", "generationComplete", flag()),
    ]);
    object(vec![
        ("server_content", "serverContent", said),
        ("usage_metadata", "usageMetadata", usage()),
    ])
}

fn written<T: DeserializeOwned + Serialize>(sent: &Value) -> Value {
    let it: T = serde_json::from_str(&sent.to_string()).unwrap();
    serde_json::to_value(it).unwrap()
}

/// Reads it, and where it is read, wants what is written to be read as the same.
fn settles<T: DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(value: &Value) {
    match serde_json::from_value::<T>(value.clone()) {
        Ok(it) => {
            let again: T = serde_json::from_str(&serde_json::to_string(&it).unwrap()).unwrap();
            assert_eq!(again, it);
        }
        Err(_) => assert!(!value.is_object(), "{value} is an object"),
    }
}

proptest! {
    #[test]
    fn a_request((sent, expected) in request()) {
        prop_assert_eq!(written::<GenerateContentRequest>(&sent), expected);
    }

    #[test]
    fn a_chunk((sent, expected) in response()) {
        prop_assert_eq!(written::<GenerateContentResponse>(&sent), expected);
    }

    #[test]
    fn a_part((sent, expected) in part()) {
        prop_assert_eq!(written::<Part>(&sent), expected);
    }

    #[test]
    fn a_live_client_message((sent, expected) in client()) {
        prop_assert_eq!(written::<ClientMessage>(&sent), expected);
    }

    #[test]
    fn a_live_server_message((sent, expected) in server()) {
        prop_assert_eq!(written::<ServerMessage>(&sent), expected);
    }

    #[test]
    fn any_json_is_read_or_refused(value in anything()) {
        settles::<GenerateContentRequest>(&value);
        settles::<GenerateContentResponse>(&value);
        settles::<Part>(&value);
        settles::<ErrorBody>(&value);
        settles::<ClientMessage>(&value);
        settles::<ServerMessage>(&value);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..64)) {
        let _ = serde_json::from_slice::<ServerMessage>(&bytes);
        let _ = serde_json::from_slice::<GenerateContentResponse>(&bytes);
    }
}
