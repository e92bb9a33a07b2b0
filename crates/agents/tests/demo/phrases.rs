//! What the demo understands: prompts, and the calls that it makes for them.
//!
//! `+` joins calls of one step, `>` steps.

use adk_stream_agents::Demo;
use serde_json::Value;

use crate::dialogue::{Dialogue, approve};

/// The calls for a prompt, in short.
pub(crate) fn calls(prompt: &str) -> String {
    let mut dialogue = Dialogue::of(Demo::new(), prompt);
    let (steps, _) = dialogue.finish(&mut approve);
    let short = |(tool, input): &(String, Value)| short(tool, input);
    let step = |step: &Vec<_>| step.iter().map(short).collect::<Vec<_>>().join(" + ");
    steps.iter().map(step).collect::<Vec<_>>().join(" > ")
}

fn short(tool: &str, input: &Value) -> String {
    let text = |field: &str| input[field].as_str().unwrap_or("?").to_owned();
    match tool {
        "process_payment" => {
            let reason = input.get("description").map(|_| text("description"));
            let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
            let currency = text("currency");
            format!(
                "pay {} {currency} {}{reason}",
                input["amount"],
                text("recipient")
            )
        }
        "get_weather" => format!("weather {}", text("location")),
        "get_location" => "location".to_owned(),
        "change_bgm" => format!("track {}", input["track"]),
        "book_flight" => format!("fly {}", text("destination")),
        "set_mood" => format!("mood {}", text("location")),
        "write_report" => format!("report {}", text("topic")),
        other => other.to_owned(),
    }
}

fn check(table: &[(&str, &str)]) {
    let wrong: Vec<_> = table
        .iter()
        .map(|(prompt, expected)| (prompt, calls(prompt), *expected))
        .filter(|(_, found, expected)| found != expected)
        .map(|(prompt, found, expected)| {
            format!("{prompt}\n  found    {found}\n  expected {expected}")
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        table.len(),
        wrong.join("\n")
    );
}

#[test]
fn payments_in_english() {
    check(&[
        ("Send $20 to Sam", "pay 20 USD Sam"),
        ("send $20 to sam", "pay 20 USD Sam"),
        ("SEND $20 TO SAM", "pay 20 USD SAM"),
        ("Send Sam $20", "pay 20 USD Sam"),
        ("Please send 20 dollars to Sam.", "pay 20 USD Sam"),
        ("Could you please send $20 to Sam?", "pay 20 USD Sam"),
        ("I want to send Sam $20", "pay 20 USD Sam"),
        ("I'd like to pay Ann $5 please", "pay 5 USD Ann"),
        (
            "Can you transfer twenty-five dollars to Bob?",
            "pay 25 USD Bob",
        ),
        ("Process a payment of $100 to Alice", "pay 100 USD Alice"),
        ("Process a $100 payment to Alice", "pay 100 USD Alice"),
        ("Make a payment to Alice of $100", "pay 100 USD Alice"),
        ("Make a payment of 100 USD for Alice", "pay 100 USD Alice"),
        (
            "Pay Ann $1, Ben $2 and Cy $3",
            "pay 1 USD Ann + pay 2 USD Ben + pay 3 USD Cy",
        ),
        (
            "Pay Ann 1, Ben 2 and Cy 3",
            "pay 1 USD Ann + pay 2 USD Ben + pay 3 USD Cy",
        ),
        (
            "Send $30 to Alice and $40 to Bob",
            "pay 30 USD Alice + pay 40 USD Bob",
        ),
        (
            "Send $30 to Alice and send $40 to Bob",
            "pay 30 USD Alice + pay 40 USD Bob",
        ),
        (
            "Send $30 to Alice, $40 to Bob, and $50 to Carol",
            "pay 30 USD Alice + pay 40 USD Bob + pay 50 USD Carol",
        ),
        ("Pay Ann and Ben $5 each", "pay 5 USD Ann + pay 5 USD Ben"),
        ("Give Ann and Ben $5 each", "pay 5 USD Ann + pay 5 USD Ben"),
        ("Send $10 to Ann and Ben", "pay 10 USD Ann + pay 10 USD Ben"),
        (
            "transfer 12.50 dollars to Bob for lunch",
            "pay 12.5 USD Bob (lunch)",
        ),
        (
            "Send $20 to Sam for the concert tickets, please",
            "pay 20 USD Sam (the concert tickets)",
        ),
        ("Send $20 for lunch to Sam", "pay 20 USD Sam (lunch)"),
        (
            "Pay Bob $12 for bread and butter",
            "pay 12 USD Bob (bread and butter)",
        ),
        ("Pay Bob $500 as rent", "pay 500 USD Bob (rent)"),
        (
            "Send $20 to Sam for lunch and $30 to Bob for dinner",
            "pay 20 USD Sam (lunch) + pay 30 USD Bob (dinner)",
        ),
        ("pay Ann $5 for me", "pay 5 USD Ann"),
        ("Send $1,250.75 to Mary Ann", "pay 1250.75 USD Mary Ann"),
        (
            "Wire 1,000 USD to Jean-Luc O'Brien",
            "pay 1000 USD Jean-Luc O'Brien",
        ),
        ("Send 20 bucks to my friend Bob", "pay 20 USD Bob"),
        ("Give Sam 20 dollars", "pay 20 USD Sam"),
        ("Send 20 to Sam", "pay 20 USD Sam"),
        ("Pay 20 to Sam now", "pay 20 USD Sam"),
        ("Send ＄２０ to Sam", "pay 20 USD Sam"),
        ("Send US$20 to Sam", "pay 20 USD Sam"),
        ("Send $20 USD to Sam", "pay 20 USD Sam"),
        ("Send USD 20 to Sam", "pay 20 USD Sam"),
        ("Send 20 euros to Sam", "pay 20 EUR Sam"),
        ("Send ¥500 to Sam", "pay 500 JPY Sam"),
        ("Send $20 to 花子さん", "pay 20 USD Hanako"),
        ("Send $20 to bob@example.com", "pay 20 USD bob@example.com"),
        ("Send $20 to Dr. Smith", "pay 20 USD Dr. Smith"),
        (
            "Send $20 to \"Salt and Pepper Ltd\"",
            "pay 20 USD Salt and Pepper Ltd",
        ),
        ("$20 to Sam", "pay 20 USD Sam"),
        ("Send Sam and Max $7", "pay 7 USD Sam + pay 7 USD Max"),
        ("Pay Will $5", "pay 5 USD Will"),
        ("Pay Bob back $5", "pay 5 USD Bob"),
        ("Pay -$5 to Ann", "pay -5 USD Ann"),
        ("Pay Ann $0", "pay 0 USD Ann"),
        ("send a hundred dollars to Zoë", "pay 100 USD Zoë"),
        ("Send $20, to Sam", "pay 20 USD Sam"),
        ("Hi! Send $20 to Sam. Thanks!", "pay 20 USD Sam"),
        (
            "1. Pay Ann $1\n2. Pay Ben $2",
            "pay 1 USD Ann + pay 2 USD Ben",
        ),
        ("Don't pay Ann $5", ""),
        ("Do not send $20 to Sam", ""),
        ("Cancel the payment of $5 to Ann", ""),
        ("What is $20 in yen?", ""),
    ]);
}

#[test]
fn payments_in_japanese() {
    check(&[
        ("Samに20ドル送って", "pay 20 USD Sam"),
        ("Samに20ドルを送って", "pay 20 USD Sam"),
        ("次郎さんに200ドル送金してください", "pay 200 USD Jiro"),
        ("Hanakoさんに50ドル送金して", "pay 50 USD Hanako"),
        ("花子ちゃんに５０ドル送金して", "pay 50 USD Hanako"),
        (
            "太郎くんに1,000ドル振り込んでください。",
            "pay 1000 USD Taro",
        ),
        ("三郎様に12.50ドル支払って", "pay 12.5 USD Saburo"),
        ("熊五郎さんに5ドル払って", "pay 5 USD 熊五郎"),
        (
            "Aliceに30ドル、Bobに40ドル送金してください",
            "pay 30 USD Alice + pay 40 USD Bob",
        ),
        (
            "Aliceに30ドル、Bobに40ドル、Carolに50ドル送金してください",
            "pay 30 USD Alice + pay 40 USD Bob + pay 50 USD Carol",
        ),
        (
            "Aliceに30ドルとBobに40ドルを送って",
            "pay 30 USD Alice + pay 40 USD Bob",
        ),
        (
            "Aliceに30ドル送って、Bobに40ドル送って",
            "pay 30 USD Alice + pay 40 USD Bob",
        ),
        (
            "Aliceに30ドル送金して。Bobにも40ドル送金して。",
            "pay 30 USD Alice + pay 40 USD Bob",
        ),
        (
            "AliceとBobに30ドルずつ送って",
            "pay 30 USD Alice + pay 30 USD Bob",
        ),
        (
            "太郎さんと花子さんに10ドル送って",
            "pay 10 USD Taro + pay 10 USD Hanako",
        ),
        ("20ドルをSamに送って", "pay 20 USD Sam"),
        (
            "20ドルをSamに、30ドルをBobに送って",
            "pay 20 USD Sam + pay 30 USD Bob",
        ),
        ("Samへ20ドル送金", "pay 20 USD Sam"),
        ("Sam宛に20ドル送金して", "pay 20 USD Sam"),
        ("Samさんに$20を送ってください", "pay 20 USD Sam"),
        ("Samに20 USD送って", "pay 20 USD Sam"),
        ("Samに20送金して", "pay 20 USD Sam"),
        ("Samに２０ドル", "pay 20 USD Sam"),
        ("はなこに5ドル送って", "pay 5 USD Hanako"),
        ("花子に百ドル送って", "pay 100 USD Hanako"),
        ("Mary Annに20ドル送って", "pay 20 USD Mary Ann"),
        (
            "マリー・キュリーさんに20ドル送って",
            "pay 20 USD マリー・キュリー",
        ),
        ("友達のサムに20ドル送って", "pay 20 USD Sam"),
        ("最初に20ドルをSamに送って", "pay 20 USD Sam"),
        (
            "すみません、Samに20ドル送ってくれませんか",
            "pay 20 USD Sam",
        ),
        (
            "Bobにランチ代として12.50ドル送って",
            "pay 12.5 USD Bob (ランチ代)",
        ),
        (
            "12.50ドルをランチ代としてBobに送って",
            "pay 12.5 USD Bob (ランチ代)",
        ),
        ("Bobに家賃500ドルを払って", "pay 500 USD Bob (家賃)"),
        ("Samのために20ドル送って", "pay 20 USD Sam"),
        ("Samに500円送って", "pay 500 JPY Sam"),
        ("Samに、20ドル送って", "pay 20 USD Sam"),
        ("Samに送金して、20ドル", "pay 20 USD Sam"),
        ("Samに20ドル送らないで", ""),
        ("Samへの送金20ドルをキャンセルして", ""),
        ("Samに20ドル送らないで、Bobに5ドル送って", "pay 5 USD Bob"),
    ]);
}

#[test]
fn the_weather_in_english() {
    check(&[
        ("What is the weather in Oslo?", "weather Oslo"),
        (
            "what's the weather like in new york today?",
            "weather New York",
        ),
        (
            "What's the weather in San Francisco right now?",
            "weather San Francisco",
        ),
        (
            "weather in Tokyo and London",
            "weather Tokyo + weather London",
        ),
        (
            "weather in tokyo and london",
            "weather Tokyo + weather London",
        ),
        (
            "How is the weather in Tokyo, London and New York?",
            "weather Tokyo + weather London + weather New York",
        ),
        ("Tell me the weather in Tokyo, Japan", "weather Tokyo"),
        ("weather for Paris please", "weather Paris"),
        ("Tokyo weather", "weather Tokyo"),
        ("What is the London weather?", "weather London"),
        ("How is San Francisco's weather", "weather San Francisco"),
        ("weather Oslo", "weather Oslo"),
        ("Weather: Oslo", "weather Oslo"),
        (
            "forecast for Rio de Janeiro tomorrow",
            "weather Rio de Janeiro",
        ),
        (
            "What's the temperature in Mexico City?",
            "weather Mexico City",
        ),
        ("Is it raining in London?", "weather London"),
        ("Will it rain in Paris tomorrow?", "weather Paris"),
        ("How hot is it in Cairo?", "weather Cairo"),
        ("Give me the weather in Tokyo", "weather Tokyo"),
        ("Send me the weather report for Tokyo", "weather Tokyo"),
        ("In Tokyo, what is the weather?", "weather Tokyo"),
        ("weather in 東京", "weather Tokyo"),
        ("What is the weather in St. Louis?", "weather St. Louis"),
        (
            "Compare the weather in both Tokyo and Oslo",
            "weather Tokyo + weather Oslo",
        ),
        (
            "What is the weather in Tokyo? And in London?",
            "weather Tokyo",
        ),
        ("What is the weather in Tokyo, thanks", "weather Tokyo"),
        (
            "What is the weather in Tokyo and tell me a joke",
            "weather Tokyo",
        ),
    ]);
}

#[test]
fn the_weather_in_japanese() {
    check(&[
        ("東京の天気を教えて", "weather Tokyo"),
        ("東京の天気は?", "weather Tokyo"),
        ("東京の天気はどうですか？", "weather Tokyo"),
        ("今日の東京の天気を教えてください", "weather Tokyo"),
        ("東京の今日の天気", "weather Tokyo"),
        (
            "東京とロンドンの天気を教えて",
            "weather Tokyo + weather London",
        ),
        (
            "東京、大阪、京都の天気",
            "weather Tokyo + weather Osaka + weather Kyoto",
        ),
        ("東京の天気と大阪の天気", "weather Tokyo + weather Osaka"),
        (
            "東京の天気を教えて。ロンドンの天気も教えて。",
            "weather Tokyo + weather London",
        ),
        ("ニューヨークの天気予報", "weather New York"),
        ("サンフランシスコの気温は何度?", "weather San Francisco"),
        ("San Franciscoの天気を教えて", "weather San Francisco"),
        ("Osloの天気", "weather Oslo"),
        ("ホグワーツの天気を教えて", "weather ホグワーツ"),
        ("東京都の天気", "weather Tokyo"),
        ("さいたまの天気", "weather Saitama"),
        ("東京は雨?", "weather Tokyo"),
        ("ロンドンは今寒い?", "weather London"),
        ("すみません、東京の天気を教えて", "weather Tokyo"),
        ("私は東京の天気が知りたい", "weather Tokyo"),
        ("天気は東京", "weather Tokyo"),
    ]);
}

#[test]
fn places_and_tracks() {
    check(&[
        ("Where am I?", "location"),
        ("where am i right now", "location"),
        ("What is my current location?", "location"),
        ("Get my location", "location"),
        ("Tell me where I am", "location"),
        ("Please locate me", "location"),
        ("現在地を教えて", "location"),
        ("現在位置は?", "location"),
        ("私は今どこにいるの?", "location"),
        ("ここはどこ?", "location"),
        ("位置情報を取得して", "location"),
        ("トラック1に変更して", "track 1"),
        ("トラック 2 にして", "track 2"),
        ("トラック２を再生して", "track 2"),
        ("BGMをトラック2に変えて", "track 2"),
        ("BGMを2に変更", "track 2"),
        ("2番のトラックにして", "track 2"),
        ("1番目の曲をかけて", "track 1"),
        ("2曲目をかけて", "track 2"),
        ("トラック二", "track 2"),
        ("トラック0", "track 0"),
        ("トラック1からトラック2に変えて", "track 2"),
        ("change the BGM to track 2", "track 2"),
        ("play track 1", "track 1"),
        ("Play track number 2 please", "track 2"),
        ("Switch to track two", "track 2"),
        ("play the second track", "track 2"),
        ("Play song 2", "track 2"),
        ("BGM 1", "track 1"),
        ("track #2", "track 2"),
        ("change the music from track 1 to track 2", "track 2"),
        ("track 0", "track 0"),
        ("track 99", "track 99"),
        ("play tracks 1 and 2", "track 1 + track 2"),
    ]);
}

#[test]
fn tools_that_only_the_demo_has() {
    check(&[
        ("Book a flight to Oslo", "fly Oslo"),
        (
            "book me a flight from Tokyo to New York tomorrow",
            "fly New York",
        ),
        ("I want to fly to Oslo", "fly Oslo"),
        (
            "Reserve flights to Oslo and London",
            "fly Oslo + fly London",
        ),
        ("オスロへのフライトを予約して", "fly Oslo"),
        ("オスロ行きの飛行機を予約して", "fly Oslo"),
        ("東京からオスロまでのフライトを予約してください", "fly Oslo"),
        ("Set the mood for Tokyo", "mood Tokyo"),
        ("set the mood of New York, please", "mood New York"),
        ("Create a Paris mood", "mood Paris"),
        ("東京の雰囲気にして", "mood Tokyo"),
        ("パリっぽい雰囲気にして", "mood Paris"),
        ("雰囲気を東京にして", "mood Tokyo"),
        ("Write a report about tea", "report tea"),
        (
            "Write me a report on the history of tea, please",
            "report the history of tea",
        ),
        (
            "Write a report about tea and coffee",
            "report tea and coffee",
        ),
        (
            "Please prepare a report about the weather in Tokyo",
            "report the weather in Tokyo",
        ),
        ("Write a tea report", "report tea"),
        ("お茶についてのレポートを書いて", "report お茶"),
        ("お茶に関する報告書を作って", "report お茶"),
        (
            "お茶とコーヒーについてレポートを書いてください",
            "report お茶とコーヒー",
        ),
    ]);
}

#[test]
fn several_things_at_once() {
    check(&[
        (
            "Pay Ann $5 and tell me the weather in Tokyo",
            "pay 5 USD Ann + weather Tokyo",
        ),
        (
            "Tell me the weather in Tokyo and pay Ann $5",
            "weather Tokyo + pay 5 USD Ann",
        ),
        (
            "weather in Tokyo, London, and pay Ann $5 for lunch and play track 1",
            "weather Tokyo + weather London + pay 5 USD Ann (lunch) + track 1",
        ),
        (
            "Play track 2. Where am I? Pay Bob $3!",
            "track 2 + location + pay 3 USD Bob",
        ),
        (
            "Pay Ann $5\nweather in Oslo\nplay track 1",
            "pay 5 USD Ann + weather Oslo + track 1",
        ),
        (
            "Book a flight to Oslo, set the mood for Oslo and write a report about Oslo",
            "fly Oslo + mood Oslo + report Oslo",
        ),
        (
            "Write a report about tea and pay Ann $5",
            "report tea + pay 5 USD Ann",
        ),
        ("東京の天気とトラック2", "weather Tokyo + track 2"),
        (
            "東京の天気を教えて、Annに5ドル送って",
            "weather Tokyo + pay 5 USD Ann",
        ),
        (
            "Annに5ドル送って、東京の天気を教えて",
            "pay 5 USD Ann + weather Tokyo",
        ),
        (
            "Annに5ドル、東京の天気も教えて",
            "pay 5 USD Ann + weather Tokyo",
        ),
        ("現在地と東京の天気を教えて", "location + weather Tokyo"),
        (
            "トラック1にして、Samに20ドル送って",
            "track 1 + pay 20 USD Sam",
        ),
        (
            "オスロへのフライトを予約して、お茶についてのレポートを書いて",
            "fly Oslo + report お茶",
        ),
        ("Annに5ドルと東京の天気", "pay 5 USD Ann + weather Tokyo"),
    ]);
}

#[test]
fn one_thing_after_the_other() {
    check(&[
        (
            "first the weather in Tokyo, then pay Ann $5",
            "weather Tokyo > pay 5 USD Ann",
        ),
        ("Pay Ann $5 then Bob $6", "pay 5 USD Ann > pay 6 USD Bob"),
        (
            "Pay Ann $5. After that, play track 1.",
            "pay 5 USD Ann > track 1",
        ),
        (
            "Pay Ann $5 and Ben $6, and then tell me the weather in Oslo",
            "pay 5 USD Ann + pay 6 USD Ben > weather Oslo",
        ),
        (
            "Where am I? Then the weather in Oslo. Finally, play track 2",
            "location > weather Oslo > track 2",
        ),
        ("Play track 1, followed by track 2", "track 1 > track 2"),
        (
            "まず東京の天気、それからAnnに5ドル送って",
            "weather Tokyo > pay 5 USD Ann",
        ),
        (
            "最初に東京の天気を教えて、その後トラック2にして",
            "weather Tokyo > track 2",
        ),
        (
            "東京の天気を教えてから、Annに5ドル送って",
            "weather Tokyo > pay 5 USD Ann",
        ),
        (
            "Annに5ドル送って、次にBobに6ドル送って",
            "pay 5 USD Ann > pay 6 USD Bob",
        ),
        (
            "Annに5ドル送ったら、東京の天気を教えて",
            "pay 5 USD Ann > weather Tokyo",
        ),
    ]);
}

#[test]
fn nothing_that_it_knows() {
    check(&[
        ("", ""),
        ("hello", ""),
        ("こんにちは", ""),
        ("What can you do?", ""),
        ("Tell me a joke", ""),
        ("20", ""),
        ("ask for track soon", ""),
        ("次郎さんは元気?", ""),
        ("👋", ""),
    ]);
}
