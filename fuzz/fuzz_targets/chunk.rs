#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(chunk) = wire::Chunk::from_slice(bytes) {
        // What was read is what is written.
        let again = wire::Chunk::from_slice(chunk.to_json().as_bytes());
        assert_eq!(again.as_ref(), Ok(&chunk));
    }
});
