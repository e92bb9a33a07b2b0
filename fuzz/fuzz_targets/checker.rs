#![no_main]

// The file, and not the crate: what else `testkit` stands on would be built and fuzzed with it.
#[path = "../../crates/testkit/src/checker/mod.rs"]
#[allow(dead_code)]
mod checker;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // Any body, on either major: findings, never a panic.
    for sdk in [wire::assembler::Sdk::V6, wire::assembler::Sdk::V7] {
        let mut checker = checker::Checker::new(sdk);
        checker.say("hi");
        for window in bytes.split(|byte| *byte == 0) {
            checker.window(window);
        }
        checker.verdict();
    }
});
