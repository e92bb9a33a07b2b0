//! Random ids.

/// A fresh id, which begins so.
pub(crate) fn random_id(prefix: &str) -> String {
    let mut bytes = [0_u8; 6];
    // Without randomness ids repeat, and the journal refuses what is there already.
    let _ = getrandom::fill(&mut bytes);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{prefix}{hex}")
}
