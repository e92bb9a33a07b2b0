//! What a prompt asks for, in English or Japanese.
//!
//! There is no model here. A prompt is cut into clauses, and a clause is understood where the table of
//! a language has a pattern for all of it. What has none is asked about, and as long as something is
//! unclear, nothing is paid.
//!
//! # Layout
//!
//! - `english.txt`, `japanese.txt`: the tables; `table`, `grammar`: how they are read.
//! - `text`: a prompt in one form of each letter, cut into clauses.
//! - `pattern`: how a pattern matches; `slot`, `amount`, `name`, with `values.txt`: its values.

mod amount;
mod grammar;
mod name;
mod pattern;
mod slot;
mod table;
mod text;

pub(super) use name::japanese_place;

use std::ops::Range;
use std::sync::LazyLock;

use serde_json::{Value, json};

use self::amount::amount;
use self::grammar::Grammar;
use self::name::names;
use self::pattern::Values;
use self::slot::track;
use self::text::{Clause, clauses, is_japanese, plain};
use super::intent::{Intent, Question};

/// The language of a prompt, and of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    Japanese,
}

/// What a prompt asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    pub(super) language: Language,
    /// The calls, in stages: a stage begins when the one before it is settled.
    pub(super) stages: Vec<Vec<Intent>>,
    /// What has to be asked back.
    pub(super) questions: Vec<Question>,
}

/// Nobody asks for something in more letters than this. A longer prompt is not cut, which could cut
/// an amount, but not read at all.
const LONGEST: usize = 1_000;

/// Nor does anybody in more clauses, in a prompt or in a sentence.
const MOST_CLAUSES: usize = 30;
const LONGEST_SENTENCE: usize = 8;

static GRAMMARS: LazyLock<[Grammar; 2]> = LazyLock::new(|| {
    let english = Grammar::parse(Language::English, include_str!("understand/english.txt"));
    let japanese = Grammar::parse(Language::Japanese, include_str!("understand/japanese.txt"));
    [english, japanese]
});

/// Reads a prompt.
pub(super) fn understand(prompt: &str) -> Reading {
    let is_read = prompt.chars().nth(LONGEST).is_none();
    let text = plain(if is_read { prompt } else { "" });
    let mut reader = Reader {
        clauses: clauses(&text, &*GRAMMARS),
        text: &text,
        understood: Vec::new(),
        unclear: Vec::new(),
    };
    let mut at = 0;
    while at < reader.clauses.len() && reader.clauses.len() <= MOST_CLAUSES {
        at = reader.sentence(at);
    }
    reader.finish(prompt)
}

/// A sentence that a table knows.
struct Sentence {
    grammar: &'static Grammar,
    stage: usize,
    /// The tool that it asks for. None, where it is a greeting or the like.
    tool: Option<&'static str>,
    asks: Result<Vec<Intent>, Question>,
}

impl Sentence {
    fn read(grammar: &'static Grammar, text: &str, last: &Clause) -> Option<Self> {
        let core = grammar.core(text);
        let (tool, asks) = if core.is_empty() {
            (None, Ok(Vec::new()))
        } else {
            let (tool, values) = grammar.matching(core)?;
            (Some(tool), intents(tool, &values))
        };
        let spends = asks.as_ref().is_ok_and(|it| it.iter().any(Intent::spends));
        let is_sure = !last.is_question || !spends || grammar.has("request", text);
        let stage = last.stage;
        is_sure.then_some(Self {
            grammar,
            stage,
            tool,
            asks,
        })
    }
}

struct Reader<'t> {
    text: &'t str,
    clauses: Vec<Clause>,
    understood: Vec<Sentence>,
    unclear: Vec<&'t str>,
}

impl Reader<'_> {
    /// Reads the sentence that begins with a clause, and says which clause is next.
    fn sentence(&mut self, at: usize) -> usize {
        let clause = &self.clauses[at];
        let goes_on = |it: &&Clause| !it.is_first && it.stage == clause.stage;
        let rest = self.clauses[at + 1..].iter().take(LONGEST_SENTENCE - 1);
        let last = at + 1 + rest.take_while(goes_on).count();
        // As few clauses as make sense, and those behind them that make none by themselves:
        // "bread and butter", but not "the weather, and pay Ann $5".
        let mut found = None;
        for end in at + 1..=last {
            let is_complete = found.is_some() && self.known(end - 1..end).is_some();
            match self.known(at..end).filter(|_| !is_complete) {
                Some(sentence) => found = Some((end, sentence)),
                None if found.is_some() => break,
                None => {}
            }
        }
        let found = found.or_else(|| Some((at + 1, self.continued(clause)?)));
        let Some((end, sentence)) = found else {
            self.unclear.push(&self.text[clause.range.clone()]);
            return at + 1;
        };
        self.understood.push(sentence);
        end
    }

    /// Some clauses as one sentence, if a table knows it.
    fn known(&self, clauses: Range<usize>) -> Option<Sentence> {
        let clauses = &self.clauses[clauses];
        let (first, last) = (clauses.first()?, clauses.last()?);
        let text = &self.text[first.range.start..last.range.end];
        let is_foreign = |it: &&Grammar| it.language == Language::Japanese && text.is_ascii();
        let mut grammars = GRAMMARS.iter().filter(|it| !is_foreign(it));
        grammars.find_map(|grammar| Sentence::read(grammar, text, last))
    }

    /// A clause that makes sense only as one more of what was asked for before it.
    fn continued(&self, clause: &Clause) -> Option<Sentence> {
        let last = self.understood.last().filter(|_| !clause.is_first)?;
        let text = last
            .grammar
            .continued(last.tool?, &self.text[clause.range.clone()])?;
        Sentence::read(last.grammar, &text, clause).filter(|it| it.asks.is_ok())
    }

    fn finish(self, prompt: &str) -> Reading {
        let understood = self.understood.first().map(|it| it.grammar.language);
        let language = understood.unwrap_or_else(|| match prompt.find(is_japanese) {
            Some(_) => Language::Japanese,
            None => Language::English,
        });
        let mut questions = Vec::new();
        let mut stages = vec![Vec::new(); self.clauses.last().map_or(0, |last| last.stage + 1)];
        for sentence in self.understood {
            match sentence.asks {
                Ok(intents) => stages[sentence.stage].extend(intents),
                Err(question) => questions.push(question),
            }
        }
        // "Change the BGM, play track 2": what one clause leaves out, another says.
        let plays = stages
            .iter()
            .flatten()
            .any(|it: &Intent| it.tool == "change_bgm");
        questions.retain(|question| !(plays && *question == Question::Track));
        questions.dedup();
        let is_money = |it: &&str| GRAMMARS.iter().any(|grammar| grammar.has("money", it));
        if let Some(unclear) = self.unclear.first().map(|it| (*it).to_owned()) {
            let spends = stages.iter().flatten().any(Intent::spends);
            if spends || self.unclear.iter().any(is_money) {
                let stages = stages.iter_mut();
                stages.for_each(|stage| stage.retain(|intent| !intent.spends()));
                questions = vec![Question::Payment(unclear)];
            } else if !questions.is_empty() || stages.iter().any(|stage| !stage.is_empty()) {
                questions.push(Question::Unclear(unclear));
            }
        }
        stages.retain(|stage| !stage.is_empty());
        Reading {
            language,
            stages,
            questions,
        }
    }
}

/// What the values of a sentence ask for, or what it leaves out.
fn intents(tool: &'static str, values: &Values<'_>) -> Result<Vec<Intent>, Question> {
    let value = |slot| {
        let found = values.iter().find(|(it, _)| *it == slot);
        found.map(|(_, text)| text.trim())
    };
    let listed = |slot, kind| value(slot).and_then(|it| names(kind, it));
    let each_place = |field: &str, question| {
        let places = listed("{places}", "place").ok_or(question)?;
        Ok(places.iter().map(|place| json!({field: place})).collect())
    };
    let inputs: Vec<Value> = match tool {
        "process_payment" => {
            let amount = value("{amount}").or(value("{money}")).and_then(amount);
            let amount = amount.ok_or(Question::Amount)?;
            let who = listed("{who}", "person").ok_or(Question::Recipient)?;
            let payments = who
                .iter()
                .map(|recipient| amount.input(recipient, value("{reason}")));
            payments.collect()
        }
        "get_weather" => each_place("location", Question::City)?,
        "set_mood" => each_place("location", Question::Mood)?,
        "book_flight" => each_place("destination", Question::Destination)?,
        "change_bgm" => {
            let track = value("{track}").and_then(track);
            vec![json!({"track": track.ok_or(Question::Track)?})]
        }
        "write_report" => vec![json!({"topic": value("{topic}").ok_or(Question::Topic)?})],
        _ => vec![json!({})],
    };
    Ok(inputs
        .into_iter()
        .map(|input| Intent { tool, input })
        .collect())
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
            assert_eq!(understand(prompt).language, Language::Japanese, "{prompt}");
        }
        for prompt in [
            "",
            "20",
            "Send $20 to 花子さん",
            "weather in 東京",
            "Pay サム $5",
            "Bonjour",
        ] {
            assert_eq!(understand(prompt).language, Language::English, "{prompt}");
        }
    }

    #[test]
    fn a_prompt_that_is_too_long_is_not_read_in_part() {
        let many = "Pay Ann $5. ".repeat(MOST_CLAUSES + 1);
        let long = format!("Pay Ann $5 for {}", "tea ".repeat(LONGEST));
        for prompt in [many, long] {
            assert!(understand(&prompt).stages.is_empty());
        }
    }
}
