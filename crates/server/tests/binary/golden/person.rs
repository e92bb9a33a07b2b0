//! A person with one chat, and what she does in it. What she does is data, so that it can be kept
//! beside the journal that it is done to.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::request::{self, Answer};
use crate::socket;

/// How long anything is waited for. A machine may be busy.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// By which tools at the agent are known.
pub(super) const AGENT_KEY: &str = "known-to-the-agent-alone";

/// The owner of a chat. She is called as it is, so that each has a wallet of her own.
pub(super) struct Person {
    pub(super) address: SocketAddr,
    pub(super) chat: String,
}

/// The key of a chat's owner.
pub(super) fn key(chat: &str) -> String {
    format!("key-of-whoever-owns-{chat}")
}

/// Asks until there is an answer.
pub(super) fn until<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + TIME_LIMIT;
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(Instant::now() < deadline, "it never happens: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Person {
    fn request(&self, method: &str, path: &str, body: &str) -> Answer {
        let key = key(&self.chat);
        let headers = [("content-type", "application/json"), ("x-api-key", &*key)];
        request::send(self.address, method, path, &headers, body)
    }

    /// What a route says.
    pub(super) fn get(&self, path: &str) -> Value {
        let answer = self.request("GET", path, "");
        let (chat, text) = (&self.chat, String::from_utf8_lossy(&answer.body));
        assert_eq!(answer.status, 200, "{chat}: GET {path}: {text}");
        answer.json()
    }

    /// Posts, and expects that it is taken.
    fn post(&self, path: &str, body: &Value) -> Answer {
        let answer = self.request("POST", path, &body.to_string());
        let (chat, text) = (&self.chat, String::from_utf8_lossy(&answer.body));
        assert_eq!(answer.status, 200, "{chat}: POST {path} {body}: {text}");
        answer
    }

    /// The chat as a page shows it.
    pub(super) fn view(&self) -> Value {
        self.get(&format!("/api/chat/{}", self.chat))
    }

    /// The entries of its journal.
    pub(super) fn journal(&self) -> Vec<Value> {
        let journal = self.get(&format!("/api/chat/{}/journal", self.chat));
        assert!(journal.get("next").is_none(), "{}: too long", self.chat);
        journal["entries"].as_array().unwrap().clone()
    }

    /// What she is asked.
    pub(super) fn approvals(&self) -> Vec<Value> {
        let list = self.get("/api/approvals");
        list["approvals"].as_array().unwrap().clone()
    }

    /// What she has paid: amounts, in order.
    pub(super) fn paid(&self) -> Option<Vec<Value>> {
        let answer = self.request("GET", "/api/wallet", "");
        // There is no wallet where the agent is not the demo.
        (answer.status == 200).then(|| {
            let wallet = answer.json();
            let payments = wallet["payments"].as_array().unwrap();
            payments.iter().map(|it| it["amount"].clone()).collect()
        })
    }

    /// Waits until nothing happens unless she does something.
    pub(super) fn rests(&self) -> Value {
        until(&format!("{} rests", self.chat), || {
            let view = self.view();
            (view["status"] != "running").then_some(view)
        })
    }

    /// Does one thing.
    pub(super) fn act(&self, act: &Value) {
        let text = |key: &str| act[key].as_str().unwrap();
        match text("do") {
            "say" => {
                self.send(json!({"messages": [act["message"]], "tools": act["tools"]}));
            }
            "edit" => {
                let id = &act["message"]["id"];
                self.send(json!({"messages": [act["message"]], "messageId": id}));
            }
            "regenerate" => {
                let trigger = "regenerate-message";
                self.send(json!({"messages": [act["message"]], "trigger": trigger}));
            }
            "begin" => self.begin(&act["message"], text("until"), &Value::Null),
            // Its response begins once the journal has it.
            "queue" => self.begin(&act["message"], "HTTP/1.1 200", &act["whileRunning"]),
            "select the first branch" => {
                let path = format!("/api/chat/{}/branches", self.chat);
                let branches = self.get(&path)["branches"].clone();
                let first = branches[0]["messages"].as_array().unwrap().last().unwrap();
                self.post(&path, &json!({"messageId": first["id"]}));
            }
            "speak the seeds' dialect" => self.legacy(&act["messages"]),
            "speak aloud" => self.speak(),
            "approve" | "deny" => {
                let asked = self.asked(text("question"));
                let mut answer = act.clone();
                let answer = answer.as_object_mut().unwrap();
                answer.remove("question");
                let is_yes = answer.remove("do").unwrap() == "approve";
                answer.insert("approved".to_owned(), is_yes.into());
                answer.insert("digest".to_owned(), asked["digest"].clone());
                let id = asked["approvalId"].as_str().unwrap();
                self.post(&format!("/api/approvals/{id}"), &json!(answer));
            }
            "approve on the page" => self.respond(text("question")),
            "give" => {
                let id = self.page_call(text("tool"));
                let taken = self.post(&format!("/api/calls/{id}"), &act["body"]);
                assert_eq!(taken.json()["taken"], true, "{}: {act}", self.chat);
            }
            "give on the page" => self.give_on_page(text("tool"), &act["output"]),
            "stop" => {
                let stopped = self.post(&format!("/api/chat/{}/stop", self.chat), &json!({}));
                assert_eq!(stopped.json()["stopped"], true, "{}", self.chat);
            }
            "have the agent's tool ask" => self.ask_as_agent(&act["body"]),
            "wait for the journal" => {
                let what = format!("{}: {act}", self.chat);
                until(&what, || {
                    let journal = json!(self.journal()).to_string();
                    journal.contains(text("contains")).then_some(())
                });
            }
            "rest" => {
                self.rests();
            }
            other => panic!("nobody knows how to {other}"),
        }
    }

    /// Sends a body as `useChat` does, and reads its window to the end.
    fn send(&self, mut body: Value) -> String {
        body["id"] = self.chat.as_str().into();
        if body.get("trigger").is_none() {
            body["trigger"] = "submit-message".into();
        }
        self.post("/api/chat", &body).text().to_owned()
    }

    /// Sends a message, and leaves when some words have come.
    fn begin(&self, message: &Value, words: &str, while_running: &Value) {
        let body = json!({"id": self.chat, "trigger": "submit-message", "messages": [message],
            "whileRunning": while_running});
        let key = key(&self.chat);
        let headers = [("content-type", "application/json"), ("x-api-key", &*key)];
        let text = request::text("POST", "/api/chat", &headers, &body.to_string());
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(TIME_LIMIT)).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let (mut come, mut buffer) = (Vec::new(), [0; 1024]);
        while !String::from_utf8_lossy(&come).contains(words) {
            let length = stream.read(&mut buffer).unwrap();
            let received = String::from_utf8_lossy(&come);
            assert!(length > 0, "{}: {words} never came: {received}", self.chat);
            come.extend_from_slice(&buffer[..length]);
        }
    }

    /// Sends frames of the legacy bridge's dialect, one after the other when something is asked, until there are
    /// no more and something is asked or the turn is over. Where a frame answers, CALL is replaced by
    /// the call that was asked about.
    fn legacy(&self, frames: &Value) {
        let key = key(&self.chat);
        let mut client = socket::connect(self.address, "/live", &[("x-api-key", &key)]).unwrap();
        let asked = self.approvals();
        let call = asked.first().and_then(|asked| asked["toolCallId"].as_str());
        let mut call = call.unwrap_or_default().to_owned();
        for messages in frames.as_array().unwrap() {
            let messages = messages.to_string().replace("CALL", &call);
            let messages: Value = serde_json::from_str(&messages).unwrap();
            client.send(&json!({"type": "message", "id": self.chat, "messages": messages}));
            loop {
                let text = client.next().unwrap();
                let data = text.strip_prefix("data: ").unwrap_or_default().trim();
                let chunk: Value = serde_json::from_str(data).unwrap_or_default();
                assert_ne!(chunk["type"], "error", "{}: {text}", self.chat);
                if chunk["type"] == "tool-approval-request" {
                    chunk["toolCallId"].as_str().unwrap().clone_into(&mut call);
                    break;
                }
                if data == "[DONE]" {
                    break;
                }
            }
        }
    }

    /// Speaks into the microphone, and listens to the end.
    fn speak(&self) {
        let (key, id) = (key(&self.chat), &self.chat);
        let mut client = socket::connect(self.address, "/live", &[("x-api-key", &key)]).unwrap();
        let parts = json!([{"type": "data-speech", "data": {}}]);
        let message = json!({"id": "u1", "role": "user", "parts": parts});
        let microphone =
            |action: &str| json!({"type": "audio_control", "action": action, "id": id});
        // A tenth of a second that is not quiet.
        let sound = STANDARD.encode([0, 16].repeat(1600));
        client.send(
            &json!({"type": "send", "requestId": "r1", "id": id, "trigger": "submit-message",
                            "messages": [message], "headers": {}, "body": {}}),
        );
        client.send(&microphone("start"));
        client.send(&json!({"type": "audio_chunk", "id": id, "chunk": sound, "sampleRate": 16000}));
        client.send(&microphone("stop"));
        client.frames_until("end");
    }

    /// The open approval with this question; `…` matches any rest.
    fn asked(&self, question: &str) -> Value {
        let is_it = |approval: &Value| match question.strip_suffix('…') {
            Some(start) => approval["question"].as_str().unwrap().starts_with(start),
            None => approval["question"] == question,
        };
        until(&format!("{} is asked: {question}", self.chat), || {
            self.approvals().into_iter().find(is_it)
        })
    }

    /// Answers by the message that a page sends.
    fn respond(&self, question: &str) {
        let asked = self.asked(question);
        let view = self.rests();
        let message = view["messages"].as_array().unwrap().last().unwrap();
        let mut message = message.clone();
        let parts = message["parts"].as_array_mut().unwrap();
        let is_asked = |part: &&mut Value| part["approval"]["id"] == asked["approvalId"];
        let part = parts.iter_mut().rfind(is_asked).unwrap();
        part["state"] = "approval-responded".into();
        part["approval"]["approved"] = true.into();
        self.send(json!({"messageId": message["id"], "messages": [message]}));
    }

    /// Gives an output by the message that a page sends.
    fn give_on_page(&self, tool: &str, output: &Value) {
        let id = self.page_call(tool);
        let view = self.view();
        let mut message = view["messages"].as_array().unwrap().last().unwrap().clone();
        let parts = message["parts"].as_array_mut().unwrap();
        let part = parts.iter_mut().find(|part| part["toolCallId"] == id);
        let part = part.unwrap();
        part["state"] = "output-available".into();
        part["output"] = output.clone();
        self.send(json!({"messageId": message["id"], "messages": [message]}));
    }

    /// What a page gets that is loaded again: the whole message, if its turn is not over.
    pub(super) fn resumed(&self) -> Option<String> {
        let path = format!("/api/chat/{}/stream", self.chat);
        let answer = self.request("GET", &path, "");
        (answer.status == 200).then(|| answer.text().to_owned())
    }

    /// The last call of a tool that waits for a page.
    fn page_call(&self, tool: &str) -> String {
        until(&format!("{}: a page is to run {tool}", self.chat), || {
            let view = self.view();
            let parts = view["messages"].as_array()?.last()?["parts"].clone();
            let is_open = |part: &&Value| {
                let is_tool = part["type"] == format!("tool-{tool}") || part["toolName"] == tool;
                let states = ["input-available", "approval-responded"];
                is_tool && states.iter().any(|state| part["state"] == *state)
            };
            let part = parts.as_array()?.iter().rfind(is_open)?;
            let is_parked = view["status"] == "parked";
            is_parked.then(|| part["toolCallId"].as_str().unwrap().to_owned())
        })
    }

    /// Asks as a tool at the agent does, and does not wait for an answer.
    fn ask_as_agent(&self, body: &Value) {
        let mut body = body.clone();
        body["chat"] = self.chat.as_str().into();
        let key = format!("Bearer {AGENT_KEY}");
        let headers = [
            ("content-type", "application/json"),
            ("authorization", &*key),
        ];
        let text = request::text("POST", "/api/agent/asks", &headers, &body.to_string());
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        // The client stays connected until the server is gone.
        std::thread::spawn(move || stream.read_to_end(&mut Vec::new()));
    }
}
