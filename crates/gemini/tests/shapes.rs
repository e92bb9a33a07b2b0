//! What travels, in the shapes in which it was seen: read, looked at, and written again.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::time::Duration;

use adk_stream_gemini::live::{ClientMessage, ServerMessage};
use adk_stream_gemini::{
    Behavior, Blob, BlockReason, Content, Data, Detail, ErrorBody, FinishReason,
    GenerateContentRequest, GenerateContentResponse, Part, Role, Scheduling, Status,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn read<T: DeserializeOwned>(value: &Value) -> T {
    // Through text, as it comes.
    serde_json::from_str(&value.to_string()).unwrap()
}

/// Reads it and wants it back as it was.
fn read_and_written<T: DeserializeOwned + Serialize>(value: Value) -> T {
    let it: T = read(&value);
    assert_eq!(serde_json::to_value(&it).unwrap(), value);
    it
}

#[test]
fn a_request_with_a_call_and_its_response() {
    let request: GenerateContentRequest = read_and_written(json!({
        "contents": [
            {"role": "user", "parts": [{"text": "hi"}, {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]},
            {"role": "model", "parts": [
                {"text": "I look it up.", "thought": true},
                {"functionCall": {"id": "abc", "name": "get_weather", "args": {"location": "Tokyo"}}, "thoughtSignature": "c2ln+/=="},
            ]},
            {"role": "user", "parts": [{"functionResponse": {"id": "abc", "name": "get_weather", "response": {"output": {"celsius": 21}}}}]},
        ],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {"functionDeclarations": [{"name": "get_weather", "description": "w", "parametersJsonSchema": {"type": "object"}}]},
            {"googleSearch": {}},
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
        "generationConfig": {"temperature": 0.5, "maxOutputTokens": 100, "thinkingConfig": {"includeThoughts": true, "thinkingBudget": -1}},
        "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_ONLY_HIGH"}],
        "labels": {"team": "payments"},
    }));
    let model = &request.contents[1];
    assert_eq!(model.role, Some(Role::Model));
    assert!(model.parts[0].is_thought());
    assert_eq!(
        model.parts[1].thought_signature.as_deref(),
        Some("c2ln+/==")
    );
    assert_eq!(request.tools[1].rest["googleSearch"], json!({}));
    assert_eq!(request.rest["labels"]["team"], "payments");
}

#[test]
fn a_request_in_the_letter_case_of_the_python_sdk() {
    let request: GenerateContentRequest = read(&json!({
        "contents": [{"parts": [{"inline_data": {"mime_type": "image/png", "data": "_-8="}}], "role": "user"}],
        "system_instruction": {"parts": [{"text": "s"}], "role": "user"},
        "tools": [{"function_declarations": [{"name": "f", "parameters_json_schema": {"properties": {"snake_case": {"type": "string"}}}}]}],
        "generation_config": {"max_output_tokens": "7"},
    }));
    assert_eq!(
        serde_json::to_value(request).unwrap(),
        json!({
            "contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "_-8="}}]}],
            "systemInstruction": {"role": "user", "parts": [{"text": "s"}]},
            "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"properties": {"snake_case": {"type": "string"}}}}]}],
            "generationConfig": {"maxOutputTokens": 7},
        })
    );
}

#[test]
fn a_chunk_with_thoughts_calls_and_usage() {
    let chunk: GenerateContentResponse = read_and_written(json!({
        "candidates": [{"content": {"role": "model", "parts": [
            {"text": "Hm.", "thought": true},
            {"functionCall": {"name": "get_location"}, "thoughtSignature": "c2ln"},
            {"functionCall": {"name": "get_location"}},
            {"text": "", "thoughtSignature": "bGFzdA"},
        ]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 2, "totalTokenCount": 17,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}]},
        "modelVersion": "gemini-x", "responseId": "r1",
    }));
    let candidate = &chunk.candidates[0];
    assert_eq!(candidate.finish_reason, Some(FinishReason::Stop));
    let parts = &candidate.content.as_ref().unwrap().parts;
    let Data::FunctionCall(call) = &parts[1].data else {
        panic!("a call, not {:?}", parts[1]);
    };
    assert_eq!((&call.id, &call.args), (&None, &None));
    assert_eq!(parts[3].data, Data::Text(String::new()));
    assert_eq!(parts[3].thought_signature.as_deref(), Some("bGFzdA"));
    assert_eq!(chunk.usage_metadata.unwrap().thoughts_token_count, Some(2));
}

#[test]
fn a_part_of_an_unknown_kind_is_kept_with_its_signature() {
    let part: Part = read_and_written(json!({
        "thoughtSignature": "eA==",
        "toolCall": {"toolType": "GOOGLE_SEARCH", "inner_name": [1, null, "x"]},
    }));
    assert_eq!(part.data, Data::Unknown);
    assert_eq!(part.rest["toolCall"]["inner_name"], json!([1, null, "x"]));
}

#[test]
fn words_of_tomorrow_are_kept() {
    let chunk: GenerateContentResponse = read_and_written(json!({
        "candidates": [{"finishReason": "MOON_PHASE"}],
        "promptFeedback": {"blockReason": "MOON_PHASE"},
    }));
    let word = || "MOON_PHASE".to_owned();
    assert_eq!(
        chunk.candidates[0].finish_reason,
        Some(FinishReason::Unknown(word()))
    );
    assert_eq!(
        chunk.prompt_feedback.unwrap().block_reason,
        Some(BlockReason::Unknown(word()))
    );
}

#[test]
fn an_error_with_its_details() {
    let body: ErrorBody = read_and_written(json!({"error": {
        "code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "q"}]},
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "RATE_LIMIT_EXCEEDED", "domain": "googleapis.com"},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"},
        ],
    }}));
    let status = body.error.unwrap();
    assert_eq!(status.retry_delay(), Some(Duration::from_millis(17_500)));
    assert_eq!(status.reason(), Some("RATE_LIMIT_EXCEEDED"));
    assert_eq!(status.details[0].rest["violations"][0]["quotaId"], "q");
}

#[test]
fn an_error_in_the_middle_of_a_stream() {
    let chunk: GenerateContentResponse =
        read_and_written(json!({"error": {"code": 503, "status": "UNAVAILABLE"}}));
    assert_eq!(chunk.error.unwrap().code, Some(503));
}

#[test]
fn an_error_is_written_as_google_writes_it() {
    let body = ErrorBody::from(Status {
        code: Some(429),
        status: Some("RESOURCE_EXHAUSTED".into()),
        details: vec![Detail::retry_info(Duration::from_secs(17))],
        ..Status::default()
    });
    assert_eq!(
        serde_json::to_string(&body).unwrap(),
        r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}]}}"#
    );
}

#[test]
fn sources_and_citations() {
    let chunk: GenerateContentResponse = read_and_written(json!({"candidates": [{
        "citationMetadata": {"citationSources": [{"startIndex": 1, "endIndex": 9, "uri": "https://a.example", "license": "mit"}]},
        "groundingMetadata": {
            "groundingChunks": [{"web": {"uri": "https://b.example", "title": "B"}}, {"maps": {"uri": "https://c.example", "placeId": "p"}}],
            "groundingSupports": [{"segment": {"endIndex": 9}, "groundingChunkIndices": [0]}],
            "webSearchQueries": ["q"],
        },
    }]}));
    let grounding = chunk.candidates[0].grounding_metadata.as_ref().unwrap();
    let web = grounding.grounding_chunks[0].web.as_ref().unwrap();
    assert_eq!(web.title.as_deref(), Some("B"));
}

#[test]
fn a_live_client_sets_up_and_speaks() {
    let setup: ClientMessage = read(&json!({"setup": {
        "model": "models/m",
        "generationConfig": {"responseModalities": ["AUDIO"], "speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Kore"}}}},
        "tools": [{"functionDeclarations": [{"name": "f", "behavior": "NON_BLOCKING", "parameters": {}}]}],
        "sessionResumption": {"handle": "h"}, "inputAudioTranscription": {}, "outputAudioTranscription": {},
        "realtimeInputConfig": {"automatic_activity_detection": {"disabled": false}},
        "contextWindowCompression": {"triggerTokens": "100000", "sliding_window": {}},
    }}));
    let setup = setup.setup.unwrap();
    let declaration = &setup.tools[0].function_declarations[0];
    assert_eq!(declaration.behavior, Some(Behavior::NonBlocking));
    assert!(setup.input_audio_transcription.is_some());
    let compression = setup.context_window_compression.unwrap();
    assert_eq!(compression.trigger_tokens, Some(100_000));
    assert!(compression.sliding_window.is_some());

    let said: ClientMessage = read(&json!({"client_content": {
        "turns": [{"parts": [{"text": "hello"}], "role": "user"}], "turn_complete": true,
    }}));
    let said = said.client_content.unwrap();
    assert_eq!(said.turn_complete, Some(true));
    assert_eq!(said.turns, [Content::user(vec![Part::text("hello")])]);

    let message: ClientMessage = read(&json!({"realtime_input": {
        "audio": {"data": "AAEAAQ==", "mime_type": "audio/pcm;rate=16000"},
    }}));
    assert_eq!(
        message.realtime_input.unwrap().audio,
        Some(Blob::new("audio/pcm;rate=16000", "AAEAAQ=="))
    );

    let answered: ClientMessage = read(&json!({"tool_response": {"functionResponses": [
        {"will_continue": true, "scheduling": "SILENT", "id": "i", "name": "f", "response": {"status": "pending"}},
    ]}}));
    let response = &answered.tool_response.unwrap().function_responses[0];
    assert_eq!(response.scheduling, Some(Scheduling::Silent));
    assert_eq!(response.will_continue, Some(true));
}

#[test]
fn a_live_client_writes_its_signals_as_empty_objects() {
    for signal in [
        json!({"realtimeInput": {"activityStart": {}}}),
        json!({"realtimeInput": {"activityEnd": {}}}),
        json!({"realtimeInput": {"audioStreamEnd": true}}),
        json!({"setupComplete": {}}),
    ] {
        read_and_written::<ClientMessage>(signal);
    }
}

#[test]
fn a_live_server_speaks() {
    for frame in [
        json!({"setupComplete": {}}),
        json!({"setupComplete": {"sessionId": "s"}}),
        json!({"serverContent": {"modelTurn": {"role": "model", "parts": [{"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": "AAAA"}}]}}}),
        json!({"serverContent": {"inputTranscription": {"text": "hi"}}}),
        json!({"serverContent": {"interrupted": true}}),
        json!({"serverContent": {"turnComplete": true}, "usageMetadata": {"promptTokenCount": 1, "responseTokenCount": 2, "totalTokenCount": 3}}),
        json!({"toolCallCancellation": {"ids": ["i"]}}),
        json!({"sessionResumptionUpdate": {"newHandle": "h", "resumable": true}}),
    ] {
        let message: ServerMessage = read_and_written(frame.clone());
        assert!(message.rest.is_empty(), "{frame} is known");
    }
    let call: ServerMessage =
        read_and_written(json!({"toolCall": {"functionCalls": [{"id": "i", "name": "f"}]}}));
    assert_eq!(call.tool_call.unwrap().function_calls[0].args, None);
    let away: ServerMessage = read_and_written(json!({"goAway": {"timeLeft": "50s"}}));
    let left = away.go_away.unwrap().time_left.unwrap();
    assert_eq!(left.0, Duration::from_secs(50));
}
