//! Keys from a file: one `NAME=KEY` or `NAME=sha256:HEX` a line; lines that begin with `#` are notes.

use std::path::Path;

use crate::error::Error;
use crate::keys::Keys;

/// The keys of a file, and what is wrong with the file though it can be read.
pub(crate) fn read(path: &Path) -> Result<(Keys, Option<String>), Error> {
    let unreadable = |source| Error::FileUnreadable {
        path: path.to_owned(),
        source,
    };
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let mut keys = Keys::default();
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if !line.starts_with('#') {
            keys.add(line).map_err(|problem| Error::FileMalformed {
                path: path.to_owned(),
                line: Some(number),
                column: None,
                problem,
            })?;
        }
    }
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    Ok((keys, open_to_others(path, &metadata)))
}

#[cfg(unix)]
fn open_to_others(path: &Path, metadata: &std::fs::Metadata) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = metadata.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then(|| {
        let path = path.display();
        format!(
            "{path}: others on this machine may read the keys (mode {mode:03o}): chmod 600 {path}"
        )
    })
}

#[cfg(not(unix))]
fn open_to_others(_: &Path, _: &std::fs::Metadata) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use turn::Principal;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn keys_stand_one_a_line_with_notes_between() {
        let file = file("# people\n\n  alice=a-key-of-alices-own\n");
        let (keys, warning) = read(file.path()).unwrap();
        let alice = Some(&Principal::from("alice"));
        assert_eq!(keys.principal("a-key-of-alices-own"), alice);
        assert_eq!(warning, None);
    }

    #[test]
    fn mistake_is_named_by_its_line_and_without_the_key() {
        let file = file("\n# people\nalice=s3cret\n");
        let line = read(file.path()).unwrap_err().line();
        assert!(
            line.contains(", line 3: the key of alice is too short"),
            "{line}"
        );
        assert!(!line.contains("s3cret"), "{line}");
    }

    #[cfg(unix)]
    #[test]
    fn file_that_others_may_read_is_a_warning() {
        use std::os::unix::fs::PermissionsExt;
        let file = file("alice=a-key-of-alices-own");
        let mode = std::fs::Permissions::from_mode(0o640);
        std::fs::set_permissions(file.path(), mode).unwrap();
        let warning = read(file.path()).unwrap().1.unwrap();
        assert!(
            warning.contains("mode 640") && !warning.contains("alices"),
            "{warning}"
        );
    }
}
