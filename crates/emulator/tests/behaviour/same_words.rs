//! The demo through our own client and over Gemini's wire says what the demo says by itself.

use std::future::poll_fn;

use adk_stream_emulator::Emulator;
use agents::Agent;
use agents::gemini::{Config, Gemini, Key};
use demo::Demo;
use serde_json::{Value, json};
use turn::agent::{
    AgentEvent, Behavior, CallResult, HistoryItem, Part, StepRequest, ToolDeclaration,
};
use turn::call::{Call, Outcome, Place, UnknownReason};
use turn::message::{self, Message};
use turn::reason::TIMED_OUT;
use turn::reason::denial;
use turn::{CallId, ChatId, Principal, TurnId};

use crate::socket::{Socket, setup, text_of};
use crate::{emulator, soon};

const TOOLS: [&str; 7] = [
    "process_payment",
    "get_weather",
    "get_location",
    "change_bgm",
    "book_flight",
    "set_mood",
    "write_report",
];

/// How calls are settled.
type Settle = fn(&Call) -> (Outcome, Option<Value>);

/// What was called, and what was said in the end.
type Story = (Vec<(String, Value)>, String);

fn client(emulator: &Emulator, model: &str) -> Gemini {
    let config = Config {
        base_url: emulator.url(),
        model: model.to_owned(),
        ..Config::new(Key::new("k").unwrap())
    };
    Gemini::new(config).unwrap()
}

/// Runs a turn to its end; a call that is pending brings its result in a turn of its own.
async fn story(agent: &dyn Agent, prompt: &str, settle: Settle) -> Story {
    let message = Message::new("m", vec![message::Part::text(prompt)]);
    let mut history = vec![HistoryItem::Message(message)];
    let mut calls = Vec::new();
    let mut said = String::new();
    loop {
        let (parts, made) = step(agent, &history, calls.len()).await;
        for part in &parts {
            if let Part::Text { text, .. } = part {
                said.push_str(text);
            }
        }
        let results = made.iter().map(|call| {
            let (outcome, edited_input) = settle(call);
            CallResult {
                call: call.clone(),
                edited_input,
                outcome,
            }
        });
        let results: Vec<_> = results.collect();
        let pending = results.iter().find(|result| is_pending(&result.outcome));
        let pending = pending.map(|result| result.call.clone());
        calls.extend(
            made.iter()
                .map(|call| (call.tool.clone(), call.input.clone())),
        );
        let is_over = made.is_empty();
        history.push(HistoryItem::Step { parts, results });
        if is_over {
            return (calls, said);
        }
        if let Some(call) = pending {
            let (parts, made) = step(agent, &history, calls.len()).await;
            assert!(made.is_empty());
            history.push(HistoryItem::Step {
                parts,
                results: Vec::new(),
            });
            let output = json!({"status": "done", "report": "All about it."});
            let outcome = Outcome::Output { output };
            history.push(HistoryItem::Result { call, outcome });
        }
        assert!(calls.len() < 20, "the turn has no end");
    }
}

fn is_pending(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Pending { .. })
}

async fn step(agent: &dyn Agent, history: &[HistoryItem], calls: usize) -> (Vec<Part>, Vec<Call>) {
    let declare = |name: &str| ToolDeclaration {
        name: name.to_owned(),
        description: name.to_owned(),
        input_schema: json!({"type": "object", "properties": {}}),
        behavior: Behavior::Blocking,
    };
    let mut stream = agent.step(StepRequest {
        chat: ChatId::from("chat"),
        turn: TurnId::from("turn"),
        principal: Principal::from("ann"),
        history: history.to_vec().into(),
        tools: TOOLS.map(declare).to_vec(),
        session: None,
        own: Vec::new(),
        is_again: false,
        trace: None,
    });
    let (mut parts, mut made) = (Vec::new(), Vec::new());
    while let Some(event) = soon(poll_fn(|context| stream.as_mut().poll_next(context))).await {
        match event {
            AgentEvent::Text {
                delta,
                provider_metadata,
            } => parts.push(Part::Text {
                text: delta,
                provider_metadata,
            }),
            AgentEvent::Reasoning {
                delta,
                provider_metadata,
            } => parts.push(Part::Reasoning {
                text: delta,
                provider_metadata,
            }),
            AgentEvent::Call {
                provider_id,
                tool,
                input,
                provider_metadata,
            } => {
                let call = Call {
                    id: CallId::from(format!("call-{}", calls + made.len())),
                    provider_id,
                    tool,
                    input,
                    place: Place::Server,
                    parent: None,
                    provider_metadata,
                };
                made.push(call.clone());
                parts.push(Part::Call {
                    call,
                    held: false,
                    open: false,
                });
            }
            AgentEvent::Failed { code, message, .. } => panic!("{code}: {message}"),
            _ => {}
        }
    }
    (parts, made)
}

fn approved(call: &Call) -> (Outcome, Option<Value>) {
    let input = &call.input;
    let output = match call.tool.as_str() {
        "process_payment" => json!({
            "success": true, "transaction_id": "txn_1", "amount": input["amount"],
            "currency": input["currency"], "recipient": input["recipient"], "wallet_balance": 950.0,
        }),
        "get_weather" => json!({"temperature": 18, "condition": "Cloudy", "humidity": 65}),
        "get_location" => json!({"latitude": 35.6762, "longitude": 139.6503, "accuracy": 20}),
        "change_bgm" => json!({"success": true, "track": input["track"], "message": "BGM changed"}),
        "book_flight" => json!({
            "success": true, "seat": "seat_7", "destination": input["destination"],
            "payment": {"success": true, "amount": 120, "currency": "USD", "wallet_balance": 880.0},
        }),
        "set_mood" => {
            json!({"location": input["location"], "music": {"success": true, "track": 2}})
        }
        "write_report" => {
            let output = json!({"status": "pending", "topic": input["topic"]});
            return (Outcome::Pending { output }, None);
        }
        _ => json!(null),
    };
    (Outcome::Output { output }, None)
}

fn denied(_: &Call) -> (Outcome, Option<Value>) {
    let reason = Some("too much".to_owned());
    (Outcome::Denied { reason }, None)
}

fn denied_without_a_word(_: &Call) -> (Outcome, Option<Value>) {
    (Outcome::Denied { reason: None }, None)
}

fn timed_out(_: &Call) -> (Outcome, Option<Value>) {
    let error = TIMED_OUT.to_owned();
    (Outcome::Error { error }, None)
}

fn broken(_: &Call) -> (Outcome, Option<Value>) {
    let error = "no signal".to_owned();
    (Outcome::Error { error }, None)
}

fn invalid(_: &Call) -> (Outcome, Option<Value>) {
    let error = "amount: expected a number".to_owned();
    (Outcome::Invalid { error }, None)
}

fn unknown(_: &Call) -> (Outcome, Option<Value>) {
    (
        Outcome::Unknown {
            reason: UnknownReason::ServerStopped,
        },
        None,
    )
}

fn refused_by_the_tool(_: &Call) -> (Outcome, Option<Value>) {
    let output = json!({"success": false, "error": "Insufficient funds", "wallet_balance": 5});
    (Outcome::Output { output }, None)
}

fn edited(call: &Call) -> (Outcome, Option<Value>) {
    let mut input = call.input.clone();
    if let Some(amount) = input.get_mut("amount") {
        *amount = json!(1);
    }
    (approved(call).0, Some(input))
}

const PROMPTS: [&str; 15] = [
    "Hello",
    "こんにちは",
    "What is the weather in Tokyo?",
    "東京の天気を教えて",
    "Send $20 to Sam",
    "次郎さんに200ドル送金して",
    "Where am I?",
    "現在地を教えて",
    "Play track 1",
    "Send $20 to Sam and $30 to Ann",
    "First tell me the weather in Paris, then send $5 to Ann",
    "Book a flight to Oslo",
    "Set the mood for Tokyo",
    "Write a report about tea",
    "call with bad input",
];

#[tokio::test]
async fn the_demo_says_the_same_through_our_client() {
    let emulator = emulator("[]").await;
    let settlements: [(&str, Settle); 9] = [
        ("approved", approved),
        ("denied", denied),
        ("denied without a word", denied_without_a_word),
        ("timed out", timed_out),
        ("broken", broken),
        ("invalid", invalid),
        ("unknown", unknown),
        ("refused by the tool", refused_by_the_tool),
        ("edited", edited),
    ];
    let client = client(&emulator, "gemini-3-pro-preview");
    for prompt in PROMPTS {
        for (name, settle) in settlements {
            let direct = story(&Demo::new(), prompt, settle).await;
            let through = story(&client, prompt, settle).await;
            assert_eq!(through, direct, "{prompt}, {name}");
        }
    }
}

#[tokio::test]
async fn the_demo_says_the_same_without_ids() {
    let emulator = Emulator::builder().call_ids(false).start().await.unwrap();
    let client = client(&emulator, "gemini-2.5-flash");
    for prompt in PROMPTS {
        let direct = story(&Demo::new(), prompt, approved).await;
        assert_eq!(story(&client, prompt, approved).await, direct, "{prompt}");
    }
}

/// The same over Live, whose responses are written as our client writes them to generateContent.
async fn live_story(emulator: &Emulator, prompt: &str, settle: Settle) -> Story {
    let tools =
        json!({"tools": [{"functionDeclarations": TOOLS.map(|name| json!({"name": name}))}]});
    let mut socket = Socket::with(emulator, setup(tools)).await;
    socket.say(prompt).await;
    let mut calls = Vec::new();
    let mut said = String::new();
    loop {
        let frame = socket.next().await;
        said.push_str(&text_of(std::slice::from_ref(&frame)));
        if frame.pointer("/serverContent/turnComplete").is_some() {
            return (calls, said);
        }
        let made = frame
            .pointer("/toolCall/functionCalls")
            .and_then(Value::as_array);
        for call in made.into_iter().flatten() {
            let tool = call["name"].as_str().unwrap().to_owned();
            let input = call["args"].clone();
            let outcome = settle(&Call {
                id: CallId::from("call"),
                provider_id: None,
                tool: tool.clone(),
                input: input.clone(),
                place: Place::Server,
                parent: None,
                provider_metadata: None,
            });
            calls.push((tool, input));
            let response = match outcome.0 {
                Outcome::Output { output } | Outcome::Pending { output } => {
                    json!({ "output": output })
                }
                Outcome::Denied { reason } => json!({"error": denial(reason.as_deref())}),
                Outcome::Error { error } => json!({ "error": error }),
                other => panic!("{other:?}"),
            };
            let response = json!({"id": call["id"], "name": call["name"], "response": response});
            let responses = json!({"functionResponses": [response]});
            socket.send(json!({ "toolResponse": responses })).await;
        }
    }
}

#[tokio::test]
async fn the_demo_says_the_same_in_a_live_session() {
    let emulator = emulator("[]").await;
    let settlements: [(&str, Settle); 4] = [
        ("approved", approved),
        ("denied", denied),
        ("timed out", timed_out),
        ("broken", broken),
    ];
    // A report is pending, and in a live session its result comes by another way.
    for prompt in PROMPTS.iter().filter(|prompt| !prompt.contains("report")) {
        for (name, settle) in settlements {
            let direct = story(&Demo::live(), prompt, settle).await;
            let through = live_story(&emulator, prompt, settle).await;
            assert_eq!(through, direct, "{prompt}, {name}");
        }
    }
}

#[tokio::test]
async fn what_the_demo_thinks_comes_through() {
    let emulator = emulator("[]").await;
    let client = client(&emulator, "gemini-3-pro-preview");
    let message = Message::new("m", vec![message::Part::text("Where am I?")]);
    let history = [HistoryItem::Message(message)];
    let thoughts = |parts: Vec<Part>| -> String {
        let thoughts = parts.iter().filter_map(|part| match part {
            Part::Reasoning { text, .. } => Some(text.as_str()),
            _ => None,
        });
        thoughts.collect()
    };
    let direct = thoughts(step(&Demo::new(), &history, 0).await.0);
    assert!(!direct.is_empty());
    assert_eq!(thoughts(step(&client, &history, 0).await.0), direct);
}
