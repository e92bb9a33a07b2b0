//! Names of people and places in Japanese sentences: what stands before a particle.

use super::super::is_hiragana;
use super::super::name::{kin, without_honorific};

/// Words that stand where a name may stand, and are none.
const NO_NAMES: [&str; 40] = [
    "最初",
    "代わり",
    "かわり",
    "一緒",
    "いっしょ",
    "すぐ",
    "ため",
    "ついで",
    "今月",
    "今日中",
    "本当",
    "確実",
    "急",
    "以内",
    "今日",
    "明日",
    "次",
    "先",
    "最後",
    "後",
    "あと",
    "同時",
    "別",
    "適当",
    "いま",
    "今",
    "私",
    "僕",
    "自分",
    "誰か",
    "だれか",
    "ここ",
    "そこ",
    "外",
    "現在地",
    "現在",
    "週末",
    "今週",
    "至急",
    "お金",
];

/// Words that stand before a name without a particle between.
const PREFIXES: [&str; 16] = [
    "今すぐ",
    "至急",
    "早速",
    "今月",
    "今日",
    "毎月",
    "明日",
    "本日",
    "今回",
    "現在",
    "今週",
    "週末",
    "今夜",
    "今朝",
    "友達",
    "友人",
];

/// Letters that stand in a name and in no particle.
fn is_solid(letter: char) -> bool {
    (letter.is_alphanumeric() || "ー・々-'._@&".contains(letter)) && !is_hiragana(letter)
}

/// The name that a text ends with, without its honorific, and where it starts.
pub(super) fn last_name(text: &str) -> Option<(&str, usize)> {
    let text = text.trim_end();
    let text = [
        "の口座",
        "のアカウント",
        "のウォレット",
        "宛て",
        "宛",
        "あて",
    ]
    .iter()
    .find_map(|suffix| text.strip_suffix(suffix))
    .unwrap_or(text);
    if let Some(quoted) = text.strip_suffix(['」', '"']) {
        let start = quoted.rfind(['「', '"'])?;
        let name = quoted[start..].trim_start_matches(['「', '"']);
        return (!name.is_empty()).then_some((name, start));
    }
    if let Some(kin) = kin(text) {
        return Some((kin, text.len() - kin.len()));
    }
    let edge = [' ', '・', '.', '-', '_', '&'];
    let stem = without_honorific(text).trim_end_matches(edge);
    let name = stem[name_start(stem)..].trim_start_matches(edge);
    let prefix = PREFIXES
        .iter()
        .find(|prefix| name.len() > prefix.len() && name.starts_with(**prefix));
    let name = prefix.map_or(name, |prefix| name[prefix.len()..].trim_start());
    let start = stem.len() - name.len();
    let is_name = name.contains(char::is_alphabetic) && !NO_NAMES.contains(&name);
    is_name.then_some((name, start))
}

/// Where the name starts that a text ends with.
fn name_start(text: &str) -> usize {
    let solid = solid_start(text);
    if solid < text.len() {
        // "ゆみ子": syllables may open a name, where nothing stands before them.
        let syllables = run_start(&text[..solid], is_hiragana);
        let opens = text[..syllables]
            .chars()
            .next_back()
            .is_none_or(|it| !is_solid(it));
        let is_name = text[syllables..solid].chars().count() == 2
            && ![
                "から", "まで", "では", "には", "より", "まず", "あと", "また", "ぜひ", "じゃ",
                "なら", "あの", "その", "この",
            ]
            .contains(&&text[syllables..solid]);
        return if opens && is_name { syllables } else { solid };
    }
    let syllables = run_start(text, is_hiragana);
    // "さくらさんとはるとさん": who is named politely is named to the end.
    let polite = ["さんと", "くんと", "さまと", "ちゃんと", "さんや"];
    let ends = polite.iter().filter_map(|end| {
        let at = text[syllables..].rfind(end)?;
        Some(syllables + at + end.len())
    });
    if let Some(end) = ends.max().filter(|end| *end < text.len()) {
        return end;
    }
    let before = &text[..syllables];
    let name = &text[syllables..];
    let follows_something = before.chars().next_back().is_some_and(is_solid);
    // "サムとはなこ": the first syllable belongs to what stands before it.
    let particle = ['と', 'を', 'は', 'も', 'に', 'が', 'の', 'で', 'や']
        .iter()
        .find(|particle| name.starts_with(**particle));
    match particle {
        Some(particle) if follows_something || *particle == 'を' => {
            syllables + particle.len_utf8()
        }
        // "高橋ゆみ": no particle between, so it is one name.
        None if follows_something => solid_start(before),
        _ => syllables,
    }
}

/// Where the run of solid letters starts that a text ends with; a space between Latin words is one.
fn solid_start(text: &str) -> usize {
    let mut start = run_start(text, is_solid);
    loop {
        let Some(before) = text[..start].strip_suffix(' ') else {
            return start;
        };
        let is_latin =
            |letter: Option<char>| letter.is_some_and(|it| it.is_ascii_alphabetic() || it == '.');
        let joins = is_latin(before.chars().next_back()) && is_latin(text[start..].chars().next());
        if !joins {
            return start;
        }
        start = run_start(before, is_solid);
    }
}

fn run_start(text: &str, belongs: fn(char) -> bool) -> usize {
    text.trim_end_matches(belongs).len()
}

/// The name that a text begins with, in solid letters.
pub(super) fn first_name(text: &str) -> Option<&str> {
    let mut end = 0;
    for (at, letter) in text.char_indices() {
        let is_latin = |letter: Option<char>| letter.is_some_and(|it| it.is_ascii_alphabetic());
        let joins = letter == ' '
            && is_latin(text[..at].chars().next_back())
            && is_latin(text[at + 1..].chars().next());
        if !is_solid(letter) && !joins {
            break;
        }
        end = at + letter.len_utf8();
    }
    let name = text[..end].trim_matches(['・', '.', '-', '_', '&']);
    let is_name = name.contains(char::is_alphabetic) && !NO_NAMES.contains(&name);
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_start_where_the_sentence_ends() {
        for (text, expected) in [
            ("Sam", Some("Sam")),
            ("20ドルをSam", Some("Sam")),
            ("Mary Annさん", Some("Mary Ann")),
            ("今日は花子さん", Some("花子")),
            ("友達のサム", Some("サム")),
            ("サムとはなこ", Some("はなこ")),
            ("はなこ", Some("はなこ")),
            ("さくらさんとはるとさん", Some("はると")),
            ("くにこ", Some("くにこ")),
            ("ゆみ子", Some("ゆみ子")),
            ("高橋ゆみ", Some("高橋ゆみ")),
            ("私から花子", Some("花子")),
            ("至急Bob", Some("Bob")),
            ("マリー・アントワネット様", Some("マリー・アントワネット")),
            ("花子さんの口座", Some("花子")),
            ("「塩と砂糖」", Some("塩と砂糖")),
            ("ABC商事", Some("ABC商事")),
            ("20ドルをお母さん", Some("お母さん")),
            ("花子- ", Some("花子")),
            (" と Tokyo ", Some("Tokyo")),
            ("最初", None),
            ("すぐ", None),
            ("", None),
            ("20", None),
        ] {
            let name = last_name(text).map(|(name, _)| name);
            assert_eq!(name, expected, "{text}");
        }
    }
}
