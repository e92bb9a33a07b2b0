//! An agent of a file: a model that is a thread here, and tools that are requests to a shop that is
//! another.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::process::{Server, Start, adk_stream};

/// How long anything may take.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// A request as it came.
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    pub(crate) fn method(&self) -> &str {
        self.head.split(' ').next().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// A server of a few lines: each request is answered by a function, on a thread of its own. Without an
/// answer the connection is cut.
pub(crate) fn serve_http(
    answer: impl Fn(&Request) -> Option<String> + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            let answer = answer.clone();
            std::thread::spawn(move || serve_one(stream, &*answer));
        }
    });
    address
}

fn serve_one(stream: TcpStream, answer: &dyn Fn(&Request) -> Option<String>) {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    let mut request = Request {
        head,
        body: String::new(),
    };
    let length = request
        .header("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    if stream.read_exact(&mut body).is_err() {
        return;
    }
    request.body = String::from_utf8(body).unwrap();
    if let Some(text) = answer(&request) {
        // The client may have closed the connection.
        let _ = stream.get_mut().write_all(text.as_bytes());
    }
}

/// An answer in JSON.
pub(crate) fn answer(status: u16, body: &Value) -> Option<String> {
    let body = body.to_string();
    let length = body.len();
    Some(format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    ))
}

/// A Gemini that calls the tool that the last message names, as `TOOL {"its": "input"}`, and says
/// `Done.` when it gets the result of the call.
pub(crate) fn gemini() -> SocketAddr {
    serve_http(generate)
}

/// The same, and the bodies of the requests that it got.
pub(crate) fn recording_gemini() -> (Arc<Mutex<Vec<Value>>>, SocketAddr) {
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let own = bodies.clone();
    let address = serve_http(move |request| {
        if let Ok(body) = serde_json::from_str(&request.body) {
            own.lock().unwrap().push(body);
        }
        generate(request)
    });
    (bodies, address)
}

pub(crate) fn generate(request: &Request) -> Option<String> {
    if request.method() == "GET" {
        return answer(200, &json!({"name": "models/gemini-x"}));
    }
    let body: Value = serde_json::from_str(&request.body).unwrap();
    let last = body["contents"].as_array().unwrap().last().unwrap();
    let parts = last["parts"].as_array().unwrap();
    let said = parts.iter().find_map(|part| part["text"].as_str());
    let call = said.and_then(|text| text.split_once(' '));
    let call =
        call.and_then(|(tool, input)| Some((tool, serde_json::from_str::<Value>(input).ok()?)));
    let part = match call {
        Some((tool, input)) => json!({"functionCall": {"name": tool, "args": input}}),
        None => json!({"text": "Done."}),
    };
    let chunk = json!({
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3},
    });
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    Some(format!("{head}data: {chunk}\r\n\r\n"))
}

/// The table of a model that is that Gemini.
pub(crate) fn model(gemini: SocketAddr) -> String {
    format!(
        "[models.main]\nkind = 'gemini'\nmodel = 'gemini-x'\nbase-url = 'http://{gemini}'\nkey = 'env:TEST_KEY'\n"
    )
}

/// `adk-stream` with a file, and what it needs.
pub(crate) fn with_file(arguments: &[&str], toml: &str) -> Start {
    adk_stream(arguments)
        .file("adk-stream.toml", toml)
        .variable("TEST_KEY", "k3y-that-nobody-may-see")
        .variable("SHOP_TOKEN", "t0ken-that-nobody-may-see")
}

/// A server with a file.
pub(crate) fn serve(toml: &str) -> Server {
    with_file(&["serve", "--listen", "127.0.0.1:0"], toml).running()
}

/// Says something in a chat, and gives the window.
pub(crate) fn say(server: &Server, chat: &str, text: &str) -> String {
    let message = json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]});
    let body = json!({"id": chat, "trigger": "submit-message", "messages": [message]});
    let answer = server.post("/api/chat", &[], &body.to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text().to_owned()
}

/// The part of a call, once its turn has ended.
pub(crate) fn settled(server: &Server, chat: &str) -> Value {
    let deadline = std::time::Instant::now() + TIME_LIMIT;
    loop {
        let read = server.get(&format!("/api/chat/{chat}")).json();
        if read["status"] == "finished" {
            let messages = read["messages"].as_array().unwrap();
            let parts = messages
                .iter()
                .flat_map(|message| message["parts"].as_array().unwrap());
            let mut calls =
                parts.filter(|part| part["type"].as_str().unwrap().starts_with("tool-"));
            return calls.next().unwrap_or_else(|| panic!("{read}")).clone();
        }
        assert!(std::time::Instant::now() < deadline, "{chat}: {read}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What a shop has been asked, by order: effects, and how often it was asked.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) effects: BTreeMap<String, usize>,
    pub(crate) requests: BTreeMap<String, usize>,
    /// Orders by the idempotency keys and call ids under which they were refunded.
    keys: BTreeMap<String, String>,
    /// How many requests hold their answers back.
    held: usize,
    is_holding: bool,
}

/// A shop that refunds: `/keyed/N` once for a key, `/plain/N` as often as it is asked, `/looked/N` as
/// well, with a page that tells what became of a call.
#[derive(Clone, Default)]
pub(crate) struct Shop {
    state: Arc<(Mutex<Ledger>, Condvar)>,
}

impl Shop {
    pub(crate) fn start() -> (Self, SocketAddr) {
        let shop = Self::default();
        let own = shop.clone();
        (shop, serve_http(move |request| own.handle(request)))
    }

    /// From here on answers are held back, and cut in the end.
    pub(crate) fn hold(&self) {
        self.state.0.lock().unwrap().is_holding = true;
    }

    /// Waits until this many answers are held back.
    pub(crate) fn wait_for_held(&self, count: usize) {
        let (ledger, changed) = &*self.state;
        let held = ledger.lock().unwrap();
        let waited = changed.wait_timeout_while(held, TIME_LIMIT, |ledger| ledger.held < count);
        assert!(!waited.unwrap().1.timed_out(), "requests did not come");
    }

    /// Cuts what is held back, and answers again.
    pub(crate) fn release(&self) {
        let (ledger, changed) = &*self.state;
        let mut ledger = ledger.lock().unwrap();
        (ledger.is_holding, ledger.held) = (false, 0);
        changed.notify_all();
    }

    pub(crate) fn ledger(&self) -> std::sync::MutexGuard<'_, Ledger> {
        self.state.0.lock().unwrap()
    }

    fn handle(&self, request: &Request) -> Option<String> {
        let (ledger, changed) = &*self.state;
        let mut ledger = ledger.lock().unwrap();
        let mut words = request.path().trim_start_matches('/').split('/');
        let (kind, order) = (
            words.next().unwrap().to_owned(),
            words.next().unwrap_or_default().to_owned(),
        );
        if request.method() == "GET" {
            return match ledger.keys.get(&order) {
                Some(order) => answer(200, &json!({"refunded": order})),
                None => answer(404, &json!({"error": "no such refund"})),
            };
        }
        *ledger.requests.entry(order.clone()).or_default() += 1;
        let key = request
            .header("idempotency-key")
            .or_else(|| request.header("x-call"));
        let key = key.map(str::to_owned);
        let is_known = key
            .as_ref()
            .is_some_and(|key| ledger.keys.contains_key(key));
        // Of the requests that are held, every second one is lost before it has an effect.
        let number: usize = order
            .trim_start_matches(|c: char| !c.is_ascii_digit())
            .parse()
            .unwrap_or(0);
        let is_lost = ledger.is_holding && number % 2 == 1;
        let is_repeated = kind == "keyed" && is_known;
        if !is_lost && !is_repeated {
            *ledger.effects.entry(order.clone()).or_default() += 1;
            if let Some(key) = key {
                ledger.keys.insert(key, order.clone());
            }
        }
        if ledger.is_holding {
            ledger.held += 1;
            changed.notify_all();
            let waited = changed.wait_timeout_while(ledger, TIME_LIMIT, |ledger| ledger.is_holding);
            drop(waited);
            return None;
        }
        answer(200, &json!({"refunded": order}))
    }
}

/// A table of a tool that refunds in that shop.
pub(crate) fn refund_tool(name: &str, url: &str, more: &str, rest: &str) -> String {
    format!(
        "[http.{name}]\ndescription = 'Refunds an order.'\n\
         input = {{ type = 'object', properties = {{ order = {{ type = 'string' }} }}, required = ['order'] }}\n\
         request = {{ method = 'POST', url = '{url}/{{order}}'{more} }}\n{rest}\n"
    )
}
