//! One run: what its client is sent around the events of a window, and in which version of the protocol.

use serde_json::{Map, Value, json};
use wire::Chunk;
use wire::ag_ui::{Event, PROTOCOL_VERSION, RunRequest};
use wire::chunk::Data;

use super::renderer::{data, run_error};
use crate::ai_sdk::Failure;

turn::codes! {
    /// What an event is to its run. Windows are forwarded from server to server as chunks: each event is
    /// in one of data, whose name says this.
    enum Carrier {
        Event = "ag-ui-event",
        /// It ends the run.
        Finished = "ag-ui-finished",
        /// It fails the run.
        Failed = "ag-ui-failed",
    }
}

impl Carrier {
    fn of(event: &Event) -> Self {
        match event {
            Event::RunFinished { .. } => Self::Finished,
            Event::RunError { .. } => Self::Failed,
            _ => Self::Event,
        }
    }
}

/// The name of the data that says why a window failed.
const ERROR: &str = "error";

/// A run of a client's.
#[derive(Debug, Clone)]
pub struct Run {
    thread_id: String,
    run_id: String,
    version: Version,
    is_over: bool,
}

/// What a client understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// Before 1.0: a success names no calls that are left, and there is no run that was stopped.
    Early,
    /// 1.0 and later ones.
    One,
}

impl Run {
    /// The run that a request begins.
    pub fn of(request: &RunRequest) -> Self {
        Self {
            thread_id: request.thread_id.clone(),
            run_id: request.run_id.clone(),
            version: match request.protocol_version {
                None => Version::Early,
                Some(_) => Version::One,
            },
            is_over: false,
        }
    }

    /// The event that begins it.
    pub fn start(&self) -> Value {
        let mut start = json!({
            "type": "RUN_STARTED",
            "threadId": self.thread_id,
            "runId": self.run_id,
        });
        if self.version == Version::One {
            start["protocolVersion"] = PROTOCOL_VERSION.into();
        }
        start
    }

    /// The events of a run in a chat that nothing was said in.
    pub fn nothing(&self) -> [Value; 2] {
        let snapshot = json!({"type": "MESSAGES_SNAPSHOT", "messages": []});
        let finished = json!({"type": "RUN_FINISHED", "outcome": {"type": "success"}});
        [snapshot, self.finished(finished)]
    }

    /// The event that a chunk of a window carries, if the client is to be sent one.
    pub fn event(&mut self, chunk: &Chunk) -> Option<Value> {
        if self.is_over {
            return None;
        }
        let Chunk::Data(carried) = chunk else {
            return None;
        };
        let carrier = Carrier::named(&carried.name);
        Some(match carrier {
            Some(Carrier::Event) => carried.data.clone(),
            Some(Carrier::Finished) => {
                self.is_over = true;
                self.finished(carried.data.clone())
            }
            Some(Carrier::Failed) => {
                self.is_over = true;
                carried.data.clone()
            }
            // The server that had the window is gone.
            None if carried.name == ERROR => {
                self.is_over = true;
                written(&failure(&carried.data))
            }
            // What is signalled to those who watch just now.
            None => written(&data(&carried.name, carried.data.clone())),
        })
    }

    /// The event that fails a run whose window ends without an end, if it has none.
    pub fn cut(&mut self) -> Option<Value> {
        let is_over = std::mem::replace(&mut self.is_over, true);
        (!is_over).then(|| {
            let message = "The server that had this chat has stopped; resume it.".to_owned();
            let code = "handed_over".to_owned();
            written(&run_error(&Failure {
                code,
                message,
                retry_after_ms: None,
            }))
        })
    }

    /// The event that ends the run, as the client's version has it.
    fn finished(&self, mut event: Value) -> Value {
        event["threadId"] = self.thread_id.as_str().into();
        event["runId"] = self.run_id.as_str().into();
        if self.version == Version::Early
            && let Some(outcome) = event.get_mut("outcome").and_then(Value::as_object_mut)
        {
            outcome.shift_remove("pendingToolCallIds");
            if outcome.get("type").is_some_and(|kind| kind == "cancelled") {
                outcome["type"] = "success".into();
            }
        }
        event
    }
}

/// An event as a chunk, for a window that may be read by another server.
pub(super) fn carry(event: &Event) -> Chunk {
    Chunk::from(Data {
        name: Carrier::of(event).name().to_owned(),
        id: None,
        data: written(event),
        transient: Some(true),
        extra: Map::new(),
    })
}

fn written(event: &Event) -> Value {
    // An event is made of strings and values with string keys: nothing in it can fail to be written.
    serde_json::to_value(event).unwrap_or_default()
}

fn failure(data: &Value) -> Event {
    let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
    run_error(&Failure {
        code: text("code").to_owned(),
        message: text("message").to_owned(),
        retry_after_ms: data.get("retryAfterMs").and_then(Value::as_u64),
    })
}
