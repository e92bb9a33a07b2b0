//! Watches the built page, so that the binary is built again when the page changes.

use std::path::Path;

/// The built page, seen from this crate, which is where cargo runs this: in the repository a link to
/// where Vite puts it, in the package a folder.
const PAGE: &str = "page";

fn main() {
    if std::env::var_os("CARGO_FEATURE_PAGE").is_none() {
        println!("cargo::rerun-if-changed=build.rs");
        return;
    }
    // By its real path: what is behind a link changes without the link.
    match Path::new(PAGE).canonicalize() {
        Ok(folder) if folder.join("index.html").exists() => {
            println!("cargo::rerun-if-changed={}", folder.display());
        }
        // A path that is never there makes cargo ask at every build. Watching the folder would not
        // do: cargo compares dates, and a page out of a cache is older than the last build.
        _ => println!("cargo::rerun-if-changed={PAGE}/not-built"),
    }
}
