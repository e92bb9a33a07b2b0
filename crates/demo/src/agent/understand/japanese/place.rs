//! Places in Japanese sentences, alone or listed.

use super::super::is_hiragana;
use super::super::name::{known_place, place};
use super::name::{first_name, last_name};

/// The places that clauses list, without the words that tie them to what follows: "東京、大阪と京都の".
pub(super) fn listed(clauses: &[&str], suffixes: &[&str]) -> Vec<String> {
    let Some((last, before)) = clauses.split_last() else {
        return Vec::new();
    };
    let mut places = Vec::new();
    for clause in before {
        // Not the last, so it may be anything: only known places and names in solid letters count.
        let is_name =
            |piece: &&str| known_place(piece).is_some() || first_name(piece) == Some(piece);
        places.extend(pieces(clause).into_iter().filter(is_name).map(place));
    }
    let mut last = last.trim();
    while let Some(rest) = suffixes.iter().find_map(|suffix| last.strip_suffix(suffix)) {
        last = rest.trim_end();
    }
    for piece in pieces(last) {
        let known = known_place(piece).map(str::to_owned);
        let named = || last_name(piece).map(|(name, _)| place(name));
        places.extend(known.or_else(named));
    }
    places
}

/// A place behind the word that names the tool: "天気は東京", "雰囲気を東京に".
pub(super) fn behind(text: &str) -> Option<String> {
    const PARTICLES: [&str; 9] = ["に", "の", "っぽ", "風", "みたい", "は", "?", "、", "。"];
    let text = text.trim_start_matches([' ', ':', '、', ',']);
    let text = text.strip_prefix(['は', 'を']).unwrap_or(text).trim_start();
    let name = first_name(text)?;
    let rest = &text[name.len()..];
    let ends = rest.is_empty() || PARTICLES.iter().any(|it| rest.starts_with(it));
    let is_latin = name.starts_with(|letter: char| letter.is_ascii_uppercase());
    let is_place = is_latin || known_place(name).is_some();
    (is_place && ends).then(|| place(name))
}

/// Cuts a list of places at its joints.
fn pieces(text: &str) -> Vec<&str> {
    let is_syllable = |letter: Option<char>| letter.is_some_and(is_hiragana);
    let mut pieces = Vec::new();
    let mut from = 0;
    for (at, joint) in text.match_indices(['と', 'や', '&']) {
        let after = at + joint.len();
        let before = text[..at].chars().next_back();
        // "ひとよし" holds no joint.
        let is_word = is_syllable(before) && is_syllable(text[after..].chars().next());
        if !is_word {
            pieces.push(bare(&text[from..at]));
            from = after;
        }
    }
    pieces.push(bare(&text[from..]));
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// A place without the time and the start of the journey.
fn bare(piece: &str) -> &str {
    const WHEN: [&str; 14] = [
        "今日の",
        "明日の",
        "明後日の",
        "現在の",
        "今の",
        "今週の",
        "週末の",
        "来週の",
        "本日の",
        "今夜の",
        "今朝の",
        "今日は",
        "明日は",
        "今は",
    ];
    let mut piece = piece.trim().trim_end_matches('の');
    for when in ["の今日", "の明日", "の現在", "の今", "の週末"] {
        piece = piece.strip_suffix(when).unwrap_or(piece);
    }
    while let Some(rest) = WHEN.iter().find_map(|when| piece.strip_prefix(when)) {
        piece = rest.trim_start();
    }
    let from = piece.rfind("から").map_or(0, |at| at + "から".len());
    piece[from..].trim()
}
