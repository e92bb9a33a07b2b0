//! Responses that are written without a router, and without waiting: a connection is refused.

/// A response that closes the connection, with the headers that every response has for browsers: it is
/// shown in no frame, and loads nothing.
macro_rules! refusal {
    ($status:literal, $length:literal, $body:literal) => {
        concat!(
            "HTTP/1.1 ",
            $status,
            "\r\nconnection: close\r\ncontent-type: application/json\r\n",
            "content-security-policy: default-src 'none'; frame-ancestors 'none'\r\n",
            "x-frame-options: DENY\r\nx-content-type-options: nosniff\r\n",
            "referrer-policy: no-referrer\r\ncross-origin-opener-policy: same-origin\r\n",
            "cross-origin-resource-policy: same-origin\r\n",
            "content-length: ",
            $length,
            "\r\n\r\n",
            $body
        )
        .as_bytes()
    };
}

/// There are too many connections.
pub(super) const NO_ROOM: &[u8] = refusal!(
    "503 Service Unavailable\r\nretry-after: 1",
    92,
    "{\"error\":{\"code\":\"too_many_connections\",\"message\":\"too many connections; try again later\"}}\n"
);

/// Plain HTTP, where TLS is spoken.
#[cfg(feature = "cli")]
pub(crate) const PLAIN: &[u8] = refusal!(
    "400 Bad Request",
    98,
    "{\"error\":{\"code\":\"tls_required\",\"message\":\"this port speaks TLS; use an https:// or wss:// URL\"}}\n"
);

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
        check(PLAIN);
    }
}
