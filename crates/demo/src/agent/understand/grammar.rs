//! One language's table, and which tool a sentence asks for by it.

use super::Language;
use super::pattern::{Pattern, Values, strip};
use super::table::Table;
use crate::agent::intent::TOOLS;

/// What may be around a sentence.
const EDGE: [char; 8] = [' ', ',', ':', '、', '.', '"', '「', '」'];

/// One language's table. Its kinds of lines are:
///
/// - `opening`, `closing`: words around what is asked for that change nothing.
/// - `request`: words that make a question a request. "Could you pay Ann $5?" is one, "Pay Ann $5?"
///   may not be.
/// - `stage`, `joint`, `stop`: what clauses are cut at.
/// - `money`: what is about money, even where it is not understood.
/// - a tool: patterns of what asks for it; `TOOL continues`: what makes a sentence of a clause without
///   a verb that follows one.
#[derive(Debug)]
pub(super) struct Grammar {
    pub(super) language: Language,
    pub(super) table: Table,
    patterns: Vec<(&'static str, Pattern)>,
}

impl Grammar {
    /// Parses a table.
    pub(super) fn parse(language: Language, source: &'static str) -> Self {
        let table = Table::parse(source);
        let patterns = TOOLS.iter().flat_map(|tool| {
            let sources = table.values(tool);
            sources.map(|source| (*tool, Pattern::parse(source, &table)))
        });
        Self {
            patterns: patterns.collect(),
            language,
            table,
        }
    }

    /// The tool that a sentence asks for, and its values.
    pub(super) fn matching<'t>(&self, sentence: &'t str) -> Option<(&'static str, Values<'t>)> {
        let mut patterns = self.patterns.iter();
        patterns.find_map(|(tool, pattern)| Some((*tool, pattern.matches(sentence)?)))
    }

    /// A text without the words around it that change nothing.
    pub(super) fn core<'t>(&self, text: &'t str) -> &'t str {
        let core = text.trim_matches(EDGE);
        let mut openings = self.table.words("opening");
        let mut closings = self.table.words("closing");
        let opened = openings.find_map(|(word, _)| {
            let rest = strip(core, word)?;
            (!word.is_ascii() || !rest.starts_with(is_inside)).then_some(rest)
        });
        let closed = || {
            closings.find_map(|(word, _)| {
                let (rest, end) = core.split_at_checked(core.len().checked_sub(word.len())?)?;
                let is_whole = !word.is_ascii() || !rest.ends_with(is_inside);
                (is_whole && end.eq_ignore_ascii_case(word)).then_some(rest)
            })
        };
        let shorter = opened.or_else(closed);
        shorter.map_or(core, |shorter| self.core(shorter))
    }

    /// Whether a text has a word of a kind.
    pub(super) fn has(&self, kind: &str, text: &str) -> bool {
        let text = text.to_lowercase();
        self.table.words(kind).any(|(word, _)| text.contains(word))
    }

    /// The sentence that a clause is behind one that asks for a tool: "Pay Ann $1, Ben $2".
    pub(super) fn continued(&self, tool: &str, clause: &str) -> Option<String> {
        let before = self.table.values(&format!("{tool} continues")).next()?;
        Some(format!("{before} {}", self.core(clause)))
    }
}

/// Whether a letter may be inside of a word.
pub(super) fn is_inside(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '\''
}

#[cfg(test)]
mod tests {
    use super::super::GRAMMARS;
    use super::*;

    /// Slots and parts that do not exist match nothing, so that a misspelled one would go unseen.
    #[test]
    fn tables_name_what_exists_and_close_what_they_open() {
        const KINDS: [&str; 7] = [
            "opening", "closing", "request", "stage", "joint", "stop", "money",
        ];
        const SLOTS: [&str; 7] = [
            "{who}", "{places}", "{amount}", "{money}", "{track}", "{reason}", "{topic}",
        ];
        for grammar in GRAMMARS.iter() {
            for (kind, value) in grammar.table.lines.iter().copied() {
                let is_part = kind.starts_with('<');
                let tool = kind.strip_suffix(" continues").unwrap_or(kind);
                let is_pattern = is_part || TOOLS.contains(&tool);
                assert!(is_pattern || KINDS.contains(&kind), "{kind}");
                if !is_pattern {
                    continue;
                }
                for (open, close) in [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')] {
                    let count = |bracket| value.matches(bracket).count();
                    assert_eq!(count(open), count(close), "{kind}: {value}");
                }
                let named = value.split(['{', '<']).skip(1);
                for name in named.filter_map(|it| it.split(['}', '>']).next()) {
                    let is_slot = SLOTS.contains(&format!("{{{name}}}").as_str());
                    let part = grammar.table.values(&format!("<{name}>")).next();
                    assert!(is_slot || part.is_some(), "{kind}: {value}");
                }
            }
        }
    }
}
