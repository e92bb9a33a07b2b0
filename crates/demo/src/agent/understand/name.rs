//! Names of people and places, in Latin and Japanese letters.

use super::pattern::strip;
use super::table::VALUES;
use super::text::{is_hiragana, is_japanese};

/// What may be between the names of a list.
const JOINTS: [&str; 8] = [", and ", " and ", ", ", " & ", "、", "と", "や", "&"];

/// How many bytes a list of names has at most.
const LONGEST_LIST: usize = 150;

/// A text as a list of names of a kind, if it is one: in Latin letters what the table has, as they are
/// written else.
pub(super) fn names(kind: &str, text: &str) -> Option<Vec<String>> {
    if let Some(name) = one(kind, text) {
        return Some(vec![name]);
    } else if text.len() > LONGEST_LIST {
        return None;
    }
    // The longest name first: "はると" holds a joint.
    let joints = JOINTS.iter().flat_map(|joint| text.match_indices(joint));
    let named = joints.filter_map(|(at, joint)| Some((at, joint.len(), one(kind, &text[..at])?)));
    let (at, length, first) = named.max()?;
    let rest = names(kind, &text[at + length..])?;
    Some([vec![first], rest].concat())
}

/// A place as a Japanese answer says it. Where it has two names, the first is the one to say.
pub(in crate::agent) fn japanese_place(latin: &str) -> &str {
    let mut places = VALUES.words("place");
    let known = places.find(|(_, it)| it.eq_ignore_ascii_case(latin));
    known.map_or(latin, |(japanese, _)| japanese)
}

fn one(kind: &str, text: &str) -> Option<String> {
    let text = text.trim();
    let mut openings = VALUES.words("name opening");
    let text = openings.find_map(|(it, _)| strip(text, it)).unwrap_or(text);
    let ending = format!("{kind} ending");
    let bare = VALUES
        .words(&ending)
        .find_map(|(it, _)| text.strip_suffix(it));
    let known = VALUES
        .meaning(kind, text)
        .or_else(|| VALUES.meaning(kind, bare?));
    let as_written = || name(bare.filter(|_| kind == "person").unwrap_or(text));
    known.map(str::to_owned).or_else(as_written)
}

/// A text as a name, if it can be one: as it is written, in capitals where it has none.
fn name(text: &str) -> Option<String> {
    let text = text.trim_end();
    let is_part = |letter: char| letter.is_alphanumeric() || " ー・.-'@_&".contains(letter);
    if !text.starts_with(char::is_alphabetic) || !text.chars().all(is_part) {
        return None;
    }
    if !text.contains(is_japanese) {
        return latin(text);
    }
    let syllables = text.chars().filter(|it| is_hiragana(*it)).count();
    let letters = text.chars().count();
    // Particles and verbs are written in syllables, and so are some short names.
    let is_name = syllables == 0 && letters <= 15 || syllables == letters && letters <= 5;
    (is_name && VALUES.meaning("no name", text).is_none()).then(|| text.to_owned())
}

fn latin(text: &str) -> Option<String> {
    let words: Vec<_> = text.split(' ').collect();
    let has_capital = |word: &&str| word.starts_with(char::is_uppercase);
    let is_inside = |word: &&str| VALUES.meaning("connector", word).is_some();
    let is_word = |word: &&str| {
        let is_none = VALUES.meaning("no name", &word.to_lowercase()).is_some();
        word.starts_with(char::is_alphabetic) && (is_inside(word) || !is_none)
    };
    let is_written = words.iter().any(has_capital);
    // "Sam right away" is no name, and neither is much that has no capital at all.
    let is_one = if is_written {
        words
            .iter()
            .all(|word| has_capital(word) || is_inside(word))
    } else {
        words.len() <= 2 || japanese_place(text) != text
    };
    let edges = [words.first()?, words.last()?];
    let is_cut = words.len() > 4 || edges.into_iter().any(is_inside);
    if is_cut || !is_one || !words.iter().all(is_word) {
        return None;
    }
    if is_written || text.contains('@') {
        return Some(text.to_owned());
    }
    let words = words.into_iter().map(|word| match word.chars().next() {
        Some(first) if !is_inside(&word) => {
            first.to_uppercase().chain(word.chars().skip(1)).collect()
        }
        _ => word.to_owned(),
    });
    Some(words.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_listed_by_their_bare_names() {
        for (text, expected) in [
            ("Sam", vec!["Sam"]),
            ("sam", vec!["Sam"]),
            ("mary ann", vec!["Mary Ann"]),
            ("my friend Bob", vec!["Bob"]),
            ("O'Brien", vec!["O'Brien"]),
            ("Jean-Luc", vec!["Jean-Luc"]),
            ("bob@example.com", vec!["bob@example.com"]),
            ("Ann, Ben and Cy", vec!["Ann", "Ben", "Cy"]),
            ("次郎さん", vec!["Jiro"]),
            ("花子様", vec!["Hanako"]),
            ("さくらちゃん", vec!["Sakura"]),
            ("Hanakoさん", vec!["Hanako"]),
            ("熊五郎さん", vec!["熊五郎"]),
            ("お母さん", vec!["お母さん"]),
            ("友達のサム", vec!["Sam"]),
            ("サムとはなこ", vec!["Sam", "Hanako"]),
            ("かずとさんとはるとさん", vec!["かずと", "はると"]),
        ] {
            assert_eq!(
                names("person", text).as_deref(),
                Some(&expected.into_iter().map(str::to_owned).collect::<Vec<_>>()[..]),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_name_is_nobody() {
        for text in [
            "",
            "me",
            "my account",
            "Sam if it rains",
            "Sam right away",
            "not Ben",
            "Sam or Ben",
            "20",
            "Ann 20",
            "the",
            "最初",
            "さん",
            "20ドルをSam",
            "送らないで花子",
            "\"Salt",
            "sam before noon",
        ] {
            assert_eq!(names("person", text), None, "{text}");
        }
    }

    #[test]
    fn places_are_known_with_what_they_are() {
        for (text, expected) in [
            ("東京都", vec!["Tokyo"]),
            ("京都", vec!["Kyoto"]),
            ("東京、大阪と京都", vec!["Tokyo", "Osaka", "Kyoto"]),
            ("ホグワーツ", vec!["ホグワーツ"]),
            ("rio de janeiro", vec!["Rio de Janeiro"]),
            ("the Isle of Man", vec!["Isle of Man"]),
            ("tokyo and london", vec!["Tokyo", "London"]),
        ] {
            assert_eq!(
                names("place", text).as_deref(),
                Some(&expected.into_iter().map(str::to_owned).collect::<Vec<_>>()[..]),
                "{text}"
            );
        }
        assert_eq!(japanese_place("tokyo"), "東京");
        assert_eq!(japanese_place("Bergen"), "Bergen");
    }
}
