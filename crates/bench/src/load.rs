//! Clients that cost next to nothing, so that what is measured is the server.
//!
//! They understand of a stream only what they count: where a delta begins, and where the stream ends.

mod http;
mod socket;

use std::time::Duration;

use memchr::memmem;

pub use http::Http;
pub use socket::Socket;

/// What is counted in a stream.
const MARK: &[u8] = b"\"text-delta\"";

/// What a client saw of one stream.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen {
    /// How long it took from the request to the first delta.
    pub first: Duration,
    /// How many deltas came.
    pub deltas: usize,
}

/// Counts marks in bytes that come in pieces cut anywhere.
#[derive(Debug, Default)]
struct Counter {
    tail: Vec<u8>,
}

impl Counter {
    /// How many marks end in this piece.
    fn count(&mut self, piece: &[u8]) -> usize {
        let inside = memmem::find_iter(piece, MARK).count();
        let edge = piece.len().min(MARK.len() - 1);
        self.tail.extend_from_slice(&piece[..edge]);
        let across = memmem::find_iter(&self.tail, MARK).count();
        // What lies in the piece alone was counted above.
        let alone = memmem::find_iter(&piece[..edge], MARK).count();
        self.tail.extend_from_slice(&piece[edge..]);
        let excess = self.tail.len().saturating_sub(MARK.len() - 1);
        self.tail.drain(..excess);
        inside + across - alone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted_once_wherever_they_are_cut() {
        let stream = br#"data: {"type":"text-delta"} data: {"type":"text-delta"}"#;
        for first in 0..stream.len() {
            for second in first..stream.len() {
                let mut counter = Counter::default();
                let pieces = [&stream[..first], &stream[first..second], &stream[second..]];
                let counted = pieces.iter().map(|piece| counter.count(piece));
                assert_eq!(counted.sum::<usize>(), 2, "cut at {first} and {second}");
            }
        }
    }
}
