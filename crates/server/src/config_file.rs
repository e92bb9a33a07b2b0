//! The configuration file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::config::Settings;
use crate::error::Error;

/// The file that is read from the working folder when none is named.
const DEFAULT: &str = "adk-stream.toml";

/// Reads the file, and says which it was. One that was named must be there; the one in the working
/// folder may be missing.
pub(crate) fn read(
    named: Option<PathBuf>,
    folder: &Path,
) -> Result<Option<(PathBuf, Settings)>, Error> {
    let (path, optional) = match named {
        Some(path) => (path, false),
        None => (folder.join(DEFAULT), true),
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if optional && error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::FileUnreadable { path, source }),
    };
    match toml::from_str(&text) {
        Ok(settings) => Ok(Some((path, settings))),
        Err(error) => Err(Error::FileMalformed {
            path,
            line: error.span().and_then(|span| line_of(&text, span.start)),
            problem: error.message().to_owned(),
        }),
    }
}

fn line_of(text: &str, position: usize) -> Option<usize> {
    Some(text.get(..position)?.matches('\n').count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(DEFAULT), text).unwrap();
        let line = read(None, folder.path()).unwrap_err().line();
        line.replace(&format!("{}/", folder.path().display()), "")
    }

    #[test]
    fn an_unknown_key_is_named_with_its_file_and_line() {
        let line = refusal("store = 'memory'\ncolour = 'red'\n");
        let start = "adk-stream: adk-stream.toml, line 2: unknown field `colour`, expected one of \
                     `listen`, `store`, `agent`, ";
        assert!(line.starts_with(start), "{line}");
    }

    #[test]
    fn a_file_that_is_no_toml_is_refused_at_its_line() {
        let line = refusal("\n\nlisten = \n");
        assert!(
            line.starts_with("adk-stream: adk-stream.toml, line 3: "),
            "{line}"
        );
    }

    #[test]
    fn only_a_named_file_must_be_there() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(None, folder.path()).unwrap().is_none());
        let line = read(Some("nowhere.toml".into()), folder.path())
            .unwrap_err()
            .line();
        assert!(
            line.starts_with("adk-stream: can't read nowhere.toml: "),
            "{line}"
        );
    }
}
