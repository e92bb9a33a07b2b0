//! Makes the golden files of a version, by its own server and over HTTP: `make golden VERSION=0.2`.
//!
//! An agent's chats are written by servers one after the other, since some settings hold for a whole
//! server. Each is killed; with the last one, turns are killed that run.

mod adk;
mod demo;
mod gemini;
mod live;
mod tools;

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::folder;
use super::person::Person;
use super::setup::{Agent, Kind, Setup, Store};

/// What is to be written for an agent.
struct Plan {
    agent: Agent,
    /// What the emulator follows.
    script: &'static str,
    servers: Vec<Phase>,
    /// How many runs an ADK server has aborted by the end.
    aborted: usize,
}

/// What one server writes.
struct Phase {
    arguments: &'static [&'static str],
    /// Whether it is one of several, which claim what others have left.
    is_replica: bool,
    /// Whether payments do not come to their end.
    holds_payments: bool,
    chats: Vec<Draft>,
}

/// A chat that is to be written.
struct Draft {
    name: &'static str,
    /// What it holds.
    note: &'static str,
    /// What its owner does before the server is killed.
    acts: Vec<Value>,
    /// What she does when it is opened again.
    then: Vec<Value>,
    end: Value,
    /// Whether it runs when its server is killed.
    is_running: bool,
    /// Whether the next server takes it up, and what that makes of it is written too.
    is_recovered: bool,
    /// Whether a server that opens it continues it by itself.
    is_taken_up: bool,
}

fn chat(name: &'static str, note: &'static str) -> Draft {
    Draft {
        name,
        note,
        acts: Vec::new(),
        then: Vec::new(),
        end: Value::Null,
        is_running: false,
        is_recovered: false,
        is_taken_up: false,
    }
}

impl Draft {
    fn acts(mut self, acts: impl Into<Vec<Value>>) -> Self {
        self.acts = acts.into();
        self
    }

    fn then(mut self, acts: impl Into<Vec<Value>>) -> Self {
        self.then = acts.into();
        self
    }

    /// How it ends: the status of its last turn, some of what its last message says, and its calls:
    /// of each the tool, the state, and some of what came of it.
    fn ends<const N: usize>(mut self, status: &str, says: &str, calls: [[&str; 3]; N]) -> Self {
        self.end = json!({"status": status, "says": says, "calls": calls.as_slice()});
        self
    }

    /// What its owner has paid in the end.
    fn paid(mut self, amounts: &[u32]) -> Self {
        self.end["paid"] = json!(amounts);
        self
    }

    /// Its turn is not over when its server is killed, and goes on when it is opened.
    fn killed(mut self) -> Self {
        self.is_running = true;
        self.taken_up()
    }

    /// Its turn is not over when its server is killed, and the next server has taken it up.
    fn recovered(mut self) -> Self {
        self.is_recovered = true;
        self
    }

    /// It goes on by itself when it is opened.
    fn taken_up(mut self) -> Self {
        self.is_taken_up = true;
        self
    }

    /// What is expected of it.
    fn expected(&self, person: &Person) -> Value {
        if self.is_recovered {
            person.rests();
        }
        let journal = person.journal();
        let mut expected = json!({
            "chat": self.name,
            "note": self.note,
            "journal": journal,
            "then": self.then,
            "end": self.end,
        });
        let events = journal.iter().flat_map(|entry| entry["events"].as_array());
        let events: Vec<&Value> = events.flatten().collect();
        // What the tool has recorded is what comes of it.
        let recorded = events.iter().find(|it| it["event"] == "call-recorded");
        if let Some(value) = recorded.and_then(|it| it["value"].as_str()) {
            let end = self.end.to_string().replace("RECORDED", value);
            expected["end"] = serde_json::from_str(&end).unwrap();
        }
        if self.is_running {
            let is_over = events.iter().any(|event| event["event"] == "turn-ended");
            assert!(!is_over, "{}: the server was too fast", self.name);
        }
        if !self.is_taken_up {
            let gates = events.iter().map(|event| &event["gate"]);
            let questions = gates.filter(|gate| gate["kind"]["kind"] == "approval");
            let asked = questions.map(|gate| {
                let id = gate["id"].as_str().unwrap();
                person.get(&format!("/api/approvals/{id}"))
            });
            expected["asked"] = asked.collect();
            expected["view"] = person.view();
            expected["paid"] = json!(person.paid());
        }
        expected
    }
}

/// A message of the user.
fn message(id: &str, text: &str) -> Value {
    json!({"id": id, "role": "user", "parts": [{"type": "text", "text": text}]})
}

fn say(id: &str, text: &str) -> Value {
    json!({"do": "say", "message": message(id, text)})
}

/// Says something, and leaves when some words have come.
fn begin(text: &str, until: &str) -> Value {
    json!({"do": "begin", "message": message("u1", text), "until": until})
}

fn approve(question: &str) -> Value {
    json!({"do": "approve", "question": question})
}

fn approve_with(question: &str, input: Value) -> Value {
    json!({"do": "approve", "question": question, "input": input})
}

fn deny(question: &str, reason: &str) -> Value {
    json!({"do": "deny", "question": question, "reason": reason})
}

fn output(tool: &str, output: Value) -> Value {
    json!({"do": "give", "tool": tool, "body": {"output": output}})
}

fn error(tool: &str, error: &str) -> Value {
    json!({"do": "give", "tool": tool, "body": {"error": error}})
}

fn until_journal(contains: &str) -> Value {
    json!({"do": "wait for the journal", "contains": contains})
}

fn rest() -> Value {
    json!({"do": "rest"})
}

/// Writes an agent's chats into one kind of store, and gives what is expected of them.
fn write(plan: &Plan, kind: Kind, to: &Path) -> Value {
    let setup = Setup::holding(plan.agent, plan.script);
    let store = Store::empty(kind);
    let all = plan.servers.iter().flat_map(|phase| &phase.chats);
    let names: Vec<_> = all.map(|chat| chat.name.to_owned()).collect();
    let mut chats = Vec::new();
    let mut before: &[Draft] = &[];
    for phase in &plan.servers {
        if phase.holds_payments {
            store.hold_payments(kind);
        }
        let server = setup.serve(&store.url, &names, phase.arguments, phase.is_replica);
        let person = |chat: &Draft| Person {
            address: server.address,
            chat: chat.name.to_owned(),
        };
        // What a chat says once its server is gone: a tool's progress, which no journal has, is not in it.
        chats.extend(before.iter().map(|chat| chat.expected(&person(chat))));
        before = &phase.chats;
        for chat in &phase.chats {
            println!("{} {kind:?}: {}", plan.agent.name(), chat.name);
            for act in &chat.acts {
                person(chat).act(act);
            }
            if !chat.is_running && !chat.is_recovered {
                person(chat).rests();
            }
        }
        if std::ptr::eq(phase, plan.servers.last().unwrap()) {
            setup.holds(plan.aborted);
            chats.extend(before.iter().map(|chat| chat.expected(&person(chat))));
        }
    }
    store.release_payments(kind);
    let sessions = setup.sessions(plan.aborted);
    store.keep(kind, to);
    json!({"chats": chats, "sessions": sessions})
}

/// JSON in lines that can be read: one for each member of a chat, and for each entry of its journal.
fn lines(expected: &Value) -> String {
    let mut text = "{".to_owned();
    for (kind, of_kind) in expected.as_object().unwrap() {
        let comma = if text.len() > 1 { "," } else { "" };
        let sessions = &of_kind["sessions"];
        write!(
            text,
            "{comma}\n\"{kind}\": {{\"sessions\": {sessions}, \"chats\": ["
        )
        .unwrap();
        let chats = of_kind["chats"].as_array().unwrap();
        for (number, chat) in chats.iter().enumerate() {
            text += if number > 0 { ",\n{" } else { "\n{" };
            for (place, (name, value)) in chat.as_object().unwrap().iter().enumerate() {
                let comma = if place > 0 { "," } else { "" };
                let value = match (name.as_str(), value) {
                    ("journal", Value::Array(entries)) => {
                        let entries: Vec<_> = entries.iter().map(Value::to_string).collect();
                        format!("[\n    {}]", entries.join(",\n    "))
                    }
                    (_, value) => value.to_string(),
                };
                write!(text, "{comma}\n  \"{name}\": {value}").unwrap();
            }
            text += "}";
        }
        text += "]}";
    }
    text + "}\n"
}

#[test]
#[ignore = "writes files: make golden VERSION=…"]
fn files_of_a_version() {
    let version = std::env::var("GOLDEN").expect("GOLDEN says of which version");
    let own = env!("CARGO_PKG_VERSION");
    assert!(own.starts_with(&version), "this is version {own}");
    let plans = [demo::plan, tools::plan, gemini::plan, live::plan, adk::plan];
    for plan in plans.map(|plan| plan()) {
        let to = folder().join(&version).join(plan.agent.name());
        if to.exists() {
            println!("{} is there, and is not changed", to.display());
            continue;
        }
        std::fs::create_dir_all(&to).unwrap();
        let expected = json!({
            "sqlite": write(&plan, Kind::Sqlite, &to),
            "postgres": write(&plan, Kind::Postgres, &to),
        });
        std::fs::write(to.join("expected.json"), lines(&expected)).unwrap();
    }
}
