//! Journals that are long or many, written as the engine would have written them, only faster.

use std::io;
use std::path::Path;

use adk_stream::store::sqlite::SqliteStore;
use adk_stream::store::{Appended, Journal, NewEntry};
use adk_stream::turn::agent::AgentEvent;
use adk_stream::turn::call::Place;
use adk_stream::turn::event::Finish;
use adk_stream::turn::input::Ids;
use adk_stream::turn::message::{Message, Part};
use adk_stream::turn::policy::{PolicyDecision, Verdict};
use adk_stream::turn::{At, ChatId, Event, Input, OpenTurn, Principal};
use adk_stream::view::ShownChat;
use futures_util::{StreamExt, stream};

use crate::stage::DELTA;

/// Who speaks to a server without keys.
pub const OWNER: &str = "local";

/// How many appends wait at once: as many as the store takes in two commits.
const AT_ONCE: usize = 512;

/// Writes chats that each wait for one approval. The first `own` belong to [`OWNER`], each of the others
/// to another principal.
pub async fn park(path: &Path, chats: usize, own: usize) -> io::Result<()> {
    let store = open(path).await?;
    let appends = (0..chats).map(|number| {
        let owner = match number < own {
            true => OWNER.to_owned(),
            false => format!("user-{number}"),
        };
        let name = format!("parked-{number}");
        let mut chat = ShownChat::default();
        let mut events = say(&mut chat, &owner, &name, &name);
        events.extend(agent(&mut chat, question(), Some(asked())));
        events.extend(agent(&mut chat, AgentEvent::Ended(Finish::Stop), None));
        append(
            &store,
            ChatId::from(name),
            0,
            owner,
            events,
            chat.open_turn(),
        )
    });
    let mut appends = stream::iter(appends).buffer_unordered(AT_ONCE);
    while let Some(appended) = appends.next().await {
        appended?;
    }
    Ok(())
}

/// Writes one chat of `turns` turns, each a message and its answer.
pub async fn converse(path: &Path, name: &str, turns: usize) -> io::Result<()> {
    let store = open(path).await?;
    let mut chat = ShownChat::default();
    for turn in 0..turns {
        let seq = chat.seq();
        let mut events = say(&mut chat, OWNER, name, &format!("{name}-{turn}"));
        let text = AgentEvent::Text {
            delta: DELTA.repeat(10),
            provider_metadata: None,
        };
        events.extend(agent(&mut chat, text, None));
        events.extend(agent(&mut chat, AgentEvent::Ended(Finish::Stop), None));
        let (id, owner) = (ChatId::from(name), OWNER.to_owned());
        append(&store, id, seq, owner, events, chat.open_turn()).await?;
        chat.appended(seq + 1);
    }
    Ok(())
}

/// The call id and the approval id of a parked chat.
pub fn parked(number: usize) -> (String, String) {
    let name = format!("parked-{number}");
    let mut chat = ShownChat::default();
    say(&mut chat, OWNER, &name, &name);
    agent(&mut chat, question(), Some(asked()));
    agent(&mut chat, AgentEvent::Ended(Finish::Stop), None);
    let gate = chat.current().and_then(|turn| turn.last_gate().cloned());
    gate.map_or_else(Default::default, |gate| {
        (gate.call.to_string(), gate.id.to_string())
    })
}

async fn open(path: &Path) -> io::Result<SqliteStore> {
    let store = SqliteStore::open(path.to_path_buf()).await;
    store.map_err(io::Error::other)
}

async fn append(
    store: &SqliteStore,
    chat: ChatId,
    seq: u64,
    owner: String,
    events: Vec<Event>,
    open: Option<OpenTurn>,
) -> io::Result<()> {
    let entry = NewEntry {
        epoch: 0,
        at: At(1),
        actor: Principal::from(owner).into(),
        events,
        open,
    };
    match store.append(&chat, seq, entry).await {
        Ok(Appended::Ok { .. }) => Ok(()),
        Ok(Appended::Conflict { .. }) => Err(io::Error::other("the file is not new")),
        Err(error) => Err(io::Error::other(error)),
    }
}

pub(crate) fn say(chat: &mut ShownChat, owner: &str, name: &str, message: &str) -> Vec<Event> {
    let part = Part::text(DELTA);
    let input = Input::Message {
        message: Message::new(message, vec![part]),
        principal: Principal::from(owner),
        after: chat.current().map(|turn| turn.id().clone()),
        page_tools: Vec::new(),
        request: None,
        ids: Ids {
            turn: format!("turn_{name}_{message}").into(),
            message: format!("message_{name}_{message}"),
        },
    };
    chat.handle(input, At(1)).append
}

pub(crate) fn agent(
    chat: &mut ShownChat,
    event: AgentEvent,
    policy: Option<PolicyDecision>,
) -> Vec<Event> {
    chat.handle(Input::Agent { event, policy }, At(1)).append
}

fn question() -> AgentEvent {
    AgentEvent::Call {
        provider_id: None,
        tool: "pay".to_owned(),
        input: serde_json::json!({"cents": 100}),
        provider_metadata: None,
    }
}

fn asked() -> PolicyDecision {
    PolicyDecision {
        place: Place::Server,
        verdict: Verdict::Ask {
            question: "Pay 100 cents?".to_owned(),
        },
        timeout: None,
    }
}
