//! A client that loses its window at any chunk, and resumes it by its position: on the transcript as it
//! was received, and as it is read from the journal.

use std::collections::BTreeMap;
use std::sync::Arc;

use adk_stream_view::{Line, NumberedWindow, ResumePoint};
use serde_json::Value;
use wire::assembler::{Assembler, Sdk};
use wire::frame::ShownApproval;
use wire::{Chunk, Message, Part, Profile};

/// A client, and where it is, counted by the chunks that it was sent.
#[derive(Clone)]
struct Client {
    assembler: Assembler,
    last: u64,
    step: u64,
    hash: u32,
    has_content: bool,
    is_over: bool,
}

impl Client {
    fn new(sdk: Sdk) -> Self {
        Self {
            assembler: Assembler::new(sdk, "m"),
            last: 0,
            step: 0,
            hash: SEED,
            has_content: false,
            is_over: false,
        }
    }

    fn take(&mut self, chunk: &Chunk, sequence: u64) {
        let applied = self.assembler.apply(chunk);
        assert!(applied.is_ok(), "{applied:?}: {}", chunk.to_json());
        self.last = sequence;
        self.is_over |= matches!(chunk, Chunk::Finish(_) | Chunk::Error(_));
        self.has_content |= !matches!(chunk, Chunk::Start(_));
        match chunk {
            Chunk::Start(_) | Chunk::StartStep | Chunk::ResetStep => {
                (self.step, self.hash) = (sequence, SEED);
            }
            Chunk::TextDelta(delta) | Chunk::ReasoningDelta(delta) => self.hash(&delta.delta),
            Chunk::TextStart(_) => self.hash("text-start"),
            Chunk::ReasoningStart(_) => self.hash("reasoning-start"),
            Chunk::ToolInputStart(start) => self.hash(&start.tool_call_id),
            // What agents of these flows say has no other parts.
            _ => {}
        }
    }

    fn hash(&mut self, text: &str) {
        for byte in text.bytes() {
            self.hash = (self.hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }

    fn point(&self) -> ResumePoint {
        let calls = self.assembler.message().parts.iter();
        let calls = calls.filter_map(Part::as_tool);
        let approvals = calls.filter_map(|part| {
            Some(ShownApproval {
                approval_id: part.approval.as_ref()?.id.clone(),
                tool_call_id: part.tool_call_id.clone(),
                approved: None,
            })
        });
        ResumePoint {
            message_id: "m".to_owned(),
            last_sequence: self.last,
            step_sequence: self.step,
            step_hash: self.hash.into(),
            approvals: approvals.collect(),
        }
    }

    /// What it shows in the end: its words, and which calls are over with which output.
    fn shown(&self) -> (String, BTreeMap<String, (bool, Option<Value>)>) {
        shown(self.assembler.message())
    }
}

const SEED: u32 = 0x811c_9dc5;

fn shown(message: &Message) -> (String, BTreeMap<String, (bool, Option<Value>)>) {
    let calls = message.parts.iter().filter_map(Part::as_tool);
    let calls = calls.map(|part| {
        let output = part.output.clone().filter(|_| part.is_settled());
        (part.tool_call_id.clone(), (part.is_settled(), output))
    });
    (message.text(), calls.collect())
}

fn read(window: &mut NumberedWindow, transcript: &[Line]) -> Vec<(Arc<Chunk>, u64)> {
    let chunks = window.read(transcript);
    assert_eq!(window.sequences().len(), chunks.len());
    let sequences = window.sequences().to_vec();
    chunks.into_iter().zip(sequences).collect()
}

/// Loses every window on a turn at every chunk, whenever it opened, and resumes it.
pub(crate) fn check(live: &[Line], stored: &[Line]) {
    for (sdk, profile) in [
        (Sdk::V6, Profile::Shared),
        (Sdk::V7, Profile::Shared),
        (Sdk::V7, Profile::V7),
    ] {
        let mut whole = Client::new(sdk);
        let mut window = NumberedWindow::continuing(profile, "m", stored, 0);
        for (chunk, sequence) in read(&mut window, stored) {
            whole.take(&chunk, sequence);
        }
        for opened in 0..live.len() {
            for client in lost_clients(sdk, profile, live, opened) {
                for transcript in [live, stored] {
                    let mut client = client.clone();
                    let before = client.last;
                    let mut window = NumberedWindow::resuming(profile, client.point());
                    for (chunk, sequence) in read(&mut window, transcript) {
                        assert!(!matches!(*chunk, Chunk::Start(_) | Chunk::ResetStep));
                        client.take(&chunk, sequence);
                    }
                    let place = format!("{profile:?} opened at {opened}, lost at {before}");
                    assert_eq!(window.is_closed(), whole.is_over, "{place}");
                    assert_eq!(client.shown(), whole.shown(), "{place}");
                    assert_eq!(client.last, whole.last, "{place}");
                }
            }
        }
    }
}

/// Clients whose window opened when there were this many lines, each of which lost it after another chunk.
fn lost_clients(sdk: Sdk, profile: Profile, live: &[Line], opened: usize) -> Vec<Client> {
    let mut client = Client::new(sdk);
    let mut clients = Vec::new();
    let mut window = NumberedWindow::continuing(profile, "m", &live[..opened], 0);
    for length in opened..=live.len() {
        for (chunk, sequence) in read(&mut window, &live[..length]) {
            client.take(&chunk, sequence);
            if client.has_content && !client.is_over {
                clients.push(client.clone());
            }
        }
        if window.is_closed() {
            break;
        }
    }
    clients
}
