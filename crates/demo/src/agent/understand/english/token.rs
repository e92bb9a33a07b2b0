//! An English prompt cut into words, amounts and separators; into stages; into clauses.

use std::ops::Range;

use super::super::amount::{Amount, amounts};

/// A piece of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'t> {
    /// As it is written, without quotes.
    pub(super) text: &'t str,
    /// In lower case.
    pub(super) lower: String,
    /// Where it stands.
    pub(super) range: Range<usize>,
    /// What it is.
    pub(super) kind: Kind,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Word,
    /// Several words in quotes: surely a name.
    Quoted,
    Amount(Amount),
    Comma,
    And,
    /// The end of a sentence or a line.
    Stop,
}

impl Token<'_> {
    /// Whether it is one of these words.
    pub(super) fn is(&self, words: &[&str]) -> bool {
        self.kind == Kind::Word && words.contains(&self.lower.as_str())
    }

    /// Whether it is written as a name is.
    pub(super) fn is_proper(&self) -> bool {
        let first = self.text.chars().next();
        self.kind == Kind::Quoted
            || self.kind == Kind::Word
                && first.is_some_and(|it| it.is_uppercase() || it.is_alphabetic() && !it.is_ascii())
    }

    /// The amount, if it is one.
    pub(super) fn amount(&self) -> Option<&Amount> {
        match &self.kind {
            Kind::Amount(amount) => Some(amount),
            _ => None,
        }
    }

    fn is_separator(&self) -> bool {
        matches!(self.kind, Kind::Comma | Kind::And | Kind::Stop)
    }
}

/// Cuts a prompt into tokens.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut amounts = amounts(text).into_iter().peekable();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        while amounts.next_if(|it| it.range.start < at).is_some() {}
        let (range, kind) = if let Some(amount) = amounts.next_if(|it| it.range.start == at) {
            (amount.range.clone(), Kind::Amount(amount))
        } else {
            let one = at..at + letter.len_utf8();
            match letter {
                ',' | '、' | '/' => (one, Kind::Comma),
                '&' | '+' => (one, Kind::And),
                ';' | '!' | '?' | '\n' | '。' => (one, Kind::Stop),
                '.' | '…' => (one, Kind::Stop),
                '"' => match text[one.end..].find('"') {
                    Some(length) if length > 0 => (one.end..one.end + length, Kind::Quoted),
                    _ => {
                        at = one.end;
                        continue;
                    }
                },
                _ if is_part_of_word(letter) => {
                    let range = word(text, at);
                    let kind = match text[range.clone()].to_lowercase().as_str() {
                        "and" | "plus" | "while" => Kind::And,
                        _ => Kind::Word,
                    };
                    (range, kind)
                }
                _ => {
                    at = one.end;
                    continue;
                }
            }
        };
        let closing_quote = usize::from(kind == Kind::Quoted);
        at = range.end + closing_quote;
        let text = text[range.clone()].trim_matches('\'');
        let lower = text.to_lowercase();
        tokens.push(Token {
            text,
            lower,
            range,
            kind,
        });
    }
    tokens
}

fn is_part_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || "'-_@.#ー・々".contains(letter)
}

/// The word at a place, without a full stop at its end unless it is an abbreviation's.
fn word(text: &str, at: usize) -> Range<usize> {
    const ABBREVIATIONS: [&str; 9] = [
        "dr.", "mr.", "mrs.", "ms.", "st.", "prof.", "jr.", "sr.", "mt.",
    ];
    let rest = &text[at..];
    let length = rest
        .find(|letter| !is_part_of_word(letter))
        .unwrap_or(rest.len());
    let word = &rest[..length];
    let is_initial = word.len() == 2 && word.starts_with(|it: char| it.is_ascii_uppercase());
    let is_abbreviation = is_initial || ABBREVIATIONS.contains(&word.to_lowercase().as_str());
    // At the end of a sentence even an abbreviation's full stop is one.
    let goes_on = text[at + length..]
        .trim_start_matches(' ')
        .starts_with(|letter: char| letter.is_uppercase());
    if is_abbreviation && goes_on {
        return at..at + length;
    }
    let bare = word.trim_end_matches('.');
    at..at + bare.len().max(1)
}

/// How a clause is joined to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Joint {
    Comma,
    And,
    Stop,
}

/// Some tokens that belong together, and how they are joined to those before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clause<'t> {
    pub(super) joint: Joint,
    pub(super) tokens: &'t [Token<'t>],
}

/// Cuts tokens into the stages that the person wants one after the other.
pub(super) fn stages<'t>(tokens: &'t [Token<'t>]) -> Vec<&'t [Token<'t>]> {
    let mut stages = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while at < tokens.len() {
        match marker(tokens, at) {
            0 => at += 1,
            length => {
                stages.push(&tokens[from..at]);
                at += length;
                from = at;
            }
        }
    }
    stages.push(&tokens[from..]);
    stages
}

/// How many tokens say, here, that something is to come after something else.
fn marker(tokens: &[Token<'_>], at: usize) -> usize {
    const MARKERS: [&[&str]; 20] = [
        &["then"],
        &["afterwards"],
        &["afterward"],
        &["subsequently"],
        &["after", "that"],
        &["after", "this"],
        &["after", "which"],
        &["followed", "by"],
        &["once", "done"],
        &["once", "that", "is", "done"],
        &["once", "that's", "done"],
        &["once", "it", "is", "done"],
        &["once", "it's", "done"],
        &["when", "done"],
        &["when", "that", "is", "done"],
        &["when", "that's", "done"],
        &["when", "it", "is", "done"],
        &["when", "it's", "done"],
        &["when", "you", "are", "done"],
        &["when", "you're", "done"],
    ];
    /// Only where a clause begins: "the weather next week" is no order.
    const OPENERS: [&[&str]; 3] = [&["next"], &["finally"], &["lastly"]];
    let rest = &tokens[at..];
    let found = |marker: &&&[&str]| {
        let words = rest.iter().map(|token| token.lower.as_str());
        words.take(marker.len()).eq(marker.iter().copied())
    };
    let opens = at == 0 || tokens[at - 1].is_separator();
    let openers = OPENERS.iter().filter(|_| opens);
    let marker = MARKERS.iter().chain(openers).find(found);
    marker.map_or(0, |marker| marker.len())
}

/// Cuts a stage into clauses.
pub(super) fn clauses<'t>(tokens: &'t [Token<'t>]) -> Vec<Clause<'t>> {
    let mut clauses = Vec::new();
    let mut joint = Joint::Comma;
    let mut at = 0;
    while at < tokens.len() {
        let length = tokens[at..]
            .iter()
            .position(Token::is_separator)
            .unwrap_or(tokens.len() - at);
        if length > 0 {
            clauses.push(Clause {
                joint,
                tokens: &tokens[at..at + length],
            });
            joint = Joint::Comma;
        }
        at += length;
        if let Some(separator) = tokens.get(at) {
            joint = joint.max(match separator.kind {
                Kind::And => Joint::And,
                Kind::Stop => Joint::Stop,
                _ => Joint::Comma,
            });
            at += 1;
        }
    }
    clauses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<Vec<String>> {
        let tokens = tokens(text);
        let join = |clause: &Clause<'_>| {
            let words: Vec<_> = clause.tokens.iter().map(|token| token.text).collect();
            words.join(" ")
        };
        let stage = |stage: &&[Token<'_>]| clauses(stage).iter().map(join).collect();
        stages(&tokens).iter().map(stage).collect()
    }

    #[test]
    fn prompts_are_cut_where_they_are_joined() {
        assert_eq!(
            cut("Pay Ann $1, Ben $2 and Cy $3."),
            [["Pay Ann $1", "Ben $2", "Cy $3"]]
        );
        assert_eq!(
            cut("First the weather, and then pay Ann $1,000.50"),
            [["First the weather"], ["pay Ann $1,000.50"]]
        );
        assert_eq!(
            cut("Next week. Next, pay \"Salt and Co\" $5"),
            [vec![], vec!["week"], vec!["pay Salt and Co $5"]]
        );
    }

    #[test]
    fn full_stops_of_abbreviations_end_nothing() {
        assert_eq!(
            cut("Pay Dr. J. Smith $5. Fly to St. Louis."),
            [["Pay Dr. J. Smith $5", "Fly to St. Louis"]]
        );
    }
}
