//! Journals that real clients and the real server have made, judged: every prefix of each must read
//! back to the same chat, and continuing from it must give a stream that clients accept.

use serde_json::json;
use turn::agent::AgentEvent;
use turn::call::Outcome;
use turn::event::Finish;
use turn::gate::Decision;
use turn::{At, Chat, Effect, Entry, Input, Status};
use view::{ShownChat, Window};
use wire::assembler::Sdk;
use wire::{Profile, Role};

use crate::Checker;

/// What is wrong with a journal, as sentences.
pub fn faults(entries: &[Entry]) -> Vec<String> {
    let mut faults = Vec::new();
    let whole = ShownChat::replay(entries);
    for length in 1..=entries.len() {
        let (head, tail) = entries.split_at(length);
        let mut chat = ShownChat::replay(head);
        let mut grown = chat.clone();
        tail.iter().for_each(|entry| grown.append(entry));
        if grown.messages() != whole.messages() || grown.status() != whole.status() {
            faults.push(format!(
                "the first {length} entries, and then the rest, read otherwise than all"
            ));
        }
        if let Err(fault) = go_on(&mut chat) {
            faults.push(format!(
                "from {length} of {} entries: {fault}",
                entries.len()
            ));
        }
    }
    faults
}

/// Takes a chat over as a new process would, brings its turn to an end, and has the checker look at
/// what a page would see of it.
fn go_on(chat: &mut ShownChat) -> Result<(), String> {
    let now = At(u64::MAX / 2);
    let idempotent = Vec::new();
    let mut effects = chat
        .handle(
            Input::Recover {
                here: Vec::new(),
                idempotent,
                by: None,
            },
            now,
        )
        .effects;
    for _ in 0..200 {
        let input = match next(chat, &mut effects) {
            Some(input) => input,
            None => break,
        };
        effects.extend(chat.handle(input, now).effects);
    }
    let Some(turn) = chat.current() else {
        return Ok(());
    };
    if matches!(turn.status(), Status::Running | Status::Parked) {
        return Err(format!("the turn comes to no end: {:?}", turn.status()));
    }
    for (sdk, profile) in [
        (Sdk::V6, Profile::Shared),
        (Sdk::V7, Profile::Shared),
        (Sdk::V7, Profile::V7),
    ] {
        let mut users = chat.messages();
        users.retain(|message| message.role == Role::User);
        let mut checker = Checker::new(sdk).holding(users);
        checker.resume();
        let lines = chat
            .current_transcript()
            .map_or(&[][..], |shown| shown.lines());
        let mut window = Window::replaying(profile, turn.message_id(), lines);
        let chunks = window.read(lines);
        chunks.iter().for_each(|chunk| checker.feed(chunk));
        checker.close();
        let mut found = checker.verdict();
        // A turn that failed says so by an error, at which clients are meant to throw.
        if turn.status() == Status::Failed {
            found.clear();
        }
        if let Some(finding) = found.first() {
            return Err(format!("{sdk:?} {profile:?}: {finding}"));
        }
    }
    Ok(())
}

/// What happens next: the model answers, a tool is done, or a person answers.
fn next(chat: &Chat, effects: &mut Vec<Effect>) -> Option<Input> {
    let done = |call| Input::ToolDone {
        call,
        outcome: Outcome::Output {
            output: json!({"success": true}),
        },
    };
    while !effects.is_empty() {
        match effects.remove(0) {
            Effect::CallModel => {
                effects.insert(0, Effect::StopWork);
                let delta = "Done.".to_owned();
                let event = AgentEvent::Text {
                    delta,
                    provider_metadata: None,
                };
                let policy = None;
                return Some(Input::Agent { event, policy });
            }
            Effect::RunTool(call) | Effect::WakeTool { call, .. } => return Some(done(call)),
            // Used above as the mark of a step that has been begun.
            Effect::StopWork => {
                let event = AgentEvent::Ended(Finish::Stop);
                let policy = None;
                return Some(Input::Agent { event, policy });
            }
            Effect::SetTimer { .. } => {}
        }
    }
    let gate = chat.current()?.open_gates().next()?;
    let decision = match gate.is_approval() {
        true => Decision::Approved {
            reason: None,
            input: None,
        },
        false => Decision::Output { output: json!({}) },
    };
    let gate = gate.id.clone();
    Some(Input::Answer { gate, decision })
}
