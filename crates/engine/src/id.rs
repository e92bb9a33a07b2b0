//! Fresh ids.

use turn::input::Ids;

/// Ids for a turn that is to be opened.
pub(crate) fn fresh() -> Ids {
    let name = random();
    Ids {
        message: format!("msg_{name}"),
        turn: name.into(),
    }
}

/// 96 random bits, as text that may be part of any id.
fn random() -> String {
    let mut bytes = [0_u8; 12];
    // The operating system's randomness fails only where there is none at all; ids that repeat would
    // then meet a Conflict in the journal, and harm nobody.
    if getrandom::fill(&mut bytes).is_err() {
        tracing::error!("the operating system gives no randomness");
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
