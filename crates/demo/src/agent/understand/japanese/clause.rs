//! A Japanese prompt cut into stages, and a stage into clauses.

use super::super::amount::amounts;

/// Cuts a text into the stages that the person wants one after the other.
pub(super) fn stages(text: &str) -> Vec<&str> {
    const BETWEEN: [&str; 12] = [
        "それから",
        "その後",
        "そのあと",
        "終わったら",
        "おわったら",
        "済んだら",
        "できたら",
        "次に",
        "つぎに",
        "続いて",
        "続けて",
        "最後に",
    ];
    /// The first letter still belongs to the verb before it.
    const BEHIND_VERB: [&str; 9] = [
        "てから",
        "でから",
        "た後",
        "たあと",
        "ったら",
        "したら",
        "えたら",
        "べたら",
        "んだら",
    ];
    let mut stages = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let find = |markers: &[&'static str]| {
            let found = markers
                .iter()
                .find(|marker| text[at..].starts_with(**marker));
            found.map(|marker| marker.len())
        };
        let verb = || find(&BEHIND_VERB).map(|length| (letter.len_utf8(), length));
        match find(&BETWEEN).map(|length| (0, length)).or_else(verb) {
            Some((kept, length)) => {
                stages.push(&text[from..at + kept]);
                at += length;
                from = at;
            }
            None => at += letter.len_utf8(),
        }
    }
    stages.push(&text[from..]);
    stages
}

/// Cuts a text at its commas and stops, not inside of a number.
pub(super) fn clauses(text: &str) -> Vec<&str> {
    let amounts = amounts(text);
    let is_inside = |at: usize| amounts.iter().any(|it| it.range.contains(&at));
    let is_end = |at: usize, letter: char| {
        let next = text[at + letter.len_utf8()..].chars().next();
        let is_stop = letter != '.' || next.is_none_or(char::is_whitespace);
        "、。,.!?;\n".contains(letter) && is_stop && !is_inside(at)
    };
    let mut clauses = Vec::new();
    let mut from = 0;
    for (at, letter) in text
        .char_indices()
        .filter(|(at, letter)| is_end(*at, *letter))
    {
        clauses.push(text[from..at].trim());
        from = at + letter.len_utf8();
    }
    clauses.push(text[from..].trim());
    clauses.retain(|clause| !clause.is_empty());
    clauses
}

/// What a clause says of money, and what it says besides: "Annに5ドルと東京の".
pub(super) fn money_apart(clause: &str) -> (Option<&str>, Option<&str>) {
    let amounts = amounts(clause);
    let mut money = amounts.iter().filter(|it| it.currency.is_some());
    let Some(money) = money.next_back() else {
        return (None, Some(clause));
    };
    let rest = clause[money.range.end..].trim_start().strip_prefix('と');
    let end = rest.map_or(clause.len(), |_| money.range.end);
    (Some(&clause[..end]), rest.filter(|rest| !rest.is_empty()))
}
