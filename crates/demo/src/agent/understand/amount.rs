//! Numbers in a prompt, with their currency where one is said.

use std::ops::Range;

/// A number, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Amount {
    /// Where it stands, its currency included.
    pub(super) range: Range<usize>,
    /// How much.
    pub(super) value: f64,
    /// Of what, where it is said.
    pub(super) currency: Option<&'static str>,
}

/// Currencies that stand before a number.
const BEFORE: [(&str, &str); 9] = [
    ("US$", "USD"),
    ("$", "USD"),
    ("€", "EUR"),
    ("£", "GBP"),
    ("¥", "JPY"),
    ("USD", "USD"),
    ("EUR", "EUR"),
    ("GBP", "GBP"),
    ("JPY", "JPY"),
];

/// Currencies that stand after a number, the longer before those that they begin with, and how much
/// of the currency one of them is.
const AFTER: [(&str, &str, f64); 28] = [
    ("US dollars", "USD", 1.0),
    ("US dollar", "USD", 1.0),
    ("dollars", "USD", 1.0),
    ("dollar", "USD", 1.0),
    ("bucks", "USD", 1.0),
    ("buck", "USD", 1.0),
    ("USD", "USD", 1.0),
    ("US$", "USD", 1.0),
    ("$", "USD", 1.0),
    ("cents", "USD", 0.01),
    ("cent", "USD", 0.01),
    ("米ドル", "USD", 1.0),
    ("ドル", "USD", 1.0),
    ("セント", "USD", 0.01),
    ("euros", "EUR", 1.0),
    ("euro", "EUR", 1.0),
    ("EUR", "EUR", 1.0),
    ("€", "EUR", 1.0),
    ("ユーロ", "EUR", 1.0),
    ("pounds", "GBP", 1.0),
    ("pound", "GBP", 1.0),
    ("GBP", "GBP", 1.0),
    ("£", "GBP", 1.0),
    ("ポンド", "GBP", 1.0),
    ("yen", "JPY", 1.0),
    ("JPY", "JPY", 1.0),
    ("円", "JPY", 1.0),
    ("¥", "JPY", 1.0),
];

/// All numbers of a text, in order.
pub(super) fn amounts(text: &str) -> Vec<Amount> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let before = text[..at].chars().next_back();
        match amount_at(&text[at..], before) {
            Some((value, currency, length)) => {
                let range = at..at + length;
                at = range.end;
                found.push(Amount {
                    range,
                    value,
                    currency,
                });
            }
            None => at += letter.len_utf8(),
        }
    }
    found
}

/// The number that a text starts with, in digits or Japanese numerals, and its length.
pub(super) fn number(text: &str) -> Option<(f64, usize)> {
    let mut sum = 0.0;
    let mut below_ten_thousand = 0.0;
    let mut current = None;
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        if letter.is_ascii_digit() {
            if current.is_some() {
                break;
            }
            let (value, length) = digits(&text[at..])?;
            current = Some(value);
            at += length;
            continue;
        }
        match letter {
            '十' => below_ten_thousand += current.take().unwrap_or(1.0) * 10.0,
            '百' => below_ten_thousand += current.take().unwrap_or(1.0) * 100.0,
            '千' => below_ten_thousand += current.take().unwrap_or(1.0) * 1_000.0,
            '万' if at > 0 => {
                sum += (below_ten_thousand + current.take().unwrap_or(0.0)) * 10_000.0;
                below_ten_thousand = 0.0;
            }
            _ => match numeral(letter) {
                Some(value) => current = Some(current.unwrap_or(0.0) * 10.0 + value),
                None => break,
            },
        }
        at += letter.len_utf8();
    }
    let value: f64 = sum + below_ten_thousand + current.unwrap_or(0.0);
    (at > 0 && value.is_finite()).then_some((value, at))
}

fn numeral(letter: char) -> Option<f64> {
    let place = "〇一二三四五六七八九".chars().position(|it| it == letter)?;
    u32::try_from(place).ok().map(f64::from)
}

/// `12`, `1,250` or `12.50`, and how many bytes it takes.
fn digits(text: &str) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    let run = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut end = run(0);
    if end == 0 {
        return None;
    }
    if end <= 3 {
        while bytes.get(end) == Some(&b',') && run(end + 1) == 3 {
            end += 4;
        }
    }
    if bytes.get(end) == Some(&b'.') && run(end + 1) > 0 {
        end += 1 + run(end + 1);
    }
    let value = text[..end].replace(',', "").parse::<f64>().ok()?;
    value.is_finite().then_some((value, end))
}

/// The amount that a text starts with, given the letter that stands before it.
fn amount_at(text: &str, before: Option<char>) -> Option<(f64, Option<&'static str>, usize)> {
    if before.is_some_and(|letter| letter.is_ascii_alphanumeric() || "._@$€£¥".contains(letter))
    {
        return None;
    }
    let minus = text.strip_prefix('-');
    if minus.is_some() && before.is_some_and(|letter| !letter.is_whitespace()) {
        return None;
    }
    let sign = if minus.is_some() { -1.0 } else { 1.0 };
    let unsigned = minus.unwrap_or(text);
    let sign_length = text.len() - unsigned.len();
    let found = with_currency_before(unsigned).or_else(|| with_currency_after(unsigned));
    let stands_alone = !before.is_some_and(|letter| ":/-".contains(letter));
    let found = found.or_else(|| bare(unsigned).filter(|_| stands_alone));
    found.map(|(value, currency, length)| (sign * value, currency, sign_length + length))
}

fn with_currency_before(text: &str) -> Option<(f64, Option<&'static str>, usize)> {
    let (word, currency) = BEFORE.iter().find(|(word, _)| starts_with(text, word))?;
    let rest = text[word.len()..].trim_start_matches(' ');
    let (sign, rest) = match rest.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, rest),
    };
    if !rest.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let (value, length) = number(rest).map(|found| scaled(rest, found))?;
    let rest = &rest[length..];
    let rest = match currency_after(rest) {
        Some((_, 1.0, length)) => &rest[length..],
        _ => rest,
    };
    Some((sign * value, Some(currency), text.len() - rest.len()))
}

fn with_currency_after(text: &str) -> Option<(f64, Option<&'static str>, usize)> {
    let digits = || number(text).map(|found| scaled(text, found));
    let (value, length) = digits().or_else(|| spelled(text))?;
    let rest = &text[length..];
    let (currency, worth, currency_length) = currency_after(rest)?;
    // Divided, not multiplied: 50 cents are 0.5 dollars, exactly.
    let value = if worth == 1.0 { value } else { value / 100.0 };
    Some((value, Some(currency), length + currency_length))
}

fn bare(text: &str) -> Option<(f64, Option<&'static str>, usize)> {
    let (value, length) = digits(text).map(|found| scaled(text, found))?;
    let rest = &text[length..];
    let goes_on = continues(rest) || rest.starts_with(['%', ':', '/', '_', '@', '-']);
    (!goes_on).then_some((value, None, length))
}

/// A number with the word for thousands that may follow it: `2k`, `1.5 million`.
fn scaled(text: &str, (value, length): (f64, usize)) -> (f64, usize) {
    const SCALES: [(&str, f64); 4] = [
        ("k", 1e3),
        (" hundred", 1e2),
        (" thousand", 1e3),
        (" million", 1e6),
    ];
    let rest = &text[length..];
    let scale = SCALES
        .iter()
        .find(|(word, _)| starts_with(rest, word) && !continues(&rest[word.len()..]));
    scale.map_or((value, length), |(word, scale)| {
        (value * scale, length + word.len())
    })
}

fn currency_after(text: &str) -> Option<(&'static str, f64, usize)> {
    let trimmed = text.strip_prefix([' ', '-']).unwrap_or(text);
    let matches = |word: &str| {
        let ends_in_letter = word.ends_with(|letter: char| letter.is_ascii_alphabetic());
        starts_with(trimmed, word) && !(ends_in_letter && continues(&trimmed[word.len()..]))
    };
    let (word, currency, worth) = AFTER.iter().find(|(word, _, _)| matches(word))?;
    Some((currency, *worth, text.len() - trimmed.len() + word.len()))
}

/// Whether a word that ended just before this text goes on in it.
fn continues(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphanumeric())
}

fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// `twenty-five`, `a hundred and five`, and how many bytes it takes.
fn spelled(text: &str) -> Option<(f64, usize)> {
    let mut sum = 0.0;
    let mut current = None;
    let mut end = 0;
    let mut at = 0;
    loop {
        let word: String = text[at..]
            .chars()
            .take_while(char::is_ascii_alphabetic)
            .collect();
        let lower = word.to_ascii_lowercase();
        match lower.as_str() {
            "hundred" if end > 0 => current = Some(current.unwrap_or(1.0) * 100.0),
            "thousand" if end > 0 => sum += current.take().unwrap_or(1.0) * 1_000.0,
            "a" if end == 0 => {}
            "and" if end > 0 => {}
            _ => match spelled_word(&lower) {
                Some(value) => current = Some(current.unwrap_or(0.0) + value),
                None => break,
            },
        }
        at += word.len();
        if lower != "and" {
            end = at;
        }
        if !text[at..].starts_with([' ', '-']) {
            break;
        }
        at += 1;
    }
    let value = sum + current.unwrap_or(0.0);
    (value > 0.0).then_some((value, end))
}

/// One word for a number below a hundred.
pub(super) fn spelled_word(word: &str) -> Option<f64> {
    const BELOW_TWENTY: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] = [
        "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    ];
    let place = |words: &[&str]| {
        let place = words.iter().position(|it| *it == word)?;
        u32::try_from(place).ok().map(f64::from)
    };
    place(&BELOW_TWENTY).or_else(|| place(&TENS).map(|place| (place + 2.0) * 10.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(f64, Option<&'static str>, &str)> {
        let show = |it: Amount| (it.value, it.currency, &text[it.range]);
        amounts(text).into_iter().map(show).collect()
    }

    #[test]
    fn money_is_read_in_every_spelling() {
        for (text, value) in [
            ("$20", 20.0),
            ("20$", 20.0),
            ("US$20", 20.0),
            ("$ 20", 20.0),
            ("$20 USD", 20.0),
            ("USD 20", 20.0),
            ("20usd", 20.0),
            ("20 dollars", 20.0),
            ("20-dollar", 20.0),
            ("20 bucks", 20.0),
            ("20 US dollars", 20.0),
            ("twenty dollars", 20.0),
            ("twenty-five bucks", 25.0),
            ("a hundred dollars", 100.0),
            ("one hundred and five dollars", 105.0),
            ("two thousand five hundred dollars", 2_500.0),
            ("$12.50", 12.5),
            ("$1,250.75", 1_250.75),
            ("1,000,000 dollars", 1_000_000.0),
            ("$2k", 2_000.0),
            ("1.5k dollars", 1_500.0),
            ("$5 million", 5_000_000.0),
            ("2 hundred dollars", 200.0),
            ("50 cents", 0.5),
            ("-$5", -5.0),
            ("$-5", -5.0),
            ("20ドル", 20.0),
            ("20 ドル", 20.0),
            ("20米ドル", 20.0),
            ("百ドル", 100.0),
            ("二百五十ドル", 250.0),
            ("1万5千ドル", 15_000.0),
            ("五〇ドル", 50.0),
        ] {
            assert_eq!(found(text), [(value, Some("USD"), text)], "{text}");
        }
        assert_eq!(found("20 euros"), [(20.0, Some("EUR"), "20 euros")]);
        assert_eq!(found("¥500"), [(500.0, Some("JPY"), "¥500")]);
        assert_eq!(found("500円"), [(500.0, Some("JPY"), "500円")]);
    }

    #[test]
    fn numbers_stand_alone() {
        assert_eq!(found("track 2, 3"), [(2.0, None, "2"), (3.0, None, "3")]);
        assert_eq!(found("トラック1に"), [(1.0, None, "1")]);
        assert_eq!(found("2 thousand"), [(2_000.0, None, "2 thousand")]);
        for text in [
            "2nd", "bob42", "a-2b", "20%", "10:30", "三郎", "v1.2", "one day",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
    }

    #[test]
    fn a_number_too_large_for_a_number_is_none() {
        assert!(found(&"9".repeat(400)).is_empty());
        assert!(found(&format!("${}", "9".repeat(400))).is_empty());
    }
}
