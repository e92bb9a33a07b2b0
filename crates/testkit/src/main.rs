//! Prints what the wire can say, one JSON value a line, for the TypeScript tests to judge.
//!
//! `specimens chunks | messages | frames | streams FOLDER | check | journals FILE…`

use std::error::Error;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};
use testkit_lib::{corpus, journal, replay, specimen};
use wire::Profile;
use wire::assembler::Sdk;

// The library of this package, under a name that says what it is.
use adk_stream_testkit as testkit_lib;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let lines: Vec<Value> = match arguments.as_slice() {
        ["chunks"] => profiles()
            .flat_map(|(name, profile)| {
                let chunks = specimen::chunks(profile).into_iter();
                chunks.map(move |chunk| json!({"profile": name, "chunk": chunk}))
            })
            .collect(),
        ["messages"] => profiles()
            .flat_map(|(name, profile)| {
                let messages = specimen::messages(profile).into_iter();
                messages.map(move |messages| json!({"profile": name, "messages": messages}))
            })
            .collect(),
        ["frames"] => specimen::frames()
            .into_iter()
            .map(|(direction, frame)| json!({"direction": direction, "frame": frame}))
            .collect(),
        ["streams", folder] => corpus::load(Path::new(folder))
            .iter()
            .flat_map(|stream| [judge(stream, "6", Sdk::V6), judge(stream, "7", Sdk::V7)])
            .collect(),
        // The journals of SQLite files, one verdict a file.
        ["journals", files @ ..] => files
            .iter()
            .map(|file| judge_journals(Path::new(file)))
            .collect(),
        // One session a line in, its findings out, for as long as there are any.
        ["check"] => {
            let mut out = std::io::stdout().lock();
            for line in std::io::stdin().lines() {
                let session = serde_json::from_str(&line?)?;
                writeln!(out, "{}", replay::check(session))?;
                out.flush()?;
            }
            return Ok(());
        }
        _ => {
            eprintln!(
                "usage: specimens chunks | messages | frames | streams FOLDER | check | journals FILE…"
            );
            std::process::exit(2);
        }
    };
    let mut out = std::io::stdout().lock();
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

fn profiles() -> impl Iterator<Item = (&'static str, Profile)> {
    [("shared", Profile::Shared), ("v7", Profile::V7)].into_iter()
}

fn judge_journals(file: &Path) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let judged = runtime
        .map_err(|error| error.to_string())
        .and_then(|runtime| {
            let judged = runtime.block_on(read_journals(file));
            judged.map_err(|error| error.to_string())
        });
    match judged {
        Ok((chats, entries, faults)) => {
            json!({"file": file, "chats": chats, "entries": entries, "faults": faults})
        }
        Err(error) => json!({"file": file, "chats": 0, "entries": 0, "faults": [error]}),
    }
}

async fn read_journals(file: &Path) -> Result<(usize, usize, Vec<String>), Box<dyn Error>> {
    let chats = {
        let database = rusqlite::Connection::open(file)?;
        let mut query = database.prepare("SELECT DISTINCT chat FROM entry")?;
        let chats = query.query_map([], |row| row.get::<_, String>(0))?;
        chats.collect::<Result<Vec<_>, _>>()?
    };
    let stores = store::open(store::Location::Sqlite(file.to_owned())).await?;
    let (mut entries, mut faults) = (0, Vec::new());
    for chat in &chats {
        let chat = turn::ChatId::from(chat.as_str());
        let journal = stores.journal.read(&chat, 0).await?;
        entries += journal.len();
        let found = journal::faults(&journal).into_iter();
        faults.extend(found.map(|fault| format!("{chat}: {fault}")));
    }
    Ok((chats.len(), entries, faults))
}

fn judge(stream: &corpus::Stream, name: &str, sdk: Sdk) -> Value {
    let (verdict, _, messages) = stream.play(sdk);
    let mut line =
        json!({"name": stream.name, "sdk": name, "messages": messages, "outcome": verdict.outcome});
    if let Some(reason) = verdict.reason {
        line["reason"] = reason.into();
    }
    if !verdict.wrong.is_empty() {
        line["wrong"] = verdict.wrong.into();
    }
    line
}
