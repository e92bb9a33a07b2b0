//! Servers that are killed at any moment while people pay, with clients that try again as clients
//! do: every answer that was acknowledged is honoured, the ledger agrees with the journal, and what
//! nobody can know is said to be unknown.
//!
//! `CRASHES` says how many times; `make crash N=1000` sets it. Without it, 40 times, and 200 in `make test-long`.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{Server, Start, adk_stream, repetitions};

/// How many pay at once.
const LANES: usize = 4;

/// Each payment is somebody's first, so that a wallet tells how often it was made.
const PEOPLE: usize = 4000;

/// How long anything may take, with a server killed every few moments.
const TIME_LIMIT: Duration = Duration::from_secs(180);

fn crashes() -> usize {
    let wanted = std::env::var("CRASHES").ok();
    wanted
        .and_then(|wanted| wanted.parse().ok())
        .unwrap_or(repetitions(40, 200))
}

/// The servers that run, and their clients.
struct World {
    addresses: Mutex<Vec<SocketAddr>>,
    is_over: AtomicBool,
    people: AtomicUsize,
}

/// A payment that was played to its end.
struct Payment {
    person: usize,
    /// What the server acknowledged, or said to have been decided.
    approved: bool,
}

/// One person, who asks whichever server there is.
struct Person<'a> {
    world: &'a World,
    number: usize,
    turn: std::cell::Cell<usize>,
}

impl Person<'_> {
    /// One request, to one of the servers; nothing, if it was not answered whole.
    fn request(&self, method: &str, path: &str, body: &str) -> Option<(u16, Value)> {
        let addresses = self.world.addresses.lock().unwrap().clone();
        self.turn.set(self.turn.get() + 1);
        let address = addresses[self.turn.get() % addresses.len()];
        let mut stream = TcpStream::connect(address).ok()?;
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .ok()?;
        let head = format!(
            "{method} {path} HTTP/1.0\r\nhost: localhost\r\nx-api-key: secret-of-person-{}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.number,
            body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(body.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, serde_json::from_str(body).unwrap_or_default()))
    }

    /// Asks until it is answered as expected.
    fn until<T>(&self, what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
        let deadline = Instant::now() + TIME_LIMIT;
        loop {
            if let Some(found) = attempt() {
                return found;
            }
            let number = self.number;
            assert!(Instant::now() < deadline, "person {number}: {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Pays, with a yes or a no, however often it has to be said.
    fn pay(&self, approve: bool) -> Payment {
        let chat = format!("chat-{}", self.number);
        let parts = json!([{"type": "text", "text": "Send $20 to Sam"}]);
        let message = json!({"id": "u1", "role": "user", "parts": parts});
        let say = json!({"id": chat, "trigger": "submit-message", "messages": [message]});
        let approval = self.until("is asked", || {
            let (_, waiting) = self.request("GET", "/api/approvals", "")?;
            match waiting["approvals"][0]["approvalId"].as_str() {
                Some(id) => Some(id.to_owned()),
                None => {
                    self.request("POST", "/api/chat", &say.to_string());
                    None
                }
            }
        });
        let answer = json!({"approved": approve}).to_string();
        let approved = self.until("is decided", || {
            let path = format!("/api/approvals/{approval}");
            match self.request("POST", &path, &answer)? {
                (200, _) => Some(approve),
                (409, refusal) => refusal["decision"]["approved"].as_bool(),
                _ => None,
            }
        });
        self.until("is done", || {
            let (_, chat) = self.request("GET", &format!("/api/chat/{chat}"), "")?;
            (chat["status"] == "finished").then_some(())
        });
        Payment {
            person: self.number,
            approved,
        }
    }
}

/// Numbers that look random, and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % sides
    }
}

/// Kills servers while people pay, and then looks at what became of every payment.
fn play(start: impl Fn() -> Server, servers: usize) {
    let mut running: Vec<Server> = (0..servers).map(|_| start()).collect();
    let world = World {
        addresses: Mutex::new(running.iter().map(|server| server.address).collect()),
        is_over: AtomicBool::new(false),
        people: AtomicUsize::new(0),
    };
    let person = |number| Person {
        world: &world,
        number,
        turn: number.into(),
    };
    let payments = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES)
            .map(|lane| {
                let (world, person) = (&world, &person);
                scope.spawn(move || {
                    let mut dice = Dice(lane as u64);
                    let mut payments = Vec::new();
                    while !world.is_over.load(Ordering::SeqCst) {
                        let number = world.people.fetch_add(1, Ordering::SeqCst);
                        assert!(number < PEOPLE, "raise their number");
                        payments.push(person(number).pay(dice.roll(3) > 0));
                    }
                    payments
                })
            })
            .collect();
        let mut dice = Dice(42);
        for _ in 0..crashes() {
            // One server alone needs a while to start before it can be of use.
            let longest = if servers == 1 { 200 } else { 60 };
            std::thread::sleep(Duration::from_millis(dice.roll(longest)));
            let victim = usize::try_from(dice.roll(servers as u64)).unwrap();
            running[victim].signal("KILL");
            running[victim] = start();
            world.addresses.lock().unwrap()[victim] = running[victim].address;
        }
        world.is_over.store(true, Ordering::SeqCst);
        let payments = lanes.into_iter().map(|lane| lane.join().unwrap());
        payments.flatten().collect::<Vec<_>>()
    });
    let (mut paid, mut denied, mut unknown) = (0, 0, 0);
    for Payment {
        person: number,
        approved,
    } in payments
    {
        let person = person(number);
        let (_, chat) = person.until("is read", || {
            person.request("GET", &format!("/api/chat/chat-{number}"), "")
        });
        let (_, wallet) = person.until("is counted", || person.request("GET", "/api/wallet", ""));
        let made = wallet["payments"].as_array().map_or(0, Vec::len);
        let parts = chat["messages"][1]["parts"].as_array().unwrap().clone();
        let call = parts
            .iter()
            .find(|part| part["type"] == "tool-process_payment");
        let call = call.unwrap_or_else(|| panic!("{number}: {chat}"));
        let error_text = call["errorText"].as_str().unwrap_or_default();
        match call["state"].as_str().unwrap() {
            "output-available" => {
                assert!(approved && made == 1, "{number}: paid {made} times: {call}");
                paid += 1;
            }
            "output-denied" => {
                assert!(
                    !approved && made == 0,
                    "{number}: denied, paid {made} times"
                );
                denied += 1;
            }
            "output-error" if error_text.contains("unknown") => {
                assert!(
                    approved && made <= 1,
                    "{number}: unknown, paid {made} times"
                );
                unknown += 1;
            }
            state => panic!("{number}: {state}: {call}"),
        }
    }
    println!(
        "{} crashes: {paid} paid, {denied} denied, {unknown} unknown",
        crashes()
    );
    assert!(paid > 0 && denied > 0);
}

/// There are more keys than a variable can hold.
fn with_people(start: Start) -> Start {
    let keys = (0..PEOPLE).map(|person| format!("person-{person}=secret-of-person-{person}\n"));
    start
        .variable("ADK_STREAM_KEYS_FILE", "keys")
        .file("keys", keys.collect::<String>())
}

const FLAGS: [&str; 7] = [
    "serve",
    "--listen",
    "127.0.0.1:0",
    "--pace",
    "1",
    "--lease",
    "1",
];

#[test]
fn one_server_over_a_file_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("chats.db").display());
    let start = || {
        let server = adk_stream(&FLAGS).variable("ADK_STREAM_STORE", &store);
        let server = server.variable("ADK_STREAM_LOG", "error");
        with_people(server).running()
    };
    play(start, 1);
}

#[test]
fn three_servers_over_one_database_lose_nothing() {
    let store = testkit::postgres::database();
    let start = || {
        let server = adk_stream(&FLAGS).variable("ADK_STREAM_STORE", &store);
        let server = server.variable("ADK_STREAM_CLUSTER_KEY", "known-to-this-cluster-alone");
        let server = server.variable("ADK_STREAM_LOG", "error");
        with_people(server).running()
    };
    play(start, 3);
}
