//! How many bytes something takes in memory, by estimate: as many as its JSON has, and more for each
//! value, of which a short text may hold many.

use std::io::{Result, Write};

/// What a value takes beside its own bytes, where others are beside it.
const VALUE: usize = 70;

/// What was written, as a weight in bytes.
#[derive(Default)]
pub(crate) struct Weight(pub(crate) usize);

impl Weight {
    /// Adds what can be written as JSON.
    pub(crate) fn add(&mut self, write: impl FnOnce(&mut Self) -> serde_json::Result<()>) {
        // Counting does not fail.
        let _ = write(self);
    }
}

impl Write for Weight {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.0 += bytes.len();
        // What comes between values is written by itself.
        if matches!(bytes, b"," | b"[" | b"{") {
            self.0 += VALUE;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn many_small_values_weigh_more_than_one_large_one() {
        let weight = |value: &serde_json::Value| {
            let mut weight = Weight::default();
            weight.add(|out| serde_json::to_writer(out, value));
            weight.0
        };
        let text = json!("x".repeat(2_000));
        assert!((2_000..2_100).contains(&weight(&text)));
        let many = json!(vec![0; 1_000]);
        assert!(weight(&many) >= 1_000 * VALUE);
        let keys = (0..100).map(|key| (key.to_string(), json!(1)));
        assert!(weight(&keys.collect()) >= 100 * VALUE);
    }
}
