#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let limits = wire::Limits {
        depth: 127,
        ..wire::Limits::default()
    };
    if let Ok(request) = wire::ChatRequest::from_slice(bytes, &limits) {
        for message in &request.messages {
            message.answers();
        }
        let written = serde_json::to_vec(&request).expect("a request serializes");
        assert_eq!(
            wire::ChatRequest::from_slice(&written, &limits),
            Ok(request)
        );
    }
});
