//! The configuration file, or a folder of them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::agent_file::{Problem, Source};
use crate::config::Settings;
use crate::error::Error;

/// The file that is read from the working folder when none is named.
pub(crate) const DEFAULT: &str = "adk-stream.toml";

/// How large a file may be.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// What one file says.
#[derive(Debug)]
pub(crate) struct FileLayer {
    pub(crate) source: Source,
    pub(crate) settings: Settings,
}

/// Reads the file, or every `.toml` of a folder in the order of their names. One that was named must be
/// there; the one in the working folder may be missing.
pub(crate) fn read(named: Option<PathBuf>, folder: &Path) -> Result<Vec<FileLayer>, Error> {
    let (path, optional) = match named {
        Some(path) => (path, false),
        None => (folder.join(DEFAULT), true),
    };
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::FileUnreadable { path, source }
    };
    let paths = match std::fs::metadata(&path) {
        Ok(found) if found.is_dir() => files(&path).map_err(unreadable(&path))?,
        _ => vec![path.clone()],
    };
    if paths.is_empty() {
        return Err(Error::FileMalformed {
            path,
            line: None,
            column: None,
            problem: "the folder has no .toml file".to_owned(),
        });
    }
    let mut layers = Vec::new();
    for path in paths {
        match text(&path) {
            Ok(text) => layers.push(parse(Source { path, text })?),
            Err(error) if optional && error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(unreadable(&path)(source)),
        }
    }
    Ok(layers)
}

fn text(path: &Path) -> std::io::Result<String> {
    if std::fs::metadata(path)?.len() > MAX_BYTES {
        return Err(std::io::Error::other(format!(
            "it is larger than {MAX_BYTES} bytes"
        )));
    }
    std::fs::read_to_string(path)
}

/// The files of a folder, in the order of their names.
fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
            && path.is_file()
        {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// What a file says.
pub(crate) fn parse(source: Source) -> Result<FileLayer, Problem> {
    match toml::from_str(&source.text) {
        Ok(settings) => Ok(FileLayer { source, settings }),
        Err(error) => Err(source.malformed(&error)),
    }
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
        let start = "adk-stream: adk-stream.toml, line 2, column 1: unknown field `colour`, expected one of \
                     `listen`, `tls-cert`, `tls-key`, `store`, `agent`, ";
        assert!(line.starts_with(start), "{line}");
    }

    #[test]
    fn misspelled_key_is_answered_with_the_one_that_was_meant() {
        let line = refusal("[agents.a]\nmodel = 'gemini:x'\n  toolz = []\n");
        assert_eq!(
            line,
            "adk-stream: adk-stream.toml, line 3, column 3: unknown field `toolz`; did you mean `tools`?"
        );
    }

    #[test]
    fn key_that_is_written_out_is_refused_and_not_repeated() {
        let line = refusal("[models.a]\nkind = 'openai'\nmodel = 'x'\nkey = 'sk-s3cret'\n");
        assert_eq!(
            line,
            "adk-stream: adk-stream.toml, line 4, column 7: a secret must not be written in the file; \
             write env:NAME or file:PATH"
        );
    }

    #[test]
    fn keys_of_the_server_are_written_by_where_they_are_kept() {
        for key in [
            "gemini-key",
            "openai-key",
            "anthropic-key",
            "agent-key",
            "cluster-key",
        ] {
            let column = key.len() + 4;
            assert_eq!(
                refusal(&format!("{key} = 's3cret-that-is-long-enough'\n")),
                format!(
                    "adk-stream: adk-stream.toml, line 1, column {column}: a secret must not be \
                     written in the file; write env:NAME or file:PATH"
                )
            );
        }
    }

    #[test]
    fn a_file_that_is_no_toml_is_refused_at_its_line() {
        let line = refusal("\n\nlisten = \n");
        assert!(
            line.starts_with("adk-stream: adk-stream.toml, line 3, "),
            "{line}"
        );
    }

    #[test]
    fn only_a_named_file_must_be_there() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(None, folder.path()).unwrap().is_empty());
        let line = read(Some("nowhere.toml".into()), folder.path())
            .unwrap_err()
            .line();
        assert!(
            line.starts_with("adk-stream: can't read nowhere.toml: "),
            "{line}"
        );
        let empty = read(Some(folder.path().to_owned()), folder.path()).unwrap_err();
        assert!(
            empty.line().ends_with("the folder has no .toml file"),
            "{}",
            empty.line()
        );
    }

    #[test]
    fn folder_is_read_in_the_order_of_names() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("b.toml", "store = 'memory'"),
            ("a.toml", ""),
            ("c.txt", "no"),
        ] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let layers = read(Some(folder.path().to_owned()), Path::new("")).unwrap();
        let names = layers
            .iter()
            .map(|layer| layer.source.path.file_name().unwrap());
        assert_eq!(names.collect::<Vec<_>>(), ["a.toml", "b.toml"]);
    }
}
