//! A file of the configuration, and what is wrong in it, with line and column.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// How large a file may be that the file names.
const MAX_REFERENCED_BYTES: u64 = 8 * 1024 * 1024;

/// A file of the configuration.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// A place of a file, for what turns out to be wrong with it later.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    path: PathBuf,
    position: Option<(usize, usize)>,
}

impl Place {
    /// Something wrong with what is written there.
    pub(crate) fn problem(&self, message: impl Into<String>) -> Problem {
        Problem {
            path: self.path.clone(),
            place: self.position,
            message: message.into(),
        }
    }
}

/// Something wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) path: PathBuf,
    /// Line and column, from 1, where they are known.
    pub(crate) place: Option<(usize, usize)>,
    pub(crate) message: String,
}

impl Source {
    /// Something wrong at a place of the file.
    pub(crate) fn problem(&self, span: &Range<usize>, message: impl Into<String>) -> Problem {
        self.at(span).problem(message)
    }

    /// A place of the file.
    pub(crate) fn at(&self, span: &Range<usize>) -> Place {
        Place {
            path: self.path.clone(),
            position: self.place(span.start),
        }
    }

    /// What the TOML parser found.
    pub(crate) fn malformed(&self, error: &toml::de::Error) -> Problem {
        Problem {
            path: self.path.clone(),
            place: error.span().and_then(|span| self.place(span.start)),
            message: with_suggestion(error.message()),
        }
    }

    fn place(&self, position: usize) -> Option<(usize, usize)> {
        let before = self.text.get(..position)?;
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let column = before[line_start..].chars().count() + 1;
        Some((before.matches('\n').count() + 1, column))
    }

    /// A path that the file names: relative to the file.
    pub(crate) fn beside(&self, path: &str) -> PathBuf {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        folder.join(path)
    }

    /// What is in a file that this one names.
    pub(crate) fn read_beside(&self, path: &str) -> Result<String, String> {
        let path = self.beside(path);
        let text = match std::fs::metadata(&path) {
            Ok(found) if found.len() > MAX_REFERENCED_BYTES => Err(std::io::Error::other(format!(
                "it is larger than {MAX_REFERENCED_BYTES} bytes"
            ))),
            _ => std::fs::read_to_string(&path),
        };
        text.map_err(|error| format!("can't read {}: {error}", path.display()))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.path.display())?;
        if let Some((line, column)) = self.place {
            write!(out, ":{line}:{column}")?;
        }
        write!(out, ": {}", self.message)
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Error::FileMalformed {
            path: problem.path,
            line: problem.place.map(|(line, _)| line),
            column: problem.place.map(|(_, column)| column),
            problem: problem.message,
        }
    }
}

/// What the parser says of an unknown key, with the key that was meant most likely in place of all
/// that there are.
fn with_suggestion(message: &str) -> String {
    let unknown = message
        .split_once("`, expected ")
        .and_then(|(start, expected)| {
            let (what, name) = start.split_once(" `")?;
            what.starts_with("unknown ")
                .then_some((start, name, expected))
        });
    let Some((start, name, expected)) = unknown else {
        return message.to_owned();
    };
    let known = expected.split('`').skip(1).step_by(2);
    match nearest(name, known) {
        Some(meant) => format!("{start}`; did you mean `{meant}`?"),
        None => message.to_owned(),
    }
}

/// The name that was meant most likely, if one is near.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known
        .into_iter()
        .map(|known| (distance(name, known), known));
    let (distance, meant) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= (name.chars().count() / 3).max(1)).then_some(meant)
}

/// How many characters have to be changed, added or left out to make one of the other; two that changed
/// places count once.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut least = changed.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(rows[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_counts_lines_and_characters_from_one() {
        let source = Source {
            path: "a.toml".into(),
            text: "é = 1\nxy = 2\n".to_owned(),
        };
        assert_eq!(source.place(0), Some((1, 1)));
        assert_eq!(source.place("é".len()), Some((1, 2)));
        assert_eq!(source.place("é = 1\nx".len()), Some((2, 2)));
        assert_eq!(source.place(1), None);
    }

    #[test]
    fn near_name_is_suggested_and_a_far_one_is_not() {
        let message = "unknown field `toolz`, expected one of `model`, `tools`";
        assert_eq!(
            with_suggestion(message),
            "unknown field `toolz`; did you mean `tools`?"
        );
        let message = "unknown field `colour`, expected `model` or `tools`";
        assert_eq!(with_suggestion(message), message);
        assert_eq!(nearest("ordre", ["order", "amount"]), Some("order"));
    }
}
