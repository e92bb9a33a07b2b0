//! The hot paths, each as a function that repeats it: their instructions are counted.
//!
//! A count does not depend on what else the machine does, so a regression shows on a busy machine too.

use std::hint::black_box;
use std::path::PathBuf;

use adk_stream::store::sqlite::SqliteStore;
use adk_stream::store::{Journal, NewEntry};
use adk_stream::turn::agent::{AgentEvent, CompactEvent};
use adk_stream::turn::event::Finish;
use adk_stream::turn::item::Item;
use adk_stream::turn::{At, ChatId, Input};
use adk_stream::view::{ShownChat, Transcript, Window};
use adk_stream::wire::chunk::BlockDelta;
use adk_stream::wire::{Chunk, Profile, frame, sse};

use crate::journals;
use crate::stage::DELTA;

/// A hot path: its name, and a function that repeats it a number of times.
pub type Path = (&'static str, fn(usize));

/// The hot paths.
pub const PATHS: [Path; 7] = [
    ("encode a chunk for SSE", encode),
    ("encode a chunk for a socket", frame),
    ("turn.handle a delta", handle),
    ("turn.push a delta", push_delta),
    ("read a delta in a window", read),
    ("append to memory", append_to_memory),
    ("append to SQLite", append_to_sqlite),
];

fn delta() -> Chunk {
    Chunk::TextDelta(BlockDelta {
        id: "1".into(),
        delta: DELTA.into(),
        provider_metadata: None,
    })
}

fn encode(times: usize) {
    let chunk = delta();
    let mut out = Vec::with_capacity(4096);
    for _ in 0..times {
        out.clear();
        sse::write_chunk(&mut out, black_box(&chunk));
        black_box(&out);
    }
}

fn frame(times: usize) {
    let chunk = delta();
    for _ in 0..times {
        black_box(frame::chunk_text("r", 42, black_box(&chunk)));
    }
}

/// What an agent says in 200 deltas a turn.
fn handle(times: usize) {
    say(times, |chat, event| {
        let policy = None;
        black_box(chat.handle(Input::Agent { event, policy }, At(1)));
    });
}

/// The same as the engine has it: in one go.
fn push_delta(times: usize) {
    for _ in 0..times.div_ceil(200) {
        let mut chat = ShownChat::default();
        journals::say(&mut chat, journals::OWNER, "chat", "m");
        let words: Vec<_> = (0..200)
            .map(|_| CompactEvent::Text(DELTA.to_owned()))
            .collect();
        let mut words = black_box(words).into_iter();
        while let Some(word) = words.next() {
            let (event, policy) = (word.into(), None);
            black_box(chat.handle(Input::Agent { event, policy }, At(1)));
            chat.push_deltas(&mut words);
        }
        black_box(chat);
    }
}

fn say(times: usize, take: impl Fn(&mut ShownChat, AgentEvent)) {
    let mut chat = ShownChat::default();
    for n in 0..times {
        if n % 200 == 0 {
            chat = ShownChat::default();
            journals::say(&mut chat, journals::OWNER, "chat", "m");
        }
        let event = AgentEvent::Text {
            delta: DELTA.to_owned(),
            provider_metadata: None,
        };
        take(&mut chat, black_box(event));
    }
}

/// What a window reads, 64 deltas in one go.
fn read(times: usize) {
    let mut transcript = Transcript::default();
    let provider_metadata = None;
    transcript.take(Item::TextBegun { provider_metadata });
    (0..64).for_each(|_| transcript.push_delta(DELTA.to_owned()));
    let lines = &transcript.lines()[1..];
    for _ in 0..times.div_ceil(64) {
        let mut window = Window::replaying(Profile::Shared, "m", &[]);
        black_box(window.read(black_box(lines)));
    }
}

fn append_to_memory(times: usize) {
    let journal = adk_stream::store::memory::MemoryJournal::default();
    append(&journal, times);
}

fn append_to_sqlite(times: usize) {
    let name = format!("bench-counts-{}.db", std::process::id());
    let file = std::env::temp_dir().join(name);
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let opened = runtime.map(|runtime| runtime.block_on(SqliteStore::open(file.clone())));
    if let Ok(Ok(store)) = opened {
        append(&store, times);
    }
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(PathBuf::from(format!("{}{end}", file.display())));
    }
}

/// Appends the end of a step, each to a chat of its own.
fn append(journal: &dyn Journal, times: usize) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else {
        return;
    };
    runtime.block_on(async {
        for number in 0..times {
            let name = format!("chat-{number}");
            let mut chat = ShownChat::default();
            let mut events = journals::say(&mut chat, journals::OWNER, &name, "m");
            events.extend(journals::agent(
                &mut chat,
                AgentEvent::Ended(Finish::Stop),
                None,
            ));
            let entry = NewEntry {
                epoch: 0,
                at: At(1),
                actor: journals::OWNER.into(),
                events,
                open: chat.open_turn(),
            };
            let id = ChatId::from(name);
            let appended = journal.append(&id, 0, entry).await;
            debug_assert!(appended.is_ok());
        }
    });
}
