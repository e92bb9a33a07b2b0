//! What the agent of the fake does.

use serde_json::{Value, json};

use super::{Frame, Habits};

fn text(text: &str) -> Vec<Frame> {
    let part = |text: &str| json!({"role": "model", "parts": [{"text": text}]});
    let (first, rest) = text.split_at(text.len() / 2);
    vec![
        Frame::Event(json!({"id": text, "content": part(first), "partial": true})),
        Frame::Event(json!({"id": text, "content": part(rest), "partial": true})),
        Frame::Event(json!({"id": text, "content": part(text), "partial": false})),
    ]
}

fn call(id: &str, name: &str) -> Frame {
    call_with(id, name, &json!({"amount": 5}))
}

fn call_with(id: &str, name: &str, args: &Value) -> Frame {
    let call = json!({"functionCall": {"id": id, "name": name, "args": args}});
    Frame::Event(json!({"content": {"role": "model", "parts": [call]}}))
}

fn response(id: &str, name: &str, response: Value) -> Frame {
    let response = json!({"functionResponse": {"id": id, "name": name, "response": response}});
    Frame::Event(json!({"content": {"role": "user", "parts": [response]}}))
}

/// An event of another agent's.
fn by_helper(frame: Frame) -> Frame {
    match frame {
        Frame::Event(mut event) => {
            event["author"] = json!("helper");
            Frame::Event(event)
        }
        other => other,
    }
}

fn asking(input: &Value) -> Vec<Frame> {
    let original = json!({"id": "p1", "name": "pay", "args": input});
    let args = json!({"originalFunctionCall": original, "toolConfirmation": {"hint": "Pay 5?"}});
    let ask = json!({"id": "conf", "name": "adk_request_confirmation", "args": args});
    let content = json!({"role": "model", "parts": [{"functionCall": ask}]});
    let placeholder = json!({"id": "p1", "name": "pay", "response": {"error": "confirm"}});
    let placeholder = json!({
        "content": {"role": "user", "parts": [{"functionResponse": placeholder}]},
        "actions": {"requestedToolConfirmations": {"p1": {"hint": "Pay 5?"}}},
    });
    vec![
        call_with("p1", "pay", input),
        Frame::Event(json!({"content": content, "longRunningToolIds": ["conf"]})),
        Frame::Event(placeholder),
    ]
}

/// Calls whose results come from outside, beside others or not.
fn waiting(ids: &[&str], others: &[&str]) -> Frame {
    let call = |id: &&str| json!({"functionCall": {"id": id, "name": id, "args": {}}});
    let calls: Vec<_> = ids.iter().chain(others).map(call).collect();
    Frame::Event(json!({
        "content": {"role": "model", "parts": calls},
        "longRunningToolIds": ids,
    }))
}

fn asking_about(id: &str, question: &str) -> [Frame; 2] {
    let original = json!({"id": id, "name": id, "args": {}});
    let args = json!({"originalFunctionCall": original, "toolConfirmation": {"hint": question}});
    let conf = format!("conf-{id}");
    let ask = json!({"id": conf, "name": "adk_request_confirmation", "args": args});
    let placeholder = json!({"id": id, "name": id, "response": {"error": "confirm"}});
    [
        Frame::Event(json!({
            "content": {"role": "model", "parts": [{"functionCall": ask}]},
            "longRunningToolIds": [conf],
        })),
        Frame::Event(json!({
            "content": {"role": "user", "parts": [{"functionResponse": placeholder}]},
            "actions": {"requestedToolConfirmations": {id: {"hint": question}}},
        })),
    ]
}

/// What the agent does, by the message.
pub(super) fn script(said: &str, parts: &Value, habits: Habits) -> Vec<Frame> {
    let answers: Vec<&Value> = parts.as_array().unwrap().iter().collect();
    let response_of = |id: &str| {
        let mut answers = answers.iter().map(|part| &part["functionResponse"]);
        answers.find(|response| response["id"] == id)
    };
    let closed = answers
        .iter()
        .any(|part| part["functionResponse"]["response"]["closed"] == true);
    if habits.wants_answers_alone && closed && answers.len() > 1 {
        let said = "Last response event should only contain the responses for the function calls";
        return vec![Frame::Event(
            json!({"errorCode": "400", "errorMessage": said}),
        )];
    }
    if habits.waits_for_closing
        && !closed
        && (response_of("p1").is_some() || response_of("where").is_some())
    {
        return Vec::new();
    }
    let paid = || response("p1", "pay", json!({"paid": 5}));
    if let Some(answer) = response_of("conf") {
        return match answer["response"]["confirmed"] == true {
            true => [vec![Frame::Hold, Frame::Pay, paid()], text("Paid.")]
                .into_iter()
                .flatten()
                .collect(),
            false => text("Not paid."),
        };
    }
    if response_of("p1").is_some() || response_of("w1").is_some() {
        return text("I see.");
    }
    let confirmed: Vec<&str> = answers
        .iter()
        .map(|part| &part["functionResponse"])
        .filter(|response| response["response"]["confirmed"] == true)
        .filter_map(|response| response["id"].as_str()?.strip_prefix("conf-"))
        .collect();
    if !confirmed.is_empty() {
        let done = |id: &&str| response(id, id, json!({"done": id}));
        let mut frames: Vec<Frame> = confirmed.iter().map(done).collect();
        frames.extend(text("All done."));
        return frames;
    }
    if let Some(first) = answers
        .first()
        .map(|part| &part["functionResponse"]["response"])
        && !first.is_null()
    {
        let mut frames = text(&format!("It says {first}."));
        frames.extend(habits.lingers.then_some(Frame::Hold));
        return frames;
    }
    match said {
        "pay" => asking(&json!({"amount": 5})),
        "pay in secret" => {
            let hidden = r#"{"amount": 5, "__proto__": {"recipient": "Mallory"}}"#;
            asking(&serde_json::from_str(hidden).unwrap())
        }
        "music" => vec![waiting(&["music"], &[])],
        "report" => {
            let pending = response("report", "report", json!({"status": "pending"}));
            let mut frames = vec![waiting(&["report"], &[]), pending];
            frames.extend(text("I will tell you."));
            frames
        }
        "where" => {
            let mut frames = vec![waiting(&["where"], &[])];
            frames.extend(asking_about("where", "Tell where you are?"));
            frames
        }
        "two questions" => {
            let mut frames = vec![waiting(&[], &["left", "right"])];
            frames.extend(asking_about("left", "Go left?"));
            frames.extend(asking_about("right", "Go right?"));
            frames
        }
        "music beside a question" => {
            let mut frames = vec![waiting(&["music"], &["beside"])];
            frames.extend(asking_about("beside", "Go on?"));
            frames
        }
        "everything" => {
            let thought = json!({"role": "model", "parts": [{"text": "Hm.", "thought": true}]});
            let actions = json!({"stateDelta": {"mood": "calm"}, "artifactDelta": {"tea.txt": 1}});
            let transfer = json!({"transferToAgent": "helper"});
            let usage = json!({"promptTokenCount": 3, "candidatesTokenCount": 4});
            let counted = json!({"usageMetadata": usage, "modelVersion": "m-1"});
            let mut frames = vec![
                Frame::Event(json!({"content": thought, "partial": false})),
                Frame::Event(json!({"actions": actions})),
                Frame::Event(json!({"actions": transfer})),
            ];
            frames.extend(text("That was everything."));
            frames.push(Frame::Event(counted));
            frames
        }
        "both" => vec![
            waiting(&["music"], &["weather"]),
            Frame::Hold,
            response("weather", "weather", json!({"sky": "blue"})),
        ],
        "weather" => {
            let sunny = response("w1", "weather", json!({"sky": "blue"}));
            let mut frames = vec![call("w1", "weather"), Frame::Hold, sunny];
            frames.extend(text("It is sunny."));
            frames
        }
        "linger" => {
            let mut frames = text("That is all.");
            let end = json!({"actions": {"endOfAgent": true}});
            frames.extend([Frame::Event(end), Frame::Hold]);
            frames
        }
        "nothing" => vec![Frame::Event(json!({"finishReason": "STOP"}))],
        "garbage" => vec![Frame::Raw("data: {\"content\": \n\n")],
        "odd" => vec![Frame::Raw("data: {\"content\": 7}\n\n")],
        "break" => {
            let mut frames = text("I was about to");
            frames.truncate(1);
            frames.push(Frame::Break);
            frames
        }
        "pay, and break" => {
            let mut frames = asking(&json!({"amount": 5}));
            frames.extend([Frame::Hold, Frame::Break]);
            frames
        }
        "break the tool" => vec![call("w1", "weather"), Frame::Hold, Frame::Break],
        "let the helper pay" => {
            let transfer = json!({"transferToAgent": "helper"});
            let mut frames = vec![Frame::Event(json!({"author": "root", "actions": transfer}))];
            frames.extend(asking(&json!({"amount": 5})).into_iter().map(by_helper));
            frames
        }
        "raise" => vec![
            call("w1", "weather"),
            Frame::Event(json!({"errorCode": "RuntimeError", "errorMessage": "it broke"})),
            Frame::Raw("data: {\"error\": \"RuntimeError: it broke\"}\n\n"),
        ],
        "busy" => vec![Frame::Raw(
            "data: {\"error\": \"_ResourceExhaustedError: 429 RESOURCE_EXHAUSTED.\"}\n\n",
        )],
        _ => text("Hello."),
    }
}
