//! A hash of what a step has said, which a client and this server compute alike: FNV-1a, 32 bits, over
//! UTF-8.
//!
//! It tells a step from another that was begun in its place. What is the same whichever way a step is
//! read goes in: the words, but not how they are cut into deltas; that a block begins; the ids of calls,
//! but not what became of them. docs/wire.md says it for those who write clients.

use serde_json::Value;
use wire::{Chunk, Profile};

use super::line::{Block, CallUpdate, Line};

/// The hash of a step, as far as it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepHash(u32);

impl Default for StepHash {
    fn default() -> Self {
        Self(0x811c_9dc5)
    }
}

impl StepHash {
    pub(super) fn value(self) -> u32 {
        self.0
    }

    /// Adds a line, as a client of this profile gets it.
    pub(super) fn add(&mut self, line: &Line, profile: Profile) {
        match line {
            Line::Text(delta) | Line::Reasoning(delta) => self.add_text(delta.as_str()),
            Line::Block(block) if block.is_start() => self.add_text(match block.block {
                Block::Text => "text-start",
                Block::Reasoning => "reasoning-start",
            }),
            Line::Call(call) if call.update == CallUpdate::Begun => {
                self.add_text(call.call.id.as_str());
            }
            Line::Part(line) => {
                if let Some(chunk) = profile.narrow_shared(&line.chunk) {
                    self.add_chunk(&chunk);
                }
            }
            _ => {}
        }
    }

    pub(super) fn add_text(&mut self, text: &str) {
        self.add_bytes(text.as_bytes());
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    }

    fn add_chunk(&mut self, chunk: &Chunk) {
        // A chunk that can't be written is sent to nobody.
        if let Ok(value) = serde_json::to_value(chunk) {
            self.add_value(&value);
        }
    }

    fn add_value(&mut self, value: &Value) {
        match value {
            Value::Null => self.add_text("null"),
            Value::Bool(true) => self.add_text("true"),
            Value::Bool(false) => self.add_text("false"),
            // As JavaScript has it.
            Value::Number(number) => {
                self.add_bytes(&number.as_f64().unwrap_or_default().to_le_bytes());
            }
            Value::String(text) => self.add_text(text),
            Value::Array(values) => {
                self.add_text("[");
                values.iter().for_each(|value| self.add_value(value));
            }
            Value::Object(fields) => {
                self.add_text("{");
                let mut fields: Vec<_> = fields.iter().collect();
                // JavaScript has an order of its own.
                fields.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
                for (key, value) in fields {
                    self.add_text(key);
                    self.add_value(value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hash_of(add: impl FnOnce(&mut StepHash)) -> u32 {
        let mut hash = StepHash::default();
        add(&mut hash);
        hash.value()
    }

    /// The client's own test has the same.
    #[test]
    fn values_are_hashed_as_the_client_hashes_them() {
        assert_eq!(hash_of(|_| ()), 0x811c_9dc5);
        assert_eq!(hash_of(|hash| hash.add_text("a")), 0xe40c_292c);
        assert_eq!(hash_of(|hash| hash.add_text("foobar")), 0xbf9c_f968);
        let value = json!({"type": "data-x", "data": [1, 0.5, -3e21, true, null, "ü😀"], "2": {}});
        let other =
            json!({"2": {}, "data": [1.0, 0.5, -3e21, true, null, "ü😀"], "type": "data-x"});
        let hash = hash_of(|hash| hash.add_value(&value));
        assert_eq!(hash, hash_of(|hash| hash.add_value(&other)));
        assert_eq!(hash, KNOWN);
    }

    const KNOWN: u32 = 0xd4fe_f427;
}
