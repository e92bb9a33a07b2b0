//! The numbers of tracks in Japanese sentences.

use super::super::amount::{amounts, number};

/// The number behind the word for a track, and where it ends.
pub(super) fn behind(text: &str) -> Option<(f64, usize)> {
    let start = gap(text);
    let digits = text[start..].strip_prefix('-').unwrap_or(&text[start..]);
    let (value, length) = number(digits)?;
    let end = text.len() - digits.len() + length;
    let is_money = amounts(text)
        .iter()
        .any(|amount| amount.currency.is_some() && amount.range.contains(&start));
    if is_money {
        return None;
    }
    // "1から2に" wants the second.
    let target = text[end..].strip_prefix("から").and_then(|rest| {
        let start = gap(rest);
        let (value, length) = number(&rest[start..])?;
        Some((value, end + "から".len() + start + length))
    });
    let sign = if digits.len() < text[start..].len() {
        -1.0
    } else {
        1.0
    };
    target.or(Some((sign * value, end)))
}

/// The number before the word for a track: "2番目の".
pub(super) fn before(text: &str) -> Option<f64> {
    let stem = text.trim_end_matches(['の', ' ']);
    let stem = ["番目", "つ目", "個目", "番"]
        .iter()
        .find_map(|counter| stem.strip_suffix(counter))
        .unwrap_or(stem);
    let is_numeral =
        |letter: char| letter.is_ascii_digit() || "〇一二三四五六七八九十".contains(letter);
    let digits = &stem[stem.trim_end_matches(is_numeral).len()..];
    number(digits).map(|(value, _)| value)
}

/// How much may stand between the word and its number.
fn gap(text: &str) -> usize {
    const BETWEEN: [&str; 13] = [
        "ナンバー",
        "番号",
        "トラック",
        "No.",
        "を",
        "の",
        "は",
        "が",
        "に",
        "#",
        ":",
        " ",
        "第",
    ];
    let mut rest = text;
    while let Some(shorter) = BETWEEN.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = shorter;
    }
    text.len() - rest.len()
}
