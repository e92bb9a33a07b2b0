//! What is at the bottom of an error.

use std::error::Error;

/// The innermost source of an error, in words: those around it repeat the address, which may hold a secret.
pub(crate) fn cause(error: &dyn Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
