//! Compression of responses in JSON: histories, journals and lists shrink to a fifth or less.
//!
//! Only whole responses are compressed, of a length that is known before the first byte. A stream has
//! no length: a compressor would hold its chunks back, or save nothing.

use std::io::Write;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY,
};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::{Body as _, Frame, SizeHint};

use crate::page::Encoding;

/// A shorter response fits into one packet as it is.
const MIN_BYTES: u64 = 1024;

/// From how many bytes on a response is compressed on a blocking thread: it takes a millisecond.
const LARGE: usize = 64 * 1024;

/// The quality of Brotli, of 11: as fast as gzip's default, and smaller.
const BROTLI: i32 = 4;

/// How much Brotli looks back, as a power of two: enough for a page of a journal.
const WINDOW: i32 = 20;

/// Compresses a response, if it gains from it and the client accepts it.
pub(crate) async fn compress(request: Request, next: Next) -> Response {
    let mut accepted = Encoding::ALL.into_iter();
    let encoding = accepted.find(|encoding| encoding.is_accepted(request.headers()));
    let mut response = next.run(request).await;
    if !is_compressible(&response) {
        return response;
    }
    // Also where it is not compressed: a cache must not serve this one to others.
    response
        .headers_mut()
        .append(VARY, HeaderValue::from(ACCEPT_ENCODING));
    let Some(encoding) = encoding else {
        return response;
    };
    let (mut parts, mut body) = response.into_parts();
    let Ok(bytes) = collect(&mut body).await else {
        // A whole body in memory does not fail; one that did has nothing to send.
        return Response::from_parts(parts, body);
    };
    let compressed = match bytes.len() < LARGE {
        true => encode(encoding, &bytes),
        false => {
            let bytes = bytes.clone();
            let encoded = tokio::task::spawn_blocking(move || encode(encoding, &bytes));
            encoded.await.unwrap_or_default()
        }
    };
    let bytes = match compressed {
        Some(compressed) if compressed.len() < bytes.len() => {
            mark(&mut parts.headers, encoding, compressed.len());
            Bytes::from(compressed)
        }
        _ => bytes,
    };
    Response::from_parts(parts, Body::new(Compressed { bytes, body }))
}

/// Whether a response is whole, in JSON, not compressed yet, and large enough.
fn is_compressible(response: &Response) -> bool {
    let headers = response.headers();
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let length = response.body().size_hint().exact();
    kind.is_some_and(|kind| kind.starts_with(b"application/json"))
        && !headers.contains_key(CONTENT_ENCODING)
        && length.is_some_and(|length| length >= MIN_BYTES)
}

fn mark(headers: &mut HeaderMap, encoding: Encoding, length: usize) {
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    // It names the bytes, which are others now.
    headers.remove(ETAG);
}

pub(crate) fn encode(encoding: Encoding, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() / 4);
    match encoding {
        Encoding::Brotli => {
            let parameters = BrotliEncoderParams {
                quality: BROTLI,
                lgwin: WINDOW,
                size_hint: bytes.len(),
                ..BrotliEncoderParams::default()
            };
            brotli::BrotliCompress(&mut &*bytes, &mut out, &parameters).ok()?;
            Some(out)
        }
        Encoding::Gzip => {
            let mut gzip = GzEncoder::new(out, Compression::default());
            gzip.write_all(bytes).ok()?;
            gzip.finish().ok()
        }
    }
}

/// The bytes of a body, which stays: it holds the request's place until the response is written.
async fn collect(body: &mut Body) -> Result<Bytes, axum::Error> {
    let mut all = Vec::new();
    let mut only = None;
    while let Some(frame) =
        std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await
    {
        if let Ok(data) = frame?.into_data() {
            match only.take() {
                None if all.is_empty() => only = Some(data),
                first => {
                    all.extend_from_slice(&first.unwrap_or_default());
                    all.extend_from_slice(&data);
                }
            }
        }
    }
    Ok(only.unwrap_or_else(|| all.into()))
}

/// A compressed body, with the one that it was made from.
struct Compressed {
    bytes: Bytes,
    body: Body,
}

impl hyper::body::Body for Compressed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.bytes.is_empty() {
            false => Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.bytes))))),
            // It has ended already, and notes that it was asked.
            true => Pin::new(&mut self.body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn what_is_compressed_is_what_comes_out() {
        let text = "{\"text\":\"one of many\"},".repeat(5000);
        let brotli = encode(Encoding::Brotli, text.as_bytes()).unwrap();
        let gzip = encode(Encoding::Gzip, text.as_bytes()).unwrap();
        assert!(brotli.len() < text.len() / 20 && gzip.len() < text.len() / 20);
        let (mut of_brotli, mut of_gzip) = (String::new(), String::new());
        brotli::Decompressor::new(&brotli[..], 4096)
            .read_to_string(&mut of_brotli)
            .unwrap();
        flate2::read::GzDecoder::new(&gzip[..])
            .read_to_string(&mut of_gzip)
            .unwrap();
        assert_eq!((of_brotli, of_gzip), (text.clone(), text));
    }

    #[test]
    fn streams_short_responses_and_other_types_stay_as_they_are() {
        let response = |kind: &'static str, body: Body| {
            let mut response = Response::new(body);
            let kind = HeaderValue::from_static(kind);
            response.headers_mut().insert(CONTENT_TYPE, kind);
            response
        };
        let long = "x".repeat(2000);
        let stream = || {
            let piece = Ok::<_, std::convert::Infallible>(Bytes::from(long.clone()));
            Body::from_stream(futures_util::stream::iter([piece]))
        };
        let whole = || Body::from(long.clone());
        assert!(is_compressible(&response("application/json", whole())));
        assert!(!is_compressible(&response("application/json", stream())));
        assert!(!is_compressible(&response("text/event-stream", stream())));
        assert!(!is_compressible(&response("text/event-stream", whole())));
        assert!(!is_compressible(&response("application/json", "{}".into())));
        let mut done = response("application/json", whole());
        mark(done.headers_mut(), Encoding::Gzip, 10);
        assert!(!is_compressible(&done));
    }

    #[tokio::test]
    async fn body_in_several_pieces_is_collected_in_order() {
        let pieces = ["ab", "", "cd", "e"]
            .map(|piece| Ok::<_, std::convert::Infallible>(Bytes::from(piece)));
        let mut body = Body::from_stream(futures_util::stream::iter(pieces));
        assert_eq!(collect(&mut body).await.unwrap(), "abcde");
    }
}
