//! The folder of a page, as an operator names it.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::page::Page;

/// Where the page lies: nothing is the one in the binary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageFolder(Option<PathBuf>);

impl PageFolder {
    pub(crate) fn page(&self) -> Page {
        self.0.clone().map_or(Page::BuiltIn, Page::Folder)
    }
}

impl FromStr for PageFolder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let folder = Path::new(text).canonicalize();
        let folder = folder.ok().filter(|it| it.join("index.html").is_file());
        match folder {
            Some(folder) => Ok(Self(Some(folder))),
            None => Err(format!("`{text}` is not a folder with an index.html")),
        }
    }
}
