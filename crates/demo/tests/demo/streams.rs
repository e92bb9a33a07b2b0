//! Whole streams, as snapshots: every event of every step. `|` parts deltas.

use std::fmt::Write as _;

use adk_stream_demo::Demo;
use agents::Agent;
use serde_json::json;
use turn::agent::{AgentEvent, CallResult, HistoryItem};
use turn::call::{Call, Outcome};
use turn::reason::TIMED_OUT;

use crate::dialogue::{Dialogue, approve, call, calls_of, settled};

/// A turn, event by event.
fn turn(dialogue: &mut Dialogue, settle: &mut dyn FnMut(&Call) -> CallResult) -> String {
    let mut transcript = String::new();
    loop {
        let events = dialogue.advance(settle);
        transcript += "step\n";
        transcript += &lines(&events);
        if calls_of(&events).is_empty() {
            return transcript;
        }
        if let Some(HistoryItem::Step { results, .. }) = dialogue.history.last() {
            for result in results {
                let outcome = serde_json::to_string(&result.outcome).unwrap();
                writeln!(transcript, "settled {} {outcome}", result.call.tool).unwrap();
            }
        }
    }
}

fn lines(events: &[AgentEvent]) -> String {
    let mut lines: Vec<(&str, String)> = Vec::new();
    for event in events {
        let (kind, line) = match event {
            AgentEvent::Text { delta, .. } => ("text", delta.clone()),
            AgentEvent::Reasoning { delta, .. } => ("reasoning", delta.clone()),
            AgentEvent::Call {
                tool,
                input,
                provider_id: None,
                ..
            } => ("call", format!("{tool} {input}")),
            AgentEvent::Metadata(metadata) => ("metadata", metadata.to_string()),
            AgentEvent::Ended(finish) => ("ended", format!("{finish:?}")),
            other => ("other", format!("{other:?}")),
        };
        match lines.last_mut() {
            Some((last, deltas)) if *last == kind && ["text", "reasoning"].contains(&kind) => {
                *deltas += "|";
                *deltas += &line;
            }
            _ => lines.push((kind, line)),
        }
    }
    let lines = lines
        .into_iter()
        .map(|(kind, line)| format!("  {kind}: {line}\n"));
    lines.collect()
}

fn transcript(agent: Demo, prompt: &str, settle: &mut dyn FnMut(&Call) -> CallResult) -> String {
    let turn = turn(&mut Dialogue::of(agent, prompt), settle);
    format!("user: {prompt}\n{turn}")
}

fn deny(call: &Call) -> CallResult {
    let reason = Some("too expensive".to_owned());
    settled(call, Outcome::Denied { reason })
}

fn time_out(call: &Call) -> CallResult {
    let error = TIMED_OUT.to_owned();
    settled(call, Outcome::Error { error })
}

#[test]
fn personalities_have_names() {
    let agents: [Box<dyn Agent>; 2] = [Box::new(Demo::new()), Box::new(Demo::live())];
    assert_eq!(
        agents.map(|agent| agent.name().to_owned()),
        ["demo", "demo-live"]
    );
}

#[test]
fn one_payment() {
    insta::assert_snapshot!(
        "payment-english",
        transcript(Demo::new(), "Send $20 to Sam", &mut approve)
    );
    insta::assert_snapshot!(
        "payment-japanese",
        transcript(
            Demo::new(),
            "次郎さんに200ドル送金してください",
            &mut approve
        )
    );
    insta::assert_snapshot!(
        "payment-denied-english",
        transcript(Demo::new(), "Pay Ann $20", &mut deny)
    );
    insta::assert_snapshot!(
        "payment-denied-japanese",
        transcript(Demo::live(), "次郎さんに200ドル送金してください", &mut deny)
    );
    insta::assert_snapshot!(
        "payment-timed-out",
        transcript(
            Demo::live(),
            "Process a payment of $100 to Alice",
            &mut time_out
        )
    );
}

#[test]
fn several_payments() {
    let english = "Pay Ann $1, Ben $2 and Cy $3";
    let japanese = "Aliceに30ドル、Bobに40ドル送金してください";
    insta::assert_snapshot!(
        "payments-english",
        transcript(Demo::new(), english, &mut approve)
    );
    insta::assert_snapshot!(
        "payments-japanese",
        transcript(Demo::new(), japanese, &mut approve)
    );
    insta::assert_snapshot!(
        "payments-live-english",
        transcript(Demo::live(), english, &mut approve)
    );
    insta::assert_snapshot!(
        "payments-live-japanese",
        transcript(Demo::live(), japanese, &mut approve)
    );
}

#[test]
fn tools_without_money() {
    let prompts = [
        "What is the weather in Oslo?",
        "東京の天気を教えて",
        "Where am I?",
        "現在地を教えて",
        "play track 1",
        "トラック1に変更して",
        "Book a flight to Oslo",
        "オスロへのフライトを予約して",
        "Set the mood for Tokyo",
        "東京の雰囲気にして",
    ];
    let transcripts: Vec<_> = prompts
        .iter()
        .map(|prompt| transcript(Demo::new(), prompt, &mut approve))
        .collect();
    insta::assert_snapshot!("tools", transcripts.join("\n"));
}

#[test]
fn several_things() {
    let parallel = "東京の天気とトラック2";
    let sequential = "first the weather in Tokyo, then pay Ann $5";
    insta::assert_snapshot!("parallel", transcript(Demo::new(), parallel, &mut approve));
    insta::assert_snapshot!(
        "parallel-live",
        transcript(Demo::live(), parallel, &mut approve)
    );
    insta::assert_snapshot!(
        "sequential",
        transcript(Demo::new(), sequential, &mut approve)
    );
}

#[test]
fn a_report_that_comes_back() {
    let mut dialogue = Dialogue::of(Demo::new(), "Write a report about tea");
    let promised = turn(&mut dialogue, &mut approve);
    dialogue.history.push(HistoryItem::Result {
        call: call(1, "write_report", json!({"topic": "tea"})),
        outcome: Outcome::Output {
            output: json!({"report": "Tea is a leaf."}),
        },
    });
    let returned = turn(&mut dialogue, &mut approve);
    insta::assert_snapshot!("report", format!("{promised}(later)\n{returned}"));
}

#[test]
fn no_tool_at_all() {
    let prompts = [
        "hello",
        "こんにちは",
        "fail with rate limit",
        "break the stream",
        "say nothing",
    ];
    let transcripts: Vec<_> = prompts
        .iter()
        .map(|prompt| transcript(Demo::new(), prompt, &mut approve))
        .collect();
    insta::assert_snapshot!("words", transcripts.join("\n"));
}
