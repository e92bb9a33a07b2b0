//! A chat's journal and its recording.

use serde_json::{Value, json};

use crate::process::{Server, adk_stream};

fn served(keys: &str) -> Server {
    adk_stream(&["serve", "--listen", "127.0.0.1:0", "--pace", "0"])
        .variable("ADK_STREAM_KEYS", keys)
        .running()
}

const ALICE: (&str, &str) = ("x-api-key", "a-key-of-alices-own");
const BOB: (&str, &str) = ("x-api-key", "the-key-of-bob-alone");

fn say(server: &Server, text: &str) {
    let body = json!({"id": "c1", "messages": [
        {"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]}
    ]});
    let answer = server.post("/api/chat", &[ALICE], &body.to_string());
    assert_eq!(answer.status, 200);
}

fn events(entries: &Value) -> Vec<String> {
    let entries = entries.as_array().unwrap().iter();
    let events = entries.flat_map(|entry| entry["events"].as_array().unwrap().clone());
    events
        .map(|event| event["event"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn journal_says_who_decided_what_to_its_owner_alone() {
    let server = served("alice=a-key-of-alices-own,bob=the-key-of-bob-alone");
    say(&server, "Send $20 to Sam");
    let waiting = server.request("GET", "/api/approvals", &[ALICE]).json();
    let id = waiting["approvals"][0]["approvalId"]
        .as_str()
        .unwrap()
        .to_owned();
    let answer = format!("/api/approvals/{id}");
    let answer = server.post(&answer, &[ALICE], r#"{"approved":false,"reason":"no"}"#);
    assert_eq!(answer.status, 200);

    let journal = server
        .request("GET", "/api/chat/c1/journal", &[ALICE])
        .json();
    assert_eq!(journal["chat"], "c1");
    let entries = journal["entries"].as_array().unwrap();
    assert_eq!(entries[0]["seq"], 1);
    assert_eq!(entries[0]["actor"], "alice");
    assert!(entries[0]["at"].as_u64().unwrap() > 1_600_000_000_000);
    let all = events(&journal["entries"]);
    assert_eq!(all[..2], ["chat-opened", "turn-opened"]);
    assert!(all.contains(&"gate-closed".to_owned()), "{all:?}");

    let rest = server
        .request("GET", "/api/chat/c1/journal?after=1", &[ALICE])
        .json();
    assert_eq!(rest["entries"][0]["seq"], 2);
    for path in ["/api/chat/c1/journal", "/api/chat/c1/recording"] {
        let foreign = server.request("GET", path, &[BOB]);
        assert_eq!(foreign.status, 404);
        assert_eq!(foreign.json()["error"]["code"], "unknown_chat");
    }
    let bad = server.request("GET", "/api/chat/c1/journal?after=x", &[ALICE]);
    assert_eq!(bad.status, 400);
}

#[test]
fn journal_is_read_page_by_page() {
    let server = served("alice=a-key-of-alices-own");
    say(&server, "What is the weather in Tokyo?");
    let read = |query: &str| {
        let path = format!("/api/chat/c1/journal{query}");
        server.request("GET", &path, &[ALICE]).json()
    };
    let whole = read("");
    assert_eq!(whole["next"], Value::Null);
    let (mut entries, mut after) = (Vec::new(), json!(0));
    while !after.is_null() {
        let page = read(&format!("?after={after}&limit=2"));
        let some = page["entries"].as_array().unwrap();
        assert!(some.len() <= 2, "{page}");
        entries.extend(some.clone());
        after = page["next"].clone();
    }
    assert_eq!(whole["entries"], Value::Array(entries));
    for bad in ["?limit=0", "?limit=501", "?limit=x", "?after=-1"] {
        let path = format!("/api/chat/c1/journal{bad}");
        assert_eq!(server.request("GET", &path, &[ALICE]).status, 400, "{bad}");
    }
}

/// The ids of messages.
fn ids(messages: &Value) -> Vec<&str> {
    let messages = messages.as_array().unwrap().iter();
    messages
        .map(|message| message["id"].as_str().unwrap())
        .collect()
}

#[test]
fn what_edits_and_regenerations_cut_off_can_be_listed_by_its_owner_alone() {
    let server = served("alice=a-key-of-alices-own,bob=the-key-of-bob-alone");
    let chat = || server.request("GET", "/api/chat/c1", &[ALICE]).json()["messages"].clone();
    let list = || {
        let path = "/api/chat/c1/branches";
        server.request("GET", path, &[ALICE]).json()["branches"].clone()
    };
    let message = |id: &str, text: &str| json!({"id": id, "role": "user", "parts": [{"type": "text", "text": text}]});
    let send = |body: Value| {
        let answer = server.post("/api/chat", &[ALICE], &body.to_string());
        assert_eq!(answer.status, 200);
        chat()
    };
    send(json!({"id": "c1", "messages": [message("u1", "hello")]}));
    let first = send(json!({"id": "c1", "messages": [message("u2", "the weather in Oslo?")]}));
    send(json!({"id": "c1", "messages": [message("u3", "the weather in Rome?")]}));
    assert_eq!(list(), json!([]));

    // The second message is said differently, and then its answer is given again.
    let whole = chat();
    let edited = message("u2", "the weather in Tokyo?");
    let edited = send(json!({"id": "c1", "messageId": "u2", "messages": [edited]}));
    let cut = list();
    assert_eq!(cut.as_array().unwrap().len(), 1, "{cut}");
    assert_eq!(cut[0]["after"], first[1]["id"]);
    let opened = cut[0]["openedAt"].as_u64().unwrap();
    assert!(opened > 1_600_000_000_000);
    assert!(cut[0]["currentOpenedAt"].as_u64().unwrap() >= opened);
    assert_eq!(
        cut[0]["messages"].as_array().unwrap()[..],
        whole.as_array().unwrap()[2..]
    );
    let answer = edited[3]["id"].as_str().unwrap();
    send(
        json!({"id": "c1", "trigger": "regenerate-message", "messageId": answer, "messages": edited}),
    );
    let cut = list();
    assert_eq!(ids(&cut[0]["messages"]), ids(&whole)[2..]);
    assert_eq!(ids(&cut[1]["messages"]), ["u2", answer]);
    assert_eq!(cut[1]["after"], first[1]["id"]);

    // The first message of all: what it was followed by are branches of a branch.
    let before = chat();
    send(json!({"id": "c1", "messageId": "u1", "messages": [message("u1", "good evening")]}));
    let cut = list();
    assert_eq!(cut.as_array().unwrap().len(), 3, "{cut}");
    assert_eq!(cut[0]["after"], Value::Null);
    assert_eq!(ids(&cut[0]["messages"]), ids(&whole));
    assert_eq!(cut[2]["after"], first[1]["id"]);
    assert_eq!(ids(&cut[2]["messages"]), ids(&before)[2..]);
    // The chat has nothing in its place.
    assert_eq!(cut[2]["currentOpenedAt"], Value::Null);

    let foreign = server.request("GET", "/api/chat/c1/branches", &[BOB]);
    assert_eq!(foreign.status, 404);
    assert_eq!(foreign.json()["error"]["code"], "unknown_chat");
}

#[test]
fn branch_that_was_cut_off_is_selected_by_its_owner_alone() {
    let server = served("alice=a-key-of-alices-own,bob=the-key-of-bob-alone");
    let path = "/api/chat/c1/branches";
    let message = |id: &str, text: &str| json!({"id": id, "role": "user", "parts": [{"type": "text", "text": text}]});
    let chat = || server.request("GET", "/api/chat/c1", &[ALICE]).json();
    let send = |body: Value| {
        let answer = server.post("/api/chat", &[ALICE], &body.to_string());
        assert_eq!(answer.status, 200);
        chat()
    };
    let select = |key: (&str, &str), body: &Value| {
        let answer = server.post(path, &[key], &body.to_string());
        (answer.status, answer.json())
    };
    let first = send(json!({"id": "c1", "messages": [message("u1", "hello")]}));
    send(json!({"id": "c1", "messageId": "u1", "messages": [message("u1", "good evening")]}));
    let of_first = json!({"messageId": first["messages"][1]["id"]});

    let (status, selected) = select(ALICE, &of_first);
    assert_eq!((status, &selected["messages"]), (200, &first["messages"]));
    assert_eq!(selected["status"], "finished");
    // Once more, and nothing is written.
    let (status, again) = select(ALICE, &of_first);
    assert_eq!((status, again), (200, selected));
    assert_eq!(chat()["messages"], first["messages"]);
    let listed = server.request("GET", path, &[ALICE]).json();
    assert_eq!(
        listed["branches"][0]["messages"][0]["parts"][0]["text"],
        "good evening"
    );

    let (status, foreign) = select(BOB, &of_first);
    assert_eq!(
        (status, &foreign["error"]["code"]),
        (404, &json!("unknown_chat"))
    );
    let (status, unknown) = select(ALICE, &json!({"messageId": "nobody"}));
    assert_eq!(
        (status, &unknown["error"]["code"]),
        (404, &json!("unknown_message"))
    );
    let (status, bad) = select(ALICE, &json!({"message": "u1"}));
    assert_eq!(
        (status, &bad["error"]["code"]),
        (400, &json!("bad_request"))
    );
    send(json!({"id": "c1", "messages": [message("u2", "Send $20 to Sam")]}));
    let edited = listed["branches"][0]["messages"][1]["id"].clone();
    let (status, open) = select(ALICE, &json!({"messageId": edited}));
    assert_eq!((status, &open["error"]["code"]), (409, &json!("turn_open")));
}

/// A server over a file, at which everybody is one principal.
fn over(path: &std::path::Path) -> Server {
    let store = format!("sqlite:{}", path.display());
    let flags = ["serve", "--listen", "127.0.0.1:0", "--pace", "0"];
    adk_stream(&flags)
        .variable("ADK_STREAM_STORE", &store)
        .running()
}

#[test]
fn page_that_cuts_its_history_off_edits_without_saying_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let message = |id: &str, text: &str| json!({"id": id, "role": "user", "parts": [{"type": "text", "text": text}]});
    let chat = |server: &Server| server.get("/api/chat/c1").json()["messages"].clone();
    let send = |server: &Server, messages: Value| {
        let body = json!({"id": "c1", "trigger": "submit-message", "messages": messages});
        let answer = server.post("/api/chat", &[], &body.to_string());
        assert_eq!(answer.status, 200, "{}", answer.text());
        chat(server)
    };
    let server = over(&path);
    let first = send(&server, json!([message("u1", "hello")]));
    let second = message("u2", "the weather in Oslo?");
    let whole = send(&server, json!([first[0], first[1], second]));
    drop(server);
    // A while ago: what was said just now, in another tab, is not cut off.
    let file = rusqlite::Connection::open(&path).unwrap();
    file.execute("UPDATE entry SET at = at - 60000", ())
        .unwrap();
    drop(file);

    // As assistant-ui says u2 differently.
    let server = over(&path);
    let third = message("u3", "the weather in Rome?");
    let edited = send(&server, json!([whole[0], whole[1], third]));
    assert_eq!(ids(&edited)[..3], [ids(&whole)[0], ids(&whole)[1], "u3"]);
    assert_eq!(edited.as_array().unwrap().len(), 4);
    let cut = server.get("/api/chat/c1/branches").json()["branches"].clone();
    assert_eq!(ids(&cut[0]["messages"]), ids(&whole)[2..]);

    // A message without a history follows the last turn; under the id of another, it is an edit of that.
    let alone = send(&server, json!([message("u4", "good evening")]));
    assert_eq!(ids(&alone)[..4], ids(&edited)[..]);
    assert_eq!(ids(&alone)[4], "u4");
    let first = send(&server, json!([message("u1", "good evening")]));
    assert_eq!(first.as_array().unwrap().len(), 2, "{first}");
    assert_eq!(first[0]["parts"][0]["text"], "good evening");
}

#[test]
fn messages_with_content_and_no_ids_are_kept_in_the_form_that_clients_take() {
    let server = served("alice=a-key-of-alices-own");
    let chat = || server.request("GET", "/api/chat/c1", &[ALICE]).json()["messages"].clone();
    let send = |body: &Value| {
        let answer = server.post("/api/chat", &[ALICE], &body.to_string());
        assert_eq!(answer.status, 200);
        chat()
    };
    let body = json!({"id": "c1", "messages": [{"role": "user", "content": "hello"}]});
    let once = send(&body);
    assert_eq!(once[0]["parts"], json!([{"type": "text", "text": "hello"}]));
    assert_eq!(once[0]["content"], Value::Null);
    assert!(ids(&once).iter().all(|id| !id.is_empty()), "{once}");
    // The same body twice is one turn; the same words behind it are another.
    assert_eq!(send(&body), once);
    let again = json!({"id": "c1", "messages": [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": "hello"},
    ]});
    let twice = send(&again);
    assert_eq!(twice.as_array().unwrap().len(), 4, "{twice}");
    assert_ne!(twice[0]["id"], twice[2]["id"]);
    assert_eq!(send(&again), twice);
}

/// A journal of many megabytes is neither answered at once nor left out.
#[test]
fn a_long_journal_comes_in_pages_and_its_recording_comes_whole() {
    let server = served("alice=a-key-of-alices-own");
    let long = "x".repeat(300 * 1024);
    for number in 0..5 {
        let message = json!({"id": format!("u{number}"), "role": "user",
            "parts": [{"type": "text", "text": format!("hello {long}")}]});
        let body = json!({"id": "c1", "messages": [message]}).to_string();
        assert_eq!(server.post("/api/chat", &[ALICE], &body).status, 200);
    }
    let page = server.request("GET", "/api/chat/c1/journal", &[ALICE]);
    assert!(page.body.len() < 1024 * 1024 + 1024, "{}", page.body.len());
    assert!(page.json()["next"].is_u64());
    let recording = server.request("GET", "/api/chat/c1/recording", &[ALICE]);
    let frames = recording.json()["frames"].clone();
    let opened = frames.as_array().unwrap().iter();
    let opened: Vec<_> = opened
        .filter_map(|frame| frame["opens"]["message"]["id"].as_str())
        .collect();
    assert_eq!(opened, ["u0", "u1", "u2", "u3", "u4"]);
}

#[test]
fn approvals_are_listed_page_by_page_to_their_owner_alone() {
    let server = served("alice=a-key-of-alices-own,bob=the-key-of-bob-alone");
    for number in 0..5 {
        let message = json!({"id": "u1", "role": "user",
            "parts": [{"type": "text", "text": "Send $20 to Sam"}]});
        let body = json!({"id": format!("c{number}"), "messages": [message]}).to_string();
        assert_eq!(server.post("/api/chat", &[ALICE], &body).status, 200);
    }
    let list = |query: &str, who| {
        let path = format!("/api/approvals{query}");
        server.request("GET", &path, &[who]).json()
    };
    let chats = |page: &Value| -> Vec<String> {
        let approvals = page["approvals"].as_array().unwrap().iter();
        let chats = approvals.map(|asked| asked["chatId"].as_str().unwrap().to_owned());
        chats.collect()
    };
    let whole = list("", ALICE);
    assert_eq!(chats(&whole), ["c0", "c1", "c2", "c3", "c4"]);
    assert_eq!(whole["nextCursor"], Value::Null);
    let first = list("?limit=2", ALICE);
    assert_eq!(chats(&first), ["c0", "c1"]);
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = list(&format!("?limit=2&cursor={cursor}"), ALICE);
    assert_eq!(chats(&second), ["c2", "c3"]);
    // What an earlier page showed may be answered meanwhile.
    let answered = first["approvals"][1]["approvalId"].as_str().unwrap();
    let path = format!("/api/approvals/{answered}");
    server.post(&path, &[ALICE], r#"{"approved":false}"#);
    let second = list(&format!("?limit=2&cursor={cursor}"), ALICE);
    assert_eq!(chats(&second), ["c2", "c3"]);
    let cursor = second["nextCursor"].as_str().unwrap();
    let third = list(&format!("?limit=2&cursor={cursor}"), ALICE);
    assert_eq!(chats(&third), ["c4"]);
    assert_eq!(third["nextCursor"], Value::Null);
    assert_eq!(chats(&list(&format!("?cursor={cursor}"), BOB)), [""; 0]);
    for bad in ["?limit=0", "?limit=201", "?cursor=x", "?cursor="] {
        let path = format!("/api/approvals{bad}");
        let refused = server.request("GET", &path, &[ALICE]);
        assert_eq!(refused.status, 400, "{bad}");
        assert_eq!(refused.json()["error"]["code"], "bad_request");
    }
}

#[test]
fn recording_has_each_turn_as_clients_got_it() {
    let server = served("alice=a-key-of-alices-own");
    say(&server, "What is the weather in Tokyo?");
    let recording = server
        .request("GET", "/api/chat/c1/recording", &[ALICE])
        .json();
    let frames = recording["frames"].as_array().unwrap();
    assert_eq!(frames[0]["opens"]["message"]["id"], "u1");
    assert_eq!(frames[0]["opens"]["after"], Value::Null);
    let mut last = 0;
    for frame in frames {
        let at = frame["at"].as_u64().unwrap();
        assert!(at >= last, "time goes on");
        last = at;
        assert_eq!(frame["messageId"], frames[0]["messageId"]);
    }
    let chunks = frames
        .iter()
        .flat_map(|frame| frame["chunks"].as_array().unwrap());
    let kinds: Vec<_> = chunks
        .map(|chunk| chunk["type"].as_str().unwrap())
        .filter(|kind| !kind.starts_with("reasoning") && !kind.starts_with("text"))
        .collect();
    assert_eq!(
        kinds,
        [
            "start-step",
            "tool-input-start",
            "tool-input-available",
            "tool-output-available",
            "finish-step",
            "start-step",
            "finish-step",
            "finish",
        ]
    );
}

#[test]
fn info_says_who_answers_to_whom() {
    let server = served("alice=a-key-of-alices-own");
    assert_eq!(server.request("GET", "/api/info", &[]).status, 401);
    let info = server.request("GET", "/api/info", &[ALICE]).json();
    assert_eq!(info["agent"], "demo");
    assert_eq!(info["audioInput"], false);
    assert_eq!(info["principal"], "alice");
}

#[test]
fn page_of_a_folder_is_served_in_place_of_the_built_in_one() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("index.html"), "<p>mine</p>").unwrap();
    let path = folder.path().to_str().unwrap();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--page", path];
    let server = adk_stream(&arguments).running();
    assert_eq!(server.get("/").text(), "<p>mine</p>");
    assert_eq!(server.get("/favicon.svg").status, 404);
    assert_eq!(server.get("/healthz").status, 200);

    adk_stream(&["serve", "--page", "nowhere"])
        .refused()
        .says("--page: `nowhere` is not a folder with an index.html");
}
