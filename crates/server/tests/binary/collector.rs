//! A collector of OpenTelemetry's: it takes OTLP over HTTP, and reads the protobuf with OpenTelemetry's own
//! messages.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// How long spans may take to come.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// What has come.
#[derive(Default)]
struct Received {
    spans: Vec<Seen>,
    bytes: Vec<u8>,
    heads: Vec<String>,
}

/// A span, as it is read.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) service: String,
    pub(crate) name: String,
    pub(crate) trace: String,
    pub(crate) id: String,
    pub(crate) parent: String,
    /// What other systems said of the trace.
    pub(crate) state: String,
    /// The spans that it is linked to.
    pub(crate) links: Vec<String>,
    pub(crate) attributes: BTreeMap<String, String>,
    pub(crate) is_error: bool,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl Seen {
    pub(crate) fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

pub(crate) struct Collector {
    received: Arc<(Mutex<Received>, Condvar)>,
    pub(crate) address: SocketAddr,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::<(Mutex<Received>, Condvar)>::default();
        let own = received.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(stream), own) = (stream, own.clone()) else {
                    return;
                };
                std::thread::spawn(move || while_open(stream, &own));
            }
        });
        Self { received, address }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until a span has come, and gives all that have.
    pub(crate) fn until(&self, is_it: impl Fn(&Seen) -> bool) -> Vec<Seen> {
        let (received, changed) = &*self.received;
        let lacks = |received: &mut Received| !received.spans.iter().any(&is_it);
        let waited = changed.wait_timeout_while(received.lock().unwrap(), TIME_LIMIT, lacks);
        let (received, waited) = waited.unwrap();
        assert!(
            !waited.timed_out(),
            "it did not come: {:#?}",
            received.spans
        );
        received.spans.clone()
    }

    /// Whether these words are anywhere in what has come.
    pub(crate) fn has_words(&self, words: &str) -> bool {
        let received = self.received.0.lock().unwrap();
        let mut windows = received.bytes.windows(words.len());
        windows.any(|window| window == words.as_bytes())
    }

    /// The heads of the requests that have come.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.received.0.lock().unwrap().heads.clone()
    }
}

fn while_open(stream: TcpStream, received: &(Mutex<Received>, Condvar)) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        let head = head.to_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.unwrap().trim().parse().unwrap()];
        if stream.read_exact(&mut body).is_err() {
            return;
        }
        assert!(head.starts_with("post /v1/traces "), "{head}");
        let request = ExportTraceServiceRequest::decode(&*body).unwrap();
        let (own, changed) = received;
        let mut own = own.lock().unwrap();
        own.bytes.extend(body);
        own.heads.push(head);
        own.spans.extend(spans(request));
        changed.notify_all();
        drop(own);
        let taken =
            "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
        if stream.get_mut().write_all(taken.as_bytes()).is_err() {
            return;
        }
    }
}

fn spans(request: ExportTraceServiceRequest) -> Vec<Seen> {
    let mut seen = Vec::new();
    for resource in request.resource_spans {
        let about = resource.resource.unwrap().attributes;
        let service = attributes(&about).remove("service.name").unwrap();
        for scope in resource.scope_spans {
            assert_eq!(scope.scope.unwrap().name, "adk-stream");
            let spans = scope.spans.iter();
            seen.extend(spans.map(|span| of(span, &service)));
        }
    }
    seen
}

fn of(span: &Span, service: &str) -> Seen {
    Seen {
        service: service.to_owned(),
        name: span.name.clone(),
        trace: hex(&span.trace_id),
        id: hex(&span.span_id),
        parent: hex(&span.parent_span_id),
        state: span.trace_state.clone(),
        links: span.links.iter().map(|link| hex(&link.span_id)).collect(),
        attributes: attributes(&span.attributes),
        is_error: span.status.as_ref().is_some_and(|status| status.code == 2),
        from: span.start_time_unix_nano,
        to: span.end_time_unix_nano,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn attributes(all: &[KeyValue]) -> BTreeMap<String, String> {
    let all = all.iter();
    all.map(|pair| (pair.key.clone(), text(pair.value.as_ref())))
        .collect()
}

fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(Any::StringValue(text)) => text.clone(),
        Some(Any::IntValue(number)) => number.to_string(),
        Some(Any::DoubleValue(number)) => number.to_string(),
        Some(Any::ArrayValue(all)) => {
            let all = all.values.iter().map(|value| text(Some(value)));
            all.collect::<Vec<_>>().join(",")
        }
        other => panic!("{other:?}"),
    }
}
