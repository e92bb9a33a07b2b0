#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // Cut in two, a stream gives the same events as in one piece.
    let whole = wire::sse::Decoder::new().push(bytes);
    let (head, tail) = bytes.split_at(bytes.len() / 2);
    let mut decoder = wire::sse::Decoder::new();
    let mut events = decoder.push(head);
    events.extend(decoder.push(tail));
    assert_eq!(events, whole);
});
