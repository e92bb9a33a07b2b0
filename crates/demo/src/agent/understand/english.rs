//! Reads English prompts: clause by clause, each clause by the word in it that names a tool, and a
//! clause without such a word as one more of the last.

mod name;
mod payment;
mod token;
mod trigger;
mod words;

use std::ops::Range;

use self::name::{may_be_listed, name};
use self::payment::Payment;
use self::token::{Clause, Joint, Kind, Token, clauses, stages, tokens};
use self::trigger::{Topic, Trigger, triggers};
use self::words::{FILLER, NEGATIONS, REGIONS, STOP};
use super::Reading;
use super::amount::spelled_word;
use super::name::{is_known_latin_place, known_place, place};
use crate::agent::wish::{Missing, Wish};

/// Reads an English prompt.
pub(super) fn read(text: &str) -> Reading {
    let tokens = tokens(text);
    let mut reader = Reader {
        text,
        drafts: Vec::new(),
        orphan: None,
        list_is_plain: false,
    };
    for (number, stage) in stages(&tokens).into_iter().enumerate() {
        for clause in clauses(stage) {
            reader.clause(number, clause);
        }
    }
    reader.finish()
}

/// Something that the prompt asks for, as far as it was read.
#[derive(Debug)]
enum Draft {
    Payment(Payment),
    Report(Range<usize>),
    Wish(Wish),
    Missing(Missing),
    /// Nothing, but what follows doesn't continue what stood before.
    Nothing,
}

struct Reader<'t> {
    text: &'t str,
    /// What was read, with the number of its stage.
    drafts: Vec<(usize, Draft)>,
    /// A name that stood alone, before anything was asked: "In Tokyo, what is the weather?"
    orphan: Option<String>,
    /// Whether the last name was written without a capital.
    list_is_plain: bool,
}

impl Reader<'_> {
    fn clause(&mut self, stage: usize, clause: Clause<'_>) {
        let tokens = clause.tokens;
        let triggers = triggers(tokens);
        let read = triggers
            .iter()
            .find_map(|trigger| self.read(tokens, trigger));
        let draft = match read {
            Some(draft) => draft,
            None if triggers.is_empty() => match self.continued(clause) {
                Some(draft) => draft,
                None => return,
            },
            None => match missing(tokens, &triggers) {
                Some(missing) => Draft::Missing(missing),
                None => return,
            },
        };
        let is_plain = |token: &Token<'_>| !token.is_proper() || token.is(&FILLER);
        self.list_is_plain = tokens.iter().skip(1).all(is_plain);
        self.drafts.push((stage, draft));
    }

    /// What a clause asks for, going by one of its triggers.
    fn read(&self, tokens: &[Token<'_>], trigger: &Trigger) -> Option<Draft> {
        let before = &tokens[..trigger.start];
        let after = &tokens[trigger.end..];
        let orphan = || self.orphan.clone();
        let wish = match trigger.topic {
            Topic::Payment => {
                return Payment::read(self.text, tokens, trigger).map(Draft::Payment);
            }
            Topic::Report => {
                return topic(before, after).map(Draft::Report);
            }
            Topic::Location => Wish::Location,
            Topic::Track => Wish::Track {
                track: track(before, after)?,
            },
            Topic::Weather if !trigger.is_plain => Wish::Weather {
                place: place(&after_one_of(&["in", "at"], after)?),
            },
            Topic::Weather => {
                let found = after_one_of(&["in", "for", "of", "at", "near", "around"], after);
                let found = found.or_else(|| after_one_of(&["on"], after));
                let found = found
                    .or_else(|| run_before(before))
                    .or_else(|| run_after(after));
                Wish::Weather {
                    place: place(&found.or_else(orphan)?),
                }
            }
            Topic::Flight => {
                let found = after_one_of(&["to", "for", "into"], after);
                let found = found
                    .or_else(|| run_before(before))
                    .or_else(|| run_after(after));
                Wish::Flight {
                    destination: place(&found.or_else(orphan)?),
                }
            }
            Topic::Mood => {
                let found = after_one_of(&["for", "of", "to", "like", "in"], after);
                let names_something = before.last().is_some_and(Token::is_proper);
                let found = found.or_else(|| run_before(before).filter(|_| names_something));
                Wish::Mood {
                    place: place(&found.or_else(orphan)?),
                }
            }
        };
        Some(Draft::Wish(wish))
    }

    /// What a clause asks for that names no tool: one more of what was asked before it.
    fn continued(&mut self, clause: Clause<'_>) -> Option<Draft> {
        let tokens = clause.tokens;
        let is_filler = |token: &Token<'_>| token.is(&FILLER) || token.is(&STOP);
        if tokens.iter().all(is_filler) {
            return None;
        }
        if tokens.iter().any(|token| token.is(&NEGATIONS)) {
            return Some(Draft::Nothing);
        }
        let same_sentence = clause.joint != Joint::Stop;
        let listed =
            |is_known| same_sentence && may_be_listed(tokens, self.list_is_plain, is_known);
        let listed_place = || name(tokens).filter(|_| listed(is_place));
        let last = self.drafts.last_mut().map(|(_, draft)| draft);
        let continues_payment = matches!(last, Some(Draft::Payment(_)));
        if let Some(payment) = Payment::continued(self.text, tokens, continues_payment) {
            return Some(Draft::Payment(payment));
        }
        match last {
            None => {
                self.orphan = listed_place().or_else(|| after_one_of(&["in", "at"], tokens));
                None
            }
            Some(Draft::Missing(missing)) if same_sentence => {
                // "The weather forecast, Oslo."
                let wish = match missing {
                    Missing::City => Wish::Weather {
                        place: place(&listed_place()?),
                    },
                    Missing::Destination => Wish::Flight {
                        destination: place(&listed_place()?),
                    },
                    _ => return None,
                };
                self.drafts.pop();
                Some(Draft::Wish(wish))
            }
            Some(Draft::Payment(payment)) if same_sentence => {
                let is_one_more = listed(|_| false);
                let one_more = payment.extend(clause, is_one_more)?;
                Some(Draft::Payment(one_more))
            }
            Some(Draft::Report(range)) if same_sentence => {
                let last = tokens.last()?;
                range.end = last.range.end;
                None
            }
            Some(Draft::Wish(wish)) => {
                let is_region = clause.joint == Joint::Comma && tokens[0].is(&REGIONS);
                let place = || listed_place().filter(|_| !is_region).map(|it| place(&it));
                let wish = match wish {
                    Wish::Weather { .. } => Wish::Weather { place: place()? },
                    Wish::Mood { .. } => Wish::Mood { place: place()? },
                    Wish::Flight { .. } => Wish::Flight {
                        destination: place()?,
                    },
                    Wish::Track { .. } if tokens.len() == 1 => Wish::Track {
                        track: track(&[], tokens)?,
                    },
                    _ => return None,
                };
                Some(Draft::Wish(wish))
            }
            _ => None,
        }
    }

    fn finish(self) -> Reading {
        let mut drafts = self.drafts;
        let payments = drafts.iter_mut().filter_map(|(_, draft)| match draft {
            Draft::Payment(payment) => Some(payment),
            _ => None,
        });
        payment::share_amounts(payments.collect());
        let mut missing = Vec::new();
        let mut stages: Vec<(usize, Vec<Wish>)> = Vec::new();
        for (number, draft) in drafts {
            let wish = match draft {
                Draft::Payment(payment) => payment.wish(self.text),
                Draft::Report(range) => Ok(Wish::Report {
                    topic: self.text[range].to_owned(),
                }),
                Draft::Wish(wish) => Ok(wish),
                Draft::Missing(missing) => Err(Some(missing)),
                Draft::Nothing => Err(None),
            };
            match (wish, stages.last_mut()) {
                (Err(left_out), _) => missing.extend(left_out),
                (Ok(wish), Some((last, wishes))) if *last == number => wishes.push(wish),
                (Ok(wish), _) => stages.push((number, vec![wish])),
            }
        }
        let stages = stages.into_iter().map(|(_, wishes)| wishes).collect();
        Reading { stages, missing }
    }
}

fn is_place(name: &str) -> bool {
    is_known_latin_place(name) || known_place(name).is_some()
}

/// What is left out of a clause whose triggers all came to nothing.
fn missing(tokens: &[Token<'_>], triggers: &[Trigger]) -> Option<Missing> {
    let plays = tokens
        .iter()
        .any(|token| token.is(&["change", "play", "put", "set", "start", "switch"]));
    triggers.iter().find_map(|trigger| match trigger.topic {
        Topic::Track if trigger.is_plain || plays => Some(Missing::Track),
        Topic::Weather if trigger.is_plain => Some(Missing::City),
        Topic::Flight => Some(Missing::Destination),
        Topic::Mood => Some(Missing::Mood),
        Topic::Report => Some(Missing::Topic),
        _ => None,
    })
}

/// The first name that stands behind one of these words.
fn after_one_of(words: &[&str], tokens: &[Token<'_>]) -> Option<String> {
    let places = (0..tokens.len()).filter(|at| tokens[*at].is(words));
    let names: Vec<_> = places.filter_map(|at| name(&tokens[at + 1..])).collect();
    // "For a quiet evening in Paris" is about what has a name.
    let is_named = |name: &&String| {
        tokens
            .iter()
            .any(|token| token.is_proper() && name.contains(token.text))
    };
    names
        .iter()
        .find(is_named)
        .or_else(|| names.first())
        .cloned()
}

/// The name that ends just here: "the Tokyo weather".
fn run_before(tokens: &[Token<'_>]) -> Option<String> {
    let is_named = |(at, token): &(usize, &Token<'_>)| {
        let is_filler = token.is(&FILLER) && (*at == 0 || !token.is_proper());
        matches!(token.kind, Kind::Word | Kind::Quoted) && !is_filler && !token.is(&STOP)
    };
    let run = tokens.iter().enumerate().rev().take_while(is_named).count();
    name(&tokens[tokens.len() - run..]).filter(|_| run > 0)
}

/// The name that begins just here: "weather Tokyo".
fn run_after(tokens: &[Token<'_>]) -> Option<String> {
    let first = tokens.first()?;
    let starts = !first.is(&FILLER) && !first.is(&STOP);
    name(tokens).filter(|_| starts)
}

/// What a report is about, as it is written.
fn topic(before: &[Token<'_>], after: &[Token<'_>]) -> Option<Range<usize>> {
    const ABOUT: [&str; 5] = ["about", "concerning", "covering", "on", "regarding"];
    let polite = |token: &Token<'_>| token.is(&["please", "thanks", "now"]);
    let span = |tokens: &[Token<'_>]| {
        let kept = tokens.iter().rposition(|token| !polite(token))?;
        Some(tokens.first()?.range.start..tokens[kept].range.end)
    };
    if let Some(at) = after.iter().position(|token| token.is(&ABOUT)) {
        return span(&after[at + 1..]);
    }
    let is_named = |token: &&Token<'_>| token.kind == Kind::Word && !token.is(&FILLER);
    let run = before.iter().rev().take_while(is_named).count();
    span(&before[before.len() - run..])
}

/// The number of a track, behind the word or before it.
fn track(before: &[Token<'_>], after: &[Token<'_>]) -> Option<f64> {
    let is_target = |at: usize| {
        at > 0
            && after[..at]
                .iter()
                .rev()
                .take(2)
                .any(|token| token.is(&["to"]))
    };
    let behind: Vec<_> = (0..after.len())
        .filter_map(|at| Some((at, number(&after[at])?)))
        .collect();
    // "From track 1 to track 2" wants the second.
    let target = behind.iter().find(|(at, _)| is_target(*at));
    let chosen = target.or_else(|| behind.first()).map(|(_, number)| *number);
    chosen.or_else(|| before.last().and_then(number))
}

fn number(token: &Token<'_>) -> Option<f64> {
    const ORDINALS: [&str; 3] = ["first", "second", "third"];
    const NTH: [&str; 3] = ["1st", "2nd", "3rd"];
    if let Some(amount) = token.amount() {
        return Some(amount.value).filter(|_| amount.currency.is_none());
    }
    let place = |words: &[&str]| words.iter().position(|word| token.is(&[word]));
    let nth = place(&ORDINALS).or_else(|| place(&NTH));
    let nth = nth.and_then(|place| u32::try_from(place + 1).ok().map(f64::from));
    let digits = token.lower.strip_prefix('#').and_then(|it| it.parse().ok());
    nth.or(digits).or_else(|| spelled_word(&token.lower))
}
