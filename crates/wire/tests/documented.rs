//! The tables of chunks and frames in docs/wire.md are those of the types.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use adk_stream_wire::frame::{self, ClientFrame};
use adk_stream_wire::{Chunk, Profile, Trigger};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value};
use testkit::arbitrary;

/// How many chunks are made: of each kind many, so that each field is there and is not.
const CHUNKS: usize = 6000;

/// How many frames: there are fewer kinds, and some hold whole histories.
const FRAMES: usize = 300;

/// The fields of each kind; those that may be missing end with `?`.
type Kinds = BTreeMap<String, BTreeSet<String>>;

/// The rows of the table under a heading, in cells.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/wire.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (_, section) = document.split_once(&format!("\n{heading}\n")).unwrap();
    let lines = section.lines().skip_while(|line| !line.starts_with('|'));
    let table = lines.take_while(|line| line.starts_with('|')).skip(2);
    let cells = |line: &str| {
        let line = line.strip_prefix('|').unwrap().strip_suffix('|').unwrap();
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    table.map(cells).collect()
}

/// What is in backquotes.
fn quoted(cell: &str) -> Vec<String> {
    let words = cell.split('`').skip(1).step_by(2);
    words.map(str::to_owned).collect()
}

/// The fields that a cell lists for a kind.
fn fields(cell: &str, kind: &str) -> BTreeSet<String> {
    let listed = cell.split(", ").filter(|field| !field.is_empty());
    let fields = listed.filter_map(|field| {
        let (field, remark) = field.split_once(" (").unwrap_or((field, ""));
        // One of several kinds has it.
        let is_meant = !remark.starts_with("in `") || quoted(remark).iter().any(|one| one == kind);
        match field {
            "*metadata*" => Some("providerMetadata?".to_owned()),
            field if is_meant && !field.contains(' ') && field != "none" => Some(field.to_owned()),
            _ => None,
        }
    });
    fields.collect()
}

/// What was made, as the document would list it.
fn seen(made: impl Iterator<Item = Value>) -> Kinds {
    let mut all: BTreeMap<String, (usize, BTreeMap<String, usize>)> = BTreeMap::new();
    for value in made {
        let mut object = value.as_object().unwrap().clone();
        let kind = object.remove("type").unwrap();
        let kind = match kind.as_str().unwrap() {
            data if data.starts_with("data-") => "data-NAME",
            kind => kind,
        };
        let (count, fields) = all.entry(kind.to_owned()).or_default();
        *count += 1;
        for name in object.keys() {
            *fields.entry(name.clone()).or_default() += 1;
        }
    }
    let kinds = all.into_iter().map(|(kind, (count, fields))| {
        let fields = fields
            .into_iter()
            .map(|(name, times)| match times == count {
                true => name,
                false => format!("{name}?"),
            });
        (kind, fields.collect())
    });
    kinds.collect()
}

fn made<S: Strategy>(strategy: &S, samples: usize) -> Vec<S::Value> {
    let mut runner = TestRunner::deterministic();
    let samples = (0..samples).map(|_| strategy.new_tree(&mut runner).unwrap().current());
    samples.collect()
}

#[test]
fn chunks_are_listed_with_the_fields_of_each_profile() {
    let chunks = made(&arbitrary::chunk(), CHUNKS);
    let value = |chunk| serde_json::to_value(&chunk).unwrap();
    let of = |profile: Profile| {
        let narrowed = chunks
            .iter()
            .filter_map(|chunk| profile.narrow(chunk.clone()));
        let mut kinds = seen(narrowed.map(value));
        // Fields of the application's own choice.
        let data = ["id?", "data", "transient?"].map(str::to_owned);
        kinds.insert("data-NAME".to_owned(), BTreeSet::from(data));
        kinds
    };
    let (mut shared, mut v7) = (Kinds::new(), Kinds::new());
    let mut before = BTreeSet::new();
    for row in rows("## Chunks") {
        for kind in quoted(&row[0]) {
            let mut common = fields(&row[1], &kind);
            if row[1].starts_with("the same, and ") {
                let more = row[1].trim_start_matches("the same, and ");
                common = &before | &fields(more, &kind);
            }
            before.clone_from(&common);
            if !row[1].is_empty() {
                shared.insert(kind.clone(), common.clone());
            }
            v7.insert(kind.clone(), &common | &fields(&row[2], &kind));
        }
    }
    assert_eq!(shared, of(Profile::Shared));
    assert_eq!(v7, of(Profile::V7));
}

/// Each frame of a client with all of its fields, and with those alone that it needs.
fn client_frames() -> Vec<ClientFrame> {
    let text = || Some("x".to_owned());
    let shown = frame::ShownApproval {
        approval_id: "a".to_owned(),
        tool_call_id: "c".to_owned(),
        approved: None,
    };
    let frames = [true, false].map(|is_full| {
        let (request_id, id) = ("r".to_owned(), "c".to_owned());
        let send = frame::Send {
            request_id: request_id.clone(),
            resumable: is_full,
            id: id.clone(),
            trigger: Trigger::SubmitMessage,
            message_id: text().filter(|_| is_full),
            messages: Vec::new(),
            headers: Map::new(),
            body: Map::new(),
            metadata: is_full.then(|| Value::from(1)),
        };
        let resume = frame::Resume {
            request_id: request_id.clone(),
            resumable: is_full,
            id: id.clone(),
            last_sequence: is_full.then_some(1),
            message_id: text().filter(|_| is_full),
            step_sequence: is_full.then_some(1),
            step_hash: is_full.then_some(1),
            approvals: is_full.then(|| shown.clone()).into_iter().collect(),
            headers: Map::new(),
            body: Map::new(),
            metadata: is_full.then(|| Value::from(1)),
        };
        let abort = ClientFrame::Abort {
            request_id,
            stop: is_full,
            id: Some(id).filter(|_| is_full),
        };
        [ClientFrame::Send(send), ClientFrame::Resume(resume), abort]
    });
    frames.into_iter().flatten().collect()
}

#[test]
fn frames_are_listed_with_their_fields() {
    let value = |frame: String| serde_json::from_str::<Value>(&frame).unwrap();
    let client = client_frames().into_iter();
    let client = client.map(|frame| value(serde_json::to_string(&frame).unwrap()));
    let server = made(&arbitrary::server_frame(), FRAMES).into_iter();
    // The writer alone knows of a gap, and no frame that is built whole has one.
    let gap = frame::unforeseen_chunk_text("r", 7, &Chunk::StartStep);
    let server = server
        .map(|frame| value(frame.to_json()))
        .chain([value(gap)]);
    let expected = [("client", seen(client)), ("server", seen(server))];
    for (direction, expected) in expected {
        let mut listed = Kinds::new();
        for row in rows("## WebSocket: the official frames") {
            for kind in quoted(&row[1]).into_iter().filter(|_| row[0] == direction) {
                listed.insert(kind.clone(), fields(&row[2], &kind));
            }
        }
        assert_eq!(listed, expected, "{direction}");
    }
}
