//! What a chat is called in a list, unless its owner has named it: the beginning of what the user said
//! first.

use crate::message::Message;

/// How many characters a title has at most that is taken from a message.
pub const MAX_CHARS: usize = 80;

/// The title that a message gives its chat; none, where it has no words.
pub fn of_message(message: &Message) -> Option<String> {
    // A message may be long, and is read no further than its title.
    let text = line_of(message.texts(), MAX_CHARS + 1);
    if text.is_empty() {
        return None;
    }
    if text.len() <= MAX_CHARS {
        return Some(text);
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
    line_of([text], usize::MAX)
}

/// The same of the first characters: as many as make a line of this length.
fn line_of<'a>(texts: impl IntoIterator<Item = &'a str>, limit: usize) -> String {
    let (mut line, mut count, mut is_word_over) = (String::new(), 0, false);
    for text in texts {
        line.reserve(text.len().min(limit));
        for c in text.chars() {
            if c.is_whitespace() {
                is_word_over = true;
            } else if !c.is_control() {
                if is_word_over && count > 0 {
                    line.push(' ');
                    count += 1;
                }
                is_word_over = false;
                line.push(c);
                count += 1;
                if count >= limit {
                    return line;
                }
            }
        }
    }
    line
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
        let parts = (0..100).map(|_| Part::text("word ")).collect();
        let long = of_message(&Message::new("m", parts)).unwrap();
        assert_eq!(long, format!("{}…", ["word"; 16].join(" ")));
    }

    #[test]
    fn message_without_words_gives_no_title() {
        assert_eq!(title(" \n"), None);
        assert_eq!(of_message(&Message::new("m", Vec::new())), None);
    }
}
