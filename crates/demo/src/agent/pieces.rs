//! Text cut into what is streamed at a time: a word, or a few letters where there are no words.

/// How many letters of a script without spaces are streamed at a time.
const LETTERS: usize = 3;

/// Cuts a text into pieces. Joined they are the text; none splits a character that a reader sees.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut wide = 0;
    let mut last: Option<char> = None;
    for letter in text.chars() {
        let is_open = !piece.trim().is_empty();
        let changes = last.is_some_and(|last| is_wide(last) != is_wide(letter));
        let ends = letter.is_whitespace() || changes || wide == LETTERS;
        let holds = last.is_some_and(|last| joins(last, letter));
        if is_open && ends && !holds {
            pieces.push(std::mem::take(&mut piece));
            wide = 0;
        }
        wide += usize::from(is_wide(letter) && !holds);
        piece.push(letter);
        last = Some(letter);
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

fn is_wide(letter: char) -> bool {
    matches!(letter, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{ff00}'..='\u{ffef}')
}

/// Whether two code points belong to one character: marks, emoji made of several, flags.
fn joins(last: char, next: char) -> bool {
    let is_mark = matches!(
        next,
        '\u{300}'..='\u{36f}'
            | '\u{3099}'..='\u{309a}'
            | '\u{200d}'
            | '\u{20e3}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{1f3fb}'..='\u{1f3ff}'
            | '\u{e0020}'..='\u{e007f}'
    );
    let is_flag = |letter: char| ('\u{1f1e6}'..='\u{1f1ff}').contains(&letter);
    is_mark || last == '\u{200d}' || is_flag(last) && is_flag(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_whole_and_japanese_comes_in_small_pieces() {
        assert_eq!(
            pieces("I sent $20 to Sam."),
            ["I", " sent", " $20", " to", " Sam."]
        );
        assert_eq!(
            pieces("東京の天気は18°Cです。"),
            ["東京の", "天気は", "18°C", "です。"]
        );
        assert_eq!(pieces("Samさんに20ドル"), ["Sam", "さんに", "20", "ドル"]);
    }

    #[test]
    fn characters_of_several_code_points_stay_whole() {
        for character in ["👨‍👩‍👧", "か\u{3099}", "🇯🇵", "e\u{301}"] {
            let text = format!("あい{character}う");
            let found = pieces(&text);
            assert!(
                found.iter().any(|piece| piece.contains(character)),
                "{found:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn pieces_are_the_text(text in any::<String>()) {
            let found = pieces(&text);
            prop_assert_eq!(found.concat(), text);
            prop_assert!(found.iter().all(|piece| !piece.is_empty()));
        }
    }
}
