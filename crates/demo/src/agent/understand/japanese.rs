//! Reads Japanese prompts: from one word that names a tool to the next, since what a tool is asked
//! for stands before the word that names it.

mod clause;
mod closer;
mod name;
mod payment;
mod place;
mod predicate;
mod track;

use self::clause::{clauses, money_apart, stages};
use self::closer::{Closer, Topic, closers};
use self::payment::Payments;
use self::predicate::without_predicate;
use super::Reading;
use crate::agent::wish::{Missing, Wish};

/// Reads a Japanese prompt.
pub(super) fn read(text: &str) -> Reading {
    let mut reading = Reading::default();
    for stage in stages(text) {
        let wishes = read_stage(stage, &mut reading.missing);
        if !wishes.is_empty() {
            reading.stages.push(wishes);
        }
    }
    reading
}

fn read_stage(text: &str, missing: &mut Vec<Missing>) -> Vec<Wish> {
    let closers = closers(text);
    let mut payments = Payments::default();
    let mut wishes = Vec::new();
    let mut from = 0;
    for (at, closer) in closers.iter().enumerate() {
        if closer.is_taken_back {
            from = closer.end;
        }
        // A closer may have used what stands behind it, another closer included.
        if closer.start < from {
            continue;
        }
        let until = closers.get(at + 1).map_or(text.len(), |next| next.start);
        let between = &text[from..closer.start];
        let before = without_predicate(between, at > 0);
        from = closer.end;
        let clauses = clauses(before);
        if closer.topic == Topic::Payment {
            if closer.is_plain {
                payments.ask();
            }
            for clause in &clauses {
                wishes.extend(payments.clause(clause, true));
            }
            if before.ends_with("にも") || before.ends_with("へも") {
                wishes.extend(payments.also());
            }
            payments.describe(&mut wishes);
            continue;
        }
        let mut rest = Vec::new();
        for clause in clauses {
            let (money, other) = money_apart(clause);
            wishes.extend(
                money
                    .map(|it| payments.clause(it, false))
                    .unwrap_or_default(),
            );
            rest.extend(other);
        }
        // "天気のレポート" is the weather, and no report besides.
        let is_same = at > 0 && closer.topic == Topic::Report && ["", "の"].contains(&between);
        match read_closer(closer, &rest, &text[closer.end..until], &text[closer.end..]) {
            Ok((found, length)) => {
                from += length;
                wishes.extend(found);
            }
            Err(left_out) => missing.extend(left_out.filter(|_| !is_same)),
        }
    }
    // Behind the last closer: "送金して: Samに20ドル".
    for clause in clauses(&text[from..]) {
        wishes.extend(payments.clause(clause, false));
    }
    missing.extend(payments.missing());
    settle(wishes, missing)
}

/// Where the person is, is asked for once: "私は今どこにいる". Whose weather it is that is asked for
/// besides, nobody can say.
fn settle(mut wishes: Vec<Wish>, missing: &mut Vec<Missing>) -> Vec<Wish> {
    let locates = wishes.contains(&Wish::Location);
    missing.retain(|missing| !(locates && *missing == Missing::City));
    let mut located = false;
    wishes.retain(|wish| *wish != Wish::Location || !std::mem::replace(&mut located, true));
    wishes
}

/// What stands before a closer that is no payment's, and how much of what stands behind it is used.
fn read_closer(
    closer: &Closer,
    before: &[&str],
    after: &str,
    rest: &str,
) -> Result<(Vec<Wish>, usize), Option<Missing>> {
    let places = |suffixes: &[&str]| {
        let named = place::listed(before, suffixes);
        if named.is_empty() {
            place::behind(after).into_iter().collect()
        } else {
            named
        }
    };
    let wishes: Vec<_> = match closer.topic {
        Topic::Location => vec![Wish::Location],
        Topic::Weather => {
            let wish = |place| Wish::Weather { place };
            places(&[
                "の",
                "どんな",
                "は今",
                "は",
                "って",
                "では",
                "での",
                "で",
                "における",
            ])
            .into_iter()
            .map(wish)
            .collect()
        }
        Topic::Flight => {
            let wish = |destination| Wish::Flight { destination };
            let suffixes = [
                "行きの",
                "行き",
                "への",
                "へ",
                "までの",
                "まで",
                "の",
                "に",
                "便の",
            ];
            places(&suffixes).into_iter().map(wish).collect()
        }
        Topic::Mood => {
            let wish = |place| Wish::Mood { place };
            let suffixes = [
                "の",
                "っぽい",
                "らしい",
                "みたいな",
                "のような",
                "風の",
                "風な",
                "風",
            ];
            places(&suffixes).into_iter().map(wish).collect()
        }
        Topic::Report => topic(before, near(rest))
            .map(|topic| Wish::Report { topic })
            .into_iter()
            .collect(),
        Topic::Track => {
            return match track::behind(near(rest)) {
                Some((track, length)) => Ok((vec![Wish::Track { track }], length)),
                None => match before.last().and_then(|before| track::before(before)) {
                    Some(track) => Ok((vec![Wish::Track { track }], 0)),
                    None => Err(Some(Missing::Track).filter(|_| closer.is_plain || plays(after))),
                },
            };
        }
        Topic::Payment => Vec::new(),
    };
    if !wishes.is_empty() {
        return Ok((wishes, 0));
    }
    let missing = match closer.topic {
        Topic::Weather => Missing::City,
        Topic::Flight => Missing::Destination,
        Topic::Mood => Missing::Mood,
        _ => Missing::Topic,
    };
    Err(Some(missing).filter(|_| closer.is_plain))
}

/// The beginning of a text: what stands further off has nothing to do with what is before it.
fn near(text: &str) -> &str {
    let end = text.char_indices().nth(40).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// What a report is about.
fn topic(before: &[&str], rest: &str) -> Option<String> {
    const ABOUT: [&str; 7] = [
        "についての",
        "について",
        "に関する",
        "に関しての",
        "に関して",
        "をテーマにした",
        "の",
    ];
    let joined = before.join("、");
    let topic = ABOUT
        .iter()
        .find_map(|about| joined.strip_suffix(about))
        .unwrap_or(&joined);
    if !topic.trim().is_empty() {
        return Some(topic.trim().to_owned());
    }
    if let Some((quoted, _)) = rest.strip_prefix('「').and_then(|it| it.split_once('」')) {
        return Some(quoted.to_owned());
    }
    let sentences = clauses(rest);
    let behind = sentences.iter().find_map(|clause| {
        let end = clause.find("について")?;
        let start = clause.find("は").map_or(0, |at| at + "は".len());
        clause.get(start..end)
    });
    behind.filter(|topic| !topic.is_empty()).map(str::to_owned)
}

fn plays(after: &str) -> bool {
    ["変え", "変更", "かけ", "流し", "再生", "切り替え"]
        .iter()
        .any(|verb| after.contains(verb))
}
