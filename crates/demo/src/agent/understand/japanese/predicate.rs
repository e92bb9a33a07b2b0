//! Ends of sentences, which stand before what the next sentence asks for.

/// What stands before a closer, without the end of the sentence before it: "を教えて、".
pub(super) fn without_predicate(text: &str, follows_closer: bool) -> &str {
    const PREDICATES: [&str; 44] = [
        "教えてください",
        "教えて",
        "調べて",
        "見せて",
        "見て",
        "知らせて",
        "確認して",
        "変更して",
        "変えて",
        "切り替えて",
        "かけて",
        "流して",
        "再生して",
        "予約して",
        "手配して",
        "取って",
        "書いて",
        "作成して",
        "作って",
        "まとめて",
        "して",
        "って",
        "んで",
        "いで",
        "て",
        "を",
        "ください",
        "下さい",
        "くれますか",
        "くれる",
        "ほしい",
        "欲しい",
        "お願いします",
        "お願い",
        "どうですか",
        "どう",
        "ですか",
        "です",
        "そして",
        "それと",
        "さらに",
        "ついでに",
        "また",
        "あと",
    ];
    const OPENERS: [&str; 16] = [
        "すみません",
        "こんにちは",
        "お願いがあります",
        "ねえ",
        "では",
        "じゃあ",
        "まず",
        "最初に",
        "はじめに",
        "初めに",
        "ところで",
        "同時に",
        "一緒に",
        "とりあえず",
        "えっと",
        "ちょっと",
    ];
    let edge = |letter: char| letter.is_whitespace() || "、。,.!?;:".contains(letter);
    let mut text = text;
    if follows_closer {
        let particle = ['を', 'は', 'が', 'も', 'に', 'の', 'と', 'や'];
        text = text.strip_prefix(particle).unwrap_or(text);
    }
    loop {
        let trimmed = text.trim_start_matches(edge);
        let words = PREDICATES.iter().filter(|_| follows_closer).chain(&OPENERS);
        let rest = words
            .copied()
            .find_map(|word| trimmed.strip_prefix(word))
            // A joint between two things that are asked for.
            .or_else(|| trimmed.strip_prefix('と').filter(|_| follows_closer));
        match rest {
            Some(rest) => text = rest,
            None => return trimmed,
        }
    }
}
