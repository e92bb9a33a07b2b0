//! Under which ids chats can be opened: those that every route can hold.

use turn::ChatId;

/// How long the id of a chat that is opened may be.
const MAX_BYTES: usize = 256;

/// What is wrong with the id of a chat that is to be opened. Those that were opened before there was
/// such a rule stay as they are.
pub(crate) fn problem(id: &ChatId) -> Option<&'static str> {
    let id = id.as_str();
    if id.is_empty() {
        Some("it is empty")
    } else if id.len() > MAX_BYTES {
        Some("it is longer than 256 bytes")
    } else if matches!(id, "." | ".." | "live") {
        Some("the path of a route means something else by it")
    } else if id.contains(['/', '\\', '?', '#', '%']) {
        Some("it holds one of / \\ ? # %")
    } else if id.chars().any(char::is_control) {
        Some("it holds a control character")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_routes_can_not_hold_are_recognized() {
        let long = "x".repeat(257);
        for id in [
            "", ".", "..", "live", "a/b", "a\\b", "a?b", "a#b", "50%", "a\nb", "a\u{85}", &long,
        ] {
            assert!(problem(&ChatId::from(id)).is_some(), "{id:?}");
        }
        let long = "x".repeat(256);
        for id in [
            "c1",
            "alive",
            "live2",
            "a.b",
            "...",
            "チャット",
            "a b:c@d",
            &long,
        ] {
            assert_eq!(problem(&ChatId::from(id)), None, "{id:?}");
        }
    }
}
