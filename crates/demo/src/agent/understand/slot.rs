//! The values that slots of patterns take.

use super::amount::amount;
use super::name::names;
use super::table::VALUES;

/// Whether the slot of a name takes a text. One that does not exist takes nothing.
pub(super) fn accepts(slot: &str, text: &str) -> bool {
    match slot {
        "{who}" => names("person", text).is_some(),
        "{places}" => names("place", text).is_some(),
        "{amount}" => amount(text).is_some(),
        // A number alone may be anything.
        "{money}" => amount(text).is_some_and(|it| it.currency.is_some()),
        "{track}" => track(text).is_some(),
        "{reason}" => is_reason(text),
        "{topic}" => !text.trim().is_empty(),
        _ => false,
    }
}

/// The number of a track, in digits or as a word.
pub(super) fn track(text: &str) -> Option<u16> {
    let word = text.trim().trim_start_matches('#').to_lowercase();
    let number = VALUES.meaning("number", &word).unwrap_or(&word);
    number.parse().ok()
}

/// Whether a payment may be for this, which names no money of its own.
fn is_reason(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    let is_money = VALUES.words("currency").any(|(it, _)| text.contains(it));
    let is_word = |word| VALUES.meaning("no reason", word).is_none();
    let is_text = text.starts_with(char::is_alphanumeric) && !is_money;
    is_text && text.split([' ', ',']).all(is_word)
}
