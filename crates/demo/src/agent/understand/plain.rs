//! A prompt as the readers want it: one form of each letter.

/// Full-width letters as ASCII, one kind of quote and of space, no numbers before the lines of a list.
pub(super) fn plain(text: &str) -> String {
    let letters: String = text.chars().map(letter).collect();
    let lines: Vec<_> = letters.lines().map(without_bullet).collect();
    let text = lines.join("\n");
    without_quotes(&text).to_owned()
}

/// A prompt that is quoted as a whole is meant as it stands.
fn without_quotes(text: &str) -> &str {
    let quoted = |open: char, close: char| {
        let inside = text.trim().strip_prefix(open)?.strip_suffix(close)?;
        (!inside.contains([open, close])).then_some(inside)
    };
    let inside = quoted('"', '"').or_else(|| quoted('「', '」'));
    inside.unwrap_or(text)
}

fn letter(letter: char) -> char {
    match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(letter as u32 - 0xfee0).unwrap_or(letter),
        '\u{3000}' | '\u{a0}' | '\t' => ' ',
        '‘' | '’' => '\'',
        '“' | '”' | '„' => '"',
        '￥' => '¥',
        '−' => '-',
        _ => letter,
    }
}

fn without_bullet(line: &str) -> &str {
    let line = line.trim();
    let line = line.trim_start_matches(['-', '*', '•', '・']);
    let numbered = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_numbered = numbered.len() < line.len();
    match numbered.strip_prefix(['.', ')']) {
        Some(rest) if is_numbered && rest.starts_with(' ') => rest.trim_start(),
        _ => line.trim_start(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_one_form() {
        assert_eq!(plain("＄２０　を Ｓａｍ に"), "$20 を Sam に");
        assert_eq!(plain("at “Joe’s”"), "at \"Joe's\"");
    }

    #[test]
    fn quotes_around_everything_mean_nothing() {
        assert_eq!(plain("\"pay Ann\""), "pay Ann");
        assert_eq!(plain("「東京の天気」"), "東京の天気");
        assert_eq!(plain("\"Ann\" and \"Ben\""), "\"Ann\" and \"Ben\"");
    }

    #[test]
    fn bullets_of_a_list_are_no_numbers() {
        assert_eq!(
            plain("1. pay Ann\n2) pay Ben\n- pay Cy"),
            "pay Ann\npay Ben\npay Cy"
        );
        assert_eq!(plain("12.50 dollars"), "12.50 dollars");
        assert_eq!(plain("20 dollars"), "20 dollars");
    }
}
