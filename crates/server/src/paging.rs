//! Lists in pages: what a client asks for in the query, and where the next page begins.

use axum::http::Uri;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use store::GatePlace;
use turn::At;

use crate::problem::Problem;

/// A parameter of the query, as it was sent.
pub(crate) fn parameter<'a>(uri: &'a Uri, name: &str) -> Option<&'a str> {
    let mut pairs = uri.query().unwrap_or_default().split('&');
    pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
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

/// Where a page of approvals begins: `?cursor=CURSOR`.
pub(crate) fn cursor(uri: &Uri) -> Result<Option<GatePlace>, Problem> {
    let Some(cursor) = parameter(uri, "cursor") else {
        return Ok(None);
    };
    let place = decode(cursor);
    let place = place.ok_or_else(|| {
        Problem::bad_request("cursor: expected the nextCursor of an earlier page")
    })?;
    Ok(Some(place))
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
        for query in ["limit=", "limit=0", "limit=-1", "limit=201", "limit=x"] {
            let uri: Uri = format!("/api/approvals?{query}").parse().unwrap();
            assert!(limit(&uri, 50, 200).is_err(), "{query}");
        }
    }
}
