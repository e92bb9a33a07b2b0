//! A prompt in one form of each letter, cut into clauses.

use std::ops::Range;

use super::grammar::{Grammar, is_inside};
use super::pattern::strip;
use super::table::VALUES;

/// Full-width letters as ASCII, one kind of quote and of space, none between Japanese words, and no bullets.
pub(super) fn plain(prompt: &str) -> String {
    let mut text = String::new();
    for line in prompt.lines() {
        let line: String = line.chars().map(letter).collect();
        let number = |word: &str| word.strip_suffix(['.', ')'])?.parse::<u8>().ok();
        let is_bullet = |word: &&str| ["-", "*", "•"].contains(word) || number(word).is_some();
        for word in line.split_whitespace().skip_while(is_bullet) {
            let is_joined = text.ends_with(is_japanese) && word.starts_with(is_japanese);
            if !is_joined && !word.starts_with(is_hiragana) {
                text.push(' ');
            }
            text.push_str(word);
        }
        text.push('\n');
    }
    text
}

fn letter(letter: char) -> char {
    match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(letter as u32 - 0xfee0).unwrap_or(letter),
        '‘' | '’' => '\'',
        '“' | '”' | '„' => '"',
        '￥' => '¥',
        _ => letter,
    }
}

pub(super) fn is_hiragana(letter: char) -> bool {
    ('\u{3041}'..='\u{309f}').contains(&letter)
}

pub(super) fn is_japanese(letter: char) -> bool {
    ('\u{3041}'..='\u{30ff}').contains(&letter)
        || ('\u{3400}'..='\u{9fff}').contains(&letter)
        || letter == '々'
}

/// Some words between two separators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    /// Where it is in the text.
    pub(super) range: Range<usize>,
    /// Which stage it belongs to: a stage begins when the one before it is over.
    pub(super) stage: usize,
    /// Whether a sentence begins with it.
    pub(super) is_first: bool,
    /// Whether a question mark follows it.
    pub(super) is_question: bool,
}

/// Cuts a text into clauses, at what the tables call a stage, a joint or a stop.
pub(super) fn clauses(text: &str, grammars: &[Grammar]) -> Vec<Clause> {
    let mut clauses: Vec<Clause> = Vec::new();
    let (mut from, mut at, mut stage, mut is_first) = (0, 0, 0, true);
    while at <= text.len() {
        let Some((kind, kept, length)) = cut_at(text, at, grammars) else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        };
        let clause = &text[from..at + kept];
        let start = from + clause.len() - clause.trim_start().len();
        let range = start..start + clause.trim().len();
        if !range.is_empty() {
            clauses.push(Clause {
                range,
                stage,
                is_first: std::mem::take(&mut is_first),
                is_question: text[at + kept..].starts_with('?'),
            });
        }
        is_first |= kind == "stop";
        stage += usize::from(kind == "stage");
        at += (kept + length).max(1);
        from = at;
    }
    clauses
}

/// What cuts a text at a place: its kind, how much of it belongs to the clause before, and the rest.
fn cut_at(text: &str, at: usize, grammars: &[Grammar]) -> Option<(&'static str, usize, usize)> {
    let (before, rest) = text.split_at(at);
    if rest.is_empty() || rest.starts_with('\n') {
        return Some(("stop", 0, 1));
    }
    let last = before.rsplit(' ').next().unwrap_or_default().to_lowercase();
    let is_abbreviated = VALUES.meaning("abbreviation", &last).is_some();
    let is_digit = |it: char| it.is_ascii_digit();
    let is_cut = |word: &str, rest: &str| match word {
        "," => !(before.ends_with(is_digit) && rest.starts_with(is_digit)),
        "." => !rest.starts_with(|it: char| !it.is_whitespace()) && !is_abbreviated,
        "/" => rest.starts_with(' '),
        _ if word.is_ascii() && word.starts_with(is_inside) => {
            !before.ends_with(is_inside) && !rest.starts_with(is_inside)
        }
        _ => true,
    };
    let cut = |kind| {
        let mut words = grammars.iter().flat_map(|it| it.table.words(kind));
        words.find_map(|(word, _)| {
            let (kept, word) = word.split_once('^').unwrap_or(("", word));
            let rest = strip(strip(rest, kept)?, word)?;
            is_cut(word, rest).then_some((kind, kept.len(), word.len()))
        })
    };
    ["stage", "joint", "stop"].into_iter().find_map(cut)
}

#[cfg(test)]
mod tests {
    use super::super::GRAMMARS;
    use super::*;

    fn cut(text: &str) -> Vec<(usize, &str)> {
        clauses(text, &*GRAMMARS)
            .into_iter()
            .map(|clause| (clause.stage, &text[clause.range]))
            .collect()
    }

    #[test]
    fn letters_have_one_form() {
        for (prompt, text) in [
            ("＄２０　を Ｓａｍ に", "$20を Samに"),
            ("at “Joe’s”", "at \"Joe's\""),
            (
                "1. pay Ann\n2) pay Ben\n- pay Cy",
                "pay Ann\n pay Ben\n pay Cy",
            ),
            ("12.50 dollars", "12.50 dollars"),
            ("Sam に 20 ドル 送って", "Samに 20 ドル送って"),
            ("Pay 花子さん $5", "Pay 花子さん $5"),
        ] {
            assert_eq!(plain(prompt).trim(), text);
        }
    }

    #[test]
    fn prompts_are_cut_where_they_are_joined() {
        assert_eq!(
            cut("Pay Ann $1, Ben $2 and Cy $3."),
            [(0, "Pay Ann $1"), (0, "Ben $2"), (0, "Cy $3")]
        );
        assert_eq!(
            cut("The weather, and then pay Andy $1,000.50"),
            [(0, "The weather"), (1, "pay Andy $1,000.50")]
        );
        assert_eq!(
            cut("Pay Dr. Smith $5. Fly to St. Louis."),
            [(0, "Pay Dr. Smith $5"), (0, "Fly to St. Louis")]
        );
        assert_eq!(
            cut("天気を教えてから、5ドルと"),
            [(0, "天気を教えて"), (1, "5ドル")]
        );
    }
}
