//! What a prompt asks for, in English or Japanese.
//!
//! There is no model here: the readers look for words that name a tool, and for names and amounts
//! around them. What they don't see is not asked for.

mod amount;
mod english;
mod japanese;
mod name;
mod plain;

pub(super) use name::japanese_place;

use super::wish::{Missing, Wish};

/// The language of a prompt, and of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    Japanese,
}

impl Language {
    fn other(self) -> Self {
        match self {
            Self::English => Self::Japanese,
            Self::Japanese => Self::English,
        }
    }
}

/// What a prompt asks for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Reading {
    /// The calls, in stages: a stage begins when the one before it is settled.
    pub(super) stages: Vec<Vec<Wish>>,
    /// What the person left out.
    pub(super) missing: Vec<Missing>,
}

impl Reading {
    fn is_empty(&self) -> bool {
        self.stages.is_empty() && self.missing.is_empty()
    }

    /// What one clause leaves out, another may say: "Change the BGM, play track 2".
    fn without_answered(mut self) -> Self {
        let wishes = self.stages.iter().flatten();
        let plays = wishes
            .into_iter()
            .any(|wish| matches!(wish, Wish::Track { .. }));
        self.missing
            .retain(|missing| !(plays && *missing == Missing::Track));
        self.missing.dedup();
        self
    }
}

/// Nobody asks for something in more letters than this. A longer prompt is not cut, which could cut
/// an amount, but not read at all.
const LONGEST: usize = 4_000;

/// Reads a prompt.
pub(super) fn understand(prompt: &str) -> Reading {
    if prompt.chars().nth(LONGEST).is_some() {
        return Reading::default();
    }
    let text = plain::plain(prompt);
    let read = |language| match language {
        Language::English => english::read(&text).without_answered(),
        Language::Japanese => japanese::read(&text).without_answered(),
    };
    let language = language(prompt);
    let reading = read(language);
    if !reading.stages.is_empty() {
        return reading;
    }
    // People mix: what looks like a Japanese sentence may be an English one with a particle in it.
    let is_foreign = language == Language::Japanese || text.contains(is_japanese);
    if !is_foreign {
        return reading;
    }
    let other = read(language.other());
    if other.stages.is_empty() && !reading.is_empty() {
        return reading;
    }
    other
}

/// The language that a prompt is written in.
pub(super) fn language(prompt: &str) -> Language {
    /// Words that stand in no Japanese sentence, not even in a name.
    const ENGLISH: [&str; 26] = [
        "a", "and", "book", "change", "dollars", "fly", "flight", "for", "give", "i", "in", "is",
        "me", "mood", "of", "pay", "play", "please", "report", "send", "set", "the", "to",
        "transfer", "weather", "what",
    ];
    let text = plain::plain(prompt).to_lowercase();
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let names_only = {
        let polite = ["さん", "さま", "くん", "ちゃん"];
        let bare = polite
            .iter()
            .fold(text.clone(), |text, it| text.replace(it, ""));
        !bare.contains(is_hiragana)
    };
    let is_english = words.into_iter().any(|word| ENGLISH.contains(&word));
    if text.contains(is_japanese) && !(names_only && is_english) {
        Language::Japanese
    } else {
        Language::English
    }
}

fn is_hiragana(letter: char) -> bool {
    ('\u{3041}'..='\u{309f}').contains(&letter)
}

fn is_japanese(letter: char) -> bool {
    let is_katakana = ('\u{30a0}'..='\u{30ff}').contains(&letter);
    let is_kanji = ('\u{3400}'..='\u{9fff}').contains(&letter);
    is_hiragana(letter) || is_katakana || is_kanji
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_that_of_the_grammar_not_of_the_names() {
        for prompt in [
            "Samに20ドル送って",
            "Mary Annに5ドル",
            "東京の天気",
            "トラック0",
            "BGM変更",
            "San Franciscoの天気",
            "Hanakoさん 50ドル 送金",
        ] {
            assert_eq!(language(prompt), Language::Japanese, "{prompt}");
        }
        for prompt in [
            "",
            "20",
            "Send $20 to 花子さん",
            "weather in 東京",
            "Pay サム $5",
            "Bonjour",
        ] {
            assert_eq!(language(prompt), Language::English, "{prompt}");
        }
    }
}
