//! What the demo says in Japanese.

use serde_json::Value;

use super::settled::{
    Change, Ending, Settled, facts, grouped, number, plain, shortened, spoken, text,
};
use crate::agent::intent::Question;
use crate::agent::understand::japanese_place;

/// What it thinks before calls that were wanted first, or next.
pub(super) fn thought(calls: &[(&str, Value)], is_first: bool, more_follow: bool) -> String {
    let wanted: Vec<_> = calls
        .iter()
        .map(|(tool, input)| summary(tool, input))
        .collect();
    let wanted = wanted.join("、");
    let mut thought = if is_first {
        format!("ユーザーの希望は、{wanted}ことです。")
    } else {
        format!("前の件は済みました。次は、{wanted}ことです。")
    };
    if calls.len() > 1 {
        thought += "まとめて依頼できます。";
    }
    if is_first && more_follow {
        thought += "残りは順番に行います。";
    }
    thought
}

/// What became of the calls of a turn.
pub(super) fn outcomes(settled: &[Settled<'_>]) -> String {
    settled.iter().map(result).collect()
}

/// The outcome of a long-running call.
pub(super) fn returned(settled: &Settled<'_>) -> String {
    match settled.ending() {
        Ending::Done(output) => {
            let what = subject(settled.tool, settled.input);
            match facts(output, settled.input) {
                Some(facts) => ended(format!("{what}が完了しました: {facts}")),
                None => format!("{what}が完了しました。"),
            }
        }
        _ => result(settled),
    }
}

/// What it asks back.
pub(super) fn question(question: &Question) -> String {
    let asked = match question {
        Question::Amount => "いくら送金しますか?",
        Question::Recipient => "どなたに送金しますか?",
        Question::Track => "どのトラックにしますか? 1か2を選べます。",
        Question::City => "どの都市の天気を調べますか?",
        Question::Destination => "どこへのフライトを予約しますか?",
        Question::Mood => "どの場所の雰囲気にしますか?",
        Question::Topic => "何についてのレポートを書きますか?",
        Question::Unclear(text) => {
            return format!("「{}」の意味が分かりませんでした。", shortened(text, 60));
        }
        Question::Payment(text) => {
            return format!(
                "「{}」の意味が分からないので、送金はしません。「Samに20ドル送金して」のように書いてください。",
                shortened(text, 60)
            );
        }
    };
    asked.to_owned()
}

/// Tools that would be needed and are not there.
pub(super) fn without_tools(tools: &[&str]) -> String {
    format!(
        "それにはツール {} が必要ですが、ここでは使えません。",
        tools.join("、")
    )
}

/// What it says where nothing is asked of it that it knows.
pub(super) fn echo(prompt: &str, tools: &[&str]) -> String {
    let mut said = if prompt.is_empty() {
        "こんにちは。デモエージェントです。".to_owned()
    } else {
        format!(
            "「{}」ですね。私はデモエージェントです。",
            shortened(prompt, 120)
        )
    };
    let abilities: Vec<_> = tools.iter().filter_map(|tool| ability(tool)).collect();
    if abilities.is_empty() {
        said += "ここにはツールがないので、お言葉を繰り返すことしかできません。";
    } else {
        let abilities: (Vec<_>, Vec<_>) = abilities.into_iter().unzip();
        let example = abilities.1.first().copied().unwrap_or_default();
        said += &format!(
            "できること: {}。例えば「{example}」。",
            abilities.0.join("、")
        );
    }
    said
}

/// What a tool is good for, and a prompt that asks for it.
fn ability(tool: &str) -> Option<(&'static str, &'static str)> {
    Some(match tool {
        "process_payment" => ("送金", "Samに20ドル送って"),
        "get_weather" => ("天気", "東京の天気を教えて"),
        "get_location" => ("現在地", "現在地を教えて"),
        "change_bgm" => ("音楽", "トラック1に変更して"),
        "book_flight" => ("フライトの予約", "オスロへのフライトを予約して"),
        "book_table" => ("テーブルの予約", "テーブルを予約して"),
        "set_mood" => ("雰囲気", "東京の雰囲気にして"),
        "write_report" => ("レポート", "お茶についてのレポートを書いて"),
        _ => return None,
    })
}

/// A call as something to do.
fn summary(tool: &str, input: &Value) -> String {
    let field = |field| text(input, field).unwrap_or_else(|| "それ".to_owned());
    let place = |name| japanese_place(&field(name)).to_owned();
    match tool {
        "process_payment" => format!(
            "{}に{}を送金する",
            person(&field("recipient")),
            money(input).unwrap_or_else(|| "お金".to_owned())
        ),
        "get_weather" => format!("{}の天気を調べる", place("location")),
        "get_location" => "現在地を調べる".to_owned(),
        "change_bgm" => format!("{}に変える", track(input)),
        "book_flight" => format!("{}へのフライトを予約する", place("destination")),
        "book_table" => "テーブルを予約する".to_owned(),
        "set_mood" => format!("{}の雰囲気にする", place("location")),
        "write_report" => format!("{}についてのレポートを用意する", field("topic")),
        tool => format!("{tool}を呼ぶ"),
    }
}

/// A call as a thing.
fn subject(tool: &str, input: &Value) -> String {
    let named = |field| text(input, field);
    let place = |field| named(field).map(|name| japanese_place(&name).to_owned());
    let said = match tool {
        "process_payment" => named("recipient").map(|it| format!("{}への送金", person(&it))),
        "get_weather" => place("location").map(|it| format!("{it}の天気の確認")),
        "get_location" => Some("位置情報の利用".to_owned()),
        "change_bgm" => Some(format!("{}への変更", track(input))),
        "book_flight" => place("destination").map(|it| format!("{it}へのフライトの予約")),
        "book_table" => Some("テーブルの予約".to_owned()),
        "set_mood" => place("location").map(|it| format!("{it}の雰囲気への切り替え")),
        "write_report" => named("topic").map(|it| format!("{it}についてのレポート")),
        _ => None,
    };
    said.unwrap_or_else(|| format!("{tool}の呼び出し"))
}

/// A call as a thing, with how much it is about.
fn full_subject(settled: &Settled<'_>) -> String {
    let recipient = text(settled.input, "recipient");
    match (settled.tool, money(settled.input), recipient) {
        ("process_payment", Some(money), Some(recipient)) => {
            format!("{}への{money}の送金", person(&recipient))
        }
        _ => subject(settled.tool, settled.input),
    }
}

fn result(settled: &Settled<'_>) -> String {
    let what = || full_subject(settled);
    let said = match settled.ending() {
        Ending::Done(output) => done(settled, output),
        Ending::Failed { why, output } => {
            let why = why.unwrap_or_else(|| "理由は不明です".to_owned());
            let said = ended(format!("{}に失敗しました: {why}", what()));
            match output.and_then(|output| number(output, "wallet_balance")) {
                Some(balance) => format!("{said}残高は{}ドルです。", grouped(balance)),
                None => said,
            }
        }
        Ending::Unanswered => format!("{}は、時間内に返答がなかったため行いませんでした。", what()),
        Ending::Denied(reason) => {
            let subject = subject(settled.tool, settled.input);
            match reason {
                Some(reason) => format!("{subject}は拒否されました（理由: {reason}）。"),
                None => format!("{subject}は拒否されました。"),
            }
        }
        Ending::Invalid(error) => ended(format!(
            "{}に正しくない入力を渡してしまいました: {error}",
            settled.tool
        )),
        Ending::Unknown => format!(
            "{}が行われたかどうかは分かりません。開始した後、結果が届きませんでした。もう一度試す前に確認してください。",
            what()
        ),
        Ending::Pending => format!(
            "{}を始めました。時間がかかるので、完了したらお知らせします。",
            subject(settled.tool, settled.input)
        ),
    };
    match edit(settled) {
        Some(edit) => said + &edit,
        None => said,
    }
}

fn done(settled: &Settled<'_>, output: &Value) -> String {
    let input = settled.input;
    let place = |field| {
        let name = text(input, field).unwrap_or_else(|| "そこ".to_owned());
        japanese_place(&name).to_owned()
    };
    let with_facts = |said: String| match facts(output, input) {
        Some(facts) => ended(format!("{said}: {facts}")),
        None => format!("{said}。"),
    };
    match settled.tool {
        "process_payment" => {
            let source = if number(output, "amount").is_some() {
                output
            } else {
                input
            };
            let money = money(source).unwrap_or_else(|| "お金".to_owned());
            let recipient = text(output, "recipient").or_else(|| text(input, "recipient"));
            let recipient = recipient.map_or_else(|| "相手".to_owned(), |name| person(&name));
            format!("{recipient}に{money}を送金しました{}。", receipt(output))
        }
        "get_weather" => {
            let Some(sky) = sky(output) else {
                return with_facts(format!("{}の天気です", place("location")));
            };
            let said = format!("{}の天気は、{sky}です。", place("location"));
            match text(output, "note") {
                Some(note) => ended(said + &note),
                None => said,
            }
        }
        "get_location" => match (number(output, "latitude"), number(output, "longitude")) {
            (Some(latitude), Some(longitude)) => {
                let city = text(output, "city").map(|it| format!("{}、", japanese_place(&it)));
                let accuracy =
                    number(output, "accuracy").map(|it| format!("（精度 約{}m）", plain(it)));
                format!(
                    "現在地は、{}緯度{}、経度{}{}です。",
                    city.unwrap_or_default(),
                    plain(latitude),
                    plain(longitude),
                    accuracy.unwrap_or_default()
                )
            }
            _ => with_facts("現在地を受け取りました".to_owned()),
        },
        "change_bgm" => {
            let source = if output.get("track").is_some() {
                output
            } else {
                input
            };
            let message = text(output, "message").map(|it| format!("（{it}）"));
            format!(
                "{}に変更しました{}。",
                track(source),
                message.unwrap_or_default()
            )
        }
        "book_flight" => {
            let said = with_facts(format!(
                "{}へのフライトを予約しました",
                place("destination")
            ));
            match output
                .get("payment")
                .and_then(|paid| Some((paid, money(paid)?)))
            {
                Some((paid, money)) => format!("{said}{money}を支払いました{}。", receipt(paid)),
                None => said,
            }
        }
        "book_table" => {
            let table = [text(output, "date"), text(output, "time")];
            let [Some(date), Some(time)] = table else {
                return with_facts("テーブルを予約しました".to_owned());
            };
            let people = number(output, "people").map(|it| format!("、{}名", plain(it)));
            let people = people.unwrap_or_default();
            format!("{date} {time}{people}でテーブルを予約しました。")
        }
        "set_mood" => {
            let said = format!("{}の雰囲気にしました", place("location"));
            let music = output.get("music").filter(|music| !music.is_null());
            let parts = [output.get("weather").and_then(sky), music.map(track)];
            let parts: Vec<_> = parts.into_iter().flatten().collect();
            if parts.is_empty() {
                return with_facts(said);
            }
            format!("{said}（{}）。", parts.join("、"))
        }
        "write_report" => with_facts(format!("{}ができました", subject(settled.tool, input))),
        tool => with_facts(format!("{tool}が完了しました")),
    }
}

/// What an answer adds about a payment, in brackets.
fn receipt(output: &Value) -> String {
    let transaction = text(output, "transaction_id").map(|it| format!("取引ID: {it}"));
    let balance = number(output, "wallet_balance");
    let balance = balance.map(|it| format!("残高: {}ドル", grouped(it)));
    let details: Vec<_> = [transaction, balance].into_iter().flatten().collect();
    if details.is_empty() {
        return String::new();
    }
    format!("（{}）", details.join("、"))
}

/// The weather in a few words.
fn sky(output: &Value) -> Option<String> {
    let temperature = number(output, "temperature").map(|it| format!("気温{}°C", plain(it)));
    let condition = text(output, "condition").map(|it| condition(&it));
    let humidity = number(output, "humidity").map(|it| format!("湿度{}%", plain(it)));
    let parts: Vec<_> = [condition, temperature, humidity]
        .into_iter()
        .flatten()
        .collect();
    (!parts.is_empty()).then(|| parts.join("、"))
}

fn condition(condition: &str) -> String {
    let known = match condition.to_lowercase().as_str() {
        "cloudy" | "clouds" => "曇り",
        "sunny" | "clear" => "晴れ",
        "rainy" | "rain" => "雨",
        "foggy" | "fog" | "mist" => "霧",
        "snowy" | "snow" => "雪",
        "windy" => "強風",
        "unknown" => "不明",
        _ => return condition.to_owned(),
    };
    known.to_owned()
}

fn edit(settled: &Settled<'_>) -> Option<String> {
    if !settled.is_edited() {
        return None;
    }
    let said = |change: &Change<'_>| {
        let field = match change.field {
            "amount" => "金額",
            "recipient" => "送金先",
            "currency" => "通貨",
            "description" => "摘要",
            "location" => "場所",
            "track" => "トラック",
            "destination" => "行き先",
            "topic" => "テーマ",
            field => field,
        };
        let spoken = |value: Option<&Value>| value.map_or_else(|| "なし".to_owned(), spoken);
        format!("{field}: {} → {}", spoken(change.from), spoken(change.to))
    };
    let changes: Vec<_> = settled.changes().iter().map(said).collect();
    Some(if changes.is_empty() {
        "承認者が内容を変更しました。".to_owned()
    } else {
        format!("承認者が内容を変更しました（{}）。", changes.join("、"))
    })
}

fn money(value: &Value) -> Option<String> {
    let amount = grouped(number(value, "amount")?);
    Some(match text(value, "currency").as_deref() {
        None | Some("USD") => format!("{amount}ドル"),
        Some("EUR") => format!("{amount}ユーロ"),
        Some("GBP") => format!("{amount}ポンド"),
        Some("JPY") => format!("{amount}円"),
        Some(currency) => format!("{amount} {currency}"),
    })
}

fn track(value: &Value) -> String {
    let track = value.get("track").or_else(|| value.get("current_track"));
    track.map_or_else(
        || "トラック".to_owned(),
        |track| format!("トラック{}", spoken(track)),
    )
}

/// A name with the honorific that politeness wants, unless it has one or is an address.
fn person(name: &str) -> String {
    if name.contains('@') || ["さん", "様", "ちゃん"].iter().any(|it| name.ends_with(it)) {
        return name.to_owned();
    }
    format!("{name}さん")
}

/// A sentence with its full stop.
fn ended(sentence: String) -> String {
    let sentence = sentence.trim_end().to_owned();
    if sentence.ends_with(['.', '!', '?', '…', '。']) {
        return sentence;
    }
    sentence + "。"
}
