//! The blocks of docs/http.md.

use std::path::Path;

/// The block of a language that contains something.
pub(crate) fn block(language: &str, containing: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/http.md");
    let text = std::fs::read_to_string(path).unwrap();
    let opening = format!("```{language}\n");
    let blocks = text.split(&opening).skip(1);
    let mut blocks = blocks.filter_map(|rest| rest.split("```").next());
    let block = blocks.find(|block| block.contains(containing));
    block
        .unwrap_or_else(|| panic!("no block with {containing}"))
        .to_owned()
}
