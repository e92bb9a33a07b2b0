//! Names of people and places that are written in Japanese.

/// What is said behind a name out of politeness, the longer before those that they end with.
const HONORIFICS: [&str; 9] = [
    "さん",
    "さま",
    "ちゃん",
    "くん",
    "先生",
    "様",
    "君",
    "氏",
    "殿",
];

/// Words that hold an honorific and are not a name without it.
const KIN: [&str; 8] = [
    "お母さん",
    "お父さん",
    "お兄さん",
    "お姉さん",
    "おばあさん",
    "おじいさん",
    "奥さん",
    "赤ちゃん",
];

const PEOPLE: [(&str, &str); 58] = [
    ("一郎", "Ichiro"),
    ("いちろう", "Ichiro"),
    ("次郎", "Jiro"),
    ("二郎", "Jiro"),
    ("じろう", "Jiro"),
    ("ジロウ", "Jiro"),
    ("三郎", "Saburo"),
    ("さぶろう", "Saburo"),
    ("四郎", "Shiro"),
    ("五郎", "Goro"),
    ("太郎", "Taro"),
    ("たろう", "Taro"),
    ("タロウ", "Taro"),
    ("花子", "Hanako"),
    ("はなこ", "Hanako"),
    ("ハナコ", "Hanako"),
    ("健太", "Kenta"),
    ("健", "Ken"),
    ("大輔", "Daisuke"),
    ("直樹", "Naoki"),
    ("誠", "Makoto"),
    ("明", "Akira"),
    ("翔太", "Shota"),
    ("美咲", "Misaki"),
    ("さくら", "Sakura"),
    ("桜", "Sakura"),
    ("陽子", "Yoko"),
    ("洋子", "Yoko"),
    ("恵子", "Keiko"),
    ("幸子", "Sachiko"),
    ("由美", "Yumi"),
    ("久美子", "Kumiko"),
    ("愛", "Ai"),
    ("葵", "Aoi"),
    ("佐藤", "Sato"),
    ("鈴木", "Suzuki"),
    ("高橋", "Takahashi"),
    ("田中", "Tanaka"),
    ("伊藤", "Ito"),
    ("渡辺", "Watanabe"),
    ("山本", "Yamamoto"),
    ("中村", "Nakamura"),
    ("小林", "Kobayashi"),
    ("加藤", "Kato"),
    ("吉田", "Yoshida"),
    ("山田", "Yamada"),
    ("佐々木", "Sasaki"),
    ("アリス", "Alice"),
    ("ボブ", "Bob"),
    ("サム", "Sam"),
    ("アン", "Ann"),
    ("ベン", "Ben"),
    ("トム", "Tom"),
    ("ジョン", "John"),
    ("メアリー", "Mary"),
    ("マリア", "Maria"),
    ("エマ", "Emma"),
    ("ジェーン", "Jane"),
];

/// Where two names are of one place, the first is the one to say.
const PLACES: [(&str, &str); 77] = [
    ("東京", "Tokyo"),
    ("とうきょう", "Tokyo"),
    ("大阪", "Osaka"),
    ("京都", "Kyoto"),
    ("名古屋", "Nagoya"),
    ("札幌", "Sapporo"),
    ("福岡", "Fukuoka"),
    ("横浜", "Yokohama"),
    ("神戸", "Kobe"),
    ("広島", "Hiroshima"),
    ("仙台", "Sendai"),
    ("長崎", "Nagasaki"),
    ("奈良", "Nara"),
    ("金沢", "Kanazawa"),
    ("那覇", "Naha"),
    ("沖縄", "Okinawa"),
    ("北海道", "Hokkaido"),
    ("さいたま", "Saitama"),
    ("千葉", "Chiba"),
    ("鎌倉", "Kamakura"),
    ("渋谷", "Shibuya"),
    ("新宿", "Shinjuku"),
    ("丸の内", "Marunouchi"),
    ("函館", "Hakodate"),
    ("箱根", "Hakone"),
    ("日本", "Japan"),
    ("ロンドン", "London"),
    ("ニューヨーク", "New York"),
    ("サンフランシスコ", "San Francisco"),
    ("サン・フランシスコ", "San Francisco"),
    ("ロサンゼルス", "Los Angeles"),
    ("シアトル", "Seattle"),
    ("シカゴ", "Chicago"),
    ("ボストン", "Boston"),
    ("ワシントン", "Washington"),
    ("ラスベガス", "Las Vegas"),
    ("ホノルル", "Honolulu"),
    ("ハワイ", "Hawaii"),
    ("マイアミ", "Miami"),
    ("トロント", "Toronto"),
    ("バンクーバー", "Vancouver"),
    ("メキシコシティ", "Mexico City"),
    ("サンパウロ", "São Paulo"),
    ("リオデジャネイロ", "Rio de Janeiro"),
    ("パリ", "Paris"),
    ("ベルリン", "Berlin"),
    ("ミュンヘン", "Munich"),
    ("ローマ", "Rome"),
    ("ミラノ", "Milan"),
    ("マドリード", "Madrid"),
    ("バルセロナ", "Barcelona"),
    ("リスボン", "Lisbon"),
    ("アムステルダム", "Amsterdam"),
    ("ブリュッセル", "Brussels"),
    ("ウィーン", "Vienna"),
    ("プラハ", "Prague"),
    ("チューリッヒ", "Zurich"),
    ("ジュネーブ", "Geneva"),
    ("オスロ", "Oslo"),
    ("ストックホルム", "Stockholm"),
    ("コペンハーゲン", "Copenhagen"),
    ("ヘルシンキ", "Helsinki"),
    ("ダブリン", "Dublin"),
    ("アテネ", "Athens"),
    ("イスタンブール", "Istanbul"),
    ("モスクワ", "Moscow"),
    ("カイロ", "Cairo"),
    ("ドバイ", "Dubai"),
    ("デリー", "Delhi"),
    ("バンコク", "Bangkok"),
    ("シンガポール", "Singapore"),
    ("香港", "Hong Kong"),
    ("上海", "Shanghai"),
    ("北京", "Beijing"),
    ("台北", "Taipei"),
    ("ソウル", "Seoul"),
    ("シドニー", "Sydney"),
];

/// A text without what politeness adds to the name at its end.
pub(super) fn without_honorific(name: &str) -> &str {
    let name = name.trim_end();
    if kin(name).is_some() {
        return name;
    }
    let stem = HONORIFICS
        .iter()
        .find_map(|honorific| name.strip_suffix(honorific));
    match stem.map(str::trim_end) {
        Some(stem) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// The word for somebody's kin that a text ends with.
pub(super) fn kin(text: &str) -> Option<&'static str> {
    KIN.into_iter().find(|kin| text.trim_end().ends_with(kin))
}

/// Whom a payment goes to: in Latin letters where the table has the name, else as it is written.
pub(super) fn person(name: &str) -> String {
    let name = without_honorific(name.trim());
    let known = PEOPLE.iter().find(|(japanese, _)| *japanese == name);
    known.map_or(name, |(_, latin)| latin).to_owned()
}

/// A place: in Latin letters where the table has it, else as it is written.
pub(super) fn place(name: &str) -> String {
    let name = name.trim();
    known_place(name).unwrap_or(name).to_owned()
}

/// A place of the table, by its Japanese name, with or without what kind of place it is.
pub(super) fn known_place(name: &str) -> Option<&'static str> {
    let find = |name: &str| {
        let known = PLACES.iter().find(|(japanese, _)| *japanese == name);
        known.map(|(_, latin)| *latin)
    };
    let stem = name.strip_suffix(['都', '府', '県', '市', '区']);
    find(name).or_else(|| stem.and_then(find))
}

/// Whether a place of the table has this Latin name, in whatever case.
pub(super) fn is_known_latin_place(name: &str) -> bool {
    PLACES
        .iter()
        .any(|(_, latin)| latin.eq_ignore_ascii_case(name))
}

/// A place as a Japanese answer says it.
pub(in crate::agent) fn japanese_place(latin: &str) -> &str {
    let known = PLACES.iter().find(|(_, it)| it.eq_ignore_ascii_case(latin));
    known.map_or(latin, |(japanese, _)| japanese)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_known_by_their_bare_names() {
        for (written, name) in [
            ("次郎さん", "Jiro"),
            ("花子様", "Hanako"),
            ("太郎くん", "Taro"),
            ("さくらちゃん", "Sakura"),
            ("Hanakoさん", "Hanako"),
            ("熊五郎さん", "熊五郎"),
            ("お母さん", "お母さん"),
            ("さん", "さん"),
            ("Sam", "Sam"),
        ] {
            assert_eq!(person(written), name);
        }
    }

    #[test]
    fn places_are_known_with_what_they_are() {
        assert_eq!(place("東京"), "Tokyo");
        assert_eq!(place("東京都"), "Tokyo");
        assert_eq!(place("京都"), "Kyoto");
        assert_eq!(place("大阪府"), "Osaka");
        assert_eq!(place("ホグワーツ"), "ホグワーツ");
        assert_eq!(japanese_place("tokyo"), "東京");
        assert_eq!(japanese_place("Bergen"), "Bergen");
    }
}
