//! Responses that are written without a router, and without waiting: a connection is refused.

#[cfg(feature = "cli")]
use crate::request_context::RequestId;

/// The head of a response that closes the connection, with the headers that every response has for
/// browsers: it is shown in no frame, and loads nothing.
macro_rules! head {
    ($status:literal) => {
        concat!(
            "HTTP/1.1 ",
            $status,
            "\r\nconnection: close\r\ncontent-type: application/json\r\n",
            "content-security-policy: default-src 'none'; frame-ancestors 'none'\r\n",
            "x-frame-options: DENY\r\nx-content-type-options: nosniff\r\n",
            "referrer-policy: no-referrer\r\ncross-origin-opener-policy: same-origin\r\n",
            "cross-origin-resource-policy: same-origin\r\n",
        )
    };
}

/// There are too many connections. The log counts them, and this has no id: nothing was read.
pub(super) const NO_ROOM: &[u8] = concat!(
    head!("503 Service Unavailable\r\nretry-after: 1"),
    "content-length: 92\r\n\r\n",
    "{\"error\":{\"code\":\"too_many_connections\",\"message\":\"too many connections; try again later\"}}\n"
)
.as_bytes();

/// The code of plain HTTP where TLS is spoken.
#[cfg(feature = "cli")]
pub(crate) const TLS_REQUIRED: &str = "tls_required";

/// Plain HTTP, where TLS is spoken.
#[cfg(feature = "cli")]
pub(crate) fn plain(id: &RequestId) -> String {
    let message = "this port speaks TLS; use an https:// or wss:// URL";
    let error =
        serde_json::json!({"code": TLS_REQUIRED, "message": message, "requestId": id.as_str()});
    let body = format!("{}\n", serde_json::json!({"error": error}));
    let length = body.len();
    let head = head!("400 Bad Request");
    format!("{head}x-request-id: {id}\r\ncontent-length: {length}\r\n\r\n{body}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(refusal: &[u8]) {
        let text = std::str::from_utf8(refusal).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let length = format!("content-length: {}", body.len());
        assert!(head.ends_with(&length), "{length}");
        assert!(serde_json::from_str::<serde_json::Value>(body).is_ok());
        for header in [
            "content-security-policy: default-src 'none'; frame-ancestors 'none'",
            "x-frame-options: DENY",
            "x-content-type-options: nosniff",
        ] {
            assert!(head.contains(&format!("\r\n{header}\r\n")), "{head}");
        }
    }

    #[test]
    fn refusals_have_their_length_and_tell_browsers_what_they_may_do() {
        check(NO_ROOM);
        #[cfg(feature = "cli")]
        check(plain(&RequestId::fresh()).as_bytes());
    }
}
