//! Patterns of sentences, and whether a text is such a sentence.
//!
//! `(a|b)` is one of several, `[a]` may be absent, `{slot}` is a value, `<part>` is another line of
//! the table. Everything else is itself, in any case. A text matches from its first letter to its
//! last or not at all: no word of it is passed over, so that "don't" can't be.

use super::slot::accepts;
use super::table::Table;

/// How many letters a value has at most.
const LONGEST_VALUE: usize = 200;

/// A pattern, ready to match.
#[derive(Debug)]
pub(super) struct Pattern(Vec<Element>);

#[derive(Debug)]
enum Element {
    Text(&'static str),
    Choice(Vec<Vec<Element>>),
    Slot(&'static str),
}

/// The values of slots, the last of the text first.
pub(super) type Values<'t> = Vec<(&'static str, &'t str)>;

impl Pattern {
    /// Parses a pattern of a table. A slot or a part that does not exist matches nothing.
    pub(super) fn parse(source: &'static str, table: &Table) -> Self {
        Self(sequence(&mut { source }, table))
    }

    /// The values of the slots, if the whole text matches.
    pub(super) fn matches<'t>(&self, text: &'t str) -> Option<Values<'t>> {
        let elements = &self.0;
        run(
            Some(&Todo {
                elements,
                next: None,
            }),
            text,
        )
    }
}

/// Elements up to the end of a pattern or of one of its choices.
fn sequence(rest: &mut &'static str, table: &Table) -> Vec<Element> {
    let mut elements = Vec::new();
    loop {
        let special = rest.find(['(', '[', '{', '<', '|', ')', ']']);
        let (text, after) = rest.split_at(special.unwrap_or(rest.len()));
        elements.push(Element::Text(text));
        *rest = after;
        elements.push(match after.chars().next() {
            Some(open @ ('(' | '[')) => {
                let mut choices = Vec::new();
                while choices.is_empty() || rest.starts_with('|') {
                    *rest = &rest[1..];
                    choices.push(sequence(rest, table));
                }
                *rest = rest.get(1..).unwrap_or_default();
                choices.extend((open == '[').then(Vec::new));
                Element::Choice(choices)
            }
            Some('{' | '<') => {
                let end = after.find(['}', '>']).map_or(after.len(), |at| at + 1);
                let (name, after) = after.split_at(end);
                *rest = after;
                let part = table.values(name).next();
                part.map_or(Element::Slot(name), |mut part| {
                    Element::Choice(vec![sequence(&mut part, table)])
                })
            }
            _ => return elements,
        });
    }
}

/// Elements that the rest of a text has to match, and those behind them.
struct Todo<'p> {
    elements: &'p [Element],
    next: Option<&'p Todo<'p>>,
}

fn run<'t>(todo: Option<&Todo<'_>>, text: &'t str) -> Option<Values<'t>> {
    let Some(todo) = todo else {
        return text.is_empty().then(Vec::new);
    };
    let Some((first, elements)) = todo.elements.split_first() else {
        return run(todo.next, text);
    };
    let next = Some(&Todo { elements, ..*todo });
    match first {
        Element::Text(word) => run(next, strip(text, word)?),
        Element::Choice(choices) => {
            let mut choices = choices.iter();
            choices.find_map(|elements| run(Some(&Todo { elements, next }), text))
        }
        // The shortest value first: what may follow it is no part of it.
        Element::Slot(slot) => ends(text).find_map(|end| {
            let (value, rest) = text.split_at(end);
            let mut values = accepts(slot, value).then(|| run(next, rest))??;
            values.push((slot, value));
            Some(values)
        }),
    }
}

/// Where a value may end: not behind a space, nor inside of a word or a number.
fn ends(text: &str) -> impl Iterator<Item = usize> {
    let is_inside = |it: char| it.is_ascii_alphanumeric();
    let ends = text.char_indices().map(|(at, it)| at + it.len_utf8());
    ends.take(LONGEST_VALUE).filter(move |end| {
        let (value, rest) = text.split_at(*end);
        !(value.ends_with(' ') || value.ends_with(is_inside) && rest.starts_with(is_inside))
    })
}

/// A text behind a word that it begins with, in any case.
pub(super) fn strip<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(word.len())?;
    start.eq_ignore_ascii_case(word).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(pattern: &'static str, text: &str) -> Option<Vec<String>> {
        let table = Table::parse("<when>: [ (today|now)]");
        let values = Pattern::parse(pattern, &table).matches(text)?;
        let values = values.into_iter().rev();
        Some(values.map(|(_, value)| value.to_owned()).collect())
    }

    #[test]
    fn a_pattern_matches_a_whole_text_or_nothing() {
        let pattern = "(pay|send) {who}[ back] {amount}<when>";
        for (text, expected) in [
            ("Pay Ann $5", Some(vec!["Ann", "$5"])),
            (
                "SEND Mary Ann back 5 dollars today",
                Some(vec!["Mary Ann", "5 dollars"]),
            ),
            ("pay Ann $5 tomorrow", None),
            ("don't pay Ann $5", None),
            ("pay Ann", None),
            ("", None),
        ] {
            let expected = expected.map(|it| it.into_iter().map(str::to_owned).collect());
            assert_eq!(values(pattern, text), expected, "{text}");
        }
    }

    #[test]
    fn a_broken_pattern_matches_nothing_else() {
        for pattern in ["{nothing}", "{who", "<nothing>", "<when"] {
            assert_eq!(values(pattern, "Ann"), None, "{pattern}");
        }
    }
}
