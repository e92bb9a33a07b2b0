//! Names of people and places in English sentences.

use super::token::{Kind, Token};
use super::words::{CONNECTORS, FILLER, LEADING, PRONOUNS, STOP};

/// The name that some tokens begin with, as it is written; in capitals where it has none.
pub(super) fn name(tokens: &[Token<'_>]) -> Option<String> {
    let opening = tokens
        .iter()
        .take_while(|token| token.is(&LEADING) || token.is(&["each"]));
    let tokens = &tokens[opening.count()..];
    let tokens = &tokens[..end(tokens)];
    let from = tokens
        .iter()
        .position(|token| token.is_proper() && !token.is(&LEADING));
    let named = match from {
        Some(from) => &tokens[from..from + length(&tokens[from..])],
        None => plain(tokens),
    };
    let words: Vec<_> = named.iter().map(|token| token.text).collect();
    let name = words.join(" ");
    let name = name.strip_suffix("'s").unwrap_or(&name).trim();
    let is_nobody =
        |token: &Token<'_>| token.is(&PRONOUNS) || token.is(&FILLER) && !token.is_proper();
    if named.iter().all(is_nobody) || !name.contains(char::is_alphanumeric) {
        return None;
    }
    Some(capitalised(name))
}

/// Where the name must end: at a word that is part of none, at an amount.
fn end(tokens: &[Token<'_>]) -> usize {
    let is_inside = |at: usize| {
        let around = [at.checked_sub(1), Some(at + 1)];
        let is_proper = |at: Option<usize>| {
            at.and_then(|at| tokens.get(at))
                .is_some_and(Token::is_proper)
        };
        tokens[at].is(&CONNECTORS) && around.into_iter().all(is_proper)
    };
    let ends = |at: &usize| {
        let token = &tokens[*at];
        token.amount().is_some() || token.is(&STOP) && *at > 0 && !is_inside(*at)
    };
    (0..tokens.len()).find(ends).unwrap_or(tokens.len())
}

/// How many tokens of a name that starts with a capital belong to it.
fn length(tokens: &[Token<'_>]) -> usize {
    let mut length = 0;
    for (at, token) in tokens.iter().enumerate() {
        let is_number = token.text.chars().all(|letter| letter.is_ascii_digit());
        if token.is_proper() || is_number && length == at {
            length = at + 1;
        } else if !token.is(&CONNECTORS) {
            break;
        }
    }
    length
}

/// A name without capitals: what remains of up to three words when the fillers before it are gone.
fn plain<'s, 't>(tokens: &'s [Token<'t>]) -> &'s [Token<'t>] {
    let from = tokens
        .iter()
        .position(|token| !token.is(&FILLER) && !token.is(&STOP));
    let from = from.unwrap_or(tokens.len());
    let until = tokens.len().min(from + 3);
    &tokens[from..until]
}

/// Whether tokens that stand alone look like one more name in a list. Where the list is written
/// without capitals, one word is enough.
pub(super) fn may_be_listed(
    tokens: &[Token<'_>],
    list_is_plain: bool,
    is_known: fn(&str) -> bool,
) -> bool {
    let rest: Vec<_> = tokens
        .iter()
        .skip_while(|token| token.is(&FILLER) || token.is(&STOP))
        .collect();
    let are_words = rest
        .iter()
        .all(|token| matches!(token.kind, Kind::Word | Kind::Quoted));
    let words: Vec<_> = rest.iter().map(|token| token.text).collect();
    let is_one_of_them = list_is_plain && rest.len() == 1;
    let is_proper = rest.first().is_some_and(|token| token.is_proper());
    are_words && !rest.is_empty() && (is_proper || is_one_of_them || is_known(&words.join(" ")))
}

fn capitalised(name: &str) -> String {
    let is_plain = |letter: char| letter.is_lowercase() || " '-".contains(letter);
    if !name.chars().all(is_plain) {
        return name.to_owned();
    }
    let words = name.split(' ').map(|word| {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if !CONNECTORS.contains(&word) => {
                first.to_uppercase().chain(letters).collect()
            }
            _ => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    #[test]
    fn names_end_where_the_sentence_goes_on() {
        for (text, expected) in [
            ("Sam", Some("Sam")),
            ("sam", Some("Sam")),
            ("Mary Ann for lunch", Some("Mary Ann")),
            ("mary ann please", Some("Mary Ann")),
            ("my friend Bob now", Some("Bob")),
            ("Rio de Janeiro today", Some("Rio de Janeiro")),
            ("rio de janeiro", Some("Rio de Janeiro")),
            ("the Isle of Man", Some("Isle of Man")),
            ("Mexico City now", Some("Mexico City")),
            ("Long Beach", Some("Long Beach")),
            ("New York", Some("New York")),
            ("Will", Some("Will")),
            ("Sam's account", Some("Sam")),
            ("O'Brien", Some("O'Brien")),
            ("Jean-Luc", Some("Jean-Luc")),
            ("bob@example.com", Some("bob@example.com")),
            ("\"Salt and Co\" now", Some("Salt and Co")),
            ("花子さん", Some("花子さん")),
            ("me", None),
            ("my location", None),
            ("the", None),
            ("", None),
        ] {
            assert_eq!(name(&tokens(text)).as_deref(), expected, "{text}");
        }
    }
}
