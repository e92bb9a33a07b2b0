#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = wire::socket::ClientFrame::from_slice(bytes, &wire::Limits::default());
});
