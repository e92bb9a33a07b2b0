//! Tables: lines of a kind and a value. A value may be words, parted by `|`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The words that slots are read by.
pub(super) static VALUES: LazyLock<Table> =
    LazyLock::new(|| Table::parse(include_str!("values.txt")));

/// A table.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) lines: Vec<(&'static str, &'static str)>,
    /// The words of each kind, each with what it means: itself, if the table says nothing else.
    words: HashMap<&'static str, Vec<(&'static str, &'static str)>>,
    meanings: HashMap<(&'static str, &'static str), &'static str>,
}

impl Table {
    /// Parses a table.
    pub(super) fn parse(source: &'static str) -> Self {
        let mut table = Self::default();
        let lines = source.lines().filter(|line| !line.starts_with('#'));
        for (kind, value) in lines.filter_map(|line| line.split_once(": ")) {
            table.lines.push((kind, value));
            for word in value.split('|') {
                let (word, meaning) = word.split_once('=').unwrap_or((word, word));
                table.words.entry(kind).or_default().push((word, meaning));
                table.meanings.insert((kind, word), meaning);
            }
        }
        table
    }

    /// The values of a kind.
    pub(super) fn values(&self, kind: &str) -> impl Iterator<Item = &'static str> {
        let lines = self.lines.iter().filter(move |(it, _)| *it == kind);
        lines.map(|(_, value)| *value)
    }

    /// The words of a kind, each with what it means.
    pub(super) fn words(&self, kind: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.words.get(kind).into_iter().flatten().copied()
    }

    /// What a word of a kind means.
    pub(super) fn meaning(&self, kind: &str, word: &str) -> Option<&'static str> {
        self.meanings.get(&(kind, word)).copied()
    }
}
