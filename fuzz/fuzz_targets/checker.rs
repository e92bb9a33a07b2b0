#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // Any body, on either major: findings, never a panic.
    for sdk in [wire::assembler::Sdk::V6, wire::assembler::Sdk::V7] {
        let mut checker = wire::Checker::new(sdk);
        checker.say("hi");
        for window in bytes.split(|byte| *byte == 0) {
            checker.window(window);
        }
        checker.verdict();
    }
});
