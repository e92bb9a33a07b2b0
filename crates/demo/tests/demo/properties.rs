//! What holds for every prompt, every result and every set of tools.

use adk_stream_demo::Demo;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};
use turn::agent::{AgentEvent, CallResult};
use turn::call::{Outcome, UnknownReason};

use crate::dialogue::{Dialogue, TOOLS, calls_of, settled, text_of};

/// Pieces that prompts are made of, so that the readers get far into them.
const PIECES: [&str; 97] = [
    "pay",
    "send",
    "Send ",
    "transfer ",
    "Process a payment of ",
    "$5",
    "$1,000.50",
    "20 dollars",
    "-$3",
    "$",
    "5",
    " to ",
    " for ",
    " lunch",
    "Ann",
    "ben",
    "Mary Ann",
    "花子",
    "次郎さん",
    "サム",
    " each",
    "weather",
    " in ",
    "Tokyo",
    "new york",
    "Oslo",
    "track",
    " 1",
    "BGM",
    "play ",
    "where am I",
    "book a flight",
    "mood",
    "report",
    " about ",
    "tea",
    " and ",
    ", ",
    ". ",
    "? ",
    " then ",
    "first ",
    "after that",
    "finally",
    "don't ",
    "cancel ",
    "\"",
    "'",
    "(",
    "\n",
    "1. ",
    "- ",
    "please ",
    "に",
    "へ",
    "を",
    "は",
    "と",
    "の",
    "、",
    "。",
    "20ドル",
    "百ドル",
    "1万ドル",
    "送って",
    "送金してください",
    "送らないで",
    "払って",
    "東京",
    "大阪",
    "ロンドン",
    "天気",
    "を教えて",
    "現在地",
    "トラック",
    "2",
    "に変更して",
    "フライト",
    "を予約して",
    "行きの",
    "雰囲気",
    "にして",
    "レポート",
    "を書いて",
    "について",
    "それから",
    "てから",
    "まず",
    "として",
    "ランチ代",
    "ずつ",
    "「",
    "」",
    "👩‍👧",
    "e\u{301}",
    "％",
    "ー",
];

fn prompt() -> impl Strategy<Value = String> {
    let made = prop::collection::vec(select(&PIECES[..]), 0..14).prop_map(|pieces| pieces.concat());
    prop_oneof![
        4 => made,
        1 => any::<String>(),
        1 => "[a-zA-Z$0-9,.?' -]{0,60}",
        1 => "[ぁ-んァ-ヶ一-龠0-9、。$]{0,40}",
    ]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let output = prop_oneof![
        Just(json!(null)),
        Just(json!({})),
        Just(json!([[], {"a": "b"}])),
        Just(
            json!({"success": true, "amount": "many", "track": {}, "latitude": "x", "temperature": 1e300})
        ),
        Just(json!({"success": false})),
        Just(
            json!({"latitude": -0.0, "longitude": 1e-9, "amount": -1e18, "wallet_balance": 1e300})
        ),
        any::<String>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!({"temperature": number, "amount": number})),
    ];
    prop_oneof![
        output.prop_map(|output| Outcome::Output { output }),
        any::<String>().prop_map(|error| Outcome::Error { error }),
        any::<String>().prop_map(|error| Outcome::Invalid { error }),
        any::<Option<String>>().prop_map(|reason| Outcome::Denied { reason }),
        Just(Outcome::Unknown {
            reason: UnknownReason::ServerStopped,
        }),
        Just(Outcome::Pending { output: json!({}) }),
    ]
}

fn is_whole(events: &[AgentEvent]) -> bool {
    let ends =
        |event: &AgentEvent| matches!(event, AgentEvent::Ended(_) | AgentEvent::Failed { .. });
    events.last().is_some_and(ends) && events.iter().filter(|event| ends(event)).count() == 1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn every_turn_ends_with_words(
        prompt in prompt(),
        tools in subsequence(TOOLS.to_vec(), 0..=TOOLS.len()),
        outcomes in prop::collection::vec((outcome(), any::<bool>()), 1..4),
        is_live in any::<bool>(),
    ) {
        let lower = prompt.to_lowercase();
        prop_assume!(!lower.contains("break the stream") && !lower.contains("say nothing"));
        let agent = if is_live { Demo::live() } else { Demo::new() };
        let mut dialogue = Dialogue::of(agent, &prompt);
        dialogue.tools = tools.clone();
        let mut count = 0;
        let mut settle = |call: &_| {
            count += 1;
            let (outcome, is_edited) = outcomes[count % outcomes.len()].clone();
            CallResult {
                edited_input: is_edited.then(|| json!({"amount": "x", "other": [1]})),
                ..settled(call, outcome)
            }
        };
        for _ in 0..60 {
            prop_assert_eq!(dialogue.step(), dialogue.step(), "not deterministic");
            let events = dialogue.advance(&mut settle);
            prop_assert!(is_whole(&events), "{:?}", events);
            let calls = calls_of(&events);
            prop_assert!(calls.iter().all(|(tool, _)| tools.contains(&tool.as_str())));
            prop_assert!(!is_live || calls.len() <= 1);
            if calls.is_empty() {
                let is_failure = matches!(events.last(), Some(AgentEvent::Failed { .. }));
                prop_assert!(is_failure || !text_of(&events).trim().is_empty(), "an empty step");
                return Ok(());
            }
        }
        prop_assert!(false, "the turn has no end");
    }

    #[test]
    fn names_amounts_and_phrasings_vary_freely(
        name in "[A-Z][a-z]{4,8}( [A-Z][a-z]{4,8})?",
        amount in 1u32..100_000,
        cents in 0u32..100,
        form in select(vec![
            "Send $A to N", "Pay N $A", "Transfer A dollars to N", "Please send N $A.",
            "Process a payment of $A to N", "Could you pay N A USD?", "NにAドル送って",
            "NさんにAドル送金してください", "AドルをNに送金して", "Nへ$Aを振り込んで",
        ]),
    ) {
        let amount = if cents == 0 { json!(amount) } else { json!(f64::from(amount * 100 + cents) / 100.0) };
        let prompt = form.replace('A', &amount.to_string()).replace('N', &name);
        let calls = calls_of(&Dialogue::of(Demo::new(), &prompt).step());
        let expected = json!({"amount": amount, "recipient": name, "currency": "USD"});
        prop_assert_eq!(calls, [("process_payment".to_owned(), expected)], "{}", prompt);
    }
}
