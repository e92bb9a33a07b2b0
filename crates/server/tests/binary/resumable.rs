//! Requests that are resumed by position, with a plain WebSocket client. The npm package drives the same
//! server in the TypeScript tests.

use serde_json::{Value, json};

use crate::process::adk_stream;
use crate::replicas::Cluster;
use crate::socket::Client;

const SEED: u32 = 0x811c_9dc5;

/// A client's place in a message, counted by the frames that it got.
#[derive(Debug, Clone)]
struct Place {
    message_id: Value,
    last: u64,
    step: u64,
    hash: u32,
    text: String,
}

impl Place {
    fn new() -> Self {
        Self {
            message_id: Value::Null,
            last: 0,
            step: 0,
            hash: SEED,
            text: String::new(),
        }
    }

    fn take(&mut self, frame: &Value) {
        let chunk = &frame["chunk"];
        let sequence = frame["sequence"].as_u64().unwrap();
        let delta = chunk["delta"].as_str().unwrap_or_default();
        let kind = chunk["type"].as_str().unwrap();
        let foreseen = match kind {
            "start" | "reset-step" => 0,
            "text-delta" | "reasoning-delta" => delta.len() as u64,
            _ if chunk["transient"] == true || chunk["preliminary"] == true => 0,
            _ => 1,
        };
        assert_eq!(
            frame["gap"] != true,
            sequence == self.last + foreseen,
            "{frame}"
        );
        self.last = sequence;
        match kind {
            "start" => {
                self.message_id = chunk["messageId"].clone();
                (self.step, self.hash) = (sequence, SEED);
            }
            "start-step" => (self.step, self.hash) = (sequence, SEED),
            "reset-step" => {
                (self.step, self.hash) = (sequence, SEED);
                self.text.clear();
            }
            "text-start" => self.add("text-start"),
            "reasoning-start" => self.add("reasoning-start"),
            "tool-input-start" => {
                let id = chunk["toolCallId"].as_str().unwrap();
                self.add(id);
            }
            "text-delta" => {
                self.add(delta);
                self.text.push_str(delta);
            }
            "reasoning-delta" => self.add(delta),
            _ => {}
        }
    }

    fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            self.hash = (self.hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }

    fn resume(&self, request: &str, profile: &str) -> Value {
        json!({
            "type": "resume", "requestId": request, "resumable": true, "id": "c1",
            "messageId": self.message_id, "lastSequence": self.last, "stepSequence": self.step,
            "stepHash": self.hash, "headers": {}, "body": {"profile": profile},
        })
    }
}

fn send(request: &str, trigger: &str, text: &str) -> Value {
    let message = json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]});
    json!({
        "type": "send", "requestId": request, "resumable": true, "id": "c1", "trigger": trigger,
        "messages": [message], "headers": {}, "body": {},
    })
}

/// Reads until there is more text.
fn read_some(client: &mut Client, place: &mut Place) {
    let enough = place.text.len() + 20;
    while place.text.len() < enough {
        let frame = client.frame();
        if frame["type"] == "chunk" {
            place.take(&frame);
        }
    }
}

/// Reads to the end, and gives the types of the chunks.
fn read_rest(client: &mut Client, place: &mut Place) -> Vec<String> {
    let frames = client.frames_until("end");
    let chunks = frames.iter().filter(|frame| frame["type"] == "chunk");
    let types = chunks.map(|frame| {
        place.take(frame);
        frame["chunk"]["type"].as_str().unwrap().to_owned()
    });
    types.collect()
}

#[test]
fn lost_window_goes_on_where_it_was_while_the_turn_runs_and_after_it() {
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0", "--pace", "2"]).running();
    let mut place = Place::new();
    let mut client = server.connect("/live");
    client.send(&send("r1", "submit-message", "take your time"));
    read_some(&mut client, &mut place);
    drop(client);
    let lost = place.clone();

    let mut client = server.connect("/live");
    client.send(&place.resume("r2", "shared"));
    read_some(&mut client, &mut place);
    assert_eq!(server.post("/api/chat/c1/stop", &[], "{}").status, 200);
    let types = read_rest(&mut client, &mut place);
    assert!(!types.contains(&"start".to_owned()), "{types:?}");
    assert_eq!(types.last().unwrap(), "finish");
    let served = server.get("/api/chat/c1").json();
    let text = &served["messages"][1]["parts"][1]["text"];
    assert_eq!(*text, place.text);

    // The turn is over, and its words are drawn together.
    let mut late = lost.clone();
    client.send(&lost.resume("r3", "shared"));
    let types = read_rest(&mut client, &mut late);
    assert_eq!(types[0], "text-delta");
    assert_eq!(*text, late.text);
    assert_eq!(late.last, place.last);
}

#[test]
fn step_that_is_not_the_clients_is_reset_or_refused() {
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0"]).running();
    let mut place = Place::new();
    let mut client = server.connect("/live");
    client.send(&send("r1", "submit-message", "hello"));
    read_some(&mut client, &mut place);
    client.frames_until("end");
    // As if the server that said this had died, and another had said something else.
    place.hash ^= 1;
    let mut again = place.clone();
    client.send(&place.resume("r2", "v7"));
    let types = read_rest(&mut client, &mut again);
    assert_eq!(types[..2], ["reset-step", "text-start"]);
    let served = server.get("/api/chat/c1").json();
    assert_eq!(served["messages"][1]["parts"][1]["text"], again.text);

    client.send(&place.resume("r3", "shared"));
    let frames = client.frames_until("end");
    let chunks: Vec<_> = frames.iter().map(|frame| &frame["chunk"]).collect();
    assert_eq!(chunks[1]["data"]["code"], "answer_changed");
    assert_eq!(chunks[2]["type"], "error");
    assert_eq!(chunks.len(), 4);

    place.message_id = json!("msg_unknown");
    client.send(&place.resume("r4", "shared"));
    assert_eq!(client.frame()["type"], "no-active");
}

#[test]
fn window_goes_on_at_another_server_also_where_the_first_one_died() {
    let cluster = Cluster::new();
    let [a, b] = [(); 2].map(|()| cluster.with_pace("2"));
    let mut place = Place::new();
    let mut client = a.connect("/live");
    client.send(&send("r1", "submit-message", "take your time"));
    read_some(&mut client, &mut place);
    drop(client);
    // The owner reads it, and sends it to the server that is asked.
    let mut client = b.connect("/live");
    client.send(&place.resume("r2", "shared"));
    read_some(&mut client, &mut place);
    a.signal("KILL");
    let frames = client.frames_until("end");
    let end = frames.len() - 3;
    for frame in &frames[..end] {
        place.take(frame);
    }
    assert_eq!(frames[end]["chunk"]["data"]["code"], "handed_over");
    // The step is run again, and says the same.
    client.send(&place.resume("r3", "shared"));
    read_some(&mut client, &mut place);
    assert_eq!(b.post("/api/chat/c1/stop", &[], "{}").status, 200);
    read_rest(&mut client, &mut place);
    let served = b.get("/api/chat/c1").json();
    assert_eq!(served["messages"][1]["parts"][1]["text"], place.text);
}

#[test]
fn request_that_comes_again_opens_nothing_twice() {
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0"]).running();
    let mut client = server.connect("/live");
    client.send(&send("r1", "submit-message", "hello"));
    client.frames_until("end");
    let starts = |frames: &[Value]| {
        let mut starts = frames
            .iter()
            .filter(|frame| frame["chunk"]["type"] == "start");
        starts.next().unwrap()["chunk"]["messageId"].clone()
    };
    let mut given = Vec::new();
    for _ in 0..3 {
        // On sockets of their own, as after a cut.
        let mut client = server.connect("/live");
        client.send(&send("r2", "regenerate-message", "hello"));
        given.push(starts(&client.frames_until("end")));
    }
    assert_eq!(given, [&given[..1], &given[..1], &given[..1]].concat());
    let branches = || server.get("/api/chat/c1/branches").json()["branches"].clone();
    assert_eq!(branches().as_array().unwrap().len(), 1);
    // Another request is another try, and the official client's ids are no keys.
    client.send(&send("r3", "regenerate-message", "hello"));
    client.frames_until("end");
    for _ in 0..2 {
        let mut stock = send("r4", "regenerate-message", "hello");
        stock["resumable"] = json!(false);
        client.send(&stock);
        client.frames_until("end");
    }
    assert_eq!(branches().as_array().unwrap().len(), 4);
}

#[test]
fn stop_reaches_a_turn_whose_window_was_on_another_socket() {
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0", "--pace", "5"]).running();
    let mut client = server.connect("/live");
    client.send(&send("r1", "submit-message", "take your time"));
    read_some(&mut client, &mut Place::new());
    drop(client);
    let mut client = server.connect("/live");
    client.send(&json!({"type": "abort", "requestId": "r1", "stop": true, "id": "c1"}));
    client.send(&json!({"type": "ping", "timestamp": 7}));
    assert_eq!(client.frame(), json!({"type": "pong", "timestamp": 7}));
    assert_eq!(server.get("/api/chat/c1").json()["status"], "stopped");
}
