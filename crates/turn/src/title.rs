//! What a chat is called in a list, unless its owner has named it: the beginning of what the user said
//! first.

use crate::message::Message;

/// How many characters a title has at most that is taken from a message.
pub const MAX_CHARS: usize = 80;

/// The title that a message gives its chat; none, where it has no words.
pub fn of_message(message: &Message) -> Option<String> {
    let text = one_line(&message.text());
    if text.is_empty() {
        return None;
    }
    let Some((end, _)) = text.char_indices().nth(MAX_CHARS) else {
        return Some(text);
    };
    // One character less, for the ellipsis.
    let kept = text[..end].char_indices().next_back();
    let kept = kept.map_or("", |(last, _)| text[..last].trim_end());
    Some(format!("{kept}…"))
}

/// Words on one line, without characters that no list shows and some databases do not store.
pub fn one_line(text: &str) -> String {
    let printable = |word: &str| -> String { word.chars().filter(|c| !c.is_control()).collect() };
    let words = text.split_whitespace().map(printable);
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Part;

    fn title(text: &str) -> Option<String> {
        of_message(&Message::new("m", vec![Part::text(text)]))
    }

    #[test]
    fn short_message_is_the_title() {
        assert_eq!(
            title(" Pay\n\tHanako \u{0} 50 "),
            Some("Pay Hanako 50".into())
        );
        assert_eq!(title(&"漢".repeat(80)), Some("漢".repeat(80)));
    }

    #[test]
    fn long_message_is_shortened_between_characters() {
        let long = title(&"漢字 ".repeat(60)).unwrap();
        assert_eq!(long.chars().count(), 80);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn message_without_words_gives_no_title() {
        assert_eq!(title(" \n"), None);
        assert_eq!(of_message(&Message::new("m", Vec::new())), None);
    }
}
