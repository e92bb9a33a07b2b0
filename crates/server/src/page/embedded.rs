//! The page that is embedded in the binary, in builds with the feature `page`.

use std::borrow::Cow;

use axum::body::Bytes;
use rust_embed::Embed;

/// The page as Vite built it; empty where it was not built.
#[derive(Embed)]
#[folder = "page"]
#[allow_missing = true]
struct Dist;

/// A file by its name, and the hash of its content.
pub(super) fn get(name: &str) -> Option<(Bytes, [u8; 32])> {
    let file = Dist::get(name)?;
    let content = match file.data {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => Bytes::from(bytes),
    };
    Some((content, file.metadata.sha256_hash()))
}
