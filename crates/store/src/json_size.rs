//! How large a value is as JSON.

use serde::ser::Serialize;

/// How many bytes a value has as JSON.
pub(crate) fn json_size(value: &impl Serialize) -> usize {
    let mut size = Size(0);
    // Counting does not fail.
    let _ = serde_json::to_writer(&mut size, value);
    size.0
}

struct Size(usize);

impl std::io::Write for Size {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
