//! Words that name a tool. In Japanese they stand behind what they are about, and close it.

/// What the words before a closer are about.
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

/// Where a text says what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Closer {
    pub(super) topic: Topic,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether the word can mean nothing else.
    pub(super) is_plain: bool,
    /// Whether the sentence says that it is not to be done. It then ends where its clause does.
    pub(super) is_taken_back: bool,
}

/// The longer words before those that they begin with.
const CLOSERS: [(&str, Topic, bool); 72] = [
    ("送金", Topic::Payment, true),
    ("送付", Topic::Payment, false),
    ("送っ", Topic::Payment, false),
    ("送る", Topic::Payment, false),
    ("送り", Topic::Payment, false),
    ("送れ", Topic::Payment, false),
    ("送ら", Topic::Payment, false),
    ("送ろ", Topic::Payment, false),
    ("おくって", Topic::Payment, false),
    ("支払", Topic::Payment, true),
    ("払っ", Topic::Payment, true),
    ("払い", Topic::Payment, true),
    ("払う", Topic::Payment, true),
    ("払え", Topic::Payment, true),
    ("払わ", Topic::Payment, true),
    ("振り込", Topic::Payment, true),
    ("振込", Topic::Payment, true),
    ("渡し", Topic::Payment, false),
    ("渡す", Topic::Payment, false),
    ("あげて", Topic::Payment, false),
    ("決済", Topic::Payment, true),
    ("入金", Topic::Payment, true),
    ("process_payment", Topic::Payment, true),
    ("天気予報", Topic::Weather, true),
    ("お天気", Topic::Weather, true),
    ("天気", Topic::Weather, true),
    ("天候", Topic::Weather, true),
    ("気温", Topic::Weather, true),
    ("気候", Topic::Weather, true),
    ("温度", Topic::Weather, true),
    ("weather", Topic::Weather, true),
    ("get_weather", Topic::Weather, true),
    ("雨", Topic::Weather, false),
    ("雪", Topic::Weather, false),
    ("晴れ", Topic::Weather, false),
    ("暑い", Topic::Weather, false),
    ("寒い", Topic::Weather, false),
    ("現在地", Topic::Location, true),
    ("現在位置", Topic::Location, true),
    ("現在の場所", Topic::Location, true),
    ("今の場所", Topic::Location, true),
    ("今どこ", Topic::Location, true),
    ("いまどこ", Topic::Location, true),
    ("私はどこ", Topic::Location, true),
    ("僕はどこ", Topic::Location, true),
    ("ここはどこ", Topic::Location, true),
    ("ここどこ", Topic::Location, true),
    ("どこにいる", Topic::Location, true),
    ("どこにいます", Topic::Location, true),
    ("位置情報", Topic::Location, true),
    ("今いる場所", Topic::Location, true),
    ("居場所", Topic::Location, true),
    ("私の位置", Topic::Location, true),
    ("get_location", Topic::Location, true),
    ("トラック", Topic::Track, true),
    ("BGM", Topic::Track, true),
    ("track", Topic::Track, true),
    ("change_bgm", Topic::Track, true),
    ("音楽", Topic::Track, false),
    ("曲", Topic::Track, false),
    ("行きの便", Topic::Flight, true),
    ("への便", Topic::Flight, true),
    ("フライト", Topic::Flight, true),
    ("飛行機", Topic::Flight, true),
    ("航空券", Topic::Flight, true),
    ("飛びたい", Topic::Flight, true),
    ("飛んで", Topic::Flight, true),
    ("雰囲気", Topic::Mood, true),
    ("ムード", Topic::Mood, true),
    ("レポート", Topic::Report, true),
    ("リポート", Topic::Report, true),
    ("報告書", Topic::Report, true),
];

/// The closers of a text, in order.
pub(super) fn closers(text: &str) -> Vec<Closer> {
    let mut closers = Vec::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        match closer_at(text, at) {
            Some(closer) => {
                at = closer.end;
                closers.push(closer);
            }
            None => at += letter.len_utf8(),
        }
    }
    closers
}

fn closer_at(text: &str, at: usize) -> Option<Closer> {
    let is_latin = |letter: Option<char>| letter.is_some_and(|it| it.is_ascii_alphabetic());
    let follows_latin = is_latin(text[..at].chars().next_back());
    let here = |word: &str| {
        let Some((start, rest)) = text[at..].split_at_checked(word.len()) else {
            return false;
        };
        // "Abgma" is a name.
        let is_within = follows_latin || is_latin(rest.chars().next());
        start.eq_ignore_ascii_case(word) && !(is_latin(word.chars().next()) && is_within)
    };
    let (word, topic, is_plain) = CLOSERS.iter().find(|(word, _, _)| here(word))?;
    let before = &text[..at];
    // "東京は雨?" asks for the weather, "雨傘" does not.
    let is_sky = *topic == Topic::Weather && !is_plain;
    let asks = ["は", "って", "で", "は今"]
        .iter()
        .any(|particle| before.ends_with(particle));
    // "放送" sends nothing.
    let is_within_word = word.starts_with('送') && before.ends_with(['放', '運', '配', '転', '郵']);
    // "天気についてのレポート" is a report.
    let rest = &text[at + word.len()..];
    let is_topic = rest.starts_with("について") || rest.starts_with("に関");
    if is_sky && !asks || is_within_word || is_topic {
        return None;
    }
    let end = at + word.len();
    let taken_back = taken_back(&text[end..]);
    Some(Closer {
        topic: *topic,
        start: at,
        end: end + taken_back,
        is_plain: *is_plain,
        is_taken_back: taken_back > 0,
    })
}

/// How long the sentence goes on to say that it is not to be done, if it does.
fn taken_back(rest: &str) -> usize {
    const NEGATIONS: [&str; 9] = [
        "ないで",
        "なくて",
        "ません",
        "キャンセル",
        "取り消",
        "取消",
        "中止",
        "やめて",
        "止めて",
    ];
    let sentence = rest.split(['、', '。', ',', '!', '?', '\n']).next();
    let sentence = sentence.unwrap_or_default();
    // Only what belongs to this closer: another one may follow in the same sentence.
    let own = sentence
        .char_indices()
        .nth(12)
        .map_or(sentence, |(end, _)| &sentence[..end]);
    let asks = own.contains("ませんか");
    let is_negated = NEGATIONS.iter().any(|no| own.contains(no)) && !asks;
    if is_negated { sentence.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topics(text: &str) -> Vec<Topic> {
        let closers = closers(text).into_iter();
        let closers = closers.filter(|closer| !closer.is_taken_back);
        closers.map(|closer| closer.topic).collect()
    }

    #[test]
    fn closers_stand_in_the_order_of_the_words() {
        assert_eq!(
            topics("東京の天気とトラック2、Samに5ドル送って"),
            [Topic::Weather, Topic::Track, Topic::Payment]
        );
        assert_eq!(topics("東京は雨?"), [Topic::Weather]);
        assert!(topics("雨傘を放送する").is_empty());
    }

    #[test]
    fn what_is_taken_back_is_not_asked_for() {
        assert!(topics("Samに20ドル送らないで").is_empty());
        assert!(topics("Samへの送金20ドルをキャンセルして").is_empty());
        assert_eq!(topics("送金しないで、東京の天気を教えて"), [Topic::Weather]);
        assert_eq!(topics("Samに20ドル送ってくれませんか"), [Topic::Payment]);
    }
}
