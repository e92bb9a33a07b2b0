//! What the demo understands: the prompts of `phrases.txt`, each with the calls that are made for it.

use adk_stream_demo::Demo;
use serde_json::Value;

use crate::dialogue::{Dialogue, approve};

/// The calls for a prompt, in short, or what is said where there are none.
fn calls(prompt: &str) -> String {
    let mut dialogue = Dialogue::of(Demo::new(), prompt);
    let (steps, text) = dialogue.finish(&mut approve);
    if steps.is_empty() {
        let echoes =
            text.starts_with("You said:") || text.contains("ですね。") || prompt.is_empty();
        return if echoes { "nothing" } else { "asks" }.to_owned();
    }
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

#[test]
fn phrases_lead_to_their_calls() {
    let lines = include_str!("phrases.txt").lines();
    let rows: Vec<_> = lines.filter_map(|line| line.split_once(" => ")).collect();
    assert!(rows.len() > 400, "the table was not read");
    let mut wrong = Vec::new();
    for (prompt, expected) in &rows {
        let found = calls(&prompt.replace("\\n", "\n"));
        if found != *expected {
            wrong.push(format!(
                "{prompt}\n  found    {found}\n  expected {expected}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}
