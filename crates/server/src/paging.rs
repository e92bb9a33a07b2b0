//! Lists in pages: what a client asks for in the query, and where the next page begins.

use axum::http::Uri;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use store::{ChatPlace, GatePlace};
use turn::At;

use crate::problem::Problem;

/// The largest number that every client holds exactly.
pub(crate) const LARGEST: u64 = (1 << 53) - 1;

/// A parameter of the query, as it was sent.
pub(crate) fn parameter<'a>(uri: &'a Uri, name: &str) -> Option<&'a str> {
    let mut pairs = uri.query().unwrap_or_default().split('&');
    pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

/// A parameter of the query, with its escapes resolved.
pub(crate) fn text(uri: &Uri, name: &str) -> Result<Option<String>, Problem> {
    let Some(raw) = parameter(uri, name) else {
        return Ok(None);
    };
    let text = unescape(raw).and_then(|bytes| String::from_utf8(bytes).ok());
    let problem = || Problem::bad_request(format!("{name}: not escaped as a query is"));
    text.map(Some).ok_or_else(problem)
}

fn unescape(raw: &str) -> Option<Vec<u8>> {
    let mut bytes = raw.bytes();
    let mut text = Vec::with_capacity(raw.len());
    while let Some(byte) = bytes.next() {
        text.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?].map(char::from);
                let [high, low] = digits.map(|digit| digit.to_digit(16));
                u8::try_from(high? * 16 + low?).ok()?
            }
            byte => byte,
        });
    }
    Some(text)
}

/// How many items a page may hold: `?limit=N`.
pub(crate) fn limit(uri: &Uri, default: usize, most: usize) -> Result<usize, Problem> {
    let Some(limit) = parameter(uri, "limit") else {
        return Ok(default);
    };
    let limit = limit.parse().ok();
    let limit = limit.filter(|limit| (1..=most).contains(limit));
    limit.ok_or_else(|| Problem::bad_request(format!("limit: expected a number from 1 to {most}")))
}

/// The place after which a client lacks the journal: `?after=SEQ`.
pub(crate) fn after(uri: &Uri) -> Result<Option<u64>, Problem> {
    let Some(seq) = parameter(uri, "after") else {
        return Ok(None);
    };
    let seq = seq.parse().ok().filter(|seq| *seq <= LARGEST);
    let problem = || Problem::bad_request("after: expected the seq of an entry");
    seq.map(Some).ok_or_else(problem)
}

/// How many chunks of a window a client has that counts them: `?startIndex=N`. One that counts from the end
/// gets the whole.
pub(crate) fn start_index(uri: &Uri) -> Result<Option<usize>, Problem> {
    let Some(index) = parameter(uri, "startIndex") else {
        return Ok(None);
    };
    let index: Option<i64> = index.parse().ok();
    let index = index.filter(|index| index.unsigned_abs() <= LARGEST);
    let problem = || Problem::bad_request("startIndex: expected a number of chunks");
    let index = index.ok_or_else(problem)?;
    Ok(Some(usize::try_from(index).unwrap_or(0)))
}

/// Where a page of approvals begins: `?cursor=CURSOR`.
pub(crate) fn cursor(uri: &Uri) -> Result<Option<GatePlace>, Problem> {
    let Some(cursor) = parameter(uri, "cursor") else {
        return Ok(None);
    };
    decode(cursor).map(Some).ok_or_else(unknown_cursor)
}

/// Where a page of chats begins: `?cursor=CURSOR`.
pub(crate) fn chat_cursor(uri: &Uri) -> Result<Option<ChatPlace>, Problem> {
    let Some(cursor) = parameter(uri, "cursor") else {
        return Ok(None);
    };
    let decode = || {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let (active, chat) = text.split_once('.')?;
        Some(ChatPlace {
            active: At(active.parse().ok()?),
            chat: chat.into(),
        })
    };
    decode().map(Some).ok_or_else(unknown_cursor)
}

fn unknown_cursor() -> Problem {
    Problem::bad_request("cursor: expected the nextCursor of an earlier page")
}

/// A cursor of the list of chats. Its content is opaque.
pub(crate) fn encode_chat(place: &ChatPlace) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{}", place.active.0, place.chat))
}

/// A cursor as a client sends it back. Its content is opaque.
pub(crate) fn encode(place: GatePlace) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{}", place.asked.0, place.position))
}

fn decode(cursor: &str) -> Option<GatePlace> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let (asked, position) = text.split_once('.')?;
    Some(GatePlace {
        asked: At(asked.parse().ok()?),
        position: position.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_comes_back_as_it_was_given() {
        let place = GatePlace {
            asked: At(1_790_000_000_000),
            position: 77,
        };
        let uri = format!("/api/approvals?limit=9&cursor={}", encode(place));
        let uri: Uri = uri.parse().unwrap();
        assert_eq!(cursor(&uri).unwrap(), Some(place));
        assert_eq!(limit(&uri, 50, 200).unwrap(), 9);
    }

    #[test]
    fn words_of_a_query_are_unescaped() {
        let words = |query: &str| {
            let uri: Uri = format!("/api/chats?{query}").parse().unwrap();
            text(&uri, "q")
        };
        let found = words("q=%E6%BC%A2+a%2bb").unwrap();
        assert_eq!(found.as_deref(), Some("漢 a+b"));
        assert_eq!(words("limit=1").unwrap(), None);
        for nonsense in ["q=%", "q=%4", "q=%zz", "q=%ff"] {
            assert!(words(nonsense).is_err(), "{nonsense}");
        }
        let place = ChatPlace {
            active: At(7),
            chat: "チャット 1.5".into(),
        };
        let uri = format!("/api/chats?cursor={}", encode_chat(&place));
        assert_eq!(chat_cursor(&uri.parse().unwrap()).unwrap(), Some(place));
        let nonsense: Uri = "/api/chats?cursor=MTIz".parse().unwrap();
        assert!(chat_cursor(&nonsense).is_err());
    }

    #[test]
    fn nonsense_in_the_query_is_refused() {
        for query in [
            "cursor=",
            "cursor=!",
            "cursor=MTIz",
            "cursor=Li4",
            "cursor=_w",
        ] {
            let uri: Uri = format!("/api/approvals?{query}").parse().unwrap();
            assert!(cursor(&uri).is_err(), "{query}");
        }
        for query in ["after=", "after=-1", "after=x", "after=9007199254740992"] {
            let uri: Uri = format!("/api/chat/c/journal?{query}").parse().unwrap();
            assert!(after(&uri).is_err(), "{query}");
        }
        for query in ["limit=", "limit=0", "limit=-1", "limit=201", "limit=x"] {
            let uri: Uri = format!("/api/approvals?{query}").parse().unwrap();
            assert!(limit(&uri, 50, 200).is_err(), "{query}");
        }
    }
}
