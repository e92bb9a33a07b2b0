//! Words that name a tool.

use super::token::Token;
use super::words::{FILLER, NEGATIONS};

/// What a clause is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    Payment,
    Weather,
    Location,
    Track,
    Flight,
    Mood,
    Report,
}

/// Where a clause says what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Trigger {
    pub(super) topic: Topic,
    /// The first token of it.
    pub(super) start: usize,
    /// The token after it.
    pub(super) end: usize,
    /// Whether the word can mean nothing else.
    pub(super) is_plain: bool,
}

const PAY: [&str; 11] = [
    "pay",
    "paying",
    "pays",
    "payment",
    "payments",
    "process_payment",
    "remit",
    "transfer",
    "transferring",
    "transfers",
    "wire",
];
const GIVE: [&str; 7] = [
    "donate", "give", "giving", "hand", "lend", "send", "sending",
];
const WEATHER: [&str; 5] = [
    "climate",
    "forecast",
    "get_weather",
    "temperature",
    "weather",
];
const SKY: [&str; 13] = [
    "cloudy", "cold", "hot", "humid", "rain", "raining", "rainy", "snow", "snowing", "sunny",
    "umbrella", "warm", "windy",
];
const TRACK: [&str; 4] = ["bgm", "change_bgm", "track", "tracks"];
const MUSIC: [&str; 5] = ["music", "song", "songs", "soundtrack", "tune"];
const FLIGHT: [&str; 5] = ["book_flight", "flight", "flights", "fly", "flying"];
const MOOD: [&str; 6] = [
    "ambiance",
    "ambience",
    "atmosphere",
    "mood",
    "set_mood",
    "vibe",
];
const REPORT: [&str; 3] = ["report", "reports", "write_report"];
const WHERE: [&[&str]; 18] = [
    &["get_location"],
    &["where", "am", "i"],
    &["where", "are", "we"],
    &["where", "i", "am"],
    &["where", "we", "are"],
    &["where", "i'm"],
    &["where", "exactly", "am", "i"],
    &["my", "location"],
    &["my", "current", "location"],
    &["my", "exact", "location"],
    &["my", "position"],
    &["my", "current", "position"],
    &["my", "whereabouts"],
    &["my", "coordinates"],
    &["our", "location"],
    &["current", "location"],
    &["locate", "me"],
    &["get", "location"],
];

/// What a clause is about, in the order of its words. Nothing where it takes something back.
pub(super) fn triggers(tokens: &[Token<'_>]) -> Vec<Trigger> {
    let mut triggers: Vec<Trigger> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match trigger(tokens, at) {
            Some(trigger) => {
                at = trigger.end;
                triggers.push(trigger);
            }
            None => at += 1,
        }
    }
    let is_negated = |trigger: &Trigger| {
        tokens[..trigger.start]
            .iter()
            .any(|token| token.is(&NEGATIONS))
    };
    if triggers.first().is_some_and(is_negated) {
        triggers.clear();
    }
    triggers
}

fn trigger(tokens: &[Token<'_>], at: usize) -> Option<Trigger> {
    let found = |topic, length, is_plain| {
        Some(Trigger {
            topic,
            start: at,
            end: at + length,
            is_plain,
        })
    };
    let token = &tokens[at];
    let next = tokens.get(at + 1);
    let is_where = |words: &&&[&str]| {
        let here = tokens[at..].iter().map(|token| token.lower.as_str());
        here.take(words.len()).eq(words.iter().copied())
    };
    if let Some(words) = WHERE.iter().find(is_where) {
        return found(Topic::Location, words.len(), true);
    }
    // "Location, please" says no more than that.
    let is_alone = || {
        tokens
            .iter()
            .all(|other| other.range == token.range || other.is(&FILLER))
    };
    if token.is(&["location", "position"]) && is_alone() {
        return found(Topic::Location, 1, true);
    }
    if token.is(&WEATHER) {
        // "The weather report" is no report.
        let is_report = next.is_some_and(|next| next.is(&["report", "forecast"]));
        return found(Topic::Weather, 1 + usize::from(is_report), true);
    }
    // "A ticket to Oslo" is a flight, "a ticket" may be for anything.
    if token.is(&["ticket", "tickets"]) && next.is_some_and(|next| next.is(&["to"])) {
        return found(Topic::Flight, 1, true);
    }
    let money = next.is_some_and(|next| next.is(&["money"]));
    let kinds: [(&[&str], Topic, bool); 8] = [
        (&PAY, Topic::Payment, true),
        (&GIVE, Topic::Payment, money),
        (&SKY, Topic::Weather, false),
        (&TRACK, Topic::Track, true),
        (&MUSIC, Topic::Track, false),
        (&FLIGHT, Topic::Flight, true),
        (&MOOD, Topic::Mood, true),
        (&REPORT, Topic::Report, true),
    ];
    let kind = kinds.iter().find(|(words, _, _)| token.is(words));
    kind.and_then(|(_, topic, is_plain)| found(*topic, 1, *is_plain))
}
