//! What the demo says where it is asked for something that it does not know, or not all of.

use adk_stream_demo::Demo;

use crate::dialogue::{Dialogue, approve, text_of};

fn said(prompt: &str) -> String {
    let (calls, text) = Dialogue::of(Demo::new(), prompt).finish(&mut approve);
    assert!(calls.is_empty(), "{prompt}: {calls:?}");
    text
}

#[test]
fn what_is_left_out_is_asked_for() {
    for (prompt, question) in [
        ("Pay Sam", "How much should I send?"),
        ("Send money to Sam", "How much should I send?"),
        ("Send $20", "Whom should I pay?"),
        ("Send me $20", "Whom should I pay?"),
        (
            "What's the weather?",
            "Which city's weather would you like?",
        ),
        ("Change the BGM", "Which track should I play, 1 or 2?"),
        ("Book a flight", "Where should the flight go?"),
        ("Set the mood", "Which place's mood should I set?"),
        ("Write a report", "What should the report be about?"),
        ("Samに送金して", "いくら送金しますか?"),
        ("20ドル送金して", "どなたに送金しますか?"),
        ("天気を教えて", "どの都市の天気を調べますか?"),
        ("BGMを変えて", "どのトラックにしますか? 1か2を選べます。"),
        ("フライトを予約して", "どこへのフライトを予約しますか?"),
        ("雰囲気を変えて", "どの場所の雰囲気にしますか?"),
        ("レポートを書いて", "何についてのレポートを書きますか?"),
    ] {
        assert_eq!(said(prompt), question, "{prompt}");
    }
}

#[test]
fn what_is_clear_is_done_before_the_rest_is_asked_for() {
    let mut dialogue = Dialogue::of(Demo::new(), "Play track 1 and tell me the weather");
    let (calls, text) = dialogue.finish(&mut approve);
    assert_eq!(calls.len(), 1);
    assert_eq!(
        text,
        "Track 1 is playing now: BGM changed. Which city's weather would you like?"
    );
}

#[test]
fn what_is_not_understood_is_asked_about() {
    for (prompt, question) in [
        (
            "Don't pay Ann $5",
            "I did not understand \"Don't pay Ann $5\", so I pay nothing. \
             Say it plainly, such as \"Send $20 to Sam\".",
        ),
        (
            "Send $20 to Sam and forget about it",
            "I did not understand \"forget about it\", so I pay nothing. \
             Say it plainly, such as \"Send $20 to Sam\".",
        ),
        (
            "Samに20ドル送らないで",
            "「Samに20ドル送らないで」の意味が分からないので、送金はしません。\
             「Samに20ドル送金して」のように書いてください。",
        ),
    ] {
        assert_eq!(said(prompt), question, "{prompt}");
    }
    let mut dialogue = Dialogue::of(Demo::new(), "Play track 1 and tell me a joke");
    let (calls, text) = dialogue.finish(&mut approve);
    assert_eq!(calls.len(), 1);
    assert_eq!(
        text,
        "Track 1 is playing now: BGM changed. I did not understand \"tell me a joke\"."
    );
}

#[test]
fn anything_else_is_echoed_with_what_it_can_do() {
    let text = said("Tell me a joke");
    assert!(text.starts_with("You said: \"Tell me a joke\"."), "{text}");
    assert!(
        text.contains("send money") && text.contains("Send $20 to Sam"),
        "{text}"
    );
    let text = said("冗談を言って");
    assert!(text.starts_with("「冗談を言って」ですね。"), "{text}");
    assert!(text.contains("送金"), "{text}");
    let text = said(&format!("{} pay Ann $5", "long ".repeat(1_000)));
    assert!(text.chars().count() < 500, "{text}");
}

#[test]
fn a_tool_that_is_not_there_is_not_called() {
    let mut dialogue = Dialogue::of(Demo::new(), "Pay Ann $5 and tell me the weather in Oslo");
    dialogue.tools = vec!["get_weather"];
    let (calls, text) = dialogue.finish(&mut approve);
    assert_eq!(calls.concat().len(), 1);
    assert!(
        text.ends_with("I would need the tool process_payment, and I do not have it here."),
        "{text}"
    );
    dialogue.say("Annに5ドル送って");
    dialogue.tools = Vec::new();
    let text = text_of(&dialogue.step());
    assert_eq!(
        text,
        "それにはツール process_payment が必要ですが、ここでは使えません。"
    );
}

#[test]
fn without_a_history_or_a_text_it_greets() {
    let text = text_of(&Dialogue::with(Demo::new()).step());
    assert!(text.starts_with("Hello! I am the demo agent."), "{text}");
    assert!(said("").starts_with("Hello!"));
}
