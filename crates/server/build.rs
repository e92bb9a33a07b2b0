//! Watches the built page, so that the binary is built again when the page changes.

use std::path::Path;

/// Where Vite puts the page, seen from this crate, which is where cargo runs this.
const DIST: &str = "../../web/demo/dist";

fn main() {
    if Path::new(DIST).join("index.html").exists() {
        println!("cargo::rerun-if-changed={DIST}");
    } else {
        // A path that is never there makes cargo ask at every build. Watching the folder would not
        // do: cargo compares dates, and a page out of a cache is older than the last build.
        println!("cargo::rerun-if-changed={DIST}/not-built");
    }
}
