#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let limits = wire::Limits {
        depth: 127,
        ..wire::Limits::default()
    };
    if let Ok(frame) = wire::frame::ServerFrame::from_slice(bytes, &limits) {
        let again = wire::frame::ServerFrame::from_slice(frame.to_json().as_bytes(), &limits);
        assert_eq!(again, Ok(frame));
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = wire::legacy::ServerFrame::from_text(text);
    }
});
